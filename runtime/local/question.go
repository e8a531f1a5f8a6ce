package local

import (
	"context"
	"errors"

	"github.com/obelus-dev/obelus/runtime"
)

// ErrNoReviewer says that nobody is there to answer a question.
var ErrNoReviewer = errors.New("there is nobody to ask")

func (w *world) ask(c runtime.Command) {
	if w.options.Answered != nil {
		if d := w.options.Answered(c.Question); d != nil {
			w.began(c, func() {})
			w.batch = append(w.batch, runtime.Answer(c.Question, d))
			return
		}
	}
	key := try{c.Tick, c.Frame, c.Call, c.Attempt}
	if w.options.Confirmer == nil {
		return
	}
	own, cancel := context.WithCancel(w.ctx)
	w.began(c, cancel).asks = true
	answer := w.options.Confirmer.Ask(own, c.Question, func() { w.post(func() { w.shown(key) }) })
	w.put = append(w.put, func() {
		decided := runtime.Event{Kind: runtime.Decided, Tick: c.Tick, Frame: c.Frame, Call: c.Call, Attempt: c.Attempt}
		d, err := answer()
		switch {
		case err == nil:
			decided.Decision = &d
		case own.Err() != nil:
		case errors.Is(err, ErrNoReviewer):
			w.post(func() { // the time for the answer counts all the same
				w.shown(key)
				w.over(key)
			})
			return
		default:
			w.send(runtime.Event{Kind: runtime.Stopped, Text: string(unasked(c.Question)), Gently: true})
		}
		w.send(decided)
	})
}

// awaitAnswers waits for the answers once all questions of a moment are put, so that who
// is asked can see them together.
func (w *world) awaitAnswers() {
	for _, wait := range w.put {
		go wait()
	}
	clear(w.put)
	w.put = w.put[:0]
}

// stuck is why the run can't go on but for answers that nobody is there to give, or "": it continues with all that
// doesn't need them, and stops when nothing else is left.
// What runs of a call that delegates is its calls, and its time-out alone brings nothing.
func (w *world) stuck() runtime.Reason {
	if w.busy > 0 {
		return ""
	}
	for key := range w.timers {
		if key.call != runtime.Run && w.machine.Status(key.frame, key.call) != runtime.Running {
			return ""
		}
	}
	reasons := map[runtime.Reason]bool{}
	for _, q := range w.machine.Questions() {
		reasons[unasked(q)] = true
	}
	for _, reason := range []runtime.Reason{runtime.ReasonInFlight, runtime.ReasonPermit, runtime.ReasonConfirmation} {
		if reasons[reason] {
			return reason
		}
	}
	return ""
}

func unasked(q *runtime.Question) runtime.Reason {
	if q.InFlight {
		return runtime.ReasonInFlight
	}
	if len(q.Outside) > 0 {
		return runtime.ReasonPermit
	}
	return runtime.ReasonConfirmation
}
