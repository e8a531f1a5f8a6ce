package local

import (
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
	if w.options.Confirmer == nil {
		return
	}
	own := w.begin(c)
	answer := w.options.Confirmer.Ask(own, c.Question)
	go func() {
		decided := c.Event(runtime.Decided)
		d, err := answer()
		switch {
		case err == nil:
			decided.Decision = &d
		case own.Err() != nil, errors.Is(err, ErrNoReviewer):
		default:
			w.send(runtime.Event{Kind: runtime.Stopped, Text: string(unasked(c.Question)), Gently: true})
		}
		w.send(decided)
	}()
}

// stuck is why the run can't go on but for answers that nobody is there to give, or "": it continues with all that
// doesn't need them, and stops when nothing else is left.
// What runs of a call that delegates is its calls, and its time-out alone brings nothing.
func (w *world) stuck() runtime.Reason {
	if w.busy > 0 {
		return ""
	}
	for key := range w.timers {
		if key.Call != runtime.Run && w.machine.Status(key) != runtime.Running {
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
