package simulate

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/source"
)

// Observed is what became of the tries of a tool's calls, in one run or several.
type Observed struct {
	Durations []time.Duration // of each
	Costs     []float64       // of those that said what they cost
	Failed    int             // how many failed
}

// A profile is what a tool says of its duration, cost and failures (x-simulate), or what was
// observed.
type profile struct {
	duration spread // in nanoseconds
	cost     spread
	failure  float64
	rated    bool // it says how often it fails
}

// defaultDuration is how long an activity takes whose tool says nothing.
const defaultDuration = 100 * time.Millisecond

// A spread is a number that may be another each time: one of those observed, or else
// log-normal, as service times tend to be.
type spread struct {
	observed []float64
	p50, p95 float64
}

func (s spread) draw(chance *rand.Rand) float64 {
	if len(s.observed) > 0 {
		return s.observed[chance.IntN(len(s.observed))]
	}
	if s.p95 <= s.p50 || s.p50 <= 0 {
		return s.p50
	}
	// 1.6449 is the 95th percentile of the standard normal distribution.
	sigma := math.Log(s.p95/s.p50) / 1.6449
	return s.p50 * math.Exp(sigma*chance.NormFloat64())
}

// Percentile is the least of some numbers, which are sorted, that at least so much of them,
// 1 being all, doesn't exceed: the nearest rank.
func Percentile[T cmp.Ordered](sorted []T, of float64) T {
	return sorted[max(0, int(math.Ceil(of*float64(len(sorted))))-1)]
}

func (w *world) profile(tool *compiler.Tool) profile {
	if tool == nil {
		return profile{duration: spread{p50: float64(defaultDuration)}}
	}
	p, known := w.profiles[tool]
	if !known {
		p = readProfile(tool.Simulate)
		p.see(w.options.Observed[tool.Name])
		w.profiles[tool] = p
	}
	return p
}

// see puts what was observed in the place of what a tool says of itself.
func (p *profile) see(o *Observed) {
	if o == nil || len(o.Durations) == 0 {
		return
	}
	for _, d := range slices.Sorted(slices.Values(o.Durations)) {
		p.duration.observed = append(p.duration.observed, float64(d))
	}
	p.cost.observed = slices.Sorted(slices.Values(o.Costs))
	p.failure, p.rated = float64(o.Failed)/float64(len(o.Durations)), p.rated || o.Failed > 0
}

func readProfile(n *source.Node) profile {
	p := profile{duration: spread{p50: float64(defaultDuration)}}
	read := func(n *source.Node, to *float64) {
		switch {
		case n == nil:
		case n.Kind == source.Number:
			*to = n.Float()
		case n.Kind == source.String:
			if d, err := time.ParseDuration(n.Text); err == nil && d >= 0 {
				*to = float64(d)
			}
		}
	}
	for key, to := range map[string]*spread{"duration": &p.duration, "cost": &p.cost} { // in any order
		read(n.Get(key), &to.p50)
		read(n.Get(key).Get("p50"), &to.p50)
		read(n.Get(key).Get("p95"), &to.p95)
	}
	read(n.Get("failure"), &p.failure)
	p.rated = n.Get("failure") != nil
	return p
}
