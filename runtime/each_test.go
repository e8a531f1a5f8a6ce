package runtime_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// A fan is a plan in which one tool works on each item of a list: as one call with
// "_each", or with a call written out for each item and one that puts together what they
// give.
type fan struct {
	items     []any // {v, ok, maybe, flaky, bad, slow}
	when      bool  // an item that isn't ok is skipped
	collect   bool
	route     bool // the call has a route for its failure
	delegates bool
	nested    bool // delegates have such a call of their own
	wants     bool // the call wants what another one may not give
	lacks     bool // that one fails
	maybe     bool // items want what not every item has
	timed     bool // a try may run out of its time: that of one that is slow
	retries   int
	instances int
}

func newFan(r *rand.Rand) fan {
	f := fan{
		when: r.IntN(2) == 0, collect: r.IntN(2) == 0, route: r.IntN(2) == 0, delegates: r.IntN(3) == 0, nested: r.IntN(2) == 0,
		wants: r.IntN(3) == 0, lacks: r.IntN(3) == 0, maybe: r.IntN(3) == 0, timed: r.IntN(3) == 0, retries: 1 + r.IntN(2), instances: r.IntN(3),
	}
	f.items = make([]any, r.IntN(7))
	fails := r.IntN(2) == 0
	for i := range f.items {
		item := map[string]any{"v": float64(r.IntN(100)), "ok": r.IntN(3) > 0, "flaky": r.IntN(3) == 0, "bad": fails && r.IntN(4) == 0, "slow": false}
		if f.timed && r.IntN(4) == 0 { // and fails for nothing else: which comes first hangs on timing
			item["flaky"], item["bad"], item["slow"] = false, false, true
		}
		if r.IntN(3) > 0 {
			item["maybe"] = "some"
		}
		f.items[i] = item
	}
	return f
}

// document is the plan; written says that a call is written out for each item.
func (f fan) document(written bool) map[string]any {
	list := map[string]any{"_tool": "list", "_outputPath": "list"}
	if f.instances > 0 {
		list["of"] = "†input.of"
	}
	calls := []any{
		list,
		map[string]any{"_tool": "other", "lacks": f.lacks, "_outputPath": "other || problem"},
	}
	path := "out"
	if f.route {
		path = "out || trouble"
	}
	work := func(item string) map[string]any {
		call := map[string]any{"_tool": "work", "v": item + ".v", "flaky": item + ".flaky", "bad": item + ".bad", "_retry": map[string]any{"attempts": float64(f.retries), "backoff": "1s"}}
		if f.when {
			call["_when"] = item + ".ok"
		}
		if f.maybe {
			call["maybe"] = item + ".maybe"
		}
		if f.wants {
			call["other"] = "†state.other"
		}
		if f.timed {
			call["slow"], call["_timeout"] = item+".slow", "1h"
		}
		if f.delegates {
			call["_delegate"] = "work.yaml"
			if f.nested {
				call["_delegate"] = "nested.yaml"
			}
		}
		if f.instances > 0 {
			call["of"] = "†input.of"
		}
		return call
	}
	if !written {
		call := work("†item")
		call["_each"], call["at"], call["_outputPath"] = "†state.list", "†index", path
		if f.collect {
			call["_onItemFailure"] = "collect"
		}
		calls = append(calls, call)
	} else {
		results, failures := []any{}, []any{}
		for i := range f.items {
			call := work(fmt.Sprintf("†state.list[%d]", i))
			call["at"], call["_outputPath"] = float64(i), fmt.Sprintf("t.r%d || t.f%d", i, i)
			calls = append(calls, call)
			if f.collect {
				results = append(results, fmt.Sprintf("†state.t.r%d || †state.t.f%d || null", i, i))
				continue
			}
			results, failures = append(results, fmt.Sprintf("†state.t.r%d || null", i)), append(failures, fmt.Sprintf("†state.t.f%d || null", i))
		}
		pack := map[string]any{"_tool": "pack", "results": results, "failures": failures, "_outputPath": path}
		if f.wants {
			pack["other"] = "†state.other"
		}
		calls = append(calls, pack)
	}
	calls = append(calls, map[string]any{"_tool": "use", "x": "†state.out", "_outputPath": "used"})
	doc := map[string]any{"plan": "fan", "calls": calls}
	if f.instances > 0 {
		all := map[string]any{}
		for i := range f.instances {
			all[string(rune('①'+i))] = map[string]any{"input": map[string]any{"of": float64(i)}}
		}
		doc["instances"] = all
	}
	return doc
}

