package analyzer

import (
	"slices"

	"github.com/obelus-dev/obelus/analyzer/internal/samples"
	"github.com/obelus-dev/obelus/analyzer/rules"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
)

// A value may be absent on every branch: an item past the end of a list, a key that a map doesn't hold,
// a field of another variant of a union. Calls that need it are skipped, and without any output the run
// fails. Sample runs find such values.

// A want is why something has no value in a sample run: its decisions, if they are certain and
// possible; and whether it depends on unknown values.
type want struct {
	branch      []BranchChoice
	sure        bool
	unspecified bool
}

func (a *want) add(b want) {
	for _, c := range b.branch {
		if !slices.ContainsFunc(a.branch, func(known BranchChoice) bool {
			return c.Call == known.Call && c.Reference == known.Reference
		}) {
			a.branch = append(a.branch, c)
		}
	}
	a.sure, a.unspecified = a.sure && b.sure, a.unspecified || b.unspecified
}

// lacksOutput reports missing parts of the plan's output where the run has no output then, or where conditions don't
// decide about them. After a failure nothing is reported. It returns why parts are missing.
func (w *trial) lacksOutput(undecided []*plan.Template) (why want) {
	p := w.pass
	var first *plan.Template
	leaves := 0
	why.sure = true
	nothing := !rules.HasLiterals(p.Plan.Output)
	for t := range p.Plan.Output.Expressions() {
		leaves++
		value, there := w.value(t)
		if there && (value != nil || t.FallsBack()) {
			nothing = false
			continue
		}
		one := w.wanting(t, map[int32]bool{})
		if !there && one.sure && !w.failed &&
			slices.ContainsFunc(undecided, func(u *plan.Template) bool { return u.Node == t.Node }) {
			w.reportLack(t, one.branch, true)
		}
		if why.add(one); first == nil {
			first = t
		}
	}
	if nothing && first != nil && why.sure && !w.failed && rules.GivesOutput(p) {
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
		value, there := w.value(e)
		if samples.IsHole(value) || rules.IsReported(p, e.Node) {
			return want{unspecified: samples.IsHole(value)}
		}
		if there && value != nil && value != false {
			continue
		}
		for _, at := range e.Reads {
			r := &p.Plan.Reads[at]
			if part, has := w.read(at); !has {
				why.add(w.absent(at, seen))
			} else if part == nil || there && (!e.Expr.Plain() || value == false) {
				why.add(w.holds(r.Path, part))
			}
		}
	}
	return why
}

// holds is what is there at or above a read.
func (w *trial) holds(at pathtree.ID, value any) want {
	cleared, how := samples.Clear(value)
	if how == samples.Unknown {
		return want{unspecified: true}
	}
	return want{branch: []BranchChoice{{Reference: w.pass.Path(at), Value: &cleared}}, sure: true}
}

// absent is why there is nothing where a read looks: who would write it was skipped, or what is there has no such part.
func (w *trial) absent(read int, seen map[int32]bool) want {
	p, paths, why, r := w.pass, w.pass.Plan.Paths, want{sure: true}, &w.pass.Plan.Reads[read]
	if compiler.ReadsItem(p.Plan, r) || r.Path == pathtree.Root {
		return want{}
	}
	done := len(r.Writers) == 0
	for _, i := range r.Writers {
		switch call, end := p.Plan.Calls[i], w.outcome(p.Plan.Calls[i]); {
		case (end.done || end.fails) && end.takes < 0:
			return want{}
		case (end.done || end.fails) && slices.ContainsFunc(call.Output[end.takes],
			func(path plan.Path) bool { return paths.Overlap(path.ID, r.Path) }):
			done = true
		case end.fails:
			why.add(want{branch: []BranchChoice{{Call: call.Name, Fails: true}}, sure: true})
		case end.done:
			why.add(want{branch: []BranchChoice{{Call: call.Name, Takes: compiler.Offered(p.Plan, call)[end.takes]}},
				sure: true})
		case !seen[i]:
			if lacks := w.lacks(call); lacks != nil {
				seen[i] = true
				why.add(w.wanting(lacks, seen))
			} else if !end.skipped || p.Plan.Writes != plan.Once { // else what is there took the path
				return want{}
			}
		}
	}
	if !done {
		return why
	}
	above, known := w.above[r]
	if !known {
		return want{} // which isn't given, or went elsewhere
	}
	why.add(above)
	return why
}

// lacks is what a call was skipped for, its condition or what has no value; nil for another reason.
func (w *trial) lacks(call *plan.Call) *plan.Template {
	if !w.outcome(call).skipped {
		return nil
	}
	for t := range call.Expressions() {
		if value, there := w.value(t); !t.PerItem() && (!there || t == call.When && value != true && !w.assumed[t]) {
			return t
		}
	}
	return nil
}
