//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/journal"
	"github.com/obelus-dev/obelus/runtime/session"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// EXECUTION.md#resuming: a run that is killed anywhere (before and after every append and every
// sync of its journal, again and again while it is resumed, and at times with
// the end of the journal lost or torn as a power cut leaves it) goes on to the
// state of the undisturbed run. What had completed isn't run again, no result is
// lost, and what was in flight is run again only if it is idempotent, or if
// somebody says so. So it is with a person at a terminal, who is asked.
func TestKilledAnywhere(t *testing.T) {
	t.Parallel()
	if args := os.Getenv("OBELUS_KILLED"); args != "" {
		beKilled(args)
	}
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no shell to leave effects")
	}
	var kills, asked, failed atomic.Int64
	t.Cleanup(func() {
		t.Logf("%d kills; of %d runs something was in doubt, and given up in %d", kills.Load(), asked.Load(), failed.Load())
		if asked.Load() == 0 || failed.Load() == 0 {
			t.Error("no call was in doubt, or none given up: this shows too little")
		}
	})
	for _, p := range killedPlans {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			if p.asks && atHand == nil {
				t.Skip("there is no terminal to sit at")
			}
			undisturbed := newVictim(t, p)
			out, _, _ := undisturbed.begin(t, 0)
			want, moments := ended(out)
			if want["status"] != "done" || moments < 10 {
				t.Fatalf("undisturbed: %v after %d moments", want, moments)
			}
			chance := rand.New(rand.NewPCG(1, uint64(len(p.name))))
			step, rounds, cuts := amount.Of(24, 18, 1), amount.Of(1, 1, 2), amount.Of(1, 3, 3)
			for range rounds {
				for at := 1 + chance.IntN(step); at <= moments; at += step {
					for i, cut := range []string{"", "lost", "torn"} {
						if cuts == 1 && i != at%3 {
							continue
						}
						v := newVictim(t, p)
						kills.Add(int64(v.suffer(t, at, cut, chance)))
						if v.journal(t) == "" {
							continue // it never began
						}
						before := v.effects(t)
						out, inDoubt := v.unasked(t, before)
						switch {
						case !inDoubt:
							v.judge(t, out, want, before, undisturbed.effects(t))
						case (at/3+i)%3 == 0:
							asked.Add(1)
							failed.Add(1)
							v.giveUp(t, before)
						default:
							asked.Add(1)
							out, _, _ = v.goOn(t, 0, "--in-flight", "retry")
							v.judge(t, out, want, before, undisturbed.effects(t))
						}
					}
				}
			}
		})
	}
}

// atHand puts a person who approves every call at a terminal of a command, until
// they leave; nil where there are no terminals.
var atHand func(t *testing.T, cmd *exec.Cmd) (leave func())

