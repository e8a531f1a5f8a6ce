//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/obelus-dev/obelus/testdata/pty"
)

// paidPlan asks about a call whose parameters come from another, while a third
// is at work. The payment leaves a line in the file of effects, and takes as long as
// there is a file "wait".
const paidPlan = `
plan: refund
tools:
  pay: {properties: {amount: {type: number, maximum: 1000}}, required: [amount]}
calls:
- {_id: order, _tool: load, _outputPath: order}
- {_id: write, _tool: letter, _outputPath: letter}
- {_id: refund, _tool: pay, amount: †state.order.total, _outputPath: receipt}
output: †state.receipt.receipt
`

// paidTools is the catalogue of its workspace, which says what only reads.
const paidTools = `
activities:
  load: {exec: {argv: [sh, -c, 'echo "{\"total\": 120.5}"']}}
  letter: {exec: {argv: [sh, -c, 'while ! test -e paid; do sleep 0.05; done; echo "{\"text\": \"sorry\"}"']}}
  pay: {exec: {argv: [sh, -c, 'echo paid >> effects; : > at-work; while test -e wait; do sleep 0.05; done; : > paid; echo "{\"receipt\": 7}"']}}
tools:
  load: {type: object, annotations: {readOnlyHint: true}}
  letter: {type: object, annotations: {readOnlyHint: true}}
`

// EXECUTION.md#reviewers: a whole run at a real terminal asks about a call that is ready, with its
// resolved parameters; the answer decides; and the lines of progress and the
// question leave each other alone.
func TestRunAsksOnATerminal(t *testing.T) {
	for _, test := range []struct {
		name   string
		flags  []string
		answer func(v *victim, p *pty.Terminal)
		status int
		paid   int
		shows  []string // in this order
	}{
		{"approved", nil, func(v *victim, p *pty.Terminal) {
			v.touch(t, "wait")
			p.Asked()
			p.Press("y\r")
			p.Sees("running") // what comes and goes is drawn below the question
			v.gone(t, "wait")
		}, statusOK, 1,
			[]string{"✓ order", `? may "refund" run?`, `"amount": 120.5`, `← †state.order.total, from ["order"]`, "✓ approve", "✓ refund", "done in", "3 done"}},
		{"rejected", nil, func(v *victim, p *pty.Terminal) {
			p.Asked()
			p.Press("n too much\r")
			p.Sees("✗ refund")
		}, statusFound, 0,
			[]string{"✓ order", `? may "refund" run?`, "n too much", "✓ reject", "✗ refund", "too much", "✓ write", "failed in", "1 rejected"}},
		{"changed to what doesn't fit", nil, func(v *victim, p *pty.Terminal) {
			p.Asked()
			p.Press("e amount=5000\r")
			p.Asked()
			p.Press("e @none.json\r")
			p.Asked()
			p.Press("y\r")
		}, statusOK, 1,
			[]string{"? may \"refund\" run?", "the parameters don't fit the tool's schema at amount", `can't read "none.json"`, "✓ approve", "✓ refund"}},
		{"unanswered", []string{"--answer-within", "300ms", "--unanswered", "reject"}, func(v *victim, p *pty.Terminal) { p.Sees("✗ refund") }, statusFound, 0,
			[]string{"✓ order", `? may "refund" run?`, "– no longer asked", "✗ refund", "nobody answered within 300ms", "✓ write", "1 rejected"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := newPaid(t)
			p := pty.Open(t, 100)
			before := p.Modes()
			cmd := v.atTerminal(t, p, append([]string{"run", "plan.yaml", "--runs", v.runs}, test.flags...)...)
			test.answer(v, p)
			if test.paid == 0 {
				v.touch(t, "paid") // the letter needn't wait for it
			}
			v.concludes(t, p, cmd, test.status, test.shows)
			p.Restored(before)
			if n := v.effects(t)["paid"]; n != test.paid {
				t.Errorf("it was paid %d times", n)
			}
		})
	}
}

