package subset

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/obelus-dev/obelus/compiler/schema/ast"
	"github.com/obelus-dev/obelus/compiler/schema/regex"
	"github.com/obelus-dev/obelus/testdata/amount"
	"github.com/obelus-dev/obelus/testdata/patterns"
)

var seedFlag = flag.Uint64("seed", 1, "the seed of the random cases")

// A word that is found fits; where there is a short one, mostly one is found; and none
// is denied.
func TestWord(t *testing.T) {
	seed := *seedFlag
	r := rand.New(rand.NewPCG(seed, 0))
	short := []string{""}
	for i := 0; len(short) < 4000; i++ {
		for _, c := range []string{"a", "b", "A", "1", " ", "\n", ".", "é"} {
			short = append(short, short[i]+c)
		}
	}
	exist, solved := 0, 0
	for range amount.Of(500, 500, 20_000) {
		g := textGoal{Size: ast.Size{Min: r.IntN(3), Max: 1 + r.IntN(6)}, not: []string{"", "a", "ab"}[:r.IntN(4)]}
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
		f := g.solve(NewProver(200_000))
		i := slices.IndexFunc(short, func(s string) bool { return g.fits(NewProver(200_000), s) })
		if i >= 0 {
			exist++
		}
		switch {
		case f.Status == Found:
			if solved++; !g.fits(NewProver(200_000), f.Value.(string)) {
				t.Fatalf("seed %d: %+v doesn't fit: %s", seed, f, g.String())
			}
		case f.Status == Empty && i >= 0:
			t.Fatalf("seed %d: none, but %q: %s", seed, short[i], g.String())
		}
	}
	if solved < exist*3/4 {
		t.Errorf("seed %d: words were found for %d goals, there are for at least %d", seed, solved, exist)
	}
}

func (g *textGoal) String() string {
	return fmt.Sprintf("length %d to %d, matches %q, misses %q, not %q", g.Min, g.Max, sources(g.matches), sources(g.misses), g.not)
}

func sources(list []*regex.Pattern) []string {
	var texts []string
	for _, p := range list {
		texts = append(texts, p.Source)
	}
	return texts
}

// A number is found where there is one, on a grid of numbers that are tried one
// by one.
func TestNumber(t *testing.T) {
	seed, cases := *seedFlag, amount.Of(5000, 5000, 200_000)
	r := rand.New(rand.NewPCG(seed, 0))
	counts := map[status]int{}
	numbers := []float64{0, 1, 2, 3, -1, -2.5, 0.5, 1.5, 0.1, 0.3, 4, 10, -10, 0.25}
	choose := func() *float64 { return &numbers[r.IntN(len(numbers))] }
	for i := range cases {
		g := numberGoal{}
		if r.IntN(3) > 0 {
			g.narrow(bound{choose(), r.IntN(2) == 0, false})
		}
		if r.IntN(3) > 0 {
			g.narrow(bound{choose(), r.IntN(2) == 0, true})
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
		kind := []ast.Kinds{ast.Integer, ast.Fraction}[i%2]
		f := NewProver(1<<20).numbers(g, kind)
		counts[f.Status]++
		if f.Status == Found && (ast.KindOfFloat(f.Value.(float64)) != kind || !g.fits(f.Value.(float64))) {
			t.Fatalf("seed %d: %+v: %v doesn't fit", seed, g, f.Value)
		}
		for k := -1000; k <= 1000 && f.Status == Empty; k++ {
			if x := float64(k) / 20; ast.KindOfFloat(x) == kind && g.fits(x) {
				t.Fatalf("seed %d: %+v %v: %v fits, and none was found", seed, g, kind, x)
			}
		}
	}
	if counts[Found] < 1000 || counts[Empty] < 500 || counts[Unclear] > cases/100 {
		t.Errorf("of each kind: %v", counts)
	}
}

func (p *Prover) numbers(g numberGoal, kind ast.Kinds) finding {
	if !g.sound() {
		return none()
	}
	return g.solve(p, kind)
}
