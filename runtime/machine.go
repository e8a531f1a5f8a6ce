package runtime

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/analyzer/permit"
	"github.com/obelus-dev/obelus/compiler/heap"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/policy"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/runtime/guard"
	"github.com/obelus-dev/obelus/runtime/resolve"
	"github.com/obelus-dev/obelus/runtime/state"
)

// Options are what a run takes besides its plan. A journal keeps them, so that a run is resumed as it was begun.
type Options struct {
	// Input and State lie over the plan's own, key by key. They bind nothing anew.
	Input map[string]any `json:"input,omitempty"`
	State map[string]any `json:"state,omitempty"`
	// Parallel is how many activities may run at once; 0 means the plan's own limit, or else [plan.DefaultParallel].
	Parallel int `json:"parallel,omitzero"`
	// Planned says that a planner writes what is run, tick after tick; the plan's own calls are then its first draft.
	Planned bool `json:"planned,omitzero"`
	// PlanOnly ends a planned run, whose mode is then lazy, with the first solution without errors, before any call
	// starts. One without calls counts only where it ends any run.
	PlanOnly bool    `json:"planOnly,omitzero"`
	Confirm  Confirm `json:"confirm,omitzero"`
	// Joining says that instances come from outside, after the plan's own: the machine asks for them with [Join].
	Joining bool `json:"joining,omitzero"`
	// Continue takes a call of whose output one alternative is there from the start for done.
	Continue bool `json:"continue,omitzero"`
	// Unbounded lets expressions and patterns take together whatever they take; each has its own limits still.
	Unbounded bool `json:"unbounded,omitzero"`
	// Permit is what the run may do under its approval; nil holds it to nothing.
	Permit *permit.Permit `json:"envelope,omitempty"`
	// Signed says that people have signed that: a decision about what leaves it isn't taken without [Decision.Signed],
	// which the world leaves out where it doesn't hold.
	Signed bool `json:"signed,omitzero"`
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
	return o.Confirm.Check()
}

// A Machine runs one plan once: over one state, or over those of many instances. It is not safe for concurrent use.
type Machine struct {
	plan      *plan.Plan       // of the current tick, for all instances
	rules     []*analyzer.Rule // the embedding program's own, to which solutions are held as well
	options   Options
	loop      *loop // nil without a planner
	tick      int   // 0 without a planner
	programs  map[*plan.Plan]*resolve.Program
	byTime    bool // see program
	simulated bool // the results of latent calls are made up, so that no model is asked for them
	shared    shared

	frames    []*frame      // by number; nil for one that is over
	instances *instancePool // nil for a plan that has one state
	line
	now time.Duration
	allowances
	tally
	progress
	guards   []guard.Guard           // in the order in which they are asked
	guarded  guard.Call              // what they are asked about
	permit   *guard.Permit           // nil without one
	asked    int                     // calls that a reviewer is asked about as they arrived
	answers  map[KeptAnswer][]string // the names of the questions that answers wait for, by their calls
	commands []Command
}

// A line is the calls and frames of a run that something is to be done about.
type line struct {
	awake     []*frame // with calls to look at again
	finished  []*frame // all their calls have settled
	queue     []ready  // ready calls that wait for a free place
	running   int      // activities at work
	unsettled int      // calls that haven't settled
	parallel  int
}

// allowances are what a run may still take; and what stops a simulation, see [Machine.Bound].
type allowances struct {
	budget        resolve.Budget
	delegated     int    // delegates that have been started, and their calls
	mostDelegated int    // 0 for no bound
	tooMuch       Reason // why a simulation stops that would start or match more
}

// tally is what a run has done and used so far, over all ticks.
type tally struct {
	started int // calls whose activity or delegate has been started
	usage   Usage
	errors  []runError // of ticks, and of instances that have ended
	counts  Counts
	spent   budget // what doesn't count against the limits, since the run was resumed after reaching them
}

// progress is whether a run has begun, and whether and why it has stopped.
type progress struct {
	opened        bool
	over          bool
	keepsFailed   bool    // see Reopenable
	stopped       bool    // over, but may be resumed
	draining      Reason  // why nothing starts any more, while what runs ends
	late          []Event // that came after it had stopped: they count when it continues
	ending        Reason  // why it stopped
	why           string  // what that means, where more is to be said
	inconsistency string  // why it isn't to be believed any more
}

// New prepares a run. The machine takes only plans that have been verified.
func New(v *analyzer.Verified, o Options) *Machine {
	m := newMachine(v.Plan(), o, false, v.Plan().Solution != nil)
	m.rules = v.Rules()
	return m
}

