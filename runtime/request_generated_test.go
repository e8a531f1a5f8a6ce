package runtime_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime/request"
	"github.com/obelus-dev/obelus/testdata/amount"
	"github.com/santhosh-tekuri/jsonschema/v5"
)

// Whatever a plan's calls use, a planner that is shown it may repeat it, and the
// two make a process record that compiles without errors.
func TestRequestsOfGeneratedPlans(t *testing.T) {
	t.Parallel()
	cases, asked := amount.Of(50, 200, 6000), 0
	for seed := range uint64(cases) {
		doc := generatePlan(rand.New(rand.NewPCG(seed, 21)))
		text, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		p, found := compiler.Compile(source.NewFile("plan.json", text), compiler.Options{})
		if diag.HasErrors(found) {
			continue
		}
		asked++
		r := firstRequest(p)
		solution := map[string]any{"calls": doc["calls"], "output": doc["output"]}
		compiled := jsonschema.NewCompiler()
		if err := compiled.AddResource("request.json", strings.NewReader(request.JSON(r.Schema))); err != nil {
			t.Fatal(err)
		}
		s, err := compiled.Compile("request.json")
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		var plain any
		if text, err = json.Marshal(solution); err == nil {
			err = json.Unmarshal(text, &plain)
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(plain); err != nil {
			t.Errorf("seed %d: %#v\n%s", seed, err, text)
		}
		record := fmt.Appendf(nil, `{"schema":%s,"context":%s,"solution":%s}`, request.JSON(r.Schema), r.ContextJSON(), text)
		again, found := compiler.Compile(source.NewFile("record.json", record), compiler.Options{})
		if diag.HasErrors(found) || again.Form != plan.ProcessRecord || len(again.Calls) != len(p.Calls) {
			t.Errorf("seed %d: a %v with %v\n%s", seed, again.Form, found, record)
		}
	}
	if asked < cases/2 {
		t.Errorf("only %d plans", asked)
	}
}

// firstRequest is what a planner is asked first about a plan without instances.
func firstRequest(p *plan.Plan) *request.Request {
	c := request.Context{Plan: p, Tick: 1, Input: p.Input, State: p.State, Data: p.Data, Errors: p.Errors, Carries: p.CallsNode != nil}
	for _, call := range p.Calls {
		c.Carried = append(c.Carried, request.Standing{Call: call.Node, Name: call.Name})
	}
	return request.Compose(c)
}
