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

// A value is what is known of one: for each taint the shortest way by which it has come,
// nil where it hasn't. What has come only by deciding whether there is a value, or
// whether a call runs, is control.
type value struct{ data, control [taints]*step }

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

func nearer(a, b *step) *step {
	if a == nil || b != nil && b.length < a.length {
		return b
	}
	return a
}

func join(to *[taints]*step, from [taints]*step) {
	for i, s := range from {
		to[i] = nearer(to[i], s)
	}
}

func (v *value) join(other value) {
	join(&v.data, other.data)
	join(&v.control, other.control)
}

// decides is the value as what decides something: all of it is control.
func (v value) decides() [taints]*step {
	all := v.control
	for i, s := range v.data {
		if s != nil && !s.Control {
			hop := s.Hop
			hop.Control = true
			s = &step{before: s.before, source: s.source, length: s.length, Hop: hop}
		}
		all[i] = nearer(all[i], s)
	}
	return all
}

// over is a way with one hop more.
func over(from [taints]*step, hop Hop) (to [taints]*step) {
	for i, s := range from {
		switch {
		case s == nil:
		case i > 0 && from[i-1] == s:
			to[i] = to[i-1]
		default:
			to[i] = &step{before: s, source: cmp.Or(s.source, s), length: s.length + 1, Hop: hop}
		}
	}
	return to
}

// over is the value with one hop more in each of its ways.
func (v value) over(hop Hop) value {
	v.data = over(v.data, hop)
	hop.Control = true
	v.control = over(v.control, hop)
	return v
}

func of(ways [taints]*step) (l policy.Label) {
	if ways[untrusted] != nil {
		l.Integrity = policy.Untrusted
	}
	switch {
	case ways[secret] != nil:
		l.Confidentiality = policy.Secret
	case ways[private] != nil:
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
