// Package local runs a plan here and now: every activity in a goroutine of its own, on the machine's clock. It carries
// out the commands of a [runtime.Machine] and decides nothing.
package local

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/activity"
)

// Options are what a run takes besides its plan.
type Options struct {
	runtime.Options
	// Activities carries out the calls.
	Activities Runner
	// Planner writes solutions, and the results of latent calls. Nil is no planner.
	Planner Planner
	// Confirmer asks people. Nil means that there is nobody to ask, as [ErrNoReviewer] does: a run that needs an answer
	// runs everything else and then stops, for the reason [runtime.ReasonConfirmation] or [runtime.ReasonInFlight].
	Confirmer Confirmer
	// Answered, if given, gives answers that were given before the question, or nil.
	Answered func(q *runtime.Question) *runtime.Decision
	// Instances join the run, at most Batch at once; the machine's options say that they are to be asked for.
	Instances []runtime.Instance
	Batch     int
	// Journal, if given, has every event on disk before what follows from it is done.
	Journal Journal
	// Observe, if given, sees every command, with the time since the run began, before it is carried out. It is called
	// from one goroutine and must not keep what it is given longer than it has to.
	Observe func(at time.Duration, c runtime.Command)
}

// A Runner begins one try of an activity and returns at once with a function that cancels it. When the try has ended,
// ended is called, once, in another goroutine. *activity.Set is one.
type Runner interface {
	Start(ctx context.Context, name string, r activity.Request, ended func(activity.Result, error)) context.CancelFunc
}

// A Planner answers a request, handing out the text of its answer piece by piece as it comes. An error that is
// [request.ErrCut] says that the answer broke off; one with a method Refusal() string that the model declined, in its
// words; any other that there is no planner to be had, which stops the run.
type Planner interface {
	Answer(ctx context.Context, r *runtime.Request, emit func(text string)) (runtime.Usage, error)
}

// A Confirmer puts questions to a person. Ask takes one and returns at once: it is called by one goroutine, in the
// order in which the person is to be asked. The function that it returns is called once, in another goroutine; it waits
// for the answer, or until ctx is done. An error says that no answer is to be had: the run stops, but for
// [ErrNoReviewer] not before nothing else is left to do.
type Confirmer interface {
	Ask(ctx context.Context, q *runtime.Question) (answer func() (runtime.Decision, error))
}

// A Journal keeps events. What was appended is on disk when Sync returns. It keeps nothing of the events that it is
// given.
type Journal interface {
	Append(e *runtime.Event) error
	Sync() error
}

// Run runs the plan to its end. When ctx ends, nothing new starts, what runs is cancelled, and the outcome is "stopped"
// for the reason "interrupted". The error is for a plan that this world can't run, and for a journal that can't be
// written: then nothing more is done.
func Run(ctx context.Context, v *analyzer.Verified, o Options) (*runtime.Outcome, error) {
	if err := Runnable(v.Plan(), o.Planner != nil); err != nil {
		return nil, err
	}
	return drive(ctx, runtime.New(v, o.Options), runtime.Event{Kind: runtime.RunBegan}, o)
}

// Resume continues a run that was stopped or killed: with a machine that has been brought to where the run stood by
// stepping the events of its journal; the last came at the given time. The plan and the options of the machine
// are those that the run was begun with. One that has ended is an error.
func Resume(ctx context.Context, m *runtime.Machine, at time.Duration, how runtime.Resumption,
	o Options) (*runtime.Outcome, error) {
	if m.Over() && !m.Stopped() && !how.RetryFailed {
		return nil, errors.New("the run has come to its end, and there is nothing to go on with")
	}
	return drive(ctx, m, runtime.Event{Kind: runtime.Resumed, At: at, Resumption: &how}, o)
}

// Runnable reports why a plan can't be run here, or nil: a latent call needs a model unless its result is in the plan.
func Runnable(p *plan.Plan, planned bool) error {
	all := map[string]*plan.Plan{"": p}
	maps.Copy(all, p.AllDelegates())
	for _, path := range slices.Sorted(maps.Keys(all)) {
		for _, call := range all[path].Calls {
			if !planned && call.Latent() && call.Produced == nil && !compiler.MayBeDone(all[path], call) {
				return fmt.Errorf(
					"the call %q can't be run: no activity carries out the tool %q, and without a model nobody can "+
						"produce its result", runtime.Path(path, call.Name), call.ToolName)
			}
		}
	}
	return nil
}

