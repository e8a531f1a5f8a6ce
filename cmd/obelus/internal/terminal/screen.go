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

// Write writes a text, or keeps it until the screen is released.
func (s *Screen) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isHeld {
		return s.waiting.Write(text)
	}
	s.erase()
	defer s.redraw()
	return s.write(text)
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
func (s *Screen) draw(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.line = line
	s.erase()
	s.redraw()
}

func (s *Screen) redraw() {
	if s.line != "" && !s.isHeld {
		_, _ = s.write([]byte(s.line + "\n"))
		s.drawn = true
	}
}

func (s *Screen) erase() {
	if s.drawn {
		_, _ = s.write([]byte("\x1b[A\x1b[J"))
		s.drawn = false
	}
}

func (s *Screen) hold() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
	s.isHeld = s.isTerminal
}

func (s *Screen) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isHeld = false
	if s.waiting.Len() > 0 {
		_, _ = s.write(s.waiting.Bytes())
		s.waiting.Reset()
	}
	s.redraw()
}
