package runtime_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/analyzer/permit"
	"github.com/obelus-dev/obelus/runtime"
)

// held is a run of a plan under its own permit, or a narrower one, and what was started
// by tool.
type held struct {
	*simulator
	starts map[string]int
	left   []permit.Difference // about which people were asked
}

func hold(t *testing.T, text string, narrow func(e *permit.Permit), solutions ...string) *held {
	v, e := approved(t, text)
	if len(solutions) == 0 {
		e = permit.Of(facts.Of(v.Plan(), facts.Options{}), e.Parts)
	}
	if narrow != nil {
		narrow(e)
	}
	h := &held{starts: map[string]int{}}
	h.simulator = &simulator{t: t, verified: v, solutions: solutions, act: approvedResults, order: rand.New(rand.NewPCG(1, 1))}
	h.checks = func(c runtime.Command) { h.starts[c.Of.ToolName]++ }
	h.decide = func(q *runtime.Question) runtime.Decision {
		h.left = append(h.left, q.Outside...)
		return runtime.Decision{Verdict: runtime.Reject}
	}
	h.options = runtime.Options{Planned: len(solutions) > 0, Permit: e}
	return h
}

func fails(string, int, map[string]any) (any, string, *failure) {
	return nil, "", &failure{Code: "error", Message: "no"}
}

const oneRefund = "tools: {refund: {properties: {amount: {}, _output: {}}}}\ncalls:\n- {_tool: refund, amount: 20, _outputPath: refunded}\n"

// EXECUTION.md#permits: a budget counts over tries, ticks, kills and resumes, and is never renewed.
func TestPermitBudgetsAreCumulative(t *testing.T) {
	refund := `{"_tool":"refund","amount":20,"_outputPath":"refunded"}`
	for name, run := range map[string]func(t *testing.T) *held{
		"tries": func(t *testing.T) *held {
			h := hold(t, strings.Replace(oneRefund, "amount: 20", "amount: 20, _retry: {attempts: 5}", 1), func(e *permit.Permit) { e.Calls[0].Times = 1 },
				solutionOf(strings.Replace(refund, `"amount"`, `"_retry":{"attempts":5},"amount"`, 1)), noMore)
			h.act = fails
			return h
		},
		"ticks": func(t *testing.T) *held {
			h := hold(t, oneRefund, nil, solutionOf(refund), solutionOf(strings.Replace(refund, "refunded", "again", 1)), solutionOf(refund), noMore)
			h.act = fails
			return h
		},
		"a kill": func(t *testing.T) *held {
			h := hold(t, oneRefund, nil, solutionOf(refund), noMore)
			killed := false
			h.watch = func(c runtime.Command) {
				if c.Kind == runtime.Start && !killed {
					killed = true
					h.kill()
				}
			}
			return h
		},
		"a plan without a model, killed": func(t *testing.T) *held {
			h := hold(t, oneRefund, nil)
			killed := false
			h.watch = func(c runtime.Command) {
				if c.Kind == runtime.Start && !killed {
					killed = true
					h.kill()
				}
			}
			return h
		},
		"a renewed limit": func(t *testing.T) *held {
			return hold(t, "limits: {calls: 1}\n"+oneRefund, func(e *permit.Permit) { e.Calls[0].Times = 3; e.Budget["calls"] = 1 },
				solutionOf(refund), solutionOf(strings.Replace(refund, `"_tool"`, `"_reasoningForCall":"x","_outputMethod":"set","_after":[],"_tool"`, 1)), noMore)
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := run(t)
			h.run()
			if h.starts["refund"] != 1 && name != "a renewed limit" || h.starts["refund"] > 1 {
				t.Errorf("it was carried out %d times", h.starts["refund"])
			}
			if len(h.left) == 0 && name != "a renewed limit" {
				t.Errorf("nobody was asked: %v", h.settled)
			}
		})
	}
}

