// Package patterns makes up regular expressions, for tests.
package patterns

import "math/rand/v2"

var atoms = []string{"a", "b", "ab", ".", "[ab]", "[^a]", `\d`, `\w`, `\W`, `\s`, "^", "$", `\b`, `\B`, "(?i:a)", `\n`, "", "é", "[à-ü]", `\.`, "(?s:.)", "(?m:^)", "(?m:$)"}

// Random is a regular expression in Go's syntax, so many levels deep.
func Random(r *rand.Rand, depth int) string {
	if depth == 0 {
		return atoms[r.IntN(len(atoms))]
	}
	x, y := Random(r, depth-1), Random(r, depth-1)
	switch r.IntN(7) {
	case 0:
		return x + "|" + y
	case 1:
		return "(" + x + ")*"
	case 2:
		return "(" + x + ")+" + y
	case 3:
		return "(" + x + "){1,3}"
	case 4:
		return "(?:" + x + ")?" + y
	}
	return x + y
}
