package source

import (
	"fmt"
	"strings"
	"testing"
)

// planText is a plan of so many calls, as YAML and as JSON: each call has a
// reference, a number, a list and a quoted text.
func planText(calls int) (yaml, json string) {
	var y, j strings.Builder
	y.WriteString("plan: bench\ncalls:\n")
	j.WriteString("{\n  \"plan\": \"bench\",\n  \"calls\": [\n")
	for i := range calls {
		fmt.Fprintf(&y, "  - _tool: convert\n    amount: %d.5\n    text: \"call \\\"%d\\\" of many\"\n    from: †state.v%d\n    tags: [a, b]\n    _outputPath: †state.v%d\n", i, i, i, i+1)
		comma := ","
		if i == calls-1 {
			comma = ""
		}
		fmt.Fprintf(&j, "    {\"_tool\": \"convert\", \"amount\": %d.5, \"text\": \"call \\\"%d\\\" of many\", \"from\": \"†state.v%d\", \"tags\": [\"a\", \"b\"], \"_outputPath\": \"†state.v%d\"}%s\n", i, i, i, i+1, comma)
	}
	j.WriteString("  ]\n}\n")
	return y.String(), j.String()
}

func BenchmarkParse(b *testing.B) {
	for _, calls := range []int{1_000, 10_000} {
		yaml, json := planText(calls)
		for _, text := range []struct {
			name   string
			format Format
			text   string
		}{{"yaml", YAML, yaml}, {"json", JSON, json}} {
			b.Run(fmt.Sprintf("%s/calls=%d", text.name, calls), func(b *testing.B) {
				b.SetBytes(int64(len(text.text)))
				b.ReportAllocs()
				for b.Loop() {
					f := &File{Name: "bench", Format: text.format, Text: []byte(text.text)}
					if n, problems := Parse(f, DefaultLimits()); n == nil || len(problems) > 0 {
						b.Fatal(problems)
					}
				}
			})
		}
	}
}