// A world is a [runtime.World] of this process.
type world struct {
	options Options
	machine *runtime.Machine
	ctx     context.Context // without an end: the machine says when something is to be given up
	started time.Time
	batch   []runtime.Event    // that have happened and weren't given to the machine yet
	events  chan runtime.Event // that happen
	gone    chan struct{}      // closed when nobody hears of them any more
	// what is at work: tries of calls, questions or, with [runtime.Run] as the call, an answer of the planner
	tries  map[runtime.Try]context.CancelFunc
	busy   int              // goroutines that haven't reported back
	budget *activity.Budget // of expressions; nil for no bound
	timers map[runtime.Try]*timer

	interrupt <-chan struct{}   // closed when the run is to stop; nil when it was told so
	held      []runtime.Command // what follows from events that aren't on disk yet
}

const batch = 256

// maxPiece is how many bytes of an answer are an event at most.
const maxPiece = 64 << 10

// drive runs a machine from its first event on.
func drive(ctx context.Context, m *runtime.Machine, first runtime.Event, o Options) (*runtime.Outcome, error) {
	w := &world{
		options: o,
		machine: m,
		ctx:     context.WithoutCancel(ctx), // else its end would race with the event that describes it
		started: time.Now().Add(-first.At),
		batch:   []runtime.Event{first},
		events:  make(chan runtime.Event, 64),
		gone:    make(chan struct{}),
		tries:   map[runtime.Try]context.CancelFunc{},
		timers:  map[runtime.Try]*timer{},

		interrupt: ctx.Done(),
	}
	if taken := m.Budget(); !taken.Unbounded {
		w.budget = activity.NewBudget(taken.Tries, taken.Steps, taken.Made)
	}
	defer close(w.gone)
	defer w.wait()
	return runtime.Drive(m, w)
}

// Next gives what has happened, one event after the other, and records it. When the machine has been given all
// of it, what follows is brought to disk and carried out, and the next is waited for.
func (w *world) Next() (runtime.Event, error) {
	for {
		for len(w.batch) > 0 {
			e := &w.batch[0]
			switch w.batch = w.batch[1:]; {
			case e.Kind == runtime.Fired && !w.ranOut(*e):
			case e.Kind == runtime.Decided && e.Decision == nil: // nobody answers
				w.back(e)
			default:
				err := w.record(e)
				return *e, err
			}
		}
		if err := w.follow(); err != nil {
			return runtime.Event{}, err
		}
		if len(w.batch) == 0 { // else a question was answered before
			if err := w.await(); err != nil {
				return runtime.Event{}, err
			}
		}
	}
}

// await waits for something to happen, and takes with it what has happened meanwhile: all of it goes to disk at once.
func (w *world) await() error {
	if reason := w.stuck(); reason != "" {
		w.batch = append(w.batch, runtime.Event{Kind: runtime.Stopped, Text: string(reason), Gently: true})
		return nil
	}
	if w.busy == 0 && len(w.timers) == 0 {
		return errors.New("internal error: nothing is at work, and the run isn't over")
	}
	select {
	case e := <-w.events:
		w.batch = append(w.batch[:0], e)
		w.gather()
	case <-w.interrupt:
		w.interrupt = nil
		w.batch = append(w.batch, runtime.Event{Kind: runtime.Stopped, Text: string(runtime.ReasonInterrupted)})
	}
	return nil
}

// gather takes the events that have come meanwhile, and so many that a planner that never pauses holds nobody up.
func (w *world) gather() {
	for len(w.batch) < batch {
		select {
		case e := <-w.events:
			w.batch = append(w.batch, e)
		default:
			return
		}
	}
}

// record notes that an event has come, and appends it to the journal.
func (w *world) record(e *runtime.Event) error {
	w.back(e)
	if e.Kind != runtime.Resumed { // at the time at which the run stood
		e.At = time.Since(w.started)
	}
	if w.options.Journal == nil {
		return nil
	}
	return w.options.Journal.Append(e)
}

// Do holds commands back until the events that they follow from are on disk. The end of a run waits for that; what
// comes until then is recorded, so that nothing that is known to have ended counts as being at work.
func (w *world) Do(commands []runtime.Command) error {
	w.held = append(w.held, commands...)
	if n := len(commands); n == 0 || commands[n-1].Kind != runtime.Finish {
		return nil
	}
	w.gather()
	for i := range w.batch {
		if e := &w.batch[i]; e.Kind != runtime.Fired {
			if err := w.record(e); err != nil {
				return err
			}
		}
	}
	w.batch = nil
	return w.follow()
}

