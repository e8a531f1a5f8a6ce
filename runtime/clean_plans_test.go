package runtime_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// typedPlan makes a plan over tools with types: chains, branches that join
// again, failure routes that are read, paths that are rewritten, results written
// twice, lists that grow and objects that are put together. What a branching tool
// gives names one of the two alternatives, so that both are taken, over many
// seeds; tools with a failure route fail at times.
//
// Two of three plans have a state schema, open or closed. It is derived from what
// the calls write, so that every value has room: each path's is the schema of the
// result, or a wider one. A careless plan has one that is neither.
type typedPlan struct {
	*rand.Rand
	calls    []any
	tools    map[string]any
	output   map[string]any
	numbers  []string // references to numbers that are there
	integers []string // some of them, which are whole
	initial  map[string]any
	state    map[string]any  // by top-level path: the schema of what stands there
	told     map[string]bool // paths that a tool decides about: by failing, or by name
	schema   stateSchemaForm
	careless bool
	fresh    int

	branches, fallbacks, rewrites int
}

type stateSchemaForm int

const (
	noStateSchema stateSchemaForm = iota
	openStateSchema
	closedStateSchema
)

func newTypedPlan(n int) *typedPlan {
	g := &typedPlan{
		Rand: rand.New(rand.NewPCG(uint64(n), 7)), numbers: []string{"†input.n"}, schema: stateSchemaForm(n % 3),
		tools: map[string]any{}, output: map[string]any{}, initial: map[string]any{}, state: map[string]any{}, told: map[string]bool{},
	}
	g.tools["tell"] = tool(object{"code": object{"type": "string"}}, nil)
	if g.schema != noStateSchema && g.IntN(2) == 0 {
		g.initial["base"] = float64(g.IntN(5))
		g.state["base"] = object{"type": "integer", "minimum": 0}
		g.integers = append(g.integers, "†state.base")
		g.numbers = append(g.numbers, "†state.base")
	}
	for range 6 + g.IntN(5) {
		g.step()
	}
	if g.careless = g.schema != noStateSchema && g.IntN(5) == 0; g.careless {
		paths := slices.DeleteFunc(slices.Sorted(maps.Keys(g.state)), func(p string) bool { return g.told[p] }) // what has no room there is for the tool to answer for
		g.state[pick(g, paths...)] = pick[any](g, g.result(), g.record(), object{"type": "array"}, object{"type": "object", "properties": object{"unit": object{"type": "integer"}}})
	}
	for i, n := range g.numbers {
		g.output[fmt.Sprintf("n%d", i)] = n
	}
	return g
}

type object = map[string]any

// tool is a tool whose parameters are all required.
func tool(parameters object, result any) object {
	required := []any{}
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		required = append(required, name)
	}
	t := object{"type": "object", "properties": parameters, "required": required}
	if result != nil {
		t["_output"] = result
	}
	return t
}

var numeric = object{"type": "number"}

func (g *typedPlan) path() string {
	g.fresh++
	return fmt.Sprintf("p%d", g.fresh)
}

func pick[T any](g *typedPlan, from ...T) T { return from[g.IntN(len(from))] }

func (g *typedPlan) number() string { return pick(g, g.numbers...) }

func (g *typedPlan) add(call object) { g.calls = append(g.calls, call) }

// result is the schema of an object with a number, and at times more.
func (g *typedPlan) result() object {
	value := pick(g, numeric, numeric, object{"type": "integer"}, object{"type": "integer", "minimum": 0, "maximum": 9}, object{"type": "number", "exclusiveMinimum": 0})
	properties, required := object{"value": value}, []any{"value"}
	if g.IntN(2) == 0 {
		properties["unit"] = pick(g, object{"type": "string", "maxLength": 8}, object{"enum": []any{"m", "km"}}, object{"type": []any{"string", "null"}})
	}
	if g.IntN(3) == 0 {
		properties["parts"] = object{"type": "array", "items": object{"type": "integer"}, "maxItems": 3}
		required = append(required, "parts")
	}
	result := object{"type": "object", "properties": properties, "required": required}
	if g.IntN(2) == 0 {
		result["additionalProperties"] = false
	}
	return result
}