// The solution of a record is no request to a planner: it runs under a permit that has none.
func TestApprovedRecordRuns(t *testing.T) {
	for _, tick := range []string{"1", "3"} {
		h := hold(t, "tick: "+tick+"\ncontext:\n- {type: tool, tool: {refund: {properties: {amount: {}, _output: {}}}}}\n- {type: plan, plan: []}\n"+
			"solution: {calls: [{_tool: refund, amount: 20, _outputPath: refunded}], output: †state.refunded}\n", nil)
		if most, bounded := h.options.Permit.Budget["ticks"]; !bounded || most != 0 {
			t.Fatalf("the permit has %v requests", most)
		}
		if h.run(); h.out.Status != runtime.RunDone || h.starts["refund"] != 1 {
			t.Errorf("tick %s: %s (%s), %v", tick, h.out.Status, h.out.Why, h.starts)
		}
	}
}

// EXECUTION.md#permits: a list that turns out longer than was approved stops where that ends.
func TestPermitBoundsLists(t *testing.T) {
	h := hold(t, "stateSchema: {type: object, properties: {pages: {type: array, maxItems: 3}}}\ntools: {file: {properties: {page: {}}}}\nstate: {pages: [1, 2]}\ncalls:\n- {_tool: file, _each: †state.pages, page: †item}\n",
		func(e *permit.Permit) {
			if e.Calls[0].Times != 3 {
				t.Errorf("it may run %d times", e.Calls[0].Times)
			}
			e.Calls[0].Times = 1
		})
	if h.run(); h.starts["file"] != 1 || len(h.left) != 1 || h.left[0].What != permit.Times {
		t.Errorf("it was carried out %d times; %v", h.starts["file"], h.left)
	}
}

// EXECUTION.md#permits: a run stops before it asks a model once more than approved, or when it has cost or
// taken more; going on with it changes nothing.
func TestPermitStopsTheRun(t *testing.T) {
	lookUp := `{"_tool":"lookUp","id":"†input.id","_outputPath":"person"}`
	for name, most := range map[string]float64{"ticks": 1, "cost": 0, "time": 0.5} {
		h := hold(t, approvedPlan, func(e *permit.Permit) { e.Budget[name] = most }, solutionOf(lookUp), solutionOf(looksUp), solutionOf(looksUp), noMore)
		if name == "cost" {
			for i := range h.options.Permit.Calls {
				h.options.Permit.Calls[i].Times = 10
			}
		}
		h.breaks = func(text string) []string {
			if name == "cost" {
				h.coming = append(h.coming, runtime.Event{Kind: runtime.Closed, Try: runtime.Try{Tick: h.machine.Tick()}, Usage: &runtime.Usage{Cost: 1}})
			}
			return []string{text}
		}
		out := h.run()
		if out.Status != runtime.RunStopped || out.Reason != runtime.ReasonPermit || out.Why == "" {
			t.Errorf("%s: it is %s: %s %s", name, out.Status, out.Reason, out.Why)
		}
		before := maps.Clone(h.starts)
		h.out = nil
		h.resume()
		if out := h.goOn(); out.Reason != runtime.ReasonPermit || !maps.Equal(before, h.starts) {
			t.Errorf("%s: gone on with it is %s: %s; started %v, before %v", name, out.Status, out.Reason, h.starts, before)
		}
	}
}

// EXECUTION.md#permits: what a person approves by the name of the difference runs, once, and a replay of
// the journal comes to the same; what is approved without that name doesn't.
func TestPeopleApproveTheDifference(t *testing.T) {
	more := `{"_tool":"refund","amount":200,"to":"†state.person.iban","_outputPath":"refunded"}`
	for _, mode := range []string{"", "mode: lazy\n"} {
		for kills := range 3 {
			h := hold(t, mode+approvedPlan, nil, solutionOf(looksUp, more), solutionOf(strings.Replace(more, "refunded", "sent", 1)), noMore)
			h.kills = kills
			approvals, amounts := 0, []any{}
			h.checks = func(c runtime.Command) {
				if c.Of.ToolName == "refund" {
					amounts = append(amounts, c.Params["amount"])
				}
			}
			h.decide = func(q *runtime.Question) runtime.Decision {
				if q.InFlight {
					return runtime.Decision{Verdict: runtime.Fail}
				}
				if len(q.Outside) == 0 || q.Outside[0].What == permit.Times || approvals > 0 && len(q.Writes) > 0 && q.Writes[0] == "†state.sent" {
					return runtime.Decision{Verdict: runtime.Reject}
				}
				if q.Effects != "unknown" || q.Outside[0].At == nil || !strings.Contains(q.Outside[0].String(), "200; approved: 20") {
					t.Errorf("a person is shown %v", q.Outside)
				}
				approvals++
				return runtime.Decision{Verdict: runtime.Approve, Beyond: q.Beyond, By: "ann"}
			}
			h.run()
			h.follow()
			if want := []any{200.0}; approvals == 0 || !slices.Equal(amounts, want) && kills == 0 {
				t.Errorf("after %d approvals it refunded %v", approvals, amounts)
			}
			kept := false
			for _, e := range h.events {
				kept = kept || e.Decision != nil && e.Decision.Beyond != "" && e.Decision.By == "ann"
			}
			if !kept {
				t.Error("the journal doesn't tell who approved which difference")
			}
		}
	}
}

