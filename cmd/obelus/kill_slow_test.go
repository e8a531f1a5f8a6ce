//go:build linux

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/testdata/amount"
	"github.com/obelus-dev/obelus/testdata/pty"
)

// slowPlan has programs that take a while. Each leaves its process in a file, says there
// if it has nothing to read, or if another one of its name is at work, and leaves its
// effect at the end. One of them works in a child, which a kill doesn't reach, and one is a
// worker.
const slowPlan = `
activities:
  slow: {exec: {argv: [sh, slow.sh]}}
  helped: {exec: {argv: [sh, -c, 'sh slow.sh; exit $?']}}
  worker: {exec: {argv: [sh, worker.sh], worker: true}}
tools:
  act: {properties: {name: {type: string}, x: {}}, required: [name], _activity: slow}
  again: {properties: {name: {type: string}, x: {}}, required: [name], _activity: slow, annotations: {idempotentHint: true}}
  helped: {properties: {name: {type: string}, x: {}}, required: [name]}
  worker: {properties: {name: {type: string}, x: {}}, required: [name]}
calls:
- {_tool: act, name: a, _outputPath: a || a_}
- {_tool: again, name: B, _timeout: 20s, _outputPath: b || b_}
- {_tool: helped, name: c, x: "†state.a || †state.a_", _outputPath: c || c_}
- {_tool: worker, name: d, _outputPath: d || d_}
- {_tool: again, name: E, x: †state.b, _outputPath: e || e_}
- {_tool: worker, name: f, x: "†state.d || †state.d_", _outputPath: f || f_}
- {_tool: act, name: g, x: "†state.c || †state.c_", _outputPath: g || g_}
`

const slowProgram = `read -r p || { echo EMPTY >> faults; exit 1; }
case $p in *\}) ;; *) echo "CUT $p" >> faults;; esac
n=${p#*\"name\":\"}; n=${n%%\"*}
test -s "at-$n" && read -r _ _ state _ 2>/dev/null < "/proc/$(cat "at-$n")/stat" && test "$state" != Z && echo "TWICE $n" >> faults
echo $$ > "at-$n"; echo $$ >> processes
sleep PAUSE
echo "$n" >> effects
echo "{\"by\": \"$n\"}"
`

const slowWorker = `echo $$ >> processes
while read -r p; do
  n=${p#*\"name\":\"}; n=${n%%\"*}; i=${p#*\"id\":}; i=${i%%,*}
  test -s "at-$n" && read -r _ _ state _ 2>/dev/null < "/proc/$(cat "at-$n")/stat" && test "$state" != Z && echo "TWICE $n" >> faults
  echo $$ > "at-$n"
  sleep PAUSE
  echo "$n" >> effects
  echo "{\"id\": $i, \"result\": {\"by\": \"$n\"}}"
  : > "at-$n"
done
`

