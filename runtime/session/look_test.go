package session_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/session"
)

// S8.6, S19.3: whatever an event says that begins, or is asked about, is a point of the run
// by the names in that event: calls, items, calls of delegates of items, each of its
// instance. There nothing of it has settled, and a run that is forked there comes to what
// the first came to.
func TestEventsNamePoints(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"inner.yaml": "input: {v: 0}\ntools: {twice: {properties: {v: {type: integer}, _output: {type: integer}}}}\nactivities: {twice: {expr: v * 2}}\n" +
			"calls:\n- {_tool: twice, v: †input.v, _outputPath: a}\n- {_tool: twice, _each: [†state.a, 1], v: †item, _outputPath: b}\noutput: †state.b\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := programIn(t, folder, `
limits: {parallel: 1}
tools: {inner: {properties: {v: {type: integer}}}, note: {properties: {of: {}}}}
activities: {note: {expr: of}}
instances: {one: {state: {list: [1, 2]}}, two: {state: {list: [3]}}}
calls:
- {_tool: inner, _delegate: inner.yaml, _each: †state.list, v: †item, _outputPath: all}
- {_tool: note, of: †state.all, _confirm: true, _outputPath: noted}
output: †state.noted
`)
	var lines bytes.Buffer
	host := session.Host{Confirmer: decider{}, Observer: session.NewEvents(&lines, "")}
	first, err := session.Run(t.Context(), p, session.Options{Host: host, Runs: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	points := map[string]bool{}
	for line := range bytes.Lines(lines.Bytes()) {
		var e struct{ Event, Call, Under, Instance, Status string }
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		at := runtime.Path(e.Under, e.Call) + "@" + e.Instance
		if !(e.Event == "ask" || e.Event == "call" && e.Status == "started") || points[at] {
			continue
		}
		points[at] = true
		_, err := session.LookAt(first.Journal, at, session.ResumeOptions{}, nil)
		if err != nil {
			t.Errorf("%s: %v", at, err)
			continue
		}
		forked, err := session.Fork(first.Journal, session.ForkOptions{At: at, Runs: t.TempDir()})
		if err != nil {
			t.Fatalf("%s: %v", at, err)
		}
		again, err := session.Resume(t.Context(), forked, session.ResumeOptions{Host: session.Host{Confirmer: decider{}}, InFlight: runtime.InFlightAnew})
		if err != nil || again.Status != first.Status || again.Counts != first.Counts {
			t.Errorf("%s: forked there it came to %+v, %v, and at first to %+v", at, again, err, first)
		}
	}
	if len(points) != 19 {
		t.Errorf("%d points: %v", len(points), points)
	}
}
