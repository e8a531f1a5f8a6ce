package dialect_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime/planner/anthropic"
	"github.com/obelus-dev/obelus/runtime/planner/dialect"
	"github.com/obelus-dev/obelus/runtime/planner/openai"
	"github.com/obelus-dev/obelus/runtime/request"
	"github.com/santhosh-tekuri/jsonschema/v5"
)

func schemaOf(t testing.TB, text string) any {
	t.Helper()
	n, problems := source.Parse(source.NewFile("schema.json", []byte(text)), source.DefaultLimits())
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return request.Of(n)
}

// closed is an object schema with all properties required.
func closed(properties ...string) string {
	var names []string
	for _, p := range properties {
		names = append(names, strings.SplitN(p, ":", 2)[0])
	}
	return `{"type":"object","properties":{` + strings.Join(properties, ",") + `},"required":[` + strings.Join(names, ",") + `],"additionalProperties":false}`
}

// S11.6: what an endpoint is said to enforce is of the form that it enforces.
func TestFit(t *testing.T) {
	many := func(n int, of string) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`"p%d":%s`, i, of))
		}
		return closed(all...)
	}
	optional := func(n int) string {
		before, after, _ := strings.Cut(many(n, `{"type":"string"}`), `"required":`)
		return before + after[strings.Index(after, "]")+2:]
	}
	deep := func(n int) string {
		s := `{"type":"string"}`
		for range n {
			s = closed(`"p":` + s)
		}
		return s
	}
	unfit := ""
	same := "same"
	for _, c := range []struct{ name, schema, openAI, anthropic string }{
		{"plain", closed(`"b":{"type":"string"}`, `"a":{"type":"number"}`), same, same},
		{"left open", `{"type":"object","properties":{"b":{"type":"string"}},"required":["b"]}`,
			`{"type":"object","properties":{"b":{"type":"string"}},"required":["b"],"additionalProperties":false}`,
			`{"type":"object","properties":{"b":{"type":"string"}},"required":["b"],"additionalProperties":false}`},
		{"expressly open", `{"type":"object","properties":{"b":{"type":"string"}},"required":["b"],"additionalProperties":true}`, unfit, unfit},
		{"optional", `{"type":"object","properties":{"b":{"type":"string"}},"additionalProperties":false}`, unfit, same},
		{"24 optional", optional(24), unfit, same},
		{"25 optional", optional(25), unfit, unfit},
		{"anything", closed(`"a":{}`), unfit, unfit},
		{"any object", closed(`"a":{"type":"object"}`), unfit, unfit},
		{"any list", closed(`"a":{"type":"array"}`), unfit, unfit},
		{"tuple", closed(`"a":{"type":"array","prefixItems":[{"type":"string"}],"items":{"type":"null"}}`), unfit, unfit},
		{"true", closed(`"a":true`), unfit, unfit},
		{"no object", `{"type":"string"}`, unfit, unfit},
		{"choice at the top", `{"type":"object","anyOf":[` + closed() + `]}`, unfit, unfit},
		{"constant", closed(`"a":{"const":"x"}`), closed(`"a":{"type":"string","const":"x"}`), closed(`"a":{"type":"string","const":"x"}`)},
		{"mixed enum", closed(`"a":{"enum":["x",1,null,true,2]}`), closed(`"a":{"type":["string","number","null","boolean"],"enum":["x",1,null,true,2]}`), closed(`"a":{"type":["string","number","null","boolean"],"enum":["x",1,null,true,2]}`)},
		{"enum of objects", closed(`"a":{"enum":[{}]}`), unfit, unfit},
		{"bounds", closed(`"a":{"type":"string","pattern":"^†","minLength":1,"format":"uri"}`), closed(`"a":{"type":"string","pattern":"^†"}`), closed(`"a":{"type":"string","format":"uri"}`)},
		{"items", closed(`"a":{"type":"array","items":{"type":"integer","minimum":2},"minItems":3}`),
			same, closed(`"a":{"type":"array","items":{"type":"integer"}}`)},
		{"one item", closed(`"a":{"type":"array","items":{"type":"integer"},"minItems":1}`), same, same},
		{"oneOf", closed(`"a":{"oneOf":[{"type":"string"},{"type":"null"}]}`), closed(`"a":{"anyOf":[{"type":"string"},{"type":"null"}]}`), closed(`"a":{"anyOf":[{"type":"string"},{"type":"null"}]}`)},
		{"allOf", closed(`"a":{"allOf":[{"type":"string"}]}`), unfit, unfit},
		{"16 unions", many(16, `{"anyOf":[{"type":"string"},{"type":"null"}]}`), same, same},
		{"17 unions", many(17, `{"type":["string","null"]}`), same, unfit},
		{"10 deep", deep(10), same, same},
		{"11 deep", deep(11), unfit, same},
		{"unknown keyword", closed(`"a":{"type":"string","unevaluatedSomething":1}`), unfit, unfit},
		{"extension", closed(`"a":{"type":"string","x-simulate":{}}`), closed(`"a":{"type":"string"}`), closed(`"a":{"type":"string"}`)},
		{"reference", `{"type":"object","properties":{"a":{"$ref":"#/definitions/s","description":"lost"}},"required":["a"],"additionalProperties":false,"$defs":{"s":{"type":"string"}}}`,
			`{"type":"object","properties":{"a":{"$ref":"#/$defs/s"}},"required":["a"],"additionalProperties":false,"$defs":{"s":{"type":"string"}}}`,
			`{"type":"object","properties":{"a":{"$ref":"#/$defs/s"}},"required":["a"],"additionalProperties":false,"$defs":{"s":{"type":"string"}}}`},
		{"reference to nothing", closed(`"a":{"$ref":"#/$defs/s"}`), unfit, unfit},
		{"reference elsewhere", closed(`"a":{"$ref":"#/properties/b"}`, `"b":{"type":"string"}`), unfit, unfit},
		{"definitions further in", closed(`"a":{"type":"string","$defs":{}}`), unfit, unfit},
		{"contains itself", strings.TrimSuffix(closed(`"a":{"$ref":"#/$defs/t"}`), "}") + `,"$defs":{"t":` + closed(`"more":{"anyOf":[{"$ref":"#/$defs/u"},{"type":"null"}]}`) + `,"u":{"type":"array","items":{"$ref":"#/$defs/t"}}}}`, same, unfit},
	} {
		for name, d := range map[string]*dialect.Dialect{"openai": &openai.Strict, "anthropic": &anthropic.Enforced} {
			want := map[string]string{"openai": c.openAI, "anthropic": c.anthropic}[name]
			if want == same {
				want = c.schema
			}
			got := unfit
			if fitted, ok := d.Fit(schemaOf(t, c.schema)); ok {
				got = request.JSON(fitted)
			}
			if got != want {
				t.Errorf("%s, %s:\ngot  %s\nwant %s", c.name, name, got, want)
			}
		}
	}
}

