package facts_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/compiler/plan"
)

type object = map[string]any

// A draft is a plan that is being written, as generic JSON, whose author knows each call
// whatever it is called.
type draft struct {
	doc      object
	delegate object
	calls    []object
	ids      []int // which call it is
	next     int
}

var parts = []string{"a", "b", "c"}

// written is a random plan: calls of programs, models, expressions and a delegate, some
// with names, conditions, alternatives, lists, and some that write what others write.
func written(r *rand.Rand) *draft {
	d := &draft{
		doc: object{
			"plan": "generated", "input": object{"q": "x", "n": 1.0}, "state": object{"s": "start", "list": []any{1.0, 2.0}},
			"limits": object{"calls": 100.0},
			"tools": object{
				"get":  tool(object{}, object{"type": "string"}),
				"put":  tool(object{"destructiveHint": true}, nil),
				"ask":  tool(object{}, object{"type": "string"}),
				"calc": tool(object{}, object{"type": "string"}),
				"sub":  object{"properties": object{"a": object{}, "b": object{}, "c": object{}, "_output": object{}}, "_delegate": "sub.yaml"},
			},
			"activities": object{
				"get":  object{"exec": object{"argv": []any{"get", "{a}"}}},
				"put":  object{"exec": object{"argv": []any{"put", "{a}"}}},
				"calc": object{"expr": "string(a)"},
			},
		},
		delegate: object{
			"plan": "sub", "inputSchema": object{"type": "object"}, "output": "†state.r",
			"tools": object{"inner": tool(object{}, object{"type": "string"})},
			"calls": []any{object{"_tool": "inner", "a": "†input.a", "b": "fixed", "_outputPath": "r"}},
		},
	}
	for range 3 + r.IntN(9) {
		d.add(r)
	}
	if r.IntN(2) == 0 {
		d.doc["output"] = object{"last": fmt.Sprintf("†state.p%d || null", r.IntN(d.next)), "fixed": "word"}
	}
	return d
}

func tool(annotations object, output any) object {
	properties := object{"a": object{}, "b": object{}, "c": object{}}
	if output != nil {
		properties["_output"] = output
	}
	return object{"type": "object", "properties": properties, "annotations": annotations}
}

// value is what a call may be given.
func (d *draft) value(r *rand.Rand) any {
	path := "state.s"
	if d.next > 0 && r.IntN(4) > 0 {
		path = fmt.Sprintf("state.p%d", r.IntN(d.next))
	}
	switch r.IntN(8) {
	case 0:
		return "†input.q"
	case 1:
		return object{"x": "†" + path, "y": fmt.Sprintf("word %d", r.IntN(1000))}
	case 2:
		return "of †{" + path + "} and more"
	case 3:
		return fmt.Sprintf("†%s || †state.s", path)
	case 4:
		return object{"x": float64(r.IntN(1000)), "z": []any{"k", fmt.Sprint(r.IntN(1000))}}
	default:
		return "†" + path
	}
}

func (d *draft) add(r *rand.Rand) {
	call := object{"_tool": []string{"get", "put", "ask", "calc", "sub"}[r.IntN(5)]}
	for _, name := range parts[:1+r.IntN(3)] {
		call[name] = d.value(r)
	}
	call["b"] = fmt.Sprintf("unique %d", r.IntN(1_000_000))
	switch path := fmt.Sprintf("p%d", d.next); {
	case call["_tool"] == "put":
	case r.IntN(5) == 0:
		call["_outputPath"] = fmt.Sprintf("%s || e%d", path, d.next)
	case d.next > 0 && r.IntN(8) == 0:
		call["_outputPath"] = fmt.Sprintf("p%d", r.IntN(d.next)) // as in draft, polish
	default:
		call["_outputPath"] = path
	}
	if r.IntN(3) == 0 {
		call["_id"] = fmt.Sprintf("named%d", d.next)
	}
	if r.IntN(5) == 0 {
		call["_when"] = "†state.s != 'z'"
	}
	if r.IntN(8) == 0 {
		call["_each"], call["c"] = "†state.list", "†item"
	}
	if r.IntN(6) == 0 {
		call["_timeout"] = "5s"
	}
	d.calls, d.ids = append(d.calls, call), append(d.ids, d.next)
	d.next++
}

