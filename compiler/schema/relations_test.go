package schema

import "testing"

// LANGUAGE.md#findings: OB505, OB506: verdicts keyword by keyword, with the smallest evidence.
func TestContains(t *testing.T) {
	const draft4, draft7 = `"$schema":"http://json-schema.org/draft-04/schema#",`, `"$schema":"http://json-schema.org/draft-07/schema#",`
	for _, c := range []struct {
		from, to string
		want     Relation
		witness  string
	}{
		// kinds
		{`{}`, `{}`, Fits, ``},
		{`{"type":"integer"}`, `{"type":"number"}`, Fits, ``},
		{`{"type":"number"}`, `{"type":"integer"}`, MayNotFit, `0.5`},
		{`{"type":"string"}`, `{"type":"number"}`, Never, `""`},
		{`{"type":["string","null"]}`, `{"type":"string"}`, MayNotFit, `null`},
		{`false`, `{"type":"number"}`, Fits, ``},
		{`true`, `false`, Never, `null`},
		{`{"type":"string"}`, `true`, Fits, ``},
		// values
		{`{"enum":["a","b"]}`, `{"enum":["b","a","c"]}`, Fits, ``},
		{`{"enum":["a","b"]}`, `{"enum":["b"]}`, MayNotFit, `"a"`},
		{`{"const":1.0}`, `{"const":1}`, Fits, ``},
		{`{"const":{"a":[1,2]}}`, `{"properties":{"a":{"items":{"type":"integer"}}},"required":["a"]}`, Fits, ``},
		{`{"type":"boolean"}`, `{"enum":[true,false]}`, Fits, ``},
		{`{"type":"array","maxItems":1,"items":{"type":"boolean"}}`, `{"enum":[[],[true],[false]]}`, Unknown, ``},
		{`{"type":"array","maxItems":1,"items":{"type":"boolean"}}`, `{"enum":[[],[true]]}`, MayNotFit, `[false]`},
		{`{"type":"object","properties":{"a":{"type":"null"}},"additionalProperties":false}`, `{"enum":[{},{"a":null}]}`, Unknown, ``},
		{`{"type":"object","properties":{"a":{"type":"boolean"}},"additionalProperties":false}`, `{"enum":[{},{"a":true}]}`, MayNotFit, `{"a":false}`},
		// numbers
		{`{"type":"integer","minimum":1}`, `{"exclusiveMinimum":0}`, Fits, ``},
		{`{"type":"number","minimum":1}`, `{"exclusiveMinimum":1}`, MayNotFit, `1`},
		{`{"type":"integer","minimum":1,"maximum":2}`, `{"enum":[1,2]}`, Fits, ``},
		{`{"type":"integer","multipleOf":6}`, `{"multipleOf":3}`, Fits, ``},
		{`{"allOf":[{"multipleOf":4},{"multipleOf":6}],"type":"number"}`, `{"multipleOf":12}`, Unknown, ``},
		{`{"type":"number","multipleOf":0.01}`, `{"multipleOf":0.1}`, MayNotFit, `0.01`},
		{`{"type":"number","multipleOf":0.1}`, `{"multipleOf":0.01}`, Fits, ``},
		{`{"type":"integer"}`, `{"multipleOf":0.5}`, Fits, ``},
		{`{"type":"integer","minimum":0.5,"maximum":0.7}`, `false`, Fits, ``},
		{`{` + draft4 + `"type":"number","minimum":3,"exclusiveMinimum":true}`, `{"minimum":3}`, Fits, ``},
		// strings
		{`{"type":"string","minLength":2}`, `{"minLength":1}`, Fits, ``},
		{`{"type":"string","maxLength":2}`, `{"maxLength":1}`, MayNotFit, `"aa"`},
		{`{"type":"string","pattern":"^[a-z]+$"}`, `{"pattern":"^\\w+$"}`, Unknown, ``},
		{`{"type":"string","pattern":"^a{2,}$"}`, `{"minLength":2}`, Fits, ``},
		{`{"type":"string","pattern":"^\\d{3}$"}`, `{"maxLength":2}`, Never, `"828"`},
		{`{"type":"string","minLength":1}`, `{"pattern":".+"}`, MayNotFit, `"\n"`},
		{`{"type":"string","pattern":"^\\u0061$"}`, `{"const":"a"}`, Unknown, ``},
		{`{"type":"string","pattern":"^(a|b)$"}`, `{"enum":["a","b"]}`, Unknown, ``},
		{`{"type":"string","pattern":"^[a-z]{1,8}$"}`, `{"minLength":1,"maxLength":8}`, Fits, ``},
		{`{"type":"string","pattern":"[a-z]{1,8}$"}`, `{"maxLength":8}`, MayNotFit, ``},
		{`{` + draft7 + `"type":"string","format":"date"}`, `{"maxLength":10,"minLength":10}`, Unknown, ``},
		{`{` + draft7 + `"type":"string","format":"date"}`, `{` + draft7 + `"format":"ipv4"}`, MayNotFit, `"2024-01-18"`},
		{`{"type":"string"}`, `{` + draft7 + `"format":"date"}`, MayNotFit, `""`},
		{`{"type":"string"}`, `{"format":"date"}`, Fits, ``}, // an annotation in 2020-12
		// arrays
		{`{"type":"array","items":{"type":"integer"}}`, `{"items":{"type":"number"}}`, Fits, ``},
		{`{"type":"array","items":{"type":"number"}}`, `{"items":{"type":"integer"}}`, MayNotFit, `[0.5]`},
		{`{"type":"array","items":{"type":"string"},"minItems":1}`, `{"items":{"type":"integer"}}`, Never, `[""]`},
		{`{"type":"array","items":{"type":"string"}}`, `{"items":{"type":"integer"}}`, MayNotFit, `[""]`},
		{`{"type":"array","prefixItems":[{"const":1},{"const":2}],"items":false}`, `{"maxItems":2}`, Fits, ``},
		{`{"type":"array","prefixItems":[{"const":1},{"const":2}],"minItems":2}`, `{"contains":{"const":2}}`, Fits, ``},
		{`{"type":"array","contains":{"type":"string"},"minContains":2}`, `{"minItems":2}`, Fits, ``},
		{`{"type":"array","contains":{"type":"string"}}`, `{"not":{"items":{"not":{"type":"string"}}}}`, Fits, ``},
		{`{"type":"array","items":{"type":"integer"}}`, `{"contains":{"type":"string"}}`, Never, `[]`},
		{`{"type":"array","items":{"enum":[1,2]},"minItems":3}`, `{"uniqueItems":true}`, MayNotFit, `[1,1,1]`},
		{`{"type":"array","items":{"enum":[1,2]},"uniqueItems":true}`, `{"maxItems":2}`, Unknown, ``},
		{`{"type":"array","prefixItems":[{"enum":[1,2]},{"enum":[1,2]},{"enum":[1,2,3]}],"minItems":3,"maxItems":3,"uniqueItems":true}`, `{"prefixItems":[true,true,{"const":3}]}`, Unknown, ``},
		// objects
		{`{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}`, `{"properties":{"a":{"type":"number"}},"required":["a"]}`, Fits, ``},
		{`{"type":"object","properties":{"a":{"type":"integer"}}}`, `{"required":["a"]}`, MayNotFit, `{}`},
		{`{"type":"object","required":["a"]}`, `{"additionalProperties":false}`, Never, `{"a":null}`},
		{`{"type":"object","properties":{"a":{}},"additionalProperties":false}`, `{"maxProperties":1}`, Fits, ``},
		{`{"type":"object","properties":{"a":{},"b":{}},"additionalProperties":false,"minProperties":2}`, `{"required":["a","b"]}`, Fits, ``},
		{`{"type":"object","patternProperties":{"^x":{"type":"string"}}}`, `{"properties":{"xy":{"type":"integer"}}}`, MayNotFit, `{"xy":""}`},
		{`{"type":"object","additionalProperties":{"type":"string"}}`, `{"patternProperties":{"^a":{"type":"string"}}}`, Fits, ``},
		{`{"type":"object","maxProperties":1}`, `{"anyOf":[{"patternProperties":{"^a":{"type":"string"}}},{"patternProperties":{"b$":{"type":"string"}}}]}`, Unknown, ``},
		{`{"type":"object","dependentRequired":{"a":["b"]},"required":["a"]}`, `{"required":["b"]}`, Fits, ``},
		{`{"type":"object","dependentSchemas":{"a":{"required":["b"]}}}`, `{"dependentRequired":{"a":["b"]}}`, Fits, ``},
		{`{"type":"object","required":["b"],"patternProperties":{"^$":{"type":"null"}}}`, `{"patternProperties":{"^$":{"type":"string"}}}`, MayNotFit, `{"":null,"b":null}`},
		// keywords that aren't modelled: only a value that is found decides
		{`{"type":"array","contains":{"type":"integer"},"maxContains":1}`, `{"not":{"contains":{"type":"integer"},"minContains":2}}`, Unknown, ``},
		{`{"type":"object","propertyNames":{"enum":["a"]}}`, `{"maxProperties":1}`, Fits, ``},
		{`{"type":"object"}`, `{"propertyNames":{"maxLength":2}}`, MayNotFit, `{"lagoon":false}`},
		{`{"type":"object","allOf":[{"properties":{"a":{}}}],"unevaluatedProperties":false}`, `{"maxProperties":1}`, Unknown, ``},
		{`{"type":"array","prefixItems":[{}],"unevaluatedItems":false}`, `{"maxItems":1}`, Unknown, ``},
		// combinations
		{`{"anyOf":[{"type":"string"},{"type":"integer"}]}`, `{"type":["string","number"]}`, Fits, ``},
		{`{"oneOf":[{"multipleOf":2},{"multipleOf":3}],"type":"integer"}`, `{"not":{"multipleOf":6}}`, Fits, ``},
		{`{"type":"integer"}`, `{"oneOf":[{"multipleOf":2},{"multipleOf":3},{"not":{"anyOf":[{"multipleOf":2},{"multipleOf":3}]}}]}`, MayNotFit, `0`},
		{`{"not":{"type":"string"}}`, `{"type":["null","boolean","number","array","object"]}`, Fits, ``},
		{`{"if":{"type":"string"},"then":{"minLength":1},"else":{"type":"null"}}`, `{"type":["string","null"]}`, Fits, ``},
		{`{"type":"object","properties":{"k":{"enum":["a","b"]}},"required":["k"]}`, `{"anyOf":[{"properties":{"k":{"const":"a"}}},{"properties":{"k":{"const":"b"}}}]}`, Fits, ``},
		{`{"type":"array","items":{"anyOf":[{"type":"string"},{"type":"null"}]}}`, `{"anyOf":[{"items":{"type":"string"}},{"items":{"type":"null"}}]}`, MayNotFit, `[null,""]`},
		// references
		{`{"$defs":{"t":{"type":"object","properties":{"next":{"$ref":"#/$defs/t"},"v":{"type":"integer"}}}},"$ref":"#/$defs/t"}`, `{"$defs":{"t":{"properties":{"next":{"$ref":"#/$defs/t"},"v":{"type":"number"}}}},"$ref":"#/$defs/t"}`, Fits, ``},
		{`{"type":"object","required":["a"],"properties":{"a":{"$ref":"#"}}}`, `{"type":"string"}`, Fits, ``},
		{`{"type":"array","items":{"$ref":"#"}}`, `{"items":{"items":{"items":{"maxItems":0}}}}`, MayNotFit, `[[[[[]]]]]`},
	} {
		from, to := parse(t, c.from), parse(t, c.to)
		v := Contains(from, to, Budget{})
		if v.Relation != c.want || v.Alarm {
			t.Errorf("%s\n%s\n got %v %v (%s)\nwant %v", c.from, c.to, v.Relation, short(v.Witness), v.Keyword, c.want)
			continue
		}
		if c.witness != "" && !Equal(v.Witness, decode(t, c.witness)) {
			t.Errorf("%s\n%s\n got %s\nwant %s", c.from, c.to, short(v.Witness), c.witness)
		}
		if again := Contains(from, to, Budget{}); again.Steps != v.Steps || again.Relation != v.Relation || !Equal(again.Witness, v.Witness) {
			t.Errorf("%s\n%s\nanother answer the second time: %v", c.from, c.to, again)
		}
	}
	if v := Contains(parse(t, `{"type":"string"}`), nil, Budget{}); v.Relation != Fits {
		t.Errorf("nothing is known of the consumer: %v", v)
	}
	if v := Contains(nil, parse(t, `{"type":"string"}`), Budget{}); v.Relation != MayNotFit {
		t.Errorf("nothing is known of the producer: %v", v)
	}
	if v := Contains(New(5.0, Options{}), parse(t, `false`), Budget{}); v.Relation != Unknown || v.Keyword == "" {
		t.Errorf("an invalid producer: %v", v)
	}
}
