// Package samples makes values up for what a plan describes: results of tools, input and state. What a plan doesn't
// describe is a hole in them; nothing is concluded from it. With such values it evaluates the code of activities
// (OB510); it runs no calls.
package samples

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

// A Budget is what values that are made up may still cost, over all instances of a plan.
type Budget struct {
	Evidence int                 // steps of making values up as evidence
	Runs     int                 // steps of sample runs
	Worked   expression.Meter    // cost of expressions
	OpenCode map[*plan.Tool]bool // tools with code that may fail for some parameters: calls show for which
}

// RunWork is how many steps all sample runs of a plan may take.
const RunWork = 120_000

// BudgetOf is the budget of a plan.
func BudgetOf(p *analysis.Pass) *Budget {
	b := analysis.Kept[Budget](p.Shared)
	if b.OpenCode == nil {
		b.Evidence, b.Runs = flow.MaxReasoning/4, RunWork
		b.Worked = expression.Meter{Steps: 4_000_000, Memory: 192_000_000}
		b.OpenCode = map[*plan.Tool]bool{}
	}
	return b
}

// A Generator makes values for sample runs.
type Generator struct {
	pass    *analysis.Pass
	random  *rand.Rand
	targets Targets
	left    *int // steps
	alike   bool // most numbers and sizes are to be one target
}

// NewGenerator is the generator of the nth sample run. In two of six runs most numbers and sizes are equal, which
// independent values rarely are.
func NewGenerator(p *analysis.Pass, targets Targets, n int, random *rand.Rand, left *int) Generator {
	alike := (n%6 == 1 || n%6 == 3) && len(targets) > 0
	if alike {
		targets = targets[(n%6/2+n/6*2)%len(targets):][:1]
	}
	return Generator{p, random, targets, left, alike}
}

// Value makes up a value that a schema accepts as it is declared, at times a remarkable one: with an empty list, a
// zero, a null, a number or a size that is a target. Of what comes from outside the plan only what is required is sure
// to be there. What the schema doesn't describe is a hole.
func (g *Generator) Value(s *schema.Schema, external bool) (any, bool) {
	declared := g.pass.Flow.AsDeclared(s, external)
	odd := g.random.IntN(2) == 0
	value, ok := Affordable(g.left, func(steps *int) (v any, ok bool) {
		if odd || g.alike {
			v, ok = declared.OddWithin(g.random, steps, g.targets...)
		}
		if !ok {
			v, ok = declared.SampleWithin(g.random, steps)
		}
		return v, ok
	})
	if !ok {
		return nil, false
	}
	return Marked(s, value), true
}

// Evidence makes up a value that is shown with a finding.
func Evidence(p *analysis.Pass, s *schema.Schema, r *rand.Rand) (any, bool) {
	return Affordable(&BudgetOf(p).Evidence, func(steps *int) (any, bool) { return s.SampleWithin(r, steps) })
}

// Affordable makes one of many values within their budget.
func Affordable(budget *int, sample func(steps *int) (any, bool)) (any, bool) {
	const most = 2_000 // steps for one value
	steps := max(0, min(most, *budget))
	*budget -= steps
	value, ok := sample(&steps)
	*budget += max(0, steps)
	return value, ok
}

// Targets are numbers, sizes and texts at which a schema or condition may change its answer.
type Targets []any

// AtBounds adds those of a schema, and what lies next to them and beyond.
func (t *Targets) AtBounds(s *schema.Schema) {
	for _, bound := range s.Bounds() {
		t.add(bound+1, bound, bound-1, 2*bound+2)
	}
}

// AtConstants adds the texts of an expression, its numbers and their neighbours, and a count that isn't accepted.
func (t *Targets) AtConstants(e *expression.Expr) {
	for n := range e.Root().All() {
		if n.Name == "repeat" || n.Name == "take" {
			t.add(-1.0)
		}
		switch v := n.Value.(type) {
		case float64:
			t.add(v, v-1, v+1)
		case string:
			t.add(v)
		}
	}
}

func (t *Targets) add(all ...any) {
	const most = 64
	for _, v := range all {
		if len(*t) < most && !slices.Contains(*t, v) {
			*t = append(*t, v)
		}
	}
}

// ExpressionType is the rule of findings about what code gives.
var ExpressionType = &diag.Rule{Code: "OB510", Name: "expression-type", Default: diag.Error}

// ResultOfCode is what the code of an activity gives. The error says why it fails, or that the tool's "_output"
// refuses the result.
func ResultOfCode(p *analysis.Pass, tool *plan.Tool, activity *plan.Activity, params map[string]any,
	steps *int) (value any, err error) {
	if value, err = activity.Expression.EvalCode(params, &BudgetOf(p).Worked); err != nil {
		return nil, err
	}
	if o, ok := value.(map[string]any); ok && len(o) == 2 && o["_outputPath"] != nil {
		if of, ok := o["_output"]; ok { // it names the alternative that it takes
			value = of
		}
	}
	if tool == nil || tool.Output == nil {
		return value, nil
	}
	decided := false
	_, accepted := Affordable(steps, func(steps *int) (_ any, accepted bool) {
		accepted, decided = tool.Output.AcceptsWithin(value, steps)
		return nil, accepted
	})
	if !decided {
		return nil, errors.New("there is no time to hold it against a schema")
	}
	if refused := tool.Output.Validate(value); !accepted && refused != nil {
		return value, refused
	}
	return value, nil
}

// ReportCode reports why code fails with the parameters that a call passes.
func ReportCode(p *analysis.Pass, tool *plan.Tool, call *plan.Call, activity *plan.Activity, params map[string]any,
	value any, err error) (f *diag.Diagnostic) {
	node, wrong, refused := activity.Node.Get("expr"), new(expression.Error), new(schema.Violation)
	switch {
	case tool != nil && tool.Parameters != nil && !tool.Parameters.Accepts(params):
		return nil // what its tool doesn't accept is reported where the call passes it
	case errors.As(err, &wrong):
		if wrong.Cause == expression.OfText {
			return nil
		}
		f = CodeFault(p, tool, node.Within(wrong.Start, wrong.End),
			fmt.Sprintf("this fails when the parameters are %s: %s", analysis.Brief(params), wrong.Message)).
			Advise("narrow the tool's parameters, or handle that case in the expression")
	case errors.As(err, &refused):
		f = CodeFault(p, tool, node.Span(), fmt.Sprintf("for %s this returns %s, which isn't a result of %q: %s",
			analysis.Brief(params), analysis.Brief(value), tool.Name, strings.TrimPrefix(refused.Error(), "."))).
			Advise("correct the expression or the tool's \"_output\"")
	default:
		return nil
	}
	f.As(diag.Warning).About(call.Label()).Witness = params
	return f
}

// CodeFault reports a fault in the code of a tool's activity.
func CodeFault(p *analysis.Pass, tool *plan.Tool, at source.Span, message string) *diag.Diagnostic {
	return p.Found.Report(ExpressionType, at, "%s", message).
		Note(tool.NameNode.Span(), "%q is declared here", tool.Name)
}
