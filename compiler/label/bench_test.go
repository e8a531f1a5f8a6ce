package label_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/label"
	"github.com/obelus-dev/obelus/compiler/source"
)

// BenchmarkLabels follows labels through 100,000 calls, nearly all of which make something
// of what is untrusted and of what is secret.
func BenchmarkLabels(b *testing.B) {
	const n = 100_000
	var text strings.Builder
	text.WriteString(generatedTools +
		"calls:\n- {_tool: mail, _outputPath: †state.s0}\n- {_tool: vault, _outputPath: †state.s1}\n")
	for i := 2; i < n; i++ {
		fmt.Fprintf(&text,
			"- {_tool: mix, v: †state.s%d.a, w: †(†state.s%d.a || †state.s%d.out), _outputPath: †state.s%d}\n",
			i-1, i-2, i/2, i)
	}
	p, found := compiler.Compile(source.NewFile("plan.yaml", []byte(text.String())), compiler.Options{
		Functions: generatedFunctions, Open: func(string) ([]byte, error) { return []byte(generatedDelegate), nil },
		Name:     "plan.yaml",
		Policies: []compiler.PolicyFile{{File: source.NewFile("policy.yaml", []byte(generatedPolicy)), Counts: true}},
	})
	if len(p.Calls) != n {
		b.Fatal(found[0].Message)
	}
	for b.Loop() {
		label.Of(p)
	}
}
