//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/obelus-dev/obelus/testdata/pty"
)

// interruptedPlan has a call that doesn't end before there is a file "go", and
// that says when it is asked to end, unless it is stubborn.
const interruptedPlan = `
calls:
- {_tool: act, name: a, _outputPath: a}
- {_tool: wait, x: †state.a, _outputPath: w}
- {_tool: act, name: b, x: †state.w, _outputPath: b}
output: †state
`

// interruptedTools is the catalogue of its workspace.
const interruptedTools = `
activities:
  act: {exec: {argv: [sh, -c, 'read -r p; n=${p#*\"name\":\"}; n=${n%%%%\"*}; echo "$n" >> effects; echo "{\"by\": \"$n\"}"']}}
  wait: {exec: {argv: [sh, -c, '
    trap "echo asked >> effects; test -e stubborn || exit 1" INT TERM;
    echo wait >> effects; : > started;
    while ! test -e go; do sleep 0.02; done; echo "{\"by\": \"wait\"}"']}}
tools:
  act: {properties: {name: {type: string}, x: {}}}
  wait: {properties: {x: {}}, annotations: {idempotentHint: %v}}
`

// EXECUTION.md#stopping: after Ctrl-C nothing new starts, what runs is asked to end, and the
// journal is closed; the run is stopped, and resumed it ends as an
// undisturbed one does. So it does after a second Ctrl-C, which kills.
func TestInterruptedRunIsResumed(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no shell to be interrupted")
	}
	undisturbed := newInterrupted(t, true)
	undisturbed.touch(t, "go")
	out, _, _ := undisturbed.begin(t, 0)
	want, _ := ended(out)
	if want["status"] != "done" {
		t.Fatalf("undisturbed: %s", out)
	}
	for _, test := range []struct {
		name             string
		harmless, killed bool
	}{
		{"once", true, false},
		{"once, in doubt", false, false},
		{"twice", true, true},
		{"twice, in doubt", false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := newInterrupted(t, test.harmless)
			if test.killed {
				v.touch(t, "stubborn")
			}
			v.interrupt(t, test.killed)
			if n := v.effects(t); n["asked"] == 0 || n["b"] != 0 || n["a"] != 1 || n["wait"] != 1 {
				t.Errorf("the effects are %v", n)
			}
			v.touch(t, "go")
			out, _, status := v.goOn(t, 0)
			if !test.harmless {
				if end, _ := ended(out); status != statusStopped || end["reason"] != "in-flight" || v.effects(t)["wait"] != 1 {
					t.Fatalf("nobody was asked about what was in doubt: status %d, %s", status, out)
				}
				out, _, status = v.goOn(t, 0, "--in-flight", "retry")
			}
			end, _ := ended(out)
			if status != statusOK || !reflect.DeepEqual(end["state"], want["state"]) || !reflect.DeepEqual(end["output"], want["output"]) {
				t.Errorf("resumed, it ended with %d and %v; undisturbed with %v", status, end, want)
			}
			if n := v.effects(t); n["a"] != 1 || n["wait"] != 2 || n["b"] != 1 {
				t.Errorf("in the end the effects are %v", n)
			}
		})
	}
}

func newInterrupted(t *testing.T, harmless bool) *victim {
	v := newVictim(t, killedPlan{})
	for file, text := range map[string]string{"plan.yaml": interruptedPlan, "obelus.yaml": "tools: [tools.yaml]", "tools.yaml": fmt.Sprintf(interruptedTools, harmless)} {
		if err := os.WriteFile(filepath.Join(v.folder, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return v
}

func (v *victim) touch(t *testing.T, name string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(v.folder, name), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// there tells whether the run has left a file.
func (v *victim) there(name string) bool {
	_, err := os.Stat(filepath.Join(v.folder, name))
	return err == nil
}

// interrupt begins the run, and presses Ctrl-C once the call that waits is at work; and
// then again, if that is to kill.
func (v *victim) interrupt(t *testing.T, kill bool) {
	t.Helper()
	cmd := v.command(t, 0, "run", "plan.yaml", "--confirm", "never", "--runs", v.runs, "--format", "json")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	pty.Eventually(t, "the call is at work", func() bool { return v.there("started") })
	cmd.Process.Signal(os.Interrupt)
	if kill {
		pty.Eventually(t, "the call is asked to end", func() bool { return v.effects(t)["asked"] > 0 })
		cmd.Process.Signal(os.Interrupt)
	}
	_ = cmd.Wait() // its status says how it ended
	state, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if kill {
		if !state.Signaled() || state.Signal() != syscall.SIGINT {
			t.Errorf("it ended with %v, not of the second interrupt", cmd.ProcessState)
		}
		return
	}
	end, _ := ended(stdout.Bytes())
	if state.ExitStatus() != statusStopped || end["status"] != "stopped" || end["reason"] != "interrupted" {
		t.Errorf("it ended with %v and %v", cmd.ProcessState, end)
	}
	if !strings.Contains(stderr.String(), "obelus resume ") {
		t.Errorf("nothing says how it goes on: %q", stderr.String())
	}
	text, err := os.ReadFile(v.journal(t))
	if err != nil || !bytes.Contains(text, []byte(`{"end":{"status":"stopped","reason":"interrupted"`)) {
		t.Errorf("its journal doesn't say how it ended: %v\n%s", err, text)
	}
}
