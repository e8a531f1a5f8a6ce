package state

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

// LANGUAGE.md#output-paths-and-state: whether a write fits, and what it makes of the state, is what a fold of all
// that counts before it says, in whichever order messages come; what they hold is
// never changed.
func TestDraftsAgreeWithAFold(t *testing.T) {
	plans := 150
	if testing.Short() {
		plans = 50
	}
	fit, unfit := 0, 0
	for n := range plans {
		r := rand.New(rand.NewPCG(uint64(n), 19))
		log := random(t, r)
		values, before := []any{}, []string{}
		for _, call := range r.Perm(len(log.layout.Plan.Calls)) {
			value, method := randomValue(r, 3), plan.Method(r.IntN(5))
			values, before = append(values, value), append(before, text(value))
			d, tried := log.Draft(int32(call)), []Message{}
			for _, path := range log.layout.Plan.Calls[call].Output[0] {
				want, why := foldOf(log, call, tried, Message{Path: path.ID, Method: method, Value: value})
				got, err := d.Write(path.ID, method, value)
				if (err == nil) != (why == "") || err == nil && !reflect.DeepEqual(got, want) {
					t.Fatalf("plan %d, call %d: %v to %s gives %s, %v; a fold gives %s %s", n, call, method, log.layout.Paths.String(path.ID), text(got), err, text(want), why)
				}
				if err != nil {
					unfit++
					break
				}
				fit++
				tried = append(tried, Message{Path: path.ID, Method: method, Value: value})
			}
			d.Discard()
			for _, m := range tried {
				m.Call, m.Failure = call, m.Method == plan.Set && r.IntN(8) == 0
				log.Append(m)
			}
		}
		for i, value := range values {
			if text(value) != before[i] {
				t.Fatalf("plan %d: a message held %s and holds %s now", n, before[i], text(value))
			}
		}
	}
	t.Logf("%d writes fit, %d don't", fit, unfit)
	if fit < plans || unfit < plans {
		t.Error("too few to show anything")
	}
}

// random is a log of an initial state and the plan of a few calls, of which some wait
// for others that are listed later.
func random(t *testing.T, r *rand.Rand) *Log {
	places := []string{"a", "a.k", "a.k.m", "a[0]", "a[1]", "a[0].k", "b.list", "b.list[0]", "b.list[1].k", "b.k", "b", "c[2]", "c"}
	if r.IntN(8) == 0 {
		places = append(places, "†state")
	}
	var b strings.Builder
	b.WriteString("calls:\n")
	n := 4 + r.IntN(16)
	for i := range n {
		fmt.Fprintf(&b, "- {_tool: f, _id: c%d, _outputPath: '%s", i, places[r.IntN(len(places))])
		if r.IntN(4) == 0 {
			fmt.Fprintf(&b, " && %s", places[r.IntN(len(places))])
		}
		b.WriteString("'")
		if later := i + 1 + r.IntN(4); later < n && r.IntN(4) == 0 {
			fmt.Fprintf(&b, ", _after: [c%d]", later)
		}
		b.WriteString("}\n")
	}
	p, found := compiler.Compile(source.NewFile("plan.yaml", []byte(b.String())), compiler.Options{Functions: []string{"f"}})
	if p.Root == nil || len(p.Calls) != n {
		t.Fatal(found)
	}
	initial := map[string]any{}
	for _, key := range []string{"a", "b", "c"} {
		if r.IntN(3) == 0 {
			initial[key] = randomValue(r, 3)
		}
	}
	log := New(map[string]any{"state": initial})
	log.Follow(&Layout{Plan: p, Paths: p.Paths, Settled: true, Inconsistency: new(string)})
	return log
}

func randomValue(r *rand.Rand, depth int) any {
	switch kind := r.IntN(6); {
	case kind < 2 && depth > 0:
		object := map[string]any{}
		for _, key := range []string{"k", "m", "list", "x"}[r.IntN(4):] {
			object[key] = randomValue(r, depth-1)
		}
		return object
	case kind < 4 && depth > 0:
		list := make([]any, r.IntN(3))
		for i := range list {
			list[i] = randomValue(r, depth-1)
		}
		return list
	case kind == 4:
		return nil
	}
	return float64(r.IntN(100))
}

// foldOf is what stands at a path after a message, of all that counts before it:
// every message is applied to a copy of the whole state.
func foldOf(l *Log, call int, tried []Message, last Message) (any, string) {
	var before []Message
	for _, m := range l.messages {
		if l.layout.Plan.Graph.Rank(m.Call) < l.layout.Plan.Graph.Rank(call) {
			before = append(before, m)
		}
	}
	slices.SortStableFunc(before, func(a, b Message) int {
		return l.layout.Plan.Graph.Rank(a.Call) - l.layout.Plan.Graph.Rank(b.Call)
	})
	var whole any = copied(l.initial)
	earliest := map[pathtree.ID]int{}
	for _, m := range before {
		if m.Failure {
			if other, there := earliest[m.Path]; there && other < m.Call {
				continue
			}
			earliest[m.Path] = m.Call
		}
		whole, _ = with(whole, l.layout.Paths, m)
	}
	for _, m := range tried {
		whole, _ = with(whole, l.layout.Paths, m)
	}
	whole, why := with(whole, l.layout.Paths, last)
	value, _ := pathtree.Walk(whole, l.layout.Paths.Segments(last.Path))
	return value, why
}

// with is a state with a message applied to it; or as it was, and why.
func with(whole any, paths *pathtree.Tree, m Message) (any, string) {
	root := map[string]any{"": copied(whole)} // a container above all
	var at any = root
	set := func(v any) { root[""] = v }
	value := root[""]
	for _, s := range paths.Segments(m.Path) {
		if value == nil {
			if value = any(map[string]any{}); s.IsIndex {
				value = []any{}
			}
			set(value)
		}
		at = value
		switch container := at.(type) {
		case map[string]any:
			if s.IsIndex {
				return whole, "an index of an object"
			}
			value, set = container[s.Key], func(v any) { container[s.Key] = v }
		case []any:
			if !s.IsIndex || s.Index > len(container) {
				return whole, "not an item"
			}
			if s.Index == len(container) {
				container = append(container, nil)
				set(container)
			}
			value, set = container[s.Index], func(v any) { container[s.Index] = v }
		default:
			return whole, "a path below something else"
		}
	}
	made, err := compiler.Combine(m.Method, value, copied(m.Value))
	if err != nil {
		return whole, err.Error()
	}
	set(made)
	return copied(root[""]), ""
}

func copied(v any) any {
	var out any
	if err := json.Unmarshal([]byte(text(v)), &out); err != nil {
		panic(err)
	}
	return out
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
