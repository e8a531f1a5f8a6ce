package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// A program is one of the two that are compared.
type program struct {
	path, role string
	plans      string   // the folder that it works in: paths in its output are relative to it
	runs       string   // where it keeps its journals
	env        []string // the same for both
	answers    *answers // what is known of it already, or nil
}

var processorTime atomic.Int64 // of both programs, in nanoseconds

const patience = 2 * time.Minute

func newProgram(path string, m *material, role string) (program, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return program{}, err
	}
	if _, err := os.Stat(path); err != nil {
		return program{}, fmt.Errorf(
			"%w (run \"make oracle\" for the oracle; -old and -new name other programs)", err,
		)
	}
	home := filepath.Join(m.folder, "home")
	return program{path: path, role: role, plans: m.plans, runs: m.temporary, env: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_STATE_HOME=" + filepath.Join(home, "state"),
		"XDG_CONFIG_HOME=" + filepath.Join(
			home, "config",
		), "OBELUS_TRUST=" + m.plans, "USER=tester", "TZ=UTC", "LANG=C.UTF-8", "NO_COLOR=1",
	}}, nil
}

// An answer is what a program printed, and its exit status; -1 where it didn't end in time or crashed.
type answer struct {
	out, err string
	status   int
}

func (p program) run(args ...string) answer { return p.runWith(nil, args...) }

// runWith starts the program in the folder of plans with a text as its standard input.
func (p program) runWith(input []byte, args ...string) answer {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.path, args...)
	var out, trouble bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = p.plans, p.env, bytes.NewReader(input), &out, &trouble
	err := cmd.Run()
	processorTime.Add(int64(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()))
	a := answer{out: out.String(), err: trouble.String(), status: cmd.ProcessState.ExitCode()}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		a.err += err.Error()
	}
	if ctx.Err() != nil {
		a.err, a.status = fmt.Sprintf("no answer within %s", patience), -1
	}
	return a
}

// each calls f for every index below n, on all processors.
func each(n int, f func(i int)) {
	next := make(chan int)
	var group sync.WaitGroup
	for range runtime.NumCPU() {
		group.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	group.Wait()
}

// overPlans compares plan by plan; the differences come in the order of the plans.
func overPlans(plans []string, compare func(plan string) []difference) outcome {
	found := make([][]difference, len(plans))
	each(len(plans), func(i int) { found[i] = compare(plans[i]) })
	result := outcome{cases: plans}
	for _, differences := range found {
		result.differences = append(result.differences, differences...)
	}
	return result
}
