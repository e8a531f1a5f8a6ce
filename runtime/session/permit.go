package session

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/analyzer/permit"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/runtime/approval"
	"github.com/obelus-dev/obelus/runtime/project"
)

// permitOf is what an approval lets a run do: its own permit, or else what the plan itself does and nothing else.
func permitOf(p *project.Program, a *approval.Approval) (*permit.Permit, error) {
	if text := a.Statement.Predicate.Permit; len(text) > 0 {
		own, err := permit.Read(text)
		if err != nil {
			return nil, diag.NewError(ErrUnapproved, "the approval's permit can't be read: %v", err).From(err).
				Advise("approve the plan anew: an earlier version of obelus may have written it")
		}
		return own, nil
	}
	parts, err := approval.Parts(p.Plan)
	if err != nil {
		return nil, err
	}
	return permit.Of(facts.Of(p.Plan, facts.Options{Planned: true}), parts), nil
}

// samePermit reports whether a run's permit is the one of its approval.
func samePermit(a, b *permit.Permit) bool {
	one, _ := json.Marshal(a) // plain data
	other, _ := json.Marshal(b)
	return bytes.Equal(one, other)
}

// within refuses a program that leaves the permit that it is to be run under.
func within(p *project.Program, o *Options) error {
	own := o.Permit
	if own == nil {
		return nil
	}
	for _, name := range []string{o.PlannerName, o.Model} {
		if name != "" && own.Models != nil && !slices.Contains(own.Models, name) {
			return diag.NewError(ErrUnapproved, "the model %q isn't one of those that are approved", name)
		}
	}
	if ticks, bounded := own.Budget["ticks"]; o.Planned && bounded && ticks == 0 {
		return diag.NewError(ErrUnapproved, "a model is to plan the run, and what was approved is a run without one").
			Advise("obelus approve --planner approves one")
	}
	parts, err := approval.Parts(p.Plan)
	if err != nil {
		return err
	}
	if left := own.Within(facts.Of(p.Plan, facts.Options{Planned: o.Planned}), parts); len(left) > 0 {
		return diag.NewError(ErrUnapproved, "the plan leaves what was approved: %s", left[0]).
			Advise("have what it does now approved")
	}
	return nil
}
