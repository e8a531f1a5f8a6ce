package schema

import (
	"fmt"
	"strings"
	"testing"
)

// LANGUAGE.md#findings: schemas are known to be equal by all that they say: no two that differ fit because they were
// taken for the same.
func TestSchemasThatDifferArentTheSame(t *testing.T) {
	seen := map[string]string{}
	tell := func(text string) {
		form := parse(t, text).ready().Identity()
		if other, ok := seen[form]; ok {
			t.Errorf("%s is taken for %s", text, other)
		}
		seen[form] = text
	}
	for low := range 100 {
		for high := low; high < 100; high++ {
			tell(fmt.Sprintf(`{"type":"integer","minimum":%d,"maximum":%d}`, low, high))
		}
	}
	for _, text := range []string{ // the same parts, in lists of other lengths, or in another keyword
		`{"allOf":[{"type":"null"},{"type":"string"}],"anyOf":[{"type":"array"}]}`,
		`{"allOf":[{"type":"null"}],"anyOf":[{"type":"string"},{"type":"array"}]}`,
		`{"anyOf":[{"type":"null"},{"type":"string"},{"type":"array"}]}`,
		`{"prefixItems":[{"type":"null"},{"type":"string"}]}`,
		`{"prefixItems":[{"type":"null"}],"items":{"type":"string"}}`,
		`{"enum":["a","b"],"required":["c"]}`, `{"enum":["a"],"required":["b","c"]}`,
		`{"enum":["ab"],"required":["c"]}`,
		`{"enum":[["a"],"b"]}`, `{"enum":[["a","b"]]}`, `{"enum":["[a b]"]}`, `{"enum":[1]}`, `{"enum":["1"]}`,
		`{"enum":[true]}`,
		`{"patternProperties":{"^a":{"type":"null"}}}`, `{"patternProperties":{"^b":{"type":"null"}}}`,
		`{"pattern":"^b"}`, `{"pattern":"^a"}`, `{"const":"^a"}`,
		`{"properties":{"a":{"type":"null"},"b":{}}}`, `{"properties":{"a":{},"b":{"type":"null"}}}`,
		`{"dependentRequired":{"a":["b"],"c":["d"]}}`, `{"dependentRequired":{"a":["b","d"],"c":[]}}`,
		`{"dependentRequired":{"a":["d"],"c":["b"]}}`,
		`{"dependentSchemas":{"a":{"required":["b"]}},"dependentRequired":{"a":["c"]}}`,
		`{"dependentSchemas":{"a":{"required":["c"]}},"dependentRequired":{"a":["b"]}}`,
		`{"contains":{"type":"null"},"minContains":2}`, `{"contains":{"type":"null"},"maxContains":2}`, `true`,
		`false`, `{"not":false}`,
		`{"items":{"$ref":"#"}}`, `{"items":{"items":{"$ref":"#"}}}`, `{"items":{"$ref":"#"},"maxItems":1}`,
	} {
		tell(text)
	}
	for _, c := range []struct {
		from, to string
		want     Relation
	}{
		{`{"type":"integer","minimum":3,"maximum":92}`, `{"type":"integer","minimum":7,"maximum":38}`, MayNotFit},
		{`{"propertyNames":{"maxLength":2},"title":"a"}`, `{"propertyNames":{"maxLength":2},"title":"b"}`, Fits},
		{`{"dependencies":{"a":["b"]},"items":[{"pattern":"^a"}]}`,
			`{"dependentRequired":{"a":["b"]},"prefixItems":[{"pattern":"^a"}]}`, Fits},
	} {
		if v := Contains(parse(t, c.from), parse(t, c.to), Budget{}); v.Relation != c.want {
			t.Errorf("%s\n%s\n%v, want %v", c.from, c.to, v.Relation, c.want)
		}
	}
}

// LANGUAGE.md#tools: what refers back to itself is the same only in the same text: where its references mean something
// else, it is something else.
func TestRecursiveSchemasOfOneText(t *testing.T) {
	shared := decode(t, `{"type":"object","properties":{"next":{"$ref":"#/properties/list"},"v":{"$ref":"#/$defs/v"}},"required":["v"]}`)
	around := func(kind string) *Schema {
		return New(map[string]any{"properties": map[string]any{"list": shared}, "required": []any{"list"},
			"$defs": map[string]any{"v": map[string]any{"type": kind}}}, Options{})
	}
	a, b := around("string"), around("integer")
	list := []Step{Key("list")}
	if v := Contains(a.At(list).Schema, b.At(list).Schema, Budget{}); v.Relation != Never {
		t.Errorf("strings as integers: %v", v.Relation)
	}
	named := map[string]any{"Tree": decode(t,
		`{"properties":{"kids":{"items":{"$ref":"#/schemas/Tree"}},"^":{"propertyNames":{"pattern":"^a"}}}}`)}
	use := func(text string) *Schema { return New(decode(t, text), Options{Defs: named}) }
	from, to := use(`{"type":"object","required":["t"],"properties":{"t":{"$ref":"#/schemas/Tree"}}}`),
		use(`{"properties":{"t":{"$ref":"#/schemas/Tree"}}}`)
	if v := Contains(from, to, Budget{}); v.Relation != Fits {
		t.Errorf("a named schema that refers to itself: %v, %s", v.Relation, v.Keyword)
	}
}

