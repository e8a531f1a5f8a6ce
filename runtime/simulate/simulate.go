// Package simulate runs a plan without carrying it out: the same machine as a real run, on a virtual clock, with
// activities whose results, durations and failures are made up from what the tools say of themselves. The same seed
// gives the same simulation.
package simulate

import (
	"errors"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/bind"
	"github.com/obelus-dev/obelus/compiler/heap"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/activity"
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
	// more is stopped. With instances only as many are simulated as there is room for.
	Steps int
	// Observe sees every command at its virtual time.
	Observe func(at time.Duration, c runtime.Command)
	// Watch, if given, is asked before every event, with what the simulation has cost so far;
	// where it says no the simulation is stopped, and no other of the same kind begun.
	Watch func(steps int) bool

	course *course // says how calls end, where branches are explored
}

// DefaultSteps is what one simulation of a plan may cost where no one declares otherwise,
// and twice as much what all of it in other orders may.
func DefaultSteps(p *plan.Plan) int {
	calls := len(p.Calls)
	for _, d := range p.AllDelegates() {
		calls += len(d.Calls)
	}
	return 500_000 + 50*calls
}

// A Scenario is one simulation. The work is that of activities: a call that a plan carries out is as long as its calls.
type Scenario struct {
	Plan         *plan.Plan
	Seed         uint64
	Schedule     int
	Outcome      *runtime.Outcome
	Calls        []CallReport // in plan order, instance by instance; those of a delegate behind its call
	Makespan     time.Duration
	LowerBound   time.Duration // the larger of the critical path and the work divided by the parallelism
	Work         time.Duration // of all activities together
	Cost         float64
	CriticalPath []int // calls, first to last
	Critical     time.Duration
	Peak         int // activities at work at once, at most
	Steps        int // what it has cost; see [Options]
	Left         int // instances that weren't simulated: there was no room for them
}

// A CallReport is what became of one call.
type CallReport struct {
	Call     *plan.Call
	Instance string // "" without instances
	Under    string // the calls above one of a delegate; see [runtime.Command]
	Status   runtime.Status
	Reason   string
	Failure  *runtime.Failure
	Routed   bool
	Attempts int
	Started  bool
	From, To time.Duration // first start, and settlement; both the settlement of one that never started
	Busy     time.Duration // its activity at work, all tries together
	Paused   time.Duration // between tries, as long as they have to be apart
	Cost     float64
	Output   any

	since time.Duration // the try at work began
	pause time.Duration // that comes before the next
}

// Run simulates the plan once.
func Run(r *analyzer.Simulation, o Options) *Scenario {
	w := newWorld(r, o)
	w.prepare()
	if _, err := runtime.Drive(w.machine, w); err != nil {
		w.out.Outcome = &runtime.Outcome{Status: runtime.RunFailed, Reason: runtime.Reason(err.Error())}
	}
	w.out.Makespan = w.now
	w.weigh(w.out.Outcome.Output) // which may hold the same part many times
	w.analyse()
	return w.out
}

// Next gives the next event that is due, unless the simulation is to be stopped.
func (w *world) Next() (runtime.Event, error) {
	if !w.began {
		w.began = true
		return runtime.Event{Kind: runtime.RunBegan}, nil
	}
	for len(w.due) > 0 {
		switch o := &w.options; {
		case o.Steps > 0 && w.out.Steps > o.Steps:
			return w.stop(TooLong), nil
		case o.Watch != nil && !o.Watch(w.out.Steps):
			return w.stop(Unwatched), nil
		}
		next := heap.Pop(&w.due, happening.before)
		e := next.event
		if e.Call >= 0 && w.machine.Status(e.Try).Settled() {
			continue // a timer nobody waits for any more doesn't make the simulation longer
		}
		w.now, e.At = next.at, next.at
		if e.Kind == runtime.Ended && e.Attempt == w.report(e.Try).Attempts &&
			w.machine.Status(e.Try) == runtime.Running {
			w.stopped(e.Try)
		}
		return e, nil
	}
	return runtime.Event{}, errors.New("internal error: nothing is at work, and the simulation isn't over")
}

func (w *world) stop(why string) runtime.Event {
	w.due = nil
	return runtime.Event{Kind: runtime.Stopped, At: w.now, Text: why}
}