// A fitted schema admits what the schema admits.
func TestFitOnlyWidens(t *testing.T) {
	schema := `{"type":"object","properties":{
		"calls":{"type":"array","maxItems":3,"items":{"oneOf":[
			{"type":"object","properties":{"_tool":{"const":"a"},"n":{"anyOf":[{"type":"integer","minimum":3},{"$ref":"#/$defs/reference"}]}},"required":["_tool"]},
			{"type":"object","properties":{"_tool":{"const":"b"},"s":{"type":"string","minLength":2}},"required":["_tool","s"],"additionalProperties":false}]}},
		"output":{"anyOf":[{"type":"string","maxLength":3},{"type":"null"}]}},
		"required":["calls"],"$defs":{"reference":{"type":"string","pattern":"^†"}}}`
	fitted, ok := anthropic.Enforced.Fit(schemaOf(t, schema))
	if !ok {
		t.Fatal("it doesn't fit")
	}
	whole, narrow := jsonschema.MustCompileString("whole.json", schema), jsonschema.MustCompileString("fitted.json", request.JSON(fitted))
	for _, value := range []string{
		`{"calls":[]}`, `{"calls":[{"_tool":"a"}],"output":null}`, `{"calls":[{"_tool":"a","n":3},{"_tool":"b","s":"xy"}],"output":"abc"}`, `{"calls":[{"_tool":"a","n":"†state.x"}]}`,
	} {
		var v any
		if err := json.Unmarshal([]byte(value), &v); err != nil {
			t.Fatal(err)
		}
		if err := whole.Validate(v); err != nil {
			t.Fatalf("%s isn't valid to begin with: %v", value, err)
		}
		if err := narrow.Validate(v); err != nil {
			t.Errorf("%s is refused: %v", value, err)
		}
	}
	for _, value := range []string{`{"calls":[{"_tool":"c"}]}`, `{"calls":[{"_tool":"b"}]}`, `{"calls":[{"_tool":"a","m":1}]}`, `{}`} {
		var v any
		if err := json.Unmarshal([]byte(value), &v); err != nil {
			t.Fatal(err)
		}
		if narrow.Validate(v) == nil {
			t.Errorf("%s passes", value)
		}
	}
}

func TestWrapped(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"string"}`: `{"type":"object","properties":{"result":{"type":"string"}},"required":["result"],"additionalProperties":false}`,
		`{"$schema":"x","type":"array","items":{"$ref":"#/$defs/a"},"$defs":{"a":{"type":"string"}}}`: `{"type":"object","$schema":"x","$defs":{"a":{"type":"string"}},"properties":{"result":{"type":"array","items":{"$ref":"#/$defs/a"}}},"required":["result"],"additionalProperties":false}`,
		`{"type":["array","null"],"items":{"$ref":"#"}}`:                                              ``,
	} {
		got := ""
		if n := dialect.Wrap(schemaOf(t, schema)); n != nil {
			got = request.JSON(n)
			jsonschema.MustCompileString("wrapped.json", strings.Replace(got, `"$schema":"x",`, "", 1))
		}
		if got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", schema, got, want)
		}
	}
}
