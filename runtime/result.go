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
func (m *Machine) appendErrors() {
	slices.SortFunc(m.unrouted, func(a, b errorMessage) int { return a.call - b.call })
	m.failures = slices.Clip(m.failures)
	for _, e := range m.unrouted {
		m.failures = append(m.failures, map[string]any{"call": m.plan.Calls[e.call].Node.Value(), "error": e.failure.record()})
	}
	m.unrouted = nil
	m.showFailures()
}

// complete ends the run, or its tick, now that every call has settled (S11.8).
func (m *Machine) complete() {
	if m.loop != nil && m.loop.ended {
		m.nextTick() // the run was stopped between two ticks
		return
	}
	m.appendErrors()
	if m.loop != nil {
		m.endTick()
		return
	}
	output, problem := m.result()
	if problem != nil {
		m.errors = append(m.errors, *problem)
	}
	outcome := m.outcome("done", "")
	outcome.Output = output
	if len(m.errors) > 0 {
		outcome.Status, outcome.Reason = "failed", m.errors[0].Message
	}
	m.finish(outcome)
}

func (m *Machine) outcome(status, reason string) *Outcome {
	return &Outcome{Status: status, Reason: reason, State: m.log.whole("state"), Errors: m.errors, Counts: m.counts, Ticks: m.tick, Usage: m.usage}
}

func (m *Machine) finish(o *Outcome) {
	m.over = true
	m.emit(Command{Kind: Finish, Outcome: o})
}

// result resolves the plan's output and validates it; the problem is nil when
// there is none.
func (m *Machine) result() (any, *CallError) {
	if m.plan.Output == nil {
		return nil, nil
	}
	var problem *CallError
	value, there := m.output(m.plan.Output, &problem)
	if !there {
		value = nil
	}
	if problem == nil && m.plan.OutputSchema != nil && (m.loop == nil || value != nil) {
		if v := m.plan.OutputSchema.Validate(value); v != nil {
			problem = &CallError{"", "bad-output", "the plan's output doesn't fit its schema" + misfit(v)}
		}
	}
	return value, problem
}

// output resolves a part of the plan's output: an absent leaf is left out.
func (m *Machine) output(t *compiler.Template, problem **CallError) (any, bool) {
	switch {
	case t.Expr != nil:
		value, presence, err := t.Expr.Eval(func(ref int) (any, expression.Presence) {
			value, there := m.resolve(&m.plan.Reads[t.Reads[ref]])
			if !there {
				return nil, expression.Absent
			}
			return value, expression.There
		})
		if err != nil {
			*problem = &CallError{"", "expression-type", fmt.Sprintf("the output %s: %v", t.Node.Text, err)}
			return nil, false
		}
		return value, presence == expression.There
	case !t.Live():
		return t.Value, true
	case t.Fields != nil:
		object := make(map[string]any, len(t.Fields))
		for _, f := range t.Fields {
			if value, ok := m.output(f.Value, problem); ok {
				object[f.Key] = value
			}
		}
		return object, true
	}
	list := make([]any, 0, len(t.Items))
	for _, item := range t.Items {
		if value, ok := m.output(item, problem); ok {
			list = append(list, value)
		}
	}
	return list, true
}
