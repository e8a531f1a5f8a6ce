// Package simulate runs a plan without carrying it out: the same machine as a real run, on a virtual clock, with
// activities whose results, durations and failures are made up from what the tools say of themselves. The same seed
// gives the same simulation.
package simulate

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/bind"
	"github.com/obelus-dev/obelus/compiler/heap"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/activity"
	"github.com/obelus-dev/obelus/runtime/state"
)

// Options say what is to be simulated.
type Options struct {
	runtime.Options
	// Seed decides everything that is left to chance.
	Seed uint64
	// Schedule, above 0, draws durations anew and leaves results alone: another interleaving of the same work.
	Schedule int
	// Generated are the keys of the input that were made up: on branches they may be others.
	Generated []string
	// Fail names what fails every time: tools, calls, items of calls ("fetch#1[2]"), and calls
	// of delegates by their name or path.
	Fail []string
	// Steps, above 0, bounds what the simulation may cost: a step for every value that calls are given and give back,
	// and stepsOfCall for a call; a call of a delegate costs as much again when the delegate begins. One that needs
	// more is stopped.
	Steps int
	// Observe sees every command at its virtual time.
	Observe func(at time.Duration, c runtime.Command)
	// Abandoned, if given, is asked before every event; where it is so the simulation is stopped, and no other of the
	// same kind begun.
	Abandoned func() bool

	course *course // says how calls end, where branches are explored
	// script says it elsewhere, and after what time
	script func(runtime.Command, *runtime.Event) (time.Duration, error)
}

// DefaultSteps is what one simulation of a plan may cost where no one declares otherwise.
func DefaultSteps(p *plan.Plan) int {
	calls := len(p.Calls)
	for _, d := range p.AllDelegates() {
		calls += len(d.Calls)
	}
	return 500_000 + 50*calls
}

// A Scenario is one simulation.
type Scenario struct {
	Seed         uint64
	Schedule     int
	Outcome      *runtime.Outcome
	Calls        []*CallReport // in plan order, instance by instance; those of a delegate behind its call
	Makespan     time.Duration
	Cost         float64
	CriticalPath []*CallReport // for which the last call waited, first to last
	Steps        int           // what it has cost; see [Options]
}

// A CallReport is what became of one call.
type CallReport struct {
	runtime.Settlement // none of a call that never finished
	Call               *plan.Call
	Instance           string // "" without instances
	Under              string // the calls above one of a delegate; see [runtime.Command]
	Started            bool
	From, To           time.Duration // first start, and settlement; both the settlement of one that never started
	Cost               float64
}

// Run simulates the plan once.
func Run(r *analyzer.Simulation, o Options) *Scenario {
	w := newWorld(r, o)
	if !w.machine.Budget().Unbounded {
		w.budget = activity.NewBudget(0, 0, 0)
	}
	if o.Steps > 0 {
		w.machine.Bound(o.Steps/stepsOfCall, o.Steps*perStep, TooLong)
		w.out.Steps = min(looks(r.Plan())/perStep, o.Steps/2)
		calls := 0
		for _, one := range r.Plan().Instances {
			calls += bind.CallsOf(r.Plan(), one.ID)
		}
		if calls > o.Steps/stepsOfCall { // all of them would begin at once
			w.out.Outcome = &runtime.Outcome{Status: runtime.RunStopped, Reason: TooLong, Errors: []runtime.CallError{}}
			return w.out
		}
	}
	if _, err := runtime.Drive(w.machine, w); err != nil {
		w.out.Outcome = &runtime.Outcome{Status: runtime.RunFailed, Reason: runtime.Reason(err.Error())}
	}
	w.out.Makespan = w.now
	w.weigh(w.out.Outcome.Output) // which may hold the same part many times
	w.out.Steps = w.cost()
	w.gather()
	return w.out
}

func newWorld(r *analyzer.Simulation, o Options) *world {
	w := &world{options: o, machine: runtime.Simulate(r, o.Options), frames: map[int]*frame{},
		out: &Scenario{Seed: o.Seed, Schedule: o.Schedule}}
	w.later(0, runtime.Event{Kind: runtime.RunBegan, Try: runtime.Try{Call: runtime.Run}})
	return w
}

// looks is how often calls look at what they wait for: each time one of those has settled, at each of their reads.
func looks(p *plan.Plan) (n int) {
	for i, call := range p.Calls {
		n += (1 + len(call.Reads)) * len(p.Graph.Deps(i))
	}
	return n
}

