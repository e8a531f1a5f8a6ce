package simulate_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
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

// A faultClass makes one document in two ways: as it is meant, and with a fault for
// which it can fail at run time. Names, constants and the kinds of value are drawn.
type faultClass struct {
	name string
	make func(k *sketch)
}

// A sketch is a document in the making.
type sketch struct {
	*rand.Rand
	faulty bool
	doc    object
	files  map[string][]byte
	names  int
	inner  []string // tools of delegates
}

func newSketch(seed uint64, n int, faulty bool) *sketch {
	return &sketch{Rand: rand.New(rand.NewPCG(uint64(n), seed)), faulty: faulty, doc: object{"tools": object{}, "calls": []any{}}, files: map[string][]byte{}}
}

// name is one that nothing has.
func (k *sketch) name() string {
	k.names++
	return []string{"order", "offer", "note", "route", "price", "answer", "ticket", "menu", "letter", "quote"}[k.IntN(10)] + fmt.Sprint(k.names)
}

func among[T any](k *sketch, from ...T) T { return from[k.IntN(len(from))] }

// or gives what is meant, or the fault.
func or[T any](k *sketch, meant, fault T) T {
	if k.faulty {
		return fault
	}
	return meant
}

func (k *sketch) tool(parameters object, result any) string {
	name := k.name()
	k.doc["tools"].(object)[name] = tool(parameters, result)
	return name
}

func (k *sketch) call(tool string, more ...any) object {
	call := object{"_tool": tool}
	for i := 0; i < len(more); i += 2 {
		call[more[i].(string)] = more[i+1]
	}
	k.doc["calls"] = append(k.doc["calls"].([]any), call)
	return call
}

// fetched is a path with the result of a tool that takes nothing.
func (k *sketch) fetched(result any) string {
	path := k.name()
	k.call(k.tool(object{}, result), "_outputPath", path)
	return "†state." + path
}

// show passes a value to a tool that takes anything, or what is said.
func (k *sketch) show(value any, takes ...any) object {
	var s any = object{}
	if len(takes) > 0 {
		s = takes[0]
	}
	return k.call(k.tool(object{"value": s}, nil), "value", value)
}

func list(items any) object        { return object{"type": "array", "items": items} }
func typed(kinds ...string) object { return object{"type": slicesOfAny(kinds)} }
func record(fields object) object  { return tool(fields, nil) }

func slicesOfAny(names []string) any {
	if len(names) == 1 {
		return names[0]
	}
	var all []any
	for _, n := range names {
		all = append(all, n)
	}
	return all
}

