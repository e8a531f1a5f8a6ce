package decode

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/compiler/source"
)

// Complete adds to the JSON Schema of a mapping what the tags of a struct declare: which keys there are and must be,
// and what their values may be. What the schema has stays, such as the descriptions of its properties. It refers to
// "#/$defs/duration", and to the definitions that the tags name.
func Complete(schema map[string]any, of any) {
	required, _ := schema["required"].([]any)
	for _, f := range fieldsOf(reflect.TypeOf(of)) {
		if f.Tag.Get("need") != "" {
			required = append(required, f.key)
		}
		complete(Property(schema, f.key), f.Type, f.Tag)
	}
	schema["type"] = "object"
	schema["patternProperties"], schema["additionalProperties"] = map[string]any{"^x-": true}, false
	if len(required) > 0 {
		schema["required"] = required
	}
}

// Property is the schema of a property, which is added where there is none.
func Property(schema map[string]any, key string) map[string]any {
	if schema["properties"] == nil {
		schema["properties"] = map[string]any{}
	}
	properties := schema["properties"].(map[string]any)
	if properties[key] == nil {
		properties[key] = map[string]any{}
	}
	return properties[key].(map[string]any)
}

func complete(property map[string]any, t reflect.Type, tag reflect.StructTag) {
	if t.Kind() == reflect.Pointer && t != reflect.TypeFor[*source.Node]() {
		t = t.Elem()
	}
	text := map[string]any{"type": "string"}
	switch words := tag.Get("words"); {
	case tag.Get("schema") != "":
		property["$ref"] = "#/$defs/" + tag.Get("schema")
	case words != "":
		var enum []any
		for word := range strings.SplitSeq(words, ",") {
			enum = append(enum, word)
		}
		if tag.Get("null") != "" {
			enum = append(enum, nil)
		}
		property["enum"] = enum
	case t == reflect.TypeFor[time.Duration]():
		property["$ref"] = "#/$defs/duration"
	case t == reflect.TypeFor[[]Setting]():
		property["type"], property["additionalProperties"] = "object", text
		property["propertyNames"] = map[string]any{"pattern": tag.Get("pattern")}
	case t == reflect.TypeFor[[]string]():
		text["pattern"] = tag.Get("pattern")
		property["type"], property["items"] = "array", text
	case t == reflect.TypeFor[*source.Node](), t.Kind() == reflect.Slice:
	case t.Kind() == reflect.Struct:
		Complete(property, reflect.Zero(t).Interface())
	default:
		property["type"] = map[reflect.Kind]string{reflect.String: "string", reflect.Bool: "boolean",
			reflect.Int: "integer", reflect.Float64: "number"}[t.Kind()]
	}
	for key, keyword := range map[string]string{"from": "minimum", "above": "exclusiveMinimum", "to": "maximum"} {
		if bound := tag.Get(key); bound != "" {
			property[keyword] = json.Number(bound)
		}
	}
}
