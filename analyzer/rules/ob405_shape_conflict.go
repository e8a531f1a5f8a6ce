package rules

import (
	"fmt"
	"slices"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
)

var ShapeConflictRule = &diag.Rule{Code: "OB405", Name: "shape-conflict", Default: diag.Error}

var _ = Register(Rule{Rule: ShapeConflictRule, Needs: diag.Order | diag.Writes, Run: shapeConflicts})

// A write is a path that a call writes on one of its alternatives.
type write struct {
	call  *plan.Call
	route int
	path  plan.Path
}

func (w write) isFailure() bool { return w.route == w.call.FailureRoute() }

// shapeConflicts reports writes that need a list or an object where another call or the initial state has something
// else, each once.
func shapeConflicts(p *Pass) {
	initial := !p.Unknown(diag.State) && !p.Flow.StateVaries()
	for _, call := range p.Plan.Calls {
		reported := map[pathtree.ID]bool{}
		for i, path := range call.Paths() {
			w := write{call, i, path}
			for at := path.ID; at > pathtree.Root && !reported[at]; at = p.Plan.Paths.Parent(at) {
				if why, first := conflict(p, w, at, initial); why != "" {
					f := p.ReportCall(call, path.Span(), "%q can't be written: %s", p.Path(path.ID), why).
						Advise("write it to another path, or make both agree what is at %q", p.Path(at))
					if first.call != nil {
						f.Note(first.path.Span(), "%q writes %q here", first.call.Name, p.Path(first.path.ID))
					}
					reported[at] = true
				}
			}
		}
	}
}

// conflict is why a write can't be where an earlier write or the initial state is, at its path or above it; "" where
// it can.
func conflict(p *Pass, w write, at pathtree.ID, initial bool) (why string, first write) {
	needed := w.needs(p, at)
	if needed == 0 {
		return "", first
	}
	for _, writers := range [][]plan.Writer{p.Plan.Writers(at), p.Plan.WritersAt(at)} {
		own, _ := slices.BinarySearchFunc(writers, w.call.Index,
			func(w plan.Writer, call int) int { return int(w.Call) - call })
		for _, near := range writers[max(0, own-maxHolders):min(len(writers), own+maxHolders)] {
			if !p.Plan.Paths.IsAbove(at, near.Path) || p.Held != nil && p.Held(int(near.Call)) {
				continue
			}
			for i, path := range p.Plan.Calls[near.Call].Paths() {
				if path.ID != near.Path {
					continue
				}
				by := write{p.Plan.Calls[near.Call], i, path}
				if why = conflictOf(p, by, w, at); why != "" {
					return why, by
				}
			}
		}
	}
	if !initial || at == w.path.ID {
		return "", first
	}
	value, there := p.Plan.Paths.Walk(p.Plan.State, at)
	if kind := schema.KindOf(value); there && value != nil && kind != needed && p.Plan.Paths.Kind(at) == "state" &&
		p.Plan.Paths.Depth(at) > 1 && !slices.ContainsFunc(p.Plan.Writers(at), func(o plan.Writer) bool {
		return o.Sets && p.Plan.Paths.IsAbove(o.Path, at) && isBefore(p, o.Call, w.call)
	}) {
		return fmt.Sprintf("the initial state has %s at %q, and this needs %s", kind, p.Path(at), needed), first
	}
	if index := p.Plan.Paths.Segment(w.below(p, at)).Index; needed == schema.Array {
		if most := longest(p, at, w); most >= 0 && index > most {
			return fmt.Sprintf("%q has no more than %d items by then, and an index may be at most the length of "+
				"the list", p.Path(at), most), first
		}
	}
	return "", first
}

// maxHolders bounds how many of those that write to one value are looked at: those that are listed next to a call.
const maxHolders = 8

// needs is the kind of value that a write needs at its path or above it; 0 where it sets the path.
func (w write) needs(p *Pass, at pathtree.ID) schema.Kinds {
	switch {
	case w.path.ID == at && w.call.Method == plan.Set && !w.isFailure():
		return 0
	case w.path.ID != at && p.Plan.Paths.Segment(w.below(p, at)).IsIndex,
		w.path.ID == at && !w.isFailure() && (w.call.Method == plan.Push || w.call.Method == plan.Concat):
		return schema.Array
	}
	return schema.Object
}

// below is the path one step below another on the way to what is written.
func (w write) below(p *Pass, at pathtree.ID) pathtree.ID {
	id := w.path.ID
	for p.Plan.Paths.Parent(id) != at {
		id = p.Plan.Paths.Parent(id)
	}
	return id
}

