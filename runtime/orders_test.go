package runtime

import (
	"testing"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

// policed is a machine of a plan under a policy, whatever check says of it; all of its
// tools are functions f, g and h.
func policed(t *testing.T, text, rules string, o Options, hints map[string]plan.Hints) *Machine {
	t.Helper()
	policy := source.NewFile("obelus.policy.yaml", []byte("rules:\n"+rules))
	p, found := compiler.Compile(source.NewFile("plan.yaml", []byte(text)), compiler.Options{
		Functions: []string{"f", "g", "h"}, Hints: hints, Limits: source.DefaultLimits(),
		Policies: []compiler.PolicyFile{{File: policy, Counts: true}},
	})
	for _, d := range found {
		if d.Span.File == policy {
			t.Fatal(d.Message)
		}
	}
	return newMachine(p, o, false, false)
}
