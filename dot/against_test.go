package dot

import (
	"strings"
	"testing"
)

// EXECUTION.md#diff: a picture of a difference has what differs and what is next to it, and names gates and effects
// that are new or gone.
func TestAgainstDrawsWhatDiffers(t *testing.T) {
	view := func(gate, rest string) View {
		p, _ := compile(t, "plan.yaml", `
tools: {step: {type: object, properties: {x: {}}}, wipe: {type: object, properties: {x: {}}}}
activities: {wipe: {exec: {argv: [wipe]}, annotations: {destructiveHint: true, openWorldHint: false}}}
calls:
- {_id: far, _tool: step, _outputPath: far}
- {_id: near, _tool: step, x: †state.far, _outputPath: near}
- {_id: drop, _tool: wipe, x: †state.near, _outputPath: dropped`+gate+`}
- {_id: last, _tool: step, x: †state.dropped, _outputPath: last}
`+rest)
		return FromPlan(p, nil, Options{})
	}
	old, now := view(", _confirm: true", "- {_id: gone, _tool: step, x: †state.last}\n"), view("", "")
	was := func(call string) string { return call }
	v := now.Against(old, was, func(call string) bool { return call == "drop" })
	text := v.Text()
	for _, want := range []string{
		"± ▲ ↗ drop · changed; no longer: a person is asked\n", "− ✦ gone · removed\n", "near\n", "last\n",
		"1 node without a difference not drawn", "±: ", "−: ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it has no %q:\n%s", want, text)
		}
	}
	if len(v.Nodes) != 4 {
		t.Errorf("%d nodes are drawn, want 4:\n%s", len(v.Nodes), text)
	}
	same := now.Against(now, was, func(string) bool { return false })
	if len(same.Nodes) != len(now.Nodes) || strings.Contains(same.Text(), "changed") {
		t.Errorf("without a difference it is\n%s", same.Text())
	}
}
