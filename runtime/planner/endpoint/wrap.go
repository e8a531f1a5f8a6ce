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

// enforceable reports whether endpoints can enforce a schema: no value is unrestricted, every object is closed and
// requires all of its properties, and references lead to the outermost definitions.
func enforceable(schema any) bool {
	o, _ := schema.(request.Object)
	properties, _ := o.Get("properties").(request.Object)
	required, _ := o.Get("required").([]any)
	ref, _ := o.Get("$ref").(string)
	definition, outermost := strings.CutPrefix(ref, "#/$defs/")
	switch {
	case !slices.ContainsFunc([]string{"type", "$ref", "enum", "const", "anyOf", "oneOf"}, o.Has),
		o.Has("$ref") && (!outermost || strings.Contains(definition, "/")),
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
// "result": the outermost value that endpoints enforce is always an object.
func wrap(schema any) request.Object {
	outer, inner := request.Below(schema, "/properties/result")
	return append(request.Object{}.With("type", "object").With("properties", request.Object{}.With("result", inner)).
		With("required", []any{"result"}).With("additionalProperties", false), outer...)
}