// declare says what the state holds at a path: one of some results, or more.
func (g *typedPlan) declare(path string, results ...any) {
	var s any = object{"anyOf": results}
	if len(results) == 1 {
		s = results[0]
	}
	switch g.IntN(5) {
	case 0:
		s = object{}
	case 1:
		if wide, ok := widened(results); ok {
			s = wide
		}
	}
	at := g.state
	names := strings.Split(path, ".")
	for _, name := range names[:len(names)-1] {
		if at[name] == nil {
			at[name] = object{"type": "object", "properties": object{}, "additionalProperties": false}
		}
		at = at[name].(object)["properties"].(object)
	}
	at[names[len(names)-1]] = s
}

// widened is a schema of all objects with a number.
func widened(results []any) (any, bool) {
	for _, r := range results {
		if o, ok := r.(object); !ok || o["properties"] == nil || o["properties"].(object)["value"] == nil {
			return nil, false
		}
	}
	return object{"type": "object", "properties": object{"value": numeric}, "required": []any{"value"}}, true
}

// record is what the state may say of a place for failures.
func (g *typedPlan) record() any {
	text := object{"type": "string"}
	return pick[any](g, object{}, object{"type": "object", "properties": object{"code": text}},
		object{"type": "object", "properties": object{"code": text, "message": text, "details": object{}}, "required": []any{"code"}})
}

// measure adds a call of a tool of its own, which makes a number of a number.
func (g *typedPlan) measure(from, output string, more object) object {
	result := g.result()
	name := fmt.Sprintf("measure%d", len(g.tools))
	parameters := object{"from": numeric}
	call := object{"_tool": name, "from": from}
	if len(g.integers) > 0 && g.IntN(3) == 0 {
		parameters["count"] = object{"type": "integer"}
		call["count"] = pick(g, g.integers...)
	}
	g.tools[name] = tool(parameters, result)
	if output != "" {
		call["_outputPath"] = output
	}
	maps.Copy(call, more)
	g.add(call)
	return result
}

// offer makes the number of what stands at a path readable.
func (g *typedPlan) offer(path string, result object) {
	ref := "†state." + path + ".value"
	g.numbers = append(g.numbers, ref)
	if result["properties"].(object)["value"].(object)["type"] == "integer" {
		g.integers = append(g.integers, ref)
	}
}

func (g *typedPlan) chain(from string) {
	path := g.path()
	if g.IntN(4) == 0 {
		path += ".inner.most"
	}
	result := g.measure(from, path, nil)
	g.declare(path, result)
	g.offer(path, result)
}

