package runtime_test

import (
	"math/rand/v2"
	"slices"
)

// The model is a second opinion on what a plan means: an interpreter of plans
// written from the contract alone, over the document as generic JSON. It
// shares nothing with the compiler or the machine, and at every step works
// out afresh who has settled, what each reference sees and who may start.
// Everything in it is as slow as it needs to be to read like the clause that
// it follows.
//
// Where the contract is silent it decides so:
//
//   - An expression in a parameter that comes out absent skips the call, be it
//     a reference, a gate or a fallback.
//   - An index addresses lists only and a key objects only: to read otherwise
//     is absent, to write otherwise is a runtime error.
//   - A result is tried against all that counts before it: the initial state,
//     earlier ticks, and the calls that come before its own in the graph's order.
//     It is kept until those of them have settled that write where it does. To
//     that end whoever writes into a list counts as writing where others do so.
//   - Every runtime error may be retried, whether the activity, its result's
//     schema or the place of the result is to blame; the latter two are
//     `bad-output`.
//   - A failure record is set, whatever the call's method.
//   - A message that has no place in what a reader sees brings with it all that
//     counts before it there.
//   - A null in the initial state doesn't count as there.
//   - A call that `once` rejects isn't validated any more.
//   - Under `once` a result that its activity sends to the failure route is a
//     runtime error when something stands there that didn't come by a
//     failure route itself: those who meet there aren't ordered, and what
//     the first-listed of them wrote stands.
//   - A fallback in parentheses is an operand like any other: the null that it
//     may end in isn't there for the one around it.

// Outcome is what a run of the model came to.
type Outcome struct {
	Status map[string]string // call → done, failed or skipped; waiting where a cycle keeps it from settling
	State  any               // after all messages
	Output any               // the plan's output, resolved; nil when it has none
	Errors map[string]string // call → code of a failure that no route took
	Routed map[string]string // call → code of a failure written to its failure route
	Run    string            // done or failed
	Trace  map[feature]int   // how often each feature occurred
}

// A failure is what an activity reports in the place of a result.
type failure struct {
	Code, Message string
	Details       any
}

// A behaviour is what all activities do: a pure function of its arguments, so that results don't
// depend on the schedule. attempt counts from 1. A path other than "" names
// the alternative that the value takes.
type behaviour func(call string, attempt int, params map[string]any) (value any, path string, failed *failure)

// structuralFault is the model's code for parameters that the tool's schema
// rejects, and badOutput the contract's for results that have no place.
const (
	structuralFault = "structural"
	badOutput       = "bad-output"
)

// interpret runs a document's plan; order decides which running activity ends
// next, and nothing else. A call without `_id` is known by its tool and its
// place in the list, from 1. It panics on a document that the model can't read.
func interpret(doc map[string]any, act behaviour, order *rand.Rand) Outcome {
	return (&model{plan: readPlan(doc), act: act}).run(order)
}

// ---- the run --------------------------------------------------------------

type message struct {
	call   int
	path   statePath
	method string
	value  any
	record bool // a failure record
}

type model struct {
	plan *planModel
	act  behaviour

	// Two ways to get it wrong, to show that the rules are needed and that
	// generated plans and schedules would notice: hasty leaves out the last rule
	// of EXECUTION.md#order-of-calls and judges results when they come, nosy lets a read see all that was written so far (against LANGUAGE.md#the-graph).
	hasty, nosy bool

	carried *carried // nil outside carried plans

	status  []string // "", running, done, failed or skipped
	attempt []int
	params  []map[string]any
	log     []message
	out     Outcome
}

func (m *model) run(order *rand.Rand) Outcome {
	n := len(m.plan.calls)
	m.status, m.attempt, m.params = make([]string, n), make([]int, n), make([]map[string]any, n)
	m.out = Outcome{Status: map[string]string{}, Errors: map[string]string{}, Routed: map[string]string{}, Run: "done", Trace: map[feature]int{}}

	// Half of all schedules always end the same favourite first: only so can
	// one activity outlast a whole chain of others.
	favour, stubborn := order.Perm(n), order.IntN(2) == 0
	for {
		m.startAllReady()
		if kept := slices.IndexFunc(m.plan.calls, func(c *callModel) bool { return m.status[c.place] == "kept" && m.ripe(c) }); kept >= 0 {
			m.end(m.plan.calls[kept])
			continue
		}
		running := m.withStatus("running")
		if len(running) == 0 {
			break
		}
		ending := running[order.IntN(len(running))]
		if stubborn {
			ending = slices.MinFunc(running, func(a, b int) int { return favour[a] - favour[b] })
		}
		m.end(m.plan.calls[ending])
	}

	for i, c := range m.plan.calls {
		m.out.Status[c.name] = m.status[i]
		if m.status[i] == "" {
			m.out.Status[c.name] = "waiting"
		}
	}
	if len(m.out.Errors) > 0 {
		m.out.Run = "failed"
	}
	m.out.State, _ = m.made(nil, m.entries(func(int) bool { return true }))
	if m.plan.output != nil {
		output := m.resolve(m.plan.output, n)
		m.out.Output, _ = output.whole()
		nothing := len(formulasIn(m.plan.output)) > 0 && (m.out.Output == nil && !m.saysNull(m.plan.output) || m.leaves(m.plan.output, n) == 0)
		if output.wrong || nothing {
			m.out.Run = "failed"
		}
	}
	m.noteWrites()
	return m.out
}

