package terminal

import "sync"

// A line is questions that wait for their turn: in the order in which they were put,
// but one that is asked again comes first, since it was its turn already.
type line struct {
	mu      sync.Mutex
	taken   bool            // a question has its turn
	waiting []chan struct{} // a channel that is closed when the turn comes, each
}

// join puts one more question in line; its turn has come when the channel is closed.
func (l *line) join(first bool) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	turn := make(chan struct{})
	switch {
	case !l.taken:
		l.taken = true
		close(turn)
	case first:
		l.waiting = append([]chan struct{}{turn}, l.waiting...)
	default:
		l.waiting = append(l.waiting, turn)
	}
	return turn
}

// leave gives up a place in line, or ends a turn.
func (l *line) leave(turn <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, other := range l.waiting {
		if other == turn {
			l.waiting = append(l.waiting[:i], l.waiting[i+1:]...)
			return
		}
	}
	if len(l.waiting) == 0 {
		l.taken = false
		return
	}
	close(l.waiting[0])
	l.waiting = l.waiting[1:]
}

// length is how many wait.
func (l *line) length() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.waiting)
}
