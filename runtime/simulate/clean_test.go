package simulate_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/obelus-dev/obelus/runtime/simulate"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// An inventor makes documents of which nobody knows whether they are right: values of
// many kinds go into expressions, conditions, parameters, lists and objects that are now
// and then made for others.
type inventor struct {
	*sketch
	refs []known
	when string // the condition under which what was given last is there
}

// known is a reference and the schema of what it gives.
type known struct {
	ref  string
	of   object
	when string // of a part that one variant of a union has: the condition that it is that one
}

// anyOf is a schema: of scalars mostly, deeper ones above.
func (g *inventor) anyOf(deep int) object {
	scalar := []func() object{
		func() object { return typed("integer") },
		func() object { return object{"type": "integer", "minimum": g.IntN(3), "maximum": 3 + g.IntN(5)} },
		func() object { return typed("number") },
		func() object { return typed("string") },
		func() object { return object{"enum": []any{"a", "b", "c"}} },
		func() object { return typed("boolean") },
		func() object { return typed(among(g.sketch, "integer", "string", "number"), "null") },
		func() object { return typed("integer", "string") },
	}
	switch n := g.IntN(10); {
	case deep > 0 && n < 4:
		fields := object{}
		for _, name := range []string{"a", "b", "c"}[:1+g.IntN(3)] {
			fields[name] = g.anyOf(deep - 1)
		}
		s := record(fields)
		s["additionalProperties"] = false
		return s
	case deep > 0 && n == 0 && g.IntN(3) == 0: // a map
		return object{"type": "object", "additionalProperties": g.anyOf(0)}
	case deep > 0 && n == 4: // a union, told apart by k
		var all []any
		for _, k := range []string{"a", "b", "c"}[:2+g.IntN(2)] {
			of := object{"k": object{"const": k}}
			for _, name := range []string{"a", "b"} {
				if g.IntN(3) > 0 {
					of[name] = g.anyOf(0)
				}
			}
			variant := record(of)
			if g.IntN(3) > 0 {
				variant["additionalProperties"] = false
			}
			all = append(all, variant)
		}
		return object{"type": "object", among(g.sketch, "anyOf", "oneOf"): all}
	case deep > 0 && n < 7:
		s := list(g.anyOf(deep - 1))
		if g.IntN(2) == 0 {
			s["minItems"] = 1 + g.IntN(2)
		}
		if g.IntN(3) == 0 {
			s["maxItems"] = 3
		}
		return s
	}
	return scalar[g.IntN(len(scalar))]()
}

// value is one that a schema of anyOf accepts, the remarkable ones often.
func (g *inventor) value(s object) any {
	if all, ok := s["enum"].([]any); ok {
		return all[g.IntN(len(all))]
	}
	if only, ok := s["const"]; ok {
		return only
	}
	if all := variants(s); all != nil {
		return g.value(all[g.IntN(len(all))].(object))
	}
	kind, ok := s["type"].(string)
	if !ok {
		all := s["type"].([]any)
		kind = all[g.IntN(len(all))].(string)
	}
	switch kind {
	case "integer":
		low, high := -3, 12
		if m, ok := s["minimum"].(int); ok {
			low, high = m, s["maximum"].(int)
		}
		return float64(low + g.IntN(high-low+1))
	case "number":
		return among(g.sketch, 0, 0.5, -2, 7, 100)
	case "string":
		return among(g.sketch, "", "a", "text", "some more text")
	case "boolean":
		return g.IntN(2) == 0
	case "null":
		return nil
	case "array":
		low, _ := s["minItems"].(int)
		all := make([]any, low+g.IntN(4-low))
		for i := range all {
			all[i] = g.value(s["items"].(object))
		}
		return all
	}
	all := object{}
	if of, ok := s["additionalProperties"].(object); ok {
		for _, name := range []string{"a", "b", "c"}[:g.IntN(4)] {
			all[name] = g.value(of)
		}
	}
	fields, _ := s["properties"].(object)
	for _, name := range []string{"a", "b", "c", "k"} {
		if of, ok := fields[name].(object); ok {
			all[name] = g.value(of)
		}
	}
	return all
}

