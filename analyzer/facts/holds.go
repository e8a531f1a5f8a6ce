package facts

import (
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/label"
	"github.com/obelus-dev/obelus/compiler/plan"
)

// mostSpread bounds the work of following values through a plan, in words of 64 calls that
// are looked at. Past it a call may hold anything.
const mostSpread = 3_000_000

// Anything is what a call may hold if more isn't known.
const Anything = "†"

// holds follows values through calls: a result may hold all that the call was given and, unless an expression or a
// model made it, something new. Sets have calls by their indexes, and the kinds behind them.
func (g *gatherer) holds(f *Facts) {
	n := len(f.Calls)
	kinds := g.kinds(f)
	gives := make([]big.Int, n)
	left := mostSpread
	for _, i := range g.plan.Graph.Order() {
		c, given, direct := &f.Calls[i], &gives[i], new(big.Int)
		received := c.received()
		for _, s := range received {
			left -= (len(s.writers) + 1) * ((n + len(kinds) + 63) / 64)
		}
		if left < 0 {
			if c.Leaves() {
				c.Holds = []string{Anything}
			}
			continue
		}
		for _, s := range received {
			for _, w := range s.writers {
				given.Or(given, &gives[w])
				direct.SetBit(direct, int(w), 1)
			}
			if s.Start {
				at := n + slices.Index(kinds, kindOf(s.Path))
				given.SetBit(given, at, 1)
				direct.SetBit(direct, at, 1)
			}
		}
		if c.Leaves() && new(big.Int).AndNot(given, direct).Sign() != 0 {
			c.hold(f, given, kinds)
		}
		if !slices.Contains([]string{"expr", Model, Produced}, c.Runs.Kind) {
			given.SetBit(given, int(i), 1)
		}
	}
}

// mostHeld is how many calls are named whose results others may hold.
const mostHeld = 20

// hold names what is in a set of calls and kinds.
func (c *Call) hold(f *Facts, set *big.Int, kinds []string) {
	calls := 0
	for at := range set.BitLen() {
		switch n := len(f.Calls); {
		case set.Bit(at) == 0:
		case at >= n:
			c.Holds = append(c.Holds, kinds[at-n])
		case calls < mostHeld:
			c.Holds = append(c.Holds, f.Calls[at].Name)
			calls++
		default:
			c.HoldsMore++
		}
	}
}

// received are the sources of all that a call is given, each list of writers once.
func (c *Call) received() []*Source {
	one := Call{Values: c.Values, Each: c.Each, Context: c.Context}
	return one.reads()
}

// kinds are those of what is there from the start and is read.
func (g *gatherer) kinds(f *Facts) []string {
	all := map[string]bool{}
	for i := range f.Calls {
		for _, s := range f.Calls[i].received() {
			if s.Start {
				all[kindOf(s.Path)] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(all))
}

func kindOf(path string) string {
	if at := strings.IndexAny(path, ".["); at >= 0 {
		return path[:at]
	}
	return path
}

// label says what the policies of a plan make of what its calls are given.
func (f *Facts) label(p *plan.Plan) {
	labels := label.Of(p)
	if labels == nil {
		return
	}
	for i, c := range p.Calls {
		one := map[string]string{}
		for at, field := range c.Params.Fields {
			data, control := labels.Parameter(i, at)
			one[field.Key], one["_when"] = data.String(), control.String()
		}
		if len(f.Calls[i].Context) > 0 {
			one[label.Context] = labels.Sees(i).String()
		}
		f.Calls[i].Labels = one
	}
}
