// Package dialect brings JSON Schemas into what an endpoint enforces to the letter
// while a model writes.
package dialect

import (
	"slices"
	"strconv"
	"strings"

	"github.com/obelus-dev/obelus/runtime/request"
)

// A Dialect is what of JSON Schema an endpoint enforces. Anything else it refuses.
type Dialect struct {
	Keywords []string // constraints that it knows, besides the structure of values
	Formats  []string // values of "format"
	AtMost   int      // that it knows of "minItems"; -1 is any

	AllRequired bool // no property may be left out
	Recursive   bool // a schema may contain itself

	// How much of each it takes; 0 is any number.
	Depth, Properties, Enums, Letters, Optionals, Unions int
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

// Fit brings a schema into the dialect, or reports that it can't be. The result
// admits every value that the schema admits, but for properties that an object
// schema doesn't name and doesn't expressly welcome: of a tool's parameters
// those are mistakes anyhow (OB503).
func (d *Dialect) Fit(schema any) (request.Object, bool) {
	o, _ := schema.(request.Object)
	f := &fitting{Dialect: d, refs: map[string][]string{}, defs: map[string]bool{}}
	if !isType(o, "object") || o.Has("anyOf") || o.Has("oneOf") {
		return nil, false
	}
	fitted := f.schema(o, 0)
	if f.failed || f.tooMuch() || !f.resolves() || !d.Recursive && f.containsItself() {
		return nil, false
	}
	return fitted, true
}

type fitting struct {
	*Dialect
	failed bool
	within string              // the definition that is being read; "" for the schema itself
	refs   map[string][]string // from each definition to those that it refers to
	defs   map[string]bool

	properties, enums, letters, optionals, unions int
}

func (f *fitting) tooMuch() bool {
	over := func(n, most int) bool { return most > 0 && n > most }
	d := f.Dialect
	return over(f.properties, d.Properties) || over(f.enums, d.Enums) || over(f.letters, d.Letters) || over(f.optionals, d.Optionals) || over(f.unions, d.Unions)
}

func (f *fitting) fail() request.Object {
	f.failed = true
	return nil
}

// schema brings one schema into the dialect. What can't be is remembered.
func (f *fitting) schema(schema any, depth int) request.Object {
	o, ok := schema.(request.Object)
	if !ok || f.Depth > 0 && depth > f.Depth {
		return f.fail()
	}
	if o.Has("$ref") {
		return f.ref(o.Get("$ref"))
	}
	out := request.Object{}
	for _, m := range o {
		if value, keep := f.keyword(m.Key, m.Value, depth); keep {
			name := m.Key
			if name == "oneOf" {
				name = "anyOf"
			}
			out = out.With(name, value)
		}
	}
	return f.closed(f.typed(out))
}

// ref keeps a reference, alone: its neighbours only narrow.
func (f *fitting) ref(ref any) request.Object {
	name, ok := definition(ref)
	if !ok {
		return f.fail()
	}
	f.refs[f.within] = append(f.refs[f.within], name)
	return request.Object{}.With("$ref", "#/$defs/"+name)
}

// definition is the name that a reference into the schema's own definitions
// has there.
func definition(ref any) (string, bool) {
	text, _ := ref.(string)
	for _, under := range []string{"#/$defs/", "#/definitions/"} {
		if name, ok := strings.CutPrefix(text, under); ok && !strings.ContainsAny(name, "/~%") {
			return name, true
		}
	}
	return "", false
}

// keyword is the value of a keyword in the dialect, and whether it has one there.
func (f *fitting) keyword(key string, v any, depth int) (any, bool) {
	items, _ := v.([]any)
	switch key {
	case "type":
		if items != nil {
			f.unions++
		}
		return v, true
	case "description", "required", "additionalProperties":
		return v, true
	case "properties":
		return f.named(v, depth+1), true
	case "$defs", "definitions":
		if depth > 0 {
			return f.fail(), false // nothing can refer to them
		}
		return f.definitions(v), true
	case "items":
		return f.schema(v, depth+1), true
	case "anyOf", "oneOf":
		f.unions++
		all := make([]any, len(items))
		for i, item := range items {
			all[i] = f.schema(item, depth)
		}
		return all, true
	case "enum":
		f.enums += len(items)
		f.listed(items...)
		return v, true
	case "const":
		f.listed(v)
		return v, true
	}
	switch {
	case key == "format":
		name, _ := v.(string)
		return v, slices.Contains(f.Formats, name) || slices.Contains(f.Keywords, key)
	case key == "minItems" && f.AtMost >= 0 && number(v) > float64(f.AtMost):
		return nil, false
	case slices.Contains(f.Keywords, key):
		return v, true
	case slices.Contains(forgiven, key), strings.HasPrefix(key, "x-"):
		return nil, false
	}
	return f.fail(), false
}

// listed takes in values that a schema lists: no list or object may be one.
func (f *fitting) listed(values ...any) {
	for _, v := range values {
		if s, ok := v.(string); ok {
			f.letters += len(s)
		} else {
			f.letters += len(request.JSON(v))
		}
		f.failed = f.failed || typeOf(v) == ""
	}
}

func (f *fitting) named(v any, depth int) request.Object {
	out := request.Object{}
	properties, _ := v.(request.Object)
	for _, p := range properties {
		f.letters += len(p.Key)
		f.properties++
		out = out.With(p.Key, f.schema(p.Value, depth))
	}
	return out
}

func (f *fitting) definitions(v any) request.Object {
	out := request.Object{}
	definitions, _ := v.(request.Object)
	for _, d := range definitions {
		f.within = d.Key
		f.defs[f.within] = true
		f.letters += len(f.within)
		out = out.With(f.within, f.schema(d.Value, 1))
	}
	f.within = ""
	return out
}

// typed gives a schema a type that has none but lists its values, and fails one
// that says nothing of its values' shape.
func (f *fitting) typed(o request.Object) request.Object {
	if o.Has("type") || o.Has("anyOf") {
		return o
	}
	values, _ := o.Get("enum").([]any)
	if o.Has("const") {
		values = []any{o.Get("const")}
	}
	if len(values) == 0 {
		return f.fail()
	}
	var types []any
	for _, v := range values {
		if name := typeOf(v); !slices.Contains(types, any(name)) {
			types = append(types, name)
		}
	}
	kind := types[0]
	if len(types) > 1 {
		kind = types
		f.unions++
	}
	return append(request.Object{}.With("type", kind), o...)
}

// typeOf is the type of a value that is neither a list nor an object, of which it
// is "".
func typeOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case request.Number, float64:
		return "number"
	case string:
		return "string"
	}
	return ""
}