// TooLong is the reason of a simulation that was stopped by Options.Steps.
const TooLong = "the simulation takes too many steps"

// Unwatched is the reason of a simulation that was stopped by Options.Watch.
const Unwatched = "nobody waits for the simulation any more"

// stepsOfCall is what a call costs beside its values, and stepsOfSample one of the steps in which a result is made up;
// stepsOfStep is how many steps of an expression count as one, bytesOfStep is how much text and edgesOfStep how many
// edges of the graph count as a value.
const (
	stepsOfCall   = 10
	stepsOfSample = 2
	stepsOfStep   = 10
	bytesOfStep   = 16
	edgesOfStep   = 16
	effortOfStep  = 16 // of patterns
)

// prepare counts what the graph costs, and leaves out the last instances, for which there is no room.
func (w *world) prepare() {
	all := w.plan.Instances
	if w.options.Steps <= 0 {
		return
	}
	w.machine.Bound(w.options.Steps/stepsOfCall, w.options.Steps*effortOfStep, TooLong)
	w.out.Steps += min(w.plan.Graph.Edges()/edgesOfStep, w.options.Steps/2)
	if len(all) == 0 {
		return
	}
	room := w.options.Steps / 2 // and as much for values
	kept := 0
	for steps := 0; kept < len(all); kept++ {
		if steps += stepsOfCall * bind.CallsOf(w.plan, all[kept].ID); steps > room && kept > 0 {
			break
		}
	}
	w.out.Left = len(all) - kept
	w.machine.Keep(kept)
}

func (w *world) weigh(v any) {
	if w.options.Steps <= 0 || w.out.Steps > w.options.Steps {
		return
	}
	w.out.Steps++
	switch v := v.(type) {
	case string:
		w.out.Steps += len(v) / bytesOfStep
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

func newWorld(r *analyzer.Simulation, o Options) *world {
	w := &world{plan: r.Plan(), options: o, machine: runtime.Simulate(r, o.Options),
		read: map[*plan.Plan][][]*plan.Read{}, frames: map[int]*played{}}
	if !w.machine.Budget().Unbounded {
		w.budget = activity.NewBudget(0, 0, 0)
	}
	w.out = &Scenario{Plan: w.plan, Seed: o.Seed, Schedule: o.Schedule}
	return w
}

type world struct {
	plan     *plan.Plan
	options  Options
	machine  *runtime.Machine
	began    bool
	now      time.Duration
	due      []happening // a heap
	order    int
	running  int
	frames   map[int]*played
	roots    []*played                     // those of the run itself
	read     map[*plan.Plan][][]*plan.Read // by writer
	budget   *activity.Budget              // of expressions; nil for no bound
	resolved int                           // what the machine's own expressions had taken when that was counted last
	matched  int                           // the same of what patterns may have cost
	out      *Scenario
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
	budget := w.machine.Budget()
	w.out.Steps += (budget.Matching.Used - w.matched) / effortOfStep
	w.matched = budget.Matching.Used
	if now := budget.Resolved(); now > w.resolved {
		w.out.Steps += (now - w.resolved) / stepsOfStep
		w.resolved = now
	}
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
			w.start(c)
		case runtime.Ask:
			w.decide(c)
		case runtime.Cancel:
			w.giveUp(c)
		case runtime.SetTimer:
			if c.Call != runtime.Run && w.machine.Status(c.Try) != runtime.Running {
				w.report(c.Try).pause = c.After
			}
			w.later(c.After, c.Event(runtime.Fired))
		case runtime.Finish:
			w.out.Outcome = c.Outcome
		}
	}
	return nil
}

