package regex

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dlclark/regexp2"
	"github.com/obelus-dev/obelus/testdata/amount"
	"github.com/obelus-dev/obelus/testdata/patterns"
)

// LANGUAGE.md#tools: patterns are those of ECMA-262, in Unicode mode; what that refuses is
// refused.
func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		source     string
		yes, no    string // texts, parted by |
		irregular  bool
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
		{source: `^\uD83D\uDC32$`, yes: "🐲", no: "🐉"},
		{source: `^\u{1F432}[\u0061-\u0063]\x41$`, yes: "🐲aA|🐲cA", no: "🐲dA"},
		{source: `^\cC\cj\0$`, yes: "\x03\n\x00", no: "cC"},
		{source: `^\p{Letter}+\p{Script=Greek}$`, yes: "aéβ", no: "a1β|aé"},
		{source: `^\p{Lu}\P{L}$`, yes: "A1", no: "a1"},
		{source: `^[]a]$`, no: "a|]|a]|]a"},
		{source: `^[^]$`, yes: "a|\n", no: "|ab"},
		{source: `^[[:alpha:]]$`, yes: "a]|:]|[]", no: "b|a"},
		{source: `^[\b]$`, yes: "\b", no: "b"},
		{source: `^a\-\/\,b$`, yes: `a-/,b`, no: "ab"},
		{source: `^(?<year>\d{4})-(?:a|b)$`, yes: "2024-a", no: "24-a"},
		{source: `^(?=.*\d)(?=.*[a-z]).{4,}$`, yes: "abc1|1abc", no: "abcd|1234|a1", irregular: true},
		{source: `^(?!con$).*`, yes: "co|cons|", no: "con", irregular: true},
		{source: `^(?:(?!--).)*$`, yes: "a-b|", no: "a--b", irregular: true},
		{source: `(?<=a)b`, yes: "ab|cab", no: "b|bb|ba", irregular: true},
		{source: `(?<!a)b`, yes: "b|cb", no: "ab|a", irregular: true},
		{source: `(?<=^a+)b$`, yes: "ab|aab", no: "b|cab", irregular: true},
		{source: `(?<!(?=b)b)c`, yes: "c|ac", no: "bc", irregular: true},
		{source: `^(.)(.)\2\1$`, yes: "abba|aaaa", no: "abab", irregular: true},
		{source: `^(?<q>['"]).*\k<q>$`, yes: `'a'|"b"`, no: `'a"`, irregular: true},
		{source: `^(?:(a)|b)\1$`, yes: "aa|b", no: "ab|ba", irregular: true},
		{source: `^(?=(a+))a*b\1$`, yes: "aabaa", no: "aaba|aab", irregular: true},
		{source: `^(a?)*\1b$`, yes: "aab|b", no: "aa", irregular: true},
		{source: `(?=`, complaints: `a "(" isn't closed`},
		{source: `a)`, complaints: `a ")" closes nothing`},
		{source: `[a`, complaints: `a "[" isn't closed`},
		{source: `\Z`, complaints: `"\Z" means nothing here`},
		{source: `\a`, complaints: `"\a" means nothing here`},
		{source: `a\`, complaints: `nothing follows the last backslash`},
		{source: `\1`, complaints: `there is no group 1`},
		{source: `(?<a>b)\k<c>`, complaints: `there is no group "c"`},
		{source: `\p{Klingon}`, complaints: `invalid character class range: "\p{Klingon}"`},
		{source: `\pL`, complaints: `"\p" is followed by a property in braces`},
		{source: `(?>a)`, complaints: `after "(?" a kind of group is missing`},
		{source: `*a`, complaints: "missing argument to repetition operator: \"*\""},
		{source: `(?=*a)`, complaints: "missing argument to repetition operator: \"*\""},
		{source: strings.Repeat("(?:", 5) + "a" + strings.Repeat("{99999})", 5), complaints: `invalid repeat count: "{99999}"`},
		{source: `a{1234567890}`, complaints: `invalid repeat count: "{1234567890}"`},
		{source: `(?:a{9999}){9999}`, complaints: `expression too large: "(?:a{1000}a{1000}a{1000}a{1000}a{1000}a{1000}a{1000}a{1000}a{1000}a{999}){100`},
		{source: strings.Repeat("(", 300) + strings.Repeat(")", 300), complaints: "groups are nested too deep"},
	} {
		p, _, err := Compile(c.source)
		if err != nil || c.complaints != "" {
			if err == nil || err.Error() != c.complaints {
				t.Errorf("%s: %v, want %q", c.source, err, c.complaints)
			}
			continue
		}
		if p.Regular() == c.irregular {
			t.Errorf("%s: regular %v", c.source, p.Regular())
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
		`^a|b$`: {1, math.MaxInt}, `^(?=a)a$`: {0, math.MaxInt}, `^🐲\bé$`: {2, 2}, `^(?:ab+|c)d$`: {2, math.MaxInt}, `(?m)^a$`: {1, math.MaxInt},
		`^[ab]{1,2000}$`: {1, 2000}, `^(?:ab){2500}$`: {5000, 5000}, `^x.{1500,}$`: {1501, math.MaxInt}, `^a{0,1001}?b{1,2}$`: {1, 1003}, `^a{99999}[\s\S]{0,50000}$`: {99999, 149999},
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

// odd is a random pattern, with look-around and references to the groups.
func odd(r *rand.Rand, depth int, refers bool) string {
	atoms := []string{"a", "b", "ab", ".", "[ab]", "[^a]", "^", "$", `\b`, "", "c"}
	if depth == 0 {
		if refers && r.IntN(5) == 0 {
			return `\1`
		}
		return atoms[r.IntN(len(atoms))]
	}
	x, y := odd(r, depth-1, refers), odd(r, depth-1, refers)
	switch r.IntN(10) {
	case 0:
		return "(?:" + x + "|" + y + ")"
	case 1:
		return "(?:" + x + ")*" + y
	case 2:
		return "(?:" + x + "){1,2}"
	case 3:
		return "(?=" + x + ")" + y
	case 4:
		return "(?!" + x + ")" + y
	case 5:
		return "(?<=" + x + ")" + y
	case 6:
		return "(?<!" + x + ")" + y
	}
	return x + y
}

// Patterns that aren't regular match as another engine matches them.
func TestIrregularMatchesAsOthersDo(t *testing.T) {
	matched, irregular := 0, 0
	for i := range uint64(amount.Of(3000, 3000, 100_000)) {
		r := rand.New(rand.NewPCG(1, i))
		source := odd(r, 3, false)
		if i%4 == 0 {
			source = "(" + odd(r, 1, false) + ")" + odd(r, 2, true)
		}
		p, _, err := Compile(source)
		theirs, err2 := regexp2.Compile(source, regexp2.ECMAScript|regexp2.Unicode)
		if (err == nil) != (err2 == nil) {
			t.Fatalf("%s: %v, %v", source, err, err2)
		}
		if err != nil {
			continue
		}
		if !p.Regular() {
			irregular++
		}
		for range 8 {
			text := ""
			for range r.IntN(7) {
				text += string("abc "[r.IntN(4)])
			}
			steps := MaxSteps
			got, decided := p.MatchWithin(text, &steps)
			want, err := theirs.MatchString(text)
			if err != nil || !decided || got != want {
				t.Fatalf("case %d: %s on %q: %v, %v; want %v, %v", i, source, text, got, decided, want, err)
			}
			if got {
				matched++
			}
		}
	}
	if irregular < 1000 || matched < 3000 {
		t.Errorf("only %d irregular patterns, %d matches", irregular, matched)
	}
}

// EXECUTION.md#limits: what others take for ever takes few steps, or is said not to be decided.
func TestIrregularIsBounded(t *testing.T) {
	long := strings.Repeat("a", 5_000)
	for _, c := range []struct {
		source, text     string
		matched, decided bool
	}{
		{`^(?=a)(a+)+$`, long + "b", false, true},
		{`^(?=(a|aa)+$)(a|a)*b`, long, false, true},
		{`(?<=(a+)+)b$`, long + "c", false, false},
		{`^(a+)+\1$`, long + "b", false, false},
		{`(?=.*.*.*c)`, long, false, false},
		{`(?!x)y`, strings.Repeat("a", 8<<20), false, false},
	} {
		p, _, err := Compile(c.source)
		if err != nil {
			t.Fatal(err)
		}
		steps := MaxSteps
		if matched, decided := p.MatchWithin(c.text, &steps); matched != c.matched || decided != c.decided {
			t.Errorf("%s: %v, %v after %d steps", c.source, matched, decided, MaxSteps-steps)
		}
	}
}

func FuzzPattern(f *testing.F) {
	f.Add(`^(?=a)\s[^\S-z]\1(b)`, "a b")
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