// variants are those of a union of objects.
func variants(s object) []any {
	if s["type"] != "object" {
		return nil
	}
	all, _ := s["anyOf"].([]any)
	if one, ok := s["oneOf"].([]any); ok {
		all = one
	}
	return all
}

// kindOf is the kind of what a schema accepts, the first of several.
func kindOf(s object) string {
	switch kind := s["type"].(type) {
	case string:
		return kind
	case []any:
		return kind[0].(string)
	}
	return "string"
}

// offer makes what stands somewhere readable, and its parts.
func (g *inventor) offer(ref string, of object) {
	g.refs = append(g.refs, known{ref: ref, of: of})
	for i, one := range variants(of) {
		if i == 0 {
			g.refs = append(g.refs, known{ref: ref + ".k", of: object{"type": "string", "enum": []any{"a", "b", "c"}}})
		}
		fields := one.(object)["properties"].(object)
		for _, name := range []string{"a", "b"} {
			if field, ok := fields[name].(object); ok {
				only := fmt.Sprintf("†(%s.k == %q)", ref, fields["k"].(object)["const"])
				g.refs = append(g.refs, known{ref + "." + name, field, only}, known{ref + "." + name, field, only})
			}
		}
	}
	if part, ok := of["additionalProperties"].(object); ok {
		g.offer(ref+".a", part)
	}
	if fields, ok := of["properties"].(object); ok {
		for _, name := range []string{"a", "b", "c"} {
			if field, ok := fields[name].(object); ok {
				g.offer(ref+"."+name, field)
			}
		}
	}
	if item, ok := of["items"].(object); ok && g.IntN(3) == 0 {
		g.offer(ref+"[0]", item)
	}
}

func (g *inventor) some() known { return g.refs[g.IntN(len(g.refs))] }

// of is a reference to something of a kind, if there is one.
func (g *inventor) of(kind string) known {
	for range 12 {
		if k := g.some(); kindOf(k.of) == kind || kind == "number" && kindOf(k.of) == "integer" {
			return k
		}
	}
	return g.some()
}

// ways are what is worked out of a value, by its kind, and the kind that comes of it.
var ways = map[string][][2]string{
	"number":  {{"%s + 1", "number"}, {"100 / %s", "number"}, {"%s %% 3", "number"}, {"string(%s)", "string"}, {"%s > 2", "boolean"}, {"-%s", "number"}, {"round(%s)", "integer"}, {"[1, 2, 3][%s]", "integer"}, {"%s ?? 1", "number"}, {"%s == 3 ? 1 : %s", "number"}},
	"string":  {{"upper(%s)", "string"}, {"len(%s)", "integer"}, {"%s + \"!\"", "string"}, {"split(%s, \"e\")[0]", "string"}, {"%s contains \"e\"", "boolean"}, {"%s[0:1]", "string"}, {"%s == \"a\" ? \"b\" : %s", "string"}, {"type(%s) == \"string\" ? upper(%s) : \"none\"", "string"}},
	"boolean": {{"not %s", "boolean"}, {"%s ? 1 : 2", "integer"}, {"%s and true", "boolean"}},
	"array": {{"len(%s)", "integer"}, {"sum(%s)", "number"}, {"%s | map(# + 1)", "array"}, {"join(%s, \"-\")", "string"}, {"max(%s)", "number"}, {"%s | filter(.a > 1)", "array"}, {"%s | map(.a)", "array"}, {"(%s | map(#))[0]", "integer"},
		{"first(%s) ?? 1", "integer"}, {"len(%s) > 0 ? %s[0] : 1", "integer"}, {"%s | all(# > 0)", "boolean"}, {"%s | count(.b == \"a\")", "integer"}, {"%s | reduce(#acc + #)", "number"}, {"reverse(%s)", "array"}, {"sort(%s)", "array"}, {"find(%s, # == 1)", "integer"}},
	"object": {{"keys(%s)", "array"}, {"%s.a", "integer"}, {"len(%s)", "integer"}, {"get(%s, \"b\")", "string"}, {"toJSON(%s)", "string"}},
}

