package rules

import (
	"slices"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
)

var ShapeConflictRule = &diag.Rule{Code: "OB405", Name: "shape-conflict", Default: diag.Error}

var _ = Register(Rule{Rule: ShapeConflictRule, Needs: diag.Order | diag.Writes, Run: shapeConflicts})

// shapeConflicts reports writes for which there can be no place, as another call or the initial state shows.
func shapeConflicts(p *Pass) {
	for _, call := range p.Plan.Calls {
		reported := map[pathtree.ID]bool{}
		for i, path := range call.Paths() {
			for at := path.ID; at > pathtree.Root && !reported[at]; at = p.Plan.Paths.Parent(at) {
				reported[at] = misplaced(p, write{call, i, path}, at)
			}
		}
	}
	if p.Unknown(diag.State) || p.Flow.StateVaries() {
		return
	}
	for _, call := range p.Plan.Calls {
		for _, route := range call.Output {
			for at, path := range route {
				if !belowNothing(p, call, path) {
					beyondTheEnd(p, call, route[:at], path)
				}
			}
		}
	}
}

// A write is a path that a call writes on one of its alternatives.
type write struct {
	call        *plan.Call
	alternative int
	path        plan.Path
}

func (w write) isFailure() bool { return w.alternative == w.call.FailureRoute() }

func (w write) needs(p *Pass, at pathtree.ID) schema.Kinds {
	return kindNeeded(p, plan.Writer{Path: w.path.ID, Method: w.call.Method, Failure: w.isFailure()}, at)
}

// kindNeeded is the kind of value that a write needs at its path or above it; 0 where it sets the path. It shows in
// the path and the call's method alone. A failure record is an object.
func kindNeeded(p *Pass, w plan.Writer, at pathtree.ID) schema.Kinds {
	step := w.Path
	for step != at && p.Plan.Paths.Parent(step) != at {
		step = p.Plan.Paths.Parent(step)
	}
	appends := !w.Failure && (w.Method == plan.Push || w.Method == plan.Concat)
	switch {
	case step != at && p.Plan.Paths.Segment(step).IsIndex, step == at && appends:
		return schema.Array
	case step != at, w.Failure, w.Method != plan.Set:
		return schema.Object
	}
	return 0
}

// maxHolders bounds how many of those that write to one value are looked at: those that are listed next to a call.
const maxHolders = 8

// misplaced reports a write that can't be where another is, at its path or above it.
func misplaced(p *Pass, w write, at pathtree.ID) bool {
	needed := w.needs(p, at)
	nearest := func(writers []plan.Writer) []plan.Writer {
		own, _ := slices.BinarySearchFunc(writers, w.call.Index,
			func(w plan.Writer, call int) int { return int(w.Call) - call })
		return writers[max(0, own-maxHolders):min(len(writers), own+maxHolders)]
	}
	// Calls that set the value may be among many that write below it.
	for _, near := range slices.Concat(nearest(p.Plan.Writers(at)), nearest(p.Plan.WritersAt(at))) {
		if !p.Plan.Paths.IsAbove(at, near.Path) || kindNeeded(p, near, at) == needed ||
			p.Held != nil && p.Held(int(near.Call)) {
			continue
		}
		for i, path := range p.Plan.Calls[near.Call].Paths() {
			other := write{p.Plan.Calls[near.Call], i, path}
			if path.ID == near.Path && (noPart(p, w, other, at) || listAndObject(p, w, other, at)) {
				return true
			}
		}
	}
	return false
}

