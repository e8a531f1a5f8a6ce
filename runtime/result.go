package runtime

import (
	"fmt"
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/expression"
)

// An errorMessage is a failure that no route of its call took (S9.2).
type errorMessage struct {
	call    int
	failure *Failure
}

// appendErrors makes what failed readable as †error, now that nothing more can
// start: until then no call sees the errors of its own tick (S9.3). They stand
// in plan order, which doesn't depend on timing.
func (f *frame) appendErrors() {
	slices.SortFunc(f.unrouted, func(a, b errorMessage) int { return a.call - b.call })
	f.failures = slices.Clip(f.failures)
	for _, e := range f.unrouted {
		f.failures = append(f.failures, map[string]any{"call": f.plan.Calls[e.call].Node.Value(), "error": e.failure.record()})
	}
	f.unrouted = nil
	f.showFailures()
}

// showFailures makes the error messages so far readable as †error.
func (f *frame) showFailures() {
	if len(f.failures) > 0 {
		f.log.initial["error"] = f.failures
	}
}

// finish is what follows when all calls of a frame have settled.
func (f *frame) finish() {
	switch {
	case f.parent != nil:
		f.returnResult()
	case f.machine.loop == nil && f.machine.instances != nil:
		f.leave()
	}
}

// conclude resolves the output of a plan whose calls have all settled.
func (f *frame) conclude() any {
	f.appendErrors()
	output, problem := f.result()
	if problem != nil {
		f.recordError(*problem, atLast)
	}
	return output
}

// conclude ends a run without a planner.
func (m *Machine) conclude() {
	var output any
	if m.instances == nil {
		output = m.frames[0].conclude()
	}
	outcome := m.outcome(RunDone, "")
	outcome.Output = output
	if len(outcome.Errors) > 0 {
		outcome.Status, outcome.Reason = RunFailed, Reason(outcome.Errors[0].Message)
	}
	m.finish(outcome)
}

// reached is the outcome of a run whose planner has reached its goal, with what
// it is in every instance.
func (m *Machine) reached(outputs []any) *Outcome {
	if m.instances == nil {
		outcome := m.outcome(RunDone, "")
		outcome.Output = outputs[0]
		return outcome
	}
	for at, f := range m.roots() {
		f.leaving(RunDone, outputs[at])
	}
	for _, end := range m.instances.ends {
		if end.Status == RunFailed { // it didn't fit, and took no part
			return m.outcome(RunFailed, Reason(end.Errors[0].Message))
		}
	}
	return m.outcome(RunDone, "")
}

func (m *Machine) outcome(status RunStatus, reason Reason) *Outcome {
	o := &Outcome{Status: status, Reason: reason, Errors: sortedErrors(m.errors), Counts: m.counts, Ticks: m.tick, Usage: m.usage}
	if m.instances == nil {
		o.State = m.frames[0].log.whole("state")
		return o
	}
	o.Instances = append(make([]InstanceEnd, 0, len(m.instances.ends)), m.instances.ends...)
	for _, f := range m.frames {
		if f != nil && f.parent == nil { // it hasn't come to its end
			o.Instances = append(o.Instances, f.end(status, nil))
		}
	}
	return o
}

func (m *Machine) finish(o *Outcome) {
	m.over = true
	m.emit(Finish).Outcome = o
}

// result resolves the plan's output and validates it; the problem is nil when
// there is none.
func (f *frame) result() (any, *CallError) {
	if f.plan.Output == nil {
		return nil, nil
	}
	var problem *CallError
	value, there := f.output(f.plan.Output, &problem)
	if !there {
		value = nil
	}
	if problem == nil && f.plan.OutputSchema != nil && (f.machine.loop == nil || value != nil) {
		if v := f.plan.OutputSchema.Validate(value); v != nil {
			problem = &CallError{Code: "bad-output", Message: "the plan's output doesn't fit its schema" + misfit(v)}
		}
	}
	return value, problem
}

// output resolves a part of the plan's output: an absent leaf is left out.
func (f *frame) output(t *compiler.Template, problem **CallError) (any, bool) {
	switch {
	case t.Expr != nil:
		value, presence, err := t.Expr.Eval(func(ref int) (any, expression.Presence) {
			value, there := f.resolve(&f.plan.Reads[t.Reads[ref]])
			if !there {
				return nil, expression.Absent
			}
			return value, expression.There
		})
		if err != nil {
			*problem = &CallError{Code: "expression-type", Message: fmt.Sprintf("the output %s: %v", t.Node.Text, err)}
			return nil, false
		}
		return value, presence == expression.There
	case !t.Live():
		return t.Value, true
	case t.Fields != nil:
		object := make(map[string]any, len(t.Fields))
		for _, field := range t.Fields {
			if value, ok := f.output(field.Value, problem); ok {
				object[field.Key] = value
			}
		}
		return object, true
	}
	list := make([]any, 0, len(t.Items))
	for _, item := range t.Items {
		if value, ok := f.output(item, problem); ok {
			list = append(list, value)
		}
	}
	return list, true
}