// EXECUTION.md#permits: what may run once may run once for each instance, and what was approved for
// one instance runs for no other.
func TestPermitOfInstances(t *testing.T) {
	plan := "instances: {①: {state: {iban: A}}, ②: {state: {iban: B}}}\ntools: {refund: {properties: {to: {}, _output: {}}}, wipe: {properties: {folder: {}}}}\ncalls:\n" +
		"- {_tool: refund, to: †state.iban, _outputPath: refunded}\n- {_tool: wipe, _instance: ①, folder: x}\n"
	refund := `{"_tool":"refund","to":"†state.iban","_outputPath":"refunded"}`
	wipe := func(instance string) string { return `{"_tool":"wipe","_instance":"` + instance + `","folder":"x"}` }
	for name, c := range map[string]struct {
		calls  []string
		starts map[string]int
		left   string
	}{
		"as approved":           {[]string{refund, wipe("①")}, map[string]int{"refund": 2, "wipe": 1}, ""},
		"another instance":      {[]string{refund, wipe("②")}, map[string]int{"refund": 2}, permit.Instance},
		"every instance":        {[]string{`{"_tool":"wipe","folder":"x"}`}, map[string]int{}, permit.Instance},
		"another's, by a value": {[]string{`{"_tool":"refund","to":"B","_outputPath":"refunded"}`}, map[string]int{}, permit.Parameter},
	} {
		h := hold(t, plan, nil, solutionOf(c.calls...), noMore)
		h.run()
		if !maps.Equal(h.starts, c.starts) || (len(h.left) > 0) != (c.left != "") || c.left != "" && h.left[0].What != c.left {
			t.Errorf("%s: started %v, left %v", name, h.starts, h.left)
		}
	}
}

// EXECUTION.md#permits: what failed and is run again, and what a state shows to be done,
// counts as it would otherwise.
func TestPermitOfRunsThatGoOn(t *testing.T) {
	h := hold(t, oneRefund, nil)
	h.act = fails
	h.run()
	h.out, h.reopened = nil, true
	h.follow()
	h.machine.Reopenable()
	h.settled = map[string]string{}
	h.step(runtime.Event{Kind: runtime.Resumed, Resumption: &runtime.Resumption{RetryFailed: true}})
	h.goOn()
	if h.starts["refund"] != 1 || len(h.left) != 1 || h.left[0].What != permit.Times {
		t.Errorf("it was carried out %d times; left %v", h.starts["refund"], h.left)
	}
	h = hold(t, oneRefund, nil)
	h.options.Continue, h.options.State = true, map[string]any{"refunded": 1.0}
	if h.run(); len(h.starts) > 0 || len(h.left) > 0 {
		t.Errorf("it was carried out %v; left %v", h.starts, h.left)
	}
}