// worked is an expression over what is known, and the kind that it is meant to have.
func (g *inventor) worked() (text, kind string) {
	k := g.some()
	kind = kindOf(k.of)
	if g.IntN(20) == 0 {
		kind = among(g.sketch, "number", "string", "array", "object", "boolean")
	}
	if kind == "integer" {
		kind = "number"
	}
	way := ways[kind][g.IntN(len(ways[kind]))]
	return "(" + strings.ReplaceAll(strings.ReplaceAll(way[0], "%%", "%"), "%s", k.ref) + ")", way[1]
}

// condition is one that looks at what is known.
func (g *inventor) condition() string {
	k := g.some()
	switch kindOf(k.of) {
	case "integer", "number":
		return among(g.sketch, fmt.Sprintf("†(type(%s) != \"nil\" and %s > 1)", k.ref, k.ref), fmt.Sprintf("†(%s > 2)", k.ref), fmt.Sprintf("†((%s ?? 0) < 5)", k.ref), fmt.Sprintf("†(%s != nil)", k.ref), fmt.Sprintf("†(type(%s) == \"int\")", k.ref))
	case "string":
		return among(g.sketch, fmt.Sprintf("†(%s == \"a\")", k.ref), fmt.Sprintf("†(len(%s ?? \"\") > 1)", k.ref), fmt.Sprintf("†(type(%s) == \"string\")", k.ref), fmt.Sprintf("†(%s in [\"a\", \"b\"])", k.ref))
	case "boolean":
		return among(g.sketch, k.ref, "†(not "+k.ref+")")
	case "object":
		if variants(k.of) != nil {
			return among(g.sketch, fmt.Sprintf("†(%s.k == \"a\")", k.ref), fmt.Sprintf("†(%s.k != \"a\")", k.ref), fmt.Sprintf("†(%s.k in [\"a\", \"b\"])", k.ref))
		}
	case "array":
		return among(g.sketch, fmt.Sprintf("†(len(%s) > 0)", k.ref), fmt.Sprintf("†(%s | any(# != nil))", k.ref))
	}
	return fmt.Sprintf("†(%s != nil)", k.ref)
}

// given is what a call passes, and a schema that mostly takes it.
func (g *inventor) given() (value any, takes object) {
	switch n := g.IntN(10); {
	case n < 4:
		k := g.some()
		g.when = k.when
		return k.ref, g.likely(k.of)
	case n < 7:
		text, kind := g.worked()
		return "†" + text, g.likely(typed(kind))
	case n < 8:
		k := g.some()
		other := g.of(kindOf(k.of))
		return k.ref + " || " + other.ref, g.likely(k.of)
	case n < 9:
		k := g.of(among(g.sketch, "string", "number", "boolean"))
		return "it is †{" + k.ref + "}", typed("string")
	}
	k, other := g.some(), g.some()
	return object{"x": k.ref, "y": []any{other.ref, 1.0}}, record(object{"x": g.likely(k.of), "y": list(object{})})
}

// anyItems reports whether a schema is of lists of which it doesn't say what they hold.
func anyItems(s object) bool {
	items, isList := s["items"].(object)
	return isList && len(items) == 0
}

// likely is a schema that takes what another gives, or nearly.
func (g *inventor) likely(s object) object {
	switch g.IntN(20) {
	case 0, 1, 2:
		return object{}
	case 3, 4:
		return typed(kindOf(s))
	case 5:
		return g.anyOf(1)
	}
	return s
}

// invented is a tool with examples of its own.
func (g *inventor) invented(parameters, result object) string {
	name := g.tool(parameters, result)
	if result != nil && g.IntN(4) > 0 {
		examples := []any{}
		for range 8 {
			examples = append(examples, g.value(result))
		}
		g.doc["tools"].(object)[name].(object)["examples"] = examples
	}
	return name
}

