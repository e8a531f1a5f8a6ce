package analyzer_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/goccy/go-yaml/parser"
	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime/simulate"
)

// benchPlan is a plan of n calls over five tools: chains of ten that join, with
// a fallback and a literal in every call. The same plan as YAML and as JSON.
func benchPlan(n int) (yaml, jsonText []byte) {
	var y strings.Builder
	tools := map[string]any{}
	y.WriteString("plan: bench\ninput: {seed: 1}\ntools:\n")
	for t := range 5 {
		fmt.Fprintf(&y, "  step%d: {type: object, properties: {from: {type: number}, other: {type: number}, label: {type: string}, _output: {type: object, properties: {value: {type: number}}, required: [value]}}, required: [from]}\n", t)
		tools[fmt.Sprintf("step%d", t)] = map[string]any{
			"type": "object", "required": []string{"from"},
			"properties": map[string]any{
				"from": map[string]any{"type": "number"}, "other": map[string]any{"type": "number"}, "label": map[string]any{"type": "string"},
				"_output": map[string]any{"type": "object", "properties": map[string]any{"value": map[string]any{"type": "number"}}, "required": []string{"value"}},
			},
		}
	}
	y.WriteString("calls:\n")
	calls := make([]any, n)
	for i := range n {
		from, other := "†input.seed", "†input.seed"
		if i%10 > 0 {
			from = fmt.Sprintf("†state.r%d.value", i-1)
		}
		if i >= 10 {
			other = fmt.Sprintf("†state.r%d.value || 0", i-10)
		}
		tool, label, path := fmt.Sprintf("step%d", i%5), fmt.Sprintf("call number %d", i), fmt.Sprintf("†state.r%d", i)
		fmt.Fprintf(&y, "  - _tool: %s\n    from: %s\n    other: %s\n    label: %s\n    _outputPath: %s\n", tool, from, other, label, path)
		calls[i] = map[string]any{"_tool": tool, "from": from, "other": other, "label": label, "_outputPath": path}
	}
	jsonText, err := json.Marshal(map[string]any{"plan": "bench", "input": map[string]any{"seed": 1}, "tools": tools, "calls": calls})
	if err != nil {
		panic(err)
	}
	return []byte(y.String()), jsonText
}

func checkOnce(b *testing.B, name string, text []byte) {
	limits := source.DefaultLimits()
	limits.Bytes = 1 << 30
	p, found := compiler.Compile(source.NewFile(name, text), compiler.Options{Limits: limits})
	analysis := analyzer.Analyze(p, found, analyzer.Config{SampleRun: simulate.SampleRun})
	v, found := analysis.Verified, analysis.Findings
	if v == nil {
		b.Fatalf("%s: %s", found[0].Rule.Code, found[0].Message)
	}
}

// BenchmarkCheck is what `obelus check` does to a file that has been read:
// text to findings. The subbenchmarks by the name goccy are the bare YAML
// parser on the same text, for comparison.
func BenchmarkCheck(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000, 100_000, 1_000_000} {
		plan := sync.OnceValues(func() (yaml, json []byte) { return benchPlan(n) })
		perCall := func(b *testing.B, do func(yaml, jsonText []byte)) {
			yaml, jsonText := plan()
			b.ReportAllocs()
			for b.Loop() {
				do(yaml, jsonText)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/call")
		}
		b.Run(fmt.Sprintf("json/%d", n), func(b *testing.B) { perCall(b, func(yaml, jsonText []byte) { checkOnce(b, "plan.json", jsonText) }) })
		if n > 100_000 {
			continue // YAML of a million calls is more than the limit on a file
		}
		b.Run(fmt.Sprintf("yaml/%d", n), func(b *testing.B) { perCall(b, func(yaml, jsonText []byte) { checkOnce(b, "plan.yaml", yaml) }) })
		b.Run(fmt.Sprintf("parse-json/%d", n), func(b *testing.B) {
			perCall(b, func(yaml, jsonText []byte) {
				source.Parse(source.NewFile("plan.json", jsonText), source.DefaultLimits())
			})
		})
		b.Run(fmt.Sprintf("parse-yaml/%d", n), func(b *testing.B) {
			perCall(b, func(yaml, jsonText []byte) { source.Parse(source.NewFile("plan.yaml", yaml), source.DefaultLimits()) })
		})
		b.Run(fmt.Sprintf("goccy/%d", n), func(b *testing.B) {
			perCall(b, func(yaml, jsonText []byte) {
				if _, err := parser.ParseBytes(yaml, 0); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}
