package compiler

import (
	"cmp"
	"slices"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

// messageKeys are what a message of a type may hold besides its type, which its kind may say in the type's place.
func messageKeys(m *source.Node, own ...string) map[string]func(source.Field) {
	if kind := m.Get("kind"); kind != nil && kind.Text == MessageType(m) {
		own = append(own, "kind")
	}
	keys := map[string]func(source.Field){}
	for _, key := range slices.Concat(own, []string{"type", "description", "_instance"}, notedInMessage) {
		keys[key] = nil
	}
	return keys
}

// mappingSchema reads the schema of a value that is always a mapping: parameters, input, state, an opinion; nil for
// none. One that admits no mapping is a finding, since it would refuse every value. What was made of the node may
// replace it.
func (c *compilation) mappingSchema(n *source.Node, made any, what string) *schema.Schema {
	if n == nil {
		return nil
	}
	if made == nil {
		made = n.Value()
	}
	s := c.schemaOf(n, made, what)
	if s == nil {
		return nil
	}
	if s.Kinds()&schema.Object == 0 {
		c.Report(diag.BadSchema, cmp.Or(n.Get("type"), n).Span(), "%s describes a mapping, but its schema admits none",
			what).Advise("write type: object")
		return nil
	}
	return s
}

// judgeValues holds the document's own input and state against their schemas: what the one gives the other must admit.
// That something is missing is no fault here, since a run may be given it or write it.
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
		place := s.Part(f.Key.Text)
		if !place.Possible {
			c.Report(diag.UndeclaredPath, f.Key.Span(), "the %s schema allows no %q", kind, f.Key.Text).
				Advise("declare it in %s, or remove it", c.schemaName(kind))
			continue
		}
		if place.Schema == nil {
			continue
		}
		if v := place.Schema.Validate(value); v != nil && v.Keyword != "required" {
			c.Report(diag.WrongType, f.Value.Along(v.Path).Span(),
				"the %s schema doesn't admit this value of \"†%s.%s%s\": %s",
				kind, kind, f.Key.Text, v.Where(), v.Message).
				Advise("change the value, or what %s says", c.schemaName(kind))
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