// EXECUTION.md#resuming: a run whose programs take a while is killed at any time, again and again
// while it is resumed. No effect comes twice, but of what may be run again; no program of a
// call works beside another of the same; none reads nothing, or a part; and in the end no
// process is left.
func TestKilledWhileProgramsWork(t *testing.T) {
	t.Parallel()
	rounds, pause := amount.Of(1, 3, 330), 0.1
	if amount.Long() {
		pause = 1
	}
	var kills, doubts atomic.Int32
	t.Run("rounds", func(t *testing.T) {
		for round := range rounds {
			t.Run(fmt.Sprint(round), func(t *testing.T) {
				t.Parallel()
				chance := rand.New(rand.NewPCG(4, uint64(round)))
				v := newVictim(t, killedPlan{})
				for name, text := range map[string]string{"slow.sh": slowProgram, "worker.sh": slowWorker} {
					text = strings.ReplaceAll(text, "PAUSE", fmt.Sprintf("%.2f", pause*(0.5+chance.Float64())))
					if err := os.WriteFile(filepath.Join(v.folder, name), []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				v.plan(t, slowPlan)
				v.sufferSlowly(t, chance, pause, &kills, &doubts)
			})
		}
	})
	t.Logf("%d kills, %d runs had something in doubt", kills.Load(), doubts.Load())
	if int(kills.Load()) < rounds {
		t.Error("too few kills: this shows too little")
	}
}

// sufferSlowly is begun, killed, resumed, killed again, and at last let be.
func (v *victim) sufferSlowly(t *testing.T, chance *rand.Rand, pause float64, kills, doubts *atomic.Int32) {
	t.Helper()
	args := []string{"run", "plan.yaml", "--confirm", "never", "--runs", v.runs, "--format", "json"}
	for range 2 + chance.IntN(3) {
		cmd := v.command(t, 0, args...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration((0.03 + 1.5*pause*chance.Float64()) * float64(time.Second)))
		if chance.IntN(3) == 0 { // as soon as one more program has been started
			before := len(v.lines(t, "processes"))
			for range 2000 {
				if len(v.lines(t, "processes")) > before {
					break
				}
				time.Sleep(100 * time.Microsecond)
			}
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if state, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !state.Signaled() {
			break // it had ended
		}
		kills.Add(1)
		if !v.hasBegun(t) {
			continue
		}
		how := []string{"ask", "fail"}[chance.IntN(2)]
		args = []string{"resume", "2", "--confirm", "never", "--runs", v.runs, "--format", "json", "--in-flight", how}
	}
	if v.hasBegun(t) {
		cmd := v.command(t, 0, "resume", "2", "--confirm", "never", "--runs", v.runs, "--format", "json", "--in-flight", "fail")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, _ := cmd.Output()
		end, _ := ended(out)
		if end == nil || end["status"] == "stopped" {
			t.Errorf("it didn't come to its end: %s%s", out, stderr.String())
		}
		if bytes.Contains(out, []byte(`"interrupted"`)) {
			doubts.Add(1)
		}
	}
	for name, n := range v.effects(t) {
		if n > 1 && !harmless(name) {
			t.Errorf("%q had its effect %d times", name, n)
		}
	}
	for _, fault := range v.lines(t, "faults") {
		t.Errorf("a program says: %s", fault)
	}
	pty.Eventually(t, "no process is left", func() bool {
		return !slices.ContainsFunc(v.lines(t, "processes"), func(id string) bool {
			n := 0
			_, _ = fmt.Sscan(id, &n)
			return n > 1 && at(v.folder, n)
		})
	})
}

// hasBegun reports whether there is a journal with its header; one that was killed before is removed, as its
// reader says that it should be.
func (v *victim) hasBegun(t *testing.T) bool {
	t.Helper()
	name := v.journal(t)
	if name == "" {
		return false
	}
	text, err := os.ReadFile(name)
	if err == nil && !bytes.Contains(text, []byte("\n")) {
		return os.Remove(name) != nil
	}
	return err == nil
}

// at reports whether a process works in a folder: its number may be another's by now.
func at(folder string, process int) bool {
	cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", process))
	return err == nil && cwd == folder
}

// lines are those of a file that the programs leave.
func (v *victim) lines(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(v.folder, name))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Fields(strings.ReplaceAll(string(text), " ", "_"))
}

// EXECUTION.md#resuming: a program dies with an obelus that is killed, and the run can be resumed, whatever
// that program has started.
func TestProgramsDieWithUs(t *testing.T) {
	v := newVictim(t, killedPlan{})
	v.plan(t, `
activities: {act: {exec: {argv: [sh, -c, "test -e again && echo 1 && exit; sleep 600 & echo $! > child; echo $$ > parent; wait"]}}}
tools: {act: {annotations: {idempotentHint: true}, properties: {}}}
calls: [{_tool: act, _outputPath: a}]
`)
	cmd := v.command(t, 0, "run", "plan.yaml", "--confirm", "never", "--runs", v.runs)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pty.Eventually(t, "the program works", func() bool { return len(v.lines(t, "parent")) == 1 })
	parent, child := 0, 0
	_, _ = fmt.Sscan(v.lines(t, "parent")[0], &parent)
	_, _ = fmt.Sscan(v.lines(t, "child")[0], &child)
	defer syscall.Kill(child, syscall.SIGKILL)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	pty.Eventually(t, "the program is gone", func() bool { return !at(v.folder, parent) })
	v.touch(t, "again")
	out, err := v.command(t, 0, "resume", "2", "--confirm", "never", "--runs", v.runs).CombinedOutput()
	if err != nil {
		t.Errorf("the run couldn't be resumed: %v\n%s", err, out)
	}
}

// plan writes a plan, and what it says of tools and activities, before its calls, into
// the catalogue of its workspace: there it counts.
func (v *victim) plan(t *testing.T, text string) {
	t.Helper()
	tools, calls, _ := strings.Cut(text, "\ncalls:")
	for name, text := range map[string]string{"plan.yaml": "calls:" + calls, "tools.yaml": tools} {
		if err := os.WriteFile(filepath.Join(v.folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// EXECUTION.md#stopping: a request to terminate, a terminal that is closed and a standard output that
// nobody reads stop a run as Ctrl-C does: what runs is ended, the journal closed, and the
// run can be resumed.
func TestStoppedByTheSystem(t *testing.T) {
	for name, stop := range map[string]func(*exec.Cmd, *os.File){
		"SIGTERM":       func(cmd *exec.Cmd, _ *os.File) { _ = cmd.Process.Signal(syscall.SIGTERM) },
		"SIGHUP":        func(cmd *exec.Cmd, _ *os.File) { _ = cmd.Process.Signal(syscall.SIGHUP) },
		"closed output": func(_ *exec.Cmd, out *os.File) { out.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			v := newVictim(t, killedPlan{})
			v.plan(t, `
activities:
  stay: {exec: {argv: [sh, -c, "echo $$ > at; sleep 600"]}}
  tick: {exec: {argv: [sh, -c, "until test -e go; do sleep 0.05; done; echo 1"]}}
tools: {stay: {annotations: {idempotentHint: true}, properties: {}}, tick: {properties: {}}}
calls: [{_tool: stay, _outputPath: a}, {_tool: tick, _outputPath: b}]
`)
			out, theirs, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer out.Close()
			cmd := v.command(t, 0, "run", "plan.yaml", "--confirm", "never", "--runs", v.runs, "--format", "json")
			var stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = theirs, &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer cmd.Process.Kill()
			theirs.Close()
			pty.Eventually(t, "the program works", func() bool { return len(v.lines(t, "at")) == 1 })
			stop(cmd, out)
			v.touch(t, "go") // only now there is more to be said, to whom nobody reads
			_ = cmd.Wait()
			if cmd.ProcessState.ExitCode() != statusStopped || !strings.Contains(stderr.String(), "obelus resume ") {
				t.Errorf("it ended with %v: %s", cmd.ProcessState, stderr.String())
			}
			text, err := os.ReadFile(v.journal(t))
			if err != nil || !bytes.Contains(text, []byte(`{"end":{"status":"stopped","reason":"interrupted"`)) {
				t.Errorf("its journal doesn't say how it ended: %v", err)
			}
			process := 0
			_, _ = fmt.Sscan(v.lines(t, "at")[0], &process)
			if at(v.folder, process) {
				t.Error("its program goes on")
			}
		})
	}
}

// EXECUTION.md#resuming: a run that can't go on because a folder or a program of its workspace isn't
// there stops, and goes on when it is back.
func TestWorkspaceIsGone(t *testing.T) {
	v := newVictim(t, killedPlan{})
	workspace := filepath.Join(v.folder, "workspace")
	if err := os.Mkdir(workspace, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"tool":      "#!/bin/sh\n: > ../started; test -e ../go && echo 1 || sleep 600\n",
		"plan.yaml": "activities: {act: {exec: {argv: [./tool]}}}\ntools: {act: {annotations: {idempotentHint: true}, properties: {}}}\ncalls: [{_tool: act, _outputPath: a}]\n",
	} {
		if err := os.WriteFile(filepath.Join(workspace, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	cmd := v.command(t, 0, "run", "workspace/plan.yaml", "--confirm", "never", "--runs", v.runs)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pty.Eventually(t, "the program works", func() bool { return v.there("started") })
	_ = cmd.Process.Signal(os.Interrupt)
	_ = cmd.Wait()
	for _, away := range []string{"workspace", "workspace/tool"} {
		name := filepath.Join(v.folder, away)
		if err := os.Rename(name, name+".away"); err != nil {
			t.Fatal(err)
		}
		out, err := v.command(t, 0, "resume", "2", "--confirm", "never", "--in-flight", "retry", "--runs", v.runs).CombinedOutput()
		if code := exitCode(err); code != statusError || !bytes.Contains(out, []byte("the activity \"act\" can't be run")) {
			t.Errorf("without %s: status %d\n%s", away, code, out)
		}
		if err := os.Rename(name+".away", name); err != nil {
			t.Fatal(err)
		}
	}
	v.touch(t, "go")
	if out, err := v.command(t, 0, "resume", "2", "--confirm", "never", "--in-flight", "retry", "--runs", v.runs).CombinedOutput(); err != nil {
		t.Errorf("with all of it back: %v\n%s", err, out)
	}
}

func exitCode(err error) int {
	if ended, ok := err.(*exec.ExitError); ok {
		return ended.ExitCode()
	}
	return 0
}
