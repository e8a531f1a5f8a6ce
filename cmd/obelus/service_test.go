//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/testdata/pty"
)

// servedPlan pays and writes a letter, both of which leave a line in the file of effects.
// The payment takes as long as there is a file "wait". What is filed needs a "cabinet".
const servedPlan = `
plan: day
tools: {pay: {properties: {amount: {type: number}}}, mail: {properties: {to: {type: string}}}, file: {properties: {what: {}}}}
activities:
  pay: {exec: {argv: [sh, -c, 'echo paid >> effects; : > at-work; while test -e wait; do sleep 0.05; done; echo 7']}}
  mail: {exec: {argv: [sh, -c, 'echo mailed >> effects; cat']}}
  file: {exec: {argv: [sh, -c, 'test -e cabinet || exit 1; echo filed >> effects; cat']}}
calls:
- {_id: refund, _tool: pay, amount: 5, _outputPath: receipt}
- {_id: letter, _tool: mail, to: ann, _outputPath: sent}
- {_id: archive, _tool: file, what: †state.receipt, _outputPath: filed}
output: {receipt: †state.receipt, sent: †state.sent, filed: †state.filed}
`

// plannedDay is the same with calls that a planner makes, and two days as it plans them.
var plannedDay = servedPlan[:strings.Index(servedPlan, "calls:")] + "calls: []\n"

const oneDay = `
- {calls: [{_tool: pay, amount: 1, _outputPath: receipt}], output: null}
- {calls: [{_tool: mail, to: WHOM, _outputPath: sent}], output: "†state.sent"}
`

