package endpoint

import (
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/runtime/request"
)

func isA(kind string, schema any) bool {
	o, _ := schema.(request.Object)
	list, _ := o.Get("type").([]any)
	return o.Get("type") == kind || slices.Contains(list, any(kind))
}

// enforceable reports whether endpoints can enforce a schema: no value is unrestricted,
// and every object is closed and requires all of its properties.
func enforceable(schema any) bool {
	o, _ := schema.(request.Object)
	properties, _ := o.Get("properties").(request.Object)
	required, _ := o.Get("required").([]any)
	switch {
	case !slices.ContainsFunc([]string{"type", "$ref", "enum", "const", "anyOf", "oneOf"}, o.Has),
		isA("array", o) && !o.Has("items"),
		isA("object", o) && (properties == nil || len(required) < len(properties) ||
			o.Get("additionalProperties") != false):
		return false
	}
	definitions, _ := o.Get("$defs").(request.Object)
	for _, m := range slices.Concat(properties, definitions) {
		if !enforceable(m.Value) {
			return false
		}
	}
	oneOf, _ := o.Get("oneOf").([]any)
	anyOf, _ := o.Get("anyOf").([]any)
	return !slices.ContainsFunc(slices.Concat(oneOf, anyOf), func(one any) bool { return !enforceable(one) }) &&
		(!o.Has("items") || enforceable(o.Get("items")))
}

// wrap is a schema of objects that hold a value of the given schema under
// "result": the outermost value that endpoints enforce is always an object. It
// is nil where references would lose their aim.
func wrap(schema any) request.Object {
	if !refersToDefinitions(schema) {
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
	return outer.With("properties", request.Object{}.With("result", inner)).With("required", []any{"result"}).
		With("additionalProperties", false)
}

// refersToDefinitions reports whether all references of a schema lead into its own
// definitions.
func refersToDefinitions(v any) bool {
	switch v := v.(type) {
	case []any:
		return !slices.ContainsFunc(v, func(item any) bool { return !refersToDefinitions(item) })
	case request.Object:
		for _, m := range v {
			if _, text := m.Value.(string); text && (m.Key == "$ref" || m.Key == "$dynamicRef") {
				if !isDefinition(m.Value) {
					return false
				}
			}
			if !refersToDefinitions(m.Value) {
				return false
			}
		}
	}
	return true
}

func isDefinition(ref any) bool {
	text, _ := ref.(string)
	for _, under := range []string{"#/$defs/", "#/definitions/"} {
		if name, ok := strings.CutPrefix(text, under); ok && !strings.ContainsAny(name, "/~%") {
			return true
		}
	}
	return false
}
