package analyzer

import (
	"errors"
	"math/rand/v2"
	"slices"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/analyzer/internal/samples"
	"github.com/obelus-dev/obelus/analyzer/rules"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/runtime/state"
)

// A trial is one sample run: what it reads and works out, and how its activities end. The simulator asks for these, and
// tells it what goes wrong.
type trial struct {
	*sampler  // of the plan that is judged
	random    *rand.Rand
	generator samples.Generator
	look      expression.Lookup // by read
	ends      map[*plan.Call]*end
	counts    map[string]int                      // of the items of unknown lists, by their expression
	assumed   map[*plan.Template]bool             // what unknown conditions are taken for, and unknown lists
	above     map[*plan.Read]BranchChoice         // what is above it where a read finds nothing
	faults    map[*plan.Template]func(*plan.Call) // report why an expression fails: it counts once its call has failed
	failed    bool                                // a call has
	refusing  *schema.Schema                      // the last that refused something
	refused   any
}

// An end is the outcome of a call.
type end struct {
	failed, skipped bool
	unfit           bool   // there was no place for its result
	takes           string // the alternative of its output that it took, of several
}

// of is which call of a plan is run, its sampler, and how it ends.
func (w *trial) of(call *plan.Call) (*sampler, *plan.Call, *end) {
	call = compiler.RepeatedCall(call)
	t := w.all[call]
	own := t.pass.Plan.Calls[call.Index]
	return t, own, flow.Once(w.ends, own, func() *end { return new(end) })
}

// Read is the value of a read; a hole where nothing is known of it.
func (w *trial) Read(p *plan.Plan, read *plan.Read, at func(pathtree.ID) (any, bool)) (value any, there bool) {
	kind, paths, isInner := p.Paths.Kind(read.Path), p.Paths, w.delegates[p] != nil
	if read.Path == pathtree.Root || paths.Depth(read.Path) < 2 ||
		kind != "input" && kind != "state" && kind != "data" {
		return samples.Hole(), true
	}
	value, there = at(read.Path)
	if kind == "input" && p.InputSchema == nil && !isInner && (value == nil || value == "") {
		return samples.Hole(), true // a blank to be filled in
	}
	up := read.Path
	for !there && paths.Depth(up) > 2 {
		up = paths.Parent(up)
		if above, ok := at(up); ok {
			if !isInner {
				w.above[read] = w.holds(up, above)
			}
			return w.Below(above, paths.Segments(read.Path)[paths.Depth(up):])
		}
	}
	if !there && kind == "input" && !isInner && !w.pass.Within { // else what a call passes is known at the call
		w.above[read] = w.holds(paths.Parent(up), p.Input)
	}
	return value, there
}

// Below is what is at a path in a value: a hole where that may have other keys than are known of.
func (w *trial) Below(value any, path []expression.Segment) (any, bool) {
	for _, step := range path {
		next, there := pathtree.Step(value, step)
		if !there {
			if samples.IsOpen(value) {
				return samples.Hole(), true
			}
			return nil, false
		}
		value = next
	}
	return value, true
}

// Refuses says why a schema rejects a value whatever is in its holes.
func (w *trial) Refuses(s *schema.Schema, v any) *schema.Violation {
	cleared, _ := samples.Clear(v)
	wrong := s.Validate(cleared)
	if wrong == nil || !samples.IsCertain(v, wrong) {
		return nil
	}
	w.refusing, w.refused = s, cleared
	return wrong
}

// Evaluate evaluates an expression of what runs. An unknown condition holds or doesn't, and an unknown list is as long
// as for other calls with the same list.
func (w *trial) Evaluate(p *plan.Plan, t *plan.Template, read expression.Lookup) (value any,
	presence expression.Presence, failure *state.Failure) {
	w.look = read
	of, call := w.sampler, (*plan.Call)(nil)
	if sub := w.delegates[p]; sub != nil {
		of = sub
	}
	if len(t.Reads) > 0 && p.Reads[t.Reads[0]].Call >= 0 {
		call = of.pass.Plan.Calls[p.Reads[t.Reads[0]].Call]
	}
	value, presence, err := w.evaluate(of, t)
	isHole := samples.IsHole(value)
	isList := presence == expression.There && call != nil && call.Each != nil && t == call.Each.List
	if isList && !isHole && schema.KindOf(value) != schema.Array {
		err = &expression.Error{End: len(t.Node.Text), Message: "\"_each\" must be a list"}
	}
	switch {
	case err != nil:
		w.note(of, t, err)
		return nil, presence, &state.Failure{Code: "expression-type"}
	case isList && isHole:
		w.assumed[t] = true
		least, most := of.pass.Flow.Lengths(call)
		if of.pass.Flow.Listing(call).Uncounted {
			least = max(1, least)
		}
		value = slices.Repeat([]any{value},
			flow.Once(w.counts, call.Each.Text(), func() int { return min(least+w.random.IntN(3), most) }))
	case call == nil || t != call.When:
	case isHole:
		value = flow.Once(w.assumed, t, func() bool { return w.random.IntN(2) == 0 })
	default:
		delete(w.assumed, t)
	}
	return value, presence, nil
}

// read is the value of a read, if it is there.
func (w *trial) read(at int) (any, bool) {
	value, presence := w.look(at)
	return value, presence == expression.There
}

// isAssumed reports whether a condition or a list isn't known.
func (w *trial) isAssumed(t *plan.Template) bool {
	_, assumed := w.assumed[t]
	return assumed
}

