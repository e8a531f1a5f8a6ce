package schema

import "testing"

// What a schema says itself of other names decides whether an unnamed one is a
// mistake (OB203 and OB503).
func TestAtTellsWhetherOtherNamesAreAllowed(t *testing.T) {
	named := map[string]any{"a": map[string]any{"type": "object", "properties": map[string]any{"b": true}}}
	object := func(more ...any) map[string]any {
		m := map[string]any{"type": "object", "properties": named}
		for i := 0; i < len(more); i += 2 {
			m[more[i].(string)] = more[i+1]
		}
		return m
	}
	cases := []struct {
		name   string
		schema map[string]any
		path   []Step
		open   bool
	}{
		{"nothing is said", object(), []Step{Key("x")}, false},
		{"true", object("additionalProperties", true), []Step{Key("x")}, true},
		{"a schema", object("additionalProperties", map[string]any{"type": "string"}), []Step{Key("x")}, true},
		{"unevaluated", object("unevaluatedProperties", true), []Step{Key("x")}, true},
		{"false", object("additionalProperties", false), []Step{Key("x")}, false},
		{"a declared name", object("additionalProperties", true), []Step{Key("a")}, false},
		{"said above the name", object("additionalProperties", true), []Step{Key("a"), Key("x")}, false},
		{"a part says it", object("allOf", []any{object("additionalProperties", true)}), []Step{Key("x")}, true},
		{"an alternative says it", object("anyOf", []any{object("additionalProperties", true), object()}), []Step{Key("x")}, true},
	}
	for _, c := range cases {
		at := New(c.schema, Options{}).At(c.path)
		if at.Open != c.open {
			t.Errorf("%s: Open is %v, want %v", c.name, at.Open, c.open)
		}

	}
}
