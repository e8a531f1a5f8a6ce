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
	"github.com/obelus-dev/obelus/compiler/source"
)

// Options are what a run takes besides its plan. A journal keeps them, so that a
// run is resumed as it was begun.
type Options struct {
	// Input and State lie over the plan's own, key by key (S5.7). They bind
	// nothing anew.
	Input map[string]any `json:"input,omitempty"`
	State map[string]any `json:"state,omitempty"`
	// Parallel is how many activities may run at once; 0 means the plan's own
	// limit, or no limit.
	Parallel int `json:"parallel,omitzero"`
	// Planned says that a planner writes what is run, tick after tick (S11); the
	// plan's own calls are then its first draft.
	Planned bool `json:"planned,omitzero"`
	// Confirm says which calls a person is asked about before they start.
	Confirm Confirm `json:"confirm,omitzero"`
}

// A Machine runs one plan once. It is not safe for concurrent use.
type Machine struct {
	plan    *compiler.Plan // of the current tick
	options Options
	log     *Log
	loop    *loop // nil without a planner

	tick               int // 0 without a planner
	calls              []progress
	reads              []reading
	boundBy, orderedBy links                              // by call, what its settling brings nearer: reads bound to it, and calls that wait for it for the sake of order
	stale              compiler.CallHeap                  // calls to look at again
	queue              compiler.CallHeap                  // ready calls that wait for a free place
	running            int                                // activities at work
	started            int                                // calls whose activity has been started, over all ticks
	schemas            map[compiler.PathID]*schema.Schema // what the state schema says of a path; nil for nothing
	unsettled          int                                // calls that haven't settled
	parallel           int
	now                time.Duration
	usage              Usage
	errors             []CallError
	unrouted           []errorMessage
	failures           []any // what †error reads: the data of error messages, oldest first
	counts             Counts
	draining           string // why nothing starts any more, while what runs comes to its end
	spent              budget // what doesn't count against the limits, since the run was resumed after reaching them
	begun              bool
	over               bool
	stopped            bool   // over, but may be resumed
	ending             string // why it stopped
	commands           []Command
}

// progress is where a call stands.
type progress struct {
	status   Status
	queued   bool  // is among the stale
	partial  bool  // may be decided before all its reads are settled
	held     bool  // must wait for the whole plan (S11.4)
	approved bool  // a person has said yes
	open     int32 // its reads that aren't settled
	order    int32 // calls that must settle first, for _after, for a choice (S5.5), or for the order of writes (S8.2)
	attempt  int32
	params   map[string]any
	more     *particulars
}

// particulars are what few calls have.
type particulars struct {
	lost       int32          // tries that a kill or a stop cut short
	due        time.Duration  // the end of a pause, or of the time for an answer
	question   *Question      // that a person is asked
	replaced   *compiler.Call // what a person put in its place
	decision   *Decision
	settlement *Settlement // kept in ticks, for the next request
	resolved   string      // its parameters as canonical JSON, where it might repeat a done call
	deed       int32       // the number of the done call that it repeats, from 1; or 0
}

func (p *progress) particular() *particulars {
	if p.more == nil {
		p.more = &particulars{}
	}
	return p.more
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
	m := &Machine{plan: p, options: o, parallel: o.Parallel}
	if m.parallel == 0 {
		m.parallel = p.Limits.Parallel
	}
	if p.StateSchema != nil {
		m.schemas = map[compiler.PathID]*schema.Schema{}
	}
	m.failures = slices.Clone(p.Errors)
	initial := map[string]any{"input": over(p.Input, o.Input), "state": over(p.State, o.State), "data": over(any(p.Data), nil)}
	if o.Planned {
		m.loop = newLoop(p)
		m.log = newLog(m.loop.paths, initial)
	} else {
		m.log = newLog(p.Paths, initial)
		m.log.follow(p, 0, true)
		m.enrol(nil)
	}
	m.showFailures()
	return m
}

// showFailures makes the error messages so far readable as †error.
func (m *Machine) showFailures() {
	if len(m.failures) > 0 {
		m.log.initial["error"] = m.failures
	}
}

// Log is the state of the run so far.
func (m *Machine) Log() *Log { return m.log }

// Plan is what the machine runs: with a planner, as much as has arrived of the
// solution of the current tick.
func (m *Machine) Plan() *compiler.Plan { return m.plan }

// Tick is the current tick, from 1; 0 without a planner.
func (m *Machine) Tick() int { return m.tick }

// Status is how a call of the current tick stands.
func (m *Machine) Status(call int) Status { return m.calls[call].status }

// Over tells whether the run has ended or stopped.
func (m *Machine) Over() bool { return m.over }

// Stopped tells whether the run has stopped short of its end, so that it can be
// resumed.
func (m *Machine) Stopped() bool { return m.stopped }

// call is what runs in a place of the plan: what stands there, or what a person
// put in its place.
func (m *Machine) call(i int32) *compiler.Call {
	if more := m.calls[i].more; more != nil && more.replaced != nil {
		return more.replaced
	}
	return m.plan.Calls[i]
}

