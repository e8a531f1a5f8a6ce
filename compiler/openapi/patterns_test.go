package openapi

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/obelus-dev/obelus/compiler/source"
)

// LANGUAGE.md#imported-services: patterns that can't be used are left out, and what would refuse more without them too.
func TestPatternsAreLeftOut(t *testing.T) {
	read := func(text string) (v any) {
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	for text, want := range map[string]string{
		`{"properties": {"p": {"type": "string", "pattern": "^(?=.*\\d).{8,}$"}, "pattern": {"pattern": "a"}}}`: `{"properties": {"p": {"type": "string"}, "pattern": {"pattern": "a"}}}`,
		`{"patternProperties": {"^(?!x-)": {}, "a": {}}, "additionalProperties": false}`:                        `{"patternProperties": {"a": {}}}`,
		`{"items": {"not": {"pattern": "(a)\\1"}}}`:                                                             `{"items": {}}`,
		`{"pattern": "(?=a)", "type": "strin"}`:                                                                 `{}`,
		`{"pattern": "^a$"}`:                                                                                    `{"pattern": "^a$"}`,
	} {
		r := &reading{API: &API{}, faults: map[string]string{}}
		root, _ := source.Parse(source.NewFile("a.json", []byte(text)), source.Limits{})
		got := r.schema(root, response)
		if !reflect.DeepEqual(got, read(want)) || (len(r.Notes) > 0) != (text != want) {
			t.Errorf("%s is %v (%v)", text, got, r.Notes)
		}
	}
}
