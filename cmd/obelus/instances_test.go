package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/testdata/amount"
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

// EXECUTION.md#instances: a run that a bad line has stopped goes on from there when it is
// mended, wherever it was, whatever of the file of results was lost: every
// instance has one line in the end, and no call is done twice.
func TestBadLineIsMended(t *testing.T) {
	seed := rand.Uint64()
	chance := rand.New(rand.NewPCG(seed, 0))
	for round := range 8 {
		t.Chdir(t.TempDir())
		n := 1 + chance.IntN(300)
		good := manyLines(n)
		bad := slices.Clone(good)
		at := chance.IntN(n)
		bad[at] = strings.Replace(bad[at], "input", "inptu", 1)
		putLines(t, "plan.yaml", []string{manyPlan})
		putLines(t, "people.jsonl", bad)
		where := fmt.Sprintf("people.jsonl:%d:", at+1)
		out, _, status := obelus(nil, "run", "plan.yaml", "--instances", "people.jsonl", "--out", "results.jsonl", "--runs", "runs", "--format", "json")
		if status != statusStopped || !strings.Contains(out, where) {
			t.Fatalf("seed %d, round %d: status %d; %q isn't told\n%s", seed, round, status, where, out)
		}
		text, err := os.ReadFile("results.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate("results.jsonl", int64(chance.IntN(len(text)+1))); err != nil {
			t.Fatal(err)
		}
		putLines(t, "people.jsonl", good)
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
		putLines(t, "plan.yaml", []string{manyPlan})
		lines := append(manyLines(5), "{")
		putLines(t, "people.jsonl", lines)
		obelus(nil, "run", "plan.yaml", "--instances", "people.jsonl", "--runs", "runs")
		putLines(t, "people.jsonl", change(lines[:5]))
		out, _, status := obelus(nil, "resume", "2", "--runs", "runs", "--format", "json")
		if status != statusStopped || !strings.Contains(out, name) {
			t.Errorf("status %d, and nothing says %q\n%s", status, name, out)
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
	for _, want := range []string{"3000 instances: 2700 done, 300 failed", "results in", "calls: 5400 done, 300 failed, 300 skipped"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	if failures := strings.Count(out, "failed: "); failures > 12 {
		t.Errorf("%d failures are told\n%s", failures, out)
	}
}

// LANGUAGE.md#contexts-and-records: what messages give an instance (input, state, data, errors, and
// their schemas) holds for it alone: what becomes of each is what becomes of a context
// that has only its messages, with a planner and without.
func TestInstancesOfMessages(t *testing.T) {
	t.Chdir(t.TempDir())
	random := rand.New(rand.NewPCG(1, 4))
	type message = map[string]any
	write := func(name string, value any) {
		text, _ := json.Marshal(value)
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile("activities.yaml", []byte("activities: {tell: {expr: 'toJSON([a, b, c])'}, count: {expr: 'len(text)'}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	calls := []any{
		message{"_tool": "tell", "a": "†user.name || 'nobody'", "b": "†input.n || null", "c": "†state.s || null", "_outputPath": "told || failed"},
		message{"_tool": "count", "text": "†state.told", "_outputPath": "†data.user.length"},
		message{"_tool": "tell", "a": "†user.length || 0", "b": 1, "c": 2, "_outputPath": "again"},
	}
	output := map[string]any{"told": "†state.told || null", "again": "†state.again || null", "errors": "†error"}
	ends := func(args ...string) map[string]any {
		stdout, stderr, _ := obelus(strings.NewReader(""), append(append([]string{"run"}, args...), "--activities", "activities.yaml", "--no-journal", "--format", "json")...)
		lines := strings.Split(strings.TrimSpace(stdout), "\n")
		var end map[string]any
		if json.Unmarshal([]byte(lines[len(lines)-1]), &end) != nil || end["event"] != "end" {
			t.Fatal(stdout, stderr)
		}
		return end
	}
	for n := range amount.Of(12, 30, 600) {
		ids := []string{"", "a", "②", "c"}
		context := []any{
			message{"type": "tool", "tool": message{
				"tell":  message{"type": "object", "additionalProperties": true, "_output": message{"type": "string"}},
				"count": message{"type": "object", "properties": message{"text": message{"type": "string"}}, "required": []string{"text"}, "_output": message{"type": "integer"}}}},
			message{"type": "data", "kind": "user", "data": message{"from": "all"}},
		}
		for _, id := range ids[1:] {
			context = append(context, message{"type": "state", "_instance": id, "state": message{}})
		}
		for range 2 + random.IntN(9) {
			id := ids[random.IntN(len(ids))]
			m := []message{
				{"type": "data", "kind": "user", "data": message{"name": fmt.Sprint("N", random.IntN(9))}},
				{"type": "data", "kind": "user", "schema": message{"type": "object", "properties": message{"length": message{"maximum": 12.0}}}},
				{"type": "input", "input": message{"n": random.IntN(9)}, "schema": message{"type": "object"}},
				{"type": "state", "state": message{"s": random.IntN(9)}, "schema": message{"type": "object", "properties": message{"told": message{"anyOf": []any{message{"maxLength": 9 + random.IntN(9)}, message{"type": "object"}}}}}},
				{"type": "error", "data": message{"call": nil, "error": message{"code": fmt.Sprint("e", random.IntN(9)), "message": "m"}}},
			}[random.IntN(5)]
			if id != "" {
				m["_instance"] = id
			}
			context = append(context, m)
		}
		for planned := range 2 {
			args := []string{}
			plan := message{"type": "plan", "plan": calls}
			if planned == 1 {
				plan["plan"], args = []any{}, []string{"--planner", "replay:solutions.json"}
				write("solutions.json", []any{message{"calls": calls, "output": output}})
			}
			write("all.json", append(slices.Clone(context), plan))
			all, _ := ends(append(args, "all.json")...)["instances"].(map[string]any)
			if len(all) != 3 {
				t.Fatalf("context %d: %v", n, all)
			}
			for _, id := range ids[1:] {
				var shared, own []any
				for _, m := range context {
					one := maps.Clone(m.(message))
					delete(one, "_instance")
					switch of, apart := m.(message)["_instance"]; {
					case !apart:
						shared = append(shared, one)
					case of == id:
						own = append(own, one)
					}
				}
				write("one.json", slices.Concat(shared, own, []any{plan}))
				one, got := ends(append(args, "one.json")...), all[id].(map[string]any)
				if !reflect.DeepEqual(one["state"], got["state"]) || !reflect.DeepEqual(one["output"], got["output"]) || one["status"] != got["status"] {
					text, _ := json.Marshal(context)
					t.Fatalf("context %d (planned %d): the instance %q came to\n%v\nand alone to\n%v\n%s", n, planned, id, got, one, text)
				}
			}
		}
	}
}
