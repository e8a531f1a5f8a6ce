package analyzer

import (
	"fmt"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/bind"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

// solved compiles a solution for a run over instances.
func solved(t *testing.T, text string, instances ...plan.Instance) (*plan.Plan, []diag.Diagnostic) {
	t.Helper()
	base, _ := compiler.Compile(source.NewFile("plan.yaml", []byte("calls: []\n")), compiler.Options{})
	return compiler.Setting{Plan: base, Instances: instances, Paths: base.Paths.Clone()}.Solve(source.NewFile("solution.yaml", []byte(text)), compiler.Options{})
}

// faultsOf writes out what Screen has against a plan, by call.
func faultsOf(d *Draft) string {
	var all []string
	for i, call := range d.Plan().Calls {
		for _, f := range d.Faults(i) {
			all = append(all, call.Name+" "+f.Rule.Code)
		}
		if d.Held(i) {
			all = append(all, call.Name+" held")
		}
	}
	for _, f := range d.Problems() {
		all = append(all, "amiss "+f.Rule.Code)
	}
	return strings.Join(all, ", ")
}

func holding(id string, keys ...string) plan.Instance {
	state := map[string]any{}
	for _, key := range keys {
		state[key] = "here"
	}
	return plan.Instance{ID: id, Values: plan.Values{State: state}}
}

// LANGUAGE.md#the-graph: what every instance of a run holds is there from the start for a
// call of all, and what its own holds for a call of one.
func TestInstancesOfARunAreKnown(t *testing.T) {
	const text = `
calls:
  - {_tool: a, _id: a, x: †state.x, y: †state.y}
  - {_tool: b, _id: b, _instance: ①, x: †state.x, y: †state.y}
  - {_tool: c, _id: c, _instance: ②, y: †state.y}
  - {_tool: d, _id: d, _outputPath: †state.x}
  - {_tool: d, _id: e, _outputPath: †state.y}
`
	p, _ := solved(t, text, holding("①", "x", "y"), holding("②", "x"))
	want := "a x true Initial, a y false Later, b x true Initial, b y true Initial, c y false Later"
	for _, view := range []*plan.Plan{p, bind.ForInstance(p, "①"), bind.ForInstance(p, "②")} {
		var got []string
		for i := range view.Reads {
			r := &view.Reads[i]
			got = append(got, fmt.Sprintf("%s %s %v %s", view.Calls[r.Call].Name, r.Ref.Path[0].Key, r.Start, map[plan.Binding]string{plan.Initial: "Initial", plan.Later: "Later"}[r.Bound]))
		}
		for _, one := range got {
			if !strings.Contains(want, one) {
				t.Errorf("%s isn't in %s", one, want)
			}
		}
	}
}

// LANGUAGE.md#instances: a run without instances has nobody for a call of one.
func TestRunWithoutInstances(t *testing.T) {
	p, found := solved(t, "calls:\n  - {_tool: a, _instance: ①}\n")
	d := Screen(p, found, nil, nil)
	if got := faultsOf(d); got != "a#1 OB606" || !strings.Contains(d.Faults(0)[0].Message, "there are no instances") {
		t.Errorf("%s: %v", got, d.Faults(0))
	}
}
