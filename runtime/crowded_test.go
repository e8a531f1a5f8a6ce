package runtime_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/simulate"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// A crowded plan has a few calls that meet in as few places as can be: keys and
// items of them, the places themselves and at times the whole state, written by
// every method, to several at once, on alternatives and as failure records. What
// is read decides who waits for whom, and is often nobody's business.
func crowdedPlan(n int) map[string]any {
	r := rand.New(rand.NewPCG(uint64(n), 53))
	chance := func(percent int) bool { return r.IntN(100) < percent }
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	places := []string{one("a", "b"), one("a.k", "b[0]"), one("a[0]", "a.j", "b.k"), one("a[1]", "b", "a.k.m"), one("a[0].k", "b[1]", "a.k[0]"), "p", "q", one("e", "e.why", "e.details")}
	switch r.IntN(4) { // mostly what is a list for one is no object for another
	case 0:
		places = []string{"a", "a[0]", "a[1]", "a[0].k", "a[2]", "b.k", "p", "e"}
	case 1:
		places = []string{"a", "a.k", "a.j", "a.k.m", "b[0].k", "b[0].j", "b[1]", "e", "e.details"}
	case 2:
		places = []string{"a", "a.k", "b", "b[0]", "b[1]", "p", "q", "e.x", "e.y"}
	}
	if chance(5) {
		places = append(places, "†state")
	}
	written := []string{}
	path := func() string {
		p := places[r.IntN(len(places))]
		written = append(written, p)
		return p
	}
	read := func() string {
		p := "known"
		if len(written) > 0 {
			p = written[r.IntN(len(written))]
		}
		if chance(15) {
			p = places[r.IntN(len(places))] // what is listed later, perhaps
		}
		return "†state." + strings.TrimPrefix(p, "†state")
	}
	method := one("push", "merge", "set", "set")
	var calls []any
	for i := range 2 + r.IntN(6) {
		c := map[string]any{"_tool": toolNames[r.IntN(5)], "_id": fmt.Sprint("c", i), "seed": float64(r.IntN(1000)), "shape": one("object", "object", "list", "number", "text", "nothing")}
		for k := range r.IntN(3) {
			from := strings.TrimSuffix(read(), ".")
			switch r.IntN(4) {
			case 0:
				from += " || 1"
			case 1:
				from = "†input.n || " + from
			}
			c[fmt.Sprint("from", k)] = from
		}
		if i > 0 && chance(30) {
			c["_after"] = []any{fmt.Sprint("c", r.IntN(i))}
		}
		if chance(8) {
			c["_when"] = "†input.n " + one(">", "<") + " 1"
		}
		if c["_outputMethod"] = method; chance(30) {
			c["_outputMethod"] = one("push", "merge", "assign", "concat", "set")
		}
		if c["_outputMethod"] == "concat" && chance(70) {
			c["shape"] = "list"
		}
		output := path()
		if chance(25) {
			if other := path(); !strings.HasPrefix(other, output) && !strings.HasPrefix(output, other) {
				output += " && " + other
			}
		}
		if other := path(); chance(30) && !strings.Contains(output, other) { // the same twice would be two alternatives to one, and one to the model
			output += " || " + other
			if chance(60) {
				c["fails"] = float64(1 + r.IntN(2))
				if c["code"] = "declined"; chance(30) {
					c["_retry"] = map[string]any{"attempts": 2.0}
				}
			}
		} else if chance(10) {
			c["fails"] = 1.0
		}
		c["_outputPath"] = output
		calls = append(calls, c)
	}
	if chance(30) {
		i, j := r.IntN(len(calls)), r.IntN(len(calls))
		calls[i], calls[j] = calls[j], calls[i]
	}
	state := map[string]any{"known": 1.0}
	if chance(25) {
		state[one("a", "b")] = []any{map[string]any{"k": 1.0}, 2.0}[:r.IntN(3)]
	}
	if chance(15) {
		state["a"] = map[string]any{"k": map[string]any{}}
	}
	doc := map[string]any{"plan": "crowded", "tools": toolDefinitions(), "input": map[string]any{"n": float64(r.IntN(3))}, "state": state, "calls": calls}
	if chance(25) {
		doc["writes"] = "once"
	}
	if chance(20) {
		doc["limits"] = map[string]any{"parallel": float64(1 + r.IntN(2))}
	}
	return plainDocument(doc)
}