// Step takes one event and says what is to be done about it. The commands are
// the machine's own until the next Step.
func (m *Machine) Step(e Event) []Command {
	m.commands = m.commands[:0]
	if m.over && e.Kind != Resumed {
		return nil
	}
	m.now = max(m.now, e.At)
	switch e.Kind {
	case Begun:
		m.begin()
	case Ended:
		m.spend(e.Usage)
		if m.concerns(e) {
			m.ended(e)
		}
	case Fired:
		switch {
		case e.Call == Run:
			m.stop("limits.time")
		case m.concerns(e):
			m.fired(e)
		}
	case Stopped:
		if e.Gently {
			m.drain(e.Text)
		} else {
			m.stop(e.Text)
		}
	case Streamed:
		m.streamed(e)
	case Closed:
		m.spend(e.Usage)
		m.closed(e)
	case Decided:
		if m.concerns(e) {
			m.decided(e)
		}
	case Resumed:
		m.resume(e)
	}
	m.checkBudget()
	for !m.over {
		m.settleAll()
		m.startQueued()
		if len(m.stale) > 0 {
			continue
		}
		switch {
		case m.unsettled == 0 && !m.planning():
			m.complete()
			continue
		case m.draining != "" && m.running == 0:
			m.stop(m.draining)
		}
		break
	}
	return m.commands
}

func (m *Machine) spend(u *Usage) {
	if u != nil {
		m.usage.Add(*u)
	}
}

// concerns tells whether an event is about a call of the current tick.
func (m *Machine) concerns(e Event) bool {
	return e.Tick == m.tick && e.Call >= 0 && e.Call < len(m.calls)
}

func (m *Machine) emit(c Command) {
	c.Tick = m.tick
	m.commands = append(m.commands, c)
}

// emitOf emits a command about a call.
func (m *Machine) emitOf(i int32, c Command) {
	c.Call, c.Attempt, c.Of = int(i), int(m.calls[i].attempt), m.call(i)
	m.emit(c)
}

func (m *Machine) begin() {
	m.begun = true
	if limit := m.plan.Limits.Time; limit > 0 {
		m.emit(Command{Kind: SetTimer, Call: Run, After: limit})
	}
	if m.loop != nil {
		m.nextTick()
		return
	}
	for i := range m.calls {
		m.look(int32(i))
	}
}

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
		if m.calls[call].status == Waiting && !m.calls[call].held {
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
		return
	case verdict.pending || state.order > 0:
		return
	}
	if verdict.failure == nil && m.loop != nil {
		switch m.repeats(i, params) {
		case undecided:
			return
		case repeated:
			m.repeat(i)
			return
		}
	}
	switch {
	case m.taken(call):
		m.settle(i, Settlement{Status: Skipped, Reason: "a value is already there"})
	case verdict.failure != nil:
		m.settle(i, Settlement{Status: Failed, Failure: verdict.failure})
	default:
		if failure := m.invalid(call, params); failure != nil {
			m.settle(i, Settlement{Status: Failed, Failure: failure})
			return
		}
		m.ready(i, params)
	}
}

// ready queues a call with its resolved parameters.
func (m *Machine) ready(i int32, params map[string]any) {
	m.calls[i].status, m.calls[i].params = Queued, params
	heap.Push(&m.queue, i)
	if m.loop != nil {
		m.lookAgain(i)
	}
}

// startQueued starts ready calls in plan order, as long as there is room.
func (m *Machine) startQueued() {
	m.commands = slices.Grow(m.commands, m.room())
	for len(m.queue) > 0 && m.draining == "" && !m.over && (m.parallel == 0 || m.running < m.parallel) {
		i := heap.Pop(&m.queue).(int32)
		call, state := m.call(i), &m.calls[i]
		switch {
		case isProduced(call):
			m.produced(i)
			m.settleAll()
		case !state.approved && m.options.Confirm.asks(m.plan, call):
			m.ask(i, "")
		case m.plan.Limits.Calls > 0 && m.started-m.spent.calls >= m.plan.Limits.Calls && state.attempt == 0:
			heap.Push(&m.queue, i)
			m.drain("limits.calls")
		default:
			m.start(i)
		}
	}
}

// room is how many ready calls may start now.
func (m *Machine) room() int {
	if m.parallel == 0 {
		return len(m.queue)
	}
	return min(len(m.queue), max(0, m.parallel-m.running))
}

// isProduced tells whether a call's result stands in the plan already.
func isProduced(call *compiler.Call) bool { return call.Activity == "" && call.Produced != nil }

// Run stands in the place of a call in a timer that is the whole run's.
const Run = -1

// start begins the next try of a call.
func (m *Machine) start(i int32) {
	call, state := m.call(i), &m.calls[i]
	state.status = Running
	if state.attempt == 0 {
		m.started++
	}
	state.attempt++
	m.running++
	c := Command{Kind: Start, Params: state.params}
	if call.Activity == "" {
		c.Request = m.latentRequest(call, state.params)
	}
	m.emitOf(i, c)
	if call.Timeout > 0 {
		m.emitOf(i, Command{Kind: SetTimer, After: call.Timeout})
	}
}

