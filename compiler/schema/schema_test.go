package schema

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// decode reads a JSON value as encoding/json does.
func decode(t testing.TB, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func parse(t testing.TB, text string) *Schema {
	t.Helper()
	s := New(decode(t, text), Options{})
	if err := s.Compile(); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return s
}

// LANGUAGE.md#tools: OB509: what is wrong with a schema is said at its place, with what to do.
func TestCompileTellsTheFault(t *testing.T) {
	defs := `{"Order":{"type":"object","properties":{"n":{"type":"integer"},"next":{"$ref":"#"},"line":{"$ref":"#/$defs/L"}},"$defs":{"L":{"type":"strin"}}},"Fine":{"type":"string"}}`
	for _, c := range []struct{ schema, def, path, message, help string }{
		{`{"type":"strin"}`, "", "type", `"strin" isn't a type`, "one of null"},
		{`{"type":"int"}`, "", "type", `"int" isn't a type`, `did you mean "integer"?`},
		{`{"properties":{"a":{"type":[]}}}`, "", "properties/a/type", "type has no member", ""},
		{`{"properties":{"a":5}}`, "", "properties/a", "a schema is an object, true or false; here is 5", ""},
		{`{"properties":{"":{"minLength":-1}}}`, "", "properties//minLength", "minLength is a whole number from 0 on; here is -1", ""},
		{`{"required":true}`, "", "required", "required is a list of property names; here is true", "beside properties"},
		{`{"required":["a","b","a"]}`, "", "required/2", `required names "a" twice`, ""},
		{`{"pattern":"(?=a"}`, "", "pattern", `"(?=a" isn't a usable regular expression of ECMA-262: look-ahead and look-behind aren't supported`, ""},
		{`{"pattern":"^a\\Z"}`, "", "pattern", `"\Z" means nothing here`, ""},
		{`{"enum":[]}`, "", "enum", "enum has no value", ""},
		{`{"multipleOf":0}`, "", "multipleOf", "multipleOf is above 0; here is 0", ""},
		{`{"$schema":"http://example.com/mine"}`, "", "$schema", "isn't a JSON Schema dialect", "draft-07"},
		{`{"$ref":"#/$defs/none"}`, "", "$ref", `"#/$defs/none" leads to nothing`, ""},
		{`{"$ref":"http://json-schema.org/draft-07/schema#"}`, "", "$ref", `is outside of this document`, "no URL"},
		{`{"$recursiveRef":"#"}`, "", "$recursiveRef", `isn't understood`, "$ref"},
		{`{"$dynamicRef":"#n","$defs":{"a":{"$dynamicAnchor":"n"},"b":{"$id":"b","$dynamicAnchor":"n"}}}`, "", "$dynamicRef", `isn't understood`, "$ref"},
		{`{"$ref":"#/schemas/None"}`, "", "$ref", `the document has no schema "None"`, "there are Fine, Order"},
		{`{"$ref":"Fine"}`, "", "$ref", `"Fine" is outside of this document`, `write "#/schemas/Fine"`},
		{`{"$ref":"file:///etc/passwd"}`, "", "$ref", `"file:///etc/passwd" is outside of this document`, "no file and no URL"},
		{`{"items":{"$ref":"#/schemas/Order"}}`, "Order", "$defs/L/type", `"strin" isn't a type`, ""},
		{`{"allOf":[{"$ref":"#"}]}`, "", "allOf/0", "applies itself to the same value for ever", "through a property"},
		{`{"$defs":{"a":{"not":{"$ref":"#/$defs/b"}},"b":{"anyOf":[{"$ref":"#/$defs/a"}]}},"$ref":"#/$defs/a"}`, "", "$defs/b/anyOf/0", "for ever", ""},
	} {
		s := New(decode(t, c.schema), Options{Defs: decode(t, defs).(map[string]any)})
		err := s.Compile()
		bad, ok := err.(*SchemaError)
		if !ok {
			t.Errorf("%s: no error", c.schema)
			continue
		}
		if bad.Def != c.def || strings.Join(bad.Path, "/") != c.path || !strings.Contains(bad.Message, c.message) || !strings.Contains(bad.Help, c.help) {
			t.Errorf("%s:\n got %q %q: %s (%s)\nwant %q %q: %s (%s)", c.schema, bad.Def, bad.Path, bad.Message, bad.Help, c.def, c.path, c.message, c.help)
		}
		if s.Validate(5.0) != nil || s.Properties() != nil {
			t.Errorf("%s: a broken schema has opinions", c.schema)
		}
	}
}

// EXECUTION.md#limits: hostile schemas end in an error, soon.
func TestCompileLimits(t *testing.T) {
	doubled := map[string]any{}
	for i := range 22 {
		next := map[string]any{"$ref": "#/$defs/" + strings.Repeat("a", i+2)}
		doubled[strings.Repeat("a", i+1)] = map[string]any{"allOf": []any{next, next}}
	}
	doubled[strings.Repeat("a", 23)] = map[string]any{"type": "string"}
	deep := any(map[string]any{})
	for range 5000 {
		deep = map[string]any{"not": deep}
	}
	wide := map[string]any{}
	for i := range 20_000 {
		wide[fmt.Sprint("p", i)] = true
	}
	for name, raw := range map[string]any{
		"doubled references": map[string]any{"$defs": doubled, "$ref": "#/$defs/a"},
		"nesting":            deep,
		"keywords":           map[string]any{"properties": wide},
		"pattern":            map[string]any{"pattern": strings.Repeat("a", 1001)},
		"deep enum":          map[string]any{"const": deep},
	} {
		if err := New(raw, Options{}).Compile(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// EXECUTION.md#limits: OB504: a refused value is told in plain words, at its place.
func TestValidateSays(t *testing.T) {
	for _, c := range []struct{ schema, value, where, message string }{
		{`{"type":"number"}`, `"time"`, "", `expected a number, got "time"`},
		{`{"type":["string","null"]}`, `5`, "", `expected a string or null, got 5`},
		{`{"properties":{"a":{"items":{"type":"integer"}}}}`, `{"a":[1,2.5]}`, ".a[1]", `expected an integer, got 2.5`},
		{`{"properties":{"odd key":{"const":"x"}}}`, `{"odd key":"y"}`, `["odd key"]`, `expected "x", got "y"`},
		{`{"enum":["a","b",3]}`, `"c"`, "", `expected "a", "b" or 3, got "c"`},
		{`{"required":["a"]}`, `{}`, "", `"a" is missing`},
		{`{"properties":{"a":{}},"additionalProperties":false}`, `{"b":1}`, ".b", `"b" isn't a known property; known are "a"`},
		{`{"minimum":3}`, `1`, "", `expected 3 or more, got 1`},
		{`{"multipleOf":0.1}`, `0.25`, "", `expected a multiple of 0.1, got 0.25`},
		{`{"minLength":3}`, `"†"`, "", `expected at least 3 characters, got "†" with 1`},
		{`{"pattern":"^a"}`, `"b"`, "", `expected a string that matches the pattern "^a", got "b"`},
		{`{"anyOf":[{"type":"string"},{"type":"null"}]}`, `5`, "", `expected a string or null, got 5`},
		{`{"anyOf":[{"const":1},{"const":2}]}`, `5`, "", `expected 1 or 2, got 5`},
		{`{"oneOf":[{"type":"object","required":["k"],"properties":{"k":{"const":"a"},"v":{"type":"string"}}},{"type":"object","required":["k"],"properties":{"k":{"const":"b"},"v":{"type":"number"}}}]}`,
			`{"k":"b","v":"x"}`, ".v", `expected a number, got "x"`},
		{`{"oneOf":[{},{}]}`, `5`, "", `expected exactly one of 2 alternatives to fit, but number 1 and number 2 both fit 5`},
		{`{"not":{"const":5}}`, `5`, "", `expected anything but 5`},
		{`{"uniqueItems":true}`, `[1,2,1.0]`, "", `expected items that all differ, but items 0 and 2 are both 1`},
		{`{"propertyNames":{"maxLength":1}}`, `{"ab":1}`, ".ab", `the name "ab" isn't allowed: expected at most 1 character, got "ab" with 2`},
		{`{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, "", `"b" is missing, which is needed where "a" is there`},
		{`{"type":"string"}`, "\"\\u202e\\u0007\"", "", `expected`},
	} {
		found := parse(t, c.schema).Validate(decode(t, c.value))
		if strings.Contains(c.value, "202e") {
			found = parse(t, `{"const":1}`).Validate(decode(t, c.value))
			if strings.ContainsAny(found.Message, "\u202e\u0007") {
				t.Errorf("%q lets text act", found.Message)
			}
			continue
		}
		if found == nil || found.Where() != c.where || !strings.HasPrefix(found.Message, c.message) {
			t.Errorf("%s, %s:\n got %v\nwant %s: %s", c.schema, c.value, found, c.where, c.message)
		}
	}
}

// EXECUTION.md#limits: values that would cost too much are refused in bounded time.
func TestValidateLimits(t *testing.T) {
	deep := any("end")
	for range 100_000 {
		deep = []any{deep}
	}
	list := parse(t, `{"type":["array","string"],"items":{"$ref":"#"}}`)
	if found := list.Validate(deep); found == nil || found.Keyword != "limit" {
		t.Errorf("100,000 levels: %v", found)
	}
	if parse(t, `{"uniqueItems":true}`).Validate([]any{deep, deep}) != nil {
		t.Error("values deeper than the bound count as different")
	}
	// Alternatives that each go down the same way double at every level.
	tree := parse(t, `{"oneOf":[{"properties":{"l":{"$ref":"#"},"k":{"const":1}},"required":["k"]},{"properties":{"l":{"$ref":"#"},"k":{"const":2}},"required":["k"]}]}`)
	value := any(map[string]any{"k": 1.0})
	for i := range 300 {
		value = map[string]any{"k": float64(i%2 + 1), "l": value}
	}
	if found := tree.Validate(value); found != nil {
		t.Errorf("300 levels of alternatives: %v", found)
	}
	value = any(map[string]any{"k": "wrong"})
	for i := range 300 {
		value = map[string]any{"k": float64(i%2 + 1), "l": value}
	}
	if found := tree.Validate(value); found == nil || len(found.Path) < 5 {
		t.Errorf("300 levels of alternatives with a fault at the end: %v", found)
	}
	nan := 0.0
	for _, v := range []any{nan / nan, 1 / nan, struct{}{}, json.Number("1e999999999"), json.Number("nonsense")} {
		for _, text := range []string{`{}`, `{"type":"number"}`, `{"minimum":1}`} {
			if parse(t, text).Validate(v) == nil {
				t.Errorf("%s accepts %v", text, v)
			}
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	s := New(decode(t, `{"$defs":{"x":{"type":"string"}},"properties":{"a":{"$ref":"#/$defs/x"}}}`), Options{})
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if s.Compile() != nil || s.Accepts(map[string]any{"a": 1.0}) || !s.At([]Step{Key("a")}).Named {
				t.Error("wrong")
			}
			if _, err := s.Ordinary(); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}
