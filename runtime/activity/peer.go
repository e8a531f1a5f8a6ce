package activity

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/obelus-dev/obelus/compiler/kinds"
)

// A peer serves all calls of one activity or several: a worker, or an MCP server. It is started or reached for the
// first call, and anew for the next one after it has ended or was lost.
type peer struct {
	program

	mu  sync.Mutex
	now *contact
}

// A contact is one process of a peer, or one session with it.
type contact struct {
	ready chan struct{} // closed when there is one, or can't be
	err   error
	over  context.Context // done when it is of no use any more; of a process the cause is an *errOver
	end   context.CancelCauseFunc

	p    *process      // nil where the peer is at an address
	gone chan struct{} // closed when the process has ended, or doesn't even die when killed

	queue   queue                 // of a worker
	session session               // with a server
	listing sync.Mutex            // guards tools
	tools   map[string]ListedTool // nil until they are asked for

	// Lines to the process are written one after the other. Nobody waits for one that doesn't read.
	writing sync.Mutex
	started chan struct{} // closed when the process was started
	last    chan struct{} // closed when the last line was written
}

// An errOver is why a process takes no more calls: it has ended (CodeError), broke its protocol (CodeBadOutput), took
// too long (CodeTimeout), or isn't needed any more (CodeCancelled).
type errOver struct {
	code, why string
	culprit   *request // the call whose turn it was; only its failure has the code
}

func (e *errOver) Error() string { return e.why }

func newContact() *contact {
	c := &contact{ready: make(chan struct{}), gone: make(chan struct{}), started: make(chan struct{})}
	c.last, c.session.waiting = c.started, map[string]chan message{}
	c.over, c.end = context.WithCancelCause(context.Background())
	return c
}

// reach is the contact for a call that is put now: the one that there is, or a new one, which open makes. The process
// before it is waited for: two at once might be in each other's way.
func (s *peer) reach(open func(c *contact) error) *contact {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.now
	if before != nil && before.over.Err() == nil {
		return before
	}
	c := newContact()
	s.now = c
	go func() {
		if before != nil {
			before.await()
		}
		if c.err = s.isClosed(); c.err == nil {
			c.err = open(c)
		}
		if c.err != nil {
			c.end(c.err)
		}
		close(c.ready)
	}()
	return c
}

// await waits for the end of the process of a contact that is over.
func (c *contact) await() {
	if <-c.ready; c.p != nil {
		<-c.gone
	}
}

func (s *peer) isClosed() error {
	if s.over.Err() == nil {
		return nil
	}
	return s.failure(CodeCancelled, "was cancelled: %v", errClosed)
}

// launch starts the process of a contact, and has take read its lines. Its error ends the process.
func (s *peer) launch(c *contact, take func(line []byte) error) error {
	argv, _ := kinds.Arguments(s.def, nil, s.env.get) // it takes no parameters
	p, err := s.program.launch(argv, nil, func(stdout io.Reader) { s.read(c, stdout, take) })
	if err != nil {
		return s.cannotStart(argv[0], err)
	}
	s.attend(c, p)
	return nil
}

// attend sees to the end of a process.
func (s *peer) attend(c *contact, p *process) {
	s.mu.Lock()
	c.p = p
	s.mu.Unlock()
	close(c.started)
	context.AfterFunc(c.over, func() {
		code := c.cause().code
		if code == CodeBadOutput {
			p.signal(killGroup)
		}
		// perhaps only its stdout has ended, and it takes a moment to follow
		if code == CodeTimeout || code == CodeCancelled || !isOver(p.done, drain) {
			p.end(s.options.Grace)
		}
		close(c.gone)
	})
}

func (s *peer) read(c *contact, stdout io.Reader, take func(line []byte) error) {
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, maxOutput+envelope)
	for c.over.Err() == nil && lines.Scan() {
		if err := take(lines.Bytes()); err != nil {
			s.broken(c, err.Error()+s.excerpt(lines.Bytes()))
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		s.broken(c, fmt.Sprintf("it has written a line of more than %d MiB", maxOutput>>20))
	}
	c.end(&errOver{code: CodeError})
}

// broken ends a process that broke its protocol.
func (s *peer) broken(c *contact, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.end(&errOver{CodeBadOutput, why + "; it was killed", c.queue.first()})
}

func (c *contact) cause() *errOver {
	var over *errOver
	if !errors.As(context.Cause(c.over), &over) {
		over = &errOver{code: CodeCancelled}
	}
	return over
}

// lost is the failure of what a process was at when its contact ended: it says why, and quotes the end of its stderr.
func (s *peer) lost(c *contact, what string, r *request) error {
	<-c.gone
	if err := s.isClosed(); err != nil {
		return err
	}
	stderr := c.p.stderr.text(s.hide)
	ending, details := c.p.ending(stderr)
	code, why := c.cause().code, c.cause().why
	switch {
	case (code == CodeTimeout || code == CodeBadOutput) && c.cause().culprit != r:
		code, why = CodeError, "it was ended because of another call: "+why
	case code == CodeCancelled:
		code = CodeError
	case why == "":
		why = "it has ended (" + ending + ")"
	}
	if !isOver(c.p.done, drain) {
		why += "; its process doesn't even die when killed"
	}
	return &Failure{Code: code, Message: s.hide.Message(what+": "+why) + saying(stderr), Details: details}
}

// close ends the process of a peer for good: by the end of its input if it is idle, else as any is asked to end.
func (s *peer) close() {
	s.mu.Lock()
	c := s.now
	s.mu.Unlock()
	if c == nil {
		return
	}
	if <-c.ready; c.p == nil {
		return
	}
	c.p.stdin.Close()
	s.mu.Lock()
	isBusy := len(c.queue.waiting) > 0
	s.mu.Unlock()
	if isBusy || !isOver(c.p.done, drain) {
		c.end(&errOver{code: CodeCancelled})
	}
	<-c.gone
}

// put has a line written. It is dropped once the contact is over.
func (c *contact) put(line []byte) {
	written := make(chan struct{})
	c.writing.Lock()
	before := c.last
	c.last = written
	c.writing.Unlock()
	go func() {
		select {
		case <-before:
			c.p.stdin.Write(append(line, '\n')) // if it fails the process is dead or deaf, and its other end shows that
			close(written)
		case <-c.over.Done():
		}
	}()
}
