package terminal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"syscall"
)

// A Screen is a writer for a run. On a terminal, lines that come and go can be drawn below what is written, and it can
// be held: what is written meanwhile passes when it is released.
type Screen struct {
	to         io.Writer
	isTerminal bool
	isSeen     bool   // by a person, on a terminal
	whenClosed func() // is called once nobody reads; nil for nobody

	mu      sync.Mutex
	isHeld  bool
	closed  bool // nobody reads
	waiting bytes.Buffer
	drawn   int   // lines that come and go
	err     error // of the release; the next write returns it
}

// NewScreen is the screen that a writer is.
func NewScreen(to io.Writer) *Screen {
	_, isTerminal := Of(to)
	return &Screen{to: to, isTerminal: isTerminal, isSeen: Seen(to)}
}

// WhenClosed sets a function that is called once when nobody reads.
func (s *Screen) WhenClosed(f func()) { s.whenClosed = f }

// Write writes a text, or keeps it until the screen is released.
func (s *Screen) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.err != nil:
		return 0, s.err
	case s.isHeld:
		return s.waiting.Write(text)
	}
	s.erase()
	return s.write(text)
}

// write drops the text if nobody reads: the writer is about to be stopped.
func (s *Screen) write(text []byte) (int, error) {
	if s.closed {
		return len(text), nil
	}
	n, err := s.to.Write(text)
	// EIO is the error of a closed terminal
	if (errors.Is(err, syscall.EPIPE) || s.isSeen && errors.Is(err, syscall.EIO)) && s.whenClosed != nil {
		s.closed = true
		s.whenClosed()
		return len(text), nil
	}
	return n, err
}

// draw replaces the lines that come and go.
func (s *Screen) draw(lines []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
	if !s.isHeld && len(lines) > 0 {
		_, _ = s.write([]byte(strings.Join(lines, "\n") + "\n"))
		s.drawn = len(lines)
	}
}

func (s *Screen) erase() {
	if s.drawn > 0 {
		_, _ = s.write(fmt.Appendf(nil, "\x1b[%dA\x1b[J", s.drawn))
		s.drawn = 0
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
	if s.waiting.Len() > 0 && s.err == nil {
		_, s.err = s.write(s.waiting.Bytes())
		s.waiting.Reset()
	}
}