// add adds a call that does something with what is known.
func (g *inventor) add() {
	parameters, call := object{}, object{}
	for _, name := range []string{"p", "q"}[:g.IntN(3)] {
		if len(g.refs) > 0 {
			call[name], parameters[name] = g.given()
		}
	}
	result := g.anyOf(2)
	path := g.name()
	switch n := g.IntN(16); {
	case n < 2 && len(g.refs) > 0: // a way for failures, which somebody looks at
		tool := g.invented(parameters, result)
		g.doc["tools"].(object)[tool].(object)["x-simulate"] = object{"failure": 0.4}
		call["_outputPath"], call["_tool"] = path+" || "+path+"Error", tool
		g.refs = append(g.refs, known{ref: "†state." + path + "Error", of: record(object{"code": typed("string"), "message": typed("string")})}, known{ref: "†state." + path + "Error.message", of: typed("string")})
	case n < 3: // one of two ways
		tool := g.invented(parameters, result)
		other := g.name()
		g.doc["tools"].(object)[tool].(object)["examples"] = []any{
			object{"_outputPath": "†state." + path, "_output": g.value(result)}, object{"_outputPath": "†state." + other, "_output": g.value(result)}, g.value(result)}
		call["_outputPath"], call["_tool"] = path+" || "+other+" || "+path+"Failed", tool
		g.offer("†state."+other, result)
		g.refs = append(g.refs, known{ref: "†state." + path + "Failed.code", of: typed("string")})
	case n < 5: // a part, an item or a change of something
		call["_tool"] = g.invented(parameters, result)
		at := g.some2(path)
		switch g.IntN(4) {
		case 0:
			call["_outputPath"] = at + among(g.sketch, ".a", ".d", ".d.e")
		case 1:
			call["_outputPath"] = at + among(g.sketch, "[0]", "[1]")
		default:
			call["_outputPath"], call["_outputMethod"] = at, among(g.sketch, "push", "merge", "concat", "assign")
			if of, isList := map[string]object{"push": list(result), "concat": result}[call["_outputMethod"].(string)]; isList {
				g.refs = append(g.refs, known{ref: at, of: of})
			}
		}
		path = ""
	case n < 6 && len(g.refs) > 0: // what an expression works out
		k := g.some()
		way := ways[map[bool]string{true: "number", false: kindOf(k.of)}[kindOf(k.of) == "integer"]]
		chosen := way[g.IntN(len(way))]
		if strings.Contains(chosen[0], "/") || strings.Contains(chosen[0], "][") || strings.Contains(chosen[0], ")[") || strings.Contains(chosen[0], "reduce") || kindOf(k.of) == "object" && k.of["additionalProperties"] != false || anyItems(k.of) {
			chosen = [2]string{"toJSON(%s)", "string"} // that it can't be worked out with some values is the tool's own
		}
		result = typed(chosen[1])
		if chosen[1] == "array" {
			result = list(typed("integer"))
		}
		tool := g.tool(object{"v": k.of}, result)
		activities, _ := g.doc["activities"].(object)
		if activities == nil {
			activities = object{}
		}
		activities[tool] = object{"expr": strings.ReplaceAll(strings.ReplaceAll(chosen[0], "%%", "%"), "%s", "v")}
		g.doc["activities"] = activities
		call = object{"_tool": tool, "v": k.ref, "_outputPath": path}
	case n < 7 && len(g.files) == 0: // a plan of its own
		inner := &inventor{sketch: &sketch{Rand: g.Rand, doc: object{"tools": object{}, "calls": []any{}}}}
		of := g.anyOf(0)
		if g.IntN(3) > 0 {
			inner.doc["inputSchema"], inner.doc["input"] = record(object{"v": of}), object{"v": g.value(of)}
		}
		inner.offer("†input.v", of)
		var scope string
		if len(g.refs) > 0 && g.IntN(3) == 0 { // something of the state is handed over
			if k := g.some(); strings.HasPrefix(k.ref, "†state.") {
				scope = k.ref
				inner.offer(k.ref, among(g.sketch, k.of, k.of, g.anyOf(1)))
			}
		}
		for range 2 {
			step, made := inner.name(), inner.anyOf(1)
			given, takes := inner.given()
			inner.call(inner.invented(object{"p": takes}, made), "p", given, "_outputPath", step)
			inner.offer("†state."+step, made)
		}
		last := inner.some()
		inner.doc["output"] = last.ref
		if g.IntN(3) > 0 {
			inner.doc["outputSchema"] = last.of
		}
		file := g.name() + ".json"
		g.files[file] = []byte(inJSON(inner.doc))
		for name := range inner.doc["tools"].(object) {
			g.inner = append(g.inner, name)
		}
		if len(g.refs) == 0 {
			return
		}
		k := g.of(kindOf(of))
		tool := g.name()
		g.doc["tools"].(object)[tool] = object{"type": "object", "properties": object{"v": of}, "required": []any{"v"}, "_delegate": file}
		if g.IntN(4) == 0 {
			g.doc["tools"].(object)[tool].(object)["_output"] = last.of
		}
		if call, result = (object{"_tool": tool, "v": k.ref, "_outputPath": path}), last.of; scope != "" {
			call["_scopes"] = []any{scope}
		}
	case n < 8 && len(g.refs) > 0 && g.IntN(6) == 0: // something for each item of one variant
		call, result = g.forVariants(path, result)
	case n < 8 && len(g.refs) > 0: // something for each item of a list
		k := g.of("array")
		of, isList := k.of["items"].(object)
		if !isList {
			of = g.anyOf(0)
		}
		inner := &inventor{sketch: g.sketch, refs: slices.Clone(g.refs)}
		for range 6 {
			inner.offer("†item", of)
		}
		inner.refs = append(inner.refs, known{ref: "†index", of: typed("integer")})
		call = object{"_each": k.ref, "_outputPath": path}
		call["p"], parameters["p"] = inner.given()
		call["_tool"] = g.invented(object{"p": parameters["p"]}, result)
		orNull := object{"anyOf": []any{result, typed("null")}} // an item that is skipped gives null
		if result = list(result); inner.when != "" && g.IntN(4) > 0 {
			call["_when"] = inner.when
			result["items"] = orNull
		}
		for _, bound := range []string{"minItems", "maxItems"} { // it is as long as the list that it is of
			if n, ok := k.of[bound]; ok {
				result[bound] = n
			}
		}
		switch g.IntN(8) {
		case 0:
			call["_when"] = inner.condition()
			result["items"] = orNull
		case 1:
			call["_onItemFailure"] = "collect"
			g.doc["tools"].(object)[call["_tool"].(string)].(object)["x-simulate"] = object{"failure": 0.3}
			result["items"] = object{}
		}
	default:
		call["_tool"], call["_outputPath"] = g.invented(parameters, result), path
	}
	switch {
	case call["_each"] != nil || len(g.refs) == 0:
	case g.when != "" && g.IntN(4) > 0:
		call["_when"] = g.when
	case g.IntN(4) == 0:
		call["_when"] = g.condition()
	}
	g.when = ""
	g.doc["calls"] = append(g.doc["calls"].([]any), call)
	if path != "" {
		g.offer("†state."+path, result)
	}
}

