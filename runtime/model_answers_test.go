package runtime_test

import (
	"reflect"
	"testing"
)

// What the model makes of small documents, worked out by hand from the
// contract. In these, the tool `give` results in its parameter `value` at the
// path `at`, and fails with the code `fail`.
var answers = []struct {
	name, document string
	status         string // one letter a call: done, failed or skipped
	state, output  string
	errors         string // code by call; "" is none
	nothing        bool   // the output comes to nothing
}{
	{
		name: "a fallback skips what is absent or null, and false is there",
		document: `{"state": {"no": false}, "calls": [
			{"_tool": "give", "value": null, "_outputPath": "nothing"},
			{"_tool": "give", "value": "†state.gone || †state.nothing || †state.no || 7", "_outputPath": "a"},
			{"_tool": "give", "value": "†state.nothing || null", "_outputPath": "b"},
			{"_tool": "give", "value": "†state.nothing", "_outputPath": "c"},
			{"_tool": "give", "value": "†state.nothing || †state.gone", "_outputPath": "d"},
			{"_tool": "give", "value": "†state.gone || (†state.nothing || null)", "_outputPath": "e"}]}`,
		status: "ddddss", state: `{"nothing": null, "no": false, "a": false, "b": null, "c": null}`,
	},
	{
		name: "a gate is the last operand when all are there; && binds tighter; parentheses group",
		document: `{"input": {"x": 1, "y": 0}, "calls": [
			{"_tool": "give", "value": "†input.x && †input.y", "_outputPath": "a"},
			{"_tool": "give", "value": "†input.z && †input.x || †input.y", "_outputPath": "b"},
			{"_tool": "give", "value": "†(†input.z || †input.x) && †input.y", "_outputPath": "c"},
			{"_tool": "give", "value": "†input.x && †input.z", "_outputPath": "d"},
			{"_tool": "give", "value": "††input.x", "_outputPath": "e"}]}`,
		status: "dddsd", state: `{"a": 0, "b": 0, "c": 0, "e": "†input.x"}`,
	},
	{
		name: "dead paths die out, a false condition skips, any settlement will do for _after",
		document: `{"calls": [
			{"_tool": "give", "value": false, "_outputPath": "flag"},
			{"_tool": "give", "_id": "two", "value": 1, "_when": "†state.flag", "_outputPath": "a"},
			{"_tool": "give", "value": "†state.a", "_outputPath": "b"},
			{"_tool": "give", "value": 2, "_after": {"settled": ["two"]}, "_outputPath": "c"}],
			"output": {"a": "†state.a", "c": "†state.c", "list": ["†state.b", 1]}}`,
		status: "dssd", state: `{"flag": false, "c": 2}`, output: `{"c": 2, "list": [1]}`,
	},
	{
		name: "a comparison has no value while an operand is absent, and one with null has",
		document: `{"input": {"n": 3, "none": null}, "calls": [
			{"_tool": "give", "value": 1, "_when": "†input.n > 2", "_outputPath": "a"},
			{"_tool": "give", "value": 2, "_when": "†input.n <= 2", "_outputPath": "b"},
			{"_tool": "give", "value": 3, "_when": "†state.b != null", "_outputPath": "c"},
			{"_tool": "give", "value": 4, "_when": "†input.none == null", "_outputPath": "d"},
			{"_tool": "give", "value": "†input.n >= 3 && †input.n", "_outputPath": "e"}]}`,
		status: "dssdd", state: `{"a": 1, "d": 4, "e": 3}`,
	},
	{
		name:     "an absent whole output is null, and the run failed",
		document: `{"calls": [{"_tool": "give", "value": "†input.x", "_outputPath": "a"}], "output": "†state.a"}`,
		status:   "s", state: `{}`, nothing: true,
	},
	{
		name:     "an output that its author lets be null",
		document: `{"calls": [{"_tool": "give", "value": "†input.x", "_outputPath": "a"}], "output": "†state.a || null"}`,
		status:   "s", state: `{}`,
	},
	{
		name:     "an output of which no leaf is there, but for what holds them",
		document: `{"calls": [{"_tool": "give", "value": "†input.x", "_outputPath": "a"}], "output": {"a": ["†state.a"], "b": {}}}`,
		status:   "s", state: `{}`, output: `{"a": [], "b": {}}`, nothing: true,
	},
	{
		name: "a failure is set on every path of the last alternative, and is unrouted without one",
		document: `{"calls": [
			{"_tool": "give", "value": 1, "fail": "busy", "_outputPath": "a || b || e && f.g"},
			{"_tool": "give", "value": "†state.e.code", "_outputPath": "seen"},
			{"_tool": "give", "value": 1, "fail": "down", "_outputPath": "c"}]}`,
		status: "fdf", errors: `{"give#3": "down"}`,
		state: `{"e": {"code": "busy", "message": "", "details": null}, "f": {"g": {"code": "busy", "message": "", "details": null}}, "seen": "busy"}`,
	},
	{
		name: "the activity names its alternative; a path that isn't offered is a runtime error",
		document: `{"calls": [
			{"_tool": "give", "value": 1, "at": "b", "_outputPath": "a || b || c"},
			{"_tool": "give", "value": 2, "at": "x", "_outputPath": "d || e"}]}`,
		status: "df", state: `{"b": 1, "e": {"code": "bad-output", "message": "", "details": null}}`,
	},
	{
		name: "set replaces exactly its path; merge is deep and keeps nulls; assign is shallow",
		document: `{"state": {"p": {"q": 1, "r": {"s": 1, "t": 2}}, "o": {"r": {"s": 1}}}, "calls": [
			{"_tool": "give", "value": 5, "_outputPath": "p.q"},
			{"_tool": "give", "value": {"r": {"s": null, "u": 3}}, "_outputPath": "p", "_outputMethod": "merge"},
			{"_tool": "give", "value": {"r": {"v": 4}}, "_outputPath": "o", "_outputMethod": "assign", "_after": ["y"]},
			{"_tool": "give", "_id": "y", "value": 1, "_outputPath": "n.deep"}]}`,
		status: "dddd", state: `{"p": {"q": 5, "r": {"s": null, "t": 2, "u": 3}}, "o": {"r": {"v": 4}}, "n": {"deep": 1}}`,
	},
	{
		name: "push and concat add in topological order; an index equal to the length appends",
		document: `{"state": {"list": [1]}, "calls": [
			{"_tool": "give", "value": "†state.late", "_outputPath": "x", "_outputMethod": "push"},
			{"_tool": "give", "value": [2, 3], "_outputPath": "x", "_outputMethod": "concat"},
			{"_tool": "give", "value": 9, "_outputPath": "late"},
			{"_tool": "give", "value": 4, "_outputPath": "list[1]"},
			{"_tool": "give", "value": 4, "_outputPath": "list[2]"}]}`,
		status: "ddddd", state: `{"list": [1, 4, 4], "late": 9, "x": [2, 3, 9]}`,
	},
	{
		name: "an item goes behind those of the calls that come before its writer in the graph",
		document: `{"input": {"x": 3}, "calls": [
			{"_tool": "give", "value": 1, "_outputPath": "list[0] && y"},
			{"_tool": "give", "value": "†input.x || †state.y", "_outputPath": "list[1]"},
			{"_tool": "give", "value": 4, "_outputPath": "list[3] || e"}]}`,
		status: "ddf", state: `{"list": [1, 3], "y": 1, "e": {"code": "bad-output", "message": "", "details": null}}`,
	},
	{
		name: "a base of another kind refuses the write",
		document: `{"state": {"text": "t", "object": {}}, "calls": [
			{"_tool": "give", "value": 1, "_outputPath": "text.key || e1"},
			{"_tool": "give", "value": 1, "_outputPath": "object", "_outputMethod": "push"}]}`,
		status: "ff", errors: `{"give#2": "bad-output"}`,
		state: `{"text": "t", "object": {}, "e1": {"code": "bad-output", "message": "", "details": null}}`,
	},
	{
		name: "a read sees the writers listed before it alone",
		document: `{"calls": [
			{"_tool": "give", "value": "draft", "_outputPath": "text"},
			{"_tool": "give", "value": {"saw": "†state.text"}, "_outputPath": "first"},
			{"_tool": "give", "value": ["†state.text"], "_outputPath": "text"},
			{"_tool": "give", "value": {"saw": "†state.text"}, "_outputPath": "second"}],
			"output": "†state.text"}`,
		status: "dddd", state: `{"text": ["draft"], "first": {"saw": "draft"}, "second": {"saw": ["draft"]}}`, output: `["draft"]`,
	},
	{
		name: "what is known from the start needs no later writer; what isn't waits for one",
		document: `{"state": {"a": 1}, "calls": [
			{"_tool": "give", "value": ["†state.a", "†state.b"], "_outputPath": "c"},
			{"_tool": "give", "value": 2, "_outputPath": "a"},
			{"_tool": "give", "value": 3, "_outputPath": "b"}]}`,
		status: "ddd", state: `{"a": 2, "b": 3, "c": [1, 3]}`,
	},
	{
		name: "once: the first offer in plan order that can gives the value",
		document: `{"writes": "once", "state": {"start": 0}, "calls": [
			{"_tool": "give", "value": 1, "fail": "down", "_outputPath": "a || e"},
			{"_tool": "give", "value": "†state.late", "_outputPath": "a"},
			{"_tool": "give", "value": 3, "_outputPath": "a.deep"},
			{"_tool": "give", "value": 4, "_outputPath": "start"},
			{"_tool": "give", "value": 5, "_outputPath": "late"}],
			"output": "†state.a"}`,
		status: "fdssd", state: `{"start": 0, "a": 5, "late": 5, "e": {"code": "down", "message": "", "details": null}}`, output: `5`,
	},
	{
		name: "once: nothing but a failure record may stand where a failure goes",
		document: `{"writes": "once", "state": {"e": 1}, "calls": [
			{"_tool": "give", "value": 1, "fail": "x", "_outputPath": "a || e"},
			{"_tool": "give", "value": 1, "_outputPath": "g"},
			{"_tool": "give", "value": 1, "fail": "y", "_outputPath": "b || g"},
			{"_tool": "give", "value": 1, "fail": "z", "_outputPath": "c || h"},
			{"_tool": "give", "value": 1, "fail": "w", "_outputPath": "d || h"}]}`,
		status: "fdfff", errors: `{"give#1": "x", "give#3": "y"}`,
		state: `{"e": 1, "g": 1, "h": {"code": "z", "message": "", "details": null}}`,
	},
	{
		name: "once: a result doesn't go to a failure route that is taken",
		document: `{"writes": "once", "state": {"e": 1}, "calls": [
			{"_tool": "give", "value": 1, "at": "e", "_outputPath": "a || e"},
			{"_tool": "give", "value": 2, "at": "f", "_outputPath": "b || f"}]}`,
		status: "fd", errors: `{"give#1": "bad-output"}`, state: `{"e": 1, "f": 2}`,
	},
	{
		name: "of several failure records on one path the first-listed call's stands",
		document: `{"calls": [
			{"_tool": "give", "value": "†state.late", "fail": "first", "_outputPath": "a || e"},
			{"_tool": "give", "value": 1, "fail": "second", "_outputPath": "b || e"},
			{"_tool": "give", "value": 1, "_outputPath": "late"},
			{"_tool": "give", "value": "†state.e.code", "_outputPath": "seen"}]}`,
		status: "ffdd", state: `{"late": 1, "e": {"code": "first", "message": "", "details": null}, "seen": "first"}`,
	},
	{
		name: "retries apply to runtime errors, not to parameters that the schema rejects",
		document: `{"tools": {"strict": {"type": "object", "properties": {"value": {"type": "integer"}}, "required": ["value"]},
			"even": {"type": "object", "_output": {"type": "integer", "enum": [2, 4]}}}, "calls": [
			{"_tool": "give", "value": 1, "fail": "down", "until": 3, "_retry": {"attempts": 3}, "_outputPath": "a"},
			{"_tool": "give", "value": 1, "fail": "down", "until": 4, "_retry": {"attempts": 3}, "_outputPath": "b || e"},
			{"_tool": "strict", "value": "†state.word", "_outputPath": "c || f"},
			{"_tool": "even", "value": 3, "_outputPath": "d || g"},
			{"_tool": "give", "value": "one", "_outputPath": "word"}]}`,
		status: "dfffd", errors: `{"strict#3": "structural"}`,
		state: `{"a": 1, "word": "one", "e": {"code": "down", "message": "", "details": null}, "g": {"code": "bad-output", "message": "", "details": null}}`,
	},
	{
		name: "alternatives of fan-outs",
		document: `{"calls": [
			{"_tool": "give", "value": 1, "_outputPath": "†state.a && †state.b || †state.a && c[\"the key\"]"},
			{"_tool": "give", "value": 2, "at": "z", "_outputPath": "x || y && z"}]}`,
		status: "dd", state: `{"a": 1, "b": 1, "y": 2, "z": 2}`,
	},
}

