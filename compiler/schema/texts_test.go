package schema

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/obelus-dev/obelus/compiler/schema/regex"
	"github.com/obelus-dev/obelus/testdata/amount"
	"github.com/obelus-dev/obelus/testdata/patterns"
)

// A word that is found fits; where there is a short one, mostly one is found; and none
// is denied.
func TestWord(t *testing.T) {
	seed := chooseSeed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	short := []string{""}
	for i := 0; len(short) < 4000; i++ {
		for _, c := range []string{"a", "b", "A", "1", " ", "\n", ".", "é"} {
			short = append(short, short[i]+c)
		}
	}
	exist, solved := 0, 0
	for range amount.Of(500, 500, 20_000) {
		g := textGoal{size: size{r.IntN(3), 1 + r.IntN(6)}, not: []string{"", "a", "ab"}[:r.IntN(4)]}
		for range 1 + r.IntN(2) {
			if p, _, err := regex.Compile(patterns.Random(r, 2)); err == nil {
				g.matches = append(g.matches, p)
			}
		}
		for range r.IntN(2) {
			if p, _, err := regex.Compile(patterns.Random(r, 2)); err == nil {
				g.misses = append(g.misses, p)
			}
		}
		f := g.solve(newProver(200_000))
		i := slices.IndexFunc(short, func(s string) bool { return g.fits(newProver(200_000), s) })
		if i >= 0 {
			exist++
		}
		switch {
		case f.status == found:
			if solved++; !g.fits(newProver(200_000), f.value.(string)) {
				t.Fatalf("seed %d: %+v doesn't fit: %s", seed, f, g.String())
			}
		case f.status == empty && i >= 0:
			t.Fatalf("seed %d: none, but %q: %s", seed, short[i], g.String())
		}
	}
	if solved < exist*3/4 {
		t.Errorf("seed %d: words were found for %d goals, there are for at least %d", seed, solved, exist)
	}
}

func (g *textGoal) String() string {
	return fmt.Sprintf("length %d to %d, matches %q, misses %q, not %q", g.min, g.max, sources(g.matches), sources(g.misses), g.not)
}

func sources(list []*regex.Pattern) []string {
	var texts []string
	for _, p := range list {
		texts = append(texts, p.Source)
	}
	return texts
}

// The examples of formats are of them.
func TestFormats(t *testing.T) {
	for name, words := range shortFormats {
		for _, w := range append(slices.Clone(words), (&sampler{r: rand.New(rand.NewPCG(1, 1))}).formatted(name)) {
			if check := formats[name]; check != nil && (w != "" || words[0] == "") && !check(w) {
				t.Errorf("%q isn't of the format %s", w, name)
			}
		}
	}
}

// A number is found where there is one, on a grid of numbers that are tried one
// by one.
func TestNumber(t *testing.T) {
	seed, cases := chooseSeed(t), amount.Of(5000, 5000, 200_000)
	r := rand.New(rand.NewPCG(seed, 0))
	counts := map[status]int{}
	numbers := []float64{0, 1, 2, 3, -1, -2.5, 0.5, 1.5, 0.1, 0.3, 4, 10, -10, 0.25}
	choose := func() *float64 { return &numbers[r.IntN(len(numbers))] }
	for i := range cases {
		g := numberGoal{}
		if r.IntN(3) > 0 {
			g.atLeast(choose(), r.IntN(2) == 0)
		}
		if r.IntN(3) > 0 {
			g.atMost(choose(), r.IntN(2) == 0)
		}
		for range r.IntN(3) {
			if m := *choose(); m > 0 {
				g.multiples = append(g.multiples, m)
			}
		}
		for range r.IntN(2) {
			if m := *choose(); m > 0 {
				g.unlikely = append(g.unlikely, m)
			}
		}
		for range r.IntN(4) {
			g.not = append(g.not, *choose())
		}
		kind := []Kinds{Integer, Fraction}[i%2]
		f := newProver(1<<20).numbers(g, kind)
		counts[f.status]++
		if f.status == found && (kindOfFloat(f.value.(float64)) != kind || !g.fits(f.value.(float64))) {
			t.Fatalf("seed %d: %+v: %v doesn't fit", seed, g, f.value)
		}
		for k := -1000; k <= 1000 && f.status == empty; k++ {
			if x := float64(k) / 20; kindOfFloat(x) == kind && g.fits(x) {
				t.Fatalf("seed %d: %+v %v: %v fits, and none was found", seed, g, kind, x)
			}
		}
	}
	if counts[found] < 1000 || counts[empty] < 500 || counts[unclear] > cases/100 {
		t.Errorf("of each kind: %v", counts)
	}
}

func (p *prover) numbers(g numberGoal, kind Kinds) finding {
	if !g.sound() {
		return none()
	}
	return g.solve(p, kind)
}
