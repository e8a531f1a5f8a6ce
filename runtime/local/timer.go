package local

import (
	"time"

	"github.com/obelus-dev/obelus/runtime"
)

// A timer runs for a call: for the try at work, for a pause between two, or for the
// answer to a question. A call has one of them at a time.
type timer struct {
	event    runtime.Event // the event when it fires
	clock    *time.Timer
	question *runtime.Question // whose answer is awaited; nil for none
}

// setTimer sets a timer. Until its event is recorded that says when it was due, which tells timers of one try apart.
func (w *world) setTimer(c runtime.Command) {
	key := c.OfCall()
	w.stopTimer(key)
	t := &timer{event: c.Event(runtime.Fired), question: c.Question}
	t.event.At = time.Since(w.started) + c.After
	t.clock = time.AfterFunc(c.After, func() { w.send(t.event) })
	w.timers[key] = t
}

func (w *world) stopTimer(key runtime.Try) {
	if t := w.timers[key]; t != nil {
		t.clock.Stop()
		delete(w.timers, key)
	}
}

// ranOut reports whether the timer of an event was still waited for: one that was set for
// something that is over is nobody's business any more, and no journal's. One for an answer runs again until the
// question has been shown for its whole time.
func (w *world) ranOut(e runtime.Event) bool {
	key := e.OfCall()
	t := w.timers[key]
	if t == nil || t.event.Attempt != e.Attempt || t.event.At != e.At {
		return false
	}
	if q := t.question; q != nil && q.Seen != nil {
		left := q.Within
		if seen := q.Seen(); seen != nil {
			left -= time.Since(*seen)
		}
		if left > 0 {
			t.clock.Reset(left)
			return false
		}
	}
	delete(w.timers, key)
	if e.Call == runtime.Run {
		return true
	}
	status := w.machine.Status(e.Try)
	return e.Tick == w.machine.Tick() &&
		(status == runtime.Running || status == runtime.Pausing || status == runtime.Asking)
}