func give(_ string, attempt int, params map[string]any) (any, string, *failure) {
	until := 99
	if n, ok := params["until"].(float64); ok {
		until = int(n)
	}
	if code, fails := params["fail"].(string); fails && attempt < until {
		return nil, "", &failure{Code: code}
	}
	at, _ := params["at"].(string)
	return params["value"], at, nil
}

func TestModelAnswers(t *testing.T) {
	for _, want := range answers {
		t.Run(want.name, func(t *testing.T) {
			doc := parsed(want.document).(map[string]any)
			for s := range 30 {
				got := interpret(doc, give, schedule(s))
				status := ""
				for _, c := range readPlan(doc).calls {
					status += got.Status[c.name][:1]
				}
				errors := map[string]any{}
				for call, code := range got.Errors {
					errors[call] = code
				}
				expected, _ := parsed(want.errors).(map[string]any)
				if len(expected) != len(errors) || len(errors) > 0 && !reflect.DeepEqual(errors, expected) {
					t.Errorf("errors %v, expected %v", errors, expected)
				}
				if (got.Run == "failed") != (len(expected) > 0 || want.nothing) {
					t.Errorf("the run is %s, with %d errors", got.Run, len(expected))
				}
				if status != want.status {
					t.Errorf("settlements %s, expected %s", status, want.status)
				}
				if !reflect.DeepEqual(got.State, parsed(want.state)) {
					t.Errorf("state %v, expected %v", got.State, parsed(want.state))
				}
				if !reflect.DeepEqual(got.Output, parsed(want.output)) {
					t.Errorf("output %v, expected %v", got.Output, parsed(want.output))
				}
				if t.Failed() {
					return
				}
			}
		})
	}
}
