package dot

import (
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/compiler/plan"
)

// EXECUTION.md#diff: a picture of a difference has what differs and what is next to it, and names gates and effects
// that are new or gone.
func TestDiffDrawsWhatDiffers(t *testing.T) {
	compiled := func(gate, rest string) *plan.Plan {
		p, _ := compile(t, "plan.yaml", `
tools: {step: {type: object, properties: {x: {}}}, wipe: {type: object, properties: {x: {}}}}
activities: {wipe: {exec: {argv: [wipe]}, annotations: {destructiveHint: true, openWorldHint: false}}}
calls:
- {_id: far, _tool: step, _outputPath: far}
- {_id: near, _tool: step, x: †state.far, _outputPath: near}
- {_id: drop, _tool: wipe, x: †state.near, _outputPath: dropped`+gate+`}
- {_id: last, _tool: step, x: †state.dropped, _outputPath: last}
`+rest)
		return p
	}
	old, now := compiled(", _confirm: true", "- {_id: gone, _tool: step, x: †state.last}\n"), compiled("", "")
	was := func(call string) string { return call }
	v := FromDiff(now, old, was, map[string]bool{"drop": true})
	text := v.Text()
	for _, want := range []string{
		"± ▲ ↗ drop · changed; no longer: a person is asked\n", "− ✦ gone · removed\n", "near\n", "last\n",
		"3 of 4 calls: those near \"drop\"", "±: ", "−: ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it has no %q:\n%s", want, text)
		}
	}
	if len(v.Nodes) != 4 {
		t.Errorf("%d nodes are drawn, want 4:\n%s", len(v.Nodes), text)
	}
	v = FromDiff(now, compiled("", "- {_id: gone, _tool: step, x: †state.last}\n"), was, nil)
	if text := v.Text(); len(v.Nodes) != 3 || !strings.Contains(text, "gone · removed") || !strings.Contains(text, "last\n") {
		t.Errorf("of a call that alone is removed, and what it waited for, it is\n%s", text)
	}
	many := compiled("", strings.Repeat("- {_tool: wipe, x: †state.last}\n", 2*mermaidNodes))
	isNew := func(call string) string { return strings.Trim(call, "wipe#0123456789") }
	if text := FromDiff(many, now, isNew, nil).Text(); !strings.Contains(text, "· added ×600") {
		t.Errorf("of many new calls it says\n%s", text)
	}
	if text := FromDiff(now, many, was, nil).Text(); !strings.Contains(text, "· removed ×600") {
		t.Errorf("of many removed calls it says\n%s", text)
	}
	other := compiled(", _confirm: true", strings.Repeat("- {_tool: wipe, x: †state.last}\n", 2*mermaidNodes))
	if text := FromDiff(many, other, was, map[string]bool{"drop": true}).Text(); !strings.Contains(text, "drop · changed; no longer: a person is asked\n") {
		t.Errorf("of a changed call among many it says\n%s", text)
	}
	same := FromDiff(now, now, was, nil)
	if len(same.Nodes) != len(now.Calls) || strings.Contains(same.Text(), "changed") {
		t.Errorf("without a difference it is\n%s", same.Text())
	}
}
