package facts

import (
	"math/bits"
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
// model made it, something new.
func (g *gatherer) holds(f *Facts) {
	n := len(f.Calls)
	kinds := g.kinds(f)
	words := (n + len(kinds) + 63) / 64
	gives := make([][]uint64, n)
	left := mostSpread
	for _, i := range g.plan.Graph.Order() {
		c := &f.Calls[i]
		received := c.received()
		for _, s := range received {
			left -= (len(s.writers) + 1) * words
		}
		if left < 0 {
			if c.Leaves() {
				c.Holds = []string{Anything}
			}
			continue
		}
		given, direct := make([]uint64, words), make([]uint64, words)
		for _, s := range received {
			for _, w := range s.writers {
				for k, word := range gives[w] {
					given[k] |= word
				}
				direct[w/64] |= 1 << (w % 64)
			}
			if s.Start {
				at := n + slices.Index(kinds, kindOf(s.Path))
				given[at/64] |= 1 << (at % 64)
				direct[at/64] |= 1 << (at % 64)
			}
		}
		if c.Leaves() && !slices.Equal(and(given, direct), given) {
			c.hold(f, given, kinds)
		}
		switch c.Runs.Kind {
		case "expr", Model, Produced:
		default:
			given[i/64] |= 1 << (i % 64)
		}
		gives[i] = given
	}
}

// mostHeld is how many calls are named whose results others may hold.
const mostHeld = 20

// hold names what is in a set of calls and kinds.
func (c *Call) hold(f *Facts, set []uint64, kinds []string) {
	calls := 0
	for i, word := range set {
		for ; word != 0; word &= word - 1 {
			switch at := i*64 + bits.TrailingZeros64(word); {
			case at >= len(f.Calls):
				c.Holds = append(c.Holds, kinds[at-len(f.Calls)])
			case calls < mostHeld:
				c.Holds = append(c.Holds, f.Calls[at].Name)
				calls++
			default:
				c.HoldsMore++
			}
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
	var all []string
	for i := range f.Calls {
		for _, s := range f.Calls[i].received() {
			if kind := kindOf(s.Path); s.Start && !slices.Contains(all, kind) {
				all = append(all, kind)
			}
		}
	}
	slices.Sort(all)
	return all
}

func kindOf(path string) string {
	if at := strings.IndexAny(path, ".["); at >= 0 {
		return path[:at]
	}
	return path
}

func and(a, b []uint64) []uint64 {
	out := make([]uint64, len(a))
	for i := range a {
		out[i] = a[i] & b[i]
	}
	return out
}

// What calls have in [Call.Labels] beside parameters.
const (
	labelOfControl = "_when"
	labelOfContext = label.Context
)

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
			one[field.Key], one[labelOfControl] = data.String(), control.String()
		}
		if len(f.Calls[i].Context) > 0 {
			one[labelOfContext] = labels.Sees(i).String()
		}
		f.Calls[i].Labels = one
	}
}
