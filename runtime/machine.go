package runtime

import (
	"container/heap"
	"fmt"
	"slices"
	"time"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// Options are what a run takes besides its plan.
type Options struct {
	// Input and State lie over the plan's own, key by key (S5.7). They bind
	// nothing anew.
	Input, State map[string]any
	// Parallel is how many activities may run at once; 0 means the plan's own
	// limit, or no limit.
	Parallel int
	// Asks tells whether a person would have to be asked before a call starts
	// (S10). As nobody can be asked yet, the run stops there. Nil asks nobody.
	Asks func(*compiler.Call) bool
}

// A Machine runs one plan once. It is not safe for concurrent use.
type Machine struct {
	plan    *compiler.Plan
	options Options
	log     *Log
	calls   []progress
	reads   []reading
	// boundBy and orderedBy list, for every call, what its settling brings nearer: reads bound
	// to it, and calls that wait for it for the sake of order.
	boundBy, orderedBy adjacency
	stale              compiler.CallHeap                  // calls to look at again
	queue              compiler.CallHeap                  // ready calls that wait for a free place
	running            int                                // activities at work
	started            int                                // calls whose activity has been started
	schemas            map[compiler.PathID]*schema.Schema // what the state schema says of a path; nil for nothing
	unsettled          int                                // calls that haven't settled
	parallel           int
	now                time.Duration
	errors             []CallError
	unrouted           []errorMessage
	counts             Counts
	stopping           string // why the run stops; "" while it doesn't
	over               bool
	commands           []Command
}

// progress is where a call stands.
type progress struct {
	status  Status
	queued  bool  // is among the stale
	partial bool  // may be decided before all its reads are settled
	open    int32 // its reads that aren't settled
	order   int32 // calls that must settle first, for _after, for a choice (S5.5), or for the order of writes (S8.2)
	attempt int32
	params  map[string]any
}

// reading is where a read stands.
type reading struct {
	open  int32 // bound writers that haven't settled
	known bool  // value and there are resolved
	there bool
	value any
}

// New prepares a run. The machine takes only plans that have been verified.
func New(v *analyzer.Verified, o Options) *Machine { return newMachine(v.Plan(), o) }

// Rehearse prepares a run that isn't real. Where calls write over each other in
// no fixed order, the time at which they end decides, so that the conflict
// shows.
func Rehearse(r *analyzer.Rehearsal, o Options) *Machine {
	m := newMachine(r.Plan(), o)
	m.log.byTime = r.Conflicts()
	return m
}

func newMachine(p *compiler.Plan, o Options) *Machine {
	m := &Machine{plan: p, options: o, unsettled: len(p.Calls), parallel: o.Parallel}
	if m.parallel == 0 {
		m.parallel = p.Limits.Parallel
	}
	m.log = newLog(p, map[string]any{"input": over(p.Input, o.Input), "state": over(p.State, o.State), "data": over(any(p.Data), nil)})
	if len(p.Errors) > 0 {
		m.log.initial["error"] = slices.Clone(p.Errors)
	}
	if p.StateSchema != nil {
		m.schemas = map[compiler.PathID]*schema.Schema{}
	}
	m.calls = make([]progress, len(p.Calls))
	m.reads = make([]reading, len(p.Reads))
	var bound, order edges
	for r := range p.Reads {
		read := &p.Reads[r]
		m.reads[r].open = int32(len(read.Writers))
		for _, w := range read.Writers {
			bound.add(w, int32(r))
		}
	}
	for i, call := range p.Calls {
		state := &m.calls[i]
		for _, r := range call.Reads {
			if m.reads[r].open > 0 {
				state.open++
			}
		}
		state.partial = call.When != nil || !plain(call.Params)
		for _, first := range firsts(call) {
			state.order++
			order.add(first, int32(i))
		}
	}
	m.boundBy, m.orderedBy = bound.list(len(p.Calls)), order.list(len(p.Calls))
	return m
}

// firsts are the calls that must have settled before one starts, whether or not
// it reads what they write.
func firsts(call *compiler.Call) []int32 {
	if len(call.After) == 0 && len(call.Choices) == 0 {
		return call.Waits
	}
	list := slices.Concat(call.Choices, call.Waits)
	for _, a := range call.After {
		list = append(list, int32(a))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// plain tells whether every expression in a template is a reference and nothing
// more: then each of its reads is needed, and decides alone.
func plain(t *compiler.Template) bool {
	switch {
	case !t.Live():
		return true
	case t.Expr != nil:
		return t.Expr.Plain()
	}
	for _, f := range t.Fields {
		if !plain(f.Value) {
			return false
		}
	}
	return !slices.ContainsFunc(t.Items, func(item *compiler.Template) bool { return !plain(item) })
}

// Log is the state of the run so far.
func (m *Machine) Log() *Log { return m.log }

// Plan is what the machine runs.
func (m *Machine) Plan() *compiler.Plan { return m.plan }

// Status is how a call stands.
func (m *Machine) Status(call int) Status { return m.calls[call].status }

// Over tells whether the run has ended.
func (m *Machine) Over() bool { return m.over }

// Step takes one event and says what is to be done about it. The commands are
// the machine's own until the next Step.
func (m *Machine) Step(e Event) []Command {
	m.commands = m.commands[:0]
	if m.over {
		return nil
	}
	m.now = max(m.now, e.At)
	switch e.Kind {
	case Begun:
		if limit := m.plan.Limits.Time; limit > 0 {
			m.emit(Command{Kind: SetTimer, Call: Run, After: limit})
		}
		for i := range m.calls {
			m.look(int32(i))
		}
	case Ended:
		m.ended(e)
	case Fired:
		if e.Call == Run {
			m.stop("limits.time")
		} else {
			m.fired(e)
		}
	case Stopped:
		m.stop(e.Reason)
	}
	m.settleAll()
	m.startQueued()
	if m.unsettled == 0 {
		m.finish()
	}
	return m.commands
}

func (m *Machine) emit(c Command) { m.commands = append(m.commands, c) }

// look notes that a call may have become decidable.
func (m *Machine) look(call int32) {
	if state := &m.calls[call]; !state.queued && state.status == Waiting {
		state.queued = true
		heap.Push(&m.stale, call)
	}
}

// settleAll looks at every call that may have become decidable, and at those
// that settle with it, until nothing changes.
func (m *Machine) settleAll() {
	for len(m.stale) > 0 {
		call := heap.Pop(&m.stale).(int32)
		m.calls[call].queued = false
		if m.calls[call].status == Waiting {
			m.decide(call)
		}
	}
}

// decide settles a waiting call that can't run, and queues one that can.
func (m *Machine) decide(i int32) {
	call, state := m.plan.Calls[i], &m.calls[i]
	params, verdict := m.weigh(call)
	switch {
	case verdict.skip != "":
		m.settle(i, Settlement{Status: Skipped, Reason: verdict.skip})
	case verdict.pending || state.order > 0:
	case m.taken(call):
		m.settle(i, Settlement{Status: Skipped, Reason: "a value is already there"})
	case verdict.failure != nil:
		m.settle(i, Settlement{Status: Failed, Failure: verdict.failure})
	default:
		if failure := m.invalid(call, params); failure != nil {
			m.settle(i, Settlement{Status: Failed, Failure: failure})
			return
		}
		state.status, state.params = Queued, params
		heap.Push(&m.queue, i)
	}
}

// startQueued starts ready calls in plan order, as long as there is room.
func (m *Machine) startQueued() {
	for len(m.queue) > 0 && m.stopping == "" && (m.parallel == 0 || m.running < m.parallel) {
		i := heap.Pop(&m.queue).(int32)
		call := m.plan.Calls[i]
		switch {
		case call.Activity == "" && call.Produced != nil:
			m.produced(i)
			m.settleAll()
		case m.options.Asks != nil && m.options.Asks(call):
			m.stop("confirmation")
		case m.plan.Limits.Calls > 0 && m.started == m.plan.Limits.Calls && m.calls[i].attempt == 0:
			m.stop("limits.calls")
		default:
			m.start(i)
		}
	}
}

// Run stands in the place of a call in a timer that is the whole run's.
const Run = -1

// start begins the next try of a call.
func (m *Machine) start(i int32) {
	call, state := m.plan.Calls[i], &m.calls[i]
	state.status = Running
	if state.attempt == 0 {
		m.started++
	}
	state.attempt++
	m.running++
	m.emit(Command{Kind: Start, Call: int(i), Attempt: int(state.attempt), Params: state.params})
	if call.Timeout > 0 {
		m.emit(Command{Kind: SetTimer, Call: int(i), Attempt: int(state.attempt), After: call.Timeout})
	}
}

// produced settles a latent call whose result the plan already holds.
func (m *Machine) produced(i int32) {
	m.calls[i].status = Running
	m.running++
	m.ended(Event{Call: int(i), Value: m.plan.Calls[i].Produced.Value(), Route: -1})
}

// ended takes the result of a try.
func (m *Machine) ended(e Event) {
	state := &m.calls[e.Call]
	if state.status != Running || int(state.attempt) != e.Attempt {
		return // given up before it came
	}
	m.running--
	failure, call := e.Failure, m.plan.Calls[e.Call]
	route := e.Route
	if failure == nil {
		route, failure = m.admit(call, e.Value, route)
	}
	if failure != nil {
		m.failed(int32(e.Call), failure)
		return
	}
	if len(call.Output) > 0 {
		for _, path := range call.Output[route] {
			m.write(call, path.ID, call.Method, e.Value, m.plan.Writes == compiler.Once && route == call.FailureRoute())
		}
	}
	m.settle(int32(e.Call), Settlement{Status: Done, Output: e.Value, Attempts: int(state.attempt)})
}

// failed tries a call again, or settles it (S9.2).
func (m *Machine) failed(i int32, failure *Failure) {
	call, state := m.plan.Calls[i], &m.calls[i]
	if int(state.attempt) < call.Retry.Attempts && m.stopping == "" {
		state.status = Pausing
		m.emit(Command{Kind: SetTimer, Call: int(i), Attempt: int(state.attempt), After: backoff(call.Retry, int(state.attempt))})
		return
	}
	routed := m.routes(call, failure)
	m.settle(i, Settlement{Status: Failed, Failure: failure, Routed: routed, Attempts: int(state.attempt)})
}

// backoff is the pause after a try: doubled after each further one, up to an
// hour.
func backoff(r compiler.Retry, attempt int) time.Duration {
	pause := r.Backoff
	for range attempt - 1 {
		if pause >= time.Hour {
			return time.Hour
		}
		pause *= 2
	}
	return pause
}

// fired is a time-out of a try that runs, or the end of a pause between two.
func (m *Machine) fired(e Event) {
	state := &m.calls[e.Call]
	if int(state.attempt) != e.Attempt {
		return
	}
	switch state.status {
	case Running:
		call := m.plan.Calls[e.Call]
		m.emit(Command{Kind: Cancel, Call: e.Call, Attempt: e.Attempt})
		m.running--
		m.failed(int32(e.Call), &Failure{Code: "timeout", Message: fmt.Sprintf("no result within %v", call.Timeout)})
	case Pausing:
		state.status = Queued
		heap.Push(&m.queue, int32(e.Call))
	}
}

// stop cancels what runs and everything that hasn't settled.
func (m *Machine) stop(reason string) {
	if m.stopping != "" {
		return
	}
	m.stopping = reason
	m.queue = nil
	for i := range m.calls {
		state := &m.calls[i]
		if state.status == Running {
			m.running--
			m.emit(Command{Kind: Cancel, Call: i, Attempt: int(state.attempt)})
		}
		if !state.status.Settled() {
			m.settle(int32(i), Settlement{Status: Cancelled, Reason: "the run was stopped", Attempts: int(state.attempt)})
		}
	}
}

// settle ends a call, and brings nearer what waits for it.
func (m *Machine) settle(i int32, s Settlement) {
	state := &m.calls[i]
	state.status, state.params = s.Status, nil
	m.unsettled--
	m.counts.Add(s.Status)
	if s.Failure != nil && !s.Routed {
		m.errors = append(m.errors, CallError{m.plan.Calls[i].Name, s.Failure.Code, s.Failure.Message})
		m.unrouted = append(m.unrouted, errorMessage{int(i), s.Failure})
	}
	m.emit(Command{Kind: Settle, Call: int(i), Attempt: int(state.attempt), Settlement: &s})
	if s.Status == Cancelled {
		return // nothing more will start
	}
	for _, r := range m.boundBy.of(i) {
		read := &m.reads[r]
		if read.open--; read.open > 0 {
			continue
		}
		if reader := m.plan.Reads[r].Call; reader >= 0 {
			state := &m.calls[reader]
			state.open--
			if _, presence := m.read(int(r)); state.partial || state.open == 0 || presence == expression.Absent {
				m.look(int32(reader))
			}
		}
	}
	for _, user := range m.orderedBy.of(i) {
		if m.calls[user].order--; m.calls[user].order == 0 {
			m.look(user)
		}
	}
}

// write appends to the state.
func (m *Machine) write(call *compiler.Call, path compiler.PathID, method compiler.Method, value any, failure bool) {
	message := Message{Path: path, Method: method, Value: value, Call: call.Index, At: m.now, Failure: failure}
	m.log.append(message)
	m.emit(Command{Kind: Write, Call: call.Index, Message: &m.log.messages[len(m.log.messages)-1]})
}

// An errorMessage is a failure that no route of its call took (S9.2).
type errorMessage struct {
	call    int
	failure *Failure
}

// appendErrors makes what failed readable as †error, now that nothing more can
// start: until then no call sees the errors of its own tick (S9.3). They stand
// in plan order, which doesn't depend on timing.
func (m *Machine) appendErrors() {
	if len(m.unrouted) == 0 {
		return
	}
	slices.SortFunc(m.unrouted, func(a, b errorMessage) int { return a.call - b.call })
	all := slices.Clone(m.plan.Errors)
	for _, e := range m.unrouted {
		all = append(all, map[string]any{"call": m.plan.Calls[e.call].Node.Value(), "error": e.failure.record()})
	}
	m.log.initial["error"] = all
}

// finish resolves the plan's output and ends the run (S11.8).
func (m *Machine) finish() {
	m.over = true
	m.appendErrors()
	outcome := &Outcome{Status: "done", State: m.log.whole("state"), Counts: m.counts}
	if m.plan.Output != nil {
		outcome.Output, _ = m.output(m.plan.Output)
	}
	if m.stopping != "" {
		outcome.Status, outcome.Reason = "stopped", m.stopping
	} else if m.plan.OutputSchema != nil && m.plan.Output != nil {
		if v := m.plan.OutputSchema.Validate(outcome.Output); v != nil {
			m.errors = append(m.errors, CallError{"", "bad-output", "the plan's output doesn't fit its schema" + misfit(v)})
		}
	}
	if len(m.errors) > 0 && m.stopping == "" {
		outcome.Status = "failed"
		outcome.Reason = m.errors[0].Message
	}
	outcome.Errors = m.errors
	m.emit(Command{Kind: Finish, Outcome: outcome})
}

// output resolves the plan's output: an absent leaf is left out.
func (m *Machine) output(t *compiler.Template) (any, bool) {
	switch {
	case t.Expr != nil:
		value, presence, err := t.Expr.Eval(func(ref int) (any, expression.Presence) { return m.read(t.Reads[ref]) })
		if err != nil {
			m.errors = append(m.errors, CallError{"", "expression-type", fmt.Sprintf("the output %s: %v", t.Node.Text, err)})
			return nil, false
		}
		return value, presence == expression.There
	case !t.Live():
		return t.Value, true
	case t.Fields != nil:
		object := make(map[string]any, len(t.Fields))
		for _, f := range t.Fields {
			if value, ok := m.output(f.Value); ok {
				object[f.Key] = value
			}
		}
		return object, true
	}
	list := make([]any, 0, len(t.Items))
	for _, item := range t.Items {
		if value, ok := m.output(item); ok {
			list = append(list, value)
		}
	}
	return list, true
}