func number(v any) float64 {
	if n, ok := v.(request.Number); ok {
		f, _ := strconv.ParseFloat(string(n), 64)
		return f
	}
	f, _ := v.(float64)
	return f
}

// closed lets an object have no properties but its own, and fails one that has
// none or welcomes others, and a list of anything.
func (f *fitting) closed(o request.Object) request.Object {
	if isType(o, "array") && !o.Has("items") {
		return f.fail()
	}
	properties, named := o.Get("properties").(request.Object)
	others := o.Has("additionalProperties")
	if !isType(o, "object") {
		if named || others {
			return f.fail() // of no type, or of another: it's no use guessing
		}
		return o
	}
	if !named || others && o.Get("additionalProperties") != false {
		return f.fail()
	}
	if !others {
		o = o.With("additionalProperties", false)
	}
	required, _ := o.Get("required").([]any)
	for _, p := range properties {
		if !slices.Contains(required, any(p.Key)) {
			f.optionals++
			f.failed = f.failed || f.AllRequired
		}
	}
	return o
}

// isType reports whether a schema names a type, alone or among others.
func isType(schema any, name string) bool {
	o, _ := schema.(request.Object)
	switch t := o.Get("type").(type) {
	case string:
		return t == name
	case []any:
		return slices.Contains(t, any(name))
	}
	return false
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

// Write writes a schema for a request: as the endpoint enforces it, "" where it can't,
// and whole. One that isn't of objects is wrapped in one that is ([Wrap]); both are
// "" where that can't be.
func (d Dialect) Write(schema any) (enforced, whole string, wrapped bool) {
	if !isType(schema, "object") {
		outer := Wrap(schema)
		if outer == nil {
			return "", "", false
		}
		schema, wrapped = outer, true
	}
	if fitted, ok := d.Fit(schema); ok {
		enforced = request.JSON(fitted)
	}
	return enforced, request.JSON(schema), wrapped
}

// Wrap is a schema of objects that hold a value of the given schema under
// "result": the outermost value that endpoints enforce is always an object. It
// is nil where references would lose their aim.
func Wrap(schema any) request.Object {
	if !aimsAtDefinitions(schema) {
		return nil
	}
	inner, outer := request.Object{}, request.Object{}.With("type", "object")
	o, _ := schema.(request.Object)
	for _, m := range o {
		switch m.Key {
		case "$defs", "definitions", "$schema":
			outer = append(outer, m)
		default:
			inner = append(inner, m)
		}
	}
	return outer.With("properties", request.Object{}.With("result", inner)).With("required", []any{"result"}).With("additionalProperties", false)
}

// aimsAtDefinitions reports whether all references of a schema lead into its own
// definitions.
func aimsAtDefinitions(v any) bool {
	switch v := v.(type) {
	case []any:
		return !slices.ContainsFunc(v, func(item any) bool { return !aimsAtDefinitions(item) })
	case request.Object:
		for _, m := range v {
			if _, text := m.Value.(string); text && (m.Key == "$ref" || m.Key == "$dynamicRef") {
				if _, ok := definition(m.Value); !ok {
					return false
				}
			}
			if !aimsAtDefinitions(m.Value) {
				return false
			}
		}
	}
	return true
}
