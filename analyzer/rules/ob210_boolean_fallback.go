package rules

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/plan"
)

var _ = Register(Rule{Raises: true, Run: booleanFallbacks}.As("OB210", "boolean-fallback", diag.Warning))

// booleanFallbacks reports || and && between booleans, which choose by presence
// and not by truth. A literal at the end of a fallback is a default.
func booleanFallbacks(p *Pass) {
	check := func(call *plan.Call, t *plan.Template) {
		if _, literal := t.Expr.Alternatives(); literal || t.Expr.Plain() || !strings.ContainsAny(t.Expr.Text, "|&") {
			return
		}
		for part := range t.Expr.Root().All() {
			if part.IsPresence() && !part.Open() {
				booleanFallback(p, call, t, part)
			}
		}
	}
	analysis.Calculations(p, check)
	for _, name := range slices.Sorted(maps.Keys(p.Plan.Activities)) {
		if a := p.Plan.Activities[name]; a.Expression != nil {
			check(nil, &plan.Template{Node: a.Node.Get("expr"), Expr: a.Expression})
		}
	}
}

func booleanFallback(p *Pass, call *plan.Call, t *plan.Template, part *expression.Node) {
	if slices.ContainsFunc(part.Args, func(x *expression.Node) bool { return x.Constant }) {
		return
	}
	for _, x := range part.Args {
		if known := p.Flow.TypeOfPart(t, x); known == nil || known.Kinds != expression.Bool {
			return
		}
	}
	at := t.Node.Within(part.Start, part.End)
	operator, word, result := "||", "or", "a || b is a whenever a has a value, also if it is false"
	if part.Op == expression.OpGate {
		operator, word, result = "&&", "and", "a && b is b whenever both have a value, also if a is false"
	}
	f := p.ReportCall(call, at, "%q between booleans tests whether they have a value, not whether they are true: %s",
		operator, result).Advise("write %q to test whether they are true", word)
	if part.Op == expression.OpGate ||
		(t.Reads == nil || call != nil && t == call.When) && alwaysThere(p, t, part.Args[0]) {
		f.As(diag.Error) // the last alone decides, or the first alone
	}
	var edits []diag.Edit
	for i := range part.Args[1:] {
		from, to := part.Args[i].End, part.Args[i+1].Start
		before, after, found := strings.Cut(t.Expr.Text[from:to], operator)
		from, to = from+len(strings.TrimRight(before, " ")), to-len(strings.TrimLeft(after, " "))
		edit, ok := diag.EditScalar(t.Node, from, to, " "+word+" ")
		if !found || !ok {
			return // ??: left to the author
		}
		edits = append(edits, edit)
	}
	// Where every operand is there from the start nothing can be meant by asking
	// whether it is; elsewhere the author has to say what an absent one means.
	sure := !slices.ContainsFunc(t.Reads, func(read int) bool { return !p.Plan.Reads[read].Start })
	f.Fixes = append(f.Fixes, diag.Fix{Message: "write " + strconv.Quote(word), Safe: sure, Edits: edits})
}

// alwaysThere reports whether all that a part of an expression reads is there from the
// start, or written by calls that always run.
func alwaysThere(p *Pass, t *plan.Template, part *expression.Node) bool {
	return !slices.ContainsFunc(t.Reads, func(read int) bool {
		r := &p.Plan.Reads[read]
		within := part.Start <= r.Ref.Start && r.Ref.End <= part.End
		return within && !r.Start && !slices.ContainsFunc(r.Writers, func(w int32) bool {
			writer := p.Plan.Calls[w]
			return len(writer.Output) == 1 && flow.Sets(writer) && p.Flow.Certain(writer)
		})
	})
}
