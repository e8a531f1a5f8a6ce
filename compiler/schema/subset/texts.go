package subset

import (
	"math/rand/v2"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler/schema/ast"
	"github.com/obelus-dev/obelus/compiler/schema/regex"
)

// A textGoal is what is asked of a string: its length, patterns that match and
// that don't, formats likewise, and single strings that it isn't.
type textGoal struct {
	ast.Size
	matches, misses  []*regex.Pattern
	checks, failures []string // formats
	not              []string
}

func (g *textGoal) clip() {
	g.matches, g.misses = slices.Clip(g.matches), slices.Clip(g.misses)
	g.checks, g.failures, g.not = slices.Clip(g.checks), slices.Clip(g.failures), slices.Clip(g.not)
}

func (g *textGoal) accept(r *ast.StringRules) bool {
	g.Narrow(r.Size)
	if r.Pattern != nil && !slices.ContainsFunc(g.matches, r.Pattern.Same) {
		if slices.ContainsFunc(g.misses, r.Pattern.Same) {
			return false
		}
		least, most := r.Pattern.Lengths()
		g.Narrow(ast.Size{Min: least, Max: min(most, ast.MaxCount)})
		g.matches = append(g.matches, r.Pattern)
	}
	if r.Valid != nil && !slices.Contains(g.checks, r.Format) {
		g.checks = append(g.checks, r.Format)
	}
	return g.Min <= g.Max &&
		!slices.ContainsFunc(g.checks, func(x string) bool { return slices.Contains(g.failures, x) })
}

func textRefusals(r *ast.StringRules) []goal {
	options := sizeRefusals(r.Size)
	if r.Pattern != nil {
		options = append(options, demand(func(s *state) bool {
			s.text.misses = append(s.text.misses, r.Pattern)
			return !slices.ContainsFunc(s.text.matches, r.Pattern.Same)
		}))
	}
	if r.Valid != nil {
		options = append(options, demand(func(s *state) bool {
			s.text.failures = append(s.text.failures, r.Format)
			return !slices.Contains(s.text.checks, r.Format)
		}))
	}
	return options
}

// fits reports whether a string is as asked.
func (g *textGoal) fits(p *Prover, s string) bool {
	if !g.Holds(utf8.RuneCountInString(s)) || slices.Contains(g.not, s) {
		return false
	}
	for _, x := range g.matches {
		if !p.matches(x, s) {
			return false
		}
	}
	for _, x := range g.misses {
		if p.matches(x, s) || p.Out {
			return false
		}
	}
	for _, format := range g.checks {
		if !ast.Formats[format](s) {
			return false
		}
	}
	for _, format := range g.failures {
		if ast.Formats[format](s) {
			return false
		}
	}
	return true
}

// plainWords are some of no format.
var plainWords = []string{"", "a", "?", "\\", "(", "{", "é", "%", "\n", "a\n"}

// solve finds such a string. Where patterns or formats are asked for, some
// strings are tried, and that there is none isn't known.
func (g *textGoal) solve(p *Prover) finding {
	if len(g.matches)+len(g.misses)+len(g.checks)+len(g.failures) == 0 {
		return g.plainText(p)
	}
	candidates := plainWords
	for _, format := range g.checks {
		candidates = append(slices.Clone(ast.ShortFormats[format]), candidates...)
	}
	for _, s := range append(slices.Clip(candidates), g.words(p)...) {
		if g.fits(p, s) {
			return some(s)
		}
	}
	switch {
	case p.Out:
		return unknown("budget")
	case len(g.matches)+len(g.misses) > 0:
		return unknown("pattern")
	}
	return unknown("format")
}

// words are short words of the patterns that have to match, as long as is asked where
// the patterns repeat something.
func (g *textGoal) words(p *Prover) (words []string) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, x := range g.matches {
		writer := x.Writer()
		for try := range 12 {
			extra := try % 4
			if try >= 8 && g.Min <= ast.Longest {
				extra = max(extra, g.Min)
			}
			word, steps := writer.Word(r, extra, (p.limit-p.Steps)*ast.ChecksPerStep)
			if !p.spend(1 + steps/ast.ChecksPerStep) {
				return words
			}
			if n := utf8.RuneCountInString(word); n < g.Min && g.Min <= ast.Longest {
				word += strings.Repeat("a", g.Min-n) // a pattern without $ allows more text
			}
			words = append(words, word)
		}
	}
	return words
}

// plainText is a string where only the length matters: one of as many as are excluded, and one more.
func (g *textGoal) plainText(p *Prover) finding {
	if !p.spend(1 + len(g.not)) {
		return unknown("budget")
	}
	if g.Min > ast.Longest {
		return unknown("minLength")
	}
	if g.Min == 0 && !slices.Contains(g.not, "") {
		return some("")
	}
	length := max(g.Min, 1)
	if length > g.Max {
		return none()
	}
	if !p.spend((1 + len(g.not)) * (length / 512)) {
		return unknown("budget")
	}
	word := make([]rune, length)
	for i := range word {
		word[i] = 'a'
	}
	for i := range len(g.not) + 1 {
		word[0] = 'a' + rune(i)
		if s := string(word); !slices.Contains(g.not, s) {
			return some(s)
		}
	}
	return unknown("enum")
}