// conflictOf is why a write can't follow another at a path or below it; "" where it can.
func conflictOf(p *Pass, first, w write, at pathtree.ID) (why string) {
	failures, part := first.isFailure() && w.isFailure(), at
	made, needed := first.needs(p, at), w.needs(p, at)
	switch {
	case made == needed:
		return ""
	case first.call == w.call:
		if first.route != w.route || first.path.Start >= w.path.Start || made == 0 {
			return ""
		}
	case flow.Waits(first.call, w.call), first.call.Index > w.call.Index && !flow.Waits(w.call, first.call):
		return "" // not the first of the two
	case made == 0:
		tool := first.call.Tool
		if tool == nil || tool.Output == nil || w.path.ID == at {
			return ""
		}
		place := tool.Output.At(p.Plan.Paths.Segments(w.path.ID)[p.Plan.Paths.Depth(at):])
		if place.Possible {
			return ""
		}
		for range place.Depth {
			part = w.below(p, part)
		}
		why = fmt.Sprintf("the result of %q is %s, and this needs %s", first.call.ToolName, tool.Output.Kinds(), needed)
		if place.Depth > 0 || tool.Output.Kinds()&(schema.Object|schema.Array) != 0 {
			why = fmt.Sprintf("the result of %q has no %q", first.call.ToolName,
				p.Plan.Paths.Segment(w.below(p, part)).Key)
		}
	case !failures && (first.isFailure() && first.path.ID == at || w.isFailure() && w.path.ID == at):
		return ""
	}
	// Only one of them is ever written, or they conflict in any case.
	if sets := first.call.Method == plan.Set || w.call.Method == plan.Set; first.call != w.call && (!failures &&
		p.Plan.Paths.Overlap(first.path.ID, w.path.ID) &&
		(p.Plan.Writes == plan.Once || sets && !flow.Waits(w.call, first.call)) || !bothRemain(p, first, w, part)) {
		return ""
	}
	if why == "" { // paths may be long
		why = fmt.Sprintf("%q needs %s at %q for %q, and this needs %s", first.call.Name, made, p.Path(at),
			p.Path(first.path.ID), needed)
	}
	return why
}

// bothRemain reports whether two writes can both happen with nothing between them that replaces the value at a path.
func bothRemain(p *Pass, first, last write, at pathtree.ID) bool {
	var between []*plan.Call
	for _, o := range p.Plan.Writers(at) {
		if call := p.Plan.Calls[o.Call]; o.Sets && p.Plan.Paths.IsAbove(o.Path, at) && call != first.call &&
			call != last.call && flow.Waits(last.call, call) && flow.Waits(call, first.call) {
			between = append(between, call)
		}
	}
	e := p.Flow.Conditions()
	both := e.And(e.Writes(first.call, first.route), e.Writes(last.call, last.route))
	for _, call := range between {
		for i, path := range call.Paths() {
			if (call.Method == plan.Set || i == call.FailureRoute()) && p.Plan.Paths.IsAbove(path.ID, at) {
				both = e.And(both, e.Writes(call, i).Not())
			}
		}
	}
	return e.Solve(both, len(between) > 0).Possible
}

// isBefore reports whether a call's write may precede another call, as known when the other arrives.
func isBefore(p *Pass, w int32, call *plan.Call) bool {
	return int(w) < call.Index || p.Plan.Graph.Rank(int(w)) < p.Plan.Graph.Rank(call.Index)
}

// longest is how many items a list has at most when a call writes to it; -1 where that isn't known.
func longest(p *Pass, list pathtree.ID, w write) int {
	paths := p.Plan.Paths
	value, _ := paths.Walk(p.Plan.State, list)
	items, isList := value.([]any)
	if paths.Kind(list) != "state" || p.Plan.Form == plan.Solution || value != nil && !isList ||
		value == nil && p.Plan.StateSchema != nil { // a run may be given what is declared
		return -1
	}
	length := len(items)
	for _, o := range p.Plan.Writers(list) {
		other := p.Plan.Calls[o.Call]
		switch {
		case other == w.call || !isBefore(p, o.Call, w.call):
		case paths.IsAbove(o.Path, list) && (o.Path != list || other.Method != plan.Push || other.SetsAt(list)):
			return -1
		default: // it adds an item, or replaces one
			length++
		}
	}
	for _, path := range w.call.Output[w.route] {
		if path.Start < w.path.Start && paths.IsAbove(list, path.ID) && path.ID != list {
			length++
		}
	}
	return length
}
