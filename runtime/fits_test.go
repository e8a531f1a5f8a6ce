package runtime_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// A write that doesn't fit is an error of the call that makes it, when it makes it,
// and what others wrote stays; one that fits stays as well. A plan that
// shows beforehand that something can't fit is refused (OB405).
func TestWritesThatDoNotFit(t *testing.T) {
	for name, c := range map[string]struct{ plan, refused, errors, state string }{
		"two calls of which each may write where the other does": {
			plan: `{"calls": [{"_id": "c0", "_tool": "give", "value": 1, "_outputPath": "p && s"}, {"_id": "c1", "_tool": "give", "value": "†state.q", "_outputPath": "rows.total"},
				{"_id": "c2", "_tool": "give", "value": "†state.p", "_outputPath": "rows[0] && q"}, {"_id": "c3", "_tool": "give", "value": "†state.s", "_outputPath": "s"}]}`,
			refused: "OB405",
		},
		"an index and a key in one call":        {plan: `{"calls": [{"_tool": "give", "value": 1, "_outputPath": "†state.d[0] && †state.d.k"}]}`, refused: "OB405"},
		"an index beside a key":                 {plan: `{"calls": [{"_tool": "give", "value": 1, "_outputPath": "a[0]"}, {"_tool": "give", "value": 1, "_outputPath": "a.k"}]}`, refused: "OB405"},
		"a failure record beside an item":       {plan: `{"calls": [{"_tool": "give", "value": 1, "_outputPath": "log[0]"}, {"_tool": "give", "value": 1, "_outputPath": "r || log.error"}]}`, refused: "OB405"},
		"push and merge":                        {plan: `{"calls": [{"_tool": "give", "value": 1, "_outputPath": "a", "_outputMethod": "push"}, {"_tool": "give", "value": {"x": 1}, "_outputPath": "a", "_outputMethod": "merge"}]}`, refused: "OB405"},
		"a key of a text that the state has":    {plan: `{"state": {"a": "s"}, "calls": [{"_tool": "give", "value": 1, "_outputPath": "a.b"}]}`, refused: "OB405"},
		"an item of a list that isn't there":    {plan: `{"calls": [{"_tool": "give", "value": 1, "_outputPath": "a[1]"}]}`, refused: "OB405"},
		"items of two calls":                    {plan: `{"calls": [{"_tool": "give", "value": 1, "_outputPath": "a[0]"}, {"_tool": "give", "value": 2, "_outputPath": "a[1]"}]}`, state: `{"a": [1, 2]}`},
		"items of one call":                     {plan: `{"calls": [{"_tool": "give", "value": 1, "_outputPath": "a[0] && a[1]"}]}`, state: `{"a": [1, 1]}`},
		"a key of a state that has become text": {plan: `{"calls": [{"_tool": "give", "value": "text", "_outputPath": "†state"}, {"_tool": "give", "value": "†state", "_outputPath": "a"}]}`, errors: `{"give#2": "bad-output"}`, state: `"text"`},
		"nothing is added to nothing":           {plan: `{"calls": [{"_tool": "give", "value": [], "_outputPath": "a", "_outputMethod": "concat"}]}`, state: `{"a": []}`},
		"an alternative that the state schema rejects behind a path that has no place": {
			plan:  `{"stateSchema": {"properties": {"n": {"type": "integer"}}}, "calls": [{"_id": "first", "_tool": "give", "value": 7, "_outputPath": "a"}, {"_tool": "give", "value": "text", "_after": ["first"], "_outputPath": "a.b && n || other || failure"}]}`,
			state: `{"a": 7, "other": "text"}`,
		},
		"merges of what isn't an object": {
			plan:   `{"calls": [{"_tool": "give", "value": "text", "_outputPath": "a", "_outputMethod": "merge"}, {"_tool": "give", "value": {"x": 1}, "_outputPath": "a", "_outputMethod": "merge"}, {"_tool": "give", "value": {"y": 1}, "_outputPath": "a", "_outputMethod": "assign"}]}`,
			errors: `{"give#2": "bad-output", "give#3": "bad-output"}`, state: `{"a": "text"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			doc := parsed(c.plan).(map[string]any)
			doc["tools"] = map[string]any{"give": map[string]any{"type": "object", "additionalProperties": true}}
			v, why := compileGenerated(t, doc)
			if v == nil || c.refused != "" {
				if v != nil || !strings.HasPrefix(why, c.refused) || c.refused == "" {
					t.Fatalf("refused for %q, expected %q", why, c.refused)
				}
				return
			}
			expected, _ := parsed(c.errors).(map[string]any)
			for s := range 10 {
				got := drive(t, v, give, schedule(s))
				errors := map[string]any{}
				for call, code := range got.Errors {
					errors[call] = code
				}
				if len(errors) != len(expected) || len(errors) > 0 && !reflect.DeepEqual(errors, expected) {
					t.Errorf("errors %v, expected %v", errors, expected)
				}
				if want := parsed(c.state); !reflect.DeepEqual(got.State, want) {
					t.Errorf("state %v, expected %v", got.State, want)
				}
			}
		})
	}
}

// What is judged, and what is read, hangs on the graph and not on what had been written
// by chance.
func TestNeighboursInAList(t *testing.T) {
	for name, calls := range map[string]string{
		"a read of an item sees what its own writers made of the list": `
			{"_tool": "give", "value": 1, "_outputPath": "a[0]", "_outputMethod": "push"}, {"_tool": "give", "value": 2, "_outputPath": "a", "_outputMethod": "push"},
			{"_tool": "give", "value": "†state.a[1]", "_outputPath": "b"}`,
		"a push may move what another is pushed to": `
			{"_tool": "give", "value": 1, "_outputPath": "b[0]", "_outputMethod": "push"}, {"_tool": "give", "value": 2, "_outputPath": "b", "_outputMethod": "push"},
			{"_tool": "give", "value": 3, "_outputPath": "b[0]", "_outputMethod": "push"}`,
	} {
		t.Run(name, func(t *testing.T) {
			doc := parsed(`{"calls": [` + calls + `]}`).(map[string]any)
			doc["tools"] = map[string]any{"give": map[string]any{"type": "object", "additionalProperties": true}}
			v, why := compileGenerated(t, doc)
			if v == nil {
				t.Fatal(why)
			}
			want := interpret(doc, give, schedule(0))
			want.Trace = nil
			for s := range 20 {
				if got := drive(t, v, give, schedule(s)); !reflect.DeepEqual(got, want) {
					t.Fatalf("schedule %d: %s, and the model %s", s, show(got), show(want))
				}
			}
		})
	}
}

// parsed is a value written as JSON; nil for "".
func parsed(text string) (value any) {
	if text != "" {
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			panic(err)
		}
	}
	return value
}
