//go:build unix

package session_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/review"
	"github.com/obelus-dev/obelus/runtime/session"
)

// EXECUTION.md#stored-answers: an answer by its id is to what would run as it is now: the bytes of the
// files of the workspace that the activity names. Whatever of that has changed since, the
// call is asked about again; what it doesn't name may change.
func TestAnswersAreToWhatRunsNow(t *testing.T) {
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		activity string
		change   func(folder string)
		again    bool
	}{
		"the program":         {"argv: [./s.sh]", func(folder string) { write(folder+"/s.sh", "echo two") }, true},
		"a file of its argv":  {"argv: [sh, s.sh]", func(folder string) { write(folder+"/s.sh", "echo two") }, true},
		"behind a link":       {"argv: [sh, link]", func(folder string) { write(folder+"/s.sh", "echo two") }, true},
		"a file elsewhere":    {"argv: [sh, s.sh]", func(folder string) { write(folder+"/t.sh", "echo two") }, false},
		"a file of a pattern": {"argv: [sh, -c, \"echo two\"], files: [\"*/mytool\"]", func(folder string) { write(folder+"/one/mytool", "echo two") }, true},
		"a variable":          {`argv: [sh, s.sh], env: {TARGET: "https://{$HOST_OF_IT}/"}`, func(string) { t.Setenv("HOST_OF_IT", "two") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			t.Setenv("HOST_OF_IT", "one")
			write(folder+"/s.sh", "echo one")
			write(folder+"/one/mytool", "echo one")
			if err := os.Symlink(folder+"/s.sh", folder+"/link"); err != nil {
				t.Fatal(err)
			}
			p := programIn(t, folder, `tools: {t: {properties: {}, _output: {type: string}}}
activities: {t: {exec: {`+c.activity+`, stdin: none, stdout: text}}}
calls: [{_tool: t, _outputPath: r}]
output: †state.r
`)
			asking := runtime.Options{Confirm: runtime.Confirm{Policy: runtime.Always}}
			got, err := session.Run(t.Context(), p, session.Options{Options: asking, Runs: t.TempDir()})
			if err != nil || len(got.Asked) != 1 {
				t.Fatalf("%+v, %v", got, err)
			}
			id := got.Asked[0].ID
			approve := session.AnswerTo(got.Asked[0], runtime.Decision{Verdict: runtime.Approve, By: "ann"})
			questions, err := session.OpenQuestions(got.Journal, session.ResumeOptions{})
			if err == nil && questions.Open()[0].ID != id {
				t.Fatalf("the run asked %s, and its journal %s", id, questions.Open()[0].ID)
			}
			if err == nil {
				_, err = questions.Decide(questions.Open(), approve.Decision)
			}
			if err != nil {
				t.Fatal(err)
			}
			c.change(folder)
			var told []string
			o := session.ResumeOptions{Host: session.Host{Notice: func(text string) { told = append(told, text) }}, Answers: []session.Answer{approve}}
			got, err = session.Resume(t.Context(), got.Journal, o)
			if err != nil || (got.Status == runtime.RunStopped) != c.again {
				t.Fatalf("it came to %+v, %v, and told %q", got, err, told)
			}
			if !c.again {
				return
			}
			if len(told) != 1 || !strings.Contains(told[0], "has changed since") || got.Asked[0].ID == id || !review.SameQuestion(got.Asked[0].ID, id) {
				t.Errorf("it asks %s after %s, and told %q", got.Asked[0].ID, id, told)
			}
			o.Answers = []session.Answer{session.AnswerTo(got.Asked[0], approve.Decision)}
			if got, err = session.Resume(t.Context(), got.Journal, o); err != nil || got.Status != runtime.RunDone {
				t.Errorf("after an answer to what runs now it came to %+v, %v", got, err)
			}
			if beside, _ := filepath.Glob(filepath.Join(filepath.Dir(got.Journal), "*")); len(beside) != 2 { // and its anchor
				t.Errorf("beside the journal of a run that is done lie %q", beside)
			}
		})
	}
}

// A person who answers after what would run has changed under their eyes is asked again.
func TestPeopleApproveWhatRunsNow(t *testing.T) {
	folder := t.TempDir()
	script := func(text string) {
		if err := os.WriteFile(filepath.Join(folder, "s.sh"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	script("echo one")
	p := programIn(t, folder, `tools: {t: {properties: {}, _output: {type: string}}}
activities: {t: {exec: {argv: [sh, s.sh], stdin: none, stdout: text}}}
calls: [{_tool: t, _outputPath: r}]
output: †state.r
`)
	var problems []string
	slow := asker(func(q *runtime.Question) runtime.Decision {
		if problems = append(problems, q.Problem); len(problems) == 1 {
			script("echo two")
		}
		return runtime.Decision{Verdict: runtime.Approve, By: "ann"}
	})
	got, err := session.Run(t.Context(), p, session.Options{Options: runtime.Options{Confirm: runtime.Confirm{Policy: runtime.Always}}, Runs: t.TempDir(), Host: session.Host{Confirmer: slow}})
	if err != nil || got.Output != "two" || len(problems) != 2 || !strings.Contains(problems[1], "has changed since") {
		t.Errorf("it came to %+v, %v, and asked %q", got, err, problems)
	}
	if _, err := session.Resume(t.Context(), got.Journal, session.ResumeOptions{}); !errors.Is(err, session.ErrEnded) {
		t.Errorf("its journal: %v", err)
	}
}

type asker func(q *runtime.Question) runtime.Decision

func (a asker) Ask(_ context.Context, q *runtime.Question) func() (runtime.Decision, error) {
	return func() (runtime.Decision, error) {
		return a(q), nil
	}
}
