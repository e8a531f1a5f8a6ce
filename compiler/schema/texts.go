package schema

import (
	"math/rand/v2"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler/schema/regex"
)

// A textGoal is what is asked of a string: its length, patterns that match and
// that don't, formats likewise, and single strings that it isn't.
type textGoal struct {
	size
	matches, misses  []*regex.Pattern
	checks, failures []string // formats
	not              []string
}

func (g *textGoal) clip() {
	g.matches, g.misses = slices.Clip(g.matches), slices.Clip(g.misses)
	g.checks, g.failures, g.not = slices.Clip(g.checks), slices.Clip(g.failures), slices.Clip(g.not)
}

func (g *textGoal) accept(r *stringRules) bool {
	g.narrow(r.size)
	if r.pattern != nil && !slices.ContainsFunc(g.matches, r.pattern.Same) {
		if slices.ContainsFunc(g.misses, r.pattern.Same) {
			return false
		}
		least, most := r.pattern.Lengths()
		g.narrow(size{least, min(most, maxCount)})
		g.matches = append(g.matches, r.pattern)
	}
	if r.valid != nil && !slices.Contains(g.checks, r.format) {
		g.checks = append(g.checks, r.format)
	}
	return g.min <= g.max && !slices.ContainsFunc(g.checks, func(x string) bool { return slices.Contains(g.failures, x) })
}

type (
	misses  struct{ pattern *regex.Pattern }
	fails   string // a format
	notText string
)

func (g misses) apply(_ *prover, s *state) bool {
	if slices.ContainsFunc(s.text.matches, g.pattern.Same) {
		return false
	}
	s.text.misses = append(s.text.misses, g.pattern)
	return true
}

func (g fails) apply(_ *prover, s *state) bool {
	s.text.failures = append(s.text.failures, string(g))
	return !slices.Contains(s.text.checks, string(g))
}

func (g notText) apply(_ *prover, s *state) bool {
	s.text.not = append(s.text.not, string(g))
	return true
}

func (r *stringRules) refusals() []goal {
	options := r.size.refusals()
	if r.pattern != nil {
		options = append(options, misses{r.pattern})
	}
	if r.valid != nil {
		options = append(options, fails(r.format))
	}
	return options
}

// fits reports whether a string is as asked.
func (g *textGoal) fits(p *prover, s string) bool {
	if !g.holds(utf8.RuneCountInString(s)) || slices.Contains(g.not, s) {
		return false
	}
	for _, x := range g.matches {
		if !p.matches(x, s) {
			return false
		}
	}
	for _, x := range g.misses {
		if p.matches(x, s) || p.out {
			return false
		}
	}
	for _, format := range g.checks {
		if !formats[format](s) {
			return false
		}
	}
	for _, format := range g.failures {
		if formats[format](s) {
			return false
		}
	}
	return true
}

// plainWords are some of no format.
var plainWords = []string{"", "a", "?", "\\", "(", "{", "é", "%", "\n", "a\n"}

// shortFormats are strings of the formats, the shortest first.
var shortFormats = map[string][]string{
	"date-time": {"2024-03-01T10:00:00Z", "2024-03-01T10:00:00+01:00"}, "date": {"2024-03-01"}, "time": {"10:00:00Z", "10:00:00+01:00"},
	"duration": {"P1D", "PT1H", "P1DT2H"}, "period": {"2024-03-01T10:00:00Z/2024-03-02T10:00:00Z"},
	"hostname": {"a", "a.b", "example.com"}, "email": {"a@b", "a@b.co", "ada@example.com"},
	"ipv4": {"1.2.3.4", "192.0.2.7"}, "ip-address": {"1.2.3.4"}, "ipv6": {"::", "::1", "2001:db8::7"},
	"uri": {"a:", "a:b", "https://example.com/a"}, "iri": {"a:b", "https://example.com/a"},
	"uri-reference": {"", "a", "/a"}, "uriref": {"", "a", "/a"}, "iri-reference": {"", "a", "/a"}, "uri-template": {"", "a", "/a/{id}"},
	"regex": {"", "a", "^a+$"}, "json-pointer": {"", "/a", "/a/b"}, "relative-json-pointer": {"0", "1/a"},
	"uuid": {"3f2b8c1e-9d47-4a6b-8e21-5c0d7f9a1b34"},
}

// longest is the longest string that is ever made up as evidence.
const longest = 1 << 16

// solve finds such a string. Where patterns or formats are asked for, some
// strings are tried, and that there is none isn't known.
func (g *textGoal) solve(p *prover) finding {
	if len(g.matches)+len(g.misses)+len(g.checks)+len(g.failures) == 0 {
		return g.plainText(p)
	}
	candidates := plainWords
	for _, format := range g.checks {
		candidates = append(slices.Clone(shortFormats[format]), candidates...)
	}
	for _, s := range append(slices.Clip(candidates), g.words(p)...) {
		if g.fits(p, s) {
			return some(s)
		}
	}
	switch {
	case p.out:
		return unknown("budget")
	case len(g.matches)+len(g.misses) > 0:
		return unknown("pattern")
	}
	return unknown("format")
}

// words are short words of the patterns that have to match, as long as is asked where
// the patterns repeat something.
func (g *textGoal) words(p *prover) (words []string) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, x := range g.matches {
		writer := x.Writer()
		for try := range 12 {
			extra := try % 4
			if try >= 8 && g.min <= longest {
				extra = max(extra, g.min)
			}
			word, steps := writer.Word(r, extra, (p.limit-p.steps)*checksPerStep)
			if !p.spend(1 + steps/checksPerStep) {
				return words
			}
			if n := utf8.RuneCountInString(word); n < g.min && g.min <= longest {
				word += strings.Repeat("a", g.min-n) // a pattern without $ allows more text
			}
			words = append(words, word)
		}
	}
	return words
}

// plainText is a string where only the length matters: one of as many as are excluded, and one more.
func (g *textGoal) plainText(p *prover) finding {
	if !p.spend(1 + len(g.not)) {
		return unknown("budget")
	}
	if g.min > longest {
		return unknown("minLength")
	}
	if g.min == 0 && !slices.Contains(g.not, "") {
		return some("")
	}
	length := max(g.min, 1)
	if length > g.max {
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
