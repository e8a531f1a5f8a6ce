package analyzer

import (
	"fmt"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
)

// generated is a plan of n calls such as people write them: each reads fields of
// one or two earlier results and an input, every tenth has a failure route that
// a handler reads, every twentieth an expression and a condition.
func generated(n int) string {
	var b strings.Builder
	b.WriteString(`{"plan":"generated","input":{"city":"Austin","limit":10},"tools":{` +
		`"fetch":{"type":"object","properties":{"city":{"type":"string"},"count":{"type":"number"},"options":{"type":"object","properties":{"deep":{"type":"boolean"}}},` +
		`"_output":{"type":"object","properties":{"text":{"type":"string"},"size":{"type":"number"}},"required":["text"]}},"required":["city"]},` +
		`"join":{"type":"object","properties":{"left":{"type":"string"},"right":{"type":"string"},"_output":{"type":"object","properties":{"text":{"type":"string"},"size":{"type":"number"}}}},"required":["left","right"]},` +
		`"handle":{"type":"object","properties":{"error":{"type":"object"}}}},"calls":[`)
	for i := range n {
		if i > 0 {
			b.WriteString(",\n")
		}
		switch {
		case i < 3:
			fmt.Fprintf(&b, `{"_tool":"fetch","city":"†input.city","count":%d,"options":{"deep":true},"_outputPath":"†state.r%d"}`, i, i)
		case i%10 == 0:
			fmt.Fprintf(&b, `{"_tool":"fetch","city":"†input.city","count":%d,"options":{"deep":true},"_outputPath":"†state.r%d || †state.e%d"}`, i, i, i)
		case i%10 == 1:
			fmt.Fprintf(&b, `{"_tool":"handle","error":"†state.e%d"}`, i-1)
		case i%20 == 5:
			fmt.Fprintf(&b, `{"_tool":"fetch","city":"†(\"near \" + †state.r%d.text)","count":"†state.r%d.size * 2 + †input.limit","_when":"†state.r%d.size > 3","_outputPath":"†state.r%d"}`, i-1, i-1, i-1, i)
		default:
			fmt.Fprintf(&b, `{"_tool":"join","left":"†state.r%d.text","right":"†state.r%d.text","_outputPath":"†state.r%d"}`, before(i-1), before(i/2), i)
		}
	}
	b.WriteString("]}")
	return b.String()
}

// before is the call nearest before i, or i, that writes a result.
func before(i int) int {
	if i%10 == 1 && i >= 3 {
		return i - 1
	}
	return i
}

// The generated plan is what benchmarks take it for: sound.
func TestGeneratedPlanIsSound(t *testing.T) {
	for _, n := range []int{1, 50, 1000} {
		plan, verified, found := judged("generated.json", generated(n))
		if verified == nil || len(plan.Calls) != n {
			t.Fatalf("%d calls: %s", n, every(found))
		}
		for _, d := range found {
			if d.Severity > diag.Info {
				t.Errorf("%d calls: %s", n, shown(d))
			}
		}
	}
}

func BenchmarkAnalyze(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			plan, found := compiler.Compile(source.NewFile("generated.json", []byte(generated(n))), compiler.Options{})
			b.ReportAllocs()
			for b.Loop() {
				if verified := Analyze(plan, found, Config{}).Verified; verified == nil {
					b.Fatal("the plan isn't sound")
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/call")
		})
	}
}

// The same with a fault in every tenth call, which costs suggestions and words.
func BenchmarkAnalyzeFaults(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			text := strings.ReplaceAll(generated(n), "\"_tool\":\"handle\",\"error\":\"†state.e", "\"_tool\":\"handle\",\"eror\":\"†state.f")
			plan, found := compiler.Compile(source.NewFile("generated.json", []byte(text)), compiler.Options{})
			b.ReportAllocs()
			count := 0
			for b.Loop() {
				all := Analyze(plan, found, Config{}).Findings
				count = len(all)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/call")
			b.ReportMetric(float64(count), "findings")
		})
	}
}

// BenchmarkRecheckBranches is BenchmarkRecheck for a plan with failure routes,
// conditions and calculations.
func BenchmarkRecheckBranches(b *testing.B) {
	calls := strings.SplitAfter(generated(1_000), ",\n")
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		at := 1 + i*7919%(len(calls)-2)
		text := strings.Join(calls[:at], "") + strings.Replace(calls[at], "{", fmt.Sprintf(`{"_id":"edited%d",`, i), 1) + strings.Join(calls[at+1:], "")
		p, found := compiler.Compile(source.NewFile("generated.yaml", []byte(text)), compiler.Options{})
		if verified := Analyze(p, found, Config{}).Verified; verified == nil || len(p.Calls) != 1_000 {
			b.Fatal("the plan isn't sound")
		}
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/recheck")
}
