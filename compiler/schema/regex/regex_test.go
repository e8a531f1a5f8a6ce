package regex

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/testdata/patterns"
)

// LANGUAGE.md#tools: patterns are those of ECMA-262, in Unicode mode; what that refuses is
// refused.
func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		source     string
		yes, no    string // texts, parted by |
		complaints string
	}{
		{source: `^\s$`, yes: " |\t|\n|\r|\v|\f|\u00a0|\ufeff|\u2029|\u2003", no: "a|\u200b|\u0085|"},
		{source: `^\S$`, yes: "a|\u200b|\u0085", no: " |\u00a0|\ufeff|\u2028"},
		{source: `^[\s-x]$`, yes: " |-|x|\ufeff", no: "a|b"},
		{source: `^[^\s]$`, yes: "a|-", no: " |\u2003"},
		{source: `^[\S]$`, yes: "a|-", no: " |\u2003"},
		{source: `^\d$`, yes: "0|9", no: "٣|a"},
		{source: `^\D$`, yes: "٣|a", no: "0"},
		{source: `^\w$`, yes: "a|_|0", no: "é|-"},
		{source: `\bx\b`, yes: "x|a x|éx", no: "ax|x1"},
		{source: `^.$`, yes: "a|🐲|\u0085", no: "\n|\r|\u2028|\u2029|ab|"},
		{source: `^(?s:.)$`, yes: "\n|\u2028|a", no: "|ab"},
		{source: `^a$`, yes: "a", no: "a\n"},
		{source: `^🐲*$`, yes: "|🐲🐲", no: "🐉"},
		{source: `^\uD83D\uDC32$`, complaints: `"\u" means nothing here`},
		{source: `^\u{1F432}[\u0061-\u0063]\x41$`, yes: "🐲aA|🐲cA", no: "🐲dA"},
		{source: `^\p{Letter}+\p{Script=Greek}$`, yes: "aéβ", no: "a1β|aé"},
		{source: `^\p{Lu}\P{L}$`, yes: "A1", no: "a1"},
		{source: `^[]a]$`, no: "a|]|a]|]a"},
		{source: `^[^]$`, yes: "a|\n", no: "|ab"},
		{source: `^[[:alpha:]]$`, yes: "a]|:]|[]", no: "b|a"},
		{source: `^[\b]$`, yes: "\b", no: "b"},
		{source: `^a\-\/\,b$`, yes: `a-/,b`, no: "ab"},
		{source: `^(?<year>\d{4})-(?:a|b)$`, yes: "2024-a", no: "24-a"},
		{source: `(?=.*\d)a`, complaints: `look-ahead and look-behind aren't supported`},
		{source: `a(?<!b)`, complaints: `look-ahead and look-behind aren't supported`},
		{source: `a)`, complaints: `a ")" closes nothing`},
		{source: `[a`, complaints: `a "[" isn't closed`},
		{source: `\Z`, complaints: `"\Z" means nothing here`},
		{source: `\a`, complaints: `"\a" means nothing here`},
		{source: `a\`, complaints: `nothing follows the last backslash`},
		{source: `(a)\1`, complaints: `references back to groups aren't supported`},
		{source: `(?<a>b)\k<a>`, complaints: `references back to groups aren't supported`},
		{source: `\p{Klingon}`, complaints: `invalid character class range: "\p{Klingon}"`},
		{source: `\pL`, complaints: `"\p" is followed by a property in braces`},
		{source: `(?>a)`, complaints: `after "(?" a kind of group is missing`},
		{source: `*a`, complaints: "missing argument to repetition operator: \"*\""},
		{source: strings.Repeat("(?:", 5) + "a" + strings.Repeat("{99999})", 5), complaints: `invalid repeat count: "{99999}"`},
		{source: `a{1234567890}`, complaints: `invalid repeat count: "{1234567890}"`},
		{source: `^a{1001}$`, complaints: `invalid repeat count: "{1001}"`},
		{source: strings.Repeat("(", 300) + strings.Repeat(")", 300), complaints: "groups are nested too deep"},
	} {
		p, _, err := Compile(c.source)
		if err != nil || c.complaints != "" {
			if err == nil || err.Error() != c.complaints {
				t.Errorf("%s: %v, want %q", c.source, err, c.complaints)
			}
			continue
		}
		for want, list := range map[bool]string{true: c.yes, false: c.no} {
			if list == "" {
				continue
			}
			for _, text := range strings.Split(list, "|") {
				if p.Match(text) != want {
					t.Errorf("%s on %q: %v", c.source, text, !want)
				}
			}
		}
	}
}

// No text that a pattern matches is shorter or longer than its lengths.
func TestLengths(t *testing.T) {
	for source, want := range map[string][2]int{
		`^a{2,5}$`: {2, 5}, `^a{2,}$`: {2, math.MaxInt}, `a{2,5}$`: {2, math.MaxInt}, `^(a|bcd)?[xy]$`: {1, 4}, `^$`: {0, 0}, `^(ab)*$`: {0, math.MaxInt},
		`^a|b$`: {1, math.MaxInt}, `^🐲\bé$`: {2, 2}, `^(?:ab+|c)d$`: {2, math.MaxInt}, `(?m)^a$`: {1, math.MaxInt},
		`^[ab]{1,1000}$`: {1, 1000}, `^(?:ab){500}$`: {1000, 1000}, `^x.{500,}$`: {501, math.MaxInt}, `^a{0,10}?b{1,2}$`: {1, 12},
	} {
		p, _, err := Compile(source)
		if err != nil {
			t.Error(err)
			continue
		}
		if least, most := p.Lengths(); least != want[0] || most != want[1] {
			t.Errorf("%s: %d to %d, want %v", source, least, most, want)
		}
	}
	r := rand.New(rand.NewPCG(3, 5))
	matched := 0
	for range 2000 {
		p, _, err := Compile(patterns.Random(r, 2))
		if err != nil {
			continue
		}
		least, most := p.Lengths()
		for _, text := range []string{"", "a", "é", "ab", "A1", "a\n", "a b", "abé.", "aaaaaaaaa", "ab1 A.\néab1"} {
			if n := utf8.RuneCountInString(text); p.Match(text) {
				if matched++; n < least || n > most {
					t.Errorf("%s matches %q, and its lengths are %d to %d", p.Source, text, least, most)
				}
			}
		}
	}
	if matched < 2000 {
		t.Errorf("only %d texts matched", matched)
	}
}

func FuzzPattern(f *testing.F) {
	f.Add(`^(?<a>a)\s[^\S-z](b)`, "a b")
	f.Fuzz(func(t *testing.T, source, text string) {
		p, _, err := Compile(source)
		if err != nil || len(source) > 1000 {
			return
		}
		p.Match(text)
		p.Effort(text)
		p.Writer().Word(rand.New(rand.NewPCG(1, 1)), 2, 1000)
	})
}
