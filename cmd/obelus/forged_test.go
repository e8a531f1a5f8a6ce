package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/runtime/journal"
)

// EXECUTION.md#journals: a journal whose hashes are right and whose contents no run of this version
// can have written is refused with its line and a word, and left as it is.
func TestForgedJournal(t *testing.T) {
	t.Chdir(t.TempDir())
	plan := "calls:\n- {_tool: a, _outputPath: x}\n- {_tool: b, y: †state.x, _outputPath: z}\nactivities: {a: {expr: \"1\"}, b: {expr: y + 1}}\n"
	if err := os.WriteFile("plan.yaml", []byte(plan), 0o600); err != nil {
		t.Fatal(err)
	}
	obelus := func(args ...string) (out string, status int) {
		var stdout, stderr bytes.Buffer
		status = run(context.Background(), args, strings.NewReader(""), &stdout, &stderr)
		return stdout.String() + stderr.String(), status
	}
	if out, status := obelus("run", "plan.yaml", "--runs", "runs"); status != 0 {
		t.Fatal(out)
	}
	files, _ := filepath.Glob("runs/*.jsonl")
	honest, err := journal.Read(files[0])
	if err != nil {
		t.Fatal(err)
	}
	var bodies []string
	for body, err := range honest.Bodies() {
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, string(body))
	}
	head := func(change func(h map[string]any)) map[string]any {
		var h map[string]any
		if err := json.Unmarshal(honest.Header, &h); err != nil {
			t.Fatal(err)
		}
		change(h)
		return h
	}
	same := func(map[string]any) {}
	option := func(key string, value any) func(map[string]any) {
		return func(h map[string]any) { h["options"].(map[string]any)[key] = value }
	}
	for name, test := range map[string]struct {
		head   func(map[string]any)
		events []string
		want   string
	}{
		"honest":         {same, bodies, "has already ended"},
		"older":          {func(h map[string]any) { delete(h, "format") }, bodies, "its events are of version 0, and this obelus reads version"},
		"newer":          {func(h map[string]any) { h["format"] = 1e6 }, bodies, "its events are of version 1000000"},
		"parallel":       {option("parallel", -1), bodies, "-1 activities can't run at once"},
		"policy":         {option("confirm", map[string]any{"policy": "nobody"}), bodies, `there is no policy "nobody"`},
		"no such call":   {same, []string{bodies[0], `{"event":{"kind":"ended","at":9999999999,"call":7,"attempt":1}}`}, "line 3: the event \"ended\" of call 7 (try 1, frame 0, tick 0) answers nothing"},
		"not at work":    {same, []string{bodies[0], `{"event":{"kind":"ended","at":9999999999,"call":1,"attempt":1}}`}, "line 3: the event \"ended\" of call 1 (try 1, frame 0, tick 0) answers nothing"},
		"no such frame":  {same, []string{bodies[0], `{"event":{"kind":"ended","at":9999999999,"frame":-3,"call":1}}`}, "line 3: the event \"ended\" of call 1 (try 0, frame -3, tick 0) answers nothing"},
		"no alternative": {same, []string{bodies[0], `{"event":{"kind":"ended","at":9999999999,"attempt":1,"route":4}}`}, "line 3: a result is for alternative 4 of 1"},
		"after a stop":   {same, []string{bodies[0], `{"event":{"kind":"stopped","at":9999999998,"text":"interrupted"}}`, `{"event":{"kind":"ended","at":9999999999,"attempt":1,"route":4}}`}, "line 4: a result is for alternative 4 of 1"},
		"twice":          {same, []string{bodies[0], bodies[0]}, "line 3: the run begins a second time"},
		"not begun":      {same, bodies[1:], "line 2: the event \"ended\" of call 0 (try 1, frame 0, tick 0) answers nothing"},
		"unknown event":  {same, []string{bodies[0], `{"event":{"kind":"exploded","at":9999999999}}`}, `line 3: there is no event "exploded"`},
		"unknown key":    {same, []string{bodies[0], `{"event":{"kind":"ended","at":9999999999,"attempt":1,"approved":true}}`}, `line 3: there is no field "approved"`},
		"something else": {same, []string{bodies[0], `{"evnt":{}}`}, `line 3: there is no field "evnt"`},
		"nothing":        {same, []string{bodies[0], `{}`}, "line 3: a record is either an event or the end of the run"},
		"ends too early": {same, []string{bodies[0], bodies[len(bodies)-1]}, `line 3: the run is said to be "done", but it is going on`},
	} {
		path := filepath.Join("forged", strings.ReplaceAll(name, " ", "-")+".jsonl")
		w, err := journal.Create(path, head(test.head))
		if err != nil {
			t.Fatal(err)
		}
		for _, body := range test.events {
			if err := w.Append([]byte(body)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		before, _ := os.ReadFile(path)
		out, status := obelus("resume", path)
		if !strings.Contains(out, test.want) || (status == 0) != (name == "honest") {
			t.Errorf("%s: status %d\n%swant %q", name, status, out, test.want)
		}
		if after, _ := os.ReadFile(path); name != "honest" && !bytes.Equal(before, after) {
			t.Errorf("%s: the journal was changed", name)
		}
	}
}

// EXECUTION.md#journals: what a run keeps is its user's alone.
func TestPrivateFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"plan.yaml":      "calls: [{_tool: a, _outputPath: x}]\nactivities: {a: {expr: \"1\"}}\n",
		"planned.yaml":   "calls: []\ntools: {a: {}}\nactivities: {a: {expr: \"1\"}}\n",
		"solutions.yaml": "- {calls: [{_tool: a, _outputPath: x}], output: 1}\n",
		"people.jsonl":   "{\"id\":\"a\"}\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"run", "plan.yaml", "--runs", "new/runs", "--instances", "people.jsonl", "--out", "results.jsonl"},
		{"run", "planned.yaml", "--runs", "new/runs", "--planner", "replay:solutions.yaml", "--record", "kept/talk"},
	} {
		var out bytes.Buffer
		if status := run(context.Background(), args, strings.NewReader(""), &out, &out); status != 0 {
			t.Fatalf("%v: %d\n%s", args, status, out.String())
		}
	}
	for _, root := range []string{"new", "kept", "results.jsonl"} {
		err := filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
			if err == nil && info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s is %v: others may look into it", path, info.Mode())
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
