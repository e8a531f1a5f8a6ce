package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
)

// generatedPlans is how many plans are written; of each eighth there is a copy with one change.
const generatedPlans = 3000

// writeGenerated writes plans that use the whole language: the same ones each time. Folders have a policy, or
// none. What they lack in sense they have in variety: most are sound, and a quarter has a fault.
func (m *material) writeGenerated() error {
	folders := []string{"plain", "settings", "trust", "bounds", "order"}
	for _, folder := range folders {
		for name, text := range policies[folder] {
			if err := m.write(filepath.Join(generated, folder, name), []byte(text)); err != nil {
				return err
			}
		}
		if err := m.write(filepath.Join(generated, folder, "part.json"), []byte(part)); err != nil {
			return err
		}
	}
	for i := range generatedPlans {
		name := filepath.Join(generated, folders[max(0, i%12-7)], fmt.Sprintf("p%04d", i))
		if err := m.writeJSON(name+".json", newAuthor(uint64(i)).plan()); err != nil {
			return err
		}
		if i%8 == 0 {
			a := newAuthor(uint64(i))
			document := a.plan()
			a.change(document)
			if err := m.writeJSON(name+"-changed.json", document); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeSlow writes plans with programs that take a moment, so that there is time to kill a run.
func (m *material) writeSlow() error {
	for i := range 8 {
		a := newAuthor(uint64(i))
		activities, calls := map[string]any{"sum": map[string]any{"expr": "n + 1"}}, []any{}
		for j := range 8 {
			tool := fmt.Sprintf("wait%d", j%4)
			activities[tool] = map[string]any{
				"exec": map[string]any{"argv": []string{"sh", "-c", fmt.Sprintf("sleep 0.0%d; cat", 1+a.IntN(6))}},
			}
			c := map[string]any{"_tool": choose(a, tool, tool, "sum"), "n": j, "_outputPath": fmt.Sprintf("v%d", j)}
			if j > 0 && a.chance(60) {
				c["_after"] = []any{map[string]any{"settled": []string{fmt.Sprintf("c%d", a.IntN(j))}}}
			}
			c["_id"] = fmt.Sprintf("c%d", j)
			calls = append(calls, c)
		}
		name := filepath.Join(generated, "slow", fmt.Sprintf("s%d.json", i))
		document := map[string]any{"plan": "slow", "activities": activities, "calls": calls}
		if err := m.writeJSON(name, document); err != nil {
			return err
		}
		m.slow = append(m.slow, name)
	}
	return m.write(filepath.Join(generated, "slow", "obelus.yaml"), nil)
}

func (m *material) writeJSON(name string, document any) error {
	text, err := json.MarshalIndent(document, "", " ")
	if err != nil {
		return err
	}
	return m.write(name, append(text, '\n'))
}

// part is a plan that generated plans delegate to.
const part = `{
 "plan": "part",
 "inputSchema": {
  "type": "object", "properties": {"n": {"type": "number"}, "s": {"type": "string"}}, "required": ["n", "s"]},
 "tools": {"shorten": {
  "type": "object", "properties": {"s": {"type": "string"}, "_output": {"type": "string"}}, "required": ["s"]}},
 "activities": {"shorten": {"expr": "trim(s)"}},
 "calls": [{"_tool": "shorten", "s": "†input.s", "_outputPath": "short"}],
 "output": {"short": "†state.short", "twice": "†(†input.n * 2)"},
 "outputSchema": {
  "type": "object", "properties": {"short": {"type": "string"}, "twice": {"type": "number"}},
  "required": ["short", "twice"]}
}
`

var policies = map[string]map[string]string{
	"plain":    {"obelus.yaml": ""},
	"settings": {"obelus.yaml": "rules: {OB408: warning, OB207: warning, OB302: error}\n"},
	"trust": {"obelus.yaml": "", "obelus.policy.yaml": `tools:
  ask: {effects: [read, external], output: {integrity: untrusted, confidentiality: private}}
  send: {effects: [write, external]}
values: {input.text: {integrity: untrusted}, input.secret: {confidentiality: secret}}
rules:
- rule: mail is ours
  tool: send
  requires: {s: {integrity: trusted}}
  allows: {s: {integrity: trusted}}
  denies: {s: {integrity: untrusted}}
- {rule: yes or no, endorse: {tool: judge, output: "", as: {type: boolean}}, allows: true, denies: maybe}
`},
	"bounds": {"obelus.yaml": "", "obelus.policy.yaml": `rules:
- {rule: small, bounds: {send: {n: {type: number, maximum: 40}}}, allows: {send: {n: 20}}, denies: {send: {n: 200}}}
- rule: short
  bounds: {store: {s: {type: string, maxLength: 12}}}
  allows: {store: {s: a}}
  denies: {store: {s: abcdefghijklmnop}}
`},
	"order": {"obelus.yaml": "", "obelus.policy.yaml": `rules:
- {rule: ask first, order: {send: {only-after: ask}}, allows: [ask, send], denies: [send]}
- {rule: one deletion, order: {remove: {at-most: 1}}, allows: [remove], denies: [remove, remove]}
- {rule: nothing after removal, order: {store: {never-after: remove}}, allows: [store, remove], denies: [remove, store]}
`},
}

// An author writes one plan.
type author struct {
	*rand.Rand
	tools, activities map[string]any
	calls             []map[string]any
	places            []place
	fresh             int
	instances         []string
	repeat            string // what _each of the call at hand gives: the kind of †item, or nothing
	once              bool
}

// A place can be read: its path, and the kind of value there.
type place struct{ path, kind string }

func newAuthor(seed uint64) *author {
	return &author{Rand: rand.New(rand.NewPCG(seed, 25)), tools: map[string]any{}, activities: map[string]any{}}
}

func (a *author) chance(percent int) bool { return a.IntN(100) < percent }

func choose[T any](a *author, from ...T) T { return from[a.IntN(len(from))] }

// plan writes a plan of 2 to 9 calls, and now and then a larger one.
func (a *author) plan() map[string]any {
	document := map[string]any{"plan": "generated", "tools": a.tools, "activities": a.activities}
	a.once = a.chance(25)
	if a.once {
		document["writes"] = "once"
	}
	a.start(document)
	size := 2 + a.IntN(6)
	if a.chance(8) {
		size += 6
	}
	motifs := []func(){
		a.step,
		a.step,
		a.step,
		a.choice,
		a.fallible,
		a.conditional,
		a.exclusive,
		a.loop,
		a.gather,
		a.ordered,
		a.delegate,
		a.rewrite,
		a.join,
	}
	for len(a.calls) < size {
		choose(a, motifs...)()
	}
	if a.chance(25) {
		a.spoil()
	}
	if a.chance(20) {
		i, j := a.IntN(len(a.calls)), a.IntN(len(a.calls))
		a.calls[i], a.calls[j] = a.calls[j], a.calls[i]
	}
	document["calls"] = a.calls
	output := map[string]any{}
	for range 1 + a.IntN(3) {
		output[fmt.Sprintf("o%d", len(output))] = a.at("") + choose(a, "", "", ` || "none"`, " || null")
	}
	document["output"] = output
	if a.chance(10) {
		document["limits"] = map[string]any{"calls": 3 + a.IntN(30), "parallel": 1 + a.IntN(4)}
	}
	return document
}

// inputs are the kinds of a plan's input.
var inputs = map[string]string{
	"n": "number", "m": "integer", "text": "text", "level": "choice",
	"list": "numbers", "rows": "records", "one": "record", "yes": "flag",
}

// start writes what the plan begins with.
func (a *author) start(document map[string]any) {
	properties, values := map[string]any{}, map[string]any{}
	var required []string
	for _, name := range slices.Sorted(keysOf(inputs)) {
		kind := inputs[name]
		properties[name], values[name] = a.schema(kind), a.literal(kind)
		if a.chance(85) {
			required = append(required, name)
		}
		a.places = append(a.places, place{"†input." + name, kind})
	}
	document["input"], document["inputSchema"] = values, map[string]any{
		"type":       "object",
		"properties": properties,
		"required":   required,
	}
	if a.chance(30) {
		document["state"] = map[string]any{"known": a.literal("record"), "count": a.literal("integer")}
		a.places = append(a.places, place{"†state.known", "record"}, place{"†state.count", "integer"})
	}
	if a.chance(20) {
		document["stateSchema"] = map[string]any{
			"type":       "object",
			"properties": map[string]any{"shared": a.schema(choose(a, "text", "text", "number"))},
		}
	}
	if a.chance(8) {
		a.instances = []string{"①", "②"}
		document["instances"] = map[string]any{
			"①": map[string]any{"input": map[string]any{"n": 3}},
			"②": map[string]any{"state": map[string]any{"own": "b"}},
		}
	}
}

// path is one that nothing has written yet.
func (a *author) path() string {
	a.fresh++
	if a.chance(10) {
		return fmt.Sprintf("v%d.deep", a.fresh)
	}
	return fmt.Sprintf("v%d", a.fresh)
}

func (a *author) offer(path, kind string) {
	a.places = append(a.places, place{"†state." + path, kind})
}

// call adds a call of a tool whose results are of a kind.
func (a *author) call(path, kind string) map[string]any {
	c := map[string]any{"_tool": a.tool(kind), "n": a.value("number"), "s": a.value("text")}
	if a.chance(15) {
		c["extra"] = a.value(choose(a, kinds...))
	}
	if path != "" {
		c["_outputPath"] = choose(a, "†state.", "") + path
	}
	if a.chance(10) {
		c["_when"] = a.condition(2)
	}
	if a.chance(6) {
		c["_retry"] = map[string]any{"attempts": 1 + a.IntN(3), "backoff": "1ms"}
	}
	if a.chance(4) {
		c["_timeout"] = "20s"
	}
	if a.chance(3) {
		c["_confirm"] = true
	}
	if len(a.instances) > 0 && a.chance(20) {
		c["_instance"] = choose(a, a.instances...)
	}
	a.calls = append(a.calls, c)
	return c
}
