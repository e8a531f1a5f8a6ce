package runtime

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Format is the version of what events mean: it is raised whenever a machine would come elsewhere by the events of a
// journal than the one that answered them. A journal of another version can't be followed.
const Format = 2

// A Follower watches over a machine that the events of a journal bring to where a run was. It believes nothing: an
// event that answers no command of the machine, or that no world could have brought, is an error, so that a journal
// never leads anywhere but where its run has been.
type Follower struct {
	machine *Machine
	asked   map[expectation]*expected
	began   bool
	at      time.Duration
}

// An expectation is what may happen next: an event of some kind, about some try.
type expectation struct {
	kind                       EventKind
	tick, frame, call, attempt int
}

// expected is how often it may happen, and within which bounds.
type expected struct {
	times  int
	routes int // alternatives of the call
	most   int // instances that may join at once
}

// Follow follows a journal with a new machine.
func Follow(m *Machine) *Follower {
	return &Follower{machine: m, asked: map[expectation]*expected{}}
}

// answers are the events that answer commands.
var answers = map[CommandKind]EventKind{Start: Ended, SetTimer: Fired, Ask: Decided, Plan: Closed, Join: Joined}

func expectationOf(kind EventKind, tick, frame, call, attempt int) expectation {
	switch kind {
	case Streamed, Closed:
		return expectation{Closed, tick, 0, Run, 0}
	case Joined:
		return expectation{kind: Joined}
	}
	return expectation{kind, tick, frame, call, attempt}
}

// Note keeps in mind what the machine has commanded because of an admitted event.
func (f *Follower) Note(commands []Command) {
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
func (f *Follower) Admit(e *Event) (err error) {
	switch {
	case e.At < f.at:
		err = fmt.Errorf("the event %q comes %v after the run began, and the one before it %v", e.Kind, e.At, f.at)
	case e.Kind == RunBegan && f.began:
		err = errors.New("the run begins a second time")
	case !f.began && e.Kind != RunBegan && e.Kind != Resumed && e.Kind != Stopped:
		err = fmt.Errorf("the event %q comes before the run began", e.Kind)
	case e.Usage != nil && (min(e.Usage.InputTokens, e.Usage.OutputTokens) < 0 || !(e.Usage.Cost >= 0)):
		err = errors.New("what an answer cost is below nothing")
	case e.Kind == Resumed:
		err = f.resumed(e)
	case e.Kind != RunBegan && e.Kind != Stopped:
		err = f.consume(e)
	}
	f.began, f.at = true, e.At
	return err
}

// consume reports why an event answers nothing that was commanded, or nil.
func (f *Follower) consume(e *Event) error {
	key := expectationOf(e.Kind, e.Tick, e.Frame, e.Call, e.Attempt)
	one := f.asked[key]
	switch {
	case one == nil:
		about := fmt.Sprintf("call %d", e.Call)
		if fr := f.machine.frame(*e); fr != nil && e.Call != Run {
			about = fmt.Sprintf("the call %q", fr.call(int32(e.Call)).Name)
		}
		return fmt.Errorf("the event %q of %s (try %d, frame %d, tick %d) answers nothing", e.Kind, about, e.Attempt,
			e.Frame, e.Tick)
	case e.Kind == Ended && (e.Route < -1 || e.Route >= max(1, one.routes)):
		return fmt.Errorf("a result is for alternative %d of %d", e.Route, one.routes)
	case e.Kind == Joined && len(e.Instances) > one.most:
		return fmt.Errorf("%d instances join where at most %d were asked for", len(e.Instances), one.most)
	case e.Kind == Streamed:
		return nil // more may come
	}
	if one.times--; one.times == 0 {
		delete(f.asked, key)
	}
	return nil
}

// resumed begins the part of a journal that another process wrote: nothing of what
// the one before it had begun can be heard of any more.
func (f *Follower) resumed(e *Event) error {
	how := e.Resumption
	failed, _ := f.machine.Failed()
	switch {
	case f.machine.Over() && !f.machine.Stopped() && (how == nil || !how.RetryFailed || failed == 0):
		return errors.New("the run is resumed, but it had come to its end")
	case how != nil && !slices.Contains([]InFlight{"", InFlightAsk, InFlightRetry, InFlightFail}, how.InFlight):
		return fmt.Errorf("there is no way %q to go on with calls that were in flight", how.InFlight)
	}
	clear(f.asked)
	if how == nil || how.Confirm == nil {
		return nil
	}
	return how.Confirm.check()
}

func (c Confirm) check() error {
	switch {
	case !slices.Contains([]Policy{Never, Effects, Always}, c.Policy):
		return fmt.Errorf("there is no policy %q of whom to ask", c.Policy)
	case !slices.Contains([]Verdict{"", Approve, Reject}, c.Default):
		return fmt.Errorf("%q can't be the answer where nobody gives one", c.Default)
	case c.Timeout < 0:
		return fmt.Errorf("nobody can answer within %v", c.Timeout)
	}
	return nil
}

// Check reports what is wrong with options that come from elsewhere, such as a journal, or nil.
func (o *Options) Check() error {
	if o.Parallel < 0 {
		return fmt.Errorf("%d activities can't run at once", o.Parallel)
	}
	if o.Permit != nil {
		if err := o.Permit.Check(); err != nil {
			return err
		}
	}
	return o.Confirm.check()
}
