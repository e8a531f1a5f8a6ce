package rules

import (
	"slices"
	"sync"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
)

var _ = Register(Rule{Rule: diag.DanglingReference, Run: danglingReferences})

// danglingReferences evaluates expressions with references absent that are never there, and all others still to come.
func danglingReferences(p *Pass) {
	reads := p.Plan.Reads
	never := func(r int) bool {
		read := &reads[r]
		return !p.Flow.MayBeThere(read) || !p.Within && (p.Flow.BelowNull(read) || read.Ref.Kind == "error" &&
			(read.Call >= 0 || len(p.Plan.Calls) == 0) && GivesOutput(p) && len(p.Plan.Errors) == 0)
	}
	isOutputEmpty := sync.OnceValue(func() bool { return isOutputEmpty(p, never) })
	p.Expressions(func(call *plan.Call, t *plan.Template) {
		var required, optional []int
		for _, r := range t.Reads {
			switch {
			case !never(r):
			case reads[r].Ref.Required:
				required = append(required, r)
			default:
				optional = append(optional, r)
			}
		}
		for _, r := range required {
			if call == nil || !isCycle(p, call, reads[r].Path) {
				dangling(p, &reads[r])
			}
		}
		if len(required) > 0 || len(optional) == 0 {
			return
		}
		if !analysis.NeverThere(t, never) && (call != nil || !isOutputEmpty()) {
			return
		}
		dangling(p, &reads[optional[0]])
	})
}

// isOutputEmpty reports whether the plan's output consists of references that are never there.
func isOutputEmpty(p *Pass, never func(read int) bool) bool {
	for t := range p.Plan.Output.Expressions() {
		if t.Expr.Root().Op != expression.OpRef || !never(t.Reads[0]) {
			return false
		}
	}
	return GivesOutput(p) && !HasLiterals(p.Plan.Output)
}

// isCycle reports whether a call waits for itself, by writing a path that it reads.
func isCycle(p *Pass, call *plan.Call, id pathtree.ID) bool {
	_, waits := slices.BinarySearch(p.Plan.Graph.SelfCycles(), int32(call.Index))
	_, writes := flow.OutputOver(p.Plan, call, id)
	return waits && writes
}

func dangling(p *Pass, r *plan.Read) {
	call, kind := p.Flow.Caller(r), p.Plan.Paths.Kind(r.Path)
	why := analysis.WhyNever[kind]
	if kind == "state" && p.Flow.MayBeThere(r) {
		why = "the initial state has null above it, and no call writes it"
	}
	f := p.ReportCall(call, r.Span(), "%q never has a value: %s", r.Ref.String(), why).
		Advise("%s", analysis.WhereFrom[kind])
	if p.Plan.Form == plan.Solution && kind != "input" {
		f.Message = quote(r.Ref.String()) + " is written by no call of the solution"
		f.As(diag.Info).Advise("the state that the solution receives must contain it")
	}
	if p.Flow.MayBeThere(r) {
		f.As(diag.Warning)
	} else {
		analysis.ExplainNever(p, f, r, call)
	}
}
