package simulate

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

// A profile is what a tool says of its duration, cost and failures (x-simulate).
type profile struct {
	duration spread // in nanoseconds
	cost     spread
	failure  float64
	rated    bool // it says how often it fails
}

// defaultDuration is how long an activity takes whose tool says nothing.
const defaultDuration = 100 * time.Millisecond

// A spread is a number that may be another each time: log-normal, as service times tend to be.
type spread struct{ p50, p95 float64 }

func (s spread) draw(chance *rand.Rand) float64 {
	if s.p95 <= s.p50 || s.p50 <= 0 {
		return s.p50
	}
	// 1.6449 is the 95th percentile of the standard normal distribution.
	sigma := math.Log(s.p95/s.p50) / 1.6449
	return s.p50 * math.Exp(sigma*chance.NormFloat64())
}

func (w *world) profile(tool *plan.Tool) profile {
	if tool == nil {
		return profile{duration: spread{p50: float64(defaultDuration)}}
	}
	p, known := w.profiles[tool]
	if !known {
		p = readProfile(tool.Simulate)
		w.profiles[tool] = p
	}
	return p
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
