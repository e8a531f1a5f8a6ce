package main

import (
	"fmt"
	"maps"
	"slices"
)

// tool declares one whose results are of a kind, or finds one that the plan has.
func (a *author) tool(kind string) string {
	var known []string
	for _, name := range slices.Sorted(keysOf(a.tools)) {
		if a.tools[name].(map[string]any)["x-kind"] == kind {
			known = append(known, name)
		}
	}
	if len(known) > 0 && a.chance(50) {
		return choose(a, known...)
	}
	name := choose(a, "ask", "send", "store", "remove", "judge", "fetch", "build", "count")
	if a.tools[name] != nil {
		name = fmt.Sprintf("%s%d", name, len(a.tools))
	}
	properties := map[string]any{
		"n":       a.schema("number"),
		"s":       a.schema("text"),
		"extra":   map[string]any{},
		"_output": a.schema(kind),
	}
	delete(properties["n"].(map[string]any), "minimum")
	if a.chance(80) {
		delete(properties["n"].(map[string]any), "maximum")
		delete(properties["s"].(map[string]any), "maxLength")
	}
	t := map[string]any{"type": "object", "properties": properties, "required": []string{"n", "s"}, "x-kind": kind}
	if a.chance(15) {
		delete(properties, "_output")
	}
	a.tools[name] = t
	switch {
	case a.chance(12):
		t["annotations"] = map[string]any{"destructiveHint": true}
	case a.chance(20):
		t["annotations"] = map[string]any{"readOnlyHint": true, "idempotentHint": a.chance(50)}
	}
	if a.chance(8) {
		return name // latent
	}
	if kind == "text" && a.chance(25) {
		a.activities[name] = map[string]any{
			"exec": map[string]any{
				"argv":   []string{"printf", "%s", "--", "{s}"},
				"stdin":  "none",
				"stdout": "text",
			},
		}
		return name
	}
	a.activities[name] = map[string]any{"expr": results[kind]}
	return name
}

// results are expressions over the parameters of a tool.
var results = map[string]string{
	"number": "n * 1.5 + 1", "integer": "int(abs(n)) % 20", "flag": "n > 3",
	"text": `lower(s) + "x"`, "choice": `n > 10 ? "high" : "low"`,
	"numbers": "[n, n + 1, 2]", "record": `{id: s, size: int(abs(n)) % 20, level: n > 10 ? "high" : "low"}`,
	"records": `[{id: s, size: 1, level: "mid"}, {id: "b", size: 3, level: "low"}]`,
}

func (a *author) step() {
	path, kind := a.path(), choose(a, kinds...)
	a.call(path, kind)
	a.offer(path, kind)
}

// own gives a call a tool of its own, which an expression carries out.
func (a *author) own(kind, expression string) string {
	name := fmt.Sprintf("own%d", len(a.tools))
	a.tools[name] = map[string]any{
		"type": "object",
		"properties": map[string]any{
			"n":     map[string]any{"type": "number"},
			"s":     map[string]any{"type": "string"},
			"extra": map[string]any{},
		},
		"required": []string{"n", "s"},
		"x-kind":   "own " + kind,
	}
	a.activities[name] = map[string]any{"expr": expression}
	return name
}

// choice has a call whose activity takes one of two ways, and mostly calls on both.
func (a *author) choice() {
	one, other := a.path(), a.path()
	c := a.call(one+" || "+other, "record")
	c["_outputPath"] = "†state." + one + " || †state." + other
	c["_tool"] = a.own(
		"record",
		fmt.Sprintf(
			`n > 8 ? {_outputPath: %q, _output: %s} : {_outputPath: %q, _output: %s}`, one, results["record"],
			other, results["record"],
		),
	)
	for _, way := range []string{one, other} {
		if a.chance(80) {
			shared := choose(a, a.path(), "shared")
			c := a.call(shared, "text")
			c["s"] = "†state." + way + ".id"
			a.offer(shared, "text")
		}
		a.offer(way, "record")
	}
}

// fallible has a call that fails for some values, with a route or without.
func (a *author) fallible() {
	path, trouble := a.path(), a.path()
	output := path + " || " + trouble
	if a.chance(30) {
		output = path
	}
	c := a.call(output, "number")
	c["_tool"] = a.own("number", `n > 15 ? int("x" + s) : n + 1`)
	a.offer(path, "number")
	if output != path && a.chance(70) {
		end := a.path()
		handler := a.call(end, "text")
		handler["s"] = "†state." + trouble + ".code"
		a.offer(end, "text")
	}
}

func (a *author) conditional() {
	path, kind := a.path(), choose(a, kinds...)
	a.call(path, kind)["_when"] = a.condition(1 + a.IntN(2))
	a.offer(path, kind)
}