func (d *draft) clone() *draft {
	var doc, delegate object
	copied := func(v any, into any) {
		text, _ := json.Marshal(v)
		_ = json.Unmarshal(text, into)
	}
	copied(d.doc, &doc)
	copied(d.delegate, &delegate)
	var calls []object
	copied(d.calls, &calls)
	return &draft{doc, delegate, calls, slices.Clone(d.ids), d.next}
}

// awaited reports whether another call names this one in its _after.
func (d *draft) awaited(i int) bool {
	id, ok := d.calls[i]["_id"]
	return ok && slices.ContainsFunc(d.calls, func(c object) bool {
		after, _ := c["_after"].([]any)
		return slices.Contains(after, id)
	})
}

func (d *draft) text() string {
	calls := make([]any, len(d.calls))
	for i, c := range d.calls {
		calls[i] = c
	}
	d.doc["calls"] = calls
	text, _ := json.Marshal(d.doc)
	return string(text)
}

func (d *draft) compile(t testing.TB) *plan.Plan {
	delegate, _ := json.Marshal(d.delegate)
	return compiled(t, "plan.json", d.text(), map[string]string{"sub.yaml": string(delegate)})
}

// said is a difference as far as tests expect it.
func said(d facts.Difference) string {
	return strings.TrimRight(fmt.Sprintf("%s %s %s %s %s in %s", d.Change, d.Of, d.Name, d.What, d.Path, d.In), " ")
}

// A mutation changes one thing of a draft, and says what it expects to be told besides
// what follows for flows; false where there is nothing of the kind in the draft. Names of
// calls stand as call N.
type mutation struct {
	name string
	do   func(r *rand.Rand, d *draft) (expected []string, ok bool)
}

func changed(id int, what, path string) string {
	return strings.TrimRight(fmt.Sprintf("changed call <%d> %s %s in", id, what, path), " ")
}

// pick is a random call for which something holds.
func (d *draft) pick(r *rand.Rand, holds func(object) bool) (int, bool) {
	for _, i := range r.Perm(len(d.calls)) {
		if holds(d.calls[i]) {
			return i, true
		}
	}
	return 0, false
}

func is(tools ...string) func(object) bool {
	return func(c object) bool { return slices.Contains(tools, c["_tool"].(string)) }
}

// set is a mutation of one key of some call.
func set(key, what string, to func(r *rand.Rand, c object) any, holds func(object) bool) mutation {
	return mutation{"set " + key + " " + what, func(r *rand.Rand, d *draft) ([]string, bool) {
		i, ok := d.pick(r, func(c object) bool {
			return holds(c) && fmt.Sprint(to(rand.New(rand.NewPCG(1, 1)), c)) != fmt.Sprint(c[key])
		})
		if !ok {
			return nil, false
		}
		value := to(rand.New(rand.NewPCG(1, 1)), d.calls[i])
		if d.calls[i][key] = value; value == nil {
			delete(d.calls[i], key)
		}
		return []string{changed(d.ids[i], what, "")}, true
	}}
}

func fixed(v any) func(*rand.Rand, object) any { return func(*rand.Rand, object) any { return v } }

func anyCall(object) bool { return true }

func plain(c object) bool { return c["_each"] == nil }

// document is a mutation of something besides the calls.
func document(name string, expected string, do func(d *draft)) mutation {
	return mutation{name, func(_ *rand.Rand, d *draft) ([]string, bool) {
		do(d)
		if expected == "" {
			return nil, true
		}
		return []string{expected}, true
	}}
}

