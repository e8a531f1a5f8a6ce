package local

import (
	"context"
	"errors"

	"github.com/obelus-dev/obelus/runtime"
)

// A question is one that a person is asked.
type question struct {
	cancel context.CancelCauseFunc
	seen   bool // the person sees it
}

// ask puts a question to a person.
func (w *world) ask(ctx context.Context, c runtime.Command) {
	if w.options.Confirmer == nil {
		w.due = append(w.due, runtime.Event{Kind: runtime.Stopped, Text: string(unasked(c.Question)), Gently: true})
		return
	}
	own, cancel := context.WithCancelCause(ctx)
	key := try{c.Tick, c.Frame, c.Call, c.Attempt}
	w.began(c, func() { cancel(nil) })
	w.asked[key] = &question{cancel: cancel}
	answer := w.options.Confirmer.Ask(own, c.Question, func() {
		select {
		case w.seen <- key:
		case <-own.Done():
		case <-w.gone:
		}
	})
	go func() {
		decided := runtime.Event{Kind: runtime.Decided, Tick: c.Tick, Frame: c.Frame, Call: c.Call, Attempt: c.Attempt}
		d, err := answer()
		if err == nil {
			decided.Decision = &d
		} else if own.Err() == nil {
			w.send(runtime.Event{Kind: runtime.Stopped, Text: string(unasked(c.Question)), Gently: true})
		}
		w.send(decided)
	}()
}

// unasked is why a run stops that needs an answer and gets none (S8.6, S10.2).
func unasked(q *runtime.Question) runtime.Reason {
	if q.InFlight {
		return runtime.ReasonInFlight
	}
	return runtime.ReasonConfirmation
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
