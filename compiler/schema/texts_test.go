package schema

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/obelus-dev/obelus/compiler/schema/regex"
	"github.com/obelus-dev/obelus/testdata/amount"
	"github.com/obelus-dev/obelus/testdata/patterns"
)

// The search for a word finds one where there is one, a shortest one, of the
// characters that the patterns tell apart.
func TestWord(t *testing.T) {
	seed := chooseSeed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	counts := map[status]int{}
	short := []string{""}
	for i := 0; len(short) < 4000; i++ {
		for _, c := range []string{"a", "b", "A", "1", " ", "\n", ".", "é"} {
			short = append(short, short[i]+c)
		}
	}
	for range amount.Of(500, 500, 20_000) {
		var matches, misses []*regex.Pattern
		for range 1 + r.IntN(2) {
			if p, _, err := regex.Compile(patterns.Random(r, 2)); err == nil {
				matches = append(matches, p)
			}
		}
		for range r.IntN(2) {
			if p, _, err := regex.Compile(patterns.Random(r, 2)); err == nil {
				misses = append(misses, p)
			}
		}
		g := textGoal{size: size{r.IntN(3), 1 + r.IntN(6)}, matches: matches, misses: misses, not: []string{"", "a", "ab"}[:r.IntN(4)]}
		f := newProver(200_000).word(g.min, g.max, g.matches, g.misses, g.not)
		counts[f.status]++
		fail := func(found string) {
			t.Fatalf("seed %d: length %d to %d, matches %v, misses %v, not %q: %+v, but %q", seed, g.min, g.max, sources(matches), sources(misses), g.not, f, found)
		}
		if f.status == found && !g.fits(f.value.(string)) {
			fail("it doesn't fit")
		}
		for _, s := range short {
			if !g.fits(s) {
				continue
			}
			if f.status == empty || f.status == found && len([]rune(s)) < len([]rune(f.value.(string))) {
				fail(s)
			}
			break
		}
	}
	if counts[found] < 100 || counts[empty] < 50 {
		t.Errorf("too few of a kind: %v", counts)
	}
}

func sources(list []*regex.Pattern) []string {
	var texts []string
	for _, p := range list {
		texts = append(texts, p.Source)
	}
	return texts
}

// What is said of formats is true: the examples are of them, and the hulls hold
// whatever they accept.
func TestFormats(t *testing.T) {
	var corpus []string
	for name, words := range shortFormats {
		for _, w := range append(slices.Clone(words), (&sampler{r: rand.New(rand.NewPCG(1, 1))}).formatted(name)) {
			if check := formats[name]; check == nil || w == "" && len(words[0]) > 0 {
				continue
			} else if !check(w) {
				t.Errorf("%q isn't of the format %s", w, name)
			}
			corpus = append(corpus, w)
		}
	}
	seed := chooseSeed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	accepted := 0
	for range amount.Of(100_000, 100_000, 5_000_000) {
		s := []rune(corpus[r.IntN(len(corpus))])
		for range r.IntN(3) {
			if len(s) == 0 {
				break
			}
			switch i := r.IntN(len(s)); r.IntN(3) {
			case 0:
				s = slices.Delete(s, i, i+1)
			case 1:
				s[i] = []rune("a0:-TtZ. @/P+Ff\n")[r.IntN(16)]
			case 2:
				s = slices.Insert(s, i, []rune("a0:-TtZ. @/P+Ff\n")[r.IntN(16)])
			}
		}
		for name, hull := range hulls {
			if formats[name](string(s)) {
				if accepted++; !hull.Match(string(s)) {
					t.Fatalf("seed %d: %q is of the format %s and not of %s", seed, string(s), name, hull.Source)
				}
			}
		}
	}
	if accepted < 10_000 {
		t.Errorf("only %d strings were of a format", accepted)
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
