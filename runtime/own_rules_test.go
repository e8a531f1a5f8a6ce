package runtime_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

// EXECUTION.md#the-planning-loop: a solution is held to the rules of the embedding program as well, those that
// look at one call and those that look at all, in whatever pieces it comes.
func TestSolutionsAreHeldToOwnRules(t *testing.T) {
	own := []*analyzer.Rule{{
		Rule: &diag.Rule{Code: "OWN001", Name: "too-much", Default: diag.Error},
		Call: func(p *analyzer.Pass, call *plan.Call) {
			if n := call.Node.Get("n"); n != nil && n.Float() > 100 {
				p.Report(n.Span(), "that is too much").About(call.Label())
			}
		},
	}, {
		Rule: &diag.Rule{Code: "OWN002", Name: "one-is-enough", Default: diag.Error},
		Run: func(p *analyzer.Pass) {
			var first *plan.Call
			for _, call := range p.Plan.Calls {
				switch {
				case call.ToolName != "draft":
				case first == nil:
					first = call
				default:
					p.Report(call.ToolNode.Span(), "there is a draft already").About(call.Label()).Note(first.ToolNode.Span(), "here")
				}
			}
		},
	}, {
		Rule: &diag.Rule{Code: "OWN003", Name: "strange", Default: diag.Warning},
		Call: func(p *analyzer.Pass, call *plan.Call) { p.Report(call.ToolNode.Span(), "strange") },
	}}
	file := source.NewFile("plan.json", []byte(inJSON(map[string]any{"plan": "own", "tools": toolDefinitions(), "calls": []any{}})))
	plan, found := compiler.Compile(file, compiler.Options{Functions: toolNames})
	j := analyzer.Analyze(plan, found, analyzer.Config{Rules: own})
	if j.Verified == nil {
		t.Fatal(j.Errors)
	}
	solution := `{"calls":[{"_tool":"draft"},{"_tool":"fetch","n":1},{"_tool":"fetch","n":1000},{"_tool":"draft"}],"output":true}`
	for _, breaks := range []func(string) []string{inOnePiece, callwise, characterwise} {
		r := &simulator{t: t, verified: j.Verified, solutions: []string{solution, noMore, noMore}, breaks: breaks, act: perform, order: rand.New(rand.NewPCG(1, 1))}
		r.options.Planned = true
		out := r.run()
		var codes []string
		for _, e := range out.Errors {
			codes = append(codes, e.Call+" "+e.Code)
		}
		if got := strings.Join(codes, ", "); got != "fetch#3 too-much, draft#4 one-is-enough" || out.Counts.Done != 2 {
			t.Errorf("%s; %+v", got, out.Counts)
		}
	}
}
