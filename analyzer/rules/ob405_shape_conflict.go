package rules

import (
	"slices"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/analyzer/internal/logic"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
)

var ShapeConflictRule = &diag.Rule{Code: "OB405", Name: "shape-conflict", Default: diag.Error}

var _ = Register(Rule{
	Rule: ShapeConflictRule,
	Run:  shapeConflicts,
})

// shapeConflicts reports writes for which there can be no place. One kind of them goes into a part that the whole can't
// have: one call sets a path to a value whose schema leaves no room for what another writes below it.
func shapeConflicts(p *Pass) {
	misplacedWrites(p)
	if p.Plan.Writes == plan.Once {
		return // only one of two calls writes
	}
	paths := p.Plan.Paths
	for _, call := range p.Fresh() {
		for i, path := range call.Paths() {
			if i > 0 && slices.ContainsFunc(call.Output[:i], func(earlier plan.Route) bool { return slices.Contains(earlier, path) }) {
				continue // one place of the text: a && (b || c) is a && b || a && c
			}
			for up := paths.Parent(path.ID); up > pathtree.Root; up = paths.Parent(up) {
				if p.Plan.Written(up) {
					shapeConflict(p, write{call, i, path}, up)
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

// maxHolders bounds how many of those that set a path are looked at: the last ones before a call.
const maxHolders = 8

// holders are the writes of a path whose values may stand when a call writes, each the result of a tool with a schema,
// the last first: what a call sets afterwards takes the place of the whole, parts and all. They are looked for among
// the writers that are listed next to the call.
func holders(p *Pass, id pathtree.ID, call *plan.Call) (all []write) {
	writers := p.Plan.WritersAt(id)
	at, _ := slices.BinarySearchFunc(writers, call.Index, func(w plan.Writer, call int) int { return int(w.Call) - call })
	for _, w := range writers[max(0, at-maxHolders):min(len(writers), at+maxHolders)] {
		setter := p.Plan.Calls[w.Call]
		if setter.Method != plan.Set || setter.Tool == nil || setter.Tool.Output == nil || rankOf(p, setter) >= rankOf(p, call) {
			continue
		}
		for i, route := range setter.Output {
			for _, path := range route {
				if path.ID == id && i != setter.FailureRoute() {
					all = append(all, write{setter, i, path})
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b write) int { return rankOf(p, b.call) - rankOf(p, a.call) })
	return all
}

func rankOf(p *Pass, call *plan.Call) int { return int(p.Plan.Graph.Rank(call.Index)) }

func shapeConflict(p *Pass, written write, container pathtree.ID) {
	call, paths := written.call, p.Plan.Paths
	below := paths.Segments(written.path.ID)[paths.Depth(container):]
	for _, h := range holders(p, container, call) {
		place := h.call.Tool.Output.At(compiler.SchemaPath(below))
		if place.Possible || excludes(p, h, written, place.Depth) {
			continue
		}
		says := "the result of \"" + h.call.ToolName + "\" is " + h.call.Tool.Output.Kinds().String()
		if place.Depth > 0 || h.call.Tool.Output.Kinds()&(schema.Object|schema.Array) != 0 {
			says = "the result of \"" + h.call.ToolName + "\" has no " + quote(below[place.Depth].Key)
		}
		f := p.Report(written.path.Span(), "%q writes %q into a value that can't contain it: %s", call.Name, p.Path(written.path.ID), says).About(call.Label()).
			Note(h.path.Span(), "%q sets %q to that result here", h.call.Name, p.Path(container))
		f.Show(h.call.Tool.OutputNode.Span().Head(), "the schema of the result is here").Advise("write the part to a path of its own, or let the schema of the result name it")
		return
	}
}

// excludes reports whether a call writes a part only when the holder's value is absent: on other
// branches, or after another call has replaced it, so many segments below the holder's path.
func excludes(p *Pass, h write, written write, depth int) bool {
	at := written.path.ID
	for p.Plan.Paths.Depth(at) > p.Plan.Paths.Depth(h.path.ID)+depth {
		at = p.Plan.Paths.Parent(at)
	}
	between := between(p, at, h.call, written.call)
	if !p.Flow.HasBranches() {
		return len(between) > 0
	}
	e := p.Flow.Conditions()
	both := e.And(e.Writes(h.call, h.alternative), e.Runs(written.call))
	if !e.SolveOne(both, false).Possible {
		return true
	}
	if len(between) == 0 {
		return false
	}
	for _, w := range between {
		for i, route := range w.Output {
			if (w.Method == plan.Set || i == w.FailureRoute()) && slices.ContainsFunc(route, func(path plan.Path) bool { return p.Plan.Paths.IsAbove(path.ID, at) }) {
				both = e.And(both, e.Writes(w, i).Not())
			}
		}
	}
	return !e.SolveOne(both, true).Possible
}

// A need is what one path of a call needs to stand somewhere on its way. It shows in the path and the call's method
// alone: a key needs an object above it, an index a list that is long enough, "push" a list, "merge" an object.
type need struct {
	write
	kind   schema.Kinds // Array or Object
	record bool         // it isn't a need: a failure record is an object
}

// pathNeeds calls f for everything that a path of a call needs, its own end first.
func pathNeeds(p *Pass, call *plan.Call, alternative int, path plan.Path, f func(pathtree.ID, need)) {
	paths := p.Plan.Paths
	switch n := (need{write: write{call, alternative, path}, kind: schema.Object}); {
	case alternative == call.FailureRoute():
		n.record = true
		f(path.ID, n)
	case call.Method == plan.Push, call.Method == plan.Concat:
		n.kind = schema.Array
		f(path.ID, n)
	case call.Method == plan.Merge, call.Method == plan.Assign:
		f(path.ID, n)
	}
	for at := path.ID; paths.Depth(at) > 1; at = paths.Parent(at) {
		kind := schema.Object
		if paths.Segment(at).IsIndex {
			kind = schema.Array
		}
		f(paths.Parent(at), need{write: write{call, alternative, path}, kind: kind})
	}
}

// needsOf calls f for everything that a call needs.
func needsOf(p *Pass, call *plan.Call, f func(pathtree.ID, need)) {
	for i, path := range call.Paths() {
		pathNeeds(p, call, i, path, f)
	}
}

// misplacedWrites reports impossible writes that paths and the initial state show.
func misplacedWrites(p *Pass) {
	if p.Unknown(diag.Order | diag.Writes) {
		return
	}
	listsAndObjects(p)
	if p.Unknown(diag.State) {
		return
	}
	analysis.InEveryInstance(p, func(b beginning) {
		for _, call := range p.Fresh() {
			for _, route := range call.Output {
				for at, path := range route {
					if !belowNothing(p, b, call, path) {
						beyondTheEnd(p, b, call, route[:at], path)
					}
				}
			}
		}
	})
}

// callsShaped is how many calls the rule has looked at.
type callsShaped int

// listsAndObjects reports what one write takes for a list and another for an
// object, where both may happen and nothing replaces the value in between.
func listsAndObjects(p *Pass) {
	looked, needs := analysis.Kept[callsShaped](p.Store), analysis.Table[pathtree.ID, []need](p.Store)
	for ; int(*looked) < len(p.Plan.Calls); *looked++ {
		call, reported := p.Plan.Calls[*looked], map[pathtree.ID]bool{}
		needsOf(p, call, func(at pathtree.ID, later need) {
			known := needs[at]
			clashes := func(one need) bool {
				return one.kind != later.kind && (p.Held == nil || !p.Held(one.call.Index)) && disagree(p, at, one, later)
			}
			if call.Index >= p.From && !reported[at] {
				if clash := slices.IndexFunc(known, clashes); clash >= 0 {
					reported[at] = true
					listAndObject(p, at, known[clash], later)
				}
			}
			if len(known) < maxNeeds {
				needs[at] = append(known, later)
			}
		})
	}
}

// maxNeeds bounds with how many others a write is compared.
const maxNeeds = 32

func listAndObject(p *Pass, at pathtree.ID, earlier, later need) {
	list, object := earlier, later
	if list.kind != schema.Array {
		list, object = later, earlier
	}
	p.Report(later.path.Span(), "%q can't be both a list, as %q needs it for %q, and an object, as %q needs it for %q", p.Path(at), list.call.Name, p.Path(list.path.ID), object.call.Name, p.Path(object.path.ID)).
		About(later.call.Label()).Note(earlier.path.Span(), "the other is here").
		Advise("write to two paths, or use only keys or only indexes below %q", p.Path(at))
}

// disagree reports whether two writes that take a value for a list and for an object can meet.
func disagree(p *Pass, at pathtree.ID, a, b need) bool {
	if a.call == b.call {
		return a.alternative == b.alternative && a.path.ID != b.path.ID
	}
	failures := a.alternative == a.call.FailureRoute() && b.alternative == b.call.FailureRoute()
	if (a.record || b.record) && !failures {
		return false
	}
	if len(between(p, at, a.call, b.call)) > 0 || len(between(p, at, b.call, a.call)) > 0 {
		return false
	}
	if p.Plan.Paths.Overlap(a.path.ID, b.path.ID) {
		sets := a.call.Method == plan.Set || b.call.Method == plan.Set
		if p.Plan.Writes == plan.Once && !failures {
			return false // only one of them is ever written
		}
		if sets && !failures && !flow.Waits(a.call, b.call) && !flow.Waits(b.call, a.call) {
			return false // they conflict in any case
		}
	}
	if !p.Flow.HasBranches() {
		return true
	}
	e := p.Flow.Conditions()
	return e.SolveLikely([]logic.Literal{e.And(e.Writes(a.call, a.alternative), e.Writes(b.call, b.alternative))})[0].Possible
}

// between are the calls between two others that may set a path or what is above it.
func between(p *Pass, at pathtree.ID, first, last *plan.Call) (all []*plan.Call) {
	if !flow.Waits(last, first) {
		return nil
	}
	for _, w := range setters(p, at) {
		if call := p.Plan.Calls[w.Call]; call != first && call != last && flow.Waits(last, call) && flow.Waits(call, first) {
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
func belowNothing(p *Pass, b beginning, call *plan.Call, path plan.Path) (reported bool) {
	if b.State == nil || p.Plan.Paths.Kind(path.ID) != "state" {
		return false
	}
	paths := p.Plan.Paths
	for at := path.ID; paths.Depth(at) > 2; at = paths.Parent(at) {
		above := paths.Parent(at)
		value, there := paths.Walk(b.State, above)
		if !there || value == nil {
			continue
		}
		kind, wanted := schema.KindOf(value), schema.Object
		if paths.Segment(at).IsIndex {
			wanted = schema.Array
		}
		if kind == wanted || slices.ContainsFunc(setters(p, above), func(w plan.Writer) bool { return int(w.Call) != call.Index && isBefore(p, w.Call, call) }) {
			return false
		}
		f := p.Report(path.Span(), "%q can't be written: the initial state has %s at %q, and this needs %s", p.Path(path.ID), kind, p.Path(above), wanted).About(call.Label()).
			Advise("write it to another path, or change the initial state to %s", wanted)
		analysis.ShowAll(f, b.Said(p, paths.Segments(above)[1:]))
		return true
	}
	return false
}

// beyondTheEnd reports an index past the end of a list: one that no call before it
// makes long enough.
func beyondTheEnd(p *Pass, b beginning, call *plan.Call, before plan.Route, path plan.Path) {
	paths := p.Plan.Paths
	for at := path.ID; paths.Depth(at) > 1; at = paths.Parent(at) {
		if s := paths.Segment(at); s.IsIndex && s.Index > 0 {
			if length, known := longest(p, b, paths.Parent(at), call, before); known && s.Index > length {
				p.Report(path.Span(), "%q can't be written: %q has no more than %d items by then, and an index may be at most the length of the list", p.Path(path.ID), p.Path(paths.Parent(at)), length).About(call.Label()).
					Advise("write the items in their order, or add to the list with \"_outputMethod: push\"")
				return
			}
		}
	}
}

// longest is how many items a list may have when a call writes to it; false where
// that isn't known.
func longest(p *Pass, b beginning, list pathtree.ID, call *plan.Call, before plan.Route) (length int, known bool) {
	paths := p.Plan.Paths
	if paths.Kind(list) != "state" || p.Plan.Form == plan.Solution || paths.Depth(list) < 2 {
		return 0, false
	}
	if value, there := paths.Walk(b.State, list); there && value != nil {
		items, isList := value.([]any)
		if !isList {
			return 0, false
		}
		length = len(items)
	} else if p.Plan.StateSchema != nil {
		return 0, false // a run may be given what is declared
	}
	var items []int
	for _, w := range p.Plan.Writers(list) {
		other := p.Plan.Calls[w.Call]
		switch {
		case other == call || !isBefore(p, w.Call, call):
		case paths.IsAbove(w.Path, list):
			if w.Path != list || other.Method != plan.Push || other.SetsAt(list) {
				return 0, false
			}
			length++
		default:
			items = append(items, item(p, list, w.Path))
		}
	}
	for _, path := range before {
		if paths.IsAbove(list, path.ID) && path.ID != list {
			items = append(items, item(p, list, path.ID))
		}
	}
	slices.Sort(items)
	for _, index := range items {
		if index <= length {
			length = max(length, index+1)
		}
	}
	return length, true
}

// item is the index at which a path leads into a list; -1 for a key.
func item(p *Pass, list, path pathtree.ID) int {
	for p.Plan.Paths.Parent(path) != list {
		path = p.Plan.Paths.Parent(path)
	}
	if s := p.Plan.Paths.Segment(path); s.IsIndex {
		return s.Index
	}
	return -1
}
