package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/activity"
	"github.com/obelus-dev/obelus/runtime/journal"
	"github.com/obelus-dev/obelus/runtime/local"
	"github.com/obelus-dev/obelus/runtime/project"
	"github.com/obelus-dev/obelus/runtime/session"
)

// program reads a plan from a text, with functions of the test.
func program(t *testing.T, text string, functions ...string) *project.Program {
	t.Helper()
	return programIn(t, t.TempDir(), text, functions...)
}

func programIn(t *testing.T, folder, text string, functions ...string) *project.Program {
	t.Helper()
	reader := &project.Reader{Functions: functions}
	d, err := reader.Parse(filepath.Join(folder, "plan.yaml"), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	p := d.Check()
	if p.Verified == nil {
		t.Fatal(p.Findings[0].Message)
	}
	return p
}

const chain = "calls:\n- {_id: a, _tool: work, _outputPath: a}\n- {_id: b, _tool: work, after: †state.a, _outputPath: b}\noutput: †state.b\ntools: {work: {additionalProperties: true}}\n"

// stoppedRun is the journal of a run that stopped before its first call.
func stoppedRun(t *testing.T, functions map[string]activity.Func) string {
	t.Helper()
	result, err := session.Run(t.Context(), program(t, chain, "work"), session.Options{
		Options: runtime.Options{Confirm: runtime.Confirm{Policy: runtime.Always}}, Host: session.Host{Functions: functions}, Runs: t.TempDir(),
	})
	if err != nil || result.Status != runtime.RunStopped || result.Reason != runtime.ReasonConfirmation || len(result.Asked) != 1 || result.Asked[0].Call != "a" {
		t.Fatalf("%+v, %v", result, err)
	}
	return result.Journal
}

// EXECUTION.md#resuming: a run that has ended, one that is going on, a journal that was changed and a file
// that is none of a run can't be resumed: an error each that says so, and the result
// of the first; nothing is run.
func TestResumeRefused(t *testing.T) {
	called := 0
	host := session.Host{Functions: map[string]activity.Func{"work": func(context.Context, activity.Request) (any, error) {
		called++
		return float64(called), nil
	}}}
	o := session.ResumeOptions{Host: host, Confirm: &runtime.Confirm{}}
	path := stoppedRun(t, host.Functions)

	// Going on, here in this very process.
	s, err := session.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := session.Resume(t.Context(), path, o); !errors.Is(err, session.ErrLocked) {
		t.Errorf("a run that is going on: %v", err)
	}
	if runs, err := session.List(filepath.Dir(path)); err != nil || len(runs) != 1 || runs[0].Status != "running" {
		t.Errorf("the runs are %+v, %v", runs, err)
	}
	result, err := s.Run(t.Context())
	if err != nil || result.Status != runtime.RunDone || result.Output != 2.0 {
		t.Fatalf("resumed: %+v, %v", result, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	// Ended.
	again, err := session.Resume(t.Context(), path, o)
	if !errors.Is(err, session.ErrEnded) || again == nil || !reflect.DeepEqual(again.Outcome, result.Outcome) {
		t.Errorf("a run that has ended: %+v, %v", again, err)
	}
	look, err := session.LookAt(path, session.ResumeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := local.Resume(t.Context(), look.Machine, look.At, runtime.Resumption{}, local.Options{}); err == nil {
		t.Error("a machine that has come to its end goes on")
	}
	if _, err := session.Find(filepath.Dir(path), "nothing"); !errors.Is(err, session.ErrNoRun) {
		t.Errorf("a run that there isn't: %v", err)
	}

	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, text []byte) string {
		name = filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	foreign := func(head any) string {
		name := filepath.Join(t.TempDir(), "foreign.jsonl")
		w, err := journal.Create(name, head)
		if err != nil {
			t.Fatal(err)
		}
		w.Close()
		return name
	}
	var head map[string]any
	if contents, err := journal.Read(path); err != nil || json.Unmarshal(contents.Header, &head) != nil {
		t.Fatal(err)
	}
	head["format"] = 1
	for name, test := range map[string]struct {
		path string
		kind error
	}{
		"changed":         {write("changed.jsonl", []byte(strings.Replace(string(text), `"kind":"begun"`, `"kind":"ended"`, 1))), session.ErrDamaged},
		"another's":       {foreign(map[string]string{"title": "race"}), session.ErrForeign},
		"another shape":   {foreign(map[string]int{"plan": 7}), session.ErrForeign},
		"another version": {foreign(head), session.ErrForeign},
		"no journal":      {write("notes.jsonl", []byte("{\"id\": 1}\n")), session.ErrDamaged},
		"empty":           {write("empty.jsonl", nil), session.ErrDamaged},
		"not there":       {filepath.Join(t.TempDir(), "gone.jsonl"), session.ErrNoRun},
	} {
		if result, err := session.Resume(t.Context(), test.path, o); !errors.Is(err, test.kind) || result != nil {
			t.Errorf("%s: %+v, %v", name, result, err)
		}
	}
	if called != 2 {
		t.Errorf("%d calls were run, and there are two", called)
	}
}

// A run that was begun with functions of a program goes on only in one that has them.
func TestResumeWithoutFunctions(t *testing.T) {
	path := stoppedRun(t, map[string]activity.Func{"work": func(context.Context, activity.Request) (any, error) { return nil, nil }})
	if _, err := session.Resume(t.Context(), path, session.ResumeOptions{}); !errors.Is(err, session.ErrUnrunnable) {
		t.Error(err)
	}
}

// EXECUTION.md#resuming: a journal that an earlier build of this format has written is resumed: one of
// a run that had used up its limit of calls when half of them were done, with a plan
// that imports. Whoever raises [runtime.Format] writes it anew.
func TestResumeEarlier(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "two-orders.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "20261122-081305-two-orders-9107.jsonl")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if runs, err := session.List(filepath.Dir(path)); err != nil || len(runs) != 1 || runs[0].Status != "stopped" || runs[0].Reason != runtime.ReasonCalls || runs[0].Calls.Done != 2 {
		t.Errorf("the runs are %+v, %v", runs, err)
	}
	watch := &watcher{}
	result, err := session.Resume(t.Context(), path, session.ResumeOptions{Host: session.Host{Observer: watch}})
	want := map[string]any{"first": map[string]any{"item": "tea", "paid": 4.0}, "second": map[string]any{"item": "cocoa", "paid": 9.0}}
	if err != nil || result.Status != runtime.RunDone || !reflect.DeepEqual(result.Output, want) {
		t.Fatalf("%+v, %v", result, err)
	}
	if started := strings.Join(watch.started, " "); started != "tea cocoa" && started != "cocoa tea" {
		t.Errorf("resumed, it runs %s", started)
	}
	// What was appended is a journal of the same form: one more process could go on.
	manifest, records, err := session.Read(path)
	if err != nil || manifest.Title != "two orders" {
		t.Fatal(manifest, err)
	}
	var kinds []string
	for record, err := range records {
		switch {
		case err != nil:
			t.Fatal(err)
		case record.End != nil:
			kinds = append(kinds, "end:"+string(record.End.Status))
		default:
			kinds = append(kinds, string(record.Event.Kind))
		}
	}
	if got := strings.Join(kinds, " "); got != "begun ended ended end:stopped resumed ended ended end:done" {
		t.Errorf("the journal holds %s", got)
	}
}

// A watcher notes which calls start.
type watcher struct{ started []string }

func (w *watcher) Observe(_ time.Duration, c runtime.Command) {
	if c.Kind == runtime.Start {
		w.started = append(w.started, c.Of.Name)
	}
}

func (w *watcher) Waits(string) {}

// EXECUTION.md#journals: a run whose journal is gone when it ends says so, and ends as it has.
func TestJournalIsGone(t *testing.T) {
	p := program(t, "tools: {note: {properties: {}, readOnlyHint: true}}\ncalls: [{_tool: note}]\n", "note")
	runs, notice := t.TempDir(), ""
	result, err := session.Run(t.Context(), p, session.Options{Runs: runs, Host: session.Host{Notice: func(text string) { notice = text },
		Functions: map[string]activity.Func{"note": func(context.Context, activity.Request) (any, error) {
			journals, _ := filepath.Glob(filepath.Join(runs, "*.jsonl"))
			return nil, os.Remove(journals[0])
		}}}})
	if err != nil || result.Status != runtime.RunDone || !strings.Contains(notice, "removed") {
		t.Errorf("it ends with %+v, %v; %q", result, err, notice)
	}
}

// EXECUTION.md#instances: a file of results that can't be written is known before anything runs.
func TestResultsRefused(t *testing.T) {
	p := program(t, "instances: {a: {}}\ntools: {note: {properties: {}, readOnlyHint: true}}\ncalls: [{_tool: note}]\n", "note")
	var ran bool
	note := func(context.Context, activity.Request) (any, error) { ran = true; return nil, nil }
	_, err := session.Run(t.Context(), p, session.Options{Results: filepath.Join(t.TempDir(), "none", "out.jsonl"),
		Host: session.Host{Functions: map[string]activity.Func{"note": note}}})
	if !errors.Is(err, session.ErrUnrunnable) || ran {
		t.Errorf("it ran: %v; %v", ran, err)
	}
}

// A run that has ended gives its result once more, whatever has become of the programs that it started.
func TestEndedWithoutProgram(t *testing.T) {
	folder := t.TempDir()
	tool := filepath.Join(folder, "tool")
	if err := os.WriteFile(tool, []byte("#!/bin/sh\necho one\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	p := programIn(t, folder, "activities: {note: {exec: {argv: [./tool]}}}\ntools: {note: {properties: {}}}\ncalls: [{_tool: note, _outputPath: n}]\noutput: †state.n\n")
	result, err := session.Run(t.Context(), p, session.Options{Runs: t.TempDir()})
	if err != nil || os.Remove(tool) != nil {
		t.Skip(err)
	}
	if again, err := session.Resume(t.Context(), result.Journal, session.ResumeOptions{}); !errors.Is(err, session.ErrEnded) || again == nil || again.Output != "one" {
		t.Errorf("%+v, %v", again, err)
	}
}

// EXECUTION.md#journals: while a run is active, so are its instances that haven't ended.
func TestLookAtActive(t *testing.T) {
	p := program(t, "instances: {a: {}}\ntools: {note: {properties: {}, readOnlyHint: true}}\ncalls: [{_tool: note}]\n", "note")
	runs := t.TempDir()
	var found *runtime.Outcome
	host := session.Host{}
	host.Functions = map[string]activity.Func{"note": func(context.Context, activity.Request) (any, error) {
		journals, _ := filepath.Glob(filepath.Join(runs, "*.jsonl"))
		look, err := session.LookAt(journals[0], session.ResumeOptions{})
		if err == nil {
			found = look.Outcome()
		}
		return nil, err
	}}
	if _, err := session.Run(t.Context(), p, session.Options{Runs: runs, Host: host}); err != nil || found == nil {
		t.Fatal(found, err)
	}
	if found.Status != runtime.RunGoesOn || found.Instances[0].Status != runtime.RunGoesOn {
		t.Errorf("it is %q, and its instance is %q", found.Status, found.Instances[0].Status)
	}
}
