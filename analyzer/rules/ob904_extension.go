package rules

import (
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
)

var _ = Register(Rule{
	Rule:   &diag.Rule{Code: "OB904", Name: "extension", Default: diag.Warning},
	Strict: true,
	Call: func(p *Pass, call *plan.Call) {
		for _, f := range call.Node.Fields {
			if help := insteadOf[f.Key.Text]; help != "" {
				p.ReportCall(call, f.Key.Span(), "%q is an extension of the protocol", f.Key.Text).Advise("%s", help)
			}
		}
	},
})

var insteadOf = map[string]string{
	"_id":      "take it out; the call is then known by its tool and its place",
	"_when":    "let the call read a value that exists only when it should run",
	"_after":   "let the call read something that the calls before it write",
	"_retry":   "let the activity itself try again",
	"_each":    "list a call for each item",
	"_timeout": "give the activity itself a time-out",
	"_confirm": "let the person who runs the plan confirm every call, or calls with effects",

	"_onItemFailure": "take it out; the first item that fails then fails the call",
}
