package regex

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// S18: the automaton of a pattern says of a text what the library's matcher says, and
// what asking costs doesn't hang on what was asked before.
func TestReadingAgreesWithMatching(t *testing.T) {
	pieces := []string{"a", "b", "ab", "(a|b)", "[a-c]", ".", "\\d", "\\s", "\\b", "^", "$", "(a|aa|aaa){3}", "é", "[^x]", "\\w", "(?:b|c)"}
	letters := []rune("aabbcé \nx1_")
	r := rand.New(rand.NewPCG(7, 1))
	tried, decided := 0, 0
	for range 4_000 {
		source := ""
		for range 1 + r.IntN(5) {
			source += pieces[r.IntN(len(pieces))] + []string{"", "", "*", "+", "?", "|"}[r.IntN(6)]
		}
		p, _, err := Compile(source)
		if err != nil {
			continue
		}
		for range 5 {
			var b strings.Builder
			for range r.IntN(30) {
				if b.WriteRune(letters[r.IntN(len(letters))]); r.IntN(40) == 0 {
					b.WriteByte(0xff)
				}
			}
			text := b.String()
			tried++
			matched, cost, ok := p.read(text, 10_000)
			if !ok {
				continue
			}
			decided++
			if want := p.re.MatchString(text); matched != want {
				t.Fatalf("%q on %q is %v by the automaton, %v by the matcher", source, text, matched, want)
			}
			if _, again, _ := p.read(text, cost); again != cost {
				t.Fatalf("%q on %q costs %d, and then %d", source, text, cost, again)
			}
		}
	}
	if decided < tried*9/10 {
		t.Errorf("only %d of %d are decided", decided, tried)
	}
}

// Within any number of steps a dear match is decided exactly where it was with more of
// them, remembered or not.
func TestDearMatchesCostTheSame(t *testing.T) {
	for _, source := range []string{"(a|b|ab)*(a|aa|aaa){20}$|b1", "(a|b)*a(a|b){17}$", "^[a-z ]+$", "x{1,400}y"} {
		r := rand.New(rand.NewPCG(7, 2))
		text := []byte(strings.Repeat("ab", 4_000))
		for i := range text {
			text[i] = "ab"[r.IntN(2)]
		}
		fresh := func() *Pattern {
			p, _, err := Compile(source)
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		warm := fresh()
		left := 100_000_000
		warm.MatchWithin(string(text), &left)
		cost := 100_000_000 - left
		t.Logf("%s: %d of %d", source, cost, warm.Effort(string(text)))
		for _, steps := range []int{1, cost / 8, cost / 2, cost - 1, cost, cost + 1, 2 * cost} {
			a, b := steps, steps
			m1, d1 := warm.MatchWithin(string(text), &a)
			m2, d2 := fresh().MatchWithin(string(text), &b)
			if m1 != m2 || d1 != d2 || d1 != (steps >= cost) || d1 && a != b {
				t.Errorf("%s within %d of %d steps: %v %v, left %d, when it is remembered; %v %v, left %d, when it isn't", source, steps, cost, m1, d1, a, m2, d2, b)
			}
		}
	}
}

func BenchmarkDear(b *testing.B) {
	for name, c := range map[string]struct{ source, letters string }{
		"ambiguous": {"(a|b|ab)*(a|aa|aaa){20}$|b1", "a"}, "exponential": {"(a|b)*a(a|b){17}$", "ab"}, "plain": {"^[a-z ]+$", "abc"},
	} {
		r := rand.New(rand.NewPCG(7, 3))
		text := make([]byte, 39_000)
		for i := range text {
			text[i] = c.letters[r.IntN(len(c.letters))]
		}
		p, _, _ := Compile(c.source)
		b.Run(name, func(b *testing.B) {
			cost := 0
			for range b.N {
				_, cost, _ = p.search(string(text), p.Effort(string(text)), 1<<40)
			}
			b.ReportMetric(float64(cost), "steps")
		})
		b.Run(name+" library", func(b *testing.B) {
			for range b.N {
				p.re.MatchString(string(text))
			}
			b.ReportMetric(float64(p.Effort(string(text))), "steps")
		})
	}
}
