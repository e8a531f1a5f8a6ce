package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// S15.1: --from lets tools take as long as in runs that were, and fail as often; of several
// runs each try counts.
func TestRehearsedFromRuns(t *testing.T) {
	t.Chdir(t.TempDir())
	const plan = `
tools:
  slow: {type: object, properties: {of: {}, _output: {}}, x-simulate: {duration: 1h, failure: 0.9}}
activities: {slow: {exec: {argv: [sh, -c, "sleep 0.0$0; test $0 != 3 && echo 1", "{of}"]}}}
inputSchema: {type: object, properties: {of: {type: integer}}, required: [of]}
calls: [{_tool: slow, of: †input.of, _outputPath: a || fa}]
output: †state.a || "none"
`
	if err := os.WriteFile("plan.yaml", []byte(plan), 0o644); err != nil {
		t.Fatal(err)
	}
	args := []string{"simulate", "plan.yaml", "--input", "of=1", "--seeds", "60", "--format", "json"}
	for _, of := range []string{"1", "2", "3", "3"} {
		obelus(strings.NewReader(""), "run", "plan.yaml", "--input", "of="+of, "--runs", "runs", "--confirm", "never")
	}
	runs, err := filepath.Glob("runs/*.jsonl")
	if err != nil || len(runs) != 4 {
		t.Fatal(err, runs)
	}
	for _, run := range runs {
		args = append(args, "--from", run)
	}
	out, trouble, _ := obelus(strings.NewReader(""), args...)
	lengths, failed := map[float64]bool{}, 0
	for line := range strings.Lines(out) {
		var e struct {
			Kind  string
			Calls []struct {
				Status     string
				Start, End float64
			}
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err, line)
		}
		if e.Kind == "scenario" {
			if lengths[e.Calls[0].End-e.Calls[0].Start] = true; e.Calls[0].Status == "failed" {
				failed++
			}
		}
	}
	if len(lengths) != 4 || failed < 15 || failed > 45 || !strings.Contains(trouble, "4 tries in 4 runs") {
		t.Errorf("lengths %v, %d of 60 failed: %s", lengths, failed, trouble)
	}
}
