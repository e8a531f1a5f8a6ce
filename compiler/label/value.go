// Package label follows labels through a plan: from what stands there from the
// start and what tools give, along data and control, to the parameters of calls. What it
// finds is what may happen under some timing and some branch. It looks at a plan that
// stands under a policy; any other costs nothing.
package label

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/policy"
	"github.com/obelus-dev/obelus/compiler/source"
)

// A respect is one in which a value can be worse than a literal of the plan.
type respect uint8

const (
	integrity respect = iota
	confidentiality
	respects
)

// A value is what is known of one: for each respect the shortest way by which the worst level has come, nil where it is
// as good as can be. In the second half are the ways on which it has come only by deciding whether there is a value, or
// whether a call runs.
type value [2 * respects]*step

// A step is the last of a way from a source; steps are shared and never change.
type step struct {
	before *step
	source *step // nil of a source itself
	length int32
	level  uint8 // an Integrity or a Confidentiality
	Hop
}

// A Hop is one step of a way from a source to a sink.
type Hop struct {
	Plan *plan.Plan
	// whose read it is, or that is the source; nil for what stands there from the start, and for an output
	Call  *plan.Call
	Span  source.Span
	Words string // what happens there

	read *plan.Read // whose words are made when somebody wants them
}

func (v *value) join(other value) {
	for i, s := range other {
		v[i] = worse(v[i], s)
	}
}

// worse is the step of a higher level, or of two of one the end of a shorter way.
func worse(a, b *step) *step {
	if a == nil || b != nil && (b.level > a.level || b.level == a.level && b.length < a.length) {
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
	for k := range respects {
		all[k+respects] = v.of(k)
	}
	return all
}

// over is the value with one hop more in each of its ways.
func (v value) over(hop Hop) (to value) {
	for i, s := range v {
		if s != nil {
			to[i] = &step{before: s, source: cmp.Or(s.source, s), length: s.length + 1, level: s.level, Hop: hop}
		}
	}
	return to
}

// of is a shortest way of the worst level in a respect, nil where it is as good as can be.
func (v value) of(k respect) *step { return worse(v[k], v[k+respects]) }

func (v value) label() policy.Label {
	var l limit
	for k := range l {
		if s := v.of(respect(k)); s != nil {
			l[k].most = s.level
		}
	}
	return l.label()
}

// from is the value of a source with a label. Hop makes the hop of each respect.
func from(l policy.Label, hop func(respect) Hop) (v value) {
	for k, of := range limitOf(l) {
		if of.most > 0 {
			v[k] = &step{level: of.most, Hop: hop(respect(k))}
		}
	}
	return v
}

// secretBy is the value of what is secret by a hop.
func secretBy(hop Hop) value {
	return from(policy.Label{Confidentiality: policy.Secret}, func(respect) Hop { return hop })
}

// maxWay limits the hops of a path that are reported.
const maxWay = 12

// way is the hops that lead to a step, the source first. Of a long way those behind the
// source are left out.
func (s *step) way() []Hop {
	var hops []Hop
	for ; s != nil; s = s.before {
		if len(hops) == maxWay && s.source != nil {
			hops = append(hops, Hop{Plan: s.Plan, Words: fmt.Sprintf("and %d steps more", s.length)})
			s = s.source
		}
		hop := s.Hop
		if hop.read != nil {
			hop.Span, hop.Words = hop.read.Span(), fmt.Sprintf("%s is read", hop.Plan.Paths.String(hop.read.Path))
		}
		hops = append(hops, hop)
	}
	slices.Reverse(hops)
	return hops
}
