package analyzer

import (
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/analyzer/rules"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// A value may be absent on every branch: an item past the end of a list, a key that a map doesn't hold,
// a field of another variant of a union. Calls that need it are skipped, and without any output the run
// fails. Sample runs find such values.

// mayComeToNothing reports whether values may come with which nothing of the plan's output is
// there, for all that schemas say.
func mayComeToNothing(p *Pass) bool {
	if !rules.GivesOutput(p) || rules.HasLiterals(p.Plan.Output) {
		return false
	}
	lacking, some := mayBeSkipped(p), false // some part depends on values, not only on branches
	for t := range p.Plan.Output.Expressions() {
		if t.FallsBack() {
			continue
		}
		hanging := func(i int) bool {
			r := &p.Plan.Reads[i]
			return mayBeAbsent(p, r) || p.Flow.MeetsNull(r, true) || p.Flow.BeginsNull(r) || lacking != nil && slices.ContainsFunc(r.Writers, func(w int32) bool { return lacking[w] })
		}
		if slices.ContainsFunc(t.Reads, hanging) || mayBeNull(p, t) {
			some = true
		} else if !slices.ContainsFunc(t.Reads, func(read int) bool {
			return slices.ContainsFunc(p.Plan.Reads[read].Writers, func(w int32) bool {
				call := p.Plan.Calls[w]
				return len(call.Output) > 1 || compiler.Condition(call) != nil
			})
		}) {
			return false // each of its writers always runs
		}
	}
	return some
}

// mayBeNull reports whether the type of an expression includes null.
func mayBeNull(p *Pass, t *plan.Template) bool {
	if t.Expr.Plain() {
		return false // that is its read's
	}
	result, wrong := p.Flow.Check(t)
	return wrong == nil && result != nil && result.Kinds&expression.Null != 0
}

// mayBeSkipped are, by index, the calls that may be skipped for want of a part of a value,
// or of what another one gives; nil where there are none.
func mayBeSkipped(p *Pass) []bool {
	var lacking []bool
	for _, i := range p.Plan.Graph.Order() {
		for _, at := range p.Plan.Calls[i].Reads {
			r := &p.Plan.Reads[at]
			if mayBeAbsent(p, r) || lacking != nil && slices.ContainsFunc(r.Writers, func(w int32) bool { return lacking[w] }) {
				if lacking == nil {
					lacking = make([]bool, len(p.Plan.Calls))
				}
				lacking[i] = true
				break
			}
		}
	}
	return lacking
}

// mayBeAbsent reports whether there may be nothing where a read looks into a value that has
// come: what its schema names counts as there, in the variant of a union that names it.
func mayBeAbsent(p *Pass, r *plan.Read) bool {
	paths := p.Plan.Paths
	if compiler.ReadsItem(p.Plan, r) || r.Path == pathtree.Root {
		return false
	}
	absent := func(s *schema.Schema, rest []expression.Segment, external bool) bool {
		at := p.Flow.AsDeclared(s, external).At(compiler.SchemaPath(rest))
		return !at.Possible || !at.Required
	}
	if s := p.Plan.InputSchema; paths.Kind(r.Path) == "input" {
		path := paths.Segments(r.Path)[1:]
		return s != nil && absent(s, path, true) && !p.Flow.Begins("input", path)
	}
	return paths.Depth(r.Path) > 2 && slices.ContainsFunc(r.Writers, func(w int32) bool {
		call := p.Plan.Calls[w]
		if call.Method != plan.Set {
			return true // what was there may be gone, where no two objects or lists meet
		}
		rest, ok := p.Flow.LookedInto(call, r.Path)
		return ok && len(rest) > 0 && absent(call.Tool.Output, rest, false)
	})
}

// A want is why something has no value in a sample run: its decisions, if they are certain and
// possible; whether a property is assumed to be present; and whether it depends on undescribed values.
type want struct {
	branch      []BranchChoice
	sure        bool
	spared      bool
	unspecified bool
}

func (a *want) add(b want) {
	within := func(part, container BranchChoice) bool { // part is covered by container
		rest, is := strings.CutPrefix(part.Reference, container.Reference)
		return is && part.Call == container.Call && (rest == "" || container.Reference != "" && (rest[0] == '.' || rest[0] == '['))
	}
	for _, c := range b.branch {
		if !slices.ContainsFunc(a.branch, func(known BranchChoice) bool { return within(c, known) }) {
			a.branch = append(slices.DeleteFunc(a.branch, func(known BranchChoice) bool { return within(known, c) }), c)
		}
	}
	a.sure, a.spared, a.unspecified = a.sure && b.sure, a.spared || b.spared, a.unspecified || b.unspecified
}

// lacksOutput reports missing parts of the plan's output where the run has no output then, or where conditions don't
// decide about them. After a failure nothing is reported. It returns why parts are missing.
func (w *trial) lacksOutput() (why want) {
	p := w.pass
	var first *plan.Template
	leaves := 0
	why.sure = true
	nothing := !rules.HasLiterals(p.Plan.Output)
	for t := range p.Plan.Output.Expressions() {
		leaves++
		value, there, unspecified := w.value(nil, t)
		if there && (value != nil || t.FallsBack()) || unspecified {
			nothing = false
			continue
		}
		one := w.wanting(t, map[int32]bool{})
		undecided := *analysis.Kept[rules.UndecidedLeaves](p.Store)
		if !there && slices.Contains(undecided, t) && one.sure && !one.spared && !w.failed {
			w.reportLack(t, one.branch, true)
		}
		if why.add(one); first == nil {
			first = t
		}
	}
	if nothing && first != nil && why.sure && !why.spared && !w.failed && rules.GivesOutput(p) {
		w.reportLack(first, why.branch, leaves == 1)
	}
	return why
}

// reportLack reports a leaf of the output, unless the output has a finding. A fallback to null is
// offered if it is enough.
func (w *trial) reportLack(leaf *plan.Template, branch []BranchChoice, alone bool) {
	p := w.pass
	if len(branch) == 0 || rules.IsReported(p, p.Plan.Output.Node) || !p.Asks(rules.MaybeMissing) {
		return
	}
	rule := p.Rule
	p.Rule = rules.MaybeMissing.Rule
	rules.ReportMissing(p, leaf, branch, alone)
	p.Rule = rule
}

// wanting is why a template has no value; seen are the calls on the way to it.
func (w *trial) wanting(t *plan.Template, seen map[int32]bool) want {
	p, why := w.pass, want{sure: true}
	for e := range t.Expressions() {
		if e.PerItem() {
			continue
		}
		value, there, unspecified := w.value(nil, e)
		if unspecified || rules.IsReported(p, e.Node) {
			return want{unspecified: unspecified}
		}
		if there && value != nil && value != false {
			continue
		}
		for _, at := range e.Reads {
			r := &p.Plan.Reads[at]
			switch value, presence := w.read(r); {
			case presence != expression.There:
				why.add(w.absent(r, seen))
			case value == nil || there && !e.Expr.Plain() || there && value == false:
				why.add(w.holds(r, r.Path, value))
			}
		}
	}
	return why
}

// holds is what is there at or above a read.
func (w *trial) holds(r *plan.Read, at pathtree.ID, value any) want {
	if w.isUnspecified(r, false) {
		return want{unspecified: true}
	}
	return want{branch: []BranchChoice{{Reference: w.pass.Path(at), Value: &value}}, sure: true}
}

// absent is why there is nothing where a read looks: who would write it was skipped, or what is there has no such part.
func (w *trial) absent(r *plan.Read, seen map[int32]bool) want {
	p, paths, why := w.pass, w.pass.Plan.Paths, want{sure: true}
	if compiler.ReadsItem(p.Plan, r) || r.Path == pathtree.Root {
		return want{}
	}
	done := len(r.Writers) == 0
	for _, i := range r.Writers {
		switch end, call := &w.ended[i], p.Plan.Calls[i]; {
		case (end.done || end.fails) && slices.ContainsFunc(call.Output[end.takes], func(path plan.Path) bool { return paths.Overlap(path.ID, r.Path) }):
			done = true
		case end.fails:
			why.add(want{branch: []BranchChoice{{Call: call.Name, Fails: true}}, sure: true})
		case end.done:
			why.add(want{branch: []BranchChoice{{Call: call.Name, Takes: compiler.Offered(p.Plan, call)[end.takes]}}, sure: true})
		case end.taken: // what took the path is what is there
		case end.lacks == nil:
			return want{unspecified: end.unspecified}
		case !seen[i]:
			seen[i] = true
			why.add(w.wanting(end.lacks, seen))
		}
	}
	if !done {
		return why
	}
	above, least := *r, 2
	if paths.Kind(r.Path) == "input" && !p.Within { // else what a call passes is known at the call
		least = 1
	}
	for step := paths.Segment(r.Path); paths.Depth(above.Path) > least; step = paths.Segment(above.Path) {
		above.Path = paths.Parent(above.Path)
		if value, presence := w.read(&above); presence == expression.There {
			if least > 1 && w.spares(&above, value, step) {
				return want{spared: len(r.Writers) > 0}
			}
			why.add(w.holds(r, above.Path, value))
			return why
		}
	}
	return want{unspecified: w.isUnspecified(r, false)} // which isn't given, or went elsewhere
}

// isTaken reports whether paths are written once, and one that a result would go to has a value.
func isTaken(w *trial, call *plan.Call) bool {
	if w.pass.Plan.Writes != plan.Once {
		return false
	}
	for alternative, path := range call.Paths() {
		if alternative == call.FailureRoute() {
			continue
		}
		if value, there := w.log.Initial(path.ID); there && value != nil {
			return true
		}
		for range w.log.Over(path.ID) {
			return true
		}
	}
	return false
}

// spares reports whether nothing is to be said of an object that goes without a property: an
// "_output" names it and has room for it.
func (w *trial) spares(r *plan.Read, value any, step expression.Segment) bool {
	if schema.KindOf(value) != schema.Object || step.IsIndex {
		return false
	}
	lacking, named, builds := false, false, false
	for _, i := range r.Writers {
		if call := w.pass.Plan.Calls[i]; w.ended[i].done {
			lacks, has := w.lacks(call, r.Path, step)
			lacking, named, builds = lacking || lacks, named || !lacks && !has, builds || call.Method != plan.Set
		}
	}
	return !lacking || builds && named
}

// lacks reports whether a call's result has no part of some name, neither its value nor the schema of its variant; and
// whether its value has it.
func (w *trial) lacks(call *plan.Call, at pathtree.ID, step expression.Segment) (lacks, has bool) {
	p, paths := w.pass, w.pass.Plan.Paths
	path, ok := flow.OutputOver(p.Plan, call, at)
	if !ok || call.Tool == nil || call.Tool.Output == nil || !paths.IsAbove(path.ID, at) {
		return
	}
	value, presence := w.read(&plan.Read{Path: path.ID, Writers: []int32{int32(call.Index)}})
	if presence != expression.There {
		return
	}
	s, rest := call.Tool.Output, paths.Segments(at)[paths.Depth(path.ID):]
	if call.Method == plan.Push || call.Method == plan.Concat { // the result is an item
		if len(rest) == 0 || !rest[0].IsIndex {
			return
		}
		if call.Method == plan.Concat {
			s = s.At(flow.FirstItem).Schema
		}
		value, rest = flow.ValueAt(value, compiler.SchemaPath(rest[:1])), rest[1:]
	}
	steps := compiler.SchemaPath(rest)
	in, container := s.AtIn(value, steps).Schema, flow.ValueAt(value, steps)
	if in == nil {
		return
	}
	_, has = pathtree.Step(container, step)
	named := in.AtIn(container, compiler.SchemaPath([]expression.Segment{step})).Named
	return !named || !slices.Contains(in.Properties(), step.Key), has // that of a map is any
}
