package regex

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/testdata/amount"
	"github.com/obelus-dev/obelus/testdata/patterns"
)

func randomText(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(6) {
		b.WriteString([]string{"a", "b", "A", "1", " ", "\n", ".", "é", "_", "-"}[r.IntN(10)])
	}
	return b.String()
}

// The automaton of a pattern matches what Go's own search matches.
func TestAutomatonMatchesAsGoDoes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	matched := 0
	for range amount.Of(3000, 3000, 100_000) {
		text := patterns.Random(r, 3)
		re, err := regexp.Compile(text)
		if err != nil {
			continue
		}
		words := Words{Spend: func(int) bool { return true }}
		a := words.automatonOf(&Pattern{Source: text, text: text})
		for range 10 {
			s := randomText(r)
			state := 0
			for _, c := range s {
				state = a.step(state, c)
			}
			if got, want := a.ends(state), re.MatchString(s); got != want {
				t.Fatalf("%q on %q: %v, want %v", text, s, got, want)
			} else if got {
				matched++
			}
		}
	}
	if matched < 1000 {
		t.Errorf("only %d matches", matched)
	}
}

// S18: the characters that a search tries stand for all others, however many ranges
// the classes of the patterns are, and are as few as the patterns tell apart.
func TestAlphabetStandsForEveryCharacter(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 18))
	classes := []string{`\p{L}`, `\P{Lu}`, `\p{Nd}`, `[\p{L}#]`, `[^\p{N}a-f]`, `(?i:k)`, `(?i:[σ-ω])`, `\w`, `.`, `\b`, `^`, `$`, "x", `[à-ü]`, `\s`}
	for range amount.Of(200, 1000, 50_000) {
		var automata []*automaton
		var regexps []*regexp.Regexp
		words := Words{Spend: func(int) bool { return true }}
		for range 1 + r.IntN(2) {
			text := ""
			for range 1 + r.IntN(4) {
				text += classes[r.IntN(len(classes))] + []string{"", "*", "?", "|"}[r.IntN(4)]
			}
			re, err := regexp.Compile(text)
			if err != nil {
				continue // a repeated assertion
			}
			regexps = append(regexps, re)
			automata = append(automata, words.automatonOf(&Pattern{Source: text, text: text}))
		}
		letters := alphabet(automata, []string{"xy"})
		if len(letters) > 100 {
			t.Fatalf("%v: %d characters", regexps, len(letters))
		}
		for range 20 {
			c := rune(r.IntN(1 << (7 + r.IntN(11))))
			if c >= 0xD800 && c < 0xE000 {
				continue
			}
			around := [][2]string{{"", ""}, {randomText(r), randomText(r)}, {randomText(r), ""}, {"x", randomText(r)}}
			if !slices.ContainsFunc(letters, func(letter rune) bool {
				return !slices.ContainsFunc(around, func(with [2]string) bool {
					return slices.ContainsFunc(regexps, func(re *regexp.Regexp) bool {
						return re.MatchString(with[0]+string(c)+with[1]) != re.MatchString(with[0]+string(letter)+with[1])
					})
				})
			}) {
				t.Fatalf("%v: nothing in %q stands for %q in %q", regexps, string(letters), c, around)
			}
		}
	}
}
