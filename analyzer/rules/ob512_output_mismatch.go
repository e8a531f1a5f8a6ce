package rules

import (
	"strings"

	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

var OutputMismatch = Register(Rule{Run: outputMismatches}.As("OB512", "output-mismatch", diag.Error))

// outputMismatches reports what of the plan's output its schema refuses, and required parts of it that may be left out.
func outputMismatches(p *Pass) {
	outputForgotten(p)
	for _, j := range judgeOutput(p) {
		switch j.Relation {
		case schema.Never:
			analysis.Misfit(p, p.Rule, &j, j.To.Where()).Advise("correct the output or \"outputSchema\"")
		case schema.MayNotFit:
			ReportOutput(p, &j)
		case schema.Unknown:
			analysis.Undecided(p, &j)
		}
	}
}

// outputForgotten reports a plan that says what its output is and gives none. One that a
// model works on gets it from the model.
func outputForgotten(p *Pass) {
	if p.Plan.Output != nil || p.Plan.OutputSchema == nil || p.Plan.Form != plan.PlanFile || len(p.Plan.Calls) == 0 ||
		p.Unknown(diag.Reads) {
		return
	}
	for _, key := range []string{"output", "terminate", "mode", "advisors", "advice"} {
		if p.Plan.Root.Get(key) != nil {
			return
		}
	}
	if n := p.Plan.Root.Get("outputSchema"); n != nil && !p.Plan.OutputSchema.Accepts(nil) {
		p.Report(n.Span().Head(), "the plan has an \"outputSchema\" but no \"output\"").As(diag.Warning).
			Advise("add \"output: {…}\" with references")
	}
}

// ReportOutput reports a value that may come and that "outputSchema" refuses.
func ReportOutput(p *Pass, j *judgement) {
	analysis.Misfit(p, p.Rule, j, j.To.Where()).Advise("narrow the source's schema, or widen \"outputSchema\"")
}

// judgeOutput judges the flows into the plan's output.
func judgeOutput(p *Pass) []judgement {
	s := p.Plan.OutputSchema
	if s == nil || p.Plan.Output == nil || s.Compile() != nil || p.Unknown(diag.Reads) {
		return nil
	}
	before := len(p.Found)
	analysis.JudgeLiterals(p.Plan.Output, nil, s,
		func(at source.Span, below, why string, _ *source.Node, _ *schema.Schema) {
			where := "the output"
			if below != "" {
				where = quote(strings.TrimPrefix(below, "."))
			}
			f := p.Report(at, "%s doesn't match \"outputSchema\": %s", where, why).As(diag.Error).
				Advise("correct the output or \"outputSchema\"")
			if p.Plan.Root.Kind == source.Object {
				f.Note(p.Plan.Root.Get("outputSchema").Span().Head(), "the output's schema is here")
			}
		})
	if !p.Plan.Output.Live {
		return nil
	}
	return analysis.JudgeTemplate(p, p.Plan.Output, target{Schema: s}, len(p.Found) == before)
}