// act is what the tools do. One that is flaky fails until a try of it has.
func (f fan) act(c runtime.Command, tried bool) (any, *runtime.Failure) {
	p := c.Params
	switch c.Of.ToolName {
	case "list": // of each instance another
		of, _ := p["of"].(float64)
		from := min(int(of), len(f.items))
		return slices.Concat(f.items[from:], f.items[:from]), nil
	case "other":
		if p["lacks"] == true {
			return nil, &runtime.Failure{Code: "error", Message: "there is no other"}
		}
		return "other", nil
	case "pack":
		for i, one := range p["failures"].([]any) {
			if record, failed := one.(map[string]any); failed {
				details, _ := record["details"].(map[string]any)
				details = maps.Clone(details)
				if details == nil {
					details = map[string]any{}
				}
				details["index"] = float64(i)
				return nil, &runtime.Failure{Code: record["code"].(string), Message: fmt.Sprintf("item %d: %s", i, record["message"]), Details: details}
			}
		}
		return p["results"], nil
	case "use":
		return len(p["x"].([]any)) > 0, nil
	}
	switch {
	case p["bad"] == true, p["flaky"] == true && f.retries == 1:
		return nil, &runtime.Failure{Code: "spoilt", Message: fmt.Sprint("no ", p["v"])}
	case p["flaky"] == true && !tried:
		return nil, &runtime.Failure{Code: "error", Message: "not yet"}
	}
	return map[string]any{"v": p["v"], "at": p["at"], "of": p["of"], "maybe": p["maybe"]}, nil
}

// spoils is of what the first try fails, where it is flaky: of a call, or of all items of
// one within a delegate, of which some may not be tried at all.
func (f fan) spoils(name string) string {
	if f.delegates && f.nested {
		return name[:strings.LastIndex(name, " ")]
	}
	return name
}

