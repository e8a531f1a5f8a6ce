package runtime

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime/request"
	"github.com/obelus-dev/obelus/runtime/resolve"
)

// showErrors makes what failed readable as †error, now that nothing more can start: until then no call sees the
// errors of its own tick. They stand in plan order, which doesn't depend on timing.
func showErrors(f *frame) {
	errors := slices.Clone(f.errors)
	slices.SortStableFunc(errors, func(a, b runError) int { return cmp.Compare(a.place, b.place) })
	earlier := f.readable
	f.readable = slices.Clip(f.readable)
	for _, e := range errors {
		if e.failure == nil || e.tick != f.machine.tick {
			continue
		}
		call := f.Plan.Calls[e.place].Node.Value()
		if f.chosen(e.place) != nil { // a reviewer changed or replaced it
			ran, _ := call.(map[string]any)
			maps.DeleteFunc(ran, func(key string, _ any) bool { return !strings.HasPrefix(key, "_") })
			maps.Copy(ran, f.calls[e.place].more.ran)
			ran["_tool"] = f.call(e.place).ToolName
		}
		f.readable = append(f.readable, map[string]any{"call": call, "error": e.failure.Record()})
	}
	if showFailures(f); f.machine.loop == nil || f.parent != nil {
		f.readable = earlier
	}
}

func showFailures(f *frame) {
	if len(f.readable) > 0 {
		f.Log.Give("error", f.readable)
	}
}

func concludeFrame(f *frame) any {
	showErrors(f)
	output, problem := outputOf(f)
	if problem != nil {
		f.recordError(*problem, atLast, nil)
	}
	return output
}

// outcomeOf is the outcome of a run that has ended: failed where anything has; with a planner, anything in
// its last tick, or an instance that didn't fit.
func outcomeOf(m *Machine, output any) *Outcome {
	outcome := m.outcome(RunDone, "")
	outcome.Output = output
	failed := sortedErrors(slices.DeleteFunc(m.allErrors(), func(e runError) bool {
		return m.options.Planned && e.tick < m.tick && e.place != atFirst
	}))
	if len(failed) > 0 {
		outcome.Status, outcome.Reason = RunFailed, Reason(failed[0].Message)
	}
	return outcome
}

// Stands is how the run stands: as if it stopped here.
func (m *Machine) Stands() *Outcome {
	o := m.outcome(RunStopped, m.ending)
	o.Counts.Cancelled += m.unsettled
	return o
}

func (m *Machine) outcome(status RunStatus, reason Reason) *Outcome {
	o := &Outcome{Status: status, Reason: reason, Why: m.why, Errors: sortedErrors(m.allErrors()),
		Counts: m.counts, Usage: m.usage}
	if m.options.Planned {
		o.Ticks = m.tick
	}
	if m.instances == nil {
		o.State = lastState(m.frames[0])
		return o
	}
	o.Instances = append(make([]InstanceEnd, 0, len(m.instances.ends)), m.instances.ends...)
	for _, f := range m.frames {
		if f != nil && f.parent == nil && !f.left { // it hasn't ended
			o.Instances = append(o.Instances, instanceEnd(f, status, nil))
		}
	}
	return o
}

// lastState is an object even when nothing was written.
func lastState(f *frame) any { return cmp.Or(f.Log.Value("state"), any(map[string]any{})) }

func (m *Machine) finish(o *Outcome) {
	m.over = true
	m.emit(Finish).Outcome = o
}

// outputOf resolves the plan's output and validates it; the problem is nil when there is none.
func outputOf(f *frame) (any, *CallError) {
	value, leaves, failure := f.Output()
	t, isRoot, l := f.Plan.Output, f.parent == nil, f.machine.loop
	checked := t != nil // against its schema; a planner's null is none, unless the loop ends with it
	switch {
	case isRoot && f.machine.options.Planned:
		checked = value != nil || l.base.Terminate == plan.TerminateCalls && len(l.plan.Calls) == 0 && !l.refused
	case failure == nil && isRoot && t != nil && t.Live && len(f.errors) == 0 &&
		(leaves == 0 || value == nil && !t.FallsBack()):
		failure = noOutput(f)
	}
	if failure == nil && f.Plan.OutputSchema != nil && checked {
		if v := f.Budget.Validate(f.Plan.OutputSchema, value); v != nil {
			failure = &Failure{Code: "bad-output",
				Message: "the plan's output doesn't fit its schema" + resolve.Misfit(v)}
		}
	}
	if failure == nil {
		return value, nil
	}
	return value, &CallError{Code: failure.Code, Message: f.redact(failure.Message)}
}