// Simulate prepares a run that isn't real. Where calls write over each other in no fixed order, the time at which they
// end decides, so that the conflict shows.
func Simulate(r *analyzer.Simulation, o Options) *Machine {
	m := newMachine(r.Plan(), o, r.Conflicts(), false)
	m.simulated = true
	return m
}

// newMachine prepares a run. One of a record with a solution is a tick, and its solution what a planner has answered.
func newMachine(p *plan.Plan, o Options, byTime, recorded bool) *Machine {
	m := &Machine{plan: p, options: o, byTime: byTime, programs: map[*plan.Plan]*resolve.Program{}}
	m.budget = resolve.NewBudget(o.Unbounded, p.Input, p.State, o.Input, o.State)
	m.parallel = cmp.Or(o.Parallel, p.Limits.Parallel, plan.DefaultParallel)
	if o.Planned || recorded {
		m.loop = newLoop(m, p)
		m.plan = m.loop.emptyPlan()
		m.tick = max(p.Tick-1, 0)
		if m.loop.unasked = m.tick; recorded {
			m.loop.unasked++
		}
		m.spent.ticks = m.tick
	}
	base := m.base()
	if len(policy.Checks(base.Policies)) > 0 {
		m.guards = append(m.guards, guard.Order{})
	}
	if o.Permit != nil {
		m.permit = guard.PermitOf(o.Permit, func(c *guard.Call) *guard.Details {
			return detailsOf(m.frames[c.Frame], int32(c.Call), c)
		})
		m.guards = append(m.guards, m.permit)
	}
	began := plan.Before{State: base.State, Data: base.Data}
	if m.loop != nil && base.Before != nil {
		began = *base.Before // what was written since is recalled
	}
	m.shared = shared{state.Over(base.Input, o.Input), state.Over(began.State, o.State), state.Over(began.Data)}
	if len(p.Instances) > 0 || o.Joining {
		m.instances = newInstancePool(p, o, m.loop != nil)
	} else {
		m.open(nil)
	}
	return m
}

// Tick is the current tick, from 1; 0 without a planner.
func (m *Machine) Tick() int { return m.tick }

// Status is the status of a call of the current tick. In a frame that is over every call has settled.
func (m *Machine) Status(t Try) Status {
	if t.Frame >= len(m.frames) || m.frames[t.Frame] == nil {
		return Done
	}
	one := &m.frames[t.Frame].calls[t.Call]
	if one.asks() {
		return Asking
	}
	return one.status
}

// Budget is what the patterns and expressions of the run have taken, and may still take.
func (a *allowances) Budget() *resolve.Budget { return &a.budget }

// Over reports whether the run has ended or stopped.
func (p *progress) Over() bool { return p.over }

// Stopped reports whether the run has stopped short of its end, so that it can be resumed.
func (p *progress) Stopped() bool { return p.stopped }

// Step takes one event and says what is to be done about it. The commands are the machine's own until the next Step.
func (m *Machine) Step(e Event) []Command {
	m.commands = m.commands[:0]
	if m.over && e.Kind != Resumed {
		if m.stopped {
			m.late = append(m.late, e)
		}
		return nil
	}
	m.now = max(m.now, e.At)
	m.take(e)
	checkBudget(m)
	for !m.over {
		m.settleAll()
		m.startQueued()
		if len(m.awake)+len(m.finished) > 0 {
			continue
		}
		switch {
		case m.draining == "" && admitInstances(m), m.unsettled == 0 && m.advance():
			continue
		case m.draining != "" && m.running == 0:
			m.stop(m.draining)
		}
		break
	}
	if m.inconsistency != "" {
		panic(fault(m.inconsistency))
	}
	return m.commands
}

// Check reports why an event of a journal can't be the next one, or nil: a result that no attempt at work can have
// brought, or a number that nothing has. Other events that answer nothing are ignored.
func (m *Machine) Check(e *Event) error {
	kinds := []EventKind{RunBegan, Ended, Fired, Stopped, Streamed, Closed, Decided, Resumed, Joined}
	switch f := m.frame(e); {
	case !slices.Contains(kinds, e.Kind):
		return fmt.Errorf("there is no event %q", e.Kind)
	case e.Usage != nil && (min(e.Usage.InputTokens, e.Usage.OutputTokens) < 0 || !(e.Usage.Cost >= 0)):
		return errors.New("what an answer cost is below nothing")
	case m.opened && e.Kind == RunBegan:
		return errors.New("the run begins a second time")
	case e.Kind == Resumed && e.Resumption != nil && e.Resumption.Confirm != nil:
		return e.Resumption.Confirm.Check()
	case m.over && !m.stopped || e.Kind != Ended:
	case f == nil || f.calls[e.Call].attempt != int32(e.Attempt) || !f.isAtWork(int32(e.Call)):
		return fmt.Errorf("the event %q of call %d (try %d, frame %d, tick %d) answers nothing", e.Kind,
			e.Call, e.Attempt, e.Frame, e.Tick)
	case e.Route < -1 || e.Route >= max(1, len(f.call(int32(e.Call)).Output)):
		return fmt.Errorf("a result is for alternative %d of %d", e.Route, len(f.call(int32(e.Call)).Output))
	}
	return nil
}

