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

// A taint is one of the ways in which a value can be worse than a literal of the plan.
type taint uint8

const (
	untrusted taint = iota
	private         // or secret
	secret
	taints
)

// A value is what is known of one: for each taint the shortest way by which it has come, nil where it hasn't. In the
// second half are the ways on which it has come only by deciding whether there is a value, or whether a call runs.
type value [2 * taints]*step

// A step is the last of a way from a source; steps are shared and never change.
type step struct {
	before *step
	source *step // nil of a source itself
	length int32
	Hop
}

// A Hop is one step of a way from a source to a sink.
type Hop struct {
	Plan    *plan.Plan
	Call    *plan.Call // whose read it is, or that is the source; nil for what stands there from the start, and for an output
	Span    source.Span
	Words   string // what happens there
	Control bool   // it goes through control alone

	read *plan.Read // whose words are made when somebody wants them
}

func (v *value) join(other value) {
	for i, s := range other {
		if v[i] == nil || s != nil && s.length < v[i].length {
			v[i] = s
		}
	}
}

// data is the value without what only decides something.
func (v value) data() value {
	clear(v[taints:])
	return v
}

// control is the value without all else.
func (v value) control() value {
	clear(v[:taints])
	return v
}

// decides is the value as what decides something: all of it is control.
func (v value) decides() value {
	all := v.control()
	for i, s := range v[:taints] {
		if s != nil {
			decisive := *s
			decisive.Control = true
			var one value
			one[i+int(taints)] = &decisive
			all.join(one)
		}
	}
	return all
}

// over is the value with one hop more in each of its ways.
func (v value) over(hop Hop) (to value) {
	for i, s := range v {
		switch hop.Control = i >= int(taints); {
		case s == nil:
		case i > 0 && v[i-1] == s:
			to[i] = to[i-1]
		default:
			to[i] = &step{before: s, source: cmp.Or(s.source, s), length: s.length + 1, Hop: hop}
		}
	}
	return to
}

// of is a shortest way of a taint, nil where it hasn't come.
func (v value) of(t taint) *step { return cmp.Or(v[t], v[t+taints]) }

func (v value) label() (l policy.Label) {
	if v.of(untrusted) != nil {
		l.Integrity = policy.Untrusted
	}
	switch {
	case v.of(secret) != nil:
		l.Confidentiality = policy.Secret
	case v.of(private) != nil:
		l.Confidentiality = policy.Private
	}
	return l
}

// maxWay limits the hops of a path that are reported.
const maxWay = 12

// way is the hops that lead to a step, the source first. Of a long way those behind the
// source are left out.
func (s *step) way() []Hop {
	var hops []Hop
	for ; s != nil; s = s.before {
		if len(hops) == maxWay && s.source != nil {
			hops = append(hops, Hop{Plan: s.Plan, Words: fmt.Sprintf("and %d steps more", s.length), Control: s.Control})
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
