package runtime_test

import (
	"testing"

	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/guard"
)

// One more guard is one declaration: this one refuses every call of one tool.
func init() {
	guard.Others = append(guard.Others, func(c *guard.Call) (v guard.Verdict) {
		if c.Of.ToolName == "refused-by-a-guard" {
			v = guard.Verdict{Kind: guard.Refuse, Code: "at-night", Reason: "not before six"}
		}
		return v
	})
}

// ARCHITECTURE.md: a new guard is asked before every attempt, and what it refuses fails.
func TestAnotherGuard(t *testing.T) {
	v := verified(t, "plan.yaml", []byte("calls: [{_tool: refused-by-a-guard}, {_tool: other}]"), "refused-by-a-guard", "other")
	var started []string
	for _, c := range runtime.New(v, runtime.Options{}).Step(runtime.Event{Kind: runtime.RunBegan}) {
		switch c.Kind {
		case runtime.Start:
			started = append(started, c.Of.ToolName)
		case runtime.Settle:
			if f := c.Settlement.Failure; f == nil || f.Code != "at-night" || f.Message != "not before six" {
				t.Errorf("%+v", c.Settlement)
			}
		}
	}
	if len(started) != 1 || started[0] != "other" {
		t.Errorf("started: %q", started)
	}
}
