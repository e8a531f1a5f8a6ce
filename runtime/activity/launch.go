package activity

import (
	"context"
	"io"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/obelus-dev/obelus/runtime/trace"
)

// A turn is a place in the order in which the programs of a set start: that of their calls.
type turn struct {
	before <-chan struct{} // closed when the turn has come
	over   chan struct{}   // closed for the next
}

// turn takes the last place. Whoever has it calls start or leave, soon: others wait behind.
func (s *Set) turn() turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := turn{s.lastTurn, make(chan struct{})}
	s.lastTurn = t.over
	return t
}

// leave gives the place up.
func (t turn) leave() {
	go func() {
		<-t.before
		close(t.over)
	}()
}

// start starts a program when its turn has come; a context that ends before gives an
// error.
func (t turn) start(s *start) (p *process, err error) {
	select {
	case <-t.before:
	case <-s.ctx.Done():
		t.leave()
		return nil, s.ctx.Err()
	}
	started := make(chan struct{})
	launcher() <- func() {
		p, err = begin(s)
		close(started)
	}
	<-started
	close(t.over)
	return p, err
}

// launcher gives the goroutine that starts all programs what it has to do. Its thread lives
// as long as we do: where a program dies with its parent, the system means the thread that
// started it.
var launcher = sync.OnceValue(func() chan<- func() {
	todo := make(chan func())
	go func() {
		runtime.LockOSThread()
		for do := range todo {
			do()
		}
	}()
	return todo
})

// A start says what is to be started and how.
type start struct {
	*program
	ctx   context.Context // of who waits for it
	argv  []string
	input []byte          // all that it reads; nil is a pipe, process.stdin
	read  func(io.Reader) // is given its stdout, in a goroutine of its own, and may leave some of it
}

// begin starts a program.
func begin(s *start) (p *process, err error) {
	var theirs, ours []*os.File
	defer func() {
		for _, f := range theirs {
			f.Close()
		}
		if err != nil {
			for _, f := range ours {
				f.Close()
			}
		}
	}()
	pipe := func(reads bool) (r, w *os.File) {
		if err != nil {
			return nil, nil
		}
		if r, w, err = os.Pipe(); err != nil {
			return nil, nil
		}
		if reads {
			theirs, ours = append(theirs, r), append(ours, w)
		} else {
			theirs, ours = append(theirs, w), append(ours, r)
		}
		return r, w
	}
	p = &process{cmd: exec.Command(s.argv[0], s.argv[1:]...), done: make(chan struct{})}
	if s.unchanged != nil {
		digest, err := s.unchanged(s.name, p.cmd.Path)
		if err == nil && digest != "" {
			var opened *os.File
			if opened, err = fromDescriptor(p.cmd, s.def.Dir, digest); opened != nil {
				theirs = append(theirs, opened)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	var stdin *os.File
	if s.input == nil {
		stdin, p.stdin = pipe(true)
	} else if stdin, err = whole(s.input); err == nil {
		theirs = append(theirs, stdin)
	}
	stdout, itsStdout := pipe(false)
	stderr, itsStderr := pipe(false)
	if err != nil {
		return nil, err
	}
	p.stderr.keep = s.keptStderr()
	p.cmd.Dir, p.cmd.Env = s.def.Dir, slices.Clip(s.environ)
	headers := trace.Headers(s.ctx)
	for _, name := range slices.Sorted(maps.Keys(headers)) { // in capitals, as programs that know them expect
		p.cmd.Env = append(p.cmd.Env, strings.ToUpper(name)+"="+headers[name])
	}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = stdin, itsStdout, itsStderr
	ownGroup(p.cmd)
	living.mu.Lock() // so that KillAll sees it from its first moment
	if err = errClosed; !living.over {
		err = p.cmd.Start()
	}
	if err == nil {
		living.all[p] = true
	}
	living.mu.Unlock()
	if err != nil {
		return nil, err
	}

	var readers sync.WaitGroup
	readers.Go(func() { s.read(stdout) })
	readers.Go(func() { io.Copy(&p.stderr, stderr) })
	go p.follow(&readers, stdout, stderr)
	return p, nil
}

// whole is a file in which a program finds all that it reads from the first moment:
// should we be killed, it must not take the beginning for the whole, nor nothing.
func whole(input []byte) (*os.File, error) {
	if f := filled(input); f != nil {
		return f, nil
	}
	f, err := scratch()
	if err != nil {
		return nil, err
	}
	if _, err = f.Write(input); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// temporary is a file that nobody else finds, and that is gone when it is closed
// where the system can do that.
func temporary() (*os.File, error) {
	f, err := os.CreateTemp("", "obelus-*")
	if err == nil {
		_ = os.Remove(f.Name()) // it may have to wait for the temporary folder to be cleaned
	}
	return f, err
}
