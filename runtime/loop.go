package runtime

import (
	"cmp"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
)

// loop is what a machine that is given its calls by a planner has besides
// (S11). Every tick begins with no call; those of its solution are enrolled as
// they arrive.
type loop struct {
	base    *compiler.Plan // gives tools, schemas and settings
	paths   *compiler.PathTable
	stream  *source.Stream   // the solution, as far as it has arrived
	open    bool             // more of it may come
	known   int              // its calls that have been enrolled
	amiss   []CallError      // structural errors of the tick that no call carries
	refused bool             // it doesn't end the loop, whatever its output (S11.2)
	changed bool             // the tick has written something, or carried something out
	still   int              // ticks in a row that changed nothing
	carries bool             // the strategy is carried from tick to tick (S11.3)
	carried []standing       // the calls of the next request's plan message
	decided []standing       // without one, the calls that a person changed, replaced or rejected
	ended   bool             // the tick has been judged, and the next not begun
	setting compiler.Setting // of the tick

	deeds      []deed             // calls that are done, and that a carried plan may repeat
	byIdentity map[string][]int32 // their numbers, from 0, in order
	before     int32              // how many of them earlier ticks have done
	identities []string           // of the calls of the tick
	owners     map[int32]int32    // by number of a deed: the call of the tick that stands for it
	latest     int32              // the number, from 1, of the deed whose messages are being written
}

func newLoop(base *compiler.Plan) *loop {
	l := &loop{base: base, paths: base.Paths.Clone(), byIdentity: map[string][]int32{}}
	l.carries = base.Form != compiler.Context && base.Form != compiler.ProcessRecord && base.Form != compiler.Solution || base.CallsNode != nil
	if l.carries {
		for _, call := range base.Calls {
			l.carried = append(l.carried, standing{call: call.Node, name: call.Name})
		}
	}
	return l
}

// planning tells whether more of a solution may come.
func (m *Machine) planning() bool { return m.loop != nil && m.loop.open }

// nextTick asks for the next solution (S11.1).
func (m *Machine) nextTick() {
	l := m.loop
	m.tick++
	m.calls, m.reads, m.stale, m.queue = nil, nil, nil, nil
	m.boundBy, m.orderedBy = links{}, links{}
	l.stream, l.open, l.known = source.NewStream(source.DefaultLimits()), true, 0
	l.amiss, l.refused, l.changed, l.ended = nil, false, false, false
	l.identities, l.owners, l.before = nil, map[int32]int32{}, int32(len(l.deeds))
	m.plan = l.blank()
	m.log.follow(m.plan, m.tick, false)
	l.setting = m.setting(anyone)
	m.askPlanner(nil)
}

// blank is the plan of a tick of which nothing has arrived.
func (l *loop) blank() *compiler.Plan {
	plan, _ := compiler.Setting{Plan: l.base, Paths: l.paths}.Solve(source.NewFile("tick.json", []byte(`{"calls":[]}`)), compiler.Options{})
	return plan
}

func (m *Machine) askPlanner(received []byte) {
	request := m.request()
	request.Received = string(received)
	m.emit(Command{Kind: Plan, Call: Run, Request: request})
}

// setting is where the run stands, for those messages that are visible.
func (m *Machine) setting(visible func(*Message) bool) compiler.Setting {
	s := compiler.Setting{Plan: m.plan, Paths: m.log.paths, Errors: m.failures}
	if m.loop != nil {
		s.Plan = m.loop.base
	} else if s.Paths == m.plan.Paths {
		s.Paths = m.plan.Paths.Clone() // the plan isn't ours alone
		m.log.paths = s.Paths
	}
	object := func(kind string) map[string]any {
		value, _ := m.log.seenBy(kind, visible).(map[string]any)
		return value
	}
	s.Input, s.State, s.Data = object("input"), object("state"), object("data")
	return s
}

// solve compiles a text in a setting of this run.
func (m *Machine) solve(file *source.File, s compiler.Setting) (*compiler.Plan, []diag.Diagnostic) {
	plan, found := s.Solve(file, compiler.Options{})
	m.log.reach()
	return plan, found
}

// earlier sees what was written before the tick.
func (m *Machine) earlier(message *Message) bool { return message.Tick < m.tick }

// streamed takes the next piece of the solution, and the calls that it completes
// (S8.4, S11.4).
func (m *Machine) streamed(e Event) {
	if !m.planning() || e.Tick != m.tick {
		return
	}
	l := m.loop
	l.stream.Write(e.Text)
	if l.base.Mode == "lazy" {
		return
	}
	if n := l.stream.Calls(); n > l.known {
		l.known = n
		plan, found := m.solve(document(m.tick, l.stream.Prefix(n)), l.setting)
		m.adopt(analyzer.Screen(plan, found, false, func(r int) bool { return m.loose(plan, r) }))
	}
}

