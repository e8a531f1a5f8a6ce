package request

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
	corpora "github.com/obelus-dev/obelus/testdata/corpus"
)

// decoded is JSON as plain values.
func decoded(t *testing.T, text []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return v
}

// schemaCorpus gives every schema of the pairs of the corpus, with its dialect
// written into it.
func schemaCorpus(t *testing.T, each func(name string, raw map[string]any)) {
	t.Helper()
	dialects := map[string]string{"draft4": "http://json-schema.org/draft-04/schema#",
		"draft6": "http://json-schema.org/draft-06/schema#", "draft7": "http://json-schema.org/draft-07/schema#"}
	type pair struct {
		Name, Dialect string
		Sub, Super    any
	}
	for _, name := range corpora.SchemaPairs {
		for _, row := range corpora.Rows[pair](t, name) {
			for i, side := range []any{row.Sub, row.Super} {
				raw, ok := side.(map[string]any)
				if !ok {
					continue
				}
				if raw["$schema"] == nil && dialects[row.Dialect] != "" {
					raw["$schema"] = dialects[row.Dialect]
				}
				each(fmt.Sprintf("%s/%d", row.Name, i), raw)
			}
		}
	}
}

// Schemas with keywords that the drafts of the corpus don't have, and a value of
// each.
var newerSchemas = [][2]string{
	{`{"type":"array","items":{"enum":[1,2]},"contains":{"const":1},"minContains":1,"maxContains":1,"minItems":3}`,
		`[1,2,2]`},
	{`{"type":"object","properties":{"a":{"const":1}},"required":["a","b"],"if":{"properties":{"a":{"const":1}}},"then":{"properties":{"b":{"enum":[2,3]}}},"unevaluatedProperties":false}`, `{"a":1,"b":2}`},
	{`{"type":"array","prefixItems":[{"const":1}],"contains":{"const":"x"},"unevaluatedItems":false,"minItems":2}`,
		`[1,"x","x"]`},
	{`{"type":"object","dependentSchemas":{"a":{"properties":{"b":{"type":"integer"}},"required":["b"]}},"required":["a"],"dependentRequired":{"b":["a"]}}`, `{"a":1,"b":2}`},
	{`{"oneOf":[{"type":"object","properties":{"kind":{"const":"a"},"n":{"type":"integer"}},"required":["kind","n"]},{"type":"object","properties":{"kind":{"const":"b"},"n":{"type":"string"}},"required":["kind","n"]}]}`, `{"kind":"a","n":1}`},
	{`{"type":"object","propertyNames":{"pattern":"^[ab]$"},"patternProperties":{"a":{"type":"integer"}},"additionalProperties":{"type":"boolean"},"minProperties":2}`, `{"a":1,"b":true}`},
	{`{"$defs":{"tree":{"type":"object","properties":{"value":{"type":"integer"},"next":{"$ref":"#/$defs/tree"}},"required":["value"],"not":{"required":["last"]}}},"$ref":"#/$defs/tree","properties":{"next":true},"required":["next"]}`, `{"value":1,"next":{"value":2}}`},
}

// nodeOf is a value as a document has it; nil for one that no document can hold.
func nodeOf(t *testing.T, v any) *source.Node {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	n, problems := source.Parse(source.NewFile("value.json", text), source.Limits{})
	if len(problems) > 0 {
		return nil
	}
	return n
}

// TestCopiedSchemas: what a request says of a schema means what the schema means,
// of whatever draft it is.
func TestCopiedSchemas(t *testing.T) {
	counts := map[schema.Relation]int{}
	seen := map[string]bool{}
	check := func(name string, raw map[string]any, values ...any) {
		key, _ := json.Marshal(raw)
		original := schema.New(raw, schema.Options{AssertFormat: true})
		if seen[string(key)] || original.Compile() != nil {
			return
		}
		for _, value := range values {
			if v := original.Validate(value); v != nil {
				t.Fatalf("%s: %v", name, v)
			}
		}
		n := nodeOf(t, raw)
		if n == nil {
			return
		}
		seen[string(key)] = true
		s := Context{Plan: &plan.Plan{}}
		text := Append(nil, s.alone(n, nil))
		copied := schema.New(decoded(t, text), schema.Options{AssertFormat: true})
		if err := copied.Compile(); err != nil {
			t.Errorf("%s: %v: the copy of\n%s is\n%s", name, err, key, text)
			return
		}
		if _, err := copied.Ordinary(); err != nil {
			t.Errorf("%s: %v: the copy of\n%s is\n%s", name, err, key, text)
			return
		}
		// references that aren't followed
		left := bytes.Contains(key, []byte(`"$ref":"http`)) || bytes.Contains(key, []byte(`"$id":`))
		for i, pair := range [][2]*schema.Schema{{original, copied}, {copied, original}} {
			v := schema.Contains(pair[0], pair[1], schema.Budget{Steps: 20_000})
			if counts[v.Relation]++; (i == 0 || !left) &&
				(v.Relation == schema.Never || v.Relation == schema.MayNotFit) {
				t.Errorf("%s: they differ in %v: the copy of\n%s is\n%s", name, v.Witness, key, text)
			}
		}
	}
	for i, c := range newerSchemas {
		check(fmt.Sprintf("newer#%d", i), decoded(t, []byte(c[0])).(map[string]any),
			slices.Repeat([]any{decoded(t, []byte(c[1]))}, 20)...)
	}
	schemaCorpus(t, func(name string, raw map[string]any) { check(name, raw) })
	t.Logf("%d schemas: %v", len(seen), counts)
	if sure, all := counts[schema.Fits], 2*len(seen); sure < all*9/10 {
		t.Errorf("only %d of %d relations are certain", sure, all)
	}
}

