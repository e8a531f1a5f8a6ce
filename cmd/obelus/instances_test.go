package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const manyPlan = `
plan: many
activities: {double: {expr: n * 2}}
tools: {double: {properties: {n: {type: number}}}}
calls:
- {_tool: double, n: †input.n, _outputPath: a}
- {_tool: double, n: †state.a, _outputPath: b}
output: †state.b
`

// manyLines are the lines of so many instances.
func manyLines(n int) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf(`{"id":"n%d","input":{"n":%d}}`, i, i)
	}
	return lines
}

func putLines(t *testing.T, name string, lines []string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// EXECUTION.md#instances: a bad line, wherever it is, keeps the run from starting, and so does an input that the plan
// doesn't read.
func TestBadLineIsRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	putLines(t, "plan.yaml", []string{manyPlan})
	for _, bad := range []string{"inptu\"", "input\":{\"m\":1},\"state\""} {
		lines := manyLines(300)
		at := rand.IntN(len(lines))
		lines[at] = strings.Replace(lines[at], "input\"", bad, 1)
		putLines(t, "people.jsonl", lines)
		out, complaint, status := obelus(nil, "run", "plan.yaml", "--instances", "people.jsonl", "--runs", "runs")
		if where := fmt.Sprintf("people.jsonl:%d:", at+1); status != statusError || !strings.Contains(complaint, where) {
			t.Errorf("status %d; %q isn't reported\n%s%s", status, where, out, complaint)
		}
		if _, err := os.Stat("runs"); err == nil {
			t.Errorf("the run has begun")
		}
	}
}

// EXECUTION.md#instances: whatever of the file of results is lost when a run has stopped, every instance has one line in
// the end, and no call is done twice.
func TestResultsAreCompleted(t *testing.T) {
	seed := rand.Uint64()
	chance := rand.New(rand.NewPCG(seed, 0))
	for round := range 8 {
		t.Chdir(t.TempDir())
		n := 1 + chance.IntN(300)
		putLines(t, "plan.yaml", []string{fmt.Sprintf("limits: {calls: %d}", n+chance.IntN(n)), manyPlan})
		putLines(t, "people.jsonl", manyLines(n))
		out, _, status := obelus(nil, "run", "plan.yaml", "--instances", "people.jsonl", "--out", "results.jsonl", "--runs", "runs", "--format", "json")
		if status != statusStopped {
			t.Fatalf("seed %d, round %d: status %d\n%s", seed, round, status, out)
		}
		text, err := os.ReadFile("results.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate("results.jsonl", int64(chance.IntN(len(text)+1))); err != nil {
			t.Fatal(err)
		}
		again, complaint, status := obelus(nil, "resume", "2", "--runs", "runs", "--format", "json")
		if status != statusOK {
			t.Fatalf("seed %d, round %d: status %d\n%s%s", seed, round, status, again, complaint)
		}
		if n, want := strings.Count(out+again, `"status":"done","instance":`), 2*n; n != want {
			t.Fatalf("seed %d, round %d: %d calls are done, want %d", seed, round, n, want)
		}
		text, err = os.ReadFile("results.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for line := range bytes.Lines(text) {
			var one struct {
				ID, Status string
				Input      map[string]any
				Output     any
			}
			if err := json.Unmarshal(line, &one); err != nil || one.Status != "done" || seen[one.ID] || one.Output != 4*one.Input["n"].(float64) {
				t.Fatalf("seed %d, round %d: the line %s: %v", seed, round, line, err)
			}
			seen[one.ID] = true
		}
		if len(seen) != n {
			t.Fatalf("seed %d, round %d: %d results of %d instances", seed, round, len(seen), n)
		}
	}
}

// EXECUTION.md#instances: the lines of instances that had joined must be those that they were.
func TestInstancesMayNotChange(t *testing.T) {
	const name = "isn't in its place any more"
	for _, change := range []func([]string) []string{
		func(l []string) []string { l[0], l[1] = l[1], l[0]; return l },
		func([]string) []string { return nil },
	} {
		t.Chdir(t.TempDir())
		putLines(t, "plan.yaml", []string{"limits: {calls: 1}", manyPlan})
		lines := manyLines(5000)
		putLines(t, "people.jsonl", lines)
		obelus(nil, "run", "plan.yaml", "--instances", "people.jsonl", "--runs", "runs")
		putLines(t, "people.jsonl", change(lines))
		_, complaint, status := obelus(nil, "resume", "2", "--runs", "runs", "--format", "json")
		if status != statusError || !strings.Contains(complaint, name) {
			t.Errorf("status %d, and nothing says %q\n%s", status, name, complaint)
		}
	}
}

// EXECUTION.md#running: of many instances only how they fare together is shown, and the first
// failures; the last line counts them.
func TestManyInstancesAreSummedUp(t *testing.T) {
	t.Chdir(t.TempDir())
	putLines(t, "plan.yaml", []string{manyPlan})
	lines := manyLines(3000)
	for i := range lines {
		if i%10 == 0 {
			lines[i] = fmt.Sprintf(`{"id":"n%d","input":{"n":"x"}}`, i)
		}
	}
	putLines(t, "people.jsonl", lines)
	out, _, status := obelus(nil, "run", "plan.yaml", "--instances", "people.jsonl", "--no-journal", "--out", filepath.Join(t.TempDir(), "r"))
	if shown := strings.Count(out, "\n"); status != statusFound || shown > 60 {
		t.Errorf("status %d, %d lines\n%s", status, shown, out)
	}
	for _, want := range []string{"3000 instances: 2700 done, 300 failed", "calls: 5400 done, 300 failed, 300 skipped"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	if failures := strings.Count(out, "failed: "); failures > 12 {
		t.Errorf("%d failures are told\n%s", failures, out)
	}
}

// EXECUTION.md#instances: a file of instances has at most 64 MiB, and nothing runs where it has more.
func TestInstancesFileIsBounded(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"plan.yaml": "tools: {t: {type: object}}\nactivities: {t: {expr: '1'}}\ncalls: [{_tool: t}]\n", "many.jsonl": ""} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Truncate("many.jsonl", 64<<20+1); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, status := obelus(strings.NewReader(""), "run", "plan.yaml", "--no-journal", "--instances", "many.jsonl")
	if status != 2 || strings.Contains(stdout, "t#1") || !strings.Contains(stderr, "larger than 67108864 bytes") || !strings.Contains(stderr, "split it into several files") {
		t.Errorf("exit status %v, %s%s", status, stdout, stderr)
	}
}
