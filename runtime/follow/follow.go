// Package follow watches over a machine that the events of a journal bring to where a run was. It believes nothing: an
// event that answers no command of the machine, or that no world could have brought, is an error, so that a journal
// never leads anywhere but where its run has been.
package follow

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/obelus-dev/obelus/runtime"
)

// A Follower says which events may come next.
type Follower struct {
	machine *runtime.Machine
	asked   map[expectation]*expected
	began   bool
	at      time.Duration
}

// An expectation is what may happen next: an event of some kind, about some try.
type expectation struct {
	kind                       runtime.EventKind
	tick, frame, call, attempt int
}

// expected is how often it may happen, and within which bounds.
type expected struct {
	times  int
	routes int // alternatives of the call
	most   int // instances that may join at once
}

// New follows a journal with a new machine.
func New(m *runtime.Machine) *Follower {
	return &Follower{machine: m, asked: map[expectation]*expected{}}
}

// answers are the events that answer commands.
var answers = map[runtime.CommandKind]runtime.EventKind{runtime.Start: runtime.Ended, runtime.SetTimer: runtime.Fired,
	runtime.Ask: runtime.Decided, runtime.Plan: runtime.Closed, runtime.Join: runtime.Joined}

func expectationOf(kind runtime.EventKind, tick, frame, call, attempt int) expectation {
	switch kind {
	case runtime.Streamed, runtime.Closed:
		return expectation{runtime.Closed, tick, 0, runtime.Run, 0}
	case runtime.Joined:
		return expectation{kind: runtime.Joined}
	}
	return expectation{kind, tick, frame, call, attempt}
}

// Note keeps in mind what the machine has commanded because of an admitted event.
func (f *Follower) Note(commands []runtime.Command) {
	for i := range commands {
		c := &commands[i]
		kind, answered := answers[c.Kind]
		if !answered {
			continue
		}
		key := expectationOf(kind, c.Tick, c.Frame, c.Call, c.Attempt)
		one := f.asked[key]
		if one == nil {
			one = &expected{most: c.Count}
			f.asked[key] = one
		}
		if one.times++; c.Of != nil {
			one.routes = len(c.Of.Output)
		}
	}
}

// Admit reports why an event can't be the next one that the machine was given, or nil.
func (f *Follower) Admit(e *runtime.Event) (err error) {
	switch {
	case e.At < f.at:
		err = fmt.Errorf("the event %q comes %v after the run began, and the one before it %v", e.Kind, e.At, f.at)
	case e.Kind == runtime.RunBegan && f.began:
		err = errors.New("the run begins a second time")
	case !f.began && e.Kind != runtime.RunBegan && e.Kind != runtime.Resumed && e.Kind != runtime.Stopped:
		err = fmt.Errorf("the event %q comes before the run began", e.Kind)
	case e.Usage != nil && (min(e.Usage.InputTokens, e.Usage.OutputTokens) < 0 || !(e.Usage.Cost >= 0)):
		err = errors.New("what an answer cost is below nothing")
	case e.Kind == runtime.Resumed:
		err = f.resumed(e)
	case e.Kind != runtime.RunBegan && e.Kind != runtime.Stopped:
		err = f.consume(e)
	}
	f.began, f.at = true, e.At
	return err
}

// consume reports why an event answers nothing that was commanded, or nil.
func (f *Follower) consume(e *runtime.Event) error {
	key := expectationOf(e.Kind, e.Tick, e.Frame, e.Call, e.Attempt)
	one := f.asked[key]
	switch {
	case one == nil:
		about := fmt.Sprintf("call %d", e.Call)
		if call := f.machine.CallOf(*e); call != nil {
			about = fmt.Sprintf("the call %q", call.Name)
		}
		return fmt.Errorf("the event %q of %s (try %d, frame %d, tick %d) answers nothing", e.Kind, about, e.Attempt,
			e.Frame, e.Tick)
	case e.Kind == runtime.Ended && (e.Route < -1 || e.Route >= max(1, one.routes)):
		return fmt.Errorf("a result is for alternative %d of %d", e.Route, one.routes)
	case e.Kind == runtime.Joined && len(e.Instances) > one.most:
		return fmt.Errorf("%d instances join where at most %d were asked for", len(e.Instances), one.most)
	case e.Kind == runtime.Streamed:
		return nil // more may come
	}
	if one.times--; one.times == 0 {
		delete(f.asked, key)
	}
	return nil
}

// resumed begins the part of a journal that another process wrote: nothing of what
// the one before it had begun can be heard of any more.
func (f *Follower) resumed(e *runtime.Event) error {
	how := e.Resumption
	failed, _ := f.machine.Failed()
	switch {
	case f.machine.Over() && !f.machine.Stopped() && (how == nil || !how.RetryFailed || failed == 0):
		return errors.New("the run is resumed, but it had come to its end")
	case how != nil && !slices.Contains([]runtime.InFlight{"", runtime.InFlightAsk, runtime.InFlightRetry,
		runtime.InFlightFail}, how.InFlight):
		return fmt.Errorf("there is no way %q to go on with calls that were in flight", how.InFlight)
	}
	clear(f.asked)
	if how == nil || how.Confirm == nil {
		return nil
	}
	return how.Confirm.Check()
}
