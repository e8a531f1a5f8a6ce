package branch

import (
	"slices"

	"github.com/obelus-dev/obelus/analyzer/internal/logic"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// A readKey tells reads of one value from others: a path, and the calls that are seen.
type readKey struct {
	path        pathtree.ID
	bound       plan.Binding
	count       int
	first, last int32
	without     int // under once: the reader, which isn't among them
}

func keyOf(p *plan.Plan, read int) readKey {
	r := &p.Reads[read]
	k := readKey{path: r.Path, bound: r.Bound, count: len(r.Writers), without: -1}
	if k.count > 0 {
		k.first, k.last = r.Writers[0], r.Writers[k.count-1]
	}
	if r.Bound == plan.All || compiler.ReadsItem(p, r) { // the items of each call are of its own list
		k.without = r.Call
	}
	return k
}

// read is what is known of the value of a read.
func (e *Conditions) read(r int) valued {
	if e.reads[r].there >= 0 {
		return e.reads[r]
	}
	read, key := &e.plan.Reads[r], keyOf(e.plan, r)
	v, known := e.shared[key]
	switch {
	case e.facts.NeverThere(read):
		v = valued{logic.False, logic.False}
	case !known:
		v = e.resolve(read)
		e.shared[key] = v
	}
	e.reads[r] = v
	return v
}

// resolve folds what a read's writers do over what is there from the start, in the order in which the machine does.
func (e *Conditions) resolve(r *plan.Read) valued {
	plan := e.plan
	if r.Path == pathtree.Root {
		return valued{e.unknown(true), e.unknown(true)}
	}
	if plan.Paths.Depth(r.Path) < 2 && plan.Paths.Kind(r.Path) != "error" {
		return valued{logic.True, logic.True}
	}
	writers := slices.Clone(r.Writers)
	slices.SortStableFunc(writers, func(a, b int32) int { return plan.Graph.Rank(int(a)) - plan.Graph.Rank(int(b)) })
	v := e.initial(r)
	for _, w := range writers {
		v = e.contribution(v, plan.Calls[w], r.Path)
	}
	return v
}

// contribution is what stands at a path once a call has settled.
func (e *Conditions) contribution(v valued, call *plan.Call, at pathtree.ID) valued {
	paths := e.plan.Paths
	for i, path := range call.Paths() {
		if !e.Work(1) {
			return v
		}
		if !paths.Overlap(path.ID, at) {
			continue
		}
		w := e.Writes(call, i)
		set := call.Method == plan.Set || i == call.FailureRoute()
		switch {
		// what is above comes into being with it
		case path.ID != at && paths.IsAbove(at, path.ID), path.ID == at && !set:
			v = valued{e.Or(v.there, w), e.Or(v.solid, w)}
		case path.ID == at:
			v = valued{e.Or(v.there, w), e.IfThenElse(w, e.result(call, i, at, path.ID).solid, v.solid)}
		case set:
			part := e.result(call, i, at, path.ID)
			v = valued{e.IfThenElse(w, part.there, v.there), e.IfThenElse(w, part.solid, v.solid)}
		default:
			part := e.result(call, i, at, path.ID)
			v = valued{e.Or(v.there, e.And(w, part.there)), e.Or(v.solid, e.And(w, part.solid))}
		}
	}
	return v
}

// result is what a call that writes one path leaves at another, at or below it. On its failure route that may be the
// record of a failure, which isn't null, or a result that was sent there by name.
func (e *Conditions) result(call *plan.Call, alternative int, at, written pathtree.ID) valued {
	paths := e.plan.Paths
	deeper := paths.Depth(at) - paths.Depth(written)
	k := heldKey{int32(call.Index), at}
	held := e.held(k)
	switch s := e.facts.Written(call, written); {
	case s != nil && call.Tool.Output != nil && (alternative != call.FailureRoute() || deeper == 0):
		return e.described(s, k, deeper, func() valued { return held })
	case deeper == 0:
		return valued{logic.True, held.solid}
	}
	return held
}

// described is what a schema guarantees of a path so many steps below what it describes: a result, or what a run begins
// with.
func (e *Conditions) described(s *schema.Schema, k heldKey, below int, held func() valued) valued {
	steps := e.plan.Paths.Segments(k.path)
	steps = steps[len(steps)-below:]
	place := e.facts.At(s, steps)
	if !place.Possible && k.call >= 0 { // that is OB513's
		there := e.unknown(false)
		return valued{there, there}
	}
	v := valued{logic.False, logic.False}
	for _, one := range e.variants(k, s, steps, 0, held) {
		there := e.And(one.chosen, one.there)
		v.there = e.Or(v.there, there)
		switch {
		case one.schema == nil || one.schema.Kinds() == schema.Anything ||
			!place.Required && k.call < 0 && saysNull(one.schema):
			there = e.And(there, held().solid)
		case one.schema.Kinds() == schema.Null:
			there = logic.False
		case saysNull(one.schema):
			there = e.And(there, e.nulls(k).Not())
		}
		v.solid = e.Or(v.solid, there)
	}
	return v
}

// nulls is that a result is null at a path at which its schema says that it may be.
func (e *Conditions) nulls(k heldKey) logic.Literal {
	l, ok := e.null[k]
	if !ok {
		null := func() { l = e.Variable(true, false, aboutNull{k}) }
		if k.call < 0 {
			null()
		} else {
			e.within(int(k.call), null)
		}
		e.null[k] = l
	}
	return l
}

// A heldKey is a path into what a call writes, or for -1 into what the run begins with.
type heldKey struct {
	call int32
	path pathtree.ID
}

// held is what isn't known of a result: whether it holds something at a path.
func (e *Conditions) held(k heldKey) valued {
	v, ok := e.holding[k]
	if !ok {
		e.within(int(k.call), func() {
			may := e.given
			if e.plan.Calls[k.call].Delegate != "" { // what its own calls give
				may = func() logic.Literal { return e.unknown(true) }
				v.there = may()
			} else {
				v.there = e.Variable(false, true, aboutGiven{k})
			}
			v.solid = e.And(v.there, may())
		})
		e.holding[k] = v
	}
	return v
}

// initial is what a read finds before any call runs. Input may be replaced, so only what its schema
// requires is certain. State that calls write and the document doesn't hold is absent.
func (e *Conditions) initial(r *plan.Read) valued {
	p := e.plan
	below := func() []expression.Segment { return p.Paths.Segments(r.Path)[1:] }
	given := func() valued { there := e.given(); return valued{there, e.And(there, e.given())} }
	promised := func(s *schema.Schema) valued { return e.described(s, heldKey{-1, r.Path}, len(below()), given) }
	switch p.Paths.Kind(r.Path) {
	case "input":
		if p.InputSchema != nil {
			return promised(p.InputSchema)
		}
	case "state":
		if given, ok := p.Paths.Walk(p.State, r.Path); ok {
			switch {
			case given != nil:
				return valued{logic.True, logic.True}
			case p.AwaitsInstances: // some lay a value of their own over it
				return valued{logic.True, e.given()}
			}
			if s := p.StateSchema; s != nil { // a run may bring another than the plan's own
				if at := s.At(below()); at.Named && at.Schema != nil &&
					at.Schema.Kinds()&^schema.Null != 0 {
					return valued{logic.True, e.nulls(heldKey{-1, r.Path}).Not()}
				}
			}
			return valued{logic.True, logic.False}
		}
		if p.StateSchema != nil && p.StateSchema.At(below()).Required {
			return promised(p.StateSchema)
		}
		if r.Start { // every instance holds it
			return valued{logic.True, logic.True}
		}
		if len(r.Writers) > 0 && (p.Form == plan.PlanFile || p.Form == plan.CallList || p.Form == plan.Replan) &&
			!e.facts.Unknown(diag.State|diag.Writes) &&
			!e.facts.Begins("state", below()) {
			return valued{logic.False, logic.False}
		}
	case "data":
		if given, ok := p.Paths.Walk(p.Data, r.Path); ok && given != nil {
			return valued{logic.True, logic.True}
		}
	}
	return given()
}

// saysNull reports whether a schema says that null may come.
func saysNull(s *schema.Schema) bool {
	return s != nil && s.Kinds()&schema.Null != 0 && s.Kinds() != schema.Anything
}
