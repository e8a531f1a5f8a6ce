package activity

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/redact"
	"github.com/obelus-dev/obelus/compiler/wording"
)

// drain is how long a process that has ended may keep us waiting because another one still holds its output: a shell's
// process substitution, say, that writes the last line.
const drain = time.Second

// quotedStderr is how much of the end of stderr a failure quotes, in bytes.
const quotedStderr = 2 << 10

// A process is a running program, in a process group of its own: whatever it
// starts ends with it, unless it takes pains to get away.
type process struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stderr tail
	done   chan struct{} // closed when the program and all that read from it have ended

	mu     sync.Mutex
	reaped bool // its id may belong to another process
}

// living are all processes, so that [KillAll] sees each from its first moment.
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
		p.signal(killGroup)
	}
}

// launch starts the program. Its input is all that it reads, and is there before it starts: if obelus is killed, no
// program takes the beginning for all of it. Without one it reads a pipe, process.stdin. Read is given its stdout, in a
// goroutine of its own, and may leave some of it.
func (x *program) launch(argv []string, input []byte, read func(io.Reader)) (*process, error) {
	p := &process{cmd: exec.Command(argv[0], argv[1:]...), done: make(chan struct{})}
	p.cmd.Dir, p.cmd.Env = x.def.Dir, slices.Clip(x.environ)
	ownGroup(p.cmd)
	p.stderr.keep = quotedStderr + 64 + 2*x.hide.Longest() // more than is quoted: a quote may begin within a secret
	if x.options.Unchanged != nil {
		digest, err := x.options.Unchanged(x.name, p.cmd.Path)
		if err == nil && digest != "" {
			var opened *os.File
			if opened, err = fromDescriptor(p.cmd, x.def.Dir, digest); opened != nil {
				defer opened.Close()
			}
		}
		if err != nil {
			return nil, err
		}
	}
	var noInput error
	if input == nil {
		p.stdin, noInput = p.cmd.StdinPipe()
	} else if file, err := inputFile(); err != nil {
		return nil, err
	} else {
		defer file.Close()
		p.cmd.Stdin = file
		_, err = file.Write(input)
		_, noInput = file.Seek(0, io.SeekStart)
		noInput = cmp.Or(err, noInput)
	}
	stdout, noOutput := p.cmd.StdoutPipe()
	stderr, noErrors := p.cmd.StderrPipe()
	p.cmd.Err = cmp.Or(p.cmd.Err, noInput, noOutput, noErrors) // with which Start closes the others
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // until the end: Linux kills a program when the thread that started it ends
		defer runtime.UnlockOSThread()
		living.mu.Lock()
		if living.over {
			p.cmd.Err = cmp.Or(p.cmd.Err, errClosed)
		}
		err := p.cmd.Start()
		if err == nil {
			living.all[p] = true
		}
		living.mu.Unlock()
		if started <- err; err != nil {
			return
		}
		var readers sync.WaitGroup
		readers.Go(func() { read(stdout) })
		readers.Go(func() { io.Copy(&p.stderr, stderr) })
		p.follow(&readers)
	}()
	return p, <-started
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
	p.signal(killGroup)
	p.mu.Lock()
	p.reaped = true
	living.mu.Lock()
	delete(living.all, p)
	living.mu.Unlock()
	reap() // closes our ends, and so frees the readers from other holders of the pipe
	p.mu.Unlock()
	<-silent
	close(p.done)
}

// signal sends a signal to a process and what it has started, unless it has ended.
func (p *process) signal(send func(*os.Process)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		send(p.cmd.Process)
	}
}

// end asks a process to end, kills it after the grace time, and reports whether it has ended: one that the kernel won't
// let go of holds nobody up.
func (p *process) end(grace time.Duration) bool {
	p.signal(askGroup)
	if !isOver(p.done, grace) {
		p.signal(killGroup)
	}
	return isOver(p.done, 2*drain)
}

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

// ending says how the process ended, as "exit status 2" or "signal: killed", and what a failure has of it as details.
func (p *process) ending(stderr string) (how string, details map[string]any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	details = map[string]any{"stderr": stderr}
	state := p.cmd.ProcessState
	if state == nil {
		return "no end that could be seen", details
	}
	if state.Exited() {
		details["exit"] = float64(state.ExitCode())
	}
	return state.String(), details
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

// A tail is the end of what a program writes to stderr.
type tail struct {
	mu   sync.Mutex
	keep int // bytes
	end  []byte
	lost bool // something came before end
}

func (t *tail) Write(text []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end = append(t.end, text...)
	if over := len(t.end) - t.keep; over > 0 {
		t.end, t.lost = append(t.end[:0], t.end[over:]...), true
	}
	return len(text), nil
}

// text is the end of what was written, without secrets, with every character
// that a terminal would act on escaped; line ends and tabs stay.
func (t *tail) text(hide *redact.Set) string {
	t.mu.Lock()
	raw, lost := string(t.end), t.lost
	t.mu.Unlock()
	// of CRLF, or a progress bar: the text continues, and so may a secret
	s := hide.Text(strings.ReplaceAll(hide.Text(raw), "\r", ""))
	// the kept part may begin inside a secret, which then wasn't recognised
	if lost {
		s = s[min(len(s), max(0, hide.Longest()-1)):]
	}
	s = strings.TrimSpace(redact.Assigned(s))
	s = s[max(0, len(s)-quotedStderr):]
	quoted := strconv.Quote(s)
	return unquoted.Replace(quoted[1 : len(quoted)-1])
}

// unquoted takes back of a quoted text what no terminal acts on.
var unquoted = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n", `\t`, "\t")

// saying is how a message ends that quotes stderr: one line, whatever was in it.
func saying(stderr string) string {
	if stderr == "" {
		return "; it wrote nothing to stderr"
	}
	return "; the end of its stderr: " + oneLine(stderr)
}

func oneLine(s string) string { return strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(s) }

// quote is the beginning of somebody else's text, in one line and without secrets, which are hidden before it is cut:
// most of one is as good as all of it.
func (c *common) quote(text string, most int) string {
	if len(text) >= maxRefusal { // it may be cut within one
		text = text[:maxRefusal]
		text = text[:len(text)-c.hide.Unfinished(text)]
	}
	return wording.Cut(diag.Escape(c.hide.Message(text)), most)
}

// excerpt is how a message quotes what was written in the place of what should have been.
func (c *common) excerpt(output []byte) string {
	if output = bytes.TrimSpace(output); len(output) == 0 {
		return ""
	}
	return fmt.Sprintf(" (it begins %q)", c.quote(string(output[:min(len(output), maxRefusal)]), maxQuoted))
}
