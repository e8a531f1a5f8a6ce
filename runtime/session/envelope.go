package session

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/obelus-dev/obelus/analyzer/envelope"
	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/runtime/approval"
	"github.com/obelus-dev/obelus/runtime/project"
)

// envelopeOf is what an approval lets a run do: what it says, or else what the plan
// itself does and nothing else.
func envelopeOf(p *project.Program, a *approval.Approval) (*envelope.Envelope, error) {
	if said := a.Statement.Predicate.Envelope; len(said) > 0 {
		e, err := envelope.Read(said)
		if err != nil {
			return nil, diag.NewError(ErrUnapproved, "the approval's envelope can't be read: %v", err).From(err).Advise("approve the plan anew: an earlier version of obelus may have written it")
		}
		return e, nil
	}
	parts, err := approval.Parts(p.Plan)
	if err != nil {
		return nil, err
	}
	return envelope.Of(facts.Of(p.Plan, facts.Options{Planned: true}), parts), nil
}

// sameEnvelope reports whether a run's envelope is the one of its approval.
func sameEnvelope(a, b *envelope.Envelope) bool {
	one, _ := json.Marshal(a) // plain data
	other, _ := json.Marshal(b)
	return bytes.Equal(one, other)
}

// within refuses a program that leaves the envelope that it is to be run under.
func within(p *project.Program, o *Options) error {
	e := o.Envelope
	if e == nil {
		return nil
	}
	if err := e.Check(); err != nil {
		return diag.NewError(ErrOutside, "the envelope can't be used: %v", err)
	}
	for _, name := range []string{o.PlannerName, o.Model} {
		if name != "" && e.Models != nil && !slices.Contains(e.Models, name) {
			return diag.NewError(ErrOutside, "the model %q isn't one of those that are approved", name).About(name)
		}
	}
	if o.Planned && e.Budget.Ticks != nil && *e.Budget.Ticks == 0 {
		return diag.NewError(ErrOutside, "a model is to plan the run, and what was approved is a run without one").Advise("have a run with a planner approved")
	}
	parts, err := approval.Parts(p.Plan)
	if err != nil {
		return err
	}
	if left := e.Within(facts.Of(p.Plan, facts.Options{Planned: o.Planned}), parts); len(left) > 0 {
		return diag.NewError(ErrOutside, "the plan leaves what was approved: %s", left[0]).Advise("have what it does now approved")
	}
	return nil
}