func (m *Machine) take(e Event) {
	if e.Usage != nil {
		m.usage.Add(*e.Usage)
	}
	if e.Kind == Ended && (e.Steps > 0 || e.Made > 0) {
		m.budget.Tries++
		m.budget.Steps += max(0, e.Steps)
		m.budget.Made += max(0, e.Made)
	}
	f, ofTick := m.frame(&e), m.planning() && e.Tick == m.tick
	switch {
	case e.Kind == RunBegan:
		m.begin()
	case e.Kind == Joined:
		addInstances(m, e)
	case e.Kind == Streamed && ofTick:
		m.loop.streamed(e)
	case e.Kind == Closed && ofTick:
		m.loop.closed(e)
	case e.Kind == Stopped && e.Gently:
		m.drain(Reason(e.Text))
	case e.Kind == Stopped:
		m.stop(Reason(e.Text))
	case e.Kind == Resumed:
		resumeRun(m, e)
	case e.Kind == Fired && f == nil && e.Call == Run:
		reason := ReasonTime
		if overspends(m, 0) {
			reason = ReasonPermit
		}
		m.stop(reason)
	case f == nil || f.calls[e.Call].attempt != int32(e.Attempt):
	case e.Kind == Fired:
		f.fired(int32(e.Call))
	case e.Kind == Ended && f.isAtWork(int32(e.Call)):
		f.ended(e)
	case e.Kind == Decided && e.Decision != nil && f.calls[e.Call].asks():
		takeDecision(f, int32(e.Call), e.Decision)
	}
}

// frame is whose call an event is about; nil if it is none of the current tick's.
func (m *Machine) frame(e *Event) *frame {
	if e.Tick != m.tick || e.Frame < 0 || e.Frame >= len(m.frames) {
		return nil
	}
	if f := m.frames[e.Frame]; f != nil && e.Call >= 0 && e.Call < len(f.calls) {
		return f
	}
	return nil
}

// emit appends a command for the caller to fill in before the next.
func (m *Machine) emit(kind CommandKind) *Command {
	m.commands = append(m.commands, Command{Kind: kind, Try: Try{Tick: m.tick}, Site: noSite})
	return &m.commands[len(m.commands)-1]
}

func (m *Machine) emitRun(kind CommandKind) *Command {
	c := m.emit(kind)
	c.Call = Run
	return c
}

func (m *Machine) begin() {
	m.opened = true
	setDeadline(m)
	switch {
	case m.instances != nil: // they are admitted as there is room
	case m.loop != nil:
		m.loop.nextTick()
	default:
		m.frames[0].begin()
	}
}

// settleAll looks at every call that may be decided, and at those that settle with it, until nothing changes.
func (m *Machine) settleAll() {
	for len(m.awake)+len(m.finished) > 0 {
		if len(m.awake) > 0 {
			first(&m.awake).settleAll()
		} else if f := first(&m.finished); m.frames[f.number] == f {
			switch {
			case f.parent != nil:
				returnResult(f)
			case m.loop == nil && m.instances != nil:
				output, status := concludeFrame(f), RunDone
				if len(f.errors) > 0 {
					status = RunFailed
				}
				leaveRun(f, status, output)
			}
		}
	}
}

// first takes the first frame out of a list. An empty list holds none of those that have left.
func first(list *[]*frame) *frame {
	f := (*list)[0]
	if (*list)[0] = nil; len(*list) == 1 {
		*list = (*list)[:0] // its room serves again
	} else {
		*list = (*list)[1:]
	}
	return f
}