// startAllReady decides every call that can be decided, until none can:
// a skipped call settles its paths, which may decide others.
func (m *model) startAllReady() {
	for again := true; again; {
		again = false
		for _, c := range m.plan.calls {
			full := m.plan.parallel > 0 && len(m.withStatus("running")) >= m.plan.parallel
			if m.status[c.place] == "" && m.decide(c, full) {
				again = true
			}
		}
	}
}

// decide skips, fails or starts a pending call if that can be done now and reports whether it did. When no slot is free nothing starts.
func (m *model) decide(c *callModel, full bool) bool {
	when := resolved{value: true}
	if c.when != nil {
		when = m.resolve(c.when, c.place)
	}
	params := m.resolve(c.params, c.place)
	pending := when.pending || params.pending

	switch {
	case m.undone(c):
		m.note(afterUndone)
		m.skip(c)
		return true
	case when.absent || !when.pending && when.value != true:
		m.note(conditionFalse)
		m.skip(c)
		return true
	case params.absent:
		m.noteGates(c)
		m.skip(c)
		return true
	case pending || full || !m.allSettled(c.after):
		return false
	case !m.allSettled(m.overlapping(c)):
		m.note(waitedForOverlap)
		return false
	case m.plan.once && !m.allSettled(m.offeredEarlier(c)):
		return false
	}
	repeated, undecided := false, false
	if !params.wrong {
		repeated, undecided = m.carried.repetition(m, c, params.value)
	}
	switch {
	case undecided:
		return false
	case repeated:
		m.status[c.place] = "done"
		return true
	case m.plan.once && m.taken(c):
		m.note(onceRejected)
		m.skip(c)
		return true
	case params.wrong || !accepts(c.tool, params.value):
		m.noteWhen(params.wrong, textRefused)
		m.note(structuralFailure)
		m.status[c.place] = "failed"
		m.out.Errors[c.name] = structuralFault
		return true
	}
	m.noteStart(c, when.early || params.early)
	m.status[c.place], m.attempt[c.place] = "running", 1
	m.params[c.place] = params.value.(map[string]any)
	return true
}

// undone reports whether a call that must be done before c has ended otherwise.
func (m *model) undone(c *callModel) bool {
	for other, must := range c.done {
		if must && slices.Contains([]string{"failed", "skipped", "rejected", "cancelled"}, m.status[other]) {
			return true
		}
	}
	return false
}

func (m *model) skip(c *callModel) {
	m.note(callSkipped)
	m.status[c.place] = "skipped"
}

// overlapping are the calls that c must wait for by the rule of EXECUTION.md#order-of-calls on overlapping paths. How
// long a list is decides where an item may go, so whoever writes into a list
// waits for all of these calls that write into it.
func (m *model) overlapping(c *callModel) map[int]bool {
	found := map[int]bool{}
	for need := range c.allNeeds {
		for _, route := range c.routes {
			for _, p := range route {
				if !m.hasty && m.plan.calls[need].mayWrite(p.toList()) {
					found[need] = true
				}
			}
		}
	}
	return found
}

// offeredEarlier are the calls listed before c that may write one of its paths.
func (m *model) offeredEarlier(c *callModel) map[int]bool {
	found := map[int]bool{}
	for _, w := range m.plan.calls[:c.place] {
		if w.meets(c) {
			found[w.place] = true
		}
	}
	return found
}

// taken reports whether `once` rejects c: one of its paths, other than its
// failure route's, is there from the start or has been written.
func (m *model) taken(c *callModel) bool {
	routes := c.routes
	if c.failureRoute() != nil {
		routes = routes[:len(routes)-1]
	}
	return slices.ContainsFunc(routes, m.standsOn)
}

// standsOn reports whether one of the paths is there from the start or has been
// written.
func (m *model) standsOn(route []statePath) bool {
	return slices.ContainsFunc(route, func(p statePath) bool {
		written := slices.ContainsFunc(m.log, func(msg message) bool { return overlap(msg.path, p) })
		written = written || m.carried.stands(p, func(message) bool { return true })
		return written || m.plan.initially(p)
	})
}