// What references lead to is carried along, whatever way they lead.
func TestReferencesInCopiedSchemas(t *testing.T) {
	plan, found := compiler.Compile(source.NewFile("plan.yaml", []byte(`
calls: []
schemas:
  Person: {type: object, properties: {name: {type: string}, friend: {$ref: "#"}, home: {$ref: "#/schemas/Place"}}}
  Place: {type: object, properties: {street: {$ref: "#/$defs/text"}}, $defs: {text: {type: string, minLength: 1}}}
  "a b": {const: 1}
  a_b: {const: 2}
  self: {items: {$ref: "#"}}
`)), compiler.Options{})
	if len(found) > 0 {
		t.Fatal(found)
	}
	const place = `"schemas.Place":{"type":"object","properties":{"street":{"$ref":"#/$defs/schemas.Place/$defs/text"}},"$defs":{"text":{"type":"string","minLength":1}}}`
	const named = `"schemas.Person":{"type":"object","properties":{"name":{"type":"string"},"friend":{"$ref":"#/$defs/schemas.Person"},"home":{"$ref":"#/$defs/schemas.Place"}}},` + place + `,"schemas.a b":{"const":1},"schemas.a_b":{"const":2},"schemas.self":{"items":{"$ref":"#/$defs/schemas.self"}}}}`
	for _, c := range []struct{ name, schema, want string }{
		{"named", `{"$ref":"#/schemas/Person"}`, `{"$ref":"#/$defs/schemas.Person","$defs":{` + named},
		{"into a named one", `{"items":{"$ref":"#/schemas/Place/properties/street"}}`,
			`{"items":{"$ref":"#/$defs/schemas.Place/properties/street"},"$defs":{` + named},
		{"names with spaces", `{"anyOf":[{"$ref":"#/schemas/a%20b"},{"$ref":"#/schemas/a b"}]}`,
			`{"anyOf":[{"$ref":"#/$defs/schemas.a%20b"},{"$ref":"#/$defs/schemas.a b"}],"$defs":{` + named},
		{"itself", `{"items":{"$ref":"#"},"not":{"$ref":"#/schemas/self"},"$defs":{"self":{}}}`,
			`{"items":{"$ref":"#"},"not":{"$ref":"#/$defs/schemas.self"},"$defs":{"self":{},` + named},
		{"by its own name", `{"schemas":{"Person":{"const":1}},"items":{"$ref":"#/schemas/Person"}}`, `{"schemas":{"Person":{"const":1}},"items":{"$ref":"#/schemas/Person"}}`},
		{"by an anchor", `{"items":{"$ref":"#n"},"$defs":{"x":{"$anchor":"n","type":"null"}}}`, `{"items":{"$ref":"#n"},"$defs":{"x":{"$anchor":"n","type":"null"}}}`},
		{"draft 4", `{"$schema":"http://json-schema.org/draft-04/schema#","items":[{"$ref":"#/definitions/a~1b","maximum":1}],"definitions":{"a/b":{"minimum":0,"exclusiveMinimum":true}}}`,
			`{"$schema":"http://json-schema.org/draft-04/schema#","items":[{"$ref":"#/definitions/a~1b","maximum":1}],"definitions":{"a/b":{"minimum":0,"exclusiveMinimum":true}}}`},
		{"names and values like keywords", `{"properties":{"$ref":{"type":"string"},"x-a":{"const":{"$ref":"#","x-b":1}}},"x-media":"image","$comment":"no"}`,
			`{"properties":{"$ref":{"type":"string"},"x-a":{"const":{"$ref":"#","x-b":1}}}}`},
	} {
		n, _ := source.Parse(source.NewFile("schema.json", []byte(c.schema)), source.Limits{})
		got := (JSON(Context{Plan: plan}.alone(n, nil)))
		if got != c.want {
			t.Errorf("%s: %s\nbecomes\n%s, not\n%s", c.name, c.schema, got, c.want)
		}
		if err := schema.New(decoded(t, []byte(got)), schema.Options{}).Compile(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
