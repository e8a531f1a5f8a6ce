package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/runtime/session"
	"github.com/obelus-dev/obelus/runtime/simulate"
)

// A divergence is two orders of the same work that end differently.
type divergence struct {
	Schedules [2]int     `json:"schedules"`
	First     *different `json:"first"` // the first different value; null when only calls settle differently
}

// A different value is one in which two orders end.
type different struct {
	Instance string `json:"instance,omitzero"`
	At       string `json:"at"`     // †state.x[0], or †output
	Values   [2]any `json:"values"` // null where there is nothing
}

// diverge finds in what two simulations end differently; nil for nothing.
func (s *simulation) diverge(a, b *simulate.Scenario) *divergence {
	d := &divergence{Schedules: [2]int{s.number(a), s.number(b)}}
	x, y := session.ResultsOf(a.Outcome), session.ResultsOf(b.Outcome)
	if x == nil {
		x = map[string]session.InstanceResult{"": {State: a.Outcome.State, Output: a.Outcome.Output}}
		y = map[string]session.InstanceResult{"": {State: b.Outcome.State, Output: b.Outcome.Output}}
	}
	for _, id := range slices.Sorted(maps.Keys(x)) {
		d.First = differentValue("state", nil, session.LastState(x[id].State), session.LastState(y[id].State))
		if d.First == nil {
			d.First = differentValue("output", nil, x[id].Output, y[id].Output)
		}
		if d.First != nil {
			d.First.Instance = id
			return d
		}
	}
	isSame := func(x, y simulate.CallReport) bool { return x.Status == y.Status }
	if a.Outcome.Status == b.Outcome.Status && slices.EqualFunc(a.Calls, b.Calls, isSame) {
		return nil
	}
	return d
}

// differentValue is the first place at which two values differ, by names and positions; nil for none.
func differentValue(kind string, path []expression.Segment, a, b any) *different {
	x, isObject := a.(map[string]any)
	if y, both := b.(map[string]any); isObject && both {
		for _, key := range slices.Sorted(maps.Keys(session.Over(x, y))) {
			below := append(slices.Clone(path), expression.Segment{Key: key})
			if d := differentValue(kind, below, x[key], y[key]); d != nil {
				return d
			}
		}
		return nil
	}
	list, isList := a.([]any)
	if other, both := b.([]any); isList && both && len(list) == len(other) {
		for i := range list {
			below := append(slices.Clone(path), expression.Segment{Key: strconv.Itoa(i), IsIndex: true, Index: i})
			if d := differentValue(kind, below, list[i], other[i]); d != nil {
				return d
			}
		}
		return nil
	}
	if schema.Equal(a, b) {
		return nil
	}
	return &different{At: expression.Reference{Kind: kind, Path: path}.String(), Values: [2]any{a, b}}
}

// difference describes in what two simulations end differently.
func (s *simulation) difference(all *comparison) string {
	d, text := all.divergence, ""
	if d.First != nil {
		at := diag.Escape(strings.TrimPrefix(d.First.Instance+" "+d.First.At, " "))
		text = fmt.Sprintf("  %s is %s\n      and then %s\n", at,
			terminal.Cut(terminal.Brief(d.First.Values[0]), 200), terminal.Cut(terminal.Brief(d.First.Values[1]), 200))
	}
	if s.orders == nil {
		text += fmt.Sprintf("  again: --seed %d --schedule %d, and --schedule %d\n", all.first.Seed, d.Schedules[0],
			d.Schedules[1])
	}
	return text
}

// number counts schedules for people: those of a file from 1, others from 1 after the first.
func (s *simulation) number(one *simulate.Scenario) int {
	if s.orders != nil {
		return one.Schedule + 1
	}
	return one.Schedule
}
