package runtime_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// Settlements, state, output, errors and what the next request says are the same
// however a solution's text is cut into pieces, and whatever happens between two
// of them: solutions of one tick and of several, carried, whose calls fight
// for few paths.
func TestCuttings(t *testing.T) {
	t.Parallel()
	cuttings(t, amount.Of(40, 330, 10_000), compiler.Options{})
}

// So they are where a policy orders what the solutions call: which call is refused
// hangs on neither timing nor pieces.
func TestCuttingsUnderAPolicy(t *testing.T) {
	t.Parallel()
	cuttings(t, amount.Of(40, 330, 10_000), compiler.Options{Limits: source.DefaultLimits(), Policies: []compiler.PolicyFile{{File: orderPolicy(), Counts: true}}})
}

// orderPolicy orders the tools of generated plans.
func orderPolicy() *source.File {
	var policy strings.Builder
	policy.WriteString("rules:\n")
	for i, order := range []string{"a: {at-most: 2}", "b: {never-after: c}", "c: {only-after: a}", "d: {at-most: 1, per: shape}", "d: {never-after: a, per: shape}"} {
		for k, name := range toolNames[:4] {
			order = strings.ReplaceAll(order, string(rune('a'+k))+":", name+":")
			order = strings.ReplaceAll(order, ": "+string(rune('a'+k)), ": "+name)
		}
		allows, denies := fmt.Sprintf("[%s]", toolNames[1]), fmt.Sprintf("[%s, %s]", toolNames[2], toolNames[1])
		switch i {
		case 0, 3:
			subject, _, _ := strings.Cut(order, ":")
			allows, denies = fmt.Sprintf("[%s]", subject), fmt.Sprintf("[%s, %s, %s]", subject, subject, subject)
		case 2:
			allows, denies = fmt.Sprintf("[%s, %s]", toolNames[0], toolNames[2]), fmt.Sprintf("[%s]", toolNames[2])
		case 4:
			allows, denies = fmt.Sprintf("[%s, %s]", toolNames[3], toolNames[0]), fmt.Sprintf("[%s, %s]", toolNames[0], toolNames[3])
		}
		fmt.Fprintf(&policy, "- {rule: r%d, order: {%s}, allows: %s, denies: %s}\n", i, order, allows, denies)
	}
	return source.NewFile("obelus.policy.yaml", []byte(policy.String()))
}

func cuttings(t *testing.T, plans int, o compiler.Options) {
	cuttings := []func(string) []string{inOnePiece, callwise, nil, characterwise, nil, nil}
	if !amount.Long() {
		cuttings = cuttings[:3]
	}
	count := map[string]int{}
	known := []int{1445, 5580} // that differed once
	for at := range plans + len(known) {
		n := at
		if at >= plans {
			n = known[at-plans]
		}
		f := frayed(uint64(n))
		v, why := compileWith(t, f.document, o)
		if v == nil {
			t.Fatalf("document %d: %s\n%s", n, why, inJSON(f.document))
		}
		var first map[string]any
		for cut, breaks := range cuttings {
			r := &simulator{t: t, verified: v, solutions: f.solutions, breaks: breaks, act: perform, order: rand.New(rand.NewPCG(uint64(cut), uint64(n)))}
			r.options.Planned = true
			r.run()
			if first == nil {
				first = r.ending()
				count[string(r.out.Status)]++
				count["ticks"] += r.out.Ticks
				count["calls done"] += r.out.Counts.Done
				count["failed"] += r.out.Counts.Failed
				count["skipped"] += r.out.Counts.Skipped
				count["repeated"] += r.repeated
			}
			if differs := difference(r.ending(), first); differs != "" {
				t.Fatalf("document %d, cutting %d, of\n%s\n%s\nin pieces,\n%s", n, cut, inJSON(f.document["state"]), strings.Join(f.solutions, "\n"), differs)
			}
		}
	}
	t.Logf("%d documents: %v", plans, count)
	if o.Policies == nil && (count["calls done"] < plans || count["repeated"]*5 < plans) {
		t.Error("too little of what is generated runs")
	}
}

