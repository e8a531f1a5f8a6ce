package runtime_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/simulate"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// LANGUAGE.md#findings: a plan that checks clean never fails for what the rules look for. It is
// run with results drawn from its tools' "_output": no call fails in structure,
// none is skipped but for a branch that wasn't taken, no state violates its
// schema, and the last one is the same under every schedule.
func TestCleanPlansRunClean(t *testing.T) {
	t.Parallel()
	plans, seen, clean, rich := amount.Of(30, 90, 2000), [3]int{}, [3]int{}, [3]int{}
	careless, refused, states := 0, 0, 0
	for n := range plans {
		g := newTypedPlan(n)
		text, stateSchema := g.document()
		p, found := compiler.Compile(source.NewFile("plan.json", text), compiler.Options{Functions: slices.Sorted(maps.Keys(g.tools))})
		analysis := analyzer.Analyze(p, found, analyzer.Config{})
		v, found := analysis.Verified, analysis.Findings
		if g.careless {
			careless++
		} else {
			seen[g.schema]++
		}
		if worst(found) > diag.Info {
			if g.careless {
				refused++
				continue
			}
			t.Logf("plan %d isn't clean: %s", n, firstOf(found))
			continue
		}
		if !g.careless {
			clean[g.schema]++
		}
		if !g.careless && g.branches > 0 && g.fallbacks > 0 && g.rewrites > 0 {
			rich[g.schema]++
		}
		fits := accepting(t, stateSchema, &states)
		for seed := range uint64(amount.Of(1, 4, 4)) {
			var first *simulate.Scenario
			for s := range 50 {
				o := simulate.Options{Seed: seed, Schedule: s}
				if s < 3 {
					o.Observe = watchState(t, g, p, fits, text)
				}
				run := simulate.Run(v.Simulation(), o)
				if first == nil {
					first = run
					judgeClean(t, text, run)
					fits(t, run.Outcome.State, text)
				} else if !reflect.DeepEqual(run.Outcome.State, first.Outcome.State) {
					t.Fatalf("seed %d: schedules 0 and %d end in %v and %v\n%s", seed, s, first.Outcome.State, run.Outcome.State, text)
				}
			}
		}
	}
	t.Logf("%d of %d careless plans aren't clean; %d states fit their schema", refused, careless, states)
	if refused*3 < careless || states < plans*10 {
		t.Errorf("%d of %d careless plans aren't clean, and there were %d states; too few to show anything", refused, careless, states)
	}
	for form, name := range []string{"no state schema", "an open state schema", "a closed state schema"} {
		t.Logf("%s: %d of %d plans are clean, %d of them with alternatives, a fallback and a rewritten path", name, clean[form], seen[form], rich[form])
		if clean[form]*10 < seen[form]*9 || rich[form]*2 < clean[form] {
			t.Errorf("%s: %d of %d plans are clean, and %d of these rich; too few to show anything", name, clean[form], seen[form], rich[form])
		}
	}
}

func firstOf(found []diag.Diagnostic) string {
	for _, f := range found {
		if f.Severity > diag.Info {
			return f.Rule.Code + " " + f.Span.Text() + ": " + f.Message
		}
	}
	return ""
}

// accepting holds states against a schema, as an ordinary validator does.
func accepting(t *testing.T, stateSchema object, held *int) func(t *testing.T, state any, text []byte) {
	if stateSchema == nil {
		return func(*testing.T, any, []byte) {}
	}
	validator, err := schema.New(plain(t, stateSchema), schema.Options{}).Ordinary()
	if err != nil {
		t.Fatal(err)
	}
	return func(t *testing.T, state any, text []byte) {
		t.Helper()
		*held++
		if err := validator.Validate(plain(t, state)); err != nil {
			t.Fatalf("the state %s violates its schema: %v\n%s", inJSON(state), err, text)
		}
	}
}

// plain is a value as a reader of JSON has it.
func plain(t *testing.T, value any) (read any) {
	t.Helper()
	text, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(text, &read)
	}
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// watchState follows what is written, message by message, as the naive
// interpreter does, and looks at every state on the way.
func watchState(t *testing.T, g *typedPlan, p *plan.Plan, fits func(*testing.T, any, []byte), text []byte) func(time.Duration, runtime.Command) {
	var state any = g.initial
	return func(_ time.Duration, c runtime.Command) {
		if c.Kind != runtime.Write {
			return
		}
		var path statePath
		for _, s := range p.Paths.Segments(c.Message.Path)[1:] {
			path = append(path, segment{key: s.Key})
		}
		next, ok := written(state, path, c.Message.Method.String(), c.Message.Value)
		if !ok {
			t.Fatalf("%s can't be written into %s\n%s", path, inJSON(state), text)
		}
		state = next
		fits(t, state, text)
	}
}

func worst(found []diag.Diagnostic) diag.Severity {
	worst := diag.Info
	for _, f := range found {
		worst = max(worst, f.Severity)
	}
	return worst
}

// judgeClean holds one run against LANGUAGE.md#findings.
func judgeClean(t *testing.T, text []byte, s *simulate.Scenario) {
	t.Helper()
	if s.Outcome.Status != "done" {
		t.Fatalf("%s: %s\n%s", s.Outcome.Status, s.Outcome.Reason, text)
	}
	for _, c := range s.Calls {
		if c.Status == runtime.Skipped && !untaken(s, c.Call) {
			t.Fatalf("%s was skipped (%s) though every branch to it was taken\n%s", c.Call.Name, c.Reason, text)
		}
	}
}

// untaken reports whether some call that a skipped one reads from was skipped
// itself, or is done and wrote elsewhere.
func untaken(s *simulate.Scenario, call *plan.Call) bool {
	p := s.Plan
	for _, i := range call.Reads {
		for _, w := range p.Reads[i].Writers {
			if s.Calls[w].Status == runtime.Skipped || len(p.Calls[w].Output) > 1 {
				return true
			}
		}
	}
	return false
}
