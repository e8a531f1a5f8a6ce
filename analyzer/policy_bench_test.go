package analyzer

import (
	"fmt"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/source"
)

// What 20 rules of orders and bounds cost a plan of 10,000 calls. Labels
// are followed under any policy; the empty one tells what they cost.
func BenchmarkPolicied(b *testing.B) {
	var text, rules strings.Builder
	names := []string{"get", "put", "send", "charge", "test", "deploy", "read"}
	text.WriteString("tools:\n")
	for _, name := range names {
		fmt.Fprintf(&text, "  %s: {type: object, properties: {x: true, k: {type: string}}, _output: {type: string}}\n", name)
	}
	text.WriteString("calls:\n- {_tool: send, _outputPath: p0}\n- {_tool: test, x: †state.p0, _outputPath: p1}\n")
	for i := 2; i < 10_000; i++ {
		name := []string{"get", "get", "put"}[i%3]
		if i%500 == 7 {
			name = []string{"deploy", "read", "charge"}[i/500%3]
		}
		fmt.Fprintf(&text, "- {_tool: %s, k: v%d, x: †state.p%d, _outputPath: p%d}\n", name, i, max(1, i-1-i*7919%9), i)
	}
	rules.WriteString("rules:\n")
	for i := range 5 {
		fmt.Fprintf(&rules, "- {rule: a%d, order: {deploy: {only-after: test}}, allows: [test, deploy], denies: [deploy]}\n", i)
		fmt.Fprintf(&rules, "- {rule: b%d, order: {send: {never-after: read}}, allows: [send, read], denies: [read, send]}\n", i)
		fmt.Fprintf(&rules, "- {rule: c%d, order: {charge: {at-most: 1, per: k}}, allows: [charge], denies: [charge, charge]}\n", i)
		fmt.Fprintf(&rules, "- {rule: d%d, bounds: {put: {k: {pattern: ^v, type: string}}}, allows: {put: {k: v}}, denies: {put: {k: w}}}\n", i)
	}
	for _, policy := range []string{"none", "empty", "labels", "rules"} {
		o := compiler.Options{Name: "plan.yaml", Limits: source.DefaultLimits(), Functions: names}
		if policy != "none" {
			text := map[string]string{"empty": "policy: empty\n", "labels": "tools: {put: {effects: [write, external], output: {integrity: untrusted}}}\nrules: [{rule: r, tool: charge, requires: {k: {integrity: trusted}}, allows: {k: {integrity: trusted}}, denies: {k: {integrity: untrusted}}}]\n", "rules": rules.String()}[policy]
			o.Policies = []compiler.PolicyFile{{File: source.NewFile("obelus.policy.yaml", []byte(text)), Counts: true}}
		}
		b.Run(policy, func(b *testing.B) {
			for b.Loop() {
				plan, found := compiler.Compile(source.NewFile("plan.yaml", []byte(text.String())), o)
				if j := Analyze(plan, found, Config{}); j.Verified == nil {
					b.Fatal(j.Errors[0].Message)
				}
			}
		})
	}
}
