package rules

import (
	"slices"

	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/analyzer/internal/branch"
	"github.com/obelus-dev/obelus/analyzer/internal/logic"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

var _ = Register(Rule{Scope: idle, Needs: branch.Needed, Run: deadCalls}.As("OB302", "dead-call", diag.Warning))

// deadCalls finds calls that can run on no branch, whatever the input is.
func deadCalls(p *Pass) {
	union := func(t *plan.Tool) bool { return branch.HasAlternatives(t.Output) }
	if !p.Flow.HasBranches() && !slices.ContainsFunc(p.Plan.Tools, union) {
		return
	}
	e := p.Flow.Conditions()
	order := p.Plan.Graph.Order()
	goals := make([]logic.Literal, len(order))
	for i, call := range order {
		goals[i] = e.Runs(p.Plan.Calls[call])
	}
	for i, a := range e.SolveAll(goals, false) {
		call := p.Plan.Calls[order[i]]
		switch {
		case a.Impossible:
			deadCall(p, e, call)
		case !a.Possible && !a.Beyond && !e.Exhausted():
			analysis.Unanswered(p, call.ToolNode.Span(), call, "whether "+quote(call.Name)+" can ever run")
		}
	}
}

// A part is one of the things that must come together for a call to run.
type part struct {
	holds logic.Literal
	node  *source.Node
	at    *plan.Template // nil for a call that it comes after
}

func parts(p *Pass, call *plan.Call) []part {
	e := p.Flow.Conditions()
	var list []part
	if when := compiler.Condition(call); when != nil {
		list = append(list, part{e.Condition(call), when.Node, when})
	}
	for _, a := range call.After {
		if other := p.Plan.Calls[a.Call]; !a.Settled {
			list = append(list, part{e.Done(other), a.Node, nil})
		}
	}
	for t := range call.Expressions() {
		if t != call.When && !t.PerItem() {
			list = append(list, part{e.There(t), t.Node, t})
		}
	}
	return list
}

// deadCall reports a call with what of it never comes, or else all that it needs.
func deadCall(p *Pass, e *branch.Conditions, call *plan.Call) {
	report := func(what string) *diag.Diagnostic {
		return p.ReportCall(call, call.ToolNode.Span(), "%q can never run: %s", call.Name, what).
			Advise("read values of one branch, join branches with \"||\", or remove the call")
	}
	parts := parts(p, call)
	goals := make([]logic.Literal, len(parts))
	for i := range parts {
		goals[i] = parts[i].holds
	}
	alone := e.SolveAll(goals, false)
	for i, a := range alone {
		if !a.Impossible {
			continue
		}
		if parts[i].at == nil || parts[i].at == call.When && constantAlone(p, call) {
			return // that is the other call's own, or OB212's
		}
		what := quote(short(parts[i].node.Text)) + " never has a value"
		if parts[i].at == call.When {
			what = "its condition " + quote(short(parts[i].node.Text)) + " is never true"
		}
		f := report(what).Note(parts[i].node.Span(), "it needs this")
		f.Witness = evidence{Branch: []choice{}}
		analysis.NoteWriters(p, f, parts[i].at)
		return
	}
	if slices.ContainsFunc(call.Reads, func(i int) bool { // it needs a value where it writes: that is OB403's
		_, yes := claims(p, call, call.FailureRoute(), p.Plan.Reads[i].Path)
		return yes && p.Plan.Writes == plan.Once && p.Plan.Reads[i].Ref.Required
	}) {
		return
	}
	what := "no branch provides everything that it needs"
	if p.Plan.Writes == plan.Once {
		what += ", or leaves its output path free"
	}
	f := report(what)
	f.Witness = evidence{Branch: []choice{}}
	for i, part := range parts[:min(len(parts), analysis.MaxShown)] {
		needs := "it needs this"
		if words := analysis.DescribeBranch(e.Decisions(part.holds, alone[i].Assignment)); words != "" {
			needs += ", which is true when " + words
		}
		f.Note(part.node.Span(), "%s", needs)
	}
}