// EXECUTION.md#permits: a path that a person allows means what the plan's own calls write there: a model can't make up
// the value that is to be pinned.
func TestAllowedPathsCannotBeForged(t *testing.T) {
	const plan = "input: {id: 7}\ninputSchema: {type: object, properties: {id: {}}}\ntools:\n  find: {properties: {id: {}, _output: {}}}\n  upper: {properties: {a: {}, _output: {}}}\n  refund: {properties: {amount: {}, to: {}, _output: {}}}\n" +
		"activities: {find: {expr: '{\"iban\": id}'}, upper: {expr: 'upper(a)'}}\ncalls:\n- {_tool: find, id: †input.id, _outputPath: person}\n- {_tool: refund, amount: 20, to: †state.person.iban, _outputPath: refunded}\n"
	const find, forged = `{"_tool":"find","id":"†input.id","_outputPath":"person"}`, `{"_tool":"find","id":"EVIL","_outputPath":"person"}`
	upper := func(path string) string { return `{"_tool":"upper","a":"evil","_outputPath":"` + path + `"}` }
	refund := func(amount string) string {
		return `{"_tool":"refund","amount":` + amount + `,"to":"†state.person.iban","_outputPath":"refunded"}`
	}
	for name, c := range map[string]struct {
		solutions []string
		besides   map[string]any
		refunds   int
	}{
		"honest":                      {[]string{solutionOf(find, refund("100"))}, nil, 1},
		"honest, in two ticks":        {[]string{solutionOf(find), solutionOf(refund("20"))}, nil, 1},
		"another tool":                {[]string{solutionOf(upper("person.iban"), refund("100"))}, nil, 0},
		"another tool above":          {[]string{solutionOf(upper("person"), refund("100"))}, nil, 0},
		"another tool, in two ticks":  {[]string{solutionOf(upper("person.iban")), solutionOf(refund("100"))}, nil, 0},
		"another tool behind":         {[]string{solutionOf(find), solutionOf(upper("person.iban")), solutionOf(refund("100"))}, nil, 0},
		"another tool, as approved":   {[]string{solutionOf(upper("person.iban"), refund("20"))}, nil, 0},
		"of somebody else":            {[]string{solutionOf(forged, refund("100"))}, nil, 0},
		"of somebody else, approved":  {[]string{solutionOf(forged), solutionOf(refund("20"))}, nil, 0},
		"for items":                   {[]string{solutionOf(`{"_tool":"find","_each":["EVIL"],"id":"†item","_outputPath":"person"}`, `{"_tool":"refund","amount":100,"to":"†state.person[0].iban","_outputPath":"refunded"}`)}, nil, 0},
		"allowed, for the path":       {[]string{solutionOf(upper("person.iban"), refund("100"))}, map[string]any{"upper": map[string]any{"_outputPath": "†state.person"}}, 0},
		"its own tool, by its name":   {[]string{solutionOf(forged, refund("100"))}, map[string]any{"find": map[string]any{}}, 1},
		"another path, for the write": {[]string{solutionOf(upper("person.iban"), refund("100"))}, map[string]any{"upper": map[string]any{"_outputPath": "†state.other"}}, 0},
	} {
		v, _ := approved(t, plan)
		h := hold(t, plan, func(e *permit.Permit) {
			e.Budget = permit.Budget{}
			allow := map[string]any{"upper": map[string]any{}, "refund": map[string]any{"amount": map[string]any{"maximum": 100.0}, "to": "†state.person.iban", "_times": 1.0}}
			maps.Copy(allow, c.besides)
			if err := e.Allow(facts.Of(v.Plan(), facts.Options{}), map[string]any{"allow": allow}); err != nil {
				t.Fatal(err)
			}
		}, append(c.solutions, noMore)...)
		h.act = func(call string, _ int, params map[string]any) (any, string, *failure) {
			if strings.HasPrefix(call, "find") {
				return map[string]any{"iban": "NL01"}, "", nil
			}
			return "EVIL", "", nil
		}
		if h.run(); h.starts["refund"] != c.refunds || c.refunds == 0 && !slices.ContainsFunc(h.left, func(d permit.Difference) bool { return d.Tool == "refund" || d.Tool == "find" }) {
			t.Errorf("%s: it was refunded %d times; left %v", name, h.starts["refund"], h.left)
		}
	}
}