// start makes up how a try goes, and when it will have gone.
func (w *world) start(c runtime.Command) {
	call, report := c.Of, w.report(c.Try)
	w.out.Steps += stepsOfCall
	w.weigh(c.Params)
	if !report.Started {
		report.Started, report.From = true, w.now
	}
	report.Attempts, report.Paused, report.pause = c.Attempt, report.Paused+report.pause, 0
	report.since = w.now
	if w.running++; w.running > w.out.Peak {
		w.out.Peak = w.running
	}
	e := c.Event(runtime.Ended)
	how := w.profile(call.Tool)
	report.Cost += how.cost.draw(w.chance(c, -2))
	duration := time.Duration(how.duration.draw(w.chance(c, w.options.Schedule)))
	if w.options.Schedule > 0 {
		duration = time.Duration(float64(duration) * (0.1 + 1.9*w.chance(c, w.options.Schedule+1).Float64()))
	}
	chance := w.chance(c, -1)
	switch {
	case w.options.course != nil:
		w.options.course.ends(w, c, chance, &e)
	case w.options.mustFail(call, c.Under):
		e.Failure = &runtime.Failure{Code: activity.CodeError, Message: asRequested}
	case chance.Float64() < how.failure:
		e.Failure = &runtime.Failure{Code: activity.CodeError, Message: "a failure drawn at the tool's rate"}
	default:
		w.perform(c, chance, &e)
	}
	w.later(duration, e)
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

func (w *world) decide(c runtime.Command) {
	decision := runtime.Decision{Verdict: runtime.Approve}
	if w.options.course != nil && !w.options.course.approves(c) {
		decision.Verdict = runtime.Reject
	}
	e := c.Event(runtime.Decided)
	e.Decision = &decision
	w.later(0, e)
}

// perform makes up what a try gives back, by the very rules by which a run takes it.
func (w *world) perform(c runtime.Command, chance *rand.Rand, e *runtime.Event) {
	call, request := c.Of, activity.RequestOf(c, w.budget)
	var result activity.Result
	var err error
	if a := evaluated(c.Plan, call); a != nil {
		result, err = activity.Evaluate(a.Name, a.Expression, request)
		w.out.Steps += result.Steps / stepsOfStep
		w.weigh(result.Value)
	} else if e.Value, e.Failure = w.result(w.planOf(c), call, chance); e.Failure != nil {
		return
	} else {
		w.weigh(e.Value)
		result, err = activity.Take(e.Value, request, call.Activity)
	}
	result.End(e, err)
}

// evaluated is the activity whose expression gives a call's result; nil where the tool's examples do, or its schema.
func evaluated(p *plan.Plan, call *plan.Call) *plan.Activity {
	a, tool := p.Activities[call.Activity], call.Single()
	if a == nil || a.Expression == nil || tool != nil && len(tool.Mocks) > 0 {
		return nil
	}
	return a
}

// giveUp ends a try at once that is given up: here every activity obeys.
func (w *world) giveUp(c runtime.Command) {
	switch {
	case c.Call == runtime.Run || w.machine.Status(c.Try) != runtime.Running:
	case w.machine.Over():
		w.stopped(c.Try)
	default:
		w.later(0, c.Event(runtime.Ended))
	}
}

func (w *world) stopped(t runtime.Try) {
	w.running--
	report := w.report(t)
	report.Busy += w.now - report.since
}

func (w *world) settled(c runtime.Command) {
	report := w.report(c.Try)
	report.Status, report.Reason, report.To = c.Settlement.Status, c.Settlement.Reason, w.now
	report.Failure, report.Routed, report.Output = c.Settlement.Failure, c.Settlement.Routed, c.Settlement.Output
	if !report.Started {
		report.From = w.now
	}
}

// chance is the source of randomness for one try of a call: it depends on the
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

// result makes up what an activity gives back: what the tool's own examples say, or
// a value that the tool's "_output" accepts.
func (w *world) result(plan *plan.Plan, call *plan.Call, chance *rand.Rand) (any, *runtime.Failure) {
	if call.Tool != nil && len(call.Tool.Mocks) > 0 {
		return call.Tool.Mocks[chance.IntN(len(call.Tool.Mocks))], nil
	}
	if call.Produced != nil {
		return call.Produced.Value(), nil
	}
	known := schemas(plan, compiler.RepeatedCall(call), -1)
	if call.Tool != nil && call.Tool.Output != nil {
		known = []*schema.Schema{call.Tool.Output} // whether the state has a place for it is to be seen
	}
	if len(known) == 0 || call.ItemOf != nil && call.Tool.Output == nil {
		return w.unsaid(plan, call, chance), nil
	}
	left := schema.SampleSteps
	value, ok := schema.AllOf(known...).FullWithin(chance, &left)
	w.out.Steps += stepsOfSample * (schema.SampleSteps - left)
	if !ok {
		return nil, &runtime.Failure{Code: activity.CodeBadOutput, Message: unmakeable}
	}
	return value, nil
}

const unmakeable = "no value that fits the tool's \"_output\" could be made up; give it \"examples\""