func (g *typedPlan) step() {
	switch g.IntN(8) {
	case 0, 1:
		g.chain(g.number())
	case 2: // a branch whose ends join
		yes, no, fault, left, right := g.path(), g.path(), g.path(), g.path(), g.path()
		name := "decide_" + yes
		result := object{"type": "object", "properties": object{"value": numeric}, "required": []any{"value"}}
		decide := tool(object{"from": numeric}, result)
		decide["examples"] = []any{
			object{"_outputPath": "†state." + yes, "_output": object{"value": 1}},
			object{"_outputPath": "†state." + no, "_output": object{"value": 2}},
		}
		g.tools[name] = decide
		g.add(object{"_tool": name, "from": g.number(), "_outputPath": "†state." + yes + " || †state." + no + " || †state." + fault})
		g.told[yes], g.told[no] = true, true
		g.state[fault], g.told[fault] = g.record(), true
		decide["x-simulate"] = object{"failure": 0.2}
		g.add(object{"_tool": "tell", "code": "†state." + fault + ".code"})
		g.declare(yes, result)
		g.declare(no, result)
		g.declare(left, g.measure("†state."+yes+".value", left, nil))
		g.declare(right, g.measure("†state."+no+".value", right, nil))
		g.chain("†state." + left + ".value || †state." + right + ".value || 0")
		g.branches++
		g.fallbacks++
	case 3: // a path that is rewritten
		path := g.path()
		results := []any{g.measure(g.number(), path, nil)}
		for range 1 + g.IntN(2) {
			results = append(results, g.measure("†state."+path+".value", path, nil))
		}
		g.declare(path, results...)
		g.offer(path, results[len(results)-1].(object))
		g.rewrites++
	case 4: // a failure route that somebody reads
		ok, fault := g.path(), g.path()
		g.declare(ok, g.measure(g.number(), ok+" || "+fault, nil))
		risky := g.calls[len(g.calls)-1].(object)["_tool"].(string)
		g.tools[risky].(object)["x-simulate"] = object{"failure": 0.3}
		g.state[fault], g.told[fault] = g.record(), true
		g.chain("†state." + ok + ".value || 0")
		g.add(object{"_tool": "tell", "code": "†state." + fault + ".code"})
		g.branches++
		g.fallbacks++
	case 5: // a result in two places
		one, other := g.path(), g.path()
		result := g.measure(g.number(), one+" && "+other, nil)
		g.declare(one, result)
		g.declare(other, result)
		g.offer(one, result)
		g.offer(other, result)
	case 6: // a list that grows, and is read as a whole
		path := g.path()
		var items []any
		for range 1 + g.IntN(3) {
			items = append(items, g.measure(g.number(), path, object{"_outputMethod": "push"}))
		}
		item := any(object{"anyOf": items})
		if wide, ok := widened(items); ok && g.IntN(2) == 0 {
			item = wide
		}
		g.declare(path, object{"type": "array", "items": item})
		g.total(path, object{"type": "array", "items": object{"type": "object", "properties": object{"value": numeric}, "required": []any{"value"}}})
	case 7: // an object that is put together
		path := g.path()
		result := g.measure(g.number(), path, nil)
		more := object{"type": "object", "properties": object{"extra": object{"type": "boolean"}}, "required": []any{"extra"}, "additionalProperties": false}
		name := fmt.Sprintf("add%d", len(g.tools))
		g.tools[name] = tool(object{"to": numeric}, more)
		g.add(object{"_tool": name, "to": "†state." + path + ".value", "_outputPath": path, "_outputMethod": pick(g, "merge", "assign")})
		g.declare(path, object{"type": "object", "properties": object{"value": result["properties"].(object)["value"], "extra": object{"type": "boolean"}}, "required": []any{"value"}})
		g.offer(path, result)
	}
}

// total adds a call that makes a number of a whole value.
func (g *typedPlan) total(path string, taken any) {
	sum, name := g.path(), fmt.Sprintf("total%d", len(g.tools))
	result := g.result()
	g.tools[name] = tool(object{"all": taken}, result)
	g.add(object{"_tool": name, "all": "†state." + path, "_outputPath": sum})
	g.declare(sum, result)
	g.offer(sum, result)
}

// stateSchema is the schema that the plan declares, or nil.
func (g *typedPlan) stateSchema() object {
	s := object{"type": "object", "properties": maps.Clone(g.state)}
	for name := range g.initial {
		s["required"] = []any{name}
	}
	switch g.schema {
	case noStateSchema:
		return nil
	case closedStateSchema:
		s["additionalProperties"] = false
	case openStateSchema:
		if g.IntN(2) == 0 {
			s["additionalProperties"] = true
		}
		for _, name := range slices.Sorted(maps.Keys(g.state)) {
			if _, required := g.initial[name]; !required && g.IntN(3) == 0 {
				delete(s["properties"].(object), name)
			}
		}
	}
	return s
}

// document is the plan's text, and its state schema.
func (g *typedPlan) document() ([]byte, object) {
	doc := object{"tools": g.tools, "calls": g.calls, "input": object{"n": 1}, "output": g.output}
	s := g.stateSchema()
	if s != nil {
		doc["stateSchema"] = s
	}
	if len(g.initial) > 0 {
		doc["state"] = g.initial
	}
	text, err := json.Marshal(doc)
	if err != nil {
		panic(err)
	}
	return text, s
}
