package openapi

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/obelus-dev/obelus/compiler/schema"
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
		faults := 0
		got, _ := (&reading{API: &API{}}).sound(read(text), func(*schema.SchemaError) bool { faults++; return true })
		if !reflect.DeepEqual(got, read(want)) || (faults > 0) != (text != want) {
			t.Errorf("%s is %v (%d)", text, got, faults)
		}
	}
}