// ripe reports whether a result of c can be judged: of the calls that come before it
// in the graph's order those have settled that may write where it may.
func (m *model) ripe(c *callModel) bool {
	for _, i := range m.plan.topology {
		if i == c.place {
			break
		}
		if !m.allSettled(map[int]bool{i: true}) && m.plan.calls[i].neighbours(c) {
			return false
		}
	}
	return true
}

// end lets a running activity end: with its result written, with another try,
// or failed for good.
func (m *model) end(c *callModel) {
	if !m.hasty && !m.ripe(c) {
		m.note(resultKept)
		m.status[c.place] = "kept"
		return
	}
	m.status[c.place] = "running"
	value, named, failed := m.act(c.name, m.attempt[c.place], m.params[c.place])
	if failed == nil {
		failed = m.write(c, value, named)
	}
	switch {
	case failed == nil:
		m.status[c.place] = "done"
	case m.attempt[c.place] < c.attempts:
		m.note(retried)
		m.attempt[c.place]++
	default:
		m.status[c.place] = "failed"
		m.fail(c, failed)
	}
}

// write puts a result into the log, at all paths of the alternative that it
// takes or at none.
func (m *model) write(c *callModel, value any, named string) *failure {
	if !accepts(c.result, value) {
		m.note(outputRejected)
		return &failure{Code: badOutput}
	}
	route, offered := c.taking(named)
	if !offered {
		return &failure{Code: badOutput}
	}
	spare := m.plan.once && c.failureRoute() != nil && slices.EqualFunc(route, c.failureRoute(), statePath.equal)
	if m.plan.once && !spare && m.standsOn(route) || spare && m.barred(route) {
		return &failure{Code: badOutput}
	}
	messages := messagesFor(c, route, c.method, value, spare)
	if !m.applicable(c, messages) {
		m.note(writeRefused)
		return &failure{Code: badOutput}
	}
	if named != "" {
		m.note(alternativeNamed)
	}
	m.log = append(m.log, messages...)
	return nil
}

// taking is LANGUAGE.md#output-paths-and-state: the paths of the alternative that the activity names, else
// of the first.
func (c *callModel) taking(named string) (route []statePath, offered bool) {
	if named == "" {
		if len(c.routes) == 0 {
			return nil, true
		}
		return c.routes[0], true
	}
	wanted := readRoutes(named)[0]
	for _, route := range c.routes {
		if samePaths(route, wanted) || len(wanted) == 1 && slices.ContainsFunc(route, wanted[0].equal) {
			return route, true
		}
	}
	return nil, false
}

// fail is EXECUTION.md#failures: the record goes to the failure route, or the failure becomes
// an error of the run.
func (m *model) fail(c *callModel, f *failure) {
	record := map[string]any{"code": f.Code, "message": f.Message, "details": f.Details}
	messages := messagesFor(c, c.failureRoute(), "set", record, true)
	if len(messages) == 0 || !m.applicable(c, messages) || m.plan.once && m.barred(c.failureRoute()) {
		m.note(failureUnrouted)
		m.out.Errors[c.name] = f.Code
		return
	}
	m.note(failureRouted)
	m.out.Routed[c.name] = f.Code
	m.log = append(m.log, messages...)
}

// barred reports whether, under `once`, something other than a failure record
// stands on one of the paths.
func (m *model) barred(route []statePath) bool {
	return slices.ContainsFunc(route, func(p statePath) bool {
		written := slices.ContainsFunc(m.log, func(msg message) bool { return !msg.record && overlap(msg.path, p) })
		written = written || m.carried.stands(p, func(msg message) bool { return !msg.record })
		return written || m.plan.initially(p)
	})
}

// applicable reports whether the messages of c can be written over what counts
// before them.
func (m *model) applicable(c *callModel, messages []message) bool {
	before := map[int]bool{}
	for _, i := range m.plan.topology {
		if i == c.place {
			break
		}
		before[i] = true
	}
	entries := m.entries(func(i int) bool { return before[i] })
	for i := range entries {
		entries[i].seen = entries[i].seen || entries[i].tick < m.carried.tick()
	}
	state, _ := m.made(nil, entries)
	for _, msg := range messages {
		next, ok := written(state, msg.path, msg.method, msg.value)
		if !ok {
			return false
		}
		state = next
	}
	return true
}

func messagesFor(c *callModel, route []statePath, method string, value any, record bool) []message {
	var messages []message
	for _, p := range route {
		messages = append(messages, message{c.place, p, method, value, record})
	}
	return messages
}

func (m *model) allSettled(calls map[int]bool) bool {
	for i := range calls {
		if s := m.status[i]; s == "" || s == "running" || s == "kept" {
			return false
		}
	}
	return true
}

