package compiler

import (
	"cmp"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

// messageKeys are what a message of a type may hold besides its type, which its kind may
// say in the type's place.
func messageKeys(m *source.Node, own ...string) []string {
	if kind := m.Get("kind"); kind != nil && kind.Text == MessageType(m) {
		own = append(own, "kind")
	}
	return slices.Concat(own, []string{"type", "description", "_instance"}, notedInMessage)
}

// onlyKeys reports the keys of a message that are none of its own.
func (c *compilation) onlyKeys(m *source.Node, what string, known []string) {
	for _, f := range m.Fields {
		if !slices.Contains(known, f.Key.Text) && !strings.HasPrefix(f.Key.Text, "x-") {
			c.unknownKey(m, f.Key, what, known)
		}
	}
}

// ofMappings reads a schema of what is always a mapping: parameters, input,
// state. One that admits no mapping would refuse whatever comes.
func (c *compilation) ofMappings(n *source.Node, raw any, what string) *schema.Schema {
	s := c.schemaOf(n, raw, what)
	if s == nil {
		return nil
	}
	if s.Kinds()&schema.Object == 0 {
		at := n
		if kind := n.Get("type"); kind != nil {
			at = kind
		}
		c.report(diag.BadSchema, at.Span(), "%s describes a mapping, but its schema admits none", what).Advise("write type: object")
		return nil
	}
	return s
}

// judgeValues holds the document's own input and state against their schemas:
// what the one gives the other must admit. That something is missing is no
// fault here, since a run may be given it or write it.
func (c *compilation) judgeValues() {
	c.judgeObject(c.plan.Input, c.plan.InputNode, c.plan.InputSchema, "input")
	c.judgeObject(c.plan.State, c.plan.StateNode, c.plan.StateSchema, "state")
	for _, own := range c.ownValues {
		view := &c.plan.Instances[c.plan.InstanceAt[own.instance]]
		s := cmp.Or(view.DataSchemas[own.kind], c.plan.DataSchemas[own.kind])
		switch own.kind {
		case "input":
			s = cmp.Or(view.InputSchema, c.plan.InputSchema)
		case "state":
			s = cmp.Or(view.StateSchema, c.plan.StateSchema)
		}
		c.judgeObject(own.value, own.node, s, own.kind)
	}
}

func (c *compilation) judgeObject(values any, at *source.Node, s *schema.Schema, kind string) {
	c.secretsOf(at, s)
	object, ok := values.(map[string]any)
	if !ok || s == nil || at == nil {
		return
	}
	if inside := at.Get(kind); inside != nil && at.Get("type") != nil {
		at = inside // a message that carries its payload under its own type
	}
	for _, f := range at.Fields {
		value, ours := object[f.Key.Text]
		if !ours {
			continue
		}
		place := s.At([]schema.Step{schema.Key(f.Key.Text)})
		if !place.Possible {
			c.report(diag.UndeclaredPath, f.Key.Span(), "the %s schema allows no %q", kind, f.Key.Text).
				Advise("declare it in %s, or take it out", c.schemaName(kind))
			continue
		}
		if place.Schema == nil {
			continue
		}
		if v := place.Schema.Validate(value); v != nil && v.Keyword != "required" {
			c.report(diag.WrongType, f.Value.Along(v.Path).Span(), "the %s schema doesn't admit this value of \"†%s.%s%s\": %s",
				kind, kind, f.Key.Text, v.Where(), v.Message).Advise("change the value, or what %s says", c.schemaName(kind))
		}
	}
}

// schemaName is what to call the schema of a kind.
func (c *compilation) schemaName(kind string) string {
	if c.plan.DataSchemas[kind] != nil {
		return "the schema of its message"
	}
	return "\"" + kind + "Schema\""
}

// simulated judges how a rehearsal is to play a tool: what it can't read
// it would pass over, and the rehearsal would tell of another tool.
func (c *compilation) simulated(n *source.Node) {
	if n == nil {
		return
	}
	duration := func(f source.Field) { c.duration(f.Value, "\""+f.Key.Text+"\"") }
	number := func(expected string, fits func(float64) bool) func(source.Field) {
		return func(f source.Field) {
			if f.Value.Kind != source.Number || !fits(f.Value.Float()) {
				c.report(diag.WrongType, f.Value.Span(), "%q must be %s", f.Key.Text, expected)
			}
		}
	}
	spread := func(f source.Field, part func(source.Field)) bool {
		if f.Value.Kind != source.Object {
			return false
		}
		c.fields(f.Value, "\""+f.Key.Text+"\"", map[string]func(source.Field){"p50": part, "p95": part})
		return true
	}
	cost := number("a number from 0", func(v float64) bool { return v >= 0 })
	c.fields(n, "\"x-simulate\"", map[string]func(source.Field){
		"duration": func(f source.Field) {
			if !spread(f, duration) && (f.Value.Kind != source.String || f.Value.Text != "0s") {
				duration(f)
			}
		},
		"cost": func(f source.Field) {
			if !spread(f, cost) {
				cost(f)
			}
		},
		"failure": number("a rate from 0 to 1", func(v float64) bool { return v >= 0 && v <= 1 }),
	})
}
