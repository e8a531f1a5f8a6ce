package session

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/runtime"
)

// The reference names every JSON field of events, questions and answers.
func TestReferenceNamesFields(t *testing.T) {
	for section, values := range map[string][]any{
		"## Events": {
			callEvent{}, tickEvent{}, askEvent{}, adviceEvent{}, waitEvent{}, instanceEvent{}, endEvent{},
			EventError{}, runtime.CallError{}, runtime.Question{},
		},
		"### Stored answers": {Answer{}},
	} {
		_, text, found := strings.Cut(runtime.Reference, section+"\n")
		text, _, _ = strings.Cut(text, "\n###")
		if !found {
			t.Fatalf("there is no section %q", section)
		}
		words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("`{}[]\",:? |()\n…", r) })
		for _, v := range values {
			for _, name := range fieldNames(reflect.TypeOf(v)) {
				if name != "event" && !slices.Contains(words, name) {
					t.Errorf("%s doesn't name %q of %T", section, name, v)
				}
			}
		}
	}
}

func fieldNames(of reflect.Type) (names []string) {
	for i := range of.NumField() {
		field := of.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous && name == "":
			names = append(names, fieldNames(field.Type)...)
		case field.IsExported() && name != "-":
			names = append(names, name)
		}
	}
	return names
}
