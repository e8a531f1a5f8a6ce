package analyzer

import (
	"os"
	"testing"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

// LANGUAGE.md#delegates-and-scopes: a plan's delegates are judged by a program's own rules as well.
func TestDelegatesAreJudgedByOwnRules(t *testing.T) {
	text := []byte("plan: one\nactivities:\n  pay: {plan: below.yaml}\ncalls:\n  - {_tool: pay, _outputPath: †state.paid}\n")
	open := func(name string) ([]byte, error) {
		if name != "below.yaml" {
			return nil, os.ErrNotExist
		}
		return []byte("plan: one\ncalls:\n  - {_tool: forbidden, _outputPath: †state.paid}\n"), nil
	}
	forbidden := &Rule{
		Rule: &diag.Rule{Code: "PAY001", Name: "forbidden", Default: diag.Error},
		Call: func(p *Pass, call *plan.Call) {
			if call.ToolName == "forbidden" {
				p.Report(call.ToolNode.Span(), "%q is forbidden", call.Name).About(call.Label())
			}
		},
	}
	plan, found := compiler.Compile(source.NewFile("above.yaml", text), compiler.Options{Name: "above.yaml", Open: open})
	for own, sound := range map[*Rule]bool{nil: true, forbidden: false} {
		var c Config
		if own != nil {
			c.Rules = []*Rule{own}
		}
		j := Analyze(plan, found, c)
		if got := j.Verified != nil && j.Verified.Delegate("below.yaml") != nil; got != sound {
			t.Errorf("with the rule %v: verified: %v, %v", own != nil, got, j.Errors)
		}
	}
}
