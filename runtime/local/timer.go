package local

import (
	"time"

	"github.com/obelus-dev/obelus/runtime"
)

// A timer runs for a call: for the try at work, for a pause between two, or for the
// answer to a question. A call has one of them at a time.
type timer struct {
	event runtime.Event // the event when it fires
	after time.Duration
	clock *time.Timer // nil as long as its question isn't shown
}

type timed struct{ tick, frame, call int }

// setTimer sets a timer. The time for an answer begins when the question is shown.
func (w *world) setTimer(c runtime.Command) {
	key := timed{c.Tick, c.Frame, c.Call}
	w.stopTimer(key)
	t := &timer{event: runtime.Event{Kind: runtime.Fired, Tick: c.Tick, Frame: c.Frame, Call: c.Call,
		Attempt: c.Attempt}, after: c.After}
	w.timers[key] = t
	if q := w.tries[try{c.Tick, c.Frame, c.Call, c.Attempt}]; q == nil || !q.asks || q.seen {
		w.startTimer(key, t)
	}
}

func (w *world) startTimer(key timed, t *timer) {
	t.clock = time.AfterFunc(t.after, func() {
		w.post(func() {
			if w.timers[key] == t {
				w.batch = append(w.batch, t.event)
				w.gather()
			}
		})
	})
}

func (w *world) stopTimer(key timed) {
	if t := w.timers[key]; t != nil {
		if t.clock != nil {
			t.clock.Stop()
		}
		delete(w.timers, key)
	}
}

// ranOut reports whether the timer of an event was still waited for: one that was set for
// something that is over is nobody's business any more, and no journal's.
func (w *world) ranOut(e runtime.Event) bool {
	key := timed{e.Tick, e.Frame, e.Call}
	t := w.timers[key]
	if t == nil || t.event.Attempt != e.Attempt {
		return false
	}
	delete(w.timers, key)
	if e.Call == runtime.Run {
		return true
	}
	status := w.machine.Status(e.Frame, e.Call)
	return e.Tick == w.machine.Tick() &&
		(status == runtime.Running || status == runtime.Pausing || status == runtime.Asking)
}

// shown notes that a person sees a question: the time for its answer begins.
func (w *world) shown(of try) {
	q := w.tries[of]
	if q == nil || !q.asks || q.seen {
		return
	}
	q.seen = true
	key := timed{of.tick, of.frame, of.call}
	if t := w.timers[key]; t != nil && t.clock == nil {
		w.startTimer(key, t)
	}
}