// exclusive has two calls that write one path, under conditions that exclude each other, or nearly.
func (a *author) exclusive() {
	path, kind := a.path(), choose(a, "number", "text", "record")
	test := a.test(1)
	a.call(path, kind)["_when"] = "†(" + test + ")"
	other := "†(not (" + test + "))"
	if a.chance(25) {
		other = a.condition(1)
	}
	a.call(path, kind)["_when"] = other
	a.offer(path, kind)
}

// loop repeats a call over a list.
func (a *author) loop() {
	list := choose(a, "numbers", "records")
	from := a.at(list)
	a.repeat = map[string]string{"numbers": "number", "records": "record"}[list]
	path, kind := a.path(), choose(a, "number", "record")
	c := a.call(path, kind)
	c["_each"] = from
	if a.chance(30) {
		c["_onItemFailure"] = "collect"
	}
	a.repeat = ""
	a.offer(path, kind+"s")
}

// gather adds to one path from several calls.
func (a *author) gather() {
	path, method := a.path(), choose(a, "push", "concat", "merge", "assign")
	kind := map[string]string{"push": "number", "concat": "numbers", "merge": "record", "assign": "record"}[method]
	var last map[string]any
	for range 2 + a.IntN(2) {
		c := a.call(path, kind)
		c["_outputMethod"] = method
		if last != nil && a.chance(70) {
			c["_after"] = []any{map[string]any{"settled": []string{a.named(last)}}}
		}
		last = c
	}
	if kind == "number" {
		kind = "numbers"
	}
	a.offer(path, kind)
}

func (a *author) named(c map[string]any) string {
	if c["_id"] == nil {
		a.fresh++
		c["_id"] = fmt.Sprintf("step%d", a.fresh)
	}
	return c["_id"].(string)
}

func (a *author) ordered() {
	if len(a.calls) == 0 {
		return
	}
	before := a.named(choose(a, a.calls...))
	path := a.path()
	c := a.call(path, "text")
	c["_after"] = []string{before}
	a.offer(path, "text")
}

func (a *author) delegate() {
	path := a.path()
	c := a.call(path, "record")
	name := "short"
	a.tools[name] = map[string]any{
		"type": "object",
		"properties": map[string]any{
			"n":         map[string]any{"type": "number"},
			"s":         map[string]any{"type": "string"},
			"_delegate": "part.json",
		},
		"required": []string{"n", "s"},
	}
	c["_tool"] = name
	delete(c, "extra")
	a.offer(path+".short", "text")
	a.offer(path+".twice", "number")
}

// rewrite writes a path that a call before it wrote.
func (a *author) rewrite() {
	path := a.path()
	a.call(path, "number")
	c := a.call(path, "number")
	if a.chance(75) {
		c["n"] = "†state." + path
	}
	a.offer(path, "number")
}

// join reads several paths.
func (a *author) join() {
	path := a.path()
	c := a.call(path, "record")
	c["extra"] = map[string]any{"a": a.value("number"), "b": []any{a.value("text"), a.value("record")}}
	c["_outputPath"] = path + " && " + a.path()
	a.offer(path, "record")
}

// spoil puts a fault into a call.
func (a *author) spoil() {
	c := choose(a, a.calls...)
	choose(a,
		func() { c["n"] = "†state.nowhere" },
		func() { delete(c, "s") },
		func() { c["sss"] = 1 },
		func() { c["n"] = "seven" },
		func() { c["_tool"] = "nothing" },
		func() { c["_after"] = []string{"nobody"} },
		func() { c["_outputPath"] = "shared" },
		func() { c["_when"] = "†(†input.n >" },
		func() { c["n"] = "†input.text" },
		func() { c["s"] = "†input.one.none" },
		func() { c["_id"], a.calls[0]["_id"] = "twin", "twin" },
		func() { c["n"] = a.calls[len(a.calls)-1]["_outputPath"] },
		func() { c["_outputPath"] = "input.n" },
		func() { c["_retyr"] = 2 },
	)()
}

// change makes one change to a plan that was written.
func (a *author) change(document map[string]any) {
	calls := document["calls"].([]map[string]any)
	c := choose(a, calls...)
	choose(a,
		func() { c["n"] = 77 },
		func() { c["s"] = "†input.text" },
		func() { c["_when"] = a.condition(1) },
		func() { document["calls"] = calls[:len(calls)-1] },
		func() { document["calls"] = append(slices.Clone(calls), maps.Clone(c)) },
		func() { document["limits"] = map[string]any{"calls": 9} },
		func() { c["_outputPath"] = "moved" },
		func() { a.activities[choose(a, slices.Sorted(keysOf(a.activities))...)] = map[string]any{"expr": "1"} },
		func() { delete(c, "_when"); c["_confirm"] = true },
	)()
}
