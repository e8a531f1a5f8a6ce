//go:build unix

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/testdata/amount"
	"github.com/obelus-dev/obelus/testdata/cputime"
)

// A family makes workspaces of any size that mean harm to whoever reads them.
// Commands are given the file plan.yaml or plan.json.
type family struct {
	name string
	make func(bytes int) map[string]string // texts by file name
}

// hostileCommands are what is done to every family; the plan follows the last
// argument.
var hostileCommands = []struct {
	name string
	args []string
}{
	{"check", []string{"check"}},
	{"fixes", []string{"check", "--diff"}},
	{"SARIF", []string{"check", "--format", "sarif"}},
	{"compile", []string{"compile"}},
	{"graph", []string{"graph"}},
	{"mermaid", []string{"graph", "--format", "mermaid", "--detail"}},
	{"depth", []string{"graph", "--depth", "3"}},
	{"svg", []string{"graph", "--format", "svg", "--detail"}},
	{"tree", []string{"graph", "--format", "text"}},
	{"simulate", []string{"simulate", "--schedules", "20"}},
	{"simulate in JSON", []string{"simulate", "--schedules", "20", "--format", "json"}},
	{"branches", []string{"simulate", "--branches"}},
	{"run", []string{"run", "--no-journal", "--confirm", "never", "--planner", "none"}},
	{"run in JSON", []string{"run", "--no-journal", "--confirm", "never", "--planner", "none", "--format", "json"}},
	{"findings in JSON", []string{"check", "--format", "json"}},
	{"approve", []string{"approve", "--show"}},
	{"diff", []string{"diff", "--format", "json", "old"}},
	{"diff to nothing", []string{"diff", "empty.yaml"}},
	{"drawing of a diff", []string{"diff", "--format", "dot", "empty.yaml"}},
}

// What a file under 100 kB may cost.
const (
	hostileTime   = 2 * time.Second
	hostileMemory = 256 << 20
)

