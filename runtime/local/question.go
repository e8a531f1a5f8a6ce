package local

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/obelus-dev/obelus/runtime"
)

// A question is one that a person is asked. The time for its answer begins when it
// is shown and that time is set, in whatever order.
type question struct {
	cancel context.CancelCauseFunc

	mu    sync.Mutex
	shown bool
	start func()
}

func (q *question) set(start func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.start = start
	q.begin()
}

func (q *question) show() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.shown = true
	q.begin()
}

func (q *question) begin() {
	if q.shown && q.start != nil {
		q.start()
		q.start = nil
	}
}

// ask puts a question to a person.
func (w *world) ask(ctx context.Context, c runtime.Command) {
	if w.options.Confirmer == nil {
		w.due = append(w.due, runtime.Event{Kind: runtime.Stopped, Text: unasked(c.Question), Gently: true})
		return
	}
	own, cancel := context.WithCancelCause(ctx)
	q := &question{cancel: cancel}
	w.began(c, func() { cancel(nil) })
	w.asked[try{c.Tick, c.Frame, c.Call, c.Attempt}] = q
	go func() {
		d, err := w.options.Confirmer.Ask(own, c.Question, q.show)
		if err != nil {
			if own.Err() == nil {
				w.send(runtime.Event{Kind: runtime.Stopped, Text: unasked(c.Question), Gently: true})
			}
			w.send(runtime.Event{Kind: runtime.Decided, Tick: c.Tick, Frame: c.Frame, Call: c.Call, Attempt: c.Attempt})
			return
		}
		w.send(runtime.Event{Kind: runtime.Decided, Tick: c.Tick, Frame: c.Frame, Call: c.Call, Attempt: c.Attempt, Decision: &d})
	}()
}

// unasked is why a run stops that needs an answer and gets none (S8.6, S10.2).
func unasked(q *runtime.Question) string {
	if q.InFlight {
		return "in-flight"
	}
	return "confirmation"
}

// setTimer sets a timer. The time for an answer begins when the question is shown.
func (w *world) setTimer(c runtime.Command) {
	w.ticking++
	fire := func() {
		w.send(runtime.Event{Kind: runtime.Fired, Tick: c.Tick, Frame: c.Frame, Call: c.Call, Attempt: c.Attempt})
	}
	if q := w.asked[try{c.Tick, c.Frame, c.Call, c.Attempt}]; q != nil {
		q.set(func() { time.AfterFunc(c.After, fire) })
		return
	}
	w.timers = append(w.timers, time.AfterFunc(c.After, fire))
}

var errStopped = errors.New("the run was stopped")

// cause says in words why a question is taken back.
func (w *world) cause(c runtime.Command) error {
	switch {
	case w.machine.Stopped():
		return errStopped
	case w.machine.Status(c.Frame, c.Call) == runtime.Rejected:
		return errors.New("nobody answered in time, which counts as no")
	}
	return errors.New("nobody answered in time, which counts as yes")
}