// forVariants is a call for those items of a list that are of one variant, of which it reads
// what this one has, or what another one has, and what it gives.
func (g *inventor) forVariants(path string, result object) (call, gives object) {
	variant := func(kind, field string, of object) object {
		s := record(object{"k": object{"const": kind}, field: of})
		s["additionalProperties"] = g.IntN(4) == 0
		return s
	}
	of, all := g.anyOf(0), g.name()
	g.call(g.tool(object{}, list(object{"anyOf": []any{variant("a", "x", of), variant("b", "y", g.anyOf(0))}})), "_outputPath", all)
	field := among(g.sketch, "x", "x", "y")
	tool := g.invented(object{"p": g.likely(of)}, result)
	call = object{"_tool": tool, "_each": among(g.sketch, "†(†state."+all+" | filter(.k == \"a\"))", "†state."+all), "p": "†item." + field, "_outputPath": path}
	if g.IntN(4) == 0 {
		call["_when"] = "†(†item.k == \"a\")"
	}
	return call, list(among(g.sketch, result, object{"anyOf": []any{result, typed("null")}}))
}

// some2 is a path that something stands at, or a new one.
func (g *inventor) some2(path string) string {
	if len(g.refs) > 0 && g.IntN(3) > 0 {
		if k := g.some(); strings.HasPrefix(k.ref, "†state.") {
			return k.ref
		}
	}
	return "†state." + path
}

