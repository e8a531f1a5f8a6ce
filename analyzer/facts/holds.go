package facts

import (
	"maps"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/label"
	"github.com/obelus-dev/obelus/compiler/plan"
)

// mostSpread bounds the work of following values through a plan, in calls that are looked at. Past it a call may hold
// anything.
const mostSpread = 5_000_000

// Anything is what a call may hold if more isn't known.
const Anything = "†"

// mostHeld is how many calls are named whose results others may hold.
const mostHeld = 20

// holds follows values back through calls, for those that hand something out: they may hold all that the calls were
// given by which they come and, unless an expression or a model made it, something new.
func (g *gatherer) holds(f *Facts) {
	left, met := mostSpread, make([]int, len(f.Calls)) // by call: the last one that was found to depend on it
	received := make([][]*Source, len(f.Calls))
	for i := range f.Calls {
		received[i] = f.Calls[i].reads(false)
	}
	for i := range f.Calls {
		c := &f.Calls[i]
		if !c.Leaves() {
			continue
		}
		queue, kinds, direct, directKinds := []int{i}, map[string]bool{}, 0, 0
		for at := 0; at < len(queue) && left > 0; at++ {
			for _, s := range received[queue[at]] {
				if s.Start {
					kinds[kindOf(s.Path)] = true
				}
				for _, w := range s.writers {
					if left--; met[w] != i+1 {
						met[w] = i + 1
						queue = append(queue, int(w))
					}
				}
			}
			if at == 0 {
				direct, directKinds = len(queue), len(kinds)
			}
		}
		if left <= 0 {
			c.Holds = []string{Anything}
		} else if len(kinds) > directKinds || slices.ContainsFunc(queue[direct:], f.makes) {
			c.hold(f, queue[1:], kinds)
		}
	}
}

// makes reports whether a call adds something new to what it was given.
func (f *Facts) makes(call int) bool {
	return !slices.Contains([]string{"expr", Model, Produced}, f.Calls[call].Runs.Kind)
}

// hold names what some calls and kinds give.
func (c *Call) hold(f *Facts, calls []int, kinds map[string]bool) {
	slices.Sort(calls)
	for _, at := range calls {
		switch {
		case !f.makes(at):
		case len(c.Holds) < mostHeld:
			c.Holds = append(c.Holds, f.Calls[at].Name)
		default:
			c.HoldsMore++
		}
	}
	c.Holds = append(c.Holds, slices.Sorted(maps.Keys(kinds))...)
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
