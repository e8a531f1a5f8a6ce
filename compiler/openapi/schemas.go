package openapi

import (
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/source"
)

// A direction is that in which a value goes: what is only read isn't sent, and what is
// only written doesn't come.
type direction uint8

const (
	request direction = iota
	response
)

// A pointer is a schema that others refer to, as it is for values that go in one direction.
type pointer struct {
	node *source.Node
	dir  direction
}

// A named schema is one that others refer to, or all of those that are in one operation.
type named struct {
	pointer
	ref       string // that was met first
	value     any    // with links in the place of references
	refs      []*named
	pruned    bool   // the other direction has another one
	broken    *Note  // it leads out of the document
	name      string // under "schemas"
	duplicate *named // an equal schema that replaces it
	large     bool   // with all that it refers to
}

// A link is a reference before the names of schemas are known.
type link struct{ to *named }

// The keywords by what their values are. Others say something of documents, or nothing that a
// validator of JSON Schema looks at.
var (
	mapsOfSchemas  = strings.Fields("properties patternProperties $defs definitions dependentSchemas")
	listsOfSchemas = strings.Fields("allOf anyOf oneOf prefixItems")
	oneSchema      = strings.Fields("items additionalProperties not if then else contains propertyNames " +
		"unevaluatedItems unevaluatedProperties additionalItems")
	plain = strings.Fields("type enum const multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength " +
		"minLength pattern format maxItems minItems uniqueItems maxContains minContains maxProperties minProperties " +
		"required dependentRequired description default deprecated")
	known = slices.Concat(plain, mapsOfSchemas, listsOfSchemas, oneSchema)
)

// schema translates a schema to draft 2020-12.
func (r *reading) schema(n *source.Node, dir direction, in *named) any {
	if n.Kind == source.Bool {
		return n.IsTrue()
	}
	if n.Kind != source.Object {
		r.note(noteOf(n, "a schema is a mapping, not %s; it is taken to allow everything", n.Kind))
		return map[string]any{}
	}
	out := map[string]any{}
	if ref := n.Get("$ref"); ref != nil {
		if to := r.refer(ref, dir, in); to != nil {
			out["$ref"] = link{to}
		}
		if r.old { // nothing beside it counts
			return out
		}
	}
	gone := hidden(n, dir, in)
	for _, f := range n.Fields {
		key, v := f.Key.Text, f.Value
		switch {
		case key == "$dynamicRef" || key == "$recursiveRef":
			r.note(noteOf(f.Key, "%q isn't followed; what it leads to may be anything", key))
		case slices.Contains(mapsOfSchemas, key) && v.Kind == source.Object:
			all := map[string]any{}
			for _, p := range v.Fields {
				if key != "properties" || !slices.Contains(gone, p.Key.Text) {
					all[p.Key.Text] = r.schema(p.Value, dir, in)
				}
			}
			out[key] = all
		case slices.Contains(listsOfSchemas, key) && v.Kind == source.Array:
			list := make([]any, len(v.Items))
			for i, item := range v.Items {
				list[i] = r.schema(item, dir, in)
			}
			if n.Get("discriminator") != nil && key == "oneOf" { // it chooses, and a value may fit several
				key = "anyOf"
			}
			out[key] = list
		case slices.Contains(oneSchema, key) && v.Kind == source.Object:
			out[key] = r.schema(v, dir, in)
		case key == "required" && v.Kind == source.Array:
			needs := []any{}
			for _, item := range v.Items {
				if !slices.Contains(gone, item.Text) {
					needs = append(needs, item.Value())
				}
			}
			if len(needs) > 0 {
				out[key] = needs
			}
		case slices.Contains(known, key):
			out[key] = v.Value()
		}
	}
	if r.old {
		return modern(out, n.Get("nullable").IsTrue())
	}
	return out
}

// hidden are the properties that don't go in a direction.
func hidden(n *source.Node, dir direction, in *named) (gone []string) {
	for _, f := range orEmpty(n.Get("properties")).Fields {
		readOnly, writeOnly := f.Value.Get("readOnly").IsTrue(), f.Value.Get("writeOnly").IsTrue()
		in.pruned = in.pruned || readOnly != writeOnly
		if readOnly && dir == request || writeOnly && dir == response {
			gone = append(gone, f.Key.Text)
		}
	}
	return gone
}