// noPart reports a write into a part that the outer can't have: the schema of what another call sets leaves no room.
func noPart(p *Pass, w, outer write, at pathtree.ID) bool {
	output := outer.call.Tool
	if w.path.ID == at || outer.path.ID != at || outer.isFailure() || outer.call.Method != plan.Set || output == nil ||
		output.Output == nil || rankOf(p, outer.call) >= rankOf(p, w.call) {
		return false
	}
	below := p.Plan.Paths.Segments(w.path.ID)[p.Plan.Paths.Depth(at):]
	place := output.Output.At(below)
	part := w.path.ID
	for range len(below) - place.Depth {
		part = p.Plan.Paths.Parent(part)
	}
	if place.Possible || !meet(p, outer, w, part) {
		return false
	}
	says := "the result of " + quote(outer.call.ToolName) + " is " + output.Output.Kinds().String()
	if place.Depth > 0 || output.Output.Kinds()&(schema.Object|schema.Array) != 0 {
		says = "the result of " + quote(outer.call.ToolName) + " has no " + quote(below[place.Depth].Key)
	}
	p.ReportCall(w.call, w.path.Span(), "%q writes %q into a value that can't contain it: %s", w.call.Name,
		p.Path(w.path.ID), says).
		Note(outer.path.Span(), "%q sets %q to that result here", outer.call.Name, p.Path(at)).
		Show(output.OutputNode.Span().Head(), "the schema of the result is here").
		Advise("write the part to a path of its own, or let the schema of the result name it")
	return true
}

// listAndObject reports what one write takes for a list and an earlier one for an object.
func listAndObject(p *Pass, w, earlier write, at pathtree.ID) bool {
	list, object := earlier, w
	if list.needs(p, at) == schema.Object {
		list, object = w, earlier
	}
	if earlier.call.Index > w.call.Index || list.needs(p, at) != schema.Array || object.needs(p, at) != schema.Object {
		return false
	}
	if earlier.call == w.call {
		if earlier.alternative != w.alternative || earlier.path.Start >= w.path.Start {
			return false
		}
	} else if (earlier.isFailure() && earlier.path.ID == at || w.isFailure() && w.path.ID == at) &&
		!(earlier.isFailure() && w.isFailure()) || !meet(p, earlier, w, at) {
		return false
	}
	p.ReportCall(w.call, w.path.Span(),
		"%q can't be both a list, as %q needs it for %q, and an object, as %q needs it for %q", p.Path(at),
		list.call.Name, p.Path(list.path.ID), object.call.Name, p.Path(object.path.ID)).
		Note(earlier.path.Span(), "the other is here").
		Advise("write to two paths, or use only keys or only indexes below %q", p.Path(at))
	return true
}

// meet reports whether two writes can both happen with nothing between them that replaces the value at a path.
func meet(p *Pass, a, b write, at pathtree.ID) bool {
	if p.Plan.Paths.Overlap(a.path.ID, b.path.ID) && !(a.isFailure() && b.isFailure()) {
		sets := a.call.Method == plan.Set || b.call.Method == plan.Set
		if p.Plan.Writes == plan.Once || sets && !flow.Waits(a.call, b.call) && !flow.Waits(b.call, a.call) {
			return false // only one of them is ever written, or they conflict in any case
		}
	}
	between := append(between(p, at, a.call, b.call), between(p, at, b.call, a.call)...)
	if !p.Flow.HasBranches() {
		return len(between) == 0
	}
	e := p.Flow.Conditions()
	both := e.And(e.Writes(a.call, a.alternative), e.Writes(b.call, b.alternative))
	for _, w := range between {
		for i, path := range w.Paths() {
			if (w.Method == plan.Set || i == w.FailureRoute()) && p.Plan.Paths.IsAbove(path.ID, at) {
				both = e.And(both, e.Writes(w, i).Not())
			}
		}
	}
	return e.SolveOne(both, len(between) > 0).Possible
}

func rankOf(p *Pass, call *plan.Call) int { return int(p.Plan.Graph.Rank(call.Index)) }

// between are the calls between two others that may set a path or what is above it.
func between(p *Pass, at pathtree.ID, first, last *plan.Call) (all []*plan.Call) {
	if !flow.Waits(last, first) {
		return nil
	}
	for _, w := range setters(p, at) {
		if call := p.Plan.Calls[w.Call]; call != first && call != last && flow.Waits(last, call) &&
			flow.Waits(call, first) {
			all = append(all, call)
		}
	}
	return all
}

