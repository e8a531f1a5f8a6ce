package trace_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus"
)

// What it costs to tell of a run of 10,000 calls in chains of ten that work something out,
// beside a run that isn't told of; with a journal, as runs have one.
func BenchmarkTraced(b *testing.B) {
	var text strings.Builder
	text.WriteString("tools: {f: {properties: {x: {type: integer}, _output: {type: integer}}}}\nactivities: {f: {expr: (x ?? 0) + 1}}\noutput: †state.v0\ncalls:\n")
	for i := range 10_000 {
		read := ""
		if i%10 > 0 {
			read = fmt.Sprintf("x: †state.v%d, ", i-1)
		}
		fmt.Fprintf(&text, "- {_tool: f, %s_outputPath: †state.v%d}\n", read, i)
	}
	p, err := obelus.Parse("plan.yaml", []byte(text.String()), obelus.LoadOptions{})
	if err == nil {
		err = p.Check()
	}
	if err != nil {
		b.Fatal(err)
	}
	for _, on := range []bool{false, true} {
		b.Run(fmt.Sprintf("on=%v", on), func(b *testing.B) {
			for range b.N {
				o := obelus.RunOptions{Journals: b.TempDir()}
				if on {
					o.Telemetry = &recording{}
				}
				if result, err := p.Run(b.Context(), o); err != nil || result.Status != obelus.Done {
					b.Fatal(result, err)
				}
			}
		})
	}
}