// code is an expression without the mark of its references but the first.
func formula(format string, a ...any) string {
	return "†(" + strings.ReplaceAll(fmt.Sprintf(format, a...), "†", "†") + ")"
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

var faultClasses = []faultClass{
	{"a guard that narrows, and one that doesn't", func(k *sketch) {
		kinds := among(k, []string{"string", "null"}, []string{"integer", "null"}, []string{"string", "integer"}, []string{"boolean", "string"}, []string{"string", "array"})
		ref := k.fetched(record(object{"v": typed(kinds...), "n": typed("integer")}))
		guard := among(k, fmt.Sprintf("type(%s.v) == %q", ref, typeNames[kinds[0]]), fmt.Sprintf("type(%s.v) != %q", ref, typeNames[kinds[1]]))
		loose := among(k, ref+".n > 3", "type("+ref+".v) != \"map\"", fmt.Sprintf("type(%s.v) == %q", ref, typeNames[kinds[1]]), ref+".n < 10 or "+ref+".n == 12")
		k.show(ref+".v", typed(kinds[0]))["_when"] = "†(" + or(k, guard, loose) + ")"
	}},
	{"null in an expression", func(k *sketch) {
		kind := among(k, "number", "string", "array")
		ref := k.fetched(record(object{"v": or(k, typed(kind), typed(kind, "null"))})) + ".v"
		ways := map[string][]string{
			"number": {"%s + 1", "2 * %s", "round(%s)", "%s > 3", "-%s", "max(%s, 2)", "abs(%s) < 4", "[1, %s] | sum()"},
			"string": {"upper(%s)", "%s + \"!\"", "len(%s)", "split(%s, \",\")", "\"of \" + %s", "trim(%s)"},
			"array":  {"len(%s)", "%s | map(#)", "%s | count(# != 1)", "concat(%s, [1])", "reverse(%s)", "%s[0:0]"},
		}
		k.show(formula(among(k, ways[kind]...), ref))
	}},
	{"null in a predicate", func(k *sketch) {
		ref := k.fetched(list(record(object{"price": or(k, typed("number"), typed("number", "null")), "tag": or(k, typed("string"), typed("string", "null"))})))
		k.show(formula(among(k, "%s | filter(.price > 10)", "%s | map(.price * 2)", "%s | all(.price < 100)", "%s | map(upper(.tag))", "%s | sum(.price)", "%s | filter(len(.tag) > 2)", "%s | sortBy(.price)"), ref))
	}},
	{"null in a condition", func(k *sketch) {
		ref := k.fetched(record(object{"v": or(k, typed("number"), typed("number", "null")), "s": or(k, typed("string"), typed("string", "null"))}))
		k.show(1)["_when"] = formula(among(k, "%[1]s.v > 3", "len(%[1]s.s) > 2", "%[1]s.v + 1 == 4", "upper(%[1]s.s) == \"A\"", "not (%[1]s.v <= 7)", "%[1]s.v %% 2 == 0 or %[1]s.v > 9"), ref)
		if strings.Contains(k.doc["calls"].([]any)[1].(object)["_when"].(string), "%") {
			k.doc["tools"].(object)[k.doc["calls"].([]any)[0].(object)["_tool"].(string)].(object)["_output"].(object)["properties"].(object)["v"] = or[any](k, typed("integer"), typed("integer", "null"))
		}
	}},
	{"a union in an expression", func(k *sketch) {
		kinds := among(k, [2]string{"number", "string"}, [2]string{"string", "number"}, [2]string{"array", "object"}, [2]string{"number", "boolean"}, [2]string{"string", "array"})
		ref := k.fetched(record(object{"v": or(k, typed(kinds[0]), typed(kinds[0], kinds[1]))})) + ".v"
		ways := map[string][]string{"number": {"%s * 2", "%s - 1", "floor(%s)", "%s < 5"}, "string": {"lower(%s)", "%s + \".\"", "indexOf(%s, \"a\")", "%s < \"m\""}, "array": {"%s | map(#)", "reverse(%s)", "uniq(%s)"}}
		k.show(formula(among(k, ways[kinds[0]]...), ref))
	}},
	{"items of a function's list", func(k *sketch) {
		way := among(k, [3]string{"join(%s, \", \")", "string", "number"}, [3]string{"join(%s | map(.a))", "o:string", "o:number"}, [3]string{"sum(%s)", "number", "string"},
			[3]string{"max(%s)", "number", "string"}, [3]string{"mean(%s)", "number", "boolean"}, [3]string{"median(%s)", "integer", "string"}, [3]string{"sort(%s)", "number", "object"},
			[3]string{"join(%s | map(string(#)), \"-\") + join(%s)", "string", "boolean"})
		item := func(kind string) any {
			if _, kind, special := strings.Cut(kind, ":"); special {
				return record(object{"a": typed(kind)})
			}
			return typed(kind)
		}
		s := list(item(or(k, way[1], way[2])))
		s["minItems"] = among(k, 1, 2)
		if k.IntN(3) == 0 && strings.HasPrefix(way[0], "join(%s, ") {
			k.show(formula("%s | join(\";\")", k.fetched(s)))
			return
		}
		k.show(formula(strings.ReplaceAll(way[0], "%s", "%[1]s"), k.fetched(s)))
	}},
	{"a constant fault", func(k *sketch) {
		n := k.IntN(9)
		k.show(or(k,
			among(k, "†(1 / 2)", "†([1, 2, 3][2])", "†(int(\"12\"))", "†(7 % 2)", "†(\"abc\"[1:2])", "†(duration(\"2h\").Minutes())", "†([1, 2] | reduce(#acc + #))", "†(fromJSON(\"[1]\"))"),
			among(k, fmt.Sprintf("†(%d / 0)", n), fmt.Sprintf("†([1, 2, 3][%d])", n+3), "†(int(\"x1\"))", fmt.Sprintf("†(%d %% 0)", n), "†(repeat(\"a\", -1))", "†(duration(\"2 hours\"))", "†([] | reduce(#acc + #))", "†(fromJSON(\"[1\"))", "†(float(\"1,5\"))", fmt.Sprintf("†(date(\"2026-13-0%d\"))", n))))
	}},
	{"a constant fault beside a reference", func(k *sketch) {
		ref := k.fetched(typed("number"))
		k.show(formula(or(k, among(k, "%s / 2", "%s + [1, 2][1]", "%s + int(\"3\")", "%s > 0 ? 1 / 4 : 2"), among(k, "%s / 0", "%s + [1, 2][2]", "%s + int(\"x\")", "%s > 0 ? 1 / 0 : 2", "%s / (3 - 3)")), ref))
	}},
	{"an index past the end", func(k *sketch) {
		n := 1 + k.IntN(4)
		s := list(typed("integer"))
		s["minItems"], s["maxItems"] = n, n+k.IntN(2)
		ref := k.fetched(s)
		k.show(formula(among(k, "(%s)[%d]", "(%s | map(# + 1))[%d]", "reverse(%s)[%d]"), ref, or(k, k.IntN(n), n+1+k.IntN(3))))
	}},
	{"an index where the list may be empty", func(k *sketch) {
		s := list(typed("integer"))
		if !k.faulty || k.IntN(2) == 0 {
			s["minItems"] = or(k, 1, 0)
		}
		k.show(formula(among(k, "(%s | map(# * 2))[0]", "(%s | sort())[0]", "%s | reduce(#acc + #)", "mean(%s | map(# * 2)) / 1 + (%[1]s | map(#))[0]"), k.fetched(s)))
	}},
	{"a divisor that may be zero", func(k *sketch) {
		n := typed("integer")
		if !k.faulty {
			n["minimum"] = 1
		} else if k.IntN(2) == 0 {
			n["minimum"] = 0
		}
		k.show(formula(among(k, "100 / %s.n", "7 %% %s.n", "%[1]s.n / (%[1]s.n * 2)", "(%[1]s.n + 1) / %[1]s.n"), k.fetched(record(object{"n": n}))))
	}},
	{"an argument of another kind", func(k *sketch) {
		way := among(k, [3]string{"repeat(\"ab\", %s)", "integer", "number"}, [3]string{"take([1, 2, 3], %s)", "integer", "string"}, [3]string{"get([1, 2], %s)", "integer", "boolean"},
			[3]string{"indexOf(%s, \"a\")", "string", "number"}, [3]string{"keys(%s)", "object", "array"}, [3]string{"values(%s)", "object", "string"}, [3]string{"bitand(%s, 1)", "integer", "number"},
			[3]string{"hasPrefix(%s, \"a\")", "string", "integer"}, [3]string{"1..%s", "integer", "number"}, [3]string{"flatten(%s)", "array", "object"})
		n := func(kind string) any {
			s := typed(kind)
			if kind == "integer" || kind == "number" {
				s["minimum"], s["maximum"] = 0, 9
			}
			return s
		}
		given := or(k, n(way[1]), n(way[2]))
		if k.faulty && k.IntN(2) == 0 {
			given = object{"anyOf": []any{n(way[1]), n(way[2])}}
		}
		k.show(formula(way[0], k.fetched(given)))
	}},
	{"a key below what has none", func(k *sketch) {
		top, more := k.name(), among(k, "", ".deep", ".deep.deeper")
		k.doc["state"] = object{top: or[any](k, among[any](k, object{}, object{"other": 1.0}), among[any](k, "text", 3.0, true, []any{1.0}))}
		k.call(k.tool(object{}, typed("integer")), "_outputPath", top+".key"+more)
	}},
	{"an index that the list hasn't", func(k *sketch) {
		top, have := k.name(), k.IntN(3)
		items := make([]any, have)
		for i := range items {
			items[i] = float64(i)
		}
		k.doc["state"] = object{top: items}
		k.call(k.tool(object{}, typed("integer")), "_outputPath", fmt.Sprintf("†state.%s[%d]", top, or(k, have, have+1+k.IntN(5))))
	}},
	{"items in no order", func(k *sketch) {
		top := k.name()
		for _, at := range or(k, []int{0, 1, 2}, among(k, []int{1, 0}, []int{0, 2, 1}, []int{2, 0, 1})) {
			k.call(k.tool(object{}, typed("integer")), "_outputPath", fmt.Sprintf("†state.%s[%d]", top, at))
		}
		if k.IntN(2) == 0 {
			k.show(fmt.Sprintf("†state.%s", top))
		}
	}},
	{"items of which one may be skipped", func(k *sketch) {
		top := k.name()
		flag := k.fetched(typed("boolean"))
		first := k.call(k.tool(object{}, typed("integer")), "_outputPath", fmt.Sprintf("†state.%s[0]", top), "_id", "first")
		second := k.call(k.tool(object{}, typed("integer")), "_outputPath", fmt.Sprintf("†state.%s[1]", top), "_after", object{"settled": []any{"first"}})
		first["_when"] = flag
		if !k.faulty {
			second["_when"] = flag
		}
	}},
	{"an instance's own value", func(k *sketch) {
		v := k.name()
		good, bad := any("text"), among[any](k, 3.0, true, []any{}, object{})
		want := typed("string")
		if k.IntN(2) == 0 {
			good, bad, want = any(3.0), among[any](k, "text", true, 2.5), typed("integer")
		}
		where := among(k, "state", "input")
		k.doc["instances"] = object{"one": object{where: object{v: good}}, "two": object{where: object{v: or(k, good, bad)}}, "three": object{where: object{v: good}}}
		ref := "†" + where + "." + v
		if k.IntN(2) == 0 {
			k.show(ref, want)
		} else if good == any("text") {
			k.show(formula("upper(%s) + \"!\"", ref))
		} else {
			k.show(formula("(1..9)[%s]", ref))
		}
	}},
	{"the first value where a writer may be skipped", func(k *sketch) {
		v, other := k.name(), k.name()
		k.doc["state"] = object{v: or[any](k, "text", among[any](k, 3.0, true, []any{}, object{"a": 1.0}))}
		k.doc["state"].(object)[other] = 1.0
		flag := k.fetched(record(object{"go": typed("boolean")}))
		k.call(k.tool(object{}, typed("string")), "_outputPath", v)["_when"] = flag + ".go"
		if k.IntN(2) == 0 {
			k.show("†state."+v, typed("string"))
		} else {
			k.show(formula("upper(%s)", "†state."+v))
		}
	}},
	{"an expr activity and its result", func(k *sketch) {
		way := among(k, [3]any{"price * count", typed("number"), typed("string")}, [3]any{"string(price)", typed("string"), typed("number")}, [3]any{"price > 3", typed("boolean"), typed("integer")},
			[3]any{"{total: price}", record(object{"total": typed("number")}), record(object{"sum": typed("number")})}, [3]any{"[price, count]", list(typed("number")), list(typed("string"))},
			[3]any{"price / 2", typed("number"), typed("integer")}, [3]any{"round(price)", typed("integer"), object{"type": "integer", "minimum": 0}})
		k.activity(way[0].(string), object{"price": typed("number"), "count": typed("integer")}, or(k, way[1], way[2]), "price", k.fetched(typed("number")), "count", 2)
	}},
	{"an expr activity and its parameters", func(k *sketch) {
		way := among(k, [3]any{"upper(name)", typed("string"), typed("number")}, [3]any{"len(name)", typed("string"), typed("string", "null")}, [3]any{"name * 2", typed("number"), typed("number", "string")},
			[3]any{"name | map(# + 1)", list(typed("number")), list(typed("number", "null"))}, [3]any{"join(name)", list(typed("string")), list(typed("number"))},
			[3]any{"name.a + 1", record(object{"a": typed("number")}), record(object{"a": typed("string", "number")})})
		s := or(k, way[1], way[2])
		k.activity(way[0].(string), object{"name": s}, nil, "name", k.fetched(s))
	}},
	{"lists of other items together", func(k *sketch) {
		path := k.name()
		kinds := among(k, [2]string{"number", "string"}, [2]string{"string", "number"}, [2]string{"integer", "boolean"}, [2]string{"string", "object"})
		method := among(k, "concat", "push")
		of := func(kind string) any {
			if method == "concat" {
				s := list(typed(kind))
				s["minItems"] = 1
				return s
			}
			return typed(kind)
		}
		k.call(k.tool(object{}, of(kinds[0])), "_outputPath", path, "_outputMethod", method)
		k.call(k.tool(object{}, of(or(k, kinds[0], kinds[1]))), "_outputPath", path, "_outputMethod", method)
		ref := "†state." + path
		switch way := k.IntN(3); {
		case way == 0:
			k.show(ref, list(typed(kinds[0])))
		case kinds[0] == "string":
			k.show(formula("join(%s, \",\")", ref))
		default:
			k.show(formula("sum(%s)", ref))
		}
	}},
	{"a delegate's doubts", func(k *sketch) {
		of, name := object{"tools": object{}, "inputSchema": record(object{"n": typed("integer")}), "input": object{"n": 3}}, k.name()+".json"
		good, bad := typed("string"), typed("string", "null")
		of["tools"].(object)["ask"] = tool(object{"n": typed("integer")}, or(k, good, bad))
		of["tools"].(object)["tell"] = tool(object{"text": typed("string")}, typed("string"))
		of["calls"] = []any{object{"_tool": "ask", "n": "†input.n", "_outputPath": "said"}, object{"_tool": "tell", "text": among(k, "†state.said", "†(upper(†state.said))"), "_outputPath": "end"}}
		of["output"] = "†state.end"
		k.files[name] = []byte(inJSON(of))
		k.doc["tools"].(object)["part"] = object{"type": "object", "properties": object{"n": typed("integer")}, "_delegate": name}
		k.call("part", "n", among[any](k, 3.0, k.fetched(typed("integer"))), "_outputPath", "result")
	}},
	{"what a delegate's output may lack", func(k *sketch) {
		of, name := object{"tools": object{}, "inputSchema": record(object{"n": typed("integer")}), "input": object{"n": 3}}, k.name()+".json"
		of["tools"].(object)["ask"] = tool(object{"n": typed("integer")}, typed("string"))
		ask := object{"_tool": "ask", "n": "†input.n", "_outputPath": "said"}
		if k.faulty {
			ask["_when"] = fmt.Sprintf("†(input.n > %d)", k.IntN(9))
		}
		of["calls"] = []any{ask}
		of["output"] = object{"text": "†state.said", "n": "†input.n"}
		k.files[name] = []byte(inJSON(of))
		k.doc["tools"].(object)["part"] = object{"type": "object", "properties": object{"n": typed("integer")}, "_delegate": name}
		k.call("part", "n", k.fetched(typed("integer")), "_outputPath", "result")
		k.show("†state.result.text", typed("string"))
	}},
	{"the record of a failure as a value", func(k *sketch) {
		good, trouble := k.name(), k.name()+"Failed"
		result := k.tool(object{}, typed("string"))
		k.doc["tools"].(object)[result].(object)["x-simulate"] = object{"failure": 0.4}
		k.call(result, "_outputPath", good+" || "+trouble)
		ref := "†state." + trouble
		switch k.IntN(4) {
		case 0:
			k.show(ref+or(k, ".message", ""), typed("string"))
		case 1:
			k.show(ref+or(k, "", ".code"), record(object{"code": typed("string"), "message": typed("string")}))
		case 2:
			k.show(formula("upper(%s)", ref+or(k, ".code", "")))
		default:
			k.show("it failed: †{"+ref+or(k, ".message", "")+"}", typed("string"))
		}
		k.show("†state."+good, typed("string"))
	}},
	{"a failure among the values", func(k *sketch) {
		good, other := k.name(), k.name()+"Failed"
		result := k.tool(object{}, typed("string"))
		k.doc["tools"].(object)[result].(object)["x-simulate"] = object{"failure": 0.4}
		k.call(result, "_outputPath", good+" || "+other)
		k.show(or(k, "†state."+good, among(k, "†state."+good+" || †state."+other, "†state."+other+" || †state."+good)), typed("string"))
		k.show("†state." + other)
	}},
	{"an item of a list that may not be there", func(k *sketch) {
		s := record(object{"items": list(record(object{"id": typed("string")})), "n": typed("integer")})
		ref := k.fetched(s)
		if !k.faulty {
			s["properties"].(object)["items"].(object)["minItems"] = 1
		}
		k.doc["output"] = object{"first": ref + among(k, ".items[0].id", ".items[0]"), "n": ref + ".n"}
		k.doc["outputSchema"] = object{"type": "object", "required": []any{"first", "n"}}
	}},
	{"an output that is required and not given", func(k *sketch) {
		ref := k.fetched(typed("string"))
		k.doc["outputSchema"] = record(object{"text": typed("string")})
		if !k.faulty {
			k.doc["output"] = object{"text": ref}
		} else if k.IntN(2) == 0 {
			k.doc["outputSchema"] = typed(among(k, "string", "object", "array", "integer"))
		}
	}},
	{"what a message of data says", func(k *sketch) {
		kind := k.name()
		kinds := among(k, [3]any{"text", typed("string"), typed("number")}, [3]any{3.0, typed("integer"), typed("string")}, [3]any{[]any{"a"}, list(typed("string")), list(typed("number"))})
		takes := object{"type": "tool", "tool": object{"show": object{"type": "object", "properties": object{"_tool": object{"const": "show"}, "v": kinds[1]}, "required": []any{"v"}}}}
		message := object{"type": "data", "kind": kind, "data": object{"v": kinds[0]}, "schema": record(object{"v": or[any](k, kinds[1], object{"anyOf": []any{kinds[1], kinds[2]}})})}
		if k.faulty && k.IntN(2) == 0 {
			message["schema"] = record(object{"v": kinds[2]})
		}
		k.doc = object{"": []any{takes, message, object{"type": "plan", "plan": []any{object{"_tool": "show", "v": "†" + kind + ".v"}}}}}
	}},
	{"what a run may begin without", func(k *sketch) {
		v, kind := k.name(), among(k, "integer", "string")
		given := map[string]any{"integer": 3.0, "string": "text"}[kind]
		of := record(object{"y": typed(kind), "n": typed("integer")})
		takes := of
		if k.faulty {
			of = object{"type": "object", "properties": of["properties"], "required": []any{"n"}}
		}
		where, own := among(k, "input", "state"), any(object{"y": given, "n": 1.0})
		ref, many := "†"+where+"."+v, k.IntN(3) == 0
		var call object
		switch {
		case many && k.IntN(2) == 0:
			call = k.show(formula("%s | map(.y)", ref), list(typed(kind)))
		case many:
			call = k.call(k.tool(object{"value": takes}, nil), "_each", ref, "value", "†item")
		case k.IntN(3) == 0:
			call = k.show(object{"in": []any{ref}}, record(object{"in": list(takes)}))
		default:
			call = k.show(ref, takes)
		}
		if many {
			of, own = list(of), []any{own}
		} else if k.IntN(3) == 0 {
			call["_when"] = formula("%s.n != 3", ref) // which says nothing of what may be missing
		}
		k.doc[where+"Schema"] = record(object{v: of})
		if where == "state" || k.IntN(2) == 0 {
			k.doc[where] = object{v: own}
		}
	}},
	{"a size that is worked out", func(k *sketch) {
		most := 1 + k.IntN(among(k, 4, 40, 400))
		var ref, way string
		var takes object
		switch k.IntN(3) {
		case 0:
			from := list(typed(among(k, "integer", "string")))
			from["maxItems"] = or(k, most, most+1+k.IntN(5))
			if k.faulty && k.IntN(2) == 0 {
				delete(from, "maxItems")
			}
			way, takes = among(k, "%s | filter(len(string(#)) > 0)", "sort(%s)", "%s | map(#)", "reverse(%s)", "%s[0:]", "concat(%s, [])"), list(object{})
			ref, takes["maxItems"] = k.fetched(from), most
		case 1:
			from := object{"type": "string", "maxLength": or(k, most, most+1+k.IntN(5))}
			if k.faulty && k.IntN(2) == 0 {
				delete(from, "maxLength")
			}
			way, takes = among(k, "upper(%s)", "\"no. \" + %s", "%s + \"/\" + %s"), object{"type": "string", "maxLength": most}
			ref = k.fetched(from)
			takes["maxLength"] = map[string]int{"u": most, "\"": most + 4, "%": 2*most + 1}[way[:1]]
		default:
			most *= among(k, 1, 1000)
			from := object{"type": "integer", "minimum": 0, "maximum": or(k, most, most+1+k.IntN(5))}
			if k.faulty && k.IntN(2) == 0 {
				delete(from, "maximum")
			}
			way, takes = among(k, "abs(%s)", "1 + %s", "2 * %s", "%s * %s"), typed("integer")
			ref = k.fetched(from)
			takes["maximum"] = map[string]int{"a": most, "1": most + 1, "2": 2 * most, "%": most * most}[way[:1]]
		}
		k.show("†("+strings.ReplaceAll(way, "%s", ref)+")", takes)
	}},
}

var typeNames = map[string]string{"string": "string", "null": "nil", "integer": "int", "number": "float", "boolean": "bool", "array": "array", "object": "map"}

// activity is a call of a tool that an expression carries out.
func (k *sketch) activity(expr string, parameters object, result any, more ...any) {
	name := k.tool(parameters, result)
	k.doc["activities"] = object{name: object{"expr": expr}}
	k.call(name, append(more, "_outputPath", k.name())...)
}

func (k *sketch) text() []byte {
	if whole, ok := k.doc[""]; ok {
		return []byte(inJSON(whole))
	}
	return []byte(inJSON(k.doc))
}

func (k *sketch) open(name string) ([]byte, error) {
	if text := k.files[name]; text != nil {
		return text, nil
	}
	return nil, errors.New("there is no such file")
}

func inJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// firstOf is the first finding that isn't for information.
func firstOf(found []diag.Diagnostic) string {
	for _, f := range found {
		if f.Severity > diag.Info {
			return f.Rule.Code + " " + f.Span.Text() + ": " + f.Message
		}
	}
	return ""
}

// judged is the document compiled and analysed, and the worst finding.
func (k *sketch) judged() (*plan.Plan, analyzer.Judgement, string) {
	tools, _ := k.doc["tools"].(object)
	functions := []string{"show"}
	activities, _ := k.doc["activities"].(object)
	for name, t := range tools {
		if activities[name] == nil && t.(object)["_delegate"] == nil {
			functions = append(functions, name)
		}
	}
	functions = append(functions, append(k.inner, "ask", "tell")...)
	slices.Sort(functions)
	p, found := compiler.Compile(source.NewFile("plan.json", k.text()), compiler.Options{Functions: functions, Open: k.open, Name: "plan.json"})
	all := analyzer.Analyze(p, found, analyzer.Config{SampleRun: simulate.SampleRun})
	return p, all, firstOf(all.Findings)
}

// fails reports what of a run is a failure that checking is there to prevent: anything
// but a failure of a tool.
func fails(s *simulate.Scenario) string {
	for _, c := range s.Calls {
		if c.Status == runtime.Failed && !strings.HasSuffix(c.Failure.Message, "a failure drawn at the tool's rate") && c.Call.Delegate == "" {
			return c.Call.Name + ": " + c.Failure.Code + ": " + c.Failure.Message
		}
	}
	failed := slices.ContainsFunc(s.Calls, func(c *simulate.CallReport) bool { return c.Status == runtime.Failed }) // for which there may be nothing to give
	if reason := string(s.Outcome.Reason); s.Outcome.Status != "done" && (strings.Contains(reason, "output doesn't fit") || !failed && strings.Contains(reason, "output has no value")) {
		return reason
	}
	return ""
}

// LANGUAGE.md#findings both ways, for every class of fault that shows only at run time: a hundred
// documents each, of which none is suspected as it is meant, nor fails, and each is
// reported with the fault in it.
func TestFaultsOfEveryClassAreFound(t *testing.T) {
	for at, class := range faultClasses {
		t.Run(strings.ReplaceAll(class.name, " ", "-"), func(t *testing.T) {
			variants, missed, alarms := amount.Of(8, 50, 1000), 0, 0
			for n := range variants {
				for _, faulty := range []bool{false, true} {
					k := newSketch(uint64(at)+100, n, faulty)
					class.make(k)
					_, judged, worst := k.judged()
					switch {
					case faulty && worst == "":
						if missed++; missed <= 3 {
							t.Logf("missed: %s %s", k.text(), k.files)
						}
					case !faulty && worst != "":
						if alarms++; alarms <= 3 {
							t.Logf("false alarm: %s\n%s %s", worst, k.text(), k.files)
						}
					case !faulty:
						for s := range 4 {
							run := simulate.Run(judged.Verified.Simulation(), simulate.Options{Seed: uint64(s), Schedule: s})
							if why := fails(run); why != "" {
								t.Errorf("fails: %s\n%s %s", why, k.text(), k.files)
							}
						}
					}
				}
			}
			if missed+alarms > 0 {
				t.Errorf("%d of %d faults are missed, and %d documents as they are meant are suspected", missed, variants, alarms)
			}
		})
	}
}
