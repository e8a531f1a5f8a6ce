package schema

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
)

// LANGUAGE.md#tools: schemas that are put together mean the same to our validator, to
// the ordinary one, to the sampler and to the prover.
func TestBuiltSchemas(t *testing.T) {
	whole := New(map[string]any{"type": "integer", "minimum": 1.0}, Options{})
	object := ObjectOf(map[string]*Schema{"n": whole, "any": nil}, []string{"n"})
	cases := []struct {
		schema           *Schema
		accepts, refuses []any
	}{
		{object,
			[]any{map[string]any{"n": 1.0}, map[string]any{"n": 2.0, "any": nil}},
			[]any{map[string]any{}, map[string]any{"n": 0.0}, map[string]any{"n": 1.0, "x": 1.0}, "x"}},
		{ListOf(whole, 1, 2), []any{[]any{1.0}, []any{1.0, 2.0}}, []any{[]any{}, []any{0.5}, []any{1.0, 1.0, 1.0}, nil}},
		{ListOf(nil, 0, -1), []any{[]any{}, []any{"x", nil}}, []any{"x"}},
		{TupleOf(whole, Const("x")), []any{[]any{1.0, "x"}}, []any{[]any{1.0}, []any{"x", 1.0}, []any{1.0, "x", 1.0}}},
		{OfKinds(String | Null), []any{"x", nil}, []any{1.0, []any{}}},
		{Containing([]Step{Key("a"), Index(1)}, whole),
			[]any{map[string]any{"a": []any{"x", 1.0}, "b": 1.0}, map[string]any{"a": []any{nil, 3.0, "y"}}},
			[]any{map[string]any{"a": []any{"x"}}, map[string]any{}, []any{}, map[string]any{"a": []any{1.0, "x"}}}},
	}
	for i, c := range cases {
		ordinary, err := c.schema.Ordinary()
		if err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		for _, v := range c.accepts {
			if !c.schema.Accepts(v) || ordinary.Validate(v) != nil || !New(c.schema.Raw(), Options{}).Accepts(v) {
				t.Errorf("%d: %v isn't accepted everywhere", i, v)
			}
			if Contains(Const(v), c.schema, Budget{}).Relation != Fits {
				t.Errorf("%d: %v isn't proven to fit", i, v)
			}
		}
		for _, v := range c.refuses {
			if c.schema.Accepts(v) || ordinary.Validate(v) == nil || New(c.schema.Raw(), Options{}).Accepts(v) {
				t.Errorf("%d: %v isn't refused everywhere", i, v)
			}
			if Contains(Const(v), c.schema, Budget{}).Relation != Never {
				t.Errorf("%d: %v isn't proven not to fit", i, v)
			}
		}
		r := rand.New(rand.NewPCG(1, uint64(i)))
		for range 20 {
			if v, ok := c.schema.Sample(r); !ok || !c.schema.Accepts(v) {
				t.Errorf("%d: sampled %v, %v", i, v, ok)
			}
		}
	}
	if ObjectOf(map[string]*Schema{"a": AnyOf()}, []string{"a"}).Kinds() != 0 || TupleOf(AnyOf()).Kinds() != 0 {
		t.Error("what nothing satisfies makes the whole so")
	}
	if at := object.At([]Step{Key("n")}); !at.Required || !at.Named || at.Schema.Kinds() != Integer {
		t.Errorf("the projection is %+v", at)
	}
}

// LANGUAGE.md#findings: what a schema names counts as there, and it alone, where nothing is said
// of the rest.
func TestAsDeclared(t *testing.T) {
	parse := func(text string) *Schema {
		var raw any
		if err := json.Unmarshal([]byte(text), &raw); err != nil {
			t.Fatal(err)
		}
		return New(raw, Options{})
	}
	for _, c := range []struct {
		schema           string
		accepts, refuses string
	}{
		{`{"type":"object","properties":{"a":{},"b":{"type":"object","properties":{"c":{}}}}}`,
			`[{"a":1,"b":{"c":1}}]`, `[{"a":1},{},{"a":1,"b":{}},{"a":1,"b":{"c":1},"x":1}]`},
		{`{"properties":{"a":{}},"additionalProperties":true}`, `[{"a":1},{"a":1,"b":1},"x"]`, `[{}]`},
		{`{"type":"array","items":{"$ref":"#/$defs/i"},"$defs":{"i":{"properties":{"a":{}}}}}`, `[[],[{"a":1}],[1]]`, `[[{}],[{"a":1,"b":1}]]`},
		{`{"anyOf":[{"properties":{"a":{}},"type":"object"},{"type":"string"}]}`, `[{"a":1},"x"]`, `[{},{"b":1}]`},
		{`{"allOf":[{"properties":{"a":{}}},{"properties":{"b":{}}}]}`, `[{"a":1,"b":1}]`, `[{"a":1},{"b":1}]`},
		{`{"type":"object"}`, `[{},{"a":1}]`, `[1]`},
		{`{"required":["z"],"properties":{"a":{}}}`, `[{"a":1,"z":1}]`, `[{"a":1}]`},
		{`{"properties":{"a":false,"b":{}}}`, `[{"b":1}]`, `[{"a":1,"b":1}]`},
		{`{"$ref":"#/$defs/t","$defs":{"t":{"type":"object","properties":{"next":{"$ref":"#/$defs/t"},"v":{}}}}}`, `[{"v":1,"next":{}}]`, `[{"v":1}]`},
		{`true`, `[1,{}]`, `[]`},
	} {
		s := parse(c.schema)
		declared := s.AsDeclared(false)
		ordinary, err := declared.Ordinary()
		if err != nil {
			t.Fatalf("%s: %v", c.schema, err)
		}
		var accepts, refuses []any
		if json.Unmarshal([]byte(c.accepts), &accepts) != nil || json.Unmarshal([]byte(c.refuses), &refuses) != nil {
			t.Fatalf("%s: the values can't be read", c.schema)
		}
		for _, v := range accepts {
			if !declared.Accepts(v) || ordinary.Validate(v) != nil {
				t.Errorf("%s: %v isn't accepted", c.schema, v)
			}
		}
		for _, v := range refuses {
			if declared.Accepts(v) || ordinary.Validate(v) == nil {
				t.Errorf("%s: %v isn't refused", c.schema, v)
			}
		}
		if v := Contains(declared, s, Budget{}); v.Relation != Fits {
			t.Errorf("%s: taken as declared it accepts more: %+v", c.schema, v)
		}
	}
}
