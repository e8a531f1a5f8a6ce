package schema

import (
	"encoding/json"
	"testing"
)

// FuzzContains asks about any two texts: the answer comes in bounded time, its
// witness is confirmed, and values that are tried don't contradict it.
func FuzzContains(f *testing.F) {
	for _, seed := range [][3]string{
		{`{"type":"integer"}`, `{"type":"number"}`, `1`},
		{`{"type":"string","pattern":"^a+$"}`, `{"minLength":2}`, `"a"`},
		{`{"anyOf":[{"const":1},{"type":"object","required":["a"]}]}`, `{"not":{"properties":{"a":{"type":"null"}}}}`, `{"a":null}`},
		{`{"type":"array","items":{"$ref":"#"},"minItems":1}`, `false`, `[[]]`},
		{`{"type":"array","contains":{"multipleOf":2},"uniqueItems":true,"minItems":3}`, `{"contains":{"type":"string"}}`, `[1,2,3]`},
		{`{"patternProperties":{"^a":{"type":"string"}},"additionalProperties":false,"minProperties":2}`, `{"propertyNames":{"maxLength":3}}`, `{"ab":"","a":""}`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","if":{"type":"string"},"then":{"format":"date"}}`, `{"dependencies":{"a":["b"]}}`, `"2024-01-01"`},
		{`{"unevaluatedProperties":false,"allOf":[{"properties":{"a":true}}]}`, `{"maxProperties":1}`, `{"a":1}`},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, from, to, value string) {
		var rawFrom, rawTo, v any
		if json.Unmarshal([]byte(from), &rawFrom) != nil || json.Unmarshal([]byte(to), &rawTo) != nil || json.Unmarshal([]byte(value), &v) != nil {
			return
		}
		a, b := New(rawFrom, Options{}), New(rawTo, Options{})
		if a.Compile() != nil || b.Compile() != nil {
			return
		}
		if _, err := a.Ordinary(); err != nil {
			return
		}
		if _, err := b.Ordinary(); err != nil {
			return
		}
		defer watch(from, to)()
		verdict := Contains(a, b, Budget{})
		if verdict.Alarm {
			t.Errorf("alarm: witness %s", short(verdict.Witness))
		}
		inA, inB := a.Accepts(v), b.Accepts(v)
		if verdict.Relation == Fits && inA && !inB || verdict.Relation == Never && inA && inB {
			t.Errorf("%v, but %s", verdict.Relation, value)
		}
	})
}
