package analyzer

import (
	"math/rand/v2"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/schema"
)

const (
	trials    = 16  // sets of values that an expression is worked out with
	trialCost = 100 // of the plan's reasoning, in steps
)

// worksOut looks for a value that an expression may give and a place refuses, by
// working it out with values that may come to its references: types alone don't
// tell a half from a whole number. Values out of one result are drawn together.
// Only a value of the wrong kind counts: which bounds a calculation keeps to is
// something that its author may know and no schema can say.
// Where a reference isn't known there is no such value to show.
func (p *Pass) worksOut(t *compiler.Template, to target) (witness any, found bool) {
	table := p.flowing()
	for trial := range trials {
		if table.steps -= trialCost; table.steps < 0 {
			return nil, false
		}
		d := draw{pass: p, random: rand.New(rand.NewPCG(uint64(trial), 506)), results: map[*compiler.Call]any{}, paths: map[pathtree.ID]any{}}
		for _, r := range t.Reads {
			if !d.read(r) {
				return nil, false
			}
		}
		value, presence, err := t.Expr.Eval(func(i int) (any, expression.Presence) {
			return d.paths[p.Plan.Reads[t.Reads[i]].Path], expression.There
		})
		if err != nil || presence != expression.There || schema.KindOf(value) == 0 {
			continue
		}
		if refused := to.schema.Validate(value); refused == nil || refused.Keyword != "type" {
			continue
		}
		if to.call == nil || d.passes(to.call) {
			return value, true
		}
	}
	return nil, false
}

// A draw is one set of values that may come together.
type draw struct {
	pass    *Pass
	random  *rand.Rand
	results map[*compiler.Call]any // whole results of calls
	paths   map[pathtree.ID]any
}

// read draws a value for a read. It is false where nothing is known of the read,
// or nothing that its schema accepts was found.
func (d *draw) read(index int) bool {
	p := d.pass
	r := &p.Plan.Reads[index]
	if _, drawn := d.paths[r.Path]; drawn {
		return true
	}
	var usual []flow
	for _, f := range p.flowsOfRead(index) {
		if f.schema == nil || f.loose {
			return false
		}
		if !f.rare && !f.sample && p.comes(&f) {
			usual = append(usual, f)
		}
	}
	if len(usual) == 0 {
		return false
	}
	f := usual[d.random.IntN(len(usual))]
	if call := f.from.call; call != nil && call.Tool != nil && call.Tool.Output != nil && call.Produced == nil && !f.from.failure {
		whole, drawn := d.results[call]
		if !drawn {
			var ok bool
			if whole, ok = p.sample(call.Tool.Output.AsDeclared(), d.random, &p.flowing().steps); !ok {
				return false
			}
			d.results[call] = whole
		}
		value, ok := pathtree.Walk(whole, f.from.rest)
		if !ok || !f.schema.Accepts(value) {
			return false
		}
		d.paths[r.Path] = value
		return true
	}
	value, ok := p.sample(f.schema.AsDeclared(), d.random, &p.flowing().steps)
	d.paths[r.Path] = value
	return ok
}

// sample makes a value up within a budget for many.
func (p *Pass) sample(s *schema.Schema, r *rand.Rand, budget *int) (any, bool) {
	const most = 2_000 // steps for one value
	steps := max(0, min(most, *budget))
	*budget -= steps
	value, ok := s.SampleWithin(r, &steps)
	*budget += max(0, steps)
	return value, ok
}

// passes reports whether a call's condition lets the drawn values through.
func (d *draw) passes(call *compiler.Call) bool {
	if call.When == nil || call.When.Expr == nil {
		return true
	}
	related := false
	for _, i := range call.When.Reads {
		r := &d.pass.Plan.Reads[i]
		_, drawn := d.paths[r.Path]
		related = related || drawn
		for _, w := range r.Writers {
			_, drawn = d.results[d.pass.Plan.Calls[w]]
			related = related || drawn
		}
	}
	if !related {
		return true
	}
	value, presence, err := call.When.Expr.Eval(func(i int) (any, expression.Presence) {
		if value, drawn := d.paths[d.pass.Plan.Reads[call.When.Reads[i]].Path]; drawn {
			return value, expression.There
		}
		return nil, expression.Pending
	})
	return err == nil && presence == expression.There && value == true
}
