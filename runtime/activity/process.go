package activity

import (
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"
)

// drain is how long a process that has ended may keep us waiting because another one still holds its output: a shell's
// process substitution, say, that writes the last line.
const drain = time.Second

// A process is a running program, in a process group of its own: whatever it
// starts ends with it, unless it takes pains to get away.
type process struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser // nil where all of it was there before the start
	stderr tail
	done   chan struct{} // closed when the program and all that read from it have ended

	mu     sync.Mutex
	reaped bool // its id may belong to another process
	asked  bool // it was asked to end
	killer *time.Timer
}

// follow sees a process to its end. Its id is given back to the system last,
// so that no signal of ours can reach a stranger.
func (p *process) follow(readers *sync.WaitGroup) {
	reap := awaitEnd(p.cmd)
	silent := make(chan struct{})
	go func() {
		readers.Wait()
		close(silent)
	}()
	isOver(silent, drain)
	p.mu.Lock()
	killGroup(p.cmd.Process)
	p.reaped = true
	living.mu.Lock()
	delete(living.all, p)
	living.mu.Unlock()
	if p.killer != nil {
		p.killer.Stop()
	}
	reap() // closes our ends, and so frees the readers from other holders of the pipe
	p.mu.Unlock()
	<-silent
	close(p.done)
}

func (p *process) end(grace time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped || p.asked {
		return
	}
	p.asked = true
	askGroup(p.cmd.Process)
	p.killer = time.AfterFunc(grace, p.kill)
}

func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = true
	if !p.reaped {
		killGroup(p.cmd.Process)
	}
}

var living = struct {
	mu   sync.Mutex
	all  map[*process]bool
	over bool // no further one may start
}{all: map[*process]bool{}}

// KillAll ends every program that activities of this process have running, and what these have started, at once and
// without asking. It is for a program that is about to end itself: what it starts would otherwise live on.
func KillAll() {
	living.mu.Lock()
	living.over = true
	all := slices.Collect(maps.Keys(living.all))
	living.mu.Unlock()
	for _, p := range all {
		p.kill()
	}
}

func (p *process) stopped() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked
}

// wait waits for the end of a process, and reports whether it came in time: one that the
// kernel won't let go of holds nobody up.
func (p *process) wait(most time.Duration) bool { return isOver(p.done, most) }

// isOver waits for what is done no longer than a time, and reports whether it is.
func isOver(done <-chan struct{}, most time.Duration) bool {
	limit := time.NewTimer(most)
	defer limit.Stop()
	select {
	case <-done:
		return true
	case <-limit.C:
		return false
	}
}

// finish gives a process time to end by itself, and ends it. It reports whether it has ended.
func (p *process) finish(patience, grace time.Duration) bool {
	if p.wait(patience) {
		return true
	}
	p.end(grace)
	return p.wait(grace + 2*drain)
}

// ending says how the process ended: "exit status 2", "signal: killed".
func (p *process) ending() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd.ProcessState == nil {
		return "no end that could be seen"
	}
	return p.cmd.ProcessState.String()
}

func (p *process) details(stderr string) map[string]any {
	p.mu.Lock()
	defer p.mu.Unlock()
	d := map[string]any{"stderr": stderr}
	if state := p.cmd.ProcessState; state != nil && state.Exited() {
		d["exit"] = float64(state.ExitCode())
	}
	return d
}

func (b *base) cannotStart(program string, err error) *Failure {
	var path *os.PathError
	var look *exec.Error
	switch {
	case errors.As(err, &path):
		err = path.Err
	case errors.As(err, &look):
		err = look.Err
	}
	return b.failure(CodeError, "can't start the program %q: %v", program, err)
}