func plainDocument(doc map[string]any) (read map[string]any) {
	text, err := json.Marshal(doc)
	if err == nil {
		err = json.Unmarshal(text, &read)
	}
	if err != nil {
		panic(err)
	}
	return read
}

// Every plan that check passes comes to its end, in a run, in a run that is killed
// and resumed, and in simulations; it ends alike in all of them; and its state is
// what LANGUAGE.md#output-paths-and-state says of the messages in its log, with none left out.
func TestCrowdedPlansEndAndKeepWhatWasWritten(t *testing.T) {
	t.Parallel()
	count := map[string]int{}
	for n := range amount.Of(120, 1_600, 100_000) {
		doc := crowdedPlan(n)
		v, why := compileGenerated(t, doc)
		if v == nil {
			count["refused for "+why[:min(5, len(why))]]++
			continue
		}
		count["run"]++
		fail := func(format string, args ...any) {
			t.Helper()
			t.Fatalf("plan %d: %s\n%s", n, fmt.Sprintf(format, args...), inJSON(map[string]any{"state": doc["state"], "calls": doc["calls"], "writes": doc["writes"], "limits": doc["limits"]}))
		}
		var first map[string]any
		for seed := range uint64(3) {
			r := &simulator{t: t, verified: v, act: perform, order: rand.New(rand.NewPCG(seed, uint64(n))), kills: int(seed)}
			r.run()
			if made, ok := stateOf(doc, v.Plan(), r.machine.Log().Messages()); !ok {
				fail("seed %d: something that was written has no place in the state: %s", seed, inJSON(r.out.State))
			} else if !reflect.DeepEqual(made, r.out.State) {
				fail("seed %d: the state is %s, and of its messages comes %s", seed, inJSON(r.out.State), inJSON(made))
			}
			for _, e := range r.out.Errors {
				if e.Code == "internal" {
					fail("seed %d: %s", seed, e.Message)
				}
				count["unrouted "+e.Code]++
			}
			ends := map[string]any{"settled": inJSON(r.settled), "state": inJSON(r.out.State), "status": r.out.Status}
			if first == nil {
				first = ends
			}
			if !reflect.DeepEqual(first, ends) {
				fail("seed %d: it ends\n%s\nand without a kill\n%s", seed, inJSON(ends), inJSON(first))
			}
		}
		for schedule := range 2 {
			o := simulate.Options{Seed: uint64(n), Schedule: schedule}
			if schedule == 1 {
				o.Fail = []string{toolNames[n%5]}
			}
			if s := simulate.Run(v.Simulation(), o); strings.Contains(string(s.Outcome.Reason), "internal") {
				fail("a simulation: %s", s.Outcome.Reason)
			}
		}
	}
	t.Log(count)
	if count["run"] < amount.Of(120, 1_600, 100_000)/8 {
		t.Errorf("only %d run; too few to show anything", count["run"])
	}
}

// stateOf is LANGUAGE.md#output-paths-and-state said once more: messages count in the graph's topological order
// (that takes the earliest-listed ready call first), the paths of one result as they
// are listed; of failure records on one path that of the call listed first stands. It
// reports false if something has no place.
func stateOf(doc map[string]any, plan *plan.Plan, messages []runtime.Message) (any, bool) {
	p := readPlan(doc)
	state := p.state
	records := map[string]int{} // by path: the earliest-listed call with a record there so far
	for _, call := range p.topology {
		for _, m := range messages {
			if m.Call != call {
				continue
			}
			var path statePath
			for _, s := range plan.Paths.Segments(m.Path)[1:] {
				path = append(path, segment{key: s.Key, index: s.Index, isIndex: s.IsIndex})
				if s.IsIndex {
					path[len(path)-1].key = ""
				}
			}
			if m.Failure {
				if other, there := records[path.String()]; there && other < call {
					continue
				}
				records[path.String()] = call
			}
			next, ok := written(state, path, m.Method.String(), m.Value)
			if !ok {
				return state, false
			}
			state = next
		}
	}
	return state, true
}

// What is carried from tick to tick meets what was written before: it fits then,
// or is an error of its call. Reads and writes are as the naive
// interpreter has them.
func TestCrowdedPlansAreCarried(t *testing.T) {
	t.Parallel()
	carriedPlans(t, amount.Of(12, 130, 6000), func(n int, _ *rand.Rand) map[string]any { return crowdedPlan(n) }, 20)
}

