package terminal

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"

	"github.com/obelus-dev/obelus/compiler/diag"
)

// A Screen is what a command writes to. It keeps the first error, so that nobody else has to. On a terminal, a
// line that comes and goes can be drawn below what is written, and it can be held: what is written meanwhile passes
// when it is released.
type Screen struct {
	Color      string // auto, always or never; "" is auto
	to         io.Writer
	isTerminal bool
	isSeen     bool   // by a person, on a terminal
	WhenClosed func() // is called once nobody reads; nil for nobody

	mu      sync.Mutex
	isHeld  bool
	closed  bool // nobody reads
	waiting bytes.Buffer
	line    string // comes and goes below what is written; "" for none
	drawn   bool
	err     error
}

// NewScreen is the screen that a writer is.
func NewScreen(to io.Writer) *Screen {
	return &Screen{to: to, isTerminal: draws(to), isSeen: Seen(to)}
}

// Print writes a text.
func (s *Screen) Print(format string, args ...any) { fmt.Fprintf(s, format, args...) }

// JSON writes a value as a line of JSON.
func (s *Screen) JSON(value any) { s.Keep(diag.JSONLine(s, value)) }

// Keep keeps an error of what was to be written, unless there is one already.
func (s *Screen) Keep(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = cmp.Or(s.err, err)
}

// Err is the first error.
func (s *Screen) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// change changes what is on the screen, above the line that comes and goes.
func (s *Screen) change(to func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.drawn {
		_, _ = s.write([]byte("\x1b[A\x1b[J"))
	}
	to()
	if s.drawn = s.line != "" && !s.isHeld; s.drawn {
		_, _ = s.write([]byte(s.line + "\n"))
	}
}

// Write writes a text, or keeps it until the screen is released.
func (s *Screen) Write(text []byte) (n int, err error) {
	s.change(func() {
		if s.isHeld {
			n, err = s.waiting.Write(text)
		} else {
			n, err = s.write(text)
		}
	})
	return n, err
}

// write drops the text after an error, or if nobody reads: the writer is about to be stopped.
func (s *Screen) write(text []byte) (int, error) {
	if s.closed || s.err != nil {
		return len(text), s.err
	}
	n, err := s.to.Write(text)
	// EIO is the error of a closed terminal
	if (errors.Is(err, syscall.EPIPE) || s.isSeen && errors.Is(err, syscall.EIO)) && s.WhenClosed != nil {
		s.closed = true
		s.WhenClosed()
		return len(text), nil
	}
	s.err = err
	return n, err
}

// draw replaces the line that comes and goes.
func (s *Screen) draw(line string) { s.change(func() { s.line = line }) }

func (s *Screen) hold() { s.change(func() { s.isHeld = s.isTerminal }) }

func (s *Screen) release() {
	s.change(func() {
		if s.isHeld = false; s.waiting.Len() > 0 {
			_, _ = s.write(s.waiting.Bytes())
			s.waiting.Reset()
		}
	})
}
