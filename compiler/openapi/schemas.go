package openapi

import (
	"cmp"
	"path"
	"regexp"
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

// A pointer is a schema that others refer to, as it is for values that go in one direction.
type pointer struct {
	node *source.Node
	dir  direction
}

// The keywords by what their values are. Others describe documents, or are nothing that a
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
func (r *reading) schema(n *source.Node, dir direction) any {
	if n.Kind == source.Bool {
		return n.IsTrue()
	}
	if n.Kind != source.Object {
		r.note(noteOf(n, "a schema is a mapping, not %s; it is taken to allow everything", n.Kind))
		return map[string]any{}
	}
	out := map[string]any{}
	if ref := n.Get("$ref"); ref != nil {
		if name := r.refer(ref, dir); name != "" {
			out["$ref"] = prefix + name
		}
		if r.old { // nothing beside it counts
			return out
		}
	}
	gone, isOpen := hidden(n, dir), false
	for _, f := range n.Fields {
		key, v, noted := f.Key.Text, f.Value, len(r.Notes)
		var value any
		switch {
		case slices.Contains(mapsOfSchemas, key) && v.Kind == source.Object:
			all := map[string]any{}
			for _, p := range v.Fields {
				if key == "properties" && slices.Contains(gone, p.Key.Text) ||
					key == "patternProperties" && r.isFaulty("pattern", p.Key) {
					continue
				}
				all[p.Key.Text] = r.schema(p.Value, dir)
			}
			value = all
		case slices.Contains(listsOfSchemas, key) && v.Kind == source.Array:
			list := make([]any, len(v.Items))
			for i, item := range v.Items {
				list[i] = r.schema(item, dir)
			}
			if n.Get("discriminator") != nil && key == "oneOf" { // it chooses, and a value may fit several
				key = "anyOf"
			}
			value = list
		case slices.Contains(oneSchema, key) && v.Kind == source.Object:
			value = r.schema(v, dir)
		case !slices.Contains(known, key):
			continue
		case r.old && v.Kind == source.Bool && strings.HasPrefix(key, "exclusive"):
			value = v.Value()
		case r.isFaulty(key, v):
			continue
		case key == "required":
			needs := slices.DeleteFunc(v.Value().([]any),
				func(name any) bool { return slices.Contains(gone, name.(string)) })
			if len(needs) == 0 {
				continue
			}
			value = needs
		default:
			value = v.Value()
		}
		if len(r.Notes) == noted || key != "not" && key != "if" { // with less in it, it would refuse more
			out[key] = value
		}
		isOpen = isOpen || len(r.Notes) > noted && key == "patternProperties"
	}
	if isOpen { // others would refuse the names
		delete(out, "additionalProperties")
	}
	if r.old {
		return modern(out, n.Get("nullable").IsTrue())
	}
	return out
}

// isFaulty reports whether a keyword can't have its value, and notes it.
func (r *reading) isFaulty(key string, v *source.Node) bool {
	at := key + ":" + v.Span().Text()
	why, met := r.faults[at]
	if !met {
		if err := schema.New(map[string]any{key: v.Value()}, schema.Options{}).Compile(); err != nil {
			why = err.Error()
		}
		r.faults[at] = why
	}
	if why != "" {
		r.note(noteOf(v, "%q is left out: %s", key, why))
	}
	return why != ""
}

// hidden are the properties that don't go in a direction.
func hidden(n *source.Node, dir direction) (gone []string) {
	only := map[direction]string{request: "readOnly", response: "writeOnly"}[dir]
	for _, f := range orEmpty(n.Get("properties")).Fields {
		if f.Value.Get(only).IsTrue() {
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

const prefix = "#/schemas/" // of the names of schemas

var notSchemaName = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)

// refer is the name of what a reference leads to; "" where it leads nowhere.
func (r *reading) refer(ref *source.Node, dir direction) string {
	n, refused := r.target(ref)
	switch {
	case refused != nil && strings.HasSuffix(refused.Message, outside):
		r.outside = refused
		return ""
	case refused != nil || n.Kind != source.Object && n.Kind != source.Bool:
		r.note(noteOf(ref, "%q leads to no schema; what it stands for may be anything", ref.Text))
		return ""
	}
	if !r.directed {
		dir = response
	}
	key := pointer{n, dir}
	if r.names[key] == "" {
		name := cmp.Or(strings.Trim(notSchemaName.ReplaceAllString(path.Base(ref.Text), "_"), "_"), "schema")
		if dir == request {
			name += "Input"
		}
		name = unique(r.taken, name)
		r.names[key], r.named[name] = name, key
		r.waiting = append(r.waiting, name)
	}
	return r.names[key]
}

// referred is the schema that a value of "$ref" names. It is translated once.
func (r *reading) referred(ref any) any {
	text, _ := ref.(string)
	name := strings.TrimPrefix(text, prefix)
	if p := r.named[name]; r.schemas[name] == nil && p.node != nil {
		around := r.outside
		r.outside, r.schemas[name] = nil, map[string]any{} // while it refers to itself
		r.schemas[name] = r.schema(p.node, p.dir)
		if r.outside != nil {
			r.note(r.outside)
		}
		r.outside = around
	}
	return r.schemas[name]
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
	if m["$ref"] != nil {
		parts = append([]any{r.referred(m["$ref"])}, parts...)
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

// A kindSet has the kinds of values that a schema allows, besides null; none where nothing is known.
type kindSet uint8

const (
	scalars kindSet = 1 << iota
	lists
	objects
	nested // lists of lists or objects
)

// isNested reports whether a value isn't sent as text.
func (k kindSet) isNested() bool { return k == objects || k&nested != 0 }

// kindsOf finds the kinds of a schema's values.
func (r *reading) kindsOf(v any) kindSet {
	budget := maxFlat
	return r.kinds(v, &budget)
}

func (r *reading) kinds(v any, budget *int) (k kindSet) {
	m, _ := v.(map[string]any)
	if *budget--; *budget < 0 {
		return scalars
	}
	if m["$ref"] != nil {
		k = r.kinds(r.referred(m["$ref"]), budget)
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := m[key].([]any)
		for _, item := range list {
			k |= r.kinds(item, budget)
		}
	}
	for _, kind := range several(m["type"]) {
		switch {
		case kind == "null":
		case kind == "object", kind == nil && m["properties"] != nil:
			k |= objects
		case kind == "array", kind == nil && m["items"] != nil:
			k |= lists
			if items := r.kinds(m["items"], budget); items&(lists|objects) != 0 {
				k |= nested
			}
		case kind != nil, m["enum"] != nil, m["const"] != nil:
			k |= scalars
		}
	}
	return k
}
