package compiler

import (
	"fmt"
	"testing"

	"github.com/obelus-dev/obelus/compiler/bind"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

func planOf(text string) *plan.Plan {
	p, _ := Compile(source.NewFile("plan.yaml", []byte(text)), Options{})
	return p
}

// LANGUAGE.md#instances: instances that run the same calls share one plan.
func TestViewsAreShared(t *testing.T) {
	p := planOf("instances: {a: {}, b: {}, c: {stateSchema: {type: object}}}\ncalls: [{_tool: x}]")
	if bind.ForInstance(p, "a") != p || bind.ForInstance(p, "b") != p || bind.ForInstance(p, "unknown") != p || p.Targets != nil {
		t.Error("a plan in which all calls are for all isn't its own view")
	}
	if c := bind.ForInstance(p, "c"); c == p || c.StateSchema == nil || p.StateSchema != nil || c.Calls[0] != p.Calls[0] || len(c.Instances) != 1 {
		t.Error("an instance's own state schema isn't in its view, or costs more than that")
	}
	p = planOf("instances: {a: {}, b: {}, c: {}}\ncalls: [{_tool: x}, {_tool: y, _instance: a}]")
	if bind.ForInstance(p, "a") != p {
		t.Error("the view from which nothing is left out isn't the plan")
	}
	if b := bind.ForInstance(p, "b"); b == p || b != bind.ForInstance(p, "c") || len(b.Calls) != 1 || len(b.Instances) != 2 {
		t.Error("instances without calls of their own don't share their view")
	}
}

// LANGUAGE.md#instances: a state message of an instance brings it a state and a schema.
func TestInstanceMessages(t *testing.T) {
	p := planOf(`
context:
  - {type: state, schema: {type: object}, text: shared}
  - {type: state, _instance: ①, text: mine, schema: {required: [text]}}
  - {type: state, _instance: ①, state: {more: 1}}
  - {type: input, _instance: ②, name: Jane}
calls: []`)
	if len(p.Instances) != 2 {
		t.Fatalf("instances: %v", p.Instances)
	}
	one, two := p.Instances[0], p.Instances[1]
	if got := fmt.Sprint(one.State, one.Input, two.State, two.Input); got != "map[more:1 text:mine] <nil> <nil> map[name:Jane]" {
		t.Errorf("values: %s", got)
	}
	if one.StateSchema == nil || two.StateSchema != nil || p.StateSchema == nil {
		t.Error("the schema of an instance's message isn't the instance's own")
	}
}
