package regex

import (
	"math/rand/v2"
	"regexp"
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
