package local

import (
	"math"
	"sync"
	"time"

	"github.com/obelus-dev/obelus/runtime"
)

// How often a try reports progress: not more often, and of each message so many bytes.
const (
	betweenReports = 200 * time.Millisecond
	longestReport  = 200
)

// progress gives the function by which the try that a command has started reports how far it is, from any
// goroutine. Observers see it as long as the try is at work; nothing else depends on it, and no journal has it.
// What is no number, less than before, or too soon after the last report isn't passed on.
func (w *world) progress(c runtime.Command) func(done, total float64, message string) {
	key := try{c.Tick, c.Frame, c.Call, c.Attempt}
	report := runtime.Command{Kind: runtime.Progressed, Tick: c.Tick, Frame: c.Frame, Call: c.Call, Attempt: c.Attempt,
		Of: c.Of, Site: c.Site, Plan: c.Plan}
	var mu sync.Mutex
	var next time.Time
	last := -1.0
	return func(done, total float64, message string) {
		mu.Lock()
		defer mu.Unlock()
		if !(done > last && done >= 0) || math.IsInf(done, 0) || time.Now().Before(next) {
			return
		}
		if !(total >= done) || math.IsInf(total, 0) {
			total = 0
		}
		message, _ = characters(message[:min(len(message), longestReport)])
		one := report
		one.Progress = &runtime.Progress{Done: done, Total: total, Message: message}
		select {
		case w.posts <- func() {
			if w.tries[key] != nil {
				w.options.Observe(time.Since(w.started), one)
			}
		}:
			last, next = done, time.Now().Add(betweenReports)
		default: // an activity doesn't wait for those who watch it
		}
	}
}