// LANGUAGE.md#tools: a reference may end on a part that no keyword reads, also where another one has gone through it.
func TestReferencesToPartsNobodyReads(t *testing.T) {
	for _, c := range []struct{ schema, good, bad string }{
		{`{"x":{"y":{"type":"string"},"type":"object"},"properties":{"a":{"$ref":"#/x/y"},"b":{"$ref":"#/x"}}}`,
			`{"a":"s","b":{}}`, `{"b":1}`},
		{`{"x":{"y":{"type":"string"},"type":"object"},"properties":{"b":{"$ref":"#/x"},"c":{"$ref":"#/x/y"}}}`,
			`{"b":{},"c":"s"}`, `{"c":1}`},
		{`{"x":{"y":{"z":{"type":"string"}},"type":"object"},"allOf":[{"properties":{"a":{"$ref":"#/x/y/z"}}},{"properties":{"b":{"$ref":"#/x"}}},{"properties":{"c":{"$ref":"#/x/y"}}},{"properties":{"d":{"$ref":"#/x/y/z"}}}]}`,
			`{"a":"s","b":{},"c":1,"d":"s"}`, `{"d":1}`},
		{`{"x":{"type":"object","properties":{"more":{"$ref":"#/x"},"y":{"$ref":"#/x/y"}},"y":{"type":"null"}},"properties":{"a":{"$ref":"#/x/y"},"b":{"$ref":"#/x"}}}`,
			`{"b":{"more":{"more":{"y":null}}}}`, `{"b":{"more":{"more":{"y":1}}}}`},
		{`{"properties":{"type":{"type":"string"},"a":{"$ref":"#/properties/type"}}}`, `{"a":"s"}`, `{"a":1}`},
		{`{"properties":{"":{"type":"string"},"a":{"$ref":"#/properties/"}}}`, `{"a":"s"}`, `{"a":1}`},
		{`{"default":{"x":[{"type":"string"}]},"items":{"$ref":"#/default/x/0"}}`, `["s"]`, `[1]`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"$ref":"#/properties/b","properties":{"c":{"type":"null"}}},"b":{"type":"string"},"d":{"$ref":"#/properties/a/properties/c"}}}`,
			`{"a":"s","d":null}`, `{"d":1}`},
		{`{"x":{"properties":{"id":{"$anchor":"id","type":"string"}}},"properties":{"a":{"$ref":"#/x/properties/id"},"b":{"$ref":"#/x"}}}`, `{"a":"s","b":{"id":"s"}}`, `{"b":{"id":1}}`},
		{`{"x":{"not":{"$anchor":"n","type":"string"}},"properties":{"a":{"$ref":"#/x/not"},"b":{"$ref":"#/x"}}}`,
			`{"a":"s","b":1}`, `{"b":"s"}`},
	} {
		for range 20 { // whatever the order in which the references are followed
			s := parse(t, c.schema)
			if !s.Accepts(decode(t, c.good)) || s.Accepts(decode(t, c.bad)) {
				t.Errorf("%s: accepts %s: %v, %s: %v", c.schema, c.good, s.Accepts(decode(t, c.good)), c.bad,
					s.Accepts(decode(t, c.bad)))
			}
		}
	}
	for _, text := range []string{`{"properties":{"a":{"$ref":"#/properties//x"}}}`,
		`{"properties":{"a":{"$ref":"#/x/y"}},"x":{"z":{}}}`} {
		if New(decode(t, text), Options{}).Compile() == nil {
			t.Errorf("%s: no error", text)
		}
	}
	for range 50 { // the first of several is the same each time
		err :=
			New(decode(t,
				`{"not":{"$ref":"#/a"},"if":{"$ref":"#/b"},"items":{"$ref":"#/c"},"properties":{"d":{"$ref":"#/d"}}}`),
				Options{}).Compile()
		if err == nil || !strings.Contains(err.Error(), "#/b") {
			t.Fatal(err)
		}
	}
}