// A call doesn't write into what a call wrote that is listed again behind it: that
// isn't there from the start.
func TestWriteIntoWhatIsRepeated(t *testing.T) {
	for _, into := range []string{"b.k", "b[0]", "b[1].k"} {
		v, why := compileGenerated(t, map[string]any{"plan": "carried", "tools": toolDefinitions(), "state": map[string]any{"b": []any{7.0}}, "calls": []any{}})
		if v == nil {
			t.Fatal(why)
		}
		const b = `{"_tool":"fetch","shape":"nothing","_outputPath":"b"}`
		solutions := []string{`{"calls":[` + b + `]}`, `{"calls":[{"_tool":"fetch","shape":"nothing","_outputPath":"` + into + `"},` + b + `]}`, noMore}
		var whole *simulator
		for _, breaks := range []func(string) []string{inOnePiece, callwise, characterwise} {
			r := &simulator{t: t, verified: v, solutions: solutions, breaks: breaks, act: perform, order: rand.New(rand.NewPCG(1, 2))}
			r.options.Planned = true
			r.run()
			if whole == nil {
				whole = r
			}
			if differs := difference(r.ending(), whole.ending()); differs != "" {
				t.Errorf("a write to %s, in pieces,\n%s", into, differs)
			}
		}
	}
}

// callwise cuts a text behind every object.
func callwise(text string) []string { return strings.SplitAfter(text, "}") }

// A fray is a document that has few paths, and its calls many ways to get at them.
type fray struct {
	*rand.Rand
	document  map[string]any
	solutions []string
	ids       int

	ofInstances []string
}

func frayed(seed uint64) *fray {
	c := &fray{Rand: rand.New(rand.NewPCG(seed, 77))}
	state := map[string]any{}
	for _, key := range []string{"a", "b", "c", "f", "g"} {
		if c.chance(60) {
			state[key] = c.startValue()
		}
	}
	c.document = map[string]any{"plan": "frayed", "tools": toolDefinitions(), "input": map[string]any{"size": 3.0}, "state": state, "calls": []any{}}
	if c.chance(30) {
		c.document["writes"] = "once"
	}
	if c.chance(5) {
		c.document["mode"] = "lazy"
	}
	if c.chance(10) {
		c.document["stateSchema"] = map[string]any{"properties": map[string]any{"d": map[string]any{"type": "array"}, "e": map[string]any{"type": "object"}}}
	}
	if c.chance(12) {
		c.ofInstances = append(c.ofInstances, "①", "②")
		c.document["instances"] = map[string]any{"①": map[string]any{"state": map[string]any{"a": c.startValue()}}, "②": map[string]any{}}
	}
	if c.chance(30) {
		for _, name := range toolNames[:2] {
			c.document["tools"].(map[string]any)[name].(map[string]any)["x-volatile"] = true
		}
	}
	var calls []map[string]any
	for range 1 + c.IntN(3) {
		calls = c.revise(calls)
		output := inJSON([]any{nil, nil, nil, map[string]any{"s": "†state"}, "†state.a", "†state.b[0] || †state.c"}[c.IntN(6)])
		c.solutions = append(c.solutions, fmt.Sprintf(`{"calls":%s,"output":%s}`, inJSON(orEmpty(calls)), output))
	}
	c.solutions = append(c.solutions, noMore)
	return c
}

func orEmpty(calls []map[string]any) []map[string]any {
	if calls == nil {
		return []map[string]any{}
	}
	return calls
}

func (c *fray) chance(percent int) bool { return c.IntN(100) < percent }

func (c *fray) startValue() any {
	object := map[string]any{"k": map[string]any{"m": 1.0}}
	return []any{nil, 7.0, "text", true, []any{}, []any{7.0}, []any{object, object}, map[string]any{}, map[string]any{"k": 1.0}, object, []any{[]any{1.0}, "x"}}[c.IntN(11)]
}

func (c *fray) path() string {
	if c.chance(50) {
		return string(rune('f' + c.IntN(6)))
	}
	return []string{"a", "b", "c", "d", "a", "b", "c", "a.k", "b.k", "c.k", "a[0]", "b[0]", "a[1]", "b[1]", "a.k.m", "b[0].k", "c.j", "d.k", "e", "e[0]"}[c.IntN(20)]
}

