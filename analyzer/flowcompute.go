package analyzer

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/expression"
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
		d := draw{pass: p, random: rand.New(rand.NewPCG(uint64(trial), 506)), results: map[*compiler.Call]any{}, paths: map[compiler.PathID]any{}}
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
	paths   map[compiler.PathID]any
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
			if whole, ok = call.Tool.Output.AsDeclared().Sample(d.random); !ok {
				return false
			}
			d.results[call] = whole
		}
		value, ok := compiler.Walk(whole, f.from.rest)
		if !ok || !f.schema.Accepts(value) {
			return false
		}
		d.paths[r.Path] = value
		return true
	}
	value, ok := f.schema.AsDeclared().Sample(d.random)
	d.paths[r.Path] = value
	return ok
}

// passes tells whether a call's condition lets the drawn values through.
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

// activityCode holds the expressions of activities against the parameters of the
// tools that they carry out (S4.5).
func (p *Pass) activityCode() {
	reported := map[string]bool{}
	for _, tool := range p.Plan.Tools {
		activity := p.Plan.Activities[tool.Activity]
		known := p.parametersOf(tool)
		if activity == nil || activity.Expression == nil || known == nil || reported[tool.Activity] {
			continue
		}
		_, err := activity.Expression.CheckCode(func(name string) *expression.Type {
			if at := known.place(name); at.Possible {
				return typeOfSchema(at.Schema, typeDepth)
			}
			return nil
		})
		if err == nil {
			continue
		}
		reported[tool.Activity] = true
		f := p.report(activity.Node.Get("expr").Within(err.Start, err.End), "%s", err.Message)
		if f.Help = err.Help; f.Help == "" {
			f.help("the types come from the parameters of %q, which the activity carries out", tool.Name)
		}
		if tool.NameNode != nil {
			f.note(tool.NameNode.Span(), "%q is declared here", tool.Name)
		}
	}
}

// unknownMembers reports fields that an expression reads inside what it works
// out, an item's say, where the schemas name fields and not that one: what is no
// fault by the types alone, and is one when what the schemas name is taken for
// all that there is.
func (p *Pass) unknownMembers() {
	hasParts := func(read int) bool {
		known := p.typeOf(read)
		return known != nil && known.Kinds&(expression.Object|expression.Array) != 0
	}
	p.calculations(func(call *compiler.Call, t *compiler.Template) {
		if t.Expr.Plain() || !slices.ContainsFunc(t.Reads, hasParts) {
			return
		}
		if _, err := t.Expr.Check(func(i int) *expression.Type { return p.typeOf(t.Reads[i]) }); err != nil {
			return // a finding of its own
		}
		_, err := t.Expr.Check(func(i int) *expression.Type {
			if read := t.Reads[i]; hasParts(read) {
				return p.declaredType(read)
			}
			return p.typeOf(t.Reads[i])
		})
		if err == nil {
			return
		}
		said := strings.Replace(err.Message, "there is no field", "no schema names a field", 1)
		f := p.report(t.Node.Within(err.Start, err.End), "%s here", said).of(call)
		if f.Help = err.Help; f.Help == "" {
			f.help("read a field that the source's schema names, or name this one there")
		}
	})
}

// declaredType is the type of a read whose objects have the fields that their
// schemas name and no others, where these say nothing of others.
func (p *Pass) declaredType(read int) *expression.Type {
	flows := p.flowsOfRead(read)
	if len(flows) != 1 || flows[0].schema == nil || flows[0].sample || flows[0].loose {
		return p.typeOf(read)
	}
	t := typeOfSchema(flows[0].schema, typeDepth)
	closeDeclared(t, flows[0].schema)
	return t
}

func closeDeclared(t *expression.Type, s *schema.Schema) {
	if t == nil || s == nil {
		return
	}
	for _, name := range sortedNames(t.Fields) {
		closeDeclared(t.Fields[name], s.At([]schema.Step{schema.Key(name)}).Schema)
	}
	if t.Elem != nil {
		closeDeclared(t.Elem, s.At([]schema.Step{schema.Index(0)}).Schema)
	}
	if t.Open && len(t.Fields) > 0 {
		other := s.At([]schema.Step{schema.Key("\x00")}) // a name that no schema has
		t.Open = other.Named || other.Possible && (other.Silent || other.Open)
	}
}

func sortedNames(fields map[string]*expression.Type) []string {
	return slices.Sorted(maps.Keys(fields))
}
