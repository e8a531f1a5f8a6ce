package openapi

import (
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

// A direction is that in which a value goes: what is only read isn't sent, and what is
// only written doesn't come.
type direction uint8

const (
	request direction = iota
	response
)

// A pointer is a schema of the document that others refer to, as it is for values that go
// in one direction.
type pointer struct {
	ref string
	dir direction
}

// A named schema is one that others refer to, or all of those that are in one operation.
type named struct {
	pointer
	node      *source.Node
	value     any // with links in the place of references
	refs      []*named
	pruned    bool         // the other direction has another one
	external  *source.Node // what leads out of the document
	name      string       // under "schemas"
	duplicate *named       // an equal schema that replaces it
	relaxed   bool         // no value fitted it
}

// A link is a reference before the names of schemas are known.
type link struct{ to *named }

// The keywords whose values are schemas.
var (
	mapsOfSchemas  = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
	listsOfSchemas = []string{"allOf", "anyOf", "oneOf", "prefixItems"}
	oneSchema      = []string{"items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedItems", "unevaluatedProperties", "additionalItems"}
	// What else says something of values. Everything besides says it of documents, or
	// nothing that a validator of JSON Schema looks at.
	plain = []string{"type", "enum", "const", "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "maxLength", "minLength", "pattern", "format",
		"maxItems", "minItems", "uniqueItems", "maxContains", "minContains", "maxProperties", "minProperties", "required", "dependentRequired", "description", "default", "deprecated"}
)

const malformed = "a schema isn't valid"

// schema translates a schema to draft 2020-12.
func (r *reading) schema(n *source.Node, dir direction, in *named) any {
	if n.Kind == source.Bool {
		return n.IsTrue()
	}
	if n.Kind != source.Object {
		r.note(n, malformed, "a schema is a mapping, not %s; it is taken to allow everything", n.Kind)
		return map[string]any{}
	}
	out := map[string]any{}
	if ref := n.Get("$ref"); ref != nil {
		to := r.refer(ref, dir, in)
		if to != nil {
			out["$ref"] = link{to}
		}
		if r.old { // nothing beside it counts
			return out
		}
	}
	gone := r.hidden(n, dir, in)
	for _, f := range n.Fields {
		switch key := f.Key.Text; {
		case key == "$dynamicRef" || key == "$recursiveRef":
			r.note(f.Key, malformed, "%q isn't followed; what it leads to may be anything", key)
		case slices.Contains(mapsOfSchemas, key) && f.Value.Kind == source.Object:
			all := map[string]any{}
			for _, p := range f.Value.Fields {
				if key != "properties" || !slices.Contains(gone, p.Key.Text) {
					all[p.Key.Text] = r.schema(p.Value, dir, in)
				}
			}
			out[key] = all
		case slices.Contains(listsOfSchemas, key) && f.Value.Kind == source.Array:
			list := []any{}
			for _, item := range f.Value.Items {
				list = append(list, r.schema(item, dir, in))
			}
			out[key] = r.told(n, key, list, dir, in)
		case slices.Contains(oneSchema, key) && f.Value.Kind == source.Object:
			out[key] = r.schema(f.Value, dir, in)
		case key == "required" && f.Value.Kind == source.Array:
			needs := []any{}
			for _, item := range f.Value.Items {
				if !slices.Contains(gone, item.Text) {
					needs = append(needs, item.Value())
				}
			}
			if len(needs) > 0 {
				out[key] = needs
			}
		case slices.Contains(plain, key) || slices.Contains(mapsOfSchemas, key) || slices.Contains(listsOfSchemas, key) || slices.Contains(oneSchema, key):
			out[key] = f.Value.Value()
		}
	}
	if r.old {
		return modern(out, n.Get("nullable").IsTrue())
	}
	return out
}

// hidden are the properties that don't go in a direction.
func (r *reading) hidden(n *source.Node, dir direction, in *named) (gone []string) {
	properties := n.Get("properties")
	if properties == nil {
		return nil
	}
	for _, f := range properties.Fields {
		readOnly, writeOnly := f.Value.Get("readOnly").IsTrue(), f.Value.Get("writeOnly").IsTrue()
		if readOnly != writeOnly {
			in.pruned = true
		}
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
	if one, ok := m["type"].(string); ok && m["allOf"] == nil && m["anyOf"] == nil && m["oneOf"] == nil && m["not"] == nil {
		m["type"] = []any{one, "null"}
		return m
	}
	return map[string]any{"anyOf": []any{m, map[string]any{"type": "null"}}}
}

// told says of each of several schemas which value of the discriminator goes with it,
// where the document says so and the schema itself leaves it open.
func (r *reading) told(n *source.Node, key string, list []any, dir direction, in *named) []any {
	d := n.Get("discriminator")
	property, mapping := textOf(d.Get("propertyName")), d.Get("mapping")
	if key == "allOf" || property == "" || mapping == nil || mapping.Kind != source.Object {
		return list
	}
	for i, item := range n.Get(key).Items {
		ref := textOf(item.Get("$ref"))
		target := r.at(ref)
		if own := target.Get("properties").Get(property); own == nil || own.Get("type") == nil || own.Get("enum") != nil || own.Get("const") != nil || !strings.HasPrefix(ref, "#") {
			continue
		}
		var values []any
		for _, f := range mapping.Fields {
			if to := f.Value.Text; to == ref || "#/components/schemas/"+to == ref {
				values = append(values, f.Key.Text)
			}
		}
		if len(values) > 0 {
			list[i] = map[string]any{"allOf": []any{list[i], map[string]any{
				"properties": map[string]any{property: map[string]any{"enum": values}}, "required": []any{property},
			}}}
		}
	}
	return list
}

// refer is what a reference leads to; nil where it leads nowhere, or out of the document.
func (r *reading) refer(ref *source.Node, dir direction, in *named) *named {
	switch {
	case ref.Kind != source.String:
		r.note(ref, malformed, "\"$ref\" must be a string, not %s", ref.Kind)
		return nil
	case !strings.HasPrefix(ref.Text, "#"):
		in.external = ref
		return nil
	}
	key := pointer{ref.Text, dir}
	to := r.named[key]
	if to == nil {
		n := r.at(ref.Text)
		if n == nil || n.Kind != source.Object && n.Kind != source.Bool {
			r.note(ref, malformed, "%q leads to no schema; what it stands for may be anything", ref.Text)
			return nil
		}
		to = &named{pointer: key, node: n}
		r.named[key] = to
		r.order = append(r.order, to)
	}
	in.refs = append(in.refs, to)
	return to
}

// flat gathers the properties of an object that may stand behind a reference or be made of
// several by allOf, and which of them it needs. It reports false where the object is more
// than its properties. The budget bounds how many schemas are looked at.
func (r *reading) flat(v any, budget *int, properties map[string]any, needs map[string]bool) bool {
	m, isMap := v.(map[string]any)
	if *budget--; !isMap || *budget < 0 {
		return false
	}
	for key, value := range m {
		switch key {
		case "description", "deprecated", "default", "properties", "required", "allOf", "$ref":
		case "type":
			if types, list := value.([]any); value != "object" && !(list && slices.Contains(types, any("object"))) {
				return false
			}
		case "additionalProperties":
			if schema, ok := value.(map[string]any); ok && len(schema) > 0 {
				return false
			}
		default:
			return false
		}
	}
	parts, _ := m["allOf"].([]any)
	if to, ok := m["$ref"].(link); ok {
		r.translate(to.to)
		parts = append([]any{to.to.value}, parts...)
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

// unfit reports whether a field of a form may not be a text, a number, a boolean or a list
// of them.
func (r *reading) unfit(v any) bool {
	for range maxHops {
		m, ok := v.(map[string]any)
		if !ok {
			return false
		}
		if to, ok := m["$ref"].(link); ok {
			r.translate(to.to)
			v = to.to.value
			continue
		}
		types, list := m["type"].([]any)
		if items, ok := m["items"].(map[string]any); ok && (m["type"] == "array" || list && slices.Contains(types, any("array"))) {
			v = items
			continue
		}
		return m["type"] == "object" || list && slices.Contains(types, any("object")) || m["properties"] != nil
	}
	return true
}

// translate reads a named schema, once.
func (r *reading) translate(n *named) {
	if n.value == nil && n.node != nil {
		n.value = map[string]any{} // while it refers to itself
		n.value = r.schema(n.node, n.dir, n)
	}
}

// compile is what is wrong with a schema that refers to others by name.
func compile(v any, all map[string]any) *schema.SchemaError {
	err := schema.New(v, schema.Options{Defs: all}).Compile()
	wrong, _ := err.(*schema.SchemaError)
	return wrong
}
