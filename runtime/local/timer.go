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
	t := &timer{event: runtime.Event{Kind: runtime.Fired, Tick: c.Tick, Frame: c.Frame, Call: c.Call, Attempt: c.Attempt}, after: c.After}
	w.timers[key] = t
	if q := w.asked[try{c.Tick, c.Frame, c.Call, c.Attempt}]; q == nil || q.seen {
		w.startTimer(t)
	}
}

func (w *world) startTimer(t *timer) {
	t.clock = time.AfterFunc(t.after, func() {
		select {
		case w.fired <- t:
		case <-w.gone:
		}
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

// ranOut gives the event of a timer that has run out, unless it was set for
// something that is over: that is nobody's business any more, and no journal's.
func (w *world) ranOut(t *timer) []runtime.Event {
	e := t.event
	key := timed{e.Tick, e.Frame, e.Call}
	if w.timers[key] != t {
		return nil
	}
	delete(w.timers, key)
	if e.Call != runtime.Run {
		if e.Tick != w.machine.Tick() {
			return nil
		}
		switch w.machine.Status(e.Frame, e.Call) {
		case runtime.Running, runtime.Pausing, runtime.Asking:
		default:
			return nil
		}
	}
	return []runtime.Event{e}
}

// shown notes that a person sees a question: the time for its answer begins.
func (w *world) shown(key try) {
	q := w.asked[key]
	if q == nil || q.seen {
		return
	}
	q.seen = true
	if t := w.timers[timed{key.tick, key.frame, key.call}]; t != nil && t.clock == nil {
		w.startTimer(t)
	}
}