// modern makes a schema of OpenAPI 3.0 one of JSON Schema.
func modern(m map[string]any, nullable bool) any {
	for exclusive, bound := range map[string]string{"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"} {
		if yes, ok := m[exclusive].(bool); ok {
			delete(m, exclusive)
			if yes && m[bound] != nil {
				m[exclusive] = m[bound]
				delete(m, bound)
			}
		}
	}
	if !nullable {
		return m
	}
	if list, ok := m["enum"].([]any); ok && !slices.Contains(list, nil) {
		m["enum"] = append(slices.Clone(list), nil)
	}
	if one, ok := m["type"].(string); ok && m["allOf"] == nil && m["anyOf"] == nil && m["oneOf"] == nil &&
		m["not"] == nil {
		m["type"] = []any{one, "null"}
		return m
	}
	return map[string]any{"anyOf": []any{m, map[string]any{"type": "null"}}}
}

// refer is what a reference leads to; nil where it leads nowhere.
func (r *reading) refer(ref *source.Node, dir direction, in *named) *named {
	n, refused := r.target(ref)
	switch {
	case refused != nil && strings.HasSuffix(refused.Message, outside):
		in.broken = refused
		return nil
	case refused != nil || n.Kind != source.Object && n.Kind != source.Bool:
		r.note(noteOf(ref, "%q leads to no schema; what it stands for may be anything", ref.Text))
		return nil
	}
	key := pointer{n, dir}
	to := r.named[key]
	if to == nil {
		to = &named{pointer: key, ref: ref.Text}
		r.named[key] = to
		r.order = append(r.order, to)
	}
	in.refs = append(in.refs, to)
	return to
}

// translate is the value of a named schema, which is read once.
func (r *reading) translate(n *named) any {
	if n.value == nil && n.node != nil {
		n.value = map[string]any{} // while it refers to itself
		n.value = r.schema(n.node, n.dir, n)
	}
	return n.value
}

const maxFlat = 1_000 // schemas that make up one object

// flatKeys are the other keywords of a schema that is no more than its properties.
var flatKeys = strings.Fields("description deprecated default properties required allOf $ref")

// flat gathers the properties of an object that may be behind a reference or be made of
// several by allOf, and which of them it needs. It reports false where the object is more
// than its properties. The budget bounds how many schemas are looked at.
func (r *reading) flat(v any, budget *int, properties map[string]any, needs map[string]bool) bool {
	m, isMap := v.(map[string]any)
	if *budget--; !isMap || *budget < 0 {
		return false
	}
	for key, value := range m {
		rest, _ := value.(map[string]any)
		switch {
		case key == "type" && slices.Contains(several(value), any("object")):
		case key == "additionalProperties" && len(rest) == 0:
		case !slices.Contains(flatKeys, key):
			return false
		}
	}
	parts, _ := m["allOf"].([]any)
	if to, ok := m["$ref"].(link); ok {
		parts = append([]any{r.translate(to.to)}, parts...)
	}
	for _, part := range parts {
		if !r.flat(part, budget, properties, needs) {
			return false
		}
	}
	own, _ := m["properties"].(map[string]any)
	for name, schema := range own {
		if before, twice := properties[name]; twice {
			schema = map[string]any{"allOf": []any{before, schema}}
		}
		properties[name] = schema
	}
	required, _ := m["required"].([]any)
	for _, name := range required {
		if text, ok := name.(string); ok {
			needs[text] = true
		}
	}
	return true
}

// several are the items of a list; anything else is the one that there is.
func several(v any) []any {
	if list, ok := v.([]any); ok {
		return list
	}
	return []any{v}
}

// The shapes of a value that is sent as text. A value of several shapes counts as the one that comes last.
type shape int

const (
	unknown shape = iota
	object        // and nothing else, besides null
	scalar
	array  // whose items are scalar
	nested // a list with others in it
)

// shape is the shape of a schema's values. The budget bounds how many schemas are looked at.
func (r *reading) shape(v any, budget *int) (s shape) {
	m, _ := v.(map[string]any)
	if *budget--; *budget < 0 {
		return scalar
	}
	if to, refers := m["$ref"].(link); refers {
		s = r.shape(r.translate(to.to), budget)
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := m[key].([]any)
		for _, one := range list {
			s = max(s, r.shape(one, budget))
		}
	}
	for _, kind := range several(m["type"]) {
		switch {
		case kind == "null":
		case kind == "object", kind == nil && m["properties"] != nil:
			s = max(s, object)
		case kind == "array", kind == nil && m["items"] != nil:
			s = max(s, array)
			if items := r.shape(m["items"], budget); items != unknown && items != scalar {
				s = nested
			}
		case kind != nil, m["enum"] != nil, m["const"] != nil:
			s = max(s, scalar)
		}
	}
	return s
}
