package flow

import (
	"slices"

	"github.com/obelus-dev/obelus/analyzer/internal/branch"
	"github.com/obelus-dev/obelus/analyzer/internal/logic"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
)

// Branches are what is known about whether calls run.
type Branches struct {
	of          *Facts
	HasBranches func() bool // anything in the plan decides what runs
	branches    *branch.Conditions
	certain     map[*plan.Call]bool
	guarding    []*plan.Call // the calls with a condition of their own
	guardsUpTo  int          // of how many calls
}

// Conditions are the conditions of the plan's calls, worked out when first asked for.
func (b *Branches) Conditions() *branch.Conditions {
	if b.branches == nil {
		b.branches = branch.New(b.of.Plan, b.of)
	}
	return b.branches
}

// Spent is roughly the work that conditions have taken, in calls.
func (b *Branches) Spent() int {
	if b.branches == nil {
		return 0
	}
	return b.branches.Spent()
}

// Exhausted reports whether conditions have taken all that they may.
func (b *Branches) Exhausted() bool { return b.branches != nil && b.branches.Exhausted() }

func (b *Branches) hasBranches() bool {
	p := b.of.Plan
	return p.Writes == plan.Once || slices.ContainsFunc(p.Calls, func(c *plan.Call) bool {
		return len(c.Output) > 1 || compiler.Condition(c) != nil || b.mayEndEmpty(c.Params)
	}) || p.Output != nil && slices.ContainsFunc(p.Reads, func(r plan.Read) bool {
		return b.of.MeetsNull(&r, false)
	})
}

// mayEndEmpty reports whether a template holds a fallback or a gate that has no value where
// what it reads is null.
func (b *Branches) mayEndEmpty(t *plan.Template) bool {
	for e := range t.Expressions() {
		fallback, literal := e.Expr.Alternatives()
		if slices.ContainsFunc(e.Reads, func(i int) bool {
			r := &b.of.Plan.Reads[i]
			if fallback {
				return !literal && (len(r.Writers) > 0 || b.of.BeginsNull(r))
			}
			return !e.Expr.Plain() && (b.of.MeetsNull(r, true) || b.of.BeginsNull(r))
		}) {
			return true
		}
	}
	return false
}

// AlwaysRuns reports whether one call runs whenever another does; strictly, only where schemas promise what they name.
func (b *Branches) AlwaysRuns(one, whenever *plan.Call, strictly bool) bool {
	e := b.Conditions()
	return e.Solve(e.And(e.Runs(whenever), e.Runs(one).Not()), strictly).Impossible
}

// AlwaysWith is AlwaysRuns for a plan that may have no branches. A value that is replaced only on some
// branches is a default.
func (b *Branches) AlwaysWith(later, earlier *plan.Call) bool {
	return !b.HasBranches() || b.AlwaysRuns(later, earlier, true)
}

// Certain reports whether a call runs in every run in which nothing fails.
func (b *Branches) Certain(call *plan.Call) bool {
	return !b.HasBranches() || Once(b.certain, call, func() bool {
		e := b.Conditions()
		return e.Solve(e.Runs(call).Not(), true).Impossible
	})
}

// comes reports whether there is a branch on which the writer takes a variant's alternative, nothing writes over the
// value, and the reader runs; false where that isn't known.
func (b *Branches) comes(v *Variant) bool {
	writer, r := v.From.Call, v.Read
	if writer == nil || r == nil || !b.HasBranches() {
		return true
	}
	e := b.Conditions()
	goal := logic.False
	for i, route := range writer.Output {
		if slices.ContainsFunc(route, func(path plan.Path) bool { return path.ID == v.From.Path.ID }) {
			goal = e.Or(goal, e.Writes(writer, i))
		}
	}
	if reader := b.of.Caller(r); reader != nil {
		goal = e.And(goal, e.Runs(reader))
	}
	for _, w := range r.Writers {
		later := b.of.Plan.Calls[w]
		if !Waits(later, writer) || later.Method != plan.Set {
			continue
		}
		for i, route := range later.Output {
			if slices.ContainsFunc(route,
				func(path plan.Path) bool { return b.of.Plan.Paths.IsAbove(path.ID, r.Path) }) {
				goal = e.And(goal, e.Writes(later, i).Not())
			}
		}
	}
	return e.Solve(goal, true).Possible
}

// guards are the conditions about a variant that hold whenever a call runs that takes it: its own,
// and those of calls without which it doesn't run, where what they were about can't have changed
// since.
func (b *Branches) guards(v *Variant, call *plan.Call) (all []*plan.Template) {
	if call == nil {
		return nil
	}
	if call.When != nil && call.When.Expr != nil {
		all = append(all, call.When)
	}
	if v.Read == nil || len(v.Read.Writers) > 1 || b.of.Unknown(branch.Needed) {
		return all
	}
	for ; b.guardsUpTo < len(b.of.Plan.Calls); b.guardsUpTo++ {
		if c := b.of.Plan.Calls[b.guardsUpTo]; compiler.Condition(c) != nil && compiler.Condition(c).Expr != nil {
			b.guarding = append(b.guarding, c)
		}
	}
	for _, other := range b.guarding {
		looks, same := false, true // at what comes, and at that alone
		for _, i := range compiler.Condition(other).Reads {
			if r := &b.of.Plan.Reads[i]; b.of.isAbout(v, r) {
				looks, same = true, same && slices.Equal(r.Writers, v.Read.Writers)
			}
		}
		if other != call && looks && same && b.AlwaysRuns(other, call, false) {
			all = append(all, compiler.Condition(other))
		}
	}
	return all
}

// passesGuard reports whether a condition lets a value through: it holds with it and what
// is in it, or doesn't look at what comes from where the value does.
func (b *Branches) passesGuard(v *Variant, witness any, when *plan.Template) bool {
	paths, path := b.of.Plan.Paths, pathtree.Root
	if v.Read != nil {
		path = v.Read.Path
	}
	if !slices.ContainsFunc(when.Reads, func(i int) bool { return b.of.isAbout(v, &b.of.Plan.Reads[i]) }) {
		return true
	}
	value, presence, err := when.Expr.Eval(func(i int) (any, expression.Presence) {
		r := &b.of.Plan.Reads[when.Reads[i]]
		if path == pathtree.Root || !paths.IsAbove(path, r.Path) {
			return nil, expression.Pending
		}
		value, there := pathtree.Walk(witness, paths.Segments(r.Path)[paths.Depth(path):])
		if !there {
			return nil, expression.Absent
		}
		return value, expression.There
	}, nil)
	return err == nil && presence == expression.There && value == true
}