func at(o object, keys ...string) object {
	for _, key := range keys {
		o = o[key].(object)
	}
	return o
}

var mutations = []mutation{
	{"nothing", func(*rand.Rand, *draft) ([]string, bool) { return nil, true }},
	{"shuffle", func(r *rand.Rand, d *draft) ([]string, bool) {
		r.Shuffle(len(d.calls), func(i, j int) {
			d.calls[i], d.calls[j], d.ids[i], d.ids[j] = d.calls[j], d.calls[i], d.ids[j], d.ids[i]
		})
		return nil, true
	}},
	{"add", func(r *rand.Rand, d *draft) ([]string, bool) {
		d.add(r)
		last := len(d.calls) - 1
		to := r.IntN(len(d.calls))
		call, id := d.calls[last], d.ids[last]
		d.calls, d.ids = slices.Insert(d.calls[:last], to, call), slices.Insert(d.ids[:last], to, id)
		return []string{fmt.Sprintf("added call <%d>   in", id)}, true
	}},
	{"remove", func(r *rand.Rand, d *draft) ([]string, bool) {
		i := r.IntN(len(d.calls))
		if d.awaited(i) {
			return nil, false
		}
		id := d.ids[i]
		d.calls, d.ids = slices.Delete(d.calls, i, i+1), slices.Delete(d.ids, i, i+1)
		return []string{fmt.Sprintf("removed call <%d>   in", id)}, true
	}},
	{"rename", func(r *rand.Rand, d *draft) ([]string, bool) {
		i := r.IntN(len(d.calls))
		if d.awaited(i) {
			return nil, false
		}
		d.calls[i]["_id"] = fmt.Sprintf("another name %d", r.IntN(1_000_000))
		return []string{fmt.Sprintf("renamed call <%d>   in", d.ids[i])}, true
	}},
	set("b", "value b", fixed("a new word"), anyCall),
	set("b", "value b", fixed("†state.list"), anyCall),
	set("b", "value b", fixed(nil), anyCall),
	{"part of a literal", func(r *rand.Rand, d *draft) ([]string, bool) {
		i, ok := d.pick(r, func(c object) bool { v, ok := c["a"].(object); return ok && v["z"] != nil })
		if ok {
			at(d.calls[i], "a")["z"].([]any)[1] = "else"
			return []string{changed(d.ids[i], "value", "a.z[1]")}, true
		}
		return nil, false
	}},
	{"part becomes an expression", func(r *rand.Rand, d *draft) ([]string, bool) {
		i, ok := d.pick(r, func(c object) bool { v, ok := c["a"].(object); return ok && v["z"] != nil })
		if ok {
			at(d.calls[i], "a")["x"] = "†input.n"
			return []string{changed(d.ids[i], "value", "a.x")}, true
		}
		return nil, false
	}},
	set("_when", "condition", fixed("†state.s == 'y'"), plain),
	set("_when", "condition", fixed(nil), func(c object) bool { return plain(c) && c["_when"] != nil }),
	set("_timeout", "timeout", fixed("7s"), anyCall),
	set("_confirm", "a person is asked", fixed(true), anyCall),
	set("_reasoningForCall", "reasoning", fixed("because"), anyCall),
	set("_each", "each of", fixed("†state.list || null"), func(c object) bool { return c["_each"] != nil }),
	set("_onItemFailure", "goes on when an item failed", fixed("collect"), func(c object) bool { return c["_each"] != nil }),
	set("_scopes", "context", fixed([]any{"input"}), is("get", "put", "calc")),
	{"retry", func(r *rand.Rand, d *draft) ([]string, bool) {
		i := r.IntN(len(d.calls))
		d.calls[i]["_retry"] = object{"attempts": 4.0, "backoff": "2s"}
		return []string{changed(d.ids[i], "tries", ""), changed(d.ids[i], "backoff", "")}, true
	}},
	{"tool", func(r *rand.Rand, d *draft) ([]string, bool) {
		i, ok := d.pick(r, is("ask"))
		if !ok {
			return nil, false
		}
		d.calls[i]["_tool"] = "get"
		return []string{changed(d.ids[i], "tool", ""), changed(d.ids[i], "effect", ""), // a model is beyond the machine, too
			changed(d.ids[i], "a second time does no more", ""), changed(d.ids[i], "carried out by", ""), changed(d.ids[i], "context", "")}, true
	}},
	{"after", func(r *rand.Rand, d *draft) ([]string, bool) {
		i, ok := d.pick(r, func(c object) bool { return c["_id"] != nil })
		if !ok || i == len(d.calls)-1 {
			return nil, false
		}
		at := i + 1 + r.IntN(len(d.calls)-i-1)
		d.calls[at]["_after"] = []any{d.calls[i]["_id"]}
		return []string{changed(d.ids[at], "after", d.calls[i]["_id"].(string))}, true
	}},
	{"effect", func(_ *rand.Rand, d *draft) ([]string, bool) {
		at(d.doc, "tools", "get")["annotations"] = object{"destructiveHint": true}
		expected := []string{"changed tool get definition in"}
		for i, c := range d.calls {
			if c["_tool"] == "get" {
				expected = append(expected, changed(d.ids[i], "effect", ""))
			}
		}
		return expected, true
	}},
	{"program", func(_ *rand.Rand, d *draft) ([]string, bool) {
		at(d.doc, "activities", "get", "exec")["argv"] = []any{"get", "--all", "{a}"}
		if !slices.ContainsFunc(d.calls, is("get")) {
			return nil, false
		}
		return []string{"changed activity get definition exec.argv[1] in", "changed activity get definition exec.argv[2] in"}, true
	}},
	document("limit", "changed setting limits  calls in", func(d *draft) { at(d.doc, "limits")["calls"] = 7.0 }),
	document("another limit", "changed setting limits  ticks in", func(d *draft) { at(d.doc, "limits")["ticks"] = 3.0 }),
	document("mode", "added setting mode   in", func(d *draft) { d.doc["mode"] = "lazy" }),
	document("state", "changed setting state  s in", func(d *draft) { at(d.doc, "state")["s"] = "else" }),
	document("input", "changed setting input  n in", func(d *draft) { at(d.doc, "input")["n"] = 2.0 }),
	document("name", "changed setting plan   in", func(d *draft) { d.doc["plan"] = "other" }),
	document("schema of the output", "added setting outputSchema   in", func(d *draft) { d.doc["outputSchema"] = object{"type": "object"} }),
	document("a tool's parameter", "changed tool ask parameters properties.a.type in", func(d *draft) {
		at(d.doc, "tools", "ask", "properties", "a")["type"] = "string"
	}),
	document("a tool's output", "changed tool ask output maxLength in", func(d *draft) {
		at(d.doc, "tools", "ask", "properties", "_output")["maxLength"] = 9.0
	}),
	document("a tool's description", "changed tool ask description  in", func(d *draft) { at(d.doc, "tools", "ask")["description"] = "asks" }),
	document("a new tool", "added tool more   in", func(d *draft) { at(d.doc, "tools")["more"] = object{} }),
	document("nothing but layout", "", func(d *draft) { d.doc["x-note"] = "kept" }),
	{"output", func(_ *rand.Rand, d *draft) ([]string, bool) {
		if d.doc["output"] == nil {
			return nil, false
		}
		at(d.doc, "output")["fixed"] = "other"
		return []string{"changed output   fixed in"}, true
	}},
	{"delegate", func(_ *rand.Rand, d *draft) ([]string, bool) {
		d.delegate["calls"].([]any)[0].(object)["b"] = "otherwise"
		if !slices.ContainsFunc(d.calls, is("sub")) {
			return nil, false
		}
		return []string{"changed call inner#1 value b in sub.yaml"}, true
	}},
}