// play carries a run out in some order. It is killed so many times, each time somewhere: a
// new machine is brought to where it stood by what the journal holds, and goes on.
func (f fan) play(t *testing.T, v *analyzer.Verified, r *rand.Rand, o runtime.Options, kills int) *runtime.Outcome {
	t.Helper()
	var journal, coming []runtime.Event
	var outcome *runtime.Outcome
	type place struct{ frame, call int }
	names, ended, tried, settled, slow := map[place]string{}, map[string]bool{}, map[string]bool{}, map[string]bool{}, map[place]bool{}
	m := runtime.New(v, o)
	working, doubtful, how := map[place]bool{}, map[place]bool{}, runtime.InFlightAsk
	take := func(commands []runtime.Command) {
		for _, c := range commands {
			if c.Kind == runtime.Start || c.Kind == runtime.Enter {
				slow[place{c.Frame, c.Call}] = c.Params["slow"] == true
			}
		}
		for _, c := range commands {
			e := runtime.Event{Try: c.Try, Route: -1}
			switch c.Kind {
			case runtime.Start:
				name := c.Instance + " " + above(c) + " " + c.Of.Name
				if names[place{c.Frame, c.Call}] = name; ended[name] && !(f.delegates && f.nested) { // a delegate that is begun anew begins all of it anew
					t.Fatalf("%s was done, and is started again", name)
				}
				if at := (place{c.Frame, c.Call}); doubtful[at] && how != runtime.InFlightRetry {
					t.Fatalf("%s may have had its effect, and is started again unasked", name)
				}
				working[place{c.Frame, c.Call}], doubtful[place{c.Frame, c.Call}] = true, false
				if e.Kind = runtime.Ended; slow[place{c.Frame, c.Call}] { // until it is given up
					continue
				}
				e.Value, e.Failure = f.act(c, tried[f.spoils(name)])
			case runtime.SetTimer:
				if c.After > time.Minute && !slow[place{c.Frame, c.Call}] { // the time of a try, which ends before
					continue
				}
				e.Kind = runtime.Fired
			case runtime.Ask:
				e.Kind, e.Route, e.Decision = runtime.Decided, 0, &runtime.Decision{Verdict: runtime.Approve}
				if c.Question.InFlight {
					e.Decision.Verdict = runtime.Retry
				}
			case runtime.Cancel:
				e.Kind, e.Failure = runtime.Ended, &runtime.Failure{Code: "interrupted"}
				if !m.Stopped() {
					delete(working, place{c.Frame, c.Call}) // its time is over, and that is what becomes of it
				}
				all := len(coming)
				coming = slices.DeleteFunc(coming, func(other runtime.Event) bool {
					return other.Kind == runtime.Decided && other.Frame == c.Frame && other.Call == c.Call
				})
				if len(coming) < all || !slow[place{c.Frame, c.Call}] { // a question is taken back, and what else is at work ends by itself
					continue
				}
			case runtime.Settle: // EXECUTION.md#events: once, but for what a stop leaves
				if key := fmt.Sprint(c.Instance, " ", c.Under, " ", c.Tries, " ", c.Of.Name); !c.Settlement.Left {
					if settled[key] {
						t.Fatalf("%s has settled, and settles as %s", key, c.Settlement.Status)
					}
					settled[key] = true
				}
				continue
			case runtime.Finish:
				outcome = c.Outcome
				continue
			default:
				continue
			}
			coming = append(coming, e)
		}
	}
	step := func(e runtime.Event) {
		e.At = time.Duration(len(journal))
		journal = append(journal, e)
		if e.Kind == runtime.Ended {
			name := names[place{e.Frame, e.Call}]
			tried[f.spoils(name)] = true
			ended[name] = e.Failure == nil
			delete(working, place{e.Frame, e.Call})
		}
		if e.Kind == runtime.Decided && e.Decision.Verdict == runtime.Retry {
			delete(doubtful, place{e.Frame, e.Call})
		}
		take(m.Step(e))
	}
	resume := func() {
		maps.Copy(doubtful, working)
		clear(working)
		how = []runtime.InFlight{runtime.InFlightRetry, runtime.InFlightAsk}[r.IntN(2)]
		step(runtime.Event{Kind: runtime.Resumed, Resumption: &runtime.Resumption{InFlight: how}})
	}
	step(runtime.Event{Kind: runtime.RunBegan})
	for outcome == nil {
		if kills > 0 && r.IntN(4) == 0 {
			if kills--; r.IntN(2) == 0 { // it is asked to stop, and goes on in the same or another process
				step(runtime.Event{Kind: runtime.Stopped, Text: string(runtime.ReasonInterrupted)})
				if outcome.Status != runtime.RunStopped {
					t.Fatalf("it was stopped, and is %s", outcome.Status)
				}
				outcome = nil
			}
			if r.IntN(2) == 0 && m.Stopped() {
				coming = nil
				resume()
				continue
			}
			m, coming = runtime.New(v, o), nil
			for _, e := range journal {
				if _, err := followed(m, e); err != nil {
					t.Fatalf("its journal can't be followed: %v", err)
				}
			}
			resume()
			continue
		}
		if len(coming) == 0 {
			t.Fatal("nothing is at work, and the run isn't over")

		}
		next := r.IntN(len(coming))
		e := coming[next]
		coming = slices.Delete(coming, next, next+1)
		step(e)
	}
	return outcome
}

// cameTo is what a run has come to, without what only the plan that is written out has.
func cameTo(o *runtime.Outcome) string {
	without := func(state any) any {
		all, _ := state.(map[string]any)
		all = maps.Clone(all)
		delete(all, "t")
		return all
	}
	text := string(o.Status)
	if o.Instances == nil {
		return text + " " + inJSON(without(o.State))
	}
	ends := slices.Clone(o.Instances)
	slices.SortFunc(ends, func(a, b runtime.InstanceEnd) int { return strings.Compare(a.ID, b.ID) })
	for _, end := range ends {
		text += fmt.Sprint(" ", end.ID, " ", end.Status, " ", inJSON(without(end.State)))
	}
	return text
}