// follow brings what was recorded to disk, and does what follows from it.
func (w *world) follow() error {
	if len(w.held) == 0 {
		return nil
	}
	if w.options.Journal != nil {
		if err := w.options.Journal.Sync(); err != nil {
			return err
		}
	}
	w.carryOut(w.held)
	clear(w.held)
	w.held = w.held[:0]
	return nil
}

// back notes that a goroutine has reported for the last time.
func (w *world) back(e *runtime.Event) {
	key := e.Try
	switch e.Kind {
	case runtime.Ended:
		w.stopTimer(e.OfCall())
	case runtime.Decided:
	case runtime.Closed, runtime.Joined:
		key.Call = runtime.Run
	default:
		return
	}
	w.busy--
	if cancel := w.tries[key]; cancel != nil {
		cancel()
		delete(w.tries, key)
	}
}

// wait gives activities that were cancelled their time to end.
func (w *world) wait() {
	for i := range w.batch {
		w.back(&w.batch[i])
	}
	for key := range w.timers {
		w.stopTimer(key)
	}
	for _, cancel := range w.tries {
		cancel()
	}
	over := time.NewTimer(5 * time.Second)
	defer over.Stop()
	for w.busy > 0 {
		select {
		case e := <-w.events:
			w.back(&e)
		case <-over.C:
			return
		}
	}
}

// carryOut does what the machine asks for.
func (w *world) carryOut(commands []runtime.Command) {
	for _, c := range commands {
		if w.options.Observe != nil {
			w.options.Observe(time.Since(w.started), c)
		}
		switch c.Kind {
		case runtime.Settle:
			w.stopTimer(c.OfCall())
		case runtime.Start:
			w.start(c)
		case runtime.Plan:
			w.plan(c)
		case runtime.Ask:
			w.ask(c)
		case runtime.Join:
			w.join(c.Count)
		case runtime.Cancel:
			if cancel := w.tries[c.Try]; cancel != nil {
				cancel()
			}
		case runtime.SetTimer:
			w.setTimer(c)
		}
	}
}

func (w *world) send(e runtime.Event) {
	select {
	case w.events <- e:
	case <-w.gone:
	}
}

// began notes something that a command has asked for, and how to cancel it.
func (w *world) began(c runtime.Command, cancel context.CancelFunc) {
	w.tries[c.Try] = cancel
	w.busy++
}

func (w *world) begin(c runtime.Command) context.Context {
	own, cancel := context.WithCancel(w.ctx)
	w.began(c, cancel)
	return own
}

func (w *world) start(c runtime.Command) {
	e := c.Event(runtime.Ended)
	request := activity.RequestOf(c, w.budget)
	if asked := c.Request; asked != nil {
		own := w.begin(c)
		go func() { w.send(w.produce(own, asked, request, e)) }()
		return
	}
	name := c.Of.Activity
	if a := c.Plan.Activities[name]; a != nil && a.Kind != "go" { // those that the program registers are everyone's
		name = activity.Of(c.Delegate, name)
	}
	cancel := w.options.Activities.Start(w.ctx, name, request, func(result activity.Result, err error) {
		result.End(&e, err)
		w.send(e)
	})
	w.began(c, cancel)
}

func (w *world) plan(c runtime.Command) {
	own := w.begin(c)
	go func() {
		closed := runtime.Event{Kind: runtime.Closed, Try: runtime.Try{Tick: c.Tick}, Usage: &runtime.Usage{}}
		var rest string
		usage, err := w.options.Planner.Answer(own, c.Request, func(text string) {
			text, rest = characters(rest + text)
			for own.Err() == nil && text != "" { // once it is given up, nobody hears it
				piece, _ := characters(text[:min(len(text), maxPiece)])
				w.send(runtime.Event{Kind: runtime.Streamed, Try: runtime.Try{Tick: c.Tick}, Text: piece})
				text = text[len(piece):]
			}
		})
		closed.Usage.Add(usage)
		closed.Failure = answerFailure(err)
		switch {
		case err == nil, closed.Failure != nil:
		case own.Err() != nil: // the machine has given it up, and knows why
		default:
			w.send(runtime.Event{Kind: runtime.Stopped, Text: err.Error(), Gently: true})
			<-own.Done() // until the machine has taken it
		}
		w.send(closed)
	}()
}

func (w *world) join(most int) {
	w.busy++
	all := w.options.Instances
	next := all[:min(most, w.options.Batch, len(all))]
	w.options.Instances = all[len(next):]
	go w.send(runtime.Event{Kind: runtime.Joined, Instances: next, Last: len(next) == len(all)})
}

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
