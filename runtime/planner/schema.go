package planner

import (
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/source"
)

// A dialect is what of JSON Schema an endpoint enforces to the letter while a
// model writes. Anything else it refuses.
type dialect struct {
	keywords []string // constraints that it knows, besides the structure of values
	formats  []string // values of "format"
	atMost   int      // that it knows of "minItems"; -1 is any

	allRequired bool // no property may be left out
	recursive   bool // a schema may contain itself

	// How much of each it takes; 0 is any number.
	depth, properties, enums, letters, optionals, unions int
}

// OpenAI's, from its guide to structured outputs.
var openAIStrict = dialect{
	keywords:    []string{"pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems"},
	formats:     []string{"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"},
	atMost:      -1,
	allRequired: true, recursive: true,
	depth: 10, properties: 5_000, enums: 1_000, letters: 120_000,
}

// Anthropic's, from its guide to structured outputs.
var anthropicFormat = dialect{
	keywords:  []string{"minItems"},
	formats:   []string{"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"},
	atMost:    1,
	optionals: 24, unions: 16,
}

// forgiven are keywords that only ever narrow a schema and whose loss therefore
// forbids nothing: whoever reads the answer checks it against the whole schema.
var forgiven = []string{
	"$schema", "$id", "$comment", "$anchor", "default", "examples", "deprecated", "readOnly", "writeOnly", "title",
	"pattern", "minLength", "maxLength", "contentEncoding", "contentMediaType", "contentSchema", "format",
	"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
	"minItems", "maxItems", "uniqueItems", "contains", "minContains", "maxContains",
	"minProperties", "maxProperties", "propertyNames", "dependentRequired", "dependentSchemas", "dependencies",
	"not", "if", "then", "else",
}

// fit brings a schema into the dialect, or tells that it can't be. The result
// admits every value that the schema admits, but for properties that an object
// schema doesn't name and doesn't expressly welcome: of a tool's parameters
// those are mistakes anyhow (OB503).
func (d *dialect) fit(schema *source.Node) (*source.Node, bool) {
	f := &fitting{dialect: d, refs: map[string][]string{}, defs: map[string]bool{}}
	if !isType(schema, "object") || schema.Get("anyOf") != nil || schema.Get("oneOf") != nil {
		return nil, false
	}
	fitted := f.schema(schema, 0)
	if f.failed || f.tooMuch() || !f.resolves() || !d.recursive && f.containsItself() {
		return nil, false
	}
	return fitted, true
}

type fitting struct {
	*dialect
	failed bool
	within string              // the definition that is being read; "" for the schema itself
	refs   map[string][]string // from each definition to those that it refers to
	defs   map[string]bool

	properties, enums, letters, optionals, unions int
}

func (f *fitting) tooMuch() bool {
	over := func(n, most int) bool { return most > 0 && n > most }
	d := f.dialect
	return over(f.properties, d.properties) || over(f.enums, d.enums) || over(f.letters, d.letters) || over(f.optionals, d.optionals) || over(f.unions, d.unions)
}

func (f *fitting) fail() *source.Node {
	f.failed = true
	return nil
}

// schema brings one schema into the dialect. What can't be is remembered.
func (f *fitting) schema(n *source.Node, depth int) *source.Node {
	if n == nil || n.Kind != source.Object || f.depth > 0 && depth > f.depth {
		return f.fail()
	}
	if ref := n.Get("$ref"); ref != nil {
		return f.ref(ref)
	}
	out := object()
	for _, k := range n.Fields {
		if value := f.keyword(k.Key.Text, k.Value, depth); value != nil {
			name := k.Key.Text
			if name == "oneOf" {
				name = "anyOf"
			}
			out.Fields = append(out.Fields, field(name, value))
		}
	}
	f.typed(out)
	f.closed(out)
	return out
}

// ref keeps a reference, alone: its neighbours only narrow.
func (f *fitting) ref(n *source.Node) *source.Node {
	name, ok := definition(n.Text)
	if !ok {
		return f.fail()
	}
	f.refs[f.within] = append(f.refs[f.within], name)
	return object(field("$ref", text("#/$defs/"+name)))
}

// definition is the name that a reference into the schema's own definitions
// has there.
func definition(ref string) (string, bool) {
	for _, under := range []string{"#/$defs/", "#/definitions/"} {
		if name, ok := strings.CutPrefix(ref, under); ok && !strings.ContainsAny(name, "/~%") {
			return name, true
		}
	}
	return "", false
}

// keyword is the value of a keyword in the dialect; nil leaves it out.
func (f *fitting) keyword(key string, v *source.Node, depth int) *source.Node {
	switch key {
	case "type":
		if v.Kind == source.Array {
			f.unions++
		}
		return v
	case "description":
		return v
	case "properties":
		return f.named(v, depth+1)
	case "$defs", "definitions":
		if depth > 0 {
			return f.fail() // nothing can refer to them
		}
		return f.definitions(v)
	case "items":
		return f.schema(v, depth+1)
	case "anyOf", "oneOf":
		f.unions++
		all := list()
		for _, item := range v.Items {
			all.Items = append(all.Items, f.schema(item, depth))
		}
		return all
	case "enum":
		for _, item := range v.Items {
			f.letters += len(item.Text)
			if item.Kind >= source.Array {
				return f.fail()
			}
		}
		f.enums += len(v.Items)
		return v
	case "const":
		if f.letters += len(v.Text); v.Kind >= source.Array {
			return f.fail()
		}
		return v
	case "required", "additionalProperties":
		return v
	}
	switch {
	case key == "format" && slices.Contains(f.formats, v.Text):
		return v
	case key == "minItems" && f.atMost >= 0 && v.Float() > float64(f.atMost):
		return nil
	case slices.Contains(f.keywords, key):
		return v
	case slices.Contains(forgiven, key), strings.HasPrefix(key, "x-"):
		return nil
	}
	return f.fail()
}