// EXECUTION.md#resuming: who resumes a run at a terminal is asked about a call that was in flight
// when it was killed, and about nothing that was decided before.
func TestResumeAsksOnATerminal(t *testing.T) {
	for _, test := range []struct {
		key    string
		status int
		paid   int
		shows  []string
	}{
		{"r", statusOK, 2, []string{`"refund"`, "✓ retry", "✓ refund", "done in"}},
		{"f", statusFound, 1, []string{`"refund"`, "✓ fail", "✗ refund", "failed (interrupted)"}},
	} {
		t.Run(test.key, func(t *testing.T) {
			v := newPaid(t)
			v.touch(t, "wait")
			p := pty.Open(t, 100)
			cmd := v.atTerminal(t, p, "run", "plan.yaml", "--runs", v.runs)
			p.Asked()
			p.Press("y\r")
			pty.Eventually(t, "the payment is at work", func() bool { return v.there("at-work") })
			cmd.Process.Kill()
			_ = cmd.Wait()
			v.gone(t, "wait")
			v.touch(t, "paid") // the payment has died with the run, and the letter needn't wait for it

			p = pty.Open(t, 100)
			before := p.Modes()
			cmd = v.atTerminal(t, p, "resume", "2", "--runs", v.runs)
			p.Asked()
			if screen := p.Text(); strings.Contains(screen, "may \"refund\" run?") || !strings.Contains(screen, "r retry") || !strings.Contains(screen, "f fail") {
				t.Errorf("the question isn't about a call in flight:\n%s", screen)
			}
			p.Press(test.key + "\r")
			v.concludes(t, p, cmd, test.status, test.shows)
			p.Restored(before)
			if n := v.effects(t)["paid"]; n != test.paid {
				t.Errorf("it was paid %d times", n)
			}
		})
	}
}

func newPaid(t *testing.T) *victim {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no shell to pay")
	}
	v := newVictim(t, killedPlan{})
	for file, text := range map[string]string{"plan.yaml": paidPlan, "obelus.yaml": "tools: [tools.yaml]", "tools.yaml": paidTools} {
		if err := os.WriteFile(filepath.Join(v.folder, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return v
}

func (v *victim) gone(t *testing.T, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(v.folder, name)); err != nil {
		t.Fatal(err)
	}
}

// atTerminal starts obelus as the foreground of a terminal.
func (v *victim) atTerminal(t *testing.T, p *pty.Terminal, args ...string) *exec.Cmd {
	t.Helper()
	cmd := v.command(t, 0, args...)
	cmd.Env = append(cmd.Env, "CI=", "TERM=xterm", "NO_COLOR=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.Slave, p.Slave, p.Slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	return cmd
}

// concludes waits for the end, and looks at what is left on the screen: these
// texts in this order, each call's end in a line of its own, and nothing of what
// comes and goes.
func (v *victim) concludes(t *testing.T, p *pty.Terminal, cmd *exec.Cmd, status int, shows []string) {
	t.Helper()
	p.Sees("moments")
	_ = cmd.Wait() // its status says how it ended
	screen := p.Settled()
	if got := cmd.ProcessState.ExitCode(); got != status {
		t.Errorf("it ended with status %d, not %d", got, status)
	}
	rest := screen
	for _, text := range shows {
		at := strings.Index(rest, text)
		if at < 0 {
			t.Errorf("%q isn't where it should be; the screen:\n%s", text, screen)
			return
		}
		rest = rest[at+len(text):]
	}
	for line := range strings.Lines(screen) {
		if strings.Contains(line, "running") || strings.Contains(line, "waiting") || strings.Contains(line, "☠") {
			t.Errorf("this is left of what comes and goes: %q; the screen:\n%s", line, screen)
		}
	}
	for _, call := range []string{"order", "write", "refund"} {
		if n := strings.Count(screen, " "+call+" "); n > 2 {
			t.Errorf("%q stands in %d lines; the screen:\n%s", call, n, screen)
		}
	}
}
