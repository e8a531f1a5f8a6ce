// Package label follows labels through a plan: from what stands there from the
// start and what tools give, along data and control, to the parameters of calls. What it
// finds is what may happen under some timing and some branch. It looks at a plan that
// stands under a policy; any other costs nothing.
package label

import (
	"fmt"
	"slices"

	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/policy"
	"github.com/obelus-dev/obelus/compiler/source"
)

const respects = policy.Respect(len(policy.Label{}))

// A value is what is known of one: for each respect where its worst level has come from, nil where it is as good as can
// be. In the second half is what has come only by deciding whether there is a value, or whether a call runs.
type value [2 * respects]*step

// nothing is the value of what is as good as the plan's own text.
var nothing value

// A step is the last of a way from a source; steps are shared and never change.
type step struct {
	before *step // nil of a source
	level  policy.Level
	Hop
}

// A Hop is one step of a way: its source, or a call that passes on what it is passed.
type Hop struct {
	Call  string      `json:"call,omitempty"` // "" for what is there from the start
	Span  source.Span `json:"-"`
	Words string      `json:"words"` // what happens there
}

func (v *value) join(other value) {
	for i, s := range other {
		v[i] = worse(v[i], s)
	}
}

func worse(a, b *step) *step {
	if a == nil || b != nil && b.level > a.level {
		return b
	}
	return a
}

// data is the value without what only decides something.
func (v value) data() value {
	clear(v[respects:])
	return v
}

// control is the value without all else.
func (v value) control() value {
	clear(v[:respects])
	return v
}

// decides is the value as what decides something: all of it is control.
func (v value) decides() (all value) {
	for r := range respects {
		all[r+respects] = v.of(r)
	}
	return all
}

// through is the value as a call passes it on.
func (v value) through(c *plan.Call) value {
	if v == nothing {
		return v
	}
	hop := Hop{c.Name, c.ToolNode.Span(), fmt.Sprintf("%q passes it on", c.Name)}
	for i, s := range v {
		if s != nil {
			v[i] = &step{s, s.level, hop}
		}
	}
	return v
}

// of is where the worst level in a respect has come from, nil where it is as good as can be.
func (v value) of(r policy.Respect) *step { return worse(v[r], v[r+respects]) }

func (v value) label() (l policy.Label) {
	for r := range respects {
		if s := v.of(r); s != nil {
			l[r] = s.level
		}
	}
	return l
}

// from is the value of a source with a label.
func from(l policy.Label, hop Hop) (v value) {
	for r := range respects {
		if l[r] > 0 {
			v[r] = &step{nil, l[r], hop}
		}
	}
	return v
}

var secret = policy.Label{policy.Confidentiality: policy.Secret}

// maxWay limits the calls of a way that are reported.
const maxWay = 12

// way is the source of a step and the last calls through which it has come.
func (s *step) way() (hops []Hop) {
	for ; s.before != nil; s = s.before {
		if len(hops) < maxWay {
			hops = append(hops, s.Hop)
		}
	}
	slices.Reverse(hops)
	return slices.Insert(hops, 0, s.Hop)
}