// EXECUTION.md#limits: a command on files of less than 100 kB ends within 2 seconds of
// the processor and 256 MiB, whatever they say. Each one is a process of its own,
// which is ended when it costs far more. Files of that size, and all commands, take -long. In CI each
// family of files has 6 kB, in which what is exponential shows as well, and meets one command; the
// sample is one family of twelve.
func TestHostileFilesAreBounded(t *testing.T) {
	if os.Getenv("OBELUS_HOSTILE") != "" {
		beHostile()
	}
	if testing.Short() {
		t.Skip("it starts a process for each family and command")
	}
	t.Parallel()
	size, shown := amount.Of(6_000, 6_000, 98_000), amount.Of(8, 8, 30)
	met := amount.Of(1, 1, len(hostileCommands)) // how many commands each family meets
	few := amount.Of(1, 0, 0) == 1
	var spent time.Duration
	costs := map[string]cost{}
	for n, f := range slices.Concat(families, working, shared) {
		if few && n%24 > 1 { // with -thorough all are tried
			continue
		}
		dir := t.TempDir()
		name := ""
		total := 0
		for file, text := range f.make(size) {
			total += len(text)
			if strings.HasPrefix(file, "plan.") {
				name = file
			}
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if total > 100_000 || name == "" {
			t.Fatalf("%s: %d bytes, plan %q: this shows nothing", f.name, total, name)
		}
		// What becomes of a plan that has every call at another place, for diff.
		for file, text := range map[string]string{"old" + filepath.Ext(name): turned(t, filepath.Join(dir, name)), "empty.yaml": "calls: []"} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for k, c := range hostileCommands {
			c.args = slices.Clone(c.args)
			if last := &c.args[len(c.args)-1]; *last == "old" {
				*last += filepath.Ext(name)
			}
			other := 1 + n%(len(hostileCommands)-1)
			if met == 1 && k != n%2*other {
				continue
			}
			t.Run(c.name+"/"+f.name, func(t *testing.T) {
				best := attack(t, dir, append(slices.Clone(c.args), name))
				// What the collector of garbage does comes and goes; the work itself doesn't.
				for try := 0; try < 2 && best.Time > hostileTime && best.Time < 2*hostileTime; try++ {
					if again := attack(t, dir, append(slices.Clone(c.args), name)); again.Time < best.Time {
						best = again
					}
				}
				spent += best.Time
				costs[c.name+" "+f.name] = best
				if best.Died != "" || best.Time > hostileTime || best.Memory > hostileMemory {
					t.Errorf("%d bytes cost %v and %d MiB, and %d MiB of output %s", total, best.Time, best.Memory>>20, best.Output>>20, best.Died)
				}
			})
		}
	}
	near := func(name string) float64 { // to one of the bounds
		return max(float64(costs[name].Time)/float64(hostileTime), float64(costs[name].Memory)/hostileMemory)
	}
	dear := slices.SortedFunc(maps.Keys(costs), func(a, b string) int { return cmp.Compare(near(b), near(a)) })
	for _, name := range dear[:min(shown, len(dear))] {
		t.Logf("%-40s %8v %4d MiB", name, costs[name].Time.Round(time.Millisecond), costs[name].Memory>>20)
	}
	t.Logf("%d commands: %v", len(costs), spent.Round(time.Millisecond))
}

// turned is a plan with its lines of calls the other way round.
func turned(t *testing.T, name string) string {
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	var at []int
	for i, line := range lines {
		if begin := strings.TrimSpace(line); strings.HasPrefix(begin, "- {_tool") && strings.HasSuffix(begin, "}") {
			at = append(at, i)
		}
	}
	for i, k := 0, len(at)-1; i < k; i, k = i+1, k-1 {
		lines[at[i]], lines[at[k]] = lines[at[k]], lines[at[i]]
	}
	return strings.Join(lines, "")
}

// A cost is what a command took: processor time, memory that was had from the
// system, and bytes that were written.
type cost struct {
	Time   time.Duration
	Memory uint64
	Output int
	Died   string // how the process ended when it didn't report
}

// attack runs a command in a folder.
func attack(t *testing.T, dir string, args []string) cost {
	t.Helper()
	list, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestHostileFilesAreBounded$")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "OBELUS_HOSTILE="+string(list))
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	var c cost
	if err == nil {
		err = json.Unmarshal(out, &c)
	}
	if err != nil {
		head, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n")
		c.Died = fmt.Sprintf("(%v: %s)", err, head)
		if state := cmd.ProcessState; state != nil {
			c.Time = state.UserTime() + state.SystemTime()
		}
	}
	return c
}

// beHostile is the process in which a command runs: it ends when it has cost
// much more than it may.
func beHostile() {
	var args []string
	if err := json.Unmarshal([]byte(os.Getenv("OBELUS_HOSTILE")), &args); err != nil {
		panic(err)
	}
	seconds := uint64(3 * hostileTime / time.Second)
	for kind, most := range map[int]uint64{syscall.RLIMIT_CPU: seconds, syscall.RLIMIT_DATA: 8 * hostileMemory} {
		_ = syscall.Setrlimit(kind, &syscall.Rlimit{Cur: most, Max: most})
	}
	var out, said counting
	status := run(context.Background(), args, strings.NewReader(""), &out, &said)
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	c := cost{Time: cputime.Used(), Memory: memory.Sys, Output: out.bytes + said.bytes}
	if strings.Contains(said.head, "internal error") {
		c.Died = said.head
	} else if status != statusOK && status != statusFound && status != statusError && status != statusStopped {
		c.Died = "exit status " + strconv.Itoa(status)
	}
	_ = json.NewEncoder(os.Stdout).Encode(c)
	os.Exit(0)
}

// counting keeps of what is written how much it is, and its beginning.
type counting struct {
	bytes int
	head  string
}

func (c *counting) Write(p []byte) (int, error) {
	c.bytes += len(p)
	if len(c.head) < 1000 {
		c.head += string(p[:min(len(p), 1000)])
	}
	return len(p), nil
}