// loose tells whether a read, in a plan that is still arriving, may be bound to
// calls that haven't arrived: those listed before it come first, then what is
// there, and only then those listed after it (S6.2). In a carried plan what is
// there may turn out to be the work of a call that is repeated further down.
func (m *Machine) loose(plan *compiler.Plan, r int) bool {
	read := &plan.Reads[r]
	if kind := plan.Paths.Kind(read.Path); kind != "state" && kind != "data" {
		return false
	}
	switch {
	case plan.Writes == compiler.Once, read.Bound == compiler.Later, read.Bound == compiler.Initial && !read.Start:
		return true
	}
	return m.loop.carries && m.overlapsUnownedDeed(plan, read)
}

// closed ends the stream: what only the whole solution shows is found now
// (S11.4).
func (m *Machine) closed(e Event) {
	if !m.planning() || e.Tick != m.tick {
		return
	}
	l := m.loop
	l.open = false
	if e.Failure != nil {
		l.amiss = append(l.amiss, CallError{"", e.Failure.Code, e.Failure.Message})
		l.refused = true
	}
	draft := m.wholeDraft()
	for _, d := range draft.Amiss() {
		l.amiss = append(l.amiss, CallError{"", d.Rule.Name, structural(&d)})
		l.refused = true
	}
	if l.base.Mode == "lazy" && (!draft.Sound() || l.refused) {
		l.refused = true
	}
	m.adopt(draft)
	if l.base.Mode == "lazy" && l.refused {
		for i := range m.calls {
			if m.calls[i].status == Waiting {
				m.settle(int32(i), Settlement{Status: Skipped, Reason: "the solution has errors, and in lazy mode none of it is run then"})
			}
		}
	}
}

// wholeDraft judges the solution as it is at the end of the stream. Of a text
// that can't be read to its end, the calls that arrived whole count.
func (m *Machine) wholeDraft() *analyzer.Draft {
	l := m.loop
	file := document(m.tick, l.stream.Solution())
	plan, found := m.solve(file, l.setting)
	var broken []diag.Diagnostic
	if plan.Root == nil || !m.continues(plan) {
		broken = slices.DeleteFunc(found, func(d diag.Diagnostic) bool { return d.Severity < diag.Error })
		file = document(m.tick, l.stream.Prefix(l.stream.Calls()))
		plan, found = m.solve(file, l.setting)
	}
	if l.carries && len(l.deeds) > 0 {
		// What stands for calls that are listed again isn't there from the start.
		m.own(plan)
		plan, found = m.solve(file, m.setting(func(message *Message) bool { return m.earlier(message) && !l.owned(message) }))
	}
	if l.refused {
		broken = nil // that the answer broke off says it all
	}
	for i := range broken {
		l.amiss = append(l.amiss, CallError{"", broken[i].Rule.Name, structural(&broken[i])})
		l.refused = true
	}
	return analyzer.Screen(plan, found, true, nil)
}

// continues tells whether a plan begins with the calls that have been enrolled.
func (m *Machine) continues(plan *compiler.Plan) bool {
	if len(plan.Calls) < len(m.calls) {
		return false
	}
	for i, call := range m.plan.Calls {
		if plan.Calls[i].Node.Start != call.Node.Start || plan.Calls[i].Node.End != call.Node.End {
			return false
		}
	}
	return true
}

// adopt takes a longer version of the tick's plan: its new calls are enrolled,
// and those that were held until the whole plan was there are bound.
func (m *Machine) adopt(d *analyzer.Draft) {
	first := len(m.calls)
	m.plan = d.Plan()
	m.log.follow(m.plan, m.tick, d.Whole())
	m.own(m.plan)
	m.enrol(d)
	if d.Whole() {
		for i := range first {
			if state := &m.calls[i]; state.held && !state.status.Settled() {
				state.held = false
				m.connect(i)
			}
		}
	}
	for i := range m.calls {
		if faults := d.Faults(i); len(faults) > 0 {
			m.fault(int32(i), faults, i >= first)
		}
	}
	for i := range m.calls {
		if i >= first || d.Whole() {
			m.look(int32(i))
		}
	}
}