// Next gives the next event that is due, unless the simulation is to be stopped.
func (w *world) Next() (runtime.Event, error) {
	for len(w.due) > 0 {
		switch o := &w.options; {
		case o.Steps > 0 && w.cost() > o.Steps:
			return w.stop(TooLong), nil
		case o.Abandoned != nil && o.Abandoned():
			return w.stop(Unwatched), nil
		}
		next := heap.Pop(&w.due, happening.before)
		e := next.event
		if e.Call >= 0 && w.machine.Status(e.Try).Settled() {
			continue // a timer nobody waits for any more doesn't make the simulation longer
		}
		w.now, e.At = next.at, next.at
		return e, nil
	}
	return runtime.Event{}, errors.New("internal error: nothing is at work, and the run isn't over")
}

func (w *world) stop(why string) runtime.Event {
	w.due = nil
	return runtime.Event{Kind: runtime.Stopped, At: w.now, Text: why}
}

// TooLong is the reason of a simulation that was stopped by Options.Steps.
const TooLong = "the simulation takes too many steps"

// Unwatched is the reason of a simulation that was abandoned.
const Unwatched = "nobody waits for the simulation any more"

// stepsOfCall is what a call costs beside its values, and stepsOfSample one of the steps in which a result is made up;
// perStep is how many steps of expressions and patterns, bytes of text and looks along edges of the graph cost one.
const (
	stepsOfCall   = 10
	stepsOfSample = 2
	perStep       = 10
)

// cost is what the simulation has cost so far.
func (w *world) cost() int {
	budget := w.machine.Budget()
	return w.out.Steps + (budget.Matching.Used+max(0, budget.Resolved()))/perStep
}

func (w *world) weigh(v any) {
	if w.options.Steps <= 0 || w.out.Steps > w.options.Steps {
		return
	}
	w.out.Steps++
	switch v := v.(type) {
	case string:
		w.out.Steps += len(v) / perStep
	case []any:
		for _, item := range v {
			w.weigh(item)
		}
	case map[string]any:
		w.out.Steps += len(v) // keys, too; in which order they come doesn't matter
		for _, item := range v {
			w.weigh(item)
		}
	}
}

type world struct {
	options Options
	machine *runtime.Machine
	now     time.Duration
	due     []happening // a heap
	order   int
	frames  map[int]*frame
	roots   []*frame         // those of the run itself
	budget  *activity.Budget // of expressions; nil for no bound
	out     *Scenario
}

type happening struct {
	at    time.Duration
	order int // of two at one time, the one planned first
	event runtime.Event
}

func (a happening) before(b happening) bool { return a.at < b.at || a.at == b.at && a.order < b.order }

func (w *world) later(after time.Duration, e runtime.Event) {
	w.order++
	heap.Push(&w.due, happening{w.now + after, w.order, e}, happening.before)
}

// Do makes up what follows from commands, and when.
func (w *world) Do(commands []runtime.Command) error {
	for _, c := range commands {
		if w.options.Observe != nil {
			w.options.Observe(w.now, c)
		}
		if c.Plan != nil {
			w.meet(c)
		}
		switch c.Kind {
		case runtime.Enter:
			w.enter(c)
		case runtime.Settle:
			w.settled(c)
		case runtime.Start:
			if err := w.start(c); err != nil {
				return err
			}
		case runtime.Ask:
			e := c.Event(runtime.Decided)
			e.Decision = &runtime.Decision{Verdict: runtime.Approve}
			if w.options.course != nil && !w.options.course.approves(c) {
				e.Decision.Verdict = runtime.Reject
			}
			w.later(0, e)
		case runtime.Cancel: // every activity obeys at once
			if c.Call != runtime.Run && w.machine.Status(c.Try) == runtime.Running && !w.machine.Over() {
				w.later(0, c.Event(runtime.Ended))
			}
		case runtime.SetTimer:
			w.later(c.After, c.Event(runtime.Fired))
		case runtime.Finish:
			w.out.Outcome = c.Outcome
		}
	}
	return nil
}

func (w *world) enter(c runtime.Command) {
	within := c.Count
	if c.Of.Each == nil {
		within = len(c.Plan.Delegates[c.Of.Delegate].Calls)
	}
	w.out.Steps += stepsOfCall * (1 + within)
	w.weigh(c.Params)
	w.report(c.Try).start(w.now)
}

func (r *CallReport) start(now time.Duration) {
	if !r.Started {
		r.Started, r.From = true, now
	}
}

