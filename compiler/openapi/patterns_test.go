package openapi

import (
	"encoding/json"
	"reflect"
	"testing"
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
		`{"pattern": "(?=a)", "type": "strin"}`:                                                                 `{"type": "strin"}`,
		`{"pattern": "^a$"}`:                                                                                    `{"pattern": "^a$"}`,
	} {
		if got, faults := WithoutPatterns(read(text)); !reflect.DeepEqual(got, read(want)) || (len(faults) > 0) != (text != want) {
			t.Errorf("%s is %v (%q)", text, got, faults)
		}
	}
	if got, faults := WithoutPatterns(nil); got != nil || faults != nil {
		t.Errorf("nothing is %v (%q)", got, faults)
	}
}
