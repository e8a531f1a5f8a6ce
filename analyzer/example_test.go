package analyzer_test

import (
	"fmt"
	"strings"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

// A program judges plans by a rule of its own along with the others: here that
// what is paid for is confirmed by a person first.
func Example_ruleOfOnesOwn() {
	unconfirmed := &analyzer.Rule{
		Rule: &diag.Rule{Code: "PAY001", Name: "unconfirmed-payment", Default: diag.Error},
		Call: func(p *analyzer.Pass, call *plan.Call) {
			if strings.HasPrefix(call.ToolName, "pay-") && call.When == nil {
				p.Report(call.ToolNode.Span(), "%q pays without a condition", call.Name).About(call.Name).
					Advise("let it wait for a person: _when: \"†state.confirmed\"")
			}
		},
	}
	plan, found := compiler.Compile(source.NewFile("order.yaml", []byte(`
calls:
  - {_tool: confirm, _outputPath: †state.confirmed}
  - {_tool: pay-invoice, _when: †state.confirmed == true}
  - {_tool: pay-deposit}
`)), compiler.Options{Name: "order.yaml"})
	j := analyzer.Analyze(plan, found, analyzer.Config{Rules: []*analyzer.Rule{unconfirmed}})
	for _, d := range j.Errors {
		fmt.Printf("%d: %s %s: %s\n", d.Span.From().Line, d.Rule.Code, d.Rule.Name, d.Message)
	}
	fmt.Println("verified:", j.Verified != nil)
	// Output:
	// 5: PAY001 unconfirmed-payment: "pay-deposit#3" pays without a condition
	// verified: false
}
