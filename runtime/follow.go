package runtime

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Format is the version of what events mean: it is raised whenever a machine would
// come elsewhere by the events of a journal than the one that answered them. A
// journal of another version can't be followed.
const Format = 2

// A Follower brings a new machine to where a run stood, by the events of its
// journal. It believes nothing: an event that answers no command of the machine, or
// that no world could have brought, is an error, so that a journal never leads
// anywhere but where its run has been.
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

// Step takes the next event. After an error the machine is of no use.
func (f *Follower) Step(e Event) ([]Command, error) {
	if err := f.admit(&e); err != nil {
		return nil, err
	}
	f.began, f.at = true, e.At
	commands := f.machine.Step(e)
	for i := range commands {
		f.note(&commands[i])
	}
	return commands, nil
}

func (f *Follower) note(c *Command) {
	kind, call, attempt := Ended, c.Call, c.Attempt
	switch c.Kind {
	case Start:
	case SetTimer:
		kind = Fired
	case Ask:
		kind = Decided
	case Plan:
		kind, call, attempt = Closed, Run, 0
	case Join:
		kind, call, attempt = Joined, 0, 0
	default:
		return
	}
	key := expectation{kind, c.Tick, c.Frame, call, attempt}
	if kind == Joined {
		key.tick = 0
	}
	one := f.asked[key]
	if one == nil {
		one = &expected{most: c.Count}
		f.asked[key] = one
	}
	if one.times++; c.Of != nil {
		one.routes = len(c.Of.Output)
	}
}

func (f *Follower) admit(e *Event) error {
	switch {
	case e.At < f.at:
		return fmt.Errorf("the event %q comes %v after the run began, and the one before it %v", e.Kind, e.At, f.at)
	case e.Kind == RunBegan && f.began:
		return errors.New("the run begins a second time")
	case !f.began && e.Kind != RunBegan && e.Kind != Resumed && e.Kind != Stopped:
		return fmt.Errorf("the event %q comes before the run began", e.Kind)
	case e.Usage != nil && (e.Usage.InputTokens < 0 || e.Usage.OutputTokens < 0 || !(e.Usage.Cost >= 0)):
		return errors.New("what an answer cost is below nothing")
	}
	switch e.Kind {
	case Resumed:
		return f.resumed(e)
	case RunBegan, Stopped:
		return nil
	case Streamed, Closed:
		return f.consume(e, expectation{Closed, e.Tick, 0, Run, 0}, "there is no answer of a planner under way")
	case Joined:
		return f.consume(e, expectation{kind: Joined}, "no instances were asked for")
	}
	otherwise := map[EventKind]string{Fired: "no timer was set", Decided: "nobody was asked", Ended: "it isn't at work"}
	return f.consume(e, expectation{e.Kind, e.Tick, e.Frame, e.Call, e.Attempt}, otherwise[e.Kind])
}

func (f *Follower) consume(e *Event, key expectation, otherwise string) error {
	one := f.asked[key]
	switch {
	case one == nil:
		return fmt.Errorf("the event %q is about %s, but %s", e.Kind, f.subject(e), otherwise)
	case e.Kind == Ended && (e.Route < -1 || e.Route >= max(1, one.routes)):
		return fmt.Errorf("the event %q takes alternative %d of %s, which has %d", e.Kind, e.Route, f.subject(e), one.routes)
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

func (f *Follower) subject(e *Event) string {
	name := fmt.Sprintf("call %d", e.Call)
	switch fr := f.machine.frame(*e); {
	case e.Call == Run:
		name = "the run"
	case fr != nil:
		name = fmt.Sprintf("the call %q", fr.call(int32(e.Call)).Name)
	}
	if e.Attempt > 0 {
		name += fmt.Sprintf(", try %d", e.Attempt)
	}
	if e.Frame != 0 {
		name += fmt.Sprintf(" (frame %d)", e.Frame)
	}
	if e.Tick != 0 {
		name += fmt.Sprintf(" in tick %d", e.Tick)
	}
	return name
}

// resumed begins the part of a journal that another process wrote: nothing of what
// the one before it had begun can be heard of any more.
func (f *Follower) resumed(e *Event) error {
	if f.machine.Over() && !f.machine.Stopped() {
		if failed, _ := f.machine.Failed(); e.Resumption == nil || !e.Resumption.RetryFailed || failed == 0 {
			return errors.New("the run is resumed, but it had come to its end")
		}
	}
	if how := e.Resumption; how != nil {
		if !slices.Contains([]InFlight{"", InFlightAsk, InFlightRetry, InFlightFail}, how.InFlight) {
			return fmt.Errorf("there is no way %q to go on with calls that were in flight", how.InFlight)
		}
		if how.Confirm != nil {
			if err := how.Confirm.check(); err != nil {
				return err
			}
		}
	}
	clear(f.asked)
	return nil
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

// Check reports what is wrong with options that come from elsewhere, such as a
// journal, or nil.
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