// beKilled is the process that runs or resumes, and kills itself at a moment.
// If that is just after the disk was waited for, nothing has followed from the
// last write yet: it stands for a moment within the wait, and so the process leaves
// word that the write may be lost.
func beKilled(args string) {
	at, _ := strconv.Atoi(os.Getenv("OBELUS_KILL_AT"))
	n := 0
	var mu sync.Mutex
	moment = func(what string) {
		mu.Lock()
		defer mu.Unlock()
		if n++; n == at {
			if what == "synced" {
				_ = os.WriteFile("unsafe", nil, 0o600)
			}
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	var list []string
	if err := json.Unmarshal([]byte(args), &list); err != nil {
		panic(err)
	}
	status := run(context.Background(), list, os.Stdin, os.Stdout, os.Stderr)
	signal.Ignore(syscall.SIGPIPE) // nobody may be there any more
	fmt.Printf("moments %d\n", n)
	os.Exit(status)
}

// A victim is one run with its folder.
type victim struct {
	folder, runs string
	planned      bool
	asks         bool
	instances    int             // how many there are
	stride       int             // calls of the first frame
	names        []string        // of its calls
	repeated     map[string]bool // calls that a later solution asks for again
	safe         int             // bytes of the journal that no power cut can take any more
	completed    map[string]bool // calls whose end was on disk after some kill
}

// hauntedFolder is a folder that goes with the test, even while the programs of a
// run that was killed still write to it.
func hauntedFolder(t *testing.T) string {
	folder, err := os.MkdirTemp("", "obelus-killed-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for range 50 {
			if os.RemoveAll(folder) == nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
	return folder
}

func newVictim(t *testing.T, p killedPlan) *victim {
	v := &victim{folder: hauntedFolder(t), planned: p.solutions != "", asks: p.asks, instances: strings.Count(p.instances, `"id"`), stride: strings.Count(p.calls, "_tool:"), names: p.names(), repeated: map[string]bool{}, completed: map[string]bool{}}
	v.runs = filepath.Join(v.folder, "runs")
	for _, name := range v.names {
		v.repeated[name] = strings.Count(p.solutions, "name: "+name+",") > 1
	}
	for file, text := range map[string]string{"obelus.yaml": "tools: [tools.yaml]", "tools.yaml": killedTools, "plan.yaml": "plan: " + p.name + "\ncalls: " + p.calls, "solutions.yaml": p.solutions, "people.jsonl": p.instances, "chapter.yaml": p.chapter, "page.yaml": killedPage} {
		if err := os.WriteFile(filepath.Join(v.folder, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return v
}

// command is obelus with arguments, to be killed at a moment; 0 is never.
func (v *victim) command(t *testing.T, at int, args ...string) *exec.Cmd {
	t.Helper()
	encoded, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilledAnywhere$")
	cmd.Dir = v.folder
	cmd.Env = append(os.Environ(), "TMPDIR="+v.folder, "OBELUS_TRUST="+v.folder, "OBELUS_KILLED="+string(encoded), fmt.Sprint("OBELUS_KILL_AT=", at))
	return cmd
}

// process runs obelus with arguments, to be killed at a moment; 0 is never. When it
// returns, all that was started by it has ended: each of these processes holds a pipe.
func (v *victim) process(t *testing.T, at int, args ...string) (out []byte, killed bool, status int) {
	t.Helper()
	cmd := v.command(t, at, args...)
	held, holds, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	defer holds.Close()
	cmd.ExtraFiles = []*os.File{holds}
	var stderr bytes.Buffer
	if cmd.Stderr = &stderr; v.asks {
		defer atHand(t, cmd)()
	}
	out, _ = cmd.Output()
	holds.Close()
	_, _ = io.Copy(io.Discard, held)
	state, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
	killed = state.Signaled() && state.Signal() == syscall.SIGKILL
	if !killed && state.ExitStatus() == statusError {
		t.Fatalf("obelus %v\n%s%s", args, out, stderr.Bytes())
	}
	return out, killed, state.ExitStatus()
}

func (v *victim) begin(t *testing.T, at int) (out []byte, killed bool, status int) {
	t.Helper()
	planner, confirm := "none", "never"
	if v.planned {
		planner = "replay:solutions.yaml"
	}
	if v.asks {
		confirm = "always"
	}
	args := []string{"run", "plan.yaml", "--planner", planner, "--confirm", confirm, "--runs", v.runs, "--format", "json"}
	if v.instances > 0 {
		args = append(args, "--instances", "people.jsonl", "--out", "results.jsonl", "--parallel", "3")
	}
	return v.process(t, at, args...)
}

func (v *victim) goOn(t *testing.T, at int, more ...string) (out []byte, killed bool, status int) {
	t.Helper()
	if !v.asks {
		more = append(more, "--confirm", "never")
	}
	return v.process(t, at, append([]string{"resume", "2", "--runs", v.runs, "--format", "json"}, more...)...)
}

// ended is how a run says that it ended, and how many moments it had.
func ended(out []byte) (end map[string]any, moments int) {
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, `{"event":"end"`) {
			_ = json.Unmarshal([]byte(line), &end)
		}
		_, _ = fmt.Sscanf(line, "moments %d", &moments)
	}
	return end, moments
}

// suffer is killed at a moment, and at times again while it is resumed. It gives
// the number of kills.
func (v *victim) suffer(t *testing.T, at int, cut string, chance *rand.Rand) int {
	t.Helper()
	if _, killed, _ := v.begin(t, at); !killed {
		return 0 // more happened at once this time, in fewer moments
	}
	kills := 1
	v.damage(t, cut, chance)
	for range chance.IntN(3) {
		if v.journal(t) == "" {
			break
		}
		if _, killed, _ := v.goOn(t, 1+chance.IntN(8), "--in-flight", "retry"); killed {
			kills++
			v.damage(t, cut, chance)
		}
	}
	return kills
}

// journal is the file of the run; "" if it was killed before there was one.
func (v *victim) journal(t *testing.T) string {
	files, err := filepath.Glob(filepath.Join(v.runs, "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		return ""
	}
	return files[0]
}

// damage does to the journal what a power cut may: of what was written last, and
// never waited for, all is lost, or a part.
func (v *victim) damage(t *testing.T, cut string, chance *rand.Rand) {
	t.Helper()
	name := v.journal(t)
	if name == "" {
		return
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := slices.Collect(bytes.Lines(text))
	if os.Remove(filepath.Join(v.folder, "unsafe")) != nil {
		cut = ""
	}
	var last struct{ Synced int } // the records that were on disk before the last write
	var before struct{ Hash string }
	if err := json.Unmarshal(lines[len(lines)-1], &last); err == nil && cut != "" && last.Synced > 0 && json.Unmarshal(lines[last.Synced-1], &before) == nil {
		keep := max(v.safe, len(bytes.Join(lines[:last.Synced], nil)))
		if cut == "torn" {
			keep += chance.IntN(len(text) - keep + 1)
		}
		text = text[:keep]
		claim := fmt.Sprintf("{\"records\":%d,\"hash\":%q}\n", last.Synced, before.Hash) // within the wait the anchor is the one before
		err := errors.Join(os.Truncate(name, int64(keep)), os.WriteFile(journal.AnchorOf(name), []byte(claim), 0o600))
		if err != nil {
			t.Fatal(err)
		}
	}
	v.safe = bytes.LastIndexByte(text, '\n') + 1   // who takes the journal up brings all of it to disk
	for line := range bytes.Lines(text[:v.safe]) { // a line without its end is none
		var kept struct{ Body session.Record }
		if json.Unmarshal(line, &kept) != nil || kept.Body.Event == nil || kept.Body.Event.Kind != runtime.Ended {
			continue
		}
		e, name := kept.Body.Event, ""
		if left, named := e.Value.(map[string]any); named {
			name, _ = left["by"].(string)
		}
		if at := e.Frame*v.stride + e.Call; name == "" && at < len(v.names) {
			name = v.names[at]
		}
		if e.Failure == nil || !harmless(name) { // what may be run again may also be tried again
			v.completed[name] = true
		}
	}
}

// effects counts what the tools did, by name.
func (v *victim) effects(t *testing.T) map[string]int {
	text, err := os.ReadFile(filepath.Join(v.folder, "effects"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, name := range strings.Fields(string(text)) {
		count[name]++
	}
	return count
}

// unasked resumes the run while nobody says what is to become of calls that were
// in flight. Whatever may have had an effect, and may not simply be run
// again, isn't; inDoubt says that the run stopped because of such a call.
func (v *victim) unasked(t *testing.T, before map[string]int) (out []byte, inDoubt bool) {
	t.Helper()
	out, _, status := v.goOn(t, 0)
	for name, n := range v.effects(t) {
		if before[name] > 0 && !harmless(name) && n > before[name] {
			t.Errorf("%q was run again, and nobody was asked", name)
		}
	}
	if status != statusStopped {
		return out, false
	}
	if end, _ := ended(out); end["reason"] != "in-flight" {
		t.Fatalf("it stopped: %s", out)
	}
	return out, true
}

// giveUp resumes a run with calls in doubt, and counts these as failed: they
// aren't run again unless the planner, who was told, asks for them anew; and the
// run comes to its end, and says so.
func (v *victim) giveUp(t *testing.T, before map[string]int) {
	t.Helper()
	out, _, status := v.goOn(t, 0, "--in-flight", "fail")
	end, _ := ended(out)
	if status == statusStopped || end == nil {
		t.Errorf("it didn't come to its end: %s", out)
	}
	if !bytes.Contains(out, []byte(`"interrupted"`)) {
		t.Errorf("nothing says that a call was interrupted: %s", out)
	}
	for name, n := range v.effects(t) {
		if before[name] > 0 && !harmless(name) && !v.repeated[name] && n > before[name] {
			t.Errorf("%q was given up, and run again", name)
		}
	}
}

// resultsAreWhole looks for one line of every instance in the file of results.
func (v *victim) resultsAreWhole(t *testing.T) {
	t.Helper()
	if v.instances == 0 {
		return
	}
	text, err := os.ReadFile(filepath.Join(v.folder, "results.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for line := range bytes.Lines(text) {
		var one struct{ ID string }
		if err := json.Unmarshal(line, &one); err != nil || seen[one.ID] {
			t.Errorf("the results have the line %s: %v", line, err)
		}
		seen[one.ID] = true
	}
	if len(seen) != v.instances {
		t.Errorf("the results are of %d instances, want %d\n%s", len(seen), v.instances, text)
	}
}

// judge holds a run that was resumed to its end against the undisturbed one.
func (v *victim) judge(t *testing.T, out []byte, want map[string]any, before, effects map[string]int) {
	t.Helper()
	end, _ := ended(out)
	for _, key := range []string{"status", "state", "output", "instances"} {
		if !reflect.DeepEqual(end[key], want[key]) {
			t.Errorf("its %s is %v, and undisturbed %v\n%s", key, end[key], want[key], out)
		}
	}
	v.resultsAreWhole(t)
	for name, n := range v.effects(t) {
		if v.completed[name] && n > before[name] {
			t.Errorf("%q had completed, and was run again", name)
		}
		if effects[name] == 0 {
			t.Errorf("%q was run, and undisturbed it isn't", name)
		}
	}
	for name := range effects {
		if v.effects(t)[name] == 0 {
			t.Errorf("%q was never run", name)
		}
	}
}
