package session

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/runtime"
)

// The reference names every JSON field of events, questions and answers.
func TestReferenceNamesFields(t *testing.T) {
	for section, values := range map[string][]any{
		"## Events":          append(everyEvent(t), runtime.CallError{}, runtime.Question{}),
		"### Stored answers": {Answer{}},
	} {
		_, text, found := strings.Cut(runtime.Reference, section+"\n")
		text, _, _ = strings.Cut(text, "\n###")
		if !found {
			t.Fatalf("there is no section %q", section)
		}
		words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("`{}[]\",:? |()\n…", r) })
		for _, v := range values {
			names, isEvent := v.([]string)
			if !isEvent {
				names = fieldNames(reflect.TypeOf(v))
			}
			for _, name := range names {
				if name != "event" && !slices.Contains(words, name) {
					t.Errorf("%s doesn't name %q of %T", section, name, v)
				}
			}
		}
	}
}

// everyEvent are the keys of an event of each kind that has every key.
func everyEvent(t *testing.T) (keys []any) {
	var written bytes.Buffer
	e := NewEvents(&written, "journal")
	call := func(kind runtime.CommandKind) runtime.Command {
		return runtime.Command{Kind: kind, Try: runtime.Try{Tick: 1}, Of: &plan.Call{}, Uncertainty: "doubt",
			Site: &runtime.Site{Tries: []int{2}}, Question: &runtime.Question{},
			Settlement: &runtime.Settlement{Status: runtime.Failed, Failure: &runtime.Failure{Code: "error"}, Decision: &runtime.Decision{}},
			End:        &runtime.TickEnd{Usage: runtime.Usage{InputTokens: 1}}, Left: &runtime.InstanceEnd{}}
	}
	kinds := []runtime.CommandKind{runtime.Start, runtime.Settle, runtime.Plan, runtime.EndTick, runtime.Advise, runtime.Ask, runtime.Leave}
	for _, kind := range kinds {
		e.Observe(0, call(kind))
	}
	e.Waits("reason")
	for _, instances := range [][]runtime.InstanceEnd{nil, {{ID: "status"}}} {
		if err := e.End(&runtime.Outcome{Instances: instances, Usage: runtime.Usage{InputTokens: 1}, Why: "why"}); err != nil {
			t.Fatal(err)
		}
	}
	var gather func(v any) []string
	gather = func(v any) (names []string) {
		of, _ := v.(map[string]any)
		for key, value := range of {
			names = append(names, key)
			if key != "question" && key != "decision" { // which are described apart
				names = append(names, gather(value)...)
			}
		}
		return names
	}
	lines := bytes.SplitAfter(bytes.TrimSpace(written.Bytes()), []byte("\n"))
	if len(lines) != len(kinds)+3 {
		t.Fatalf("%d events", len(lines))
	}
	for _, line := range lines {
		var event any
		if err := json.Unmarshal(line, &event); err != nil {
			t.Fatal(err)
		}
		keys = append(keys, gather(event))
	}
	return keys
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
