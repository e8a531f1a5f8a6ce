package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// S1.7, S19: every example is checked, drawn, rehearsed and run, and there is
// nothing to say about any of them.
func TestExamples(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	plans, err := filepath.Glob("examples/*.yaml")
	if err != nil || len(plans) < 6 {
		t.Fatalf("%d examples: %v", len(plans), err)
	}
	must := func(t *testing.T, args ...string) string {
		t.Helper()
		stdout, stderr, status := obelus(strings.NewReader(""), args...)
		if status != statusOK || stderr != "" {
			t.Fatalf("obelus %s: status %d\n%s%s", strings.Join(args, " "), status, stdout, stderr)
		}
		return stdout
	}
	for _, plan := range plans {
		t.Run(filepath.Base(plan), func(t *testing.T) {
			if said := must(t, "check", "--min-severity", "info", plan); !strings.HasPrefix(said, "nothing to report") {
				t.Errorf("check: %s", said)
			}
			for _, format := range []string{"dot", "mermaid"} {
				drawing := must(t, "graph", "--format", format, plan)
				if begins := map[string]string{"dot": "digraph", "mermaid": "flowchart"}[format]; !strings.Contains("\n"+drawing, "\n"+begins) {
					t.Errorf("graph --format %s: %.100s", format, drawing)
				}
			}
			compiled := must(t, "compile", plan)
			again, stderr, status := obelus(strings.NewReader(compiled), "compile", "-")
			if status != statusOK || again != compiled {
				t.Errorf("compiling the compiled plan again: status %d, %s; the same bytes: %v", status, stderr, again == compiled)
			}
			rehearsal := must(t, "simulate", "--seed", "7", "--schedules", "5", "--format", "json", plan)
			if rehearsal != must(t, "simulate", "--seed", "7", "--schedules", "5", "--format", "json", plan) {
				t.Error("the same seed gives other bytes")
			}
			if last := lastLine(t, rehearsal); last["kind"] != "summary" || last["deterministic"] != true {
				t.Errorf("simulate ends with %v", last)
			}
			end := lastLine(t, must(t, "run", "--format", "json", plan))
			if end["event"] != "end" || end["status"] != "done" || end["output"] == nil {
				t.Errorf("run ends with %v", end)
			}
		})
	}
}

func lastLine(t *testing.T, lines string) map[string]any {
	t.Helper()
	all := strings.Split(strings.TrimSpace(lines), "\n")
	var last map[string]any
	if err := json.Unmarshal([]byte(all[len(all)-1]), &last); err != nil {
		t.Fatal(err)
	}
	return last
}