// startQueued starts ready calls in plan order, then in the order of instances, as long as there is room.
func (m *Machine) startQueued() {
	for len(m.queue) > 0 && m.draining == "" && !m.over && m.running < m.parallel && m.asked == 0 {
		next := heap.Pop(&m.queue, ready.before)
		f, i := next.frame, next.call
		call := f.call(i)
		if f.calls[i].status != Queued { // its delegate was given up meanwhile
			continue
		}
		switch v := checkStart(f, i); {
		case v.Kind == guard.Refuse:
			f.settle(i, Settlement{Status: Failed, Failure: &Failure{Code: v.Code, Message: v.Reason},
				Attempts: int(f.calls[i].attempt)})
		case v.Kind == guard.Ask && v.Outside != nil:
			askOutside(f, i, v.Outside)
		case v.Kind == guard.Ask:
			f.ask(i, "")
		case v.Kind == guard.Stop:
			f.transition(i, Queued)
			m.drain(Reason(v.Reason))
		case call.Latent() && call.Produced != nil: // the plan holds its result
			f.transition(i, Running)
			tellGuards(f, i, guard.Started)
			f.complete(i, call.Produced.Value(), call.Takes-1, nil)
		case call.Each != nil || call.Delegate != "":
			startBelow(f, i)
		default:
			f.start(i)
		}
		m.settleAll() // the calls of a delegate come before those listed after it
	}
}

// Bound stops a simulation before delegates and their calls are more than so many, or patterns of parameters cost so
// much: without activities these take no time, in which it could be stopped.
func (a *allowances) Bound(delegates, matched int, reason Reason) {
	a.mostDelegated, a.budget.MostCost, a.tooMuch = delegates, matched, reason
}

// Run is the call of a timer for the run itself.
const Run = -1

// advance ends the run, or its tick, now that every call has settled. It reports whether there is more to do.
func (m *Machine) advance() bool {
	switch {
	case m.instances.more() || !m.opened || m.planning():
		return false
	case m.loop == nil, len(m.roots()) == 0:
		var output any
		if m.instances == nil {
			output = concludeFrame(m.frames[0])
		}
		m.finish(outcomeOf(m, output))
	case m.loop.stream == nil || m.loop.ended: // all instances have joined, or the run was stopped between two ticks
		m.loop.nextTick()
	default:
		m.loop.endTick()
	}
	return true
}

// roots are the frames of the run itself, in the order of their instances.
func (m *Machine) roots() []*frame {
	if m.instances == nil {
		return m.frames[:1]
	}
	return m.instances.roots
}

func (m *Machine) program(p *plan.Plan) *resolve.Program {
	known := m.programs[p]
	if known == nil {
		known = &resolve.Program{Facts: facts.OfCalls(p), Schemas: map[pathtree.ID]*schema.Schema{},
			Layout: state.Layout{Plan: p, Paths: p.Paths, Tick: m.tick, Settled: true, ByTime: m.byTime,
				Inconsistency: &m.inconsistency}}
		if m.loop != nil && p.Form == plan.Replan {
			known.Settled = !m.loop.isStreaming
		}
		m.programs[p] = known
	}
	return known
}

// Reference is how a plan runs, in the form of [compiler.Reference].
//
//go:embed EXECUTION.md
var Reference string

// A World carries out what a machine commands, and reports what happens because of it: with programs and people
// (package local), on a virtual clock (package simulate), out of a journal (package session), or in the history
// of a workflow engine. It decides nothing about the plan.
type World interface {
	// Next waits for the next event. The first begins or resumes the run. A world that keeps its events has
	// kept this one, or does so before anything that follows from it is carried out. A world whose run is
	// interrupted from outside gives a [Stopped] event.
	Next() (Event, error)
	// Do carries out the commands that follow from that event, in their order. Once a run is over, or has stopped, the
	// last is [Finish]: then all of them have been carried out when Do returns.
	Do(commands []Command) error
}

// Drive runs a machine in a world until the run is over or has stopped. It reads no clock, no file and no map's order:
// the same events bring a new machine to the same place. The error is the world's, or that the machine isn't consistent
// any more: the event that showed it may be in a journal, and a run that is resumed has the same result.
func Drive(m *Machine, w World) (outcome *Outcome, err error) {
	defer func() {
		switch bug := recover().(type) {
		case nil:
		case fault:
			err = fmt.Errorf("internal error: %s; this is a fault of obelus, please report it with the plan",
				string(bug))
		default:
			panic(bug)
		}
	}()
	for {
		e, err := w.Next()
		if err != nil {
			return nil, err
		}
		commands := m.Step(e)
		if err := w.Do(commands); err != nil {
			return nil, err
		}
		if n := len(commands); n > 0 && commands[n-1].Kind == Finish {
			return commands[n-1].Outcome, nil
		}
	}
}

// A fault is what a machine panics with that finds itself inconsistent.
type fault string
