package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
)

// LANGUAGE.md#tools-and-activities: whatever a plan holds, no command lets a character reach a terminal that
// would act on it or turn its neighbours round, and JSON stays the same value.
func TestNothingRawOnATerminal(t *testing.T) {
	before := terminal.Seen
	defer func() { terminal.Seen = before }()
	terminal.Seen = func(any) bool { return true }
	t.Chdir(t.TempDir())
	const hostile = "\u009b31m\u202ebad\u2066\u2028\u200b\u007f"
	escaped := "" // as it may stand in a text that is to be read
	for _, r := range hostile {
		escaped += fmt.Sprintf("\\u%04x", r)
	}
	write(t, map[string]string{
		"plan.yaml": "plan: \"" + escaped + "\"\ndescription: \"" + escaped + "\"\ninput: {a: \"" + escaped + "\"}\nstate: {s: \"" + escaped + "\"}\n" +
			"calls:\n- {_tool: t, _id: c, x: \"" + escaped + "\", _outputPath: o}\n- {_tool: t, x: †state.o, _outputPath: p, _reasoningForCall: \"" + escaped + "\"}\n" +
			"activities: {t: {expr: \"x + '" + escaped + "'\"}}\noutput: †state.p\n",
		"bad.yaml":   "calls:\n- {_tool: \"" + escaped + "\", \"_outputPth\": \"" + escaped + "\"}\nexta: \"" + hostile + "\"\nlimts: {}\n",
		"mend.yaml":  "tools: {t: {type: object}}\ncalls: # \u202e\u2066\n- {_tool: t, _outputpath: \"a\"} # \u202e\n",
		"fail.yaml":  "calls: [{_tool: t}]\nactivities: {t: {exec: {argv: [sh, -c, \"printf '" + `\\\\302\\\\233\\\\342\\\\200\\\\256` + "' >&2; exit 1\"]}}}\n",
		"a.json":     `{"type":"string","const":"` + "\u202e\u009b" + `"}`,
		"b.json":     `{"type":"number"}`,
		"in.jsonl":   `{"id":"i","input":{"a":"` + "\u202e\u009b" + `"}}` + "\n",
		"state.json": `{"s":"` + "\u202e\u009b" + `"}`,
	})
	var said int
	for _, command := range []string{
		"compile plan.yaml", "compile bad.yaml", "compile --format json bad.yaml", "graph plan.yaml", "graph --format mermaid plan.yaml", "graph bad.yaml", "check plan.yaml", "check bad.yaml", "check --format json bad.yaml",
		"check --format sarif bad.yaml", "check --format github bad.yaml", "check --explain bad.yaml", "check --diff mend.yaml", "simulate plan.yaml", "simulate --format json plan.yaml", "run plan.yaml --runs runs",
		"run plan.yaml --runs runs --format json", "run fail.yaml --runs runs --confirm never", "run fail.yaml --runs runs --confirm never --format json", "run bad.yaml", "runs --runs runs", "runs --runs runs --format json",
		"run plan.yaml --runs runs --instances in.jsonl", "run plan.yaml --runs runs --state @state.json", "explain \u202e\u009b", "check \u202e\u009b.yaml",
		"run plan.yaml --input \u202e\u009b", "resume \u202e\u009b --runs runs",
	} {
		var out bytes.Buffer
		run(context.Background(), strings.Fields(command), strings.NewReader(""), &out, &out)
		for _, r := range out.String() {
			if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029') {
				t.Errorf("obelus %q writes %U:\n%.600q", command, r, out.String())
				break
			}
		}
		if said += out.Len(); command == "check --diff mend.yaml" && !strings.Contains(out.String(), "+- {_tool: t, _outputPath:") {
			t.Errorf("nothing was mended: %s", out.String())
		}
		if command == "compile plan.yaml" {
			var plan struct{ State map[string]string }
			if err := json.Unmarshal(out.Bytes(), &plan); err != nil || plan.State["s"] != hostile {
				t.Errorf("the compiled plan is another value on a terminal: %v, %q", err, plan.State["s"])
			}
		}
	}
	if said < 5000 {
		t.Errorf("little was said: %d bytes", said)
	}
}
