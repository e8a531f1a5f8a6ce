package terminal

import (
	"slices"
	"sync"

	"github.com/obelus-dev/obelus/runtime"
)

// A line is questions that wait for their turn: in the order in which they were put,
// but one that is asked again comes first, since it was its turn already.
type line struct {
	mu      sync.Mutex
	taken   bool // a question has its turn
	waiting []*place
}

// A place in line is a question's; nil is that of who ends the dialogue.
type place struct {
	turn  chan struct{} // closed when the turn has come
	asked *runtime.Question
	shown func()
}

// join puts one more question in line.
func (l *line) join(q *runtime.Question, shown func(), first bool) *place {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := &place{make(chan struct{}), q, shown}
	switch {
	case !l.taken:
		l.taken = true
		close(p.turn)
	case first:
		l.waiting = append([]*place{p}, l.waiting...)
	default:
		l.waiting = append(l.waiting, p)
	}
	return p
}

// leave gives up a place in line, or ends a turn.
func (l *line) leave(p *place) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at := slices.Index(l.waiting, p); at >= 0 {
		l.waiting = slices.Delete(l.waiting, at, at+1)
		return
	}
	if len(l.waiting) == 0 {
		l.taken = false
		return
	}
	close(l.waiting[0].turn)
	l.waiting = l.waiting[1:]
}

// length is how many questions wait.
func (l *line) length() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.waiting {
		if p.asked != nil {
			n++
		}
	}
	return n
}