// fault settles a call that has structural errors. One that has started already,
// before the whole plan showed them, isn't touched: only the planner is told.
func (m *Machine) fault(i int32, faults []diag.Diagnostic, isNew bool) {
	var words []string
	for k := range faults {
		words = append(words, structural(&faults[k]))
	}
	failure := &Failure{Code: faults[0].Rule.Name, Message: strings.Join(words, "; ")}
	switch status := m.calls[i].status; {
	case status == Waiting:
		m.settle(i, Settlement{Status: Failed, Failure: failure})
	case isNew || m.planWhole():
		if !status.Settled() || m.calls[i].particular().settlement.Status != Failed {
			m.errors = append(m.errors, CallError{m.plan.Calls[i].Name, failure.Code, failure.Message})
			m.unrouted = append(m.unrouted, errorMessage{int(i), failure})
		}
	}
}

func (m *Machine) planWhole() bool { return !m.loop.open }

// structural says what is wrong in words that a planner can act on.
func structural(d *diag.Diagnostic) string {
	text := d.Message
	if d.Help != "" {
		text += " (" + d.Help + ")"
	}
	return text
}

// settled keeps what the next request tells of a call.
func (l *loop) settled(m *Machine, i int32, s *Settlement) {
	m.calls[i].particular().settlement = s
	if (s.Status == Done || s.Status == Failed) && s.Attempts > 0 && m.calls[i].more.deed == 0 {
		l.changed = true
	}
	m.lookAgain(i)
}

// endTick decides, when every call of a solution has settled, whether it has
// reached its goal (S11.2), and else asks for the next.
func (m *Machine) endTick() {
	l := m.loop
	m.log.seal()
	output, problem := m.result()
	if problem != nil {
		l.amiss = append(l.amiss, *problem)
		l.refused = true
	}
	for _, e := range l.amiss {
		m.errors = append(m.errors, e)
		m.failures = append(slices.Clip(m.failures), map[string]any{"call": nil, "error": map[string]any{"code": e.Code, "message": e.Message, "details": nil}})
	}
	m.showFailures()
	m.emit(Command{Kind: EndTick, Call: Run, End: &TickEnd{string(l.stream.Text()), l.amiss}})
	reached := output != nil
	if l.base.Terminate == "calls" {
		reached = len(m.plan.Calls) == 0
	}
	if reached && !l.refused {
		outcome := m.outcome("done", "")
		outcome.Output = output
		m.finish(outcome)
		return
	}
	if l.still++; l.changed {
		l.still = 0
	}
	m.carry()
	l.ended = true
	switch limit := l.base.Limits.Ticks; {
	case m.draining != "":
		m.stop(m.draining)
	case l.still >= 2:
		l.still = 0
		m.stop("stalled")
	case m.tick-m.spent.ticks >= cmp.Or(limit, defaultTicks):
		m.stop("limits.ticks")
	default:
		m.nextTick()
	}
}

// defaultTicks bounds a loop that says nothing itself (S11.7).
const defaultTicks = 25

// carry makes the solution's calls the next request's plan message (S11.3).
// Where no plan is carried, only what people decided is told on.
func (m *Machine) carry() {
	l := m.loop
	if m.plan.CallsNode == nil {
		return // of a solution that couldn't be read, the plan before it stands
	}
	l.carried = l.carried[:0:0]
	for i, call := range m.plan.Calls {
		s := m.calls[i].particular().settlement
		one := standing{call: call.Node, name: call.Name, status: s.Status.String(), reason: s.Reason, decision: s.Decision}
		if s.Failure != nil {
			one.reason = s.Failure.Error()
		}
		l.carried = append(l.carried, one)
		if !l.carries && s.Decision != nil && s.Decision.Verdict != Approve {
			l.decided = append(l.decided, one)
		}
	}
}

// request composes what the planner is asked.
func (m *Machine) request() *Request {
	l := m.loop
	s := situation{plan: l.base, tick: m.tick, input: l.setting.Input, state: l.setting.State, data: l.setting.Data, errors: m.failures, carries: l.carries, carried: l.carried, decided: l.decided}
	return compose(s)
}

// latentRequest composes the request for the result of a latent call (S2.4). It
// sees the state as its tick began, and what its own reads are bound to (S14.3).
func (m *Machine) latentRequest(call *compiler.Call, params map[string]any) *Request {
	s := situation{plan: m.plan, tick: m.tick, input: m.log.initial["input"]}
	seen := func(message *Message) bool {
		return message.Tick < m.tick || slices.ContainsFunc(call.Reads, func(r int) bool { return m.plan.Reads[r].Sees(message.Call) && m.binds(r, message.Call) })
	}
	s.state = m.log.seenBy("state", seen)
	s.data, _ = m.log.seenBy("data", seen).(map[string]any)
	if m.loop != nil {
		s.plan = m.loop.base
	}
	return composeLatent(s, call, params)
}

// binds tells whether a read is bound to a call.
func (m *Machine) binds(r, call int) bool {
	_, ok := slices.BinarySearch(m.plan.Reads[r].Writers, int32(call))
	return ok
}
