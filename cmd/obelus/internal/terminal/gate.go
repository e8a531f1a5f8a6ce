package terminal

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"syscall"
)

// A Gate is a writer that can be held: what is written meanwhile passes when it is released. Output
// that neither a drawing nor a terminal shows isn't held.
type Gate struct {
	to      io.Writer
	drawing interface {
		hold()
		release()
	} // draws on the same terminal; nil for nothing
	isSeen     bool   // by a person, on a terminal
	whenClosed func() // is called once nobody reads; nil for nobody

	mu     sync.Mutex
	isHeld bool
	closed bool // nobody reads
	held   bytes.Buffer
	err    error // of the release; the next write returns it
}

// NewGate is an open gate before a writer.
func NewGate(to io.Writer) *Gate { return &Gate{to: to, isSeen: Seen(to)} }

// WhenClosed sets a function that is called once when nobody reads.
func (g *Gate) WhenClosed(f func()) { g.whenClosed = f }

// Write writes a text, or keeps it until the gate is released.
func (g *Gate) Write(text []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.err != nil:
		return 0, g.err
	case g.isHeld:
		return g.held.Write(text)
	}
	return g.write(text)
}

// write drops the text if nobody reads: the writer is about to be stopped.
func (g *Gate) write(text []byte) (int, error) {
	if g.closed {
		return len(text), nil
	}
	n, err := g.to.Write(text)
	if (errors.Is(err, syscall.EPIPE) || g.isSeen && errors.Is(err, syscall.EIO)) && g.whenClosed != nil { // EIO is that of a closed terminal
		g.closed = true
		g.whenClosed()
		return len(text), nil
	}
	return n, err
}

func (g *Gate) hold() {
	if g.drawing != nil {
		g.drawing.hold()
	} else if _, shown := Of(g.to); !shown {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.isHeld = true
}

func (g *Gate) release() {
	g.mu.Lock()
	g.isHeld = false
	if g.held.Len() > 0 && g.err == nil {
		_, g.err = g.write(g.held.Bytes())
		g.held.Reset()
	}
	g.mu.Unlock()
	if g.drawing != nil {
		g.drawing.release()
	}
}