// invent makes a document.
func invent(n int) *inventor {
	g := &inventor{sketch: &sketch{Rand: rand.New(rand.NewPCG(uint64(n), 11)), doc: object{"tools": object{}, "calls": []any{}}, files: map[string][]byte{}}}
	if g.IntN(3) == 0 { // the state begins with something
		name, of := g.name(), g.anyOf(2)
		g.doc["state"] = object{name: g.value(of)}
		g.offer("†state."+name, of)
		if g.IntN(2) == 0 { // which a call may take the place of
			result := among(g.sketch, of, of, g.anyOf(1))
			g.call(g.invented(object{}, result), "_outputPath", name)["_when"] = g.condition()
		}
	}
	if g.IntN(4) == 0 {
		name, of := g.name(), g.anyOf(1)
		instances := object{}
		for _, id := range []string{"one", "two", "three"} {
			instances[id] = object{"state": object{name: g.value(of)}}
		}
		g.doc["instances"] = instances
		g.offer("†state."+name, of)
	}
	for range 2 + g.IntN(4) {
		g.add()
	}
	if g.IntN(2) == 0 && len(g.refs) > 0 {
		a, b := g.some(), g.some()
		text, kind := g.worked()
		g.doc["output"] = object{"a": a.ref, "b": b.ref, "c": "†" + text}
		g.doc["outputSchema"] = object{"type": "object", "properties": object{"a": g.likely(a.of), "b": g.likely(b.of), "c": typed(kind)}}
	} else if g.IntN(2) == 0 && len(g.refs) > 0 { // all hangs on one part
		g.doc["output"] = object{"a": g.some().ref}
	}
	return g
}

// LANGUAGE.md#findings to the letter: a plan that checks clean never fails but for what a tool does,
// whatever its tools give, and however they fail where that has a route.
func TestWhatChecksCleanRunsClean(t *testing.T) {
	const together = 32 // plans, of which each is tried by itself
	want, clean, tried, runs, failed := amount.Of(8, 150, 20_000), 0, 0, 0, 0
	for ; clean < want && tried < 60*want; tried += together {
		var all [together]invented
		var group sync.WaitGroup
		for k := range all {
			group.Go(func() { all[k] = tryInvented(tried + k) })
		}
		group.Wait()
		for k, one := range all {
			if one.runs > 0 {
				clean++
			}
			if runs += one.runs; one.why == "" {
				continue
			}
			if failed++; failed <= 12 {
				t.Errorf("plan %d, seed %d: %s\n%s\n%s", tried+k, one.runs-1, one.why, one.plan.text(), one.plan.files)
			}
		}
	}
	t.Logf("%d of %d plans check clean; %d runs; %d fail", clean, tried, runs, failed)
	if clean < want {
		t.Errorf("only %d of %d plans check clean", clean, tried)
	}
}

// An invented is what became of a document that was made up: how often it was run, if it
// checks clean, and why the last of these runs failed.
type invented struct {
	plan *inventor
	runs int
	why  string
}

func tryInvented(n int) invented {
	one := invented{plan: invent(n)}
	_, judged, worst := one.plan.judged()
	if worst != "" || judged.Verified == nil {
		return one
	}
	for ; one.runs < 10 && one.why == ""; one.runs++ {
		one.why = fails(simulate.Run(judged.Verified.Simulation(), simulate.Options{Seed: uint64(one.runs), Schedule: one.runs}))
	}
	return one
}
