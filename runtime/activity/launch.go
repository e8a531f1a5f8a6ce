package activity

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// A launch is a place in the line of programs that this process is to start. One
// goroutine starts them, one after the other in the order in which they came (S8.4),
// on a thread that lives as long as we do: where a program dies with its parent, the
// system means the thread that started it.
type launch struct {
	turn chan *start   // takes what is to be started when the turn has come; closed for nothing
	done chan struct{} // closed when it has started, or can't be
	p    *process
	err  error
}

// A start says what is to be started and how.
type start struct {
	ctx            context.Context // of who waits for it
	argv           []string
	dir            string
	environ        []string
	input          []byte          // all that it reads; nil is a pipe, process.stdin
	keep           int             // bytes of stderr
	read           func(io.Reader) // is given its stdout, in a goroutine of its own, and may leave some of it
	set            *Set
	activity, call string // what it is for; a worker is for no call
	private        *Private
}

var line = struct {
	once    sync.Once
	mu      sync.Mutex
	waiting []*launch
	more    chan struct{}
	ended   chan struct{} // a program has ended, and given back what it had
}{more: make(chan struct{}, 1), ended: make(chan struct{}, 1)}

// inLine takes a place. Whoever has one uses it or leaves it, soon: others wait behind.
func inLine() *launch {
	line.once.Do(func() {
		haveThreads()
		go startAll()
	})
	l := &launch{turn: make(chan *start), done: make(chan struct{})}
	line.mu.Lock()
	line.waiting = append(line.waiting, l)
	line.mu.Unlock()
	nudge(line.more)
	return l
}

func nudge(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // it has been told and hasn't looked yet
	}
}

// leave gives the place up.
func (l *launch) leave() { close(l.turn) }

// start starts a program when its turn has come; a context that ends before gives an
// error.
func (l *launch) start(s *start) (*process, error) {
	select {
	case l.turn <- s:
		<-l.done
		return l.p, l.err
	case <-s.ctx.Done():
		l.leave()
		return nil, s.ctx.Err()
	}
}

func startAll() {
	runtime.LockOSThread()
	most := spare()
	for {
		line.mu.Lock()
		var next *launch
		if len(line.waiting) > 0 {
			next = line.waiting[0]
			line.waiting[0] = nil
			line.waiting = line.waiting[1:]
		}
		line.mu.Unlock()
		if next == nil {
			<-line.more
			continue
		}
		if s, ok := <-next.turn; ok {
			next.p, next.err = most.start(s)
			close(next.done)
		}
	}
}

// A supply is how many programs may run at once, by what the system allows. It leaves
// room: programs start others, and our own threads count where processes do. We don't
// survive a thread that can't be had.
type supply struct {
	most    int    // of the limit, now
	limit   int    // 0 is none
	because string // what limits it, in words
	lowered time.Time
}

// start starts a program as soon as there is what it takes.
func (y *supply) start(s *start) (*process, error) {
	const longest = time.Second
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, longest) {
		running := programs()
		lack := ""
		if y.limit > 0 && y.most < y.limit && time.Since(y.lowered) > time.Minute { // others may have given something back
			y.most, y.lowered = y.most+1, time.Now()
		}
		if y.most == 0 || running < max(y.most, 1) {
			p, err := begin(s)
			if lack = lacking(err); lack == "" {
				return p, err
			}
			y.lower(running)
			s.set.say(true, fmt.Sprintf("no %s left to start a program (%s): %d of ours run, and the next waits", lack, systemsWords(err), running))
		} else if y.because != "" {
			s.set.say(false, fmt.Sprintf("at most %d programs run at once here: %s", y.most, y.because))
		}
		patience := time.NewTimer(pause)
		select {
		case <-line.ended:
		case <-patience.C:
		case <-s.ctx.Done():
			patience.Stop()
			return nil, s.ctx.Err()
		}
		patience.Stop()
	}
}

// lower makes room when something has run out: were as many started again, it would
// be a thread of ours next that can't be had.
func (y *supply) lower(running int) {
	if y.limit == 0 {
		y.limit = running
	}
	y.most, y.lowered, y.because = max(1, running-(running+3)/4), time.Now(), "the system had nothing left for more"
}

// lacking names what there is too little of, for the time being; "" if that isn't
// what is wrong.
func lacking(err error) string {
	switch {
	case err == nil:
	case errors.Is(err, syscall.EAGAIN):
		return "processes"
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return "files"
	case errors.Is(err, syscall.ENOMEM):
		return "memory"
	}
	return ""
}

// systemsWords is what the system said, without what it was asked.
func systemsWords(err error) string {
	var no syscall.Errno
	if errors.As(err, &no) {
		return no.Error()
	}
	return err.Error()
}

// threads is how many threads there are before the first program is started. The
// runtime keeps them for when it needs one, which may be when none can be had.
const threads = 16

// haveThreads makes threads.
func haveThreads() {
	var all sync.WaitGroup
	held := make(chan struct{})
	var ready sync.WaitGroup
	for range threads {
		ready.Add(1)
		all.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			ready.Done()
			<-held
		})
	}
	ready.Wait()
	close(held)
	all.Wait()
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
	if err = s.private.unseen(s.activity, p.cmd.Path); err != nil {
		return nil, err
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
	p.stderr.keep = s.keep
	p.cmd.Dir, p.cmd.Env = s.dir, s.environ
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
	s.set.register.add(p.cmd.Process.Pid, s.activity, s.call)

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
