package naming

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Nearest finds the candidate that name was most likely meant to be: the same
// but for case and for '_', '-' or spaces, or else a few slips of the keyboard
// away (a letter too many, too few, wrong, or two swapped), the fewer the
// shorter the name. Of equally near candidates the first in alphabetical order wins, so
// the answer depends neither on the candidates' order nor on anything else. It
// is false when nothing is near.
func Nearest(name string, candidates []string) (string, bool) {
	return NewSuggester(candidates).Nearest(name)
}

// A Suggester answers for many names what the nearest of one set of candidates
// is. What all look-ups together may cost is bounded: once that is spent it has
// no suggestions any more, which is always a good answer.
type Suggester struct {
	candidates []candidate
	effort     int // cells of comparison left
}

// suggestionEffort bounds a Suggester: about a second's work.
const suggestionEffort = 50_000_000

type candidate struct {
	name   string
	folded []rune
}

// NewSuggester makes ready for look-ups among candidates.
func NewSuggester(candidates []string) *Suggester {
	s := &Suggester{effort: suggestionEffort}
	for _, name := range candidates {
		s.candidates = append(s.candidates, candidate{name, fold(name)})
	}
	return s
}

// Nearest is as [Nearest] says. It is not safe for concurrent use.
func (s *Suggester) Nearest(name string) (string, bool) {
	wanted := fold(name)
	bound := slipsAllowed(len(wanted))
	best, bestSlips, found := "", bound, false
	for _, c := range s.candidates {
		length := len(c.folded)
		s.effort--
		if length == 0 || max(length-len(wanted), len(wanted)-length) > bound {
			continue
		}
		if s.effort -= len(wanted) * length; s.effort < 0 {
			return "", false
		}
		slips, ok := slipsBetween(wanted, c.folded, bestSlips)
		if ok && c.name != name && !(found && slips == bestSlips && c.name > best) {
			best, bestSlips, found = c.name, slips, true
		}
	}
	return best, found
}

// Sure reports whether a name can only have been meant for one of the candidates:
// it differs from that one alone in case and separators. A name that is a
// slip away from another may as well be the name of something that doesn't exist.
func (s *Suggester) Sure(name string) bool {
	wanted, same := fold(name), 0
	for _, c := range s.candidates {
		if s.effort--; s.effort < 0 {
			return false
		}
		if c.name != name && slices.Equal(c.folded, wanted) && slices.Equal(digits(c.name), digits(name)) {
			same++
		}
	}
	return same == 1
}

// IsTypo reports whether a name is another one but for its case, or but for one slip of
// the keyboard; of short names only one in the order of their letters counts.
func IsTypo(name, other string) bool {
	const short = 5
	if name == other {
		return false
	}
	a, b := []rune(strings.ToLower(name)), []rune(strings.ToLower(other))
	slips, ok := slipsBetween(a, b, 1)
	return ok && (slips == 0 || max(len(a), len(b)) >= short ||
		slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))))
}

// digits are the numbers in a name: between digits a separator means something, as
// in v1_12 and v11_2.
func digits(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsDigit(r) })
}

// slipsAllowed is how many slips a name of so many characters may hold and
// still be recognised.
func slipsAllowed(length int) int {
	switch {
	case length < 3:
		return 0
	case length < 6:
		return 1
	case length < 10:
		return 2
	}
	return 3
}

// longestName is as much of a name as is compared.
const longestName = 200

func fold(name string) []rune {
	folded := make([]rune, 0, min(len(name), longestName))
	for _, r := range norm.NFC.String(name) {
		if len(folded) == longestName {
			break
		}
		if r != '_' && r != '-' && r != ' ' {
			folded = append(folded, unicode.ToLower(r))
		}
	}
	return folded
}

// slipsBetween counts the insertions, deletions, replacements and swaps of
// neighbours that turn a into b; false when there are more than bound.
func slipsBetween(a, b []rune, bound int) (int, bool) {
	if max(len(a)-len(b), len(b)-len(a)) > bound {
		return 0, false
	}
	above2, above, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range above {
		above[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(above[j-1]+cost, above[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], above2[j-2]+1)
			}
		}
		if slices.Min(row) > bound {
			return 0, false
		}
		above2, above, row = above, row, above2
	}
	return above[len(b)], above[len(b)] <= bound
}