func (f *fitting) named(n *source.Node, depth int) *source.Node {
	out := object()
	for _, p := range n.Fields {
		f.letters += len(p.Key.Text)
		f.properties++
		out.Fields = append(out.Fields, field(p.Key.Text, f.schema(p.Value, depth)))
	}
	return out
}

func (f *fitting) definitions(n *source.Node) *source.Node {
	out := object()
	for _, d := range n.Fields {
		f.within = d.Key.Text
		f.defs[f.within] = true
		f.letters += len(f.within)
		out.Fields = append(out.Fields, field(f.within, f.schema(d.Value, 1)))
	}
	f.within = ""
	return out
}

// typed gives a schema a type that has none but lists its values, and fails one
// that says nothing of its values' shape.
func (f *fitting) typed(n *source.Node) {
	if n.Get("type") != nil || n.Get("anyOf") != nil {
		return
	}
	values := n.Get("enum")
	if value := n.Get("const"); value != nil {
		values = list(value)
	}
	if values == nil || len(values.Items) == 0 {
		f.fail()
		return
	}
	var types []*source.Node
	for _, v := range values.Items {
		name := [...]string{source.Null: "null", source.Bool: "boolean", source.Number: "number", source.String: "string"}[v.Kind]
		if !slices.ContainsFunc(types, func(t *source.Node) bool { return t.Text == name }) {
			types = append(types, text(name))
		}
	}
	kind := types[0]
	if len(types) > 1 {
		kind = list(types...)
		f.unions++
	}
	n.Fields = append([]source.Field{field("type", kind)}, n.Fields...)
}

// closed lets an object have no properties but its own, and fails one that has
// none or welcomes others, and a list of anything.
func (f *fitting) closed(n *source.Node) {
	if isType(n, "array") && n.Get("items") == nil {
		f.fail()
	}
	properties, others := n.Get("properties"), n.Get("additionalProperties")
	if !isType(n, "object") {
		if properties != nil || others != nil {
			f.fail() // of no type, or of another: it's no use guessing
		}
		return
	}
	if properties == nil || others != nil && (others.Kind != source.Bool || others.Text == "true") {
		f.fail()
		return
	}
	if others == nil {
		n.Fields = append(n.Fields, field("additionalProperties", truth(false)))
	}
	required := n.Get("required")
	for _, p := range properties.Fields {
		if required == nil || !slices.ContainsFunc(required.Items, func(r *source.Node) bool { return r.Text == p.Key.Text }) {
			f.optionals++
			f.failed = f.failed || f.allRequired
		}
	}
}

// isType tells whether a schema names a type, alone or among others.
func isType(n *source.Node, name string) bool {
	t := n.Get("type")
	if t == nil {
		return false
	}
	return t.Text == name || slices.ContainsFunc(t.Items, func(t *source.Node) bool { return t.Text == name })
}

func (f *fitting) resolves() bool {
	for _, names := range f.refs {
		for _, name := range names {
			if !f.defs[name] {
				return false
			}
		}
	}
	return true
}

// containsItself looks for a definition that reaches itself.
func (f *fitting) containsItself() bool {
	const busy, done = 1, 2
	state := map[string]int{}
	var visit func(name string) bool
	visit = func(name string) bool {
		if state[name] != 0 {
			return state[name] == busy
		}
		state[name] = busy
		if slices.ContainsFunc(f.refs[name], visit) {
			return true
		}
		state[name] = done
		return false
	}
	for name := range f.defs {
		if visit(name) {
			return true
		}
	}
	return false
}

// wrapped is a schema of objects that hold a value of the given schema under
// "result": the outermost value that endpoints enforce is always an object. It
// is nil where references would lose their aim.
func wrapped(schema *source.Node) *source.Node {
	if !aimsAtDefinitions(schema) {
		return nil
	}
	inner, outer := object(), object(field("type", text("object")))
	if schema.Kind == source.Object {
		for _, k := range schema.Fields {
			switch k.Key.Text {
			case "$defs", "definitions", "$schema":
				outer.Fields = append(outer.Fields, k)
			default:
				inner.Fields = append(inner.Fields, k)
			}
		}
	}
	outer.Fields = append(outer.Fields,
		field("properties", object(field("result", inner))),
		field("required", list(text("result"))),
		field("additionalProperties", truth(false)))
	return outer
}

// aimsAtDefinitions tells whether all references of a schema lead into its own
// definitions.
func aimsAtDefinitions(n *source.Node) bool {
	for _, f := range n.Fields {
		if f.Key.Text == "$ref" || f.Key.Text == "$dynamicRef" {
			if _, ok := definition(f.Value.Text); f.Value.Kind == source.String && !ok {
				return false
			}
		}
		if !aimsAtDefinitions(f.Value) {
			return false
		}
	}
	return !slices.ContainsFunc(n.Items, func(item *source.Node) bool { return !aimsAtDefinitions(item) })
}
