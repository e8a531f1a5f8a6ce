package runtime_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/runtime"
)

// Whatever a planner answers, tick after tick, in whatever pieces: the run ends
// without a panic and as it does in one piece, no call starts whose tool isn't known or whose
// parameters its schema rejects, and none that has an error.
func FuzzSolution(f *testing.F) {
	for _, seed := range []string{
		`{"calls":[],"output":1}`,
		`{"calls":[{"_tool":"weigh","load":"†state.box","_outputPath":"w"},{"_tool":"fetch","from":"†state.w","_outputPath":"x || y"}],"output":"†state.x"}`,
		`{"output":{"a":["†state.x"]},"calls":[{"_tool":"draft","_id":"a","_after":["b"]},{"_tool":"draft","_id":"b","x":"†state.late || 1"},{"_tool":"decide","_outputPath":"late"}]}`,
		`{"calls":[{"_tool":"fetch","x":"†state.b","_outputPath":"a"},{"_tool":"fetch","x":"†state.a","_outputPath":"b"}]}`,
		`{"calls":[{"_tool":"refine","_outputPath":"l","_outputMethod":"push"},{"_tool":"refine","_outputPath":"l","_outputMethod":"push"}],"output":null}`,
		"```json\n{\"calls\":[{\"_tool\":\"measure\",\"_output\":{\"total\":1},\"_when\":\"†input.size > 1\"}]}\n```",
		`{"calls":[{"_tool":"fetch","_retry":{"attempts":3},"fails":2,"_timeout":"1s","_outputPath":"†state.a && b"}`,
		`{"advisors":[],"meta":{},"calls":[{"_tool":"weigh","load":{"k":"††"}},7,null,{"_tool":"conjure"}],"policy":1}`,
		"{\"calls\":[{\"_tool\":\"fetch\",\"\\u005ftool\":\"weigh\"}]} tail\x00\xff",
	} {
		f.Add(seed, seed, byte(0))
		f.Add(seed, `{"calls":[{"_tool":"fetch","_outputPath":"x[0]"}]}`, byte(7))
	}
	const b = `{"_tool":"fetch","shape":"nothing","_outputPath":"box"}`
	f.Add(`{"calls":[`+b+`]}`, `{"calls":[{"_tool":"fetch","_outputPath":"box.of"},`+b+`]}`, byte(0))
	f.Add(`{"calls":[{"_tool":"fetch","_outputPath":"list","_outputMethod":"push"}]}`, `{"calls":[{"_tool":"draft","_outputPath":"list[1]"},{"_tool":"fetch","_outputPath":"list","_outputMethod":"push"}]}`, byte(4))
	f.Fuzz(func(t *testing.T, answer, next string, how byte) {
		if len(answer)+len(next) > 5000 {
			return
		}
		answer, next = strings.ToValidUTF8(answer, "\ufffd"), strings.ToValidUTF8(next, "\ufffd")
		base := map[string]any{
			"plan": "fuzzed", "tools": toolDefinitions(), "input": map[string]any{"size": 3.0}, "state": map[string]any{"box": map[string]any{"of": 2.0}, "list": []any{1.0}}, "calls": []any{},
		}
		if how&1 > 0 {
			base["mode"] = "lazy"
		}
		if how&2 > 0 {
			base["writes"] = "once"
		}
		v, why := compileGenerated(t, base)
		if v == nil {
			t.Fatal(why)
		}
		run := func(seed uint64, breaks func(string) []string) *simulator {
			r := &simulator{
				t: t, verified: v, solutions: []string{answer, next, answer, noMore, noMore, noMore}, breaks: breaks, order: rand.New(rand.NewPCG(seed, uint64(how))), kills: int(how >> 2 & 1), act: perform,
				decide: func(*runtime.Question) runtime.Decision { return runtime.Decision{Verdict: runtime.Approve} },
				checks: func(c runtime.Command) {
					if tool := c.Of.Tool; tool == nil || tool.Parameters != nil && tool.Parameters.Validate(c.Params) != nil {
						t.Errorf("%s started unchecked with %s", c.Of.Name, inJSON(c.Params))
					}
				},
			}
			r.options.Planned = true
			r.run()
			if call := r.ranFaulty(); call != "" {
				t.Errorf("%s has an error, and ran", call)
			}
			return r
		}
		want := run(0, inOnePiece)
		for seed, breaks := range []func(string) []string{characterwise, nil} {
			if differs := difference(run(uint64(seed)+1, breaks).ending(), want.ending()); differs != "" {
				t.Fatalf("in pieces,\n%s", differs)
			}
		}
		if !utf8.ValidString(inJSON(want.out)) {
			t.Error("the outcome isn't UTF-8")
		}
	})
}
