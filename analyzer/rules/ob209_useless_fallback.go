package rules

import (
	"slices"

	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/analyzer/internal/branch"
	"github.com/obelus-dev/obelus/analyzer/internal/logic"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

var _ = Register(Rule{Scope: idle, Run: uselessFallbacks}.As("OB209", "useless-fallback", diag.Warning))

// uselessFallbacks finds operands of || that never decide: they are never there
// when it is their turn, or one before them always is.
func uselessFallbacks(p *Pass) {
	unwrittenOperands(p)
	if p.Unknown(branch.Needed) {
		return
	}
	dangles := make([]bool, len(p.Plan.Calls))
	for i := range p.Plan.Reads {
		if r := &p.Plan.Reads[i]; r.Call >= 0 && r.Ref.Required && !p.Flow.MayBeThere(r) {
			dangles[r.Call] = true // that is OB203's
		}
	}
	analysis.Calculations(p, func(call *plan.Call, t *plan.Template) {
		if t.Expr.Plain() || t.PerItem() || call != nil && dangles[call.Index] {
			return
		}
		for at, fallback := range fallbacks(t) {
			// A condition is OB210's. Without branches any tool may fail, and little else decides.
			decided := func(a *expression.Node) bool {
				return a.Op != expression.OpRef || sure(p, call, &p.Plan.Reads[t.Reads[a.Index]])
			}
			if last := len(fallback.Args) - 1; (at > 0 || call == nil || t != call.When) &&
				(p.Flow.HasBranches() || slices.ContainsFunc(fallback.Args[:last], decided)) {
				uselessOperands(p, call, t, fallback)
			}
		}
	})
}

// unwrittenOperands reports operands at whose path nothing ever stands: nobody writes it, and the document doesn't say
// that a run begins with it. That a state given at run time may bring it is for the document to declare.
func unwrittenOperands(p *Pass) {
	if p.Plan.Form == plan.Solution {
		return // the state that it is given isn't known
	}
	analysis.Calculations(p, func(call *plan.Call, t *plan.Template) {
		var never map[int]bool
		for _, i := range t.Reads {
			if r := &p.Plan.Reads[i]; !r.Ref.Required && !p.Flow.MayBeThere(r) {
				if never == nil {
					never = map[int]bool{}
				}
				never[i] = true
			}
		}
		if len(never) == 0 || analysis.NeverThere(t, func(r int) bool { return never[r] }) { // that is OB203's
			return
		}
		chains := fallbacks(t)
		for _, i := range t.Reads {
			r := &p.Plan.Reads[i]
			if !never[i] || !slices.ContainsFunc(chains,
				func(f *expression.Node) bool { return f.Start <= r.Ref.Start && r.Ref.End <= f.End }) {
				continue
			}
			kind := p.Plan.Paths.Kind(r.Path)
			f := p.ReportCall(call, r.Span(), "%q never has a value: %s; the operand of \"||\" has no effect",
				r.Ref.String(), analysis.WhyNever[kind]).
				Advise("%s, or remove the operand", analysis.WhereFrom[kind])
			analysis.ExplainNever(p, f, r, call)
		}
	})
}

// sure reports whether a read is seen at once to be there always, or whenever the call runs, or never.
func sure(p *Pass, call *plan.Call, r *plan.Read) bool {
	return r.Start || !p.Flow.MayBeThere(r) || call != nil && slices.ContainsFunc(call.Reads, func(i int) bool {
		other := &p.Plan.Reads[i]
		return other.Ref.Required && p.Plan.Paths.IsAbove(r.Path, other.Path)
	})
}

// onlyDeadWrite reports whether all that could write what a read reads are calls that never
// run, which is a finding of their own.
func onlyDeadWrite(p *Pass, e *branch.Conditions, r *plan.Read) bool {
	return len(r.Writers) > 0 && !r.Start && !slices.ContainsFunc(r.Writers,
		func(w int32) bool { return !e.Solve(e.Runs(p.Plan.Calls[w]), false).Impossible })
}

// uselessOperands reports operands of one fallback.
func uselessOperands(p *Pass, call *plan.Call, t *plan.Template, fallback *expression.Node) {
	e, runs := p.Flow.Conditions(), logic.True
	if call != nil && t != call.When {
		runs = e.Runs(call)
	}
	left := []logic.Literal{logic.True} // no operand so far is there
	var goals []logic.Literal
	for i, solid := range e.Operands(t, fallback) {
		goals = append(goals, e.And(runs, e.And(left[i], solid)))
		left = append(left, e.And(left[i], solid.Not()))
	}
	decides := e.SolveAll(goals, false)
	last := -1 // the last operand that ever decides
	for i, a := range decides {
		if !a.Impossible {
			last = i
		}
		if !a.Possible && !a.Impossible && !a.Beyond && !e.Exhausted() {
			analysis.Unanswered(p, t.Node.Within(fallback.Start, fallback.End), call,
				"whether every operand of "+quote(short(t.Node.Text))+" is needed")
			return
		}
	}
	if last < 0 || runs == logic.False {
		return // dangling, or in a call that never runs
	}
	text := func(i int) string { return short(t.Node.Text[fallback.Args[i].Start:fallback.Args[i].End]) }
	span := func(i int) source.Span { return t.Node.Within(fallback.Args[i].Start, fallback.Args[i].End) }
	useless := func(i int) {
		if a := fallback.Args[i]; a.Op == expression.OpRef {
			if r := &p.Plan.Reads[t.Reads[a.Index]]; p.Flow.NeverThere(r) || onlyDeadWrite(p, e, r) {
				return // a finding of its own
			}
		}
		p.ReportCall(call, span(i), "%q never has a value when it is reached: this operand of \"||\" has no effect",
			text(i)).
			Advise("remove the operand, or write it on a branch that reads it")
	}
	for i := range last {
		if decides[i].Impossible {
			useless(i)
		}
	}
	if last == len(decides)-1 {
		return
	}
	if !e.Solve(e.And(runs, left[last+1]), false).Impossible {
		for i := last + 1; i < len(decides); i++ {
			useless(i)
		}
		return
	}
	p.ReportCall(call, span(last), "the operands after %q are never used: it always has a value, or one before it",
		text(last)).
		Note(span(last+1), "this is never used").
		Advise("remove the operands after it, or put it last")
}

// fallbacks are the fallbacks in an expression, the outermost first.
func fallbacks(t *plan.Template) []*expression.Node {
	var list []*expression.Node
	for n := range t.Expr.Root().All() {
		if n.Op == expression.OpFallback && !n.Open() && !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	return list
}