// start makes up how an attempt goes, and when it will have gone.
func (w *world) start(c runtime.Command) error {
	e := c.Event(runtime.Ended)
	if w.options.script != nil {
		after, err := w.options.script(c, &e)
		w.later(after, e)
		return err
	}
	report := w.report(c.Try)
	w.out.Steps += stepsOfCall
	w.weigh(c.Params)
	report.start(w.now)
	how, failing := profile(c.Of.Tool)
	if how.Cost != nil {
		report.Cost += draw(how.Cost.Median, how.Cost.Most, w.chance(c, -2))
	}
	duration := draw(float64(cmp.Or(how.Duration.Median, defaultDuration)), float64(how.Duration.Most),
		w.chance(c, w.options.Schedule))
	if w.options.Schedule > 0 {
		duration *= 0.1 + 1.9*w.chance(c, w.options.Schedule+1).Float64()
	}
	chance := w.chance(c, -1)
	switch {
	case w.options.course != nil:
		w.options.course.ends(w, c, chance, &e)
	case w.options.mustFail(c.Of, c.Under):
		e.Failure = &runtime.Failure{Code: activity.CodeError, Message: asRequested}
	case chance.Float64() < failing:
		e.Failure = &runtime.Failure{Code: activity.CodeError, Message: "a failure drawn at the tool's rate"}
	default:
		w.perform(c, chance, &e)
	}
	w.later(time.Duration(duration), e)
	return nil
}

// asRequested is why a call fails that [Options.Fail] names.
const asRequested = "it fails as requested"

func (o *Options) mustFail(call *plan.Call, under string) bool {
	planned := compiler.RepeatedCall(call).Name
	return slices.ContainsFunc(o.Fail, func(name string) bool {
		return name == call.ToolName || name == call.Name || name == planned ||
			under != "" && (name == runtime.Path(under, call.Name) || name == runtime.Path(under, planned))
	})
}

func (w *world) settled(c runtime.Command) {
	report := w.report(c.Try)
	report.Settlement, report.To = *c.Settlement, w.now
	if !report.Started {
		report.From = w.now
	}
}

// chance is the source of randomness for one attempt of a call: it depends on the
// seed and the call's name (with its instance, and the calls above it) alone, never
// on what else happens, so that results are the same under every schedule.
func (w *world) chance(c runtime.Command, schedule int) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(c.Of.Name))
	if c.Instance != "" || c.Under != "" {
		h.Write([]byte("\x00" + c.Instance + "\x00" + c.Under))
	}
	return rand.New(rand.NewPCG(w.options.Seed, h.Sum64()^uint64(c.Attempt)<<32^uint64(schedule+1)))
}

// SampleRun simulates one run whose values samples make up: an [analyzer.SampleRun]. Activities end at once, in the
// order in which they start.
func SampleRun(r *analyzer.Simulation, s state.Samples) error {
	w := newWorld(r, Options{Options: runtime.Options{Parallel: math.MaxInt}})
	w.machine.Budget().Samples = s
	w.options.script = func(c runtime.Command, e *runtime.Event) (time.Duration, error) {
		e.Value, e.Route, e.Failure = s.Ends(c.Of, c.Params)
		return 0, nil
	}
	w.options.Observe = func(_ time.Duration, c runtime.Command) {
		if c.Kind == runtime.Settle {
			s.Settled(c.Of, c.Settlement.Status == runtime.Done, c.Settlement.Failure)
		}
	}
	_, err := runtime.Drive(w.machine, w)
	return err
}

// FinalState simulates one schedule and gives the state that it ends in, and how each call ends: an [analyzer.Replay].
// Activities end in its order and as it says, and those that it doesn't name fail after all others. It is an error when
// the plan can't be run so: a call isn't at work when it should end.
func FinalState(r *analyzer.Simulation, s analyzer.Schedule) (any, error) {
	r, err := r.Single()
	if err != nil {
		return nil, err
	}
	o := runtime.Options{Input: s.Input, State: s.State, Parallel: math.MaxInt}
	w, ends := newWorld(r, Options{Options: o}), slices.Clone(s.Events)
	w.options.script = func(c runtime.Command, e *runtime.Event) (time.Duration, error) {
		at := slices.IndexFunc(ends, func(end analyzer.ScheduledEnd) bool { return end.Call == c.Of.Name })
		if at < 0 {
			e.Failure = &runtime.Failure{Code: activity.CodeError, Message: "the schedule doesn't name it"}
			return max(0, time.Duration(len(ends)+1)-w.now), nil
		}
		after := time.Duration(at+1) - w.now
		if after <= 0 {
			return 0, fmt.Errorf("the call %q isn't at work then", c.Of.Name)
		}
		end := ends[at]
		ends[at].Call = "" // another attempt isn't named
		switch {
		case end.Fails:
			e.Failure = &runtime.Failure{Code: activity.CodeError, Message: "the schedule lets it fail"}
		case end.Path != "":
			named := map[string]any{"_outputPath": end.Path, "_output": end.Output}
			result, err := activity.Take(named, activity.RequestOf(c, nil), c.Of.Activity)
			result.End(e, err)
		default:
			e.Value = end.Output
		}
		return after, nil
	}
	outcome, err := runtime.Drive(w.machine, w)
	if err != nil {
		return nil, err
	}
	end := []any{outcome.State}
	for i := range r.Plan().Calls {
		end = append(end, w.machine.Status(runtime.Try{Call: i}))
	}
	return end, nil
}
