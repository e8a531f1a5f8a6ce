package local

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/obelus-dev/obelus/runtime"
)

// How often activities report progress: not more often, and of each
// message so many bytes.
const (
	betweenReports = 200 * time.Millisecond
	longestReport  = 200
)

// Reports are how far tries at work say that they are, the last of each. Observers receive
// them; nothing else depends on them, and no journal has them.
type reports struct {
	wake  chan struct{} // there may be some to be told
	noted time.Time     // when some were last; of the run's goroutine

	mu     sync.Mutex
	of     map[try]*report
	pauses bool // until it is time to tell again
}

type report struct {
	command runtime.Command
	news    bool // it hasn't been told
}

// take keeps what the try that a command has started says, from any goroutine; not what is
// less than it said before, or no number.
func (r *reports) take(c runtime.Command, done, total float64, message string) {
	if !(done >= 0) || math.IsInf(done, 0) {
		return
	}
	if !(total >= done) || math.IsInf(total, 0) {
		total = 0
	}
	message, _ = characters(message[:min(len(message), longestReport)])
	key := try{c.Tick, c.Frame, c.Call, c.Attempt}
	r.mu.Lock()
	defer r.mu.Unlock()
	if before := r.of[key]; before != nil && done <= before.command.Progress.Done {
		return
	}
	said := runtime.Command{Kind: runtime.Progressed, Tick: c.Tick, Frame: c.Frame, Call: c.Call, Attempt: c.Attempt, Of: c.Of, Site: c.Site, Plan: c.Plan}
	said.Progress = &runtime.Progress{Done: done, Total: total, Message: message}
	r.of[key] = &report{said, true}
	if !r.pauses {
		r.nudge()
	}
}

func (r *reports) nudge() {
	select {
	case r.wake <- struct{}{}:
	default: // it has been told and hasn't looked yet
	}
}

// due are what is to be told now, in the order of the calls. What has ended says nothing
// any more.
func (r *reports) due(atWork func(try) bool) (news []runtime.Command) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if wait := betweenReports - time.Since(r.noted); wait > 0 {
		if !r.pauses {
			r.pauses = true
			time.AfterFunc(wait, func() {
				r.mu.Lock()
				defer r.mu.Unlock()
				r.pauses = false
				r.nudge()
			})
		}
		return nil
	}
	r.noted = time.Now()
	for key, one := range r.of {
		if !atWork(key) {
			delete(r.of, key)
		} else if one.news {
			one.news, news = false, append(news, one.command)
		}
	}
	slices.SortFunc(news, func(a, b runtime.Command) int {
		return cmp.Or(a.Tick-b.Tick, a.Frame-b.Frame, a.Call-b.Call)
	})
	return news
}