// LANGUAGE.md#lists: a call with "_each" comes to what a call for each item, written out, and
// one that puts their results together come to: whatever the order in which they end, however
// many run at once, with failures, time-outs, retries, conditions, delegates with such calls of
// their own, instances with lists of their own, asked about or not, and killed anywhere. What was
// done isn't done again, and what may have been, only if whoever resumed the run last, or a
// person who was asked, says so.
func TestEachIsWhatIsWrittenOut(t *testing.T) {
	t.Parallel()
	const inner = "calls: [{_tool: work, v: †input.v, at: †input.at, of: †input.of || null, maybe: †input.maybe || null, flaky: †input.flaky, bad: †input.bad, slow: †input.slow || false, _outputPath: w}]\noutput: †state.w\n"
	const nested = `, of: †input.of || null, maybe: †input.maybe || null, flaky: †input.flaky`
	open := func(written bool) func(name string) ([]byte, error) {
		text := "calls:\n- {_id: w, _tool: work, _each: [1, 2, 3], v: †item, at: [†index, †input.at, †input.v], bad: '†(†input.bad and †index > 0)', slow: '†(†input.slow || false) and †index == 2'" + nested + ", _outputPath: w}\noutput: †state.w\n"
		if written {
			text = "calls:\n"
			for i := range 3 {
				text += fmt.Sprintf("- {_tool: work, v: %d, at: [%d, †input.at, †input.v], bad: '†(†input.bad and %[2]d > 0)', slow: '†(†input.slow || false) and %[2]d == 2'%s, _outputPath: r%[2]d || f%[2]d}\n", i+1, i, nested)
			}
			text += "- {_id: w, _tool: pack, results: [†state.r0 || null, †state.r1 || null, †state.r2 || null], failures: [†state.f0 || null, †state.f1 || null, †state.f2 || null], _outputPath: w}\noutput: †state.w\n"
		}
		return func(name string) ([]byte, error) {
			switch name {
			case "work.yaml":
				return []byte(inner), nil
			case "nested.yaml":
				return []byte(text), nil
			}
			return nil, os.ErrNotExist
		}
	}
	met := map[string]int{}
	for n := range amount.Of(30, 500, 20_000) {
		r := rand.New(rand.NewPCG(uint64(n), 33))
		f := newFan(r)
		o := compiler.Options{Functions: []string{"list", "other", "work", "pack", "use"}, Open: open(false)}
		each, why := compileWith(t, f.document(false), o)
		if each == nil {
			t.Fatalf("plan %d: %s\n%s", n, why, inJSON(f.document(false)))
		}
		o.Open = open(true)
		written, why := compileWith(t, f.document(true), o)
		if written == nil {
			t.Fatalf("plan %d, written out: %s\n%s", n, why, inJSON(f.document(true)))
		}
		want := f.play(t, written, r, runtime.Options{}, 0)
		for range 3 {
			options := runtime.Options{Parallel: 1 + r.IntN(4)}
			if f.collect && !(f.delegates && f.nested) && r.IntN(3) == 0 { // else who answers first decides what is begun
				options.Confirm.Policy = runtime.Always
			}
			got := f.play(t, each, r, options, r.IntN(4))
			if cameTo(got) != cameTo(want) {
				t.Fatalf("plan %d: %s\nwritten out: %s\n%s", n, cameTo(got), cameTo(want), inJSON(f.document(false)))
			}
			met[string(got.Status)]++
			if slices.ContainsFunc(f.items, func(item any) bool { return item.(map[string]any)["slow"] == true }) {
				met["timed out"]++
			}
			if got.Counts.Skipped > 1 {
				met["skipped"]++
			}
		}
	}
	if met["done"] == 0 || met["failed"] == 0 || met["skipped"] == 0 || met["timed out"] == 0 {
		t.Errorf("this shows too little: %v", met)
	}
}