// produced settles a latent call whose result the plan already holds.
func (m *Machine) produced(i int32) {
	m.calls[i].status = Running
	m.running++
	m.ended(Event{Call: int(i), Attempt: int(m.calls[i].attempt), Value: m.call(i).Produced.Value(), Route: -1})
}

// ended takes the result of a try.
func (m *Machine) ended(e Event) {
	state := &m.calls[e.Call]
	if state.status != Running || int(state.attempt) != e.Attempt {
		return // given up before it came
	}
	m.running--
	i := int32(e.Call)
	failure, call := e.Failure, m.call(i)
	route := e.Route
	if failure == nil {
		route, failure = m.admit(call, e.Value, route)
	}
	if failure != nil {
		m.failed(i, failure)
		return
	}
	if m.loop != nil {
		m.accomplish(i, e.Value)
	}
	if len(call.Output) > 0 {
		for _, path := range call.Output[route] {
			m.write(call, path.ID, call.Method, e.Value, m.plan.Writes == compiler.Once && route == call.FailureRoute())
		}
	}
	if m.loop != nil {
		m.loop.latest = 0
	}
	m.settle(i, Settlement{Status: Done, Output: e.Value, Attempts: int(state.attempt)})
}

// failed tries a call again, or settles it (S9.2).
func (m *Machine) failed(i int32, failure *Failure) {
	call, state := m.call(i), &m.calls[i]
	if m.tries(i) < call.Retry.Attempts && m.draining == "" {
		state.status = Pausing
		m.pause(i, backoff(call.Retry, m.tries(i)))
		return
	}
	routed := m.routes(call, failure)
	m.settle(i, Settlement{Status: Failed, Failure: failure, Routed: routed, Attempts: int(state.attempt)})
}

// tries is how often a call was tried, without the tries that were cut short.
func (m *Machine) tries(i int32) int {
	state := &m.calls[i]
	if state.more == nil {
		return int(state.attempt)
	}
	return int(state.attempt - state.more.lost)
}

// pause sets a timer that a resumed run can set again.
func (m *Machine) pause(i int32, after time.Duration) {
	m.calls[i].particular().due = m.now + after
	m.emitOf(i, Command{Kind: SetTimer, After: after})
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

// fired is a time-out of a try that runs, the end of a pause between two, or of
// the time in which a person could answer.
func (m *Machine) fired(e Event) {
	i, state := int32(e.Call), &m.calls[e.Call]
	if int(state.attempt) != e.Attempt {
		return
	}
	switch state.status {
	case Running:
		m.emitOf(i, Command{Kind: Cancel})
		m.running--
		m.failed(i, &Failure{Code: "timeout", Message: fmt.Sprintf("no result within %v", m.call(i).Timeout)})
	case Pausing:
		state.status = Queued
		heap.Push(&m.queue, i)
	case Asking:
		m.unanswered(i)
	}
}

// settle ends a call, and brings nearer what waits for it.
func (m *Machine) settle(i int32, s Settlement) {
	state := &m.calls[i]
	state.status, state.params = s.Status, nil
	m.unsettled--
	if state.more != nil {
		s.Decision = state.more.decision
	}
	if m.loop != nil {
		m.loop.settled(m, i, &s)
	}
	if state.more == nil || state.more.deed == 0 {
		m.counts.Add(s.Status)
		if s.Failure != nil && !s.Routed {
			m.errors = append(m.errors, CallError{m.plan.Calls[i].Name, s.Failure.Code, s.Failure.Message})
			m.unrouted = append(m.unrouted, errorMessage{int(i), s.Failure})
		}
		m.emitOf(i, Command{Kind: Settle, Settlement: &s})
	} else {
		m.emitOf(i, Command{Kind: Repeat, Settlement: &s})
	}
	for at := m.boundBy.first[i]; at > 0; at = m.boundBy.next[at-1] {
		r := m.boundBy.to[at-1]
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
	for at := m.orderedBy.first[i]; at > 0; at = m.orderedBy.next[at-1] {
		user := m.orderedBy.to[at-1]
		if m.calls[user].order--; m.calls[user].order == 0 {
			m.look(user)
		}
	}
}

// write appends to the state.
func (m *Machine) write(call *compiler.Call, path compiler.PathID, method compiler.Method, value any, failure bool) {
	message := Message{Path: path, Method: method, Value: value, Tick: m.tick, Call: call.Index, At: m.now, Failure: failure}
	if m.loop != nil {
		message.deed = m.loop.latest
		m.loop.changed = true
	}
	m.log.append(message)
	m.emitOf(int32(call.Index), Command{Kind: Write, Message: &m.log.messages[len(m.log.messages)-1]})
}

// document names the text of a solution in findings about it.
func document(tick int, text []byte) *source.File {
	return source.NewFile(fmt.Sprintf("tick-%d.json", tick), text)
}
