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
	Schedules [2]int   `json:"schedules"`
	First     *parting `json:"first"` // the first difference in what they end in; null when only calls settle otherwise
}

// A parting is a place at which two values differ.
type parting struct {
	Instance string `json:"instance,omitzero"`
	At       string `json:"at"`     // †state.x[0], or †output
	Values   [2]any `json:"values"` // null where there is nothing
}

// diverge compares two rehearsals that end differently.
func (r *rehearsal) diverge(a, b *simulate.Scenario) *divergence {
	d := &divergence{Schedules: [2]int{r.number(a), r.number(b)}}
	x, y := session.ResultsOf(a.Outcome), session.ResultsOf(b.Outcome)
	for _, id := range slices.Sorted(maps.Keys(x)) {
		if d.First = part("state", nil, session.LastState(x[id].State), session.LastState(y[id].State)); d.First != nil {
			d.First.Instance = id
			return d
		}
	}
	if d.First = part("state", nil, session.LastState(a.Outcome.State), session.LastState(b.Outcome.State)); d.First == nil {
		d.First = part("output", nil, a.Outcome.Output, b.Outcome.Output)
	}
	return d
}

// part is the first place at which two values differ, by the names and places in them; nil
// when they don't.
func part(kind string, below []expression.Segment, a, b any) *parting {
	x, objects := a.(map[string]any)
	if y, both := b.(map[string]any); objects && both {
		for _, key := range slices.Sorted(maps.Keys(session.Over(x, y))) {
			if p := part(kind, append(slices.Clone(below), expression.Segment{Key: key}), x[key], y[key]); p != nil {
				return p
			}
		}
		return nil
	}
	list, lists := a.([]any)
	if other, both := b.([]any); lists && both && len(list) == len(other) {
		for i := range list {
			if p := part(kind, append(slices.Clone(below), expression.Segment{Key: strconv.Itoa(i), IsIndex: true, Index: i}), list[i], other[i]); p != nil {
				return p
			}
		}
		return nil
	}
	if schema.Equal(a, b) {
		return nil
	}
	return &parting{At: expression.Reference{Kind: kind, Path: below}.String(), Values: [2]any{a, b}}
}

// difference describes in what two rehearsals of the same work end differently.
func (r *rehearsal) difference(a, b *simulate.Scenario) string {
	d := r.diverge(a, b)
	var out strings.Builder
	for i := range min(len(a.Calls), len(b.Calls)) {
		if a.Calls[i].Status != b.Calls[i].Status {
			fmt.Fprintf(&out, "  the call \"%s\" is %s, and then %s\n", nameOf(&a.Calls[i]), a.Calls[i].Status, b.Calls[i].Status)
		}
	}
	if d.First != nil {
		fmt.Fprintf(&out, "  %s is %s\n      and then %s\n", diag.Escape(strings.TrimPrefix(d.First.Instance+" "+d.First.At, " ")),
			terminal.Cut(terminal.Brief(d.First.Values[0]), 200), terminal.Cut(terminal.Brief(d.First.Values[1]), 200))
	}
	if !r.replaying {
		fmt.Fprintf(&out, "  again: --seed %d --schedule %d, and --schedule %d\n", a.Seed, d.Schedules[0], d.Schedules[1])
	}
	return out.String()
}
