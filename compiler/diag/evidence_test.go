package diag

import (
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/compiler/source"
)

// LANGUAGE.md#findings: people see the evidence when they ask for it, on one line if
// it fits, and nothing in it acts on the terminal.
func TestEvidence(t *testing.T) {
	f := source.NewFile("a.yaml", []byte("calls: []\n"))
	type event struct {
		Call   string `json:"call"`
		Output any    `json:"output"`
	}
	d := Diagnostic{Rule: WriteConflict, Severity: Error, Span: source.Span{File: f, Start: 0, End: 5}, Message: "m"}
	for _, c := range []struct {
		witness any
		want    string
	}{
		{map[string]any{"value": "a,b: \"c\\\" "}, "  = evidence:\n    {\"value\":\"a,b: \\\"c\\\\\\\" \"}\n\n"},
		{[]any{}, "  = evidence:\n    []\n\n"},
		{"\x1b[31m\u202e", "  = evidence:\n    \"\\u001b[31m<U+202E>\"\n\n"},
		{map[string]any{"schedules": [][]event{{{"first", 1}}, {{"second", "a text that makes the whole longer than a line"}}}},
			"  = evidence:\n" +
				"    {\n" +
				"      \"schedules\": [\n" +
				"        [\n" +
				"          {\n" +
				"            \"call\": \"first\",\n" +
				"            \"output\": 1\n" +
				"          }\n" +
				"        ],\n" +
				"        [\n" +
				"          {\n" +
				"            \"call\": \"second\",\n" +
				"            \"output\": \"a text that makes the whole longer than a line\"\n" +
				"          }\n" +
				"        ]\n" +
				"      ]\n" +
				"    }\n\n"},
	} {
		d.Witness = c.witness
		var with, without strings.Builder
		if err := Text(&with, []Diagnostic{d}, TextOptions{Width: 60, Evidence: true}); err != nil {
			t.Fatal(err)
		}
		if err := Text(&without, []Diagnostic{d}, TextOptions{Width: 60}); err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimPrefix(with.String(), strings.TrimSuffix(without.String(), "\n")); got != c.want {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
		if strings.Contains(without.String(), "evidence") {
			t.Error("evidence is shown to who didn't ask for it")
		}
	}
}