// setters are the calls that may replace what stands at a path.
func setters(p *Pass, at pathtree.ID) []plan.Writer {
	var all []plan.Writer
	for _, w := range p.Plan.Writers(at) {
		if w.Sets && p.Plan.Paths.IsAbove(w.Path, at) {
			all = append(all, w)
		}
	}
	return all
}

// isBefore reports whether a call's write may precede another call, as known when the other arrives.
func isBefore(p *Pass, w int32, call *plan.Call) bool {
	return int(w) < call.Index || p.Plan.Graph.Rank(int(w)) < p.Plan.Graph.Rank(call.Index)
}

// belowNothing reports a path that leads through a value of the initial state that can't hold it.
func belowNothing(p *Pass, call *plan.Call, path plan.Path) (reported bool) {
	if p.Plan.State == nil || p.Plan.Paths.Kind(path.ID) != "state" {
		return false
	}
	paths := p.Plan.Paths
	for at := path.ID; paths.Depth(at) > 2; at = paths.Parent(at) {
		above := paths.Parent(at)
		value, there := paths.Walk(p.Plan.State, above)
		if !there || value == nil {
			continue
		}
		kind, wanted := schema.KindOf(value), schema.Object
		if paths.Segment(at).IsIndex {
			wanted = schema.Array
		}
		if kind == wanted || slices.ContainsFunc(setters(p, above),
			func(w plan.Writer) bool { return int(w.Call) != call.Index && isBefore(p, w.Call, call) }) {
			return false
		}
		f := p.ReportCall(call, path.Span(), "%q can't be written: the initial state has %s at %q, and this needs %s",
			p.Path(path.ID), kind, p.Path(above), wanted).
			Advise("write it to another path, or change the initial state to %s", wanted)
		analysis.ShowAll(f, analysis.InitialPlace(p, paths.Segments(above)[1:]))
		return true
	}
	return false
}

// beyondTheEnd reports an index past the end of a list: one that no call before it
// makes long enough.
func beyondTheEnd(p *Pass, call *plan.Call, before plan.Route, path plan.Path) {
	paths := p.Plan.Paths
	for at := path.ID; paths.Depth(at) > 1; at = paths.Parent(at) {
		if s := paths.Segment(at); s.IsIndex && s.Index > 0 {
			if length, known := longest(p, paths.Parent(at), call, before); known && s.Index > length {
				p.ReportCall(call, path.Span(),
					"%q can't be written: %q has no more than %d items by then, and an index may be at most the "+
						"length of the list", p.Path(path.ID), p.Path(paths.Parent(at)), length).
					Advise("write the items in their order, or add to the list with \"_outputMethod: push\"")
				return
			}
		}
	}
}

// longest is how many items a list has at most when a call writes to it; false where that isn't known.
func longest(p *Pass, list pathtree.ID, call *plan.Call, before plan.Route) (length int, known bool) {
	paths := p.Plan.Paths
	if paths.Kind(list) != "state" || p.Plan.Form == plan.Solution || paths.Depth(list) < 2 {
		return 0, false
	}
	if value, there := paths.Walk(p.Plan.State, list); there && value != nil {
		items, isList := value.([]any)
		if !isList {
			return 0, false
		}
		length = len(items)
	} else if p.Plan.StateSchema != nil {
		return 0, false // a run may be given what is declared
	}
	for _, w := range p.Plan.Writers(list) {
		other := p.Plan.Calls[w.Call]
		switch {
		case other == call || !isBefore(p, w.Call, call):
		case paths.IsAbove(w.Path, list) && (w.Path != list || other.Method != plan.Push || other.SetsAt(list)):
			return 0, false
		default: // it adds an item, or replaces one
			length++
		}
	}
	for _, path := range before {
		if paths.IsAbove(list, path.ID) && path.ID != list {
			length++
		}
	}
	return length, true
}
