package compiler_test

import (
	"fmt"
	"testing"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/source"
)

// EXECUTION.md#secrets: what a call that arrives holds under the name of a secret is hidden from then on,
// also where something was shown before.
func TestSecretsOfArrivingCallsAreHidden(t *testing.T) {
	base, _ := compiler.Compile(source.NewFile("plan.yaml", []byte("calls: []\n")), compiler.Options{})
	setting := compiler.Setting{Plan: base, Paths: base.Paths.Clone()}
	growing, _ := setting.Begin(source.NewFile("solution.json", []byte(`{"calls":[]}`)), compiler.Options{})
	text := []byte(`{"calls":[`)
	for i, secret := range []string{"correct horse", "battery staple"} {
		text = append(text, ","[:min(i, 1)]...)
		start := len(text)
		text = fmt.Appendf(text, `{"_tool":"t","password":%q}`, secret)
		if !growing.Add(text, start, len(text)) {
			t.Fatal("the call isn't read")
		}
		growing.Bind()
		if got := compiler.Redact(growing.Plan(), "it is "+secret); got != "it is [hidden password]" {
			t.Errorf("call %d: %s", i+1, got)
		}
	}
}
