// Package tags compares what the tags of a struct declare ([compiler/decode]) with a published JSON Schema.
package tags

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// Agree fails where a JSON Schema, given as its parsed document and the keys that lead to the schema of a mapping, differs
// from the tags of a struct: keys that it lacks, other words, other bounds, other required keys.
func Agree(t *testing.T, document any, to any, keys ...string) {
	t.Helper()
	at := document
	for _, key := range keys {
		m, ok := at.(map[string]any)
		if !ok || m[key] == nil {
			t.Fatalf("the schema has no %s", strings.Join(keys, "."))
		}
		at = m[key]
	}
	schema := at.(map[string]any)
	properties, _ := schema["properties"].(map[string]any)
	required := map[string]bool{}
	for _, key := range list(schema["required"]) {
		required[key] = true
	}
	seen := 0
	for _, f := range reflect.VisibleFields(reflect.TypeOf(to)) {
		key, ok := f.Tag.Lookup("key")
		if !ok {
			continue
		}
		seen++
		property, ok := properties[key].(map[string]any)
		if !ok {
			t.Errorf("%s: the schema doesn't have %q", strings.Join(keys, "."), key)
			continue
		}
		if words := f.Tag.Get("words"); words != "" {
			same := map[string]bool{}
			for _, word := range list(property["enum"]) {
				same[word] = true
			}
			for word := range strings.SplitSeq(words, ",") {
				if !same[word] {
					t.Errorf("%q: the schema doesn't allow %q", key, word)
				}
				delete(same, word)
			}
			if delete(same, "null"); len(same) > 0 {
				t.Errorf("%q: only the schema allows %v", key, same)
			}
		}
		for tag, keyword := range map[string]string{"from": "minimum", "above": "exclusiveMinimum", "to": "maximum"} {
			want, _ := strconv.ParseFloat(f.Tag.Get(tag), 64)
			if got, given := property[keyword].(float64); given != (f.Tag.Get(tag) != "") || got != want {
				t.Errorf("%q: %s is %v in the schema, and %q in the tags", key, keyword, property[keyword], f.Tag.Get(tag))
			}
		}
		if needed := f.Tag.Get("need") != ""; needed != required[key] {
			t.Errorf("%q: required is %v in the schema", key, required[key])
		}
	}
	if seen == 0 {
		t.Fatalf("%T has no tags", to)
	}
}

// list are the items of a JSON list, as texts.
func list(v any) (texts []string) {
	items, _ := v.([]any)
	for _, item := range items {
		text, ok := item.(string)
		if !ok {
			raw, _ := json.Marshal(item)
			text = string(raw)
		}
		texts = append(texts, text)
	}
	return texts
}