// EXECUTION.md#resuming: a day of a service without a terminal. A run stops with two
// questions; one is decided by command, by the id that its event gave, the other by a file;
// the run is killed while a call is at work, stops on resuming for want of a word about
// that call, waits for it, is told to try it again, and fails; what was wrong is mended, and
// what failed runs again. A new run continues from a tick of another, and the two are compared. Every
// step's status and events say so, the journal who decided what, and nothing happened that
// nobody said.
func TestServiceWithoutATerminal(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no shell to pay")
	}
	v := newVictim(t, killedPlan{})
	if err := os.WriteFile(filepath.Join(v.folder, "plan.yaml"), []byte(servedPlan), 0o600); err != nil {
		t.Fatal(err)
	}
	ids, runs := map[string]string{}, v.runs
	step := func(status int, reason any, asked string, args ...string) map[string]any {
		t.Helper()
		out, _, got := v.process(t, 0, append(args, "--runs", runs)...)
		var calls []string
		for line := range strings.Lines(string(out)) {
			var e struct {
				Event, Call string
				Question    struct {
					ID       string
					InFlight bool
					Params   map[string]any
				}
			}
			if json.Unmarshal([]byte(line), &e) == nil && e.Event == "ask" {
				calls = append(calls, e.Call)
				ids[e.Call] = e.Question.ID
				if len(e.Question.Params) != 1 || e.Question.InFlight != (args[0] == "resume") {
					t.Errorf("it asks %s", line)
				}
			}
		}
		end, _ := ended(out)
		if got != status || end["reason"] != reason || strings.Join(calls, " ") != asked {
			t.Fatalf("obelus %v: status %d, %v, asking about %q; expected %d, %v, %q\n%s", args, got, end["reason"], calls, status, reason, asked, out)
		}
		return end
	}

	step(statusStopped, "confirmation", "refund letter", "run", "plan.yaml", "--format", "json")
	step(statusOK, nil, "", "decide", "2", "refund", "approve", "--id", ids["refund"], "--as", "ann")
	answers := `{"call": "letter", "id": "` + ids["letter"] + `", "verdict": "change", "params": {"to": "zoe"}, "by": "bob"}` + "\n"
	if err := os.WriteFile(filepath.Join(v.folder, "answers.jsonl"), []byte(answers), 0o600); err != nil {
		t.Fatal(err)
	}
	v.touch(t, "wait")
	cmd := v.command(t, 0, "resume", "2", "--decide", "answers.jsonl", "--runs", v.runs, "--format", "json")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pty.Eventually(t, "the letter is sent, and the payment at work", func() bool {
		journal, _ := os.ReadFile(v.journal(t))
		return v.there("at-work") && strings.Contains(string(journal), `"kind":"ended"`)
	})
	shown, _, _ := v.process(t, 0, "runs", "show", "2", "--format", "json", "--runs", runs)
	told, _, _ := v.process(t, 0, "runs", "show", "2", "--runs", runs)
	if now, _ := ended(shown); now["status"] != "running" || !strings.Contains(string(told), "\nrunning in ") || strings.Contains(string(told), "stopped in") {
		t.Errorf("what goes on is shown as %v and\n%s", now["status"], told)
	}
	cmd.Process.Kill()
	_ = cmd.Wait()
	v.gone(t, "wait")

	step(statusStopped, "in-flight", "refund", "resume", "2", "--format", "json")
	step(statusStopped, "in-flight", "refund", "resume", "2", "--format", "json", "--answer-within", "50ms") // no default answers it
	if n := v.effects(t)["paid"]; n != 1 {
		t.Errorf("it was paid %d times before anybody said so", n)
	}
	t.Chdir(v.folder)
	if _, stderr, status := obelus(nil, "decide", "2", "refund", "approve", "--runs", v.runs); status != statusError || !strings.Contains(stderr, "expected retry or fail") {
		t.Errorf("an approval of what was at work ends with %d: %s", status, stderr)
	}
	step(statusOK, nil, "", "decide", "2", "refund", "retry", "--as", "ann")
	why := `activity "file" failed (exit status 1) and wrote nothing to stderr`
	step(statusFound, why, "refund", "resume", "2", "--format", "json", "--in-flight", "ask", "--confirm", "never")
	v.touch(t, "cabinet")
	end := step(statusOK, nil, "", "resume", "2", "--format", "json", "--retry-failed", "--confirm", "never")
	if want := map[string]any{"receipt": 7.0, "sent": map[string]any{"to": "zoe"}, "filed": map[string]any{"what": 7.0}}; !reflect.DeepEqual(end["output"], want) {
		t.Errorf("it came to %v", end["output"])
	}
	if got := v.effects(t); got["paid"] != 2 || got["mailed"] != 1 || got["filed"] != 1 {
		t.Errorf("what happened is %v", got)
	}
	told, _, _ = v.process(t, 0, "runs", "show", "2", "--runs", runs)
	if !strings.Contains(string(told), "  refund: approve by ann\n  refund: retry by ann\n") {
		t.Errorf("what was decided about one call is told as\n%s", told)
	}
	if shown, _, _ = v.process(t, 0, "runs", "show", "2", "--format", "json", "--runs", runs); strings.Contains(string(shown)+string(told), "it waits for an answer") {
		t.Errorf("what an earlier stop left is told of a run that went on:\n%s%s", told, shown)
	}
	journal, err := os.ReadFile(v.journal(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, decision := range []string{
		`"decision":{"verdict":"approve","by":"ann"`, `"decision":{"verdict":"change","params":{"to":"zoe"},"by":"bob"`, `"decision":{"verdict":"retry","by":"ann"`,
	} {
		if strings.Count(string(journal), decision) != 1 {
			t.Errorf("%s isn't in the journal once:\n%s", decision, journal)
		}
	}

	for name, text := range map[string]string{
		"planned.yaml": plannedDay, "one.yaml": strings.Replace(oneDay, "WHOM", "ann", 1), "other.yaml": strings.Replace(oneDay, "WHOM", "zoe", 1),
	} {
		if err := os.WriteFile(filepath.Join(v.folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	runs = "planned"
	id := func(end map[string]any) string {
		return strings.TrimSuffix(filepath.Base(end["journal"].(string)), ".jsonl")
	}
	one := id(step(statusOK, nil, "", "run", "planned.yaml", "--planner", "replay:one.yaml", "--confirm", "never", "--format", "json"))
	other := id(step(statusOK, nil, "", "resume", one, "--at", "2", "--planner", "replay:other.yaml", "--confirm", "never", "--format", "json"))
	for run, whom := range map[string]string{one: "ann", other: "zoe"} {
		out, _, _ := v.process(t, 0, "runs", "show", run, "--state", "--format", "json", "--runs", runs)
		var state map[string]any
		if err := json.NewDecoder(bytes.NewReader(out)).Decode(&state); err != nil || !reflect.DeepEqual(state, map[string]any{"receipt": 7.0, "sent": map[string]any{"to": whom}}) {
			t.Errorf("%s stands at %s (%v)", run, out, err)
		}
	}
	if got := v.effects(t); got["paid"] != 3 || got["mailed"] != 3 {
		t.Errorf("with a planned run and one that continues from its tick what happened is %v", got)
	}
}
