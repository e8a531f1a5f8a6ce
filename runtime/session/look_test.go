package session_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/session"
)

// EXECUTION.md#journals: of a run that was killed, wherever that was, it is told what that left: each call
// that had started settles once, as often as the last line counts, and those that were at work
// are told apart from those that hadn't begun.
func TestKilledRunsTellWhatIsLeft(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "inner.yaml"), []byte("calls:\n- {_tool: note, of: 1, _outputPath: a}\noutput: †state.a\n"+
		"tools: {note: {properties: {of: {}}}}\nactivities: {note: {expr: of}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := programIn(t, folder, `
tools: {inner: {properties: {}}, note: {properties: {of: {}}}}
activities: {note: {expr: of}}
instances: {one: {state: {list: [1, 2]}}, two: {state: {list: [3]}}}
calls:
- {_id: first, _tool: note, of: †item, _each: †state.list, _outputPath: all}
- {_tool: inner, _delegate: inner.yaml, _after: [first], _outputPath: deep}
- {_tool: note, of: †state.all, _confirm: true, _outputPath: noted}
output: †state.noted
`)
	first, err := session.Run(t.Context(), p, session.Options{Host: session.Host{Confirmer: approver{}}, Runs: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(first.Journal)
	if err != nil {
		t.Fatal(err)
	}
	records := bytes.SplitAfter(text, []byte("\n"))
	reasons := map[string]int{}
	for n := 1; n < len(records)-2; n++ { // the last but one is how it ended
		killed := filepath.Join(t.TempDir(), "killed.jsonl")
		if err := os.WriteFile(killed, bytes.Join(records[:n], nil), 0o600); err != nil {
			t.Fatal(err)
		}
		var lines bytes.Buffer
		events := session.NewEvents(&lines, killed)
		look, err := session.LookAt(killed, session.ResumeOptions{})
		if err != nil || look.Status != "killed" {
			t.Fatalf("%d records: %q, %v", n, look.Status, err)
		}
		if look.Machine.Over() && !look.Machine.Stopped() {
			continue // only its last line is missing
		}
		look.Show(events)
		open, counts := map[string]int{}, runtime.Counts{}
		for line := range bytes.Lines(lines.Bytes()) {
			var e struct{ Event, Call, Under, Instance, Status, Reason string }
			if err := json.Unmarshal(line, &e); err != nil {
				t.Fatal(err)
			}
			name := runtime.Path(e.Under, e.Call) + "@" + e.Instance
			switch {
			case e.Event != "call":
			case e.Status == "started":
				open[name]++
			default:
				reasons[e.Reason]++
				open[name] = 0
				switch e.Status {
				case "done":
					counts.Add(runtime.Done)
				case "cancelled":
					counts.Add(runtime.Cancelled)
				}
			}
		}
		for name, still := range open {
			if still != 0 {
				t.Errorf("%d records: %s started and isn't told of any more", n, name)
			}
		}
		if stands := look.Machine.Stands(); stands.Counts != counts || stands.Reason != runtime.ReasonKilled {
			t.Errorf("%d records: it counts %+v for the reason %q, and tells of %+v", n, stands.Counts, stands.Reason, counts)
		}
	}
	for _, reason := range []string{"it was at work when the run stopped", "it hasn't begun", "it waits for an answer", "it is unfinished"} {
		if reasons[reason] == 0 {
			t.Errorf("nothing was told for the reason %q: %v", reason, reasons)
		}
	}
}

// An approver lets every call run.
type approver struct{}

func (approver) Ask(_ context.Context, _ *runtime.Question) func() (runtime.Decision, error) {
	return func() (runtime.Decision, error) {
		return runtime.Decision{Verdict: runtime.Approve, By: "ann"}, nil
	}
}
