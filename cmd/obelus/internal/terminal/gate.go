package terminal

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"syscall"
)

// Shared is something else that writes on the terminal. Between hold and
// release it keeps what it has to show, and leaves the screen alone.
type shared interface {
	hold()
	release()
}

// A gate is a writer that can be held shut: what is written meanwhile passes
// when it is released. Lines for programs, which nothing draws and no terminal
// shows, aren't held up by a question.
type Gate struct {
	to     io.Writer
	with   shared // what draws through the gate and is told; nil for nothing
	seen   bool   // by a person, on a terminal
	closed func() // is told, once, when nobody reads any more; nil for nobody

	mu   sync.Mutex
	shut bool
	lost bool // nobody reads any more
	kept bytes.Buffer
	err  error // what letting through met; the next write reports it
}

// NewGate is an open gate before a writer.
func NewGate(to io.Writer) *Gate { return &Gate{to: to, seen: Seen(to)} }

// WhenClosed has a function called, once, when nobody reads any more.
func (g *Gate) WhenClosed(f func()) { g.closed = f }

// Write lets a text through, or keeps it until the gate is released.
func (g *Gate) Write(text []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.err != nil:
		return 0, g.err
	case g.shut:
		return g.kept.Write(text)
	}
	return g.pass(text)
}

// pass lets a text through. When nobody reads any more, what comes is dropped: whoever
// writes is about to hear of it, and to stop.
func (g *Gate) pass(text []byte) (int, error) {
	if g.lost {
		return len(text), nil
	}
	n, err := g.to.Write(text)
	if (errors.Is(err, syscall.EPIPE) || g.seen && errors.Is(err, syscall.EIO)) && g.closed != nil { // a terminal that is gone says the latter
		g.lost = true
		g.closed()
		return len(text), nil
	}
	return n, err
}

func (g *Gate) hold() {
	if g.with != nil {
		g.with.hold()
	} else if _, shown := Of(g.to); !shown {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = true
}

func (g *Gate) release() {
	g.mu.Lock()
	g.shut = false
	if g.kept.Len() > 0 && g.err == nil {
		_, g.err = g.pass(g.kept.Bytes())
		g.kept.Reset()
	}
	g.mu.Unlock()
	if g.with != nil {
		g.with.release()
	}
}

// behind is the screen that a writer leads to. If a gate stands before it,
// draws is told when it is held.
func behind(out io.Writer, draws shared) (screen io.Writer) {
	if g, ok := out.(*Gate); ok {
		g.with = draws
		return g.to
	}
	return out
}