// What the machine comes to is what the naive interpreter comes to, in crowded
// plans too.
func TestCrowdedPlansAgreeWithTheModel(t *testing.T) {
	t.Parallel()
	run := 0
	for n := range amount.Of(60, 1300, 40_000) {
		doc := crowdedPlan(n)
		v, _ := compileGenerated(t, doc)
		if v == nil || len(faults(doc)) > 0 {
			continue
		}
		run++
		want := interpret(doc, perform, schedule(0))
		want.Trace, want.State = nil, wordless(want.State)
		for s := range 3 {
			if got := drive(t, v, perform, schedule(s)); !reflect.DeepEqual(got, want) {
				t.Fatalf("plan %d, schedule %d\n%s\nmachine %s\nmodel   %s", n, s, inJSON(doc["calls"]), show(got), show(want))
			}
		}
	}
	t.Logf("%d plans run", run)
}

// A call waits for another only if that doesn't wait for it, however they are
// connected: reads, "_after", choices, and the order among those who write one
// place.
func TestNobodyWaitsInACircle(t *testing.T) {
	t.Parallel()
	for n := range amount.Of(120, 1_600, 100_000) {
		v, _ := compileGenerated(t, crowdedPlan(n))
		if v == nil {
			continue
		}
		p := v.Plan()
		left := map[int]map[int]bool{}
		for i, call := range p.Calls {
			left[i] = map[int]bool{}
			for _, w := range slices.Concat(call.Waits, call.Choices, p.Graph.Deps(i)) {
				left[i][int(w)] = true
			}
		}
		for len(left) > 0 {
			free := slices.DeleteFunc(slices.Sorted(maps.Keys(left)), func(i int) bool { return len(left[i]) > 0 })
			if len(free) == 0 {
				t.Fatalf("plan %d: these wait for each other: %v\n%s", n, left, inJSON(crowdedPlan(n)["calls"]))
			}
			for _, i := range free {
				delete(left, i)
			}
			for _, waits := range left {
				for _, i := range free {
					delete(waits, i)
				}
			}
		}
	}
}

// A plan has a cycle (OB301) just where the graph has one, or where a call requires
// what only it writes; in an operand of a fallback that is just never there, which
// is OB209.
func TestCyclesAgreeWithTheModel(t *testing.T) {
	t.Parallel()
	cyclic, never := 0, 0
	for n := range amount.Of(80, 2000, 60_000) {
		doc := crowdedPlan(n)
		delete(doc, "stateSchema")
		text, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		_, _, found := checked(text)
		codes := map[string]bool{}
		for _, d := range found {
			codes[d.Rule.Code] = true
		}
		if codes["OB201"] { // its paths aren't known
			continue
		}
		p := readPlan(doc)
		isCyclic, selfish := len(p.topology) < len(p.calls), false
		for _, c := range p.calls {
			for _, r := range c.references() {
				if r.kind == "state" && len(r.path) > 0 && c.mayWrite(r.path) && len(p.bound(c.place, r)) == 0 && !p.knownFromTheStart(r) {
					selfish = true
					isCyclic = isCyclic || slices.ContainsFunc(append(formulasIn(c.params), formulasIn(c.when)...), func(e *formula) bool { return e.requires(r) })
				}
			}
		}
		if codes["OB301"] != isCyclic {
			t.Fatalf("plan %d: OB301 is found: %v; the model's graph is cyclic: %v\n%s", n, codes["OB301"], isCyclic, inJSON(doc["calls"]))
		}
		if isCyclic {
			cyclic++
		} else if selfish {
			if never++; !codes["OB209"] {
				t.Fatalf("plan %d: an operand that never has a value isn't OB209: %v\n%s", n, codes, inJSON(doc["calls"]))
			}
		}
	}
	t.Logf("%d are cyclic; in %d a call reads in a fallback what only it writes", cyclic, never)
}

// requires reports whether an expression has no value without a reference.
func (e *formula) requires(r reference) bool {
	switch e.kind {
	case referenceExpression:
		return e.reference.kind == r.kind && e.reference.path.equal(r.path)
	case fallbackExpression:
		return false
	}
	return slices.ContainsFunc(e.operands, func(o *formula) bool { return o.requires(r) })
}

// checked compiles and analyses a plan.
func checked(text []byte) (*plan.Plan, *analyzer.Verified, []diag.Diagnostic) {
	plan, found := compiler.Compile(source.NewFile("plan.json", text), compiler.Options{Name: "plan.json"})
	judged := analyzer.Analyze(plan, found, analyzer.Config{})
	return plan, judged.Verified, judged.Findings
}