// noOutput says what the plan's output lacks.
func noOutput(f *frame) *Failure {
	message, lacks := "the plan's output has no value", []string(nil)
	for i := range f.Plan.Reads {
		read := &f.Plan.Reads[i]
		if value, _ := f.Resolve(read); read.Call < 0 && value == nil {
			lacks = append(lacks, read.Ref.String())
		}
	}
	if len(lacks) > 0 {
		message += ": it lacks " + wording.Names(lacks, 5)
	}
	return &Failure{Code: "no-output", Message: message}
}

func composeRequest(m *Machine) *Request {
	l := m.loop
	s := request.Context{Plan: l.base, Tick: m.tick, Carries: l.carries, Carried: l.carried, Recorded: l.recorded,
		PlanOnly: l.options.PlanOnly, Past: l.past, Said: l.opinions.Recorded()}
	s.Started = request.Started{Input: declared(m.shared.input, l.base.Input),
		State: declared(m.shared.state, l.base.State), Data: m.shared.data}
	s.Input, s.State, s.Data, s.Advisors = l.setting.Input, l.setting.State, l.setting.Data, l.opinions.Speakers()
	if m.instances == nil {
		s.Errors, s.History = m.frames[0].readable, m.frames[0].history
		return request.Compose(s)
	}
	s.Input, s.State = m.shared.input, m.shared.state // and the data of the setting is shared, too
	for at, f := range m.roots() {
		one := &l.setting.Instances[at]
		s.Instances = append(s.Instances, request.Instance{
			ID: f.site.Instance, Input: resolve.Mapping(one.Input), State: resolve.Mapping(one.State), Data: one.Data,
			Errors:  f.readable,
			Started: request.Started{Input: f.instance.Input, State: f.instance.State, Data: f.instance.Data},
			History: f.history,
		})
	}
	return request.Compose(s)
}

// latentRequest composes the request for the result of a latent call. It sees the state as its tick began, and what its
// own reads are bound to; or, if it has scopes, what these hand on.
func latentRequest(f *frame, i int32) *Request {
	call, params := f.call(i), f.calls[i].params
	seen := func(message *Message) bool {
		return message.Tick < f.machine.tick || slices.ContainsFunc(call.Reads, func(r int) bool {
			_, binds := slices.BinarySearch(f.Plan.Reads[r].Writers, int32(message.Call))
			return binds && f.Plan.Reads[r].Sees(message.Call)
		})
	}
	s := request.Context{Plan: f.Plan, Tick: f.machine.tick, Input: f.Log.Given("input"), Only: f.context(i),
		State: f.Log.SeenBy("state", seen), Data: resolve.Mapping(f.Log.SeenBy("data", seen)),
		Offered: compiler.Offered(f.Plan, call)}
	if f.machine.loop != nil && f.reader().parent == nil {
		s.Plan = f.machine.loop.base
	}
	return request.ComposeLatent(s, call, params)
}

// declared are values, or none where there are none and the document says nothing of any.
func declared(values map[string]any, said any) map[string]any {
	if len(values) == 0 && said == nil {
		return nil
	}
	return values
}

// Values stay as they are wherever they are handed on: in the state, in events, in what
// is given to an activity. Messages about them are redacted here.

// redact is a text without secrets of the plan, of what the frame was given, and of values of its calls.
func (f *frame) redact(text string) string {
	text = compiler.Redact(f.Plan, text)
	for f != nil {
		reader := f.reader()
		text = reader.Secrets().Text(text)
		f = reader.parent
	}
	return text
}

// withoutSecrets is a failure without secrets in its message and details, those in the parameters of its call included.
func withoutSecrets(f *frame, i int32, failure *Failure) *Failure {
	var own *schema.Schema
	if tool := f.call(i).Tool; tool != nil {
		own = tool.Parameters
	}
	reader := f.reader()
	compiler.LearnSecrets(reader.Secrets(), nil, any(f.calls[i].params), own)
	return &Failure{Code: failure.Code, Message: f.redact(failure.Message),
		Details: withTexts(failure.Details, f.redact)}
}

// withTexts are details with other texts in them.
func withTexts(details any, other func(string) string) any {
	switch v := details.(type) {
	case string:
		return other(v)
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = withTexts(item, other)
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			object[key] = withTexts(v[key], other)
		}
		return object
	}
	return details
}