func (c *fray) reference() string {
	if c.chance(2) {
		return "†state"
	}
	return "†state." + c.path()
}

func (c *fray) expression() string {
	switch n := c.IntN(10); {
	case n < 2:
		return c.reference()
	case n < 9:
		return c.reference() + " || " + []string{c.reference(), "1", "2"}[c.IntN(3)]
	}
	return c.reference() + " && " + c.reference()
}

func (c *fray) output() string {
	switch n := c.IntN(20); {
	case n < 13:
		return c.path()
	case n < 15:
		return c.path() + " && " + c.path()
	case n < 18:
		return c.path() + " || " + c.path()
	case n < 19:
		return c.path() + " || log"
	}
	return "†state"
}

// call is one more call, at times with a fault.
func (c *fray) call() map[string]any {
	call := map[string]any{"_tool": toolNames[c.IntN(5)], "seed": float64(c.IntN(3)), "shape": []string{"nothing", "number", "list", "object", "text", "flag"}[c.IntN(6)]}
	if c.chance(10) {
		call["_tool"], call["shape"] = "measure", "total"
	}
	if c.chance(90) {
		call["_outputPath"] = c.output()
		if c.chance(45) {
			call["_outputMethod"] = []string{"push", "merge", "assign", "concat"}[c.IntN(4)]
		}
	}
	if c.chance(40) {
		call["from"] = c.expression()
	}
	if c.chance(15) {
		call["deep"] = []any{map[string]any{"in": c.expression()}, c.expression()}
	}
	if c.chance(12) {
		call["_when"] = c.expression() + []string{" != 3", " == nil", ""}[c.IntN(3)]
		if strings.Contains(call["_when"].(string), "||") || strings.Contains(call["_when"].(string), "&&") {
			call["_when"] = "†(" + strings.TrimSuffix(strings.TrimSuffix(call["_when"].(string), " != 3"), " == nil") + ") != 3"
		}
	}
	if c.chance(15) {
		call["fails"] = float64(1 + c.IntN(2))
		if c.chance(50) {
			call["_retry"] = []any{map[string]any{"attempts": 2.0}, 2.0}[c.IntN(2)]
		}
	}
	if c.chance(15) {
		c.ids++
		call["_id"] = fmt.Sprint("id", c.ids)
	}
	if c.chance(8) && c.ids > 0 {
		id := fmt.Sprint("id", 1+c.IntN(c.ids+1))
		call["_after"] = []any{[]any{id}, map[string]any{"settled": id}, call["_tool"], "other"}[c.IntN(4)]
	}
	if len(c.ofInstances) > 0 && c.chance(30) {
		call["_instance"] = c.ofInstances[c.IntN(len(c.ofInstances))]
	}
	if c.chance(8) {
		c.spoil(call)
	}
	return call
}

// spoil puts a fault into a call.
func (c *fray) spoil(call map[string]any) {
	switch c.IntN(7) {
	case 0:
		call["_tool"] = "conjure"
	case 1:
		call["_tool"] = "weigh" // which wants a load
	case 2:
		call["_outputMthod"] = "push"
	case 3:
		call["from"] = "†state.never.there"
	case 4:
		call["from"] = "†state.a ||"
	case 5:
		call["_id"] = "id1"
	case 6:
		call["_outputPath"] = "†input.size"
	}
}

// revise is what the planner makes of a list of calls in the next tick.
func (c *fray) revise(calls []map[string]any) []map[string]any {
	var next []map[string]any
	for _, call := range calls {
		call = maps.Clone(call)
		switch n := c.IntN(20); {
		case n < 3:
			continue
		case n < 5:
			call["seed"] = float64(c.IntN(3))
		case n < 6:
			call["_outputPath"] = c.output()
		case n < 8:
			twin := maps.Clone(call)
			delete(twin, "_id")
			next = append(next, twin)
		}
		next = append(next, call)
	}
	for range 1 + c.IntN(5) {
		next = slices.Insert(next, c.IntN(len(next)+1), c.call())
	}
	switch {
	case c.chance(20):
		slices.Reverse(next)
	case c.chance(20):
		c.Shuffle(len(next), func(i, j int) { next[i], next[j] = next[j], next[i] })
	}
	return next
}