// evaluate evaluates an expression; it gives a hole if that depends on unknown values.
func (w *trial) evaluate(of *sampler, t *plan.Template) (value any, presence expression.Presence, err error) {
	if t.Expr.Plain() {
		value, presence = w.look(t.Reads[0])
		return value, presence, nil
	}
	open, waits := false, false // an undescribed object may hold something; a call hasn't settled
	blind := flow.Once(of.blind, t, func() bool { _, blind := rules.EvaluationRisk(of.pass, t); return blind })
	value, presence, err = t.Expr.Eval(func(i int) (any, expression.Presence) {
		v, presence := w.look(t.Reads[i])
		if presence != expression.There {
			waits = waits || presence == expression.Pending
			return nil, presence
		}
		if w.isLarge(v) {
			return nil, expression.Pending
		}
		v, how := samples.Clear(v)
		if open = open || how != samples.Described; blind || how == samples.Unknown {
			return nil, expression.Pending
		}
		return v, expression.There
	}, &w.budget.Worked)
	if wrong := new(expression.Error); w.budget.Worked.Passed() ||
		errors.As(err, &wrong) && wrong.Cause == expression.OfText {
		return samples.Hole(), expression.There, nil // how a text is written is for its author to know
	}
	switch {
	case err != nil || presence == expression.Pending && waits:
	case presence == expression.Pending,
		open && schema.KindOf(value)&(schema.Object|schema.Array) != 0: // it may hold more
		return samples.Hole(), expression.There, nil
	}
	return value, presence, err
}

// isLarge reports whether there is no work left for another look at a value.
func (w *trial) isLarge(v any) bool {
	if !w.budget.Worked.Passed() {
		w.budget.Worked.Steps -= samples.Size(v)
	}
	return w.budget.Worked.Passed()
}

// Ends makes up how the activity of a call or of one item ends.
func (w *trial) Ends(call *plan.Call, params map[string]any) (value any, route int, failure *state.Failure) {
	t, own, end := w.of(call)
	isItem := call.ItemOf != nil
	w.budget.Runs -= endWork
	collects := isItem && own.Each.Collect
	if collects && w.random.IntN(4) == 0 || !collects && (!isItem || call.Index == 0) && w.fails(t, own) {
		end.failed, w.failed = !isItem, true
		return nil, -1, &state.Failure{Code: "error", Message: "it failed"}
	}
	value, route = w.result(t, own, params, isItem), -1
	switch {
	case isItem:
	case samples.IsHole(value) && own.Method == plan.Concat:
		value = []any{value}
	case len(own.Output) > 1:
		route = w.taking(t, own, value)
		end.takes = compiler.Offered(t.pass.Plan, own)[route]
	}
	return value, route, nil
}

// result generates or computes the result of a call or of one item.
func (w *trial) result(t *sampler, call *plan.Call, marked map[string]any, isItem bool) any {
	p, tool := t.pass, call.Single()
	if w.isLarge(marked) ||
		call.Each != nil && (!isItem || w.isAssumed(call.Each.List) && p.Flow.Listing(call).Uncounted) {
		return samples.Hole()
	}
	cleared, how := samples.Clear(marked)
	if a := p.Plan.Activities[call.Activity]; a != nil && a.Expression != nil && !t.erring[call.Label()] &&
		how == samples.Described {
		params, _ := cleared.(map[string]any)
		v, err := samples.ResultOfCode(p, tool, a, params, &w.budget.Runs)
		if err == nil && !samples.IsLarge(v) {
			return v
		}
		if err != nil && w.budget.OpenCode[tool] && call.FailureRoute() < 0 && t.isNew(a.Node.Get("expr")) {
			f := samples.ReportCode(p, tool, call, a, params, v, err)
			if f != nil {
				f.Note(call.ToolNode.Span(), "this call passes them")
			}
		}
	}
	if tool != nil && tool.Output != nil {
		if v, made := w.generator.Value(tool.Output, false); made && !samples.IsLarge(v) {
			return v
		}
	}
	return samples.Hole()
}

// fails reports whether the activity of a call fails this time, which its failure route takes up.
func (w *trial) fails(t *sampler, call *plan.Call) bool {
	if call.FailureRoute() < 0 || t.joined[call.Label()] || w.random.IntN(4) > 0 {
		return false
	}
	// A model's answer fails only where the tool says that it fails, or the plan has a place for failures by its name.
	tool := call.Single()
	return call.Activity != "" || call.Delegate != "" ||
		tool != nil && tool.Simulate.Failure != nil && *tool.Simulate.Failure > 0 ||
		rules.NamesFailures(t.pass.Plan, call.Output[call.FailureRoute()]...)
}

// taking is the alternative that a result takes: any that accepts it, and the failure route where results may go there.
func (w *trial) taking(t *sampler, call *plan.Call, value any) int {
	value, _ = samples.Clear(value)
	last := call.FailureRoute()
	var taking []int
	for i, route := range call.Output {
		isBarred := i == last &&
			(!rules.MayChoose(t.pass.Plan, call) || rules.TellsFailures(t.pass, route))
		if !isBarred && (call.Method != plan.Set || !slices.ContainsFunc(route, func(path plan.Path) bool {
			s := t.pass.Flow.StateAt(path.ID).Schema
			return s != nil && !s.Accepts(value)
		})) {
			taking = append(taking, i)
		}
	}
	if len(taking) == 0 {
		return last
	}
	return taking[w.random.IntN(len(taking))]
}
