package branch

import (
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/internal/logic"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/reference"
)

// A Choice is one decision of a branch: a call with its alternative, failure or approval; a reference
// and its value, with the call whose delegate or list it belongs to; or a condition and its outcome.
type Choice struct {
	Call      string `json:"call,omitempty"`
	Takes     string `json:"takes,omitempty"` // the alternative's paths, as in the plan
	Fails     bool   `json:"fails,omitempty"`
	Approved  *bool  `json:"approved,omitempty"`
	Reference string `json:"reference,omitempty"`
	Value     *any   `json:"value,omitempty"`
	Absent    bool   `json:"absent,omitempty"` // the reference has no value
	Condition string `json:"condition,omitempty"`
	Holds     *bool  `json:"holds,omitempty"`
}

// Decisions returns the decisions that a goal depends on in an assignment.
func (e *Conditions) Decisions(goal logic.Literal, a logic.Assignment) []Choice {
	list, reported := []Choice{}, map[any]bool{}
	for _, v := range e.Implicant(goal, a) {
		if d, key, ok := e.decision(e.About(v), v, a); ok && !reported[key] {
			reported[key], list = true, append(list, d)
		}
	}
	null := map[string]bool{} // what else such a reference is compared with is no matter
	for _, d := range list {
		if d.Value != nil && *d.Value == nil {
			null[d.Reference] = true
		}
	}
	return slices.DeleteFunc(list,
		func(d Choice) bool { return d.Value != nil && *d.Value != nil && null[d.Reference] })
}

// EndingOf is the call how which ends a variable is about, if it is about one.
func (e *variables) EndingOf(v int32) (call int, ok bool) {
	switch about := e.About(v).(type) {
	case aboutOutcome:
		return about.call, true
	case aboutFailure:
		return about.call, true
	}
	return 0, false
}

// decision is what a variable, which is about something, says in an assignment.
func (e *Conditions) decision(about any, v int32, a logic.Assignment) (d Choice, key any, ok bool) {
	switch about := about.(type) {
	case aboutOutcome:
		call := e.plan.Calls[about.call]
		alternative, _ := e.Ending(about.call, a)
		var takes []string
		for _, path := range call.Output[alternative] {
			takes = append(takes, e.plan.Paths.String(path.ID))
		}
		return Choice{Call: call.Name, Takes: strings.Join(takes, " && ")}, about.call, true
	case aboutFailure:
		return Choice{Call: e.plan.Calls[about.call].Name, Fails: true}, about.call, e.Value(v, a) && a.Flips(v)
	case aboutPredicate:
		holds := e.Value(v, a)
		return Choice{Condition: about.text, Holds: &holds}, about.text, true
	case aboutNull:
		if e.Value(v, a) {
			return Choice{Reference: e.plan.Paths.String(about.path), Value: new(any)}, about.path, true
		}
		if s := e.onlyAt(about.path); s != nil {
			return e.decision(aboutVariable{s}, v, a)
		}
	case unionKey: // by a property that has one value in the variant
		for _, option := range e.unions[about] {
			for _, name := range option.schema.Properties() {
				if values := valuesOf(option.schema.Part(name).Schema); len(values) == 1 && e.Holds(option.chosen, a) {
					at := reference.Below(e.plan.Paths.String(about.path), []reference.Segment{{Key: name}})
					return Choice{Reference: at, Value: &values[0]}, at, true
				}
			}
		}
	case aboutVariable:
		if value, known := about.of.value(e.Circuit, a); known {
			return Choice{Reference: about.of.name, Value: &value}, about.of.name, true
		}
	}
	return d, nil, false
}

// onlyAt is what conditions are about at a path, where that is one value.
func (e *variables) onlyAt(path pathtree.ID) *variable {
	var only *variable
	for k, s := range e.byRead {
		switch {
		case k.path != path:
		case only != nil:
			return nil
		default:
			only = s
		}
	}
	return only
}

// Ending is how the activity of a call ends in an assignment: the alternative that it
// takes, -1 for the one that LANGUAGE.md#output-paths-and-state chooses, and whether it fails.
func (e *Conditions) Ending(call int, a logic.Assignment) (alternative int, fails bool) {
	switch taken := e.outcomes[call]; {
	case taken == nil:
		return -1, false
	case len(taken) == 1:
		return -1, !e.Holds(taken[0], a)
	default:
		return max(0, slices.IndexFunc(taken, func(l logic.Literal) bool { return e.Holds(l, a) })), false
	}
}

// ReadValue is what a condition reads in an assignment, where that is known.
func (e *Conditions) ReadValue(read int, a logic.Assignment) (value any, known bool) {
	v := e.read(read)
	if e.Holds(v.there, a) && !e.Holds(v.solid, a) {
		return nil, true
	}
	if s := e.byRead[keyOf(e.plan, read)]; s != nil {
		return s.value(e.Circuit, a)
	}
	return nil, false
}

// value is what a variable is in an assignment, if it was tried.
func (s *variable) value(c *logic.Circuit, a logic.Assignment) (value any, known bool) {
	for i, in := range s.in {
		if !s.points[i].untried && c.Holds(in, a) {
			return s.points[i].value, true
		}
	}
	return nil, false
}