// EXECUTION.md#permits: a question about what leaves the permit shows what would run, with what it
// is given, and from whom that is: also before anything of the answer has started, and of
// what an earlier tick wrote.
func TestQuestionsOutsideShowWhatRuns(t *testing.T) {
	const plan = "input: {id: 7}\ntools:\n  look: {properties: {id: {}, _output: {}}}\n  send: {properties: {to: {}, sum: {}, _output: {}}}\nactivities: {look: {exec: {argv: [look, \"{id}\"]}}, send: {exec: {argv: [send, --to, \"{to}\", --, \"{sum}\"]}}}\n" +
		"calls:\n- {_tool: look, id: †input.id, _outputPath: found}\n- {_tool: send, to: ann, sum: †state.found, _outputPath: paid}\n"
	const look, pay = `{"_tool":"look","id":"†input.id","_outputPath":"found"}`, `{"_tool":"send","to":"eve","sum":"†state.found","_outputPath":"paid"}`
	for name, c := range map[string]struct {
		solutions []string
		from      string
	}{
		"before it starts":   {[]string{solutionOf(look, pay)}, "look#1"},
		"of an earlier tick": {[]string{solutionOf(look), solutionOf(pay)}, "look in tick 1"},
	} {
		h := hold(t, plan, nil, append(c.solutions, noMore)...)
		asked := 0
		h.decide = func(q *runtime.Question) runtime.Decision {
			asked++
			at := slices.IndexFunc(q.Sources, func(s runtime.Source) bool { return s.Param == "sum" })
			if at < 0 || !slices.Equal(q.Sources[at].From, []string{c.from}) || !slices.Equal(q.Runs.Argv, []string{"send", "--to", "eve", "--", "†state.found"}) {
				t.Errorf("%s: it runs %q, from %v", name, q.Runs.Argv, q.Sources)
			}
			return runtime.Decision{Verdict: runtime.Reject}
		}
		if h.run(); asked == 0 {
			t.Errorf("%s: nobody was asked", name)
		}
	}
}

// EXECUTION.md#permits: where the approval is signed, a yes to what leaves it that isn't lets nothing run.
func TestDifferencesAreSigned(t *testing.T) {
	for signed, starts := range map[string]int{"": 0, "a statement": 1} {
		h := hold(t, oneRefund, func(e *permit.Permit) { e.Calls[0].Rows = slices.Delete(e.Calls[0].Rows, 1, 2) })
		h.options.Signed = true
		times := 0
		h.decide = func(q *runtime.Question) runtime.Decision {
			if times++; times > 1 && signed == "" {
				return runtime.Decision{Verdict: runtime.Reject}
			}
			return runtime.Decision{Verdict: runtime.Approve, Beyond: q.Beyond, Signed: signed}
		}
		if h.run(); h.starts["refund"] != starts {
			t.Errorf("signed by %q it was carried out %d times", signed, h.starts["refund"])
		}
	}
}

// EXECUTION.md#permits: a value counts as the approved one only if an equal call wrote it, in an earlier tick as well; the
// tool alone doesn't decide.
func TestSourcesAreCalls(t *testing.T) {
	const plan = "tools:\n  find: {properties: {id: {}, _output: {}}}\n  refund: {properties: {to: {}, _output: {}}}\ncalls:\n" +
		"- {_tool: find, id: ann, _outputPath: person}\n- {_tool: refund, _id: pay, to: †state.person, _outputPath: refunded}\n- {_tool: find, id: eve, _after: [pay], _outputPath: person}\n"
	const ann, eve = `{"_tool":"find","id":"ann","_outputPath":"person"}`, `{"_tool":"find","_id":"eve","id":"eve","_outputPath":"person"}`
	const pay, after = `{"_tool":"refund","_id":"pay","to":"†state.person","_outputPath":"refunded"}`, `{"_tool":"find","id":"eve","_after":["pay"],"_outputPath":"person"}`
	for name, c := range map[string]struct {
		solutions []string
		refunds   int
	}{
		"as approved":              {[]string{solutionOf(ann, pay, after)}, 1},
		"in three ticks":           {[]string{solutionOf(ann), solutionOf(pay), solutionOf(strings.Replace(after, `"_after":["pay"],`, "", 1))}, 1},
		"of another call":          {[]string{solutionOf(eve, pay)}, 0},
		"of another call, earlier": {[]string{solutionOf(ann), solutionOf(eve), solutionOf(pay)}, 0},
	} {
		h := hold(t, plan, nil, append(c.solutions, noMore)...)
		h.decide = func(q *runtime.Question) runtime.Decision {
			if h.left = append(h.left, q.Outside...); q.Tool == "find" {
				return runtime.Decision{Verdict: runtime.Approve, Beyond: q.Beyond}
			}
			return runtime.Decision{Verdict: runtime.Reject}
		}
		if h.run(); h.starts["refund"] != c.refunds || (len(h.left) == 0) != (c.refunds == 1) {
			t.Errorf("%s: it was refunded %d times; left %v", name, h.starts["refund"], h.left)
		}
	}
}