func (m *model) withStatus(status string) []int {
	var found []int
	for i, s := range m.status {
		if s == status {
			found = append(found, i)
		}
	}
	return found
}

// ---- values ---------------------------------------------------------------

// resolved is what an expression, or a structure of them, is worth so far.
type resolved struct {
	value   any
	pending bool // some read that decides it hasn't settled
	absent  bool // it has no value, whatever else happens
	early   bool // a fallback took an operand while a later one was pending
	wrong   bool // it is none that can stand where it does
	partial any  // of a structure: the value with absent leaves left out
}

// whole is what EXECUTION.md#output makes of an output: absent leaves are left out, an
// absent whole is null.
func (r resolved) whole() (any, bool) { return r.partial, !r.absent }

// text is what a text with expressions in it comes to.
func (m *model) text(e *formula, reader int) resolved {
	var total resolved
	var text string
	for _, operand := range e.operands {
		part := m.evaluate(operand, reader)
		total.absent = total.absent || part.absent
		total.pending = total.pending || part.pending
		total.early = total.early || part.early
		piece, ok := inText(part.value)
		total.wrong = total.wrong || !ok
		text += piece
	}
	switch {
	case total.absent:
		return resolved{absent: true}
	case total.pending:
		total.wrong = false
	case !total.wrong:
		total.value = text
		m.note(textMade)
	}
	return total
}

// resolve resolves every expression in a value for the reader at this place.
func (m *model) resolve(value any, reader int) resolved {
	total := resolved{}
	add := func(part resolved) {
		total.pending = total.pending || part.pending
		total.absent = total.absent || part.absent
		total.early = total.early || part.early
		total.wrong = total.wrong || part.wrong
	}
	switch v := value.(type) {
	case string:
		if e := readString(v); e != nil {
			r := m.evaluate(e, reader)
			r.partial = r.value
			return r
		}
		literal := readText(v).operands[0].value
		return resolved{value: literal, partial: literal}
	case map[string]any:
		whole, partial := map[string]any{}, map[string]any{}
		for key, item := range v {
			part := m.resolve(item, reader)
			add(part)
			whole[key] = part.value
			if !leafAbsent(item, part) {
				partial[key] = part.partial
			}
		}
		total.value, total.partial = whole, partial
	case []any:
		whole, partial := []any{}, []any{}
		for _, item := range v {
			part := m.resolve(item, reader)
			add(part)
			whole = append(whole, part.value)
			if !leafAbsent(item, part) {
				partial = append(partial, part.partial)
			}
		}
		total.value, total.partial = whole, partial
	default:
		return resolved{value: v, partial: v}
	}
	return total
}

func leafAbsent(item any, part resolved) bool {
	_, isText := item.(string)
	return isText && (part.absent || part.wrong)
}

// evaluate is LANGUAGE.md#references-and-expressions with a third truth: an operand may still be pending.
func (m *model) evaluate(e *formula, reader int) resolved {
	switch e.kind {
	case literalExpression:
		return resolved{value: e.value}
	case referenceExpression:
		return m.read(e.reference, reader)
	case gateExpression:
		var last resolved
		pending, early := false, false
		for _, operand := range e.operands {
			last = m.evaluate(operand, reader)
			if last.absent || !last.pending && last.value == nil {
				return resolved{absent: true}
			}
			pending, early = pending || last.pending, early || last.early
		}
		return resolved{value: last.value, pending: pending, early: early}
	case textExpression:
		return m.text(e, reader)
	case comparisonExpression:
		a, b := m.evaluate(e.operands[0], reader), m.evaluate(e.operands[1], reader)
		total := resolved{absent: a.absent || b.absent, pending: a.pending || b.pending, early: a.early || b.early}
		if !total.absent && !total.pending {
			total.value = compared(a.value, e.value.(string), b.value)
		}
		return total
	}
	for i, operand := range e.operands {
		r := m.evaluate(operand, reader)
		if r.pending {
			return r
		}
		if operand.kind == literalExpression || !r.absent && r.value != nil {
			for _, later := range e.operands[i+1:] {
				r.early = r.early || m.evaluate(later, reader).pending
			}
			return r
		}
	}
	return resolved{absent: true}
}

// read resolves one reference: LANGUAGE.md#the-graph's view once EXECUTION.md#order-of-calls has it settled.
func (m *model) read(r reference, reader int) resolved {
	if r.kind == "input" {
		value, there := valueAt(m.plan.input, r.path)
		return resolved{value: value, absent: !there}
	}
	writers := m.plan.bound(reader, r)
	if !m.allSettled(writers) {
		return resolved{pending: true}
	}
	value, there := m.made(r.path, m.entries(func(i int) bool { return m.nosy || writers[i] }))
	return resolved{value: value, absent: !there}
}
