package flow

import (
	"reflect"
	"slices"

	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/schema"
)

const (
	typeDepth = 6   // levels of a schema in a type
	maxFields = 200 // names of an object in a type
)

// kindPairs are the kinds as schemas and as expressions tell them apart.
var kindPairs = []struct {
	from schema.Kinds
	to   expression.KindSet
}{
	{schema.Null, expression.Null}, {schema.Boolean, expression.Bool}, {schema.Number, expression.Number},
	{schema.String, expression.String}, {schema.Array, expression.Array}, {schema.Object, expression.Object},
}

// NewType is the type of what a schema accepts that isn't external; the caller may change it.
func NewType(s *schema.Schema) *expression.Type {
	return typeOfSchema(s, false, (*schema.Schema).Closed, typeDepth)
}

// DeclaredType is the type of what a schema accepts, with the fields that it names and no others, unless it names none
// or allows others itself.
func DeclaredType(s *schema.Schema) *expression.Type {
	return typeOfSchema(s, false, func(s *schema.Schema) bool {
		other := s.Part("\x00") // a name that no schema has
		return len(s.Properties()) > 0 && !other.Named && !(other.Possible && (other.Silent || other.Open))
	}, typeDepth)
}

// typeOfSchema is the type of what a schema accepts. What is brought to the plan may lack
// what isn't required of it, which gives null where an expression looks into it.
func typeOfSchema(s *schema.Schema, external bool, closed func(*schema.Schema) bool, depth int) *expression.Type {
	kinds := s.Kinds()
	if kinds == schema.Anything || kinds == 0 || depth == 0 {
		return nil
	}
	t := &expression.Type{Open: true}
	for _, k := range kindPairs {
		if kinds&k.from != 0 {
			t.Kinds |= k.to
		}
	}
	if kinds&schema.Object != 0 {
		if names := s.Properties(); len(names) <= maxFields {
			t.Fields = make(map[string]*expression.Type, len(names))
			for _, name := range names {
				at := s.Part(name)
				field := typeOfSchema(at.Schema, external, closed, depth-1)
				if field != nil && !at.Required && external {
					field.Kinds |= expression.Null
				}
				t.Fields[name] = field
			}
			t.Open = !closed(s)
		}
	}
	if kinds&schema.Array != 0 && Uniform(s) {
		t.Elem = typeOfSchema(s.Item().Schema, external, closed, depth-1)
	}
	return t
}

// Uniform reports whether a schema plainly says one thing of all items.
func Uniform(s *schema.Schema) bool {
	raw, ok := s.Raw().(map[string]any)
	if !ok {
		return false
	}
	if _, one := raw["items"].(map[string]any); !one {
		return false
	}
	for _, more := range []string{
		"prefixItems", "additionalItems", "$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "enum", "const",
	} {
		if raw[more] != nil {
			return false
		}
	}
	return true
}

// typeOfValue is the type of values such as a given one: a number may be
// replaced by another number, an object by one with more keys.
func typeOfValue(v any, depth int) *expression.Type {
	if depth == 0 {
		return nil
	}
	t := &expression.Type{Open: true}
	switch v := v.(type) {
	case bool:
		t.Kinds = expression.Bool
	case float64:
		t.Kinds = expression.Number
	case string:
		t.Kinds = expression.String
	case []any:
		t.Kinds = expression.Array
		if len(v) > 0 {
			t.Elem = typeOfValue(v[0], depth-1)
			for _, item := range v[1:] {
				if other := typeOfValue(item, depth-1); !reflect.DeepEqual(other, t.Elem) {
					t.Elem = nil
					break
				}
			}
		}
	case map[string]any:
		t.Kinds = expression.Object
		if len(v) > maxFields {
			break
		}
		t.Fields = make(map[string]*expression.Type, len(v))
		for key, field := range v {
			t.Fields[key] = typeOfValue(field, depth-1)
		}
	default:
		return nil // null is a blank to be filled in
	}
	return t
}

// joined is the type of a value that is of one of several types.
func joined(all []*expression.Type) *expression.Type {
	first := all[0]
	for _, t := range all {
		if t == nil {
			return nil
		}
	}
	if !slices.ContainsFunc(all[1:], func(t *expression.Type) bool { return !reflect.DeepEqual(t, first) }) {
		return first
	}
	any := &expression.Type{Open: true}
	for _, t := range all {
		any.Kinds |= t.Kinds
	}
	return any
}

// schemaOfType is the schema of what a type describes.
func schemaOfType(t *expression.Type, depth int) *schema.Schema {
	if t == nil || t.Kinds == 0 || depth == 0 {
		return nil
	}
	var kinds schema.Kinds
	for _, k := range kindPairs {
		if t.Kinds&k.to != 0 {
			kinds |= k.from
		}
	}
	if kinds&(schema.Array|schema.Object) == 0 {
		return schema.OfKinds(kinds)
	}
	parts := []*schema.Schema{}
	if scalars := kinds &^ (schema.Array | schema.Object); scalars != 0 {
		parts = append(parts, schema.OfKinds(scalars))
	}
	if kinds&schema.Array != 0 {
		parts = append(parts, schema.ListOf(schemaOfType(t.Elem, depth-1), 0, -1))
	}
	if kinds&schema.Object != 0 {
		object := schema.OfKinds(schema.Object)
		if t.Fields != nil && !t.Open {
			fields := make(map[string]*schema.Schema, len(t.Fields))
			for name, field := range t.Fields {
				fields[name] = schemaOfType(field, depth-1)
			}
			object = schema.ObjectOf(fields, nil)
		}
		parts = append(parts, object)
	}
	return schema.AnyOf(parts...)
}