// LANGUAGE.md#lists: as many items as there are, each once and in its place; none at all are done at once. A
// list that is none, or that is too long, and parameters that don't fit are found before
// anything has run.
func TestEachOfSoMany(t *testing.T) {
	for _, n := range []int{0, 1, 10_000} {
		f := fan{items: make([]any, n), retries: 1}
		for i := range f.items {
			f.items[i] = map[string]any{"v": float64(i), "flaky": false, "bad": false}
		}
		v, why := compileWith(t, f.document(false), compiler.Options{Functions: []string{"list", "other", "work", "use"}})
		if v == nil {
			t.Fatal(why)
		}
		end := f.play(t, v, rand.New(rand.NewPCG(1, uint64(n))), runtime.Options{}, 0)
		out, isList := end.State.(map[string]any)["out"].([]any)
		if end.Status != runtime.RunDone || !isList || len(out) != n || end.Counts.Done != 4+n {
			t.Errorf("of %d items: %s, %d results, %v", n, end.Status, len(out), end.Counts)
		}
		for i := range out {
			if one, _ := out[i].(map[string]any); one["v"] != float64(i) || one["at"] != float64(i) {
				t.Fatalf("item %d has %v", i, out[i])
			}
		}
	}
	for want, items := range map[string]any{
		`expression-type: "_each" must be a list, and †state.list is none`:                                     "text",
		"limit: \"_each\" has 100001 items; the limit is 100000":                                               make([]any, compiler.MaxItems+1),
		"bad-parameter: item 1: the parameters don't fit the tool's schema at v: expected a number, got \"b\"": []any{1.0, "b"},
	} {
		doc := map[string]any{
			"tools": map[string]any{"list": map[string]any{}, "work": map[string]any{"properties": map[string]any{"v": map[string]any{"type": "number"}}}},
			"calls": []any{
				map[string]any{"_tool": "list", "_outputPath": "list"},
				map[string]any{"_id": "w", "_tool": "work", "_each": "†state.list", "v": "†item", "_outputPath": "out || trouble"},
			},
		}
		v, why := compileWith(t, doc, compiler.Options{Functions: []string{"list", "work"}})
		if v == nil {
			t.Fatal(why)
		}
		m := runtime.New(v, runtime.Options{})
		m.Step(runtime.Event{Kind: runtime.RunBegan})
		for _, c := range m.Step(runtime.Event{Kind: runtime.Ended, Try: runtime.Try{Attempt: 1}, Route: -1, Value: items}) {
			switch {
			case c.Kind == runtime.Start:
				t.Errorf("%s: something was begun or written", want)
			case c.Kind == runtime.Settle && c.Call == 1 && codeAndMessage(c.Settlement.Failure) != want:
				t.Errorf("it says %q, want %q", codeAndMessage(c.Settlement.Failure), want)
			}
		}
		if !m.Over() {
			t.Errorf("%s: the run goes on", want)
		}
	}
}

// LANGUAGE.md#lists: items count in limits.calls; a run that stops there goes on with the others.
func TestEachCountsInLimits(t *testing.T) {
	f := fan{items: make([]any, 9), retries: 1}
	for i := range f.items {
		f.items[i] = map[string]any{"v": float64(i), "flaky": false, "bad": false}
	}
	doc := f.document(false)
	doc["limits"] = map[string]any{"calls": 6.0}
	v, why := compileWith(t, doc, compiler.Options{Functions: []string{"list", "other", "work", "use"}})
	if v == nil {
		t.Fatal(why)
	}
	m := runtime.New(v, runtime.Options{})
	started := map[string]int{}
	reasons := []runtime.Reason{}
	events := []runtime.Event{{Kind: runtime.RunBegan}}
	for len(events) > 0 {
		e := events[0]
		events = events[1:]
		for _, c := range m.Step(e) {
			switch c.Kind {
			case runtime.Start:
				started[c.Of.Name]++
				value, _ := f.act(c, true)
				events = append(events, runtime.Event{Kind: runtime.Ended, Try: c.Try, Route: -1, Value: value})
			case runtime.Finish:
				if reasons = append(reasons, c.Outcome.Reason); c.Outcome.Status == runtime.RunStopped {
					events = append(events, runtime.Event{Kind: runtime.Resumed})
				}
			}
		}
	}
	if len(started) != 12 || slices.Max(slices.Collect(maps.Values(started))) != 1 || !slices.Equal(reasons, []runtime.Reason{runtime.ReasonCalls, ""}) {
		t.Errorf("started %v, and it ended with %q", started, reasons)
	}
}

func codeAndMessage(f *runtime.Failure) string { return f.Code + ": " + f.Message }
