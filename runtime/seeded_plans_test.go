package runtime_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
)

// A sketch is a plan as plain JSON, which faults are put into. It sees what the
// plan reads and writes in the plainest way, by the letters of its text, and
// knows nothing of the compiler.
type sketch struct {
	root  map[string]any
	calls []map[string]any
}

func sketchOf(document []byte) sketch {
	var root map[string]any
	if err := json.Unmarshal(document, &root); err != nil {
		panic(err)
	}
	s := sketch{root: root}
	for _, c := range root["calls"].([]any) {
		s.calls = append(s.calls, c.(map[string]any))
	}
	return s
}

func (s sketch) text() []byte {
	text, err := json.Marshal(s.root)
	if err != nil {
		panic(err)
	}
	return text
}

// copy is the same plan again, to be changed.
func (s sketch) copy() sketch { return sketchOf(s.text()) }

// put changes the list of calls.
func (s *sketch) put(calls []map[string]any) {
	s.calls = calls
	list := make([]any, len(calls))
	for i, c := range calls {
		list[i] = c
	}
	s.root["calls"] = list
}

// each is every call's place.
func (s sketch) each() []int {
	all := make([]int, len(s.calls))
	for i := range all {
		all[i] = i
	}
	return all
}

func (s sketch) tool(name any) map[string]any {
	tools, _ := s.root["tools"].(map[string]any)
	tool, _ := tools[name.(string)].(map[string]any)
	return tool
}

func properties(tool map[string]any) map[string]any {
	p, _ := tool["properties"].(map[string]any)
	return p
}

// names are the keys of a call that are parameters, or of a tool.
func names(m map[string]any) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(m)), func(k string) bool { return strings.HasPrefix(k, "_") })
}

// A mention is a reference in a text, and where it stands.
type mention struct {
	call       int   // the call that reads; -1 is the output
	at         []any // the way from the call, or from the output, to the text
	text       string
	start, end int // the bytes of the text that are the reference
	kind       string
	path       []string
}

// plain reports whether the text is the reference and nothing else.
func (m mention) plain() bool { return m.start == 0 && m.end == len(m.text) }

// soft reports whether the text says what to take instead.
func (m mention) soft() bool { return strings.Contains(m.text, "||") }

var mentioned = regexp.MustCompile(`†([\pL]+)((?:\.[\pL\d_-]+|\[\d+\])*)`)

func (s sketch) mentions() []mention {
	var all []mention
	var walk func(call int, at []any, v any)
	walk = func(call int, at []any, v any) {
		switch v := v.(type) {
		case string:
			if !strings.HasPrefix(v, "†") {
				return
			}
			for _, m := range mentioned.FindAllStringSubmatchIndex(v, -1) {
				path := strings.FieldsFunc(v[m[4]:m[5]], func(r rune) bool { return strings.ContainsRune(".[]", r) })
				all = append(all, mention{call, slices.Clone(at), v, m[0], m[1], v[m[2]:m[3]], path})
			}
		case []any:
			for i, x := range v {
				walk(call, append(at, i), x)
			}
		case map[string]any:
			for _, k := range slices.Sorted(maps.Keys(v)) {
				if len(at) > 0 || call < 0 || !strings.HasPrefix(k, "_") || k == "_when" {
					walk(call, append(at, k), v[k])
				}
			}
		}
	}
	for i, c := range s.calls {
		walk(i, nil, c)
	}
	walk(-1, nil, s.root["output"])
	return all
}

// change puts another text in the place of the one that holds a mention.
func (s sketch) change(m mention, to string) {
	if m.call < 0 {
		s.root["output"] = changed(s.root["output"], m.at, to)
		return
	}
	changed(s.calls[m.call], m.at, to)
}

func changed(v any, at []any, to any) any {
	if len(at) == 0 {
		return to
	}
	switch step := at[0].(type) {
	case int:
		list := v.([]any)
		list[step] = changed(list[step], at[1:], to)
	case string:
		object := v.(map[string]any)
		object[step] = changed(object[step], at[1:], to)
	}
	return v
}

// writes are the paths that a call may write, as segments.
func (s sketch) writes(call int) [][]string {
	text, _ := s.calls[call]["_outputPath"].(string)
	var all [][]string
	for _, path := range regexp.MustCompile(`\|\||&&`).Split(text, -1) {
		if path = strings.TrimPrefix(strings.TrimSpace(path), "†state."); path != "" {
			all = append(all, strings.Split(path, "."))
		}
	}
	return all
}

// writers are the calls that may write what is read, or a part of it or more.
func (s sketch) writers(path []string) []int {
	var all []int
	for i := range s.calls {
		if slices.ContainsFunc(s.writes(i), func(w []string) bool { return overlapping(w, path) }) {
			all = append(all, i)
		}
	}
	return all
}

func overlapping(a, b []string) bool {
	n := min(len(a), len(b))
	return slices.Equal(a[:n], b[:n])
}

// reading are the mentions of what a call writes.
func (s sketch) reading(call int) []mention {
	return slices.DeleteFunc(s.mentions(), func(m mention) bool {
		return m.kind != "state" || !slices.Contains(s.writers(m.path), call)
	})
}

// alone reports whether nobody else writes what a call writes.
func (s sketch) alone(call int) bool {
	return !slices.ContainsFunc(s.writes(call), func(w []string) bool { return len(s.writers(w)) > 1 })
}

// source is the call that a reference gets its value from, if there can be only
// one, and the way from that call's result to the value.
func (s sketch) source(m mention) (call int, rest []string, ok bool) {
	writers := s.writers(m.path)
	if m.kind != "state" || len(writers) != 1 || writers[0] == m.call {
		return 0, nil, false
	}
	for _, w := range s.writes(writers[0]) {
		if len(w) <= len(m.path) && overlapping(w, m.path) {
			return writers[0], m.path[len(w):], true
		}
	}
	return 0, nil, false
}

// A branching plan is made of steps over a few typed tools: chains of numbers
// and of texts, branches that join again, failure routes that are read, calls
// under a condition, paths that are rewritten, results written twice, and
// parameters with references inside.
type branching struct {
	*rand.Rand
	calls          []any
	numbers, texts []string // references to what is there on every branch
	output         map[string]any
	fresh          int
}

func (g *branching) path() string {
	g.fresh++
	return fmt.Sprintf("p%d", g.fresh)
}

func (g *branching) number() string { return g.numbers[g.IntN(len(g.numbers))] }
func (g *branching) word() string   { return g.texts[g.IntN(len(g.texts))] }

func (g *branching) call(tool, path string, parameters map[string]any) {
	parameters["_tool"] = tool
	if path != "" {
		parameters["_outputPath"] = path
	}
	g.calls = append(g.calls, parameters)
}

func (g *branching) give(value string) { g.output["o"+fmt.Sprint(len(g.output))] = value }

func (g *branching) step() {
	p := g.path()
	state := "†state." + p
	switch g.IntN(8) {
	case 0: // a number goes on
		g.call("measure", state, map[string]any{"from": g.number(), "digits": g.IntN(5)})
		g.numbers = append(g.numbers, state+".value")
	case 1: // a text goes on
		g.call("describe", state, map[string]any{"text": g.word(), "size": g.number(), "style": []any{"plain", "loud"}[g.IntN(2)]})
		g.texts = append(g.texts, state+".text")
	case 2: // a branch whose ends join
		yes, no, left, right := g.path(), g.path(), g.path(), g.path()
		g.call("decide", "†state."+yes+" || †state."+no, map[string]any{"from": g.number()})
		g.call("measure", left, map[string]any{"from": "†state." + yes + ".score"})
		g.call("measure", right, map[string]any{"from": "†state." + no + ".score"})
		g.call("measure", p, map[string]any{"from": "†state." + left + ".value || †state." + right + ".value"})
		g.numbers = append(g.numbers, state+".value")
	case 3: // a branch whose ends meet in the output
		yes, no, left, right := g.path(), g.path(), g.path(), g.path()
		g.call("decide", "†state."+yes+" || †state."+no, map[string]any{"from": g.number()})
		g.call("describe", left, map[string]any{"text": "†state." + yes + ".why", "size": "†state." + yes + ".score"})
		g.call("describe", right, map[string]any{"text": "†state." + no + ".why", "size": g.number()})
		g.give("†state." + left + ".text || †state." + right + ".text")
	case 4: // a failure route that somebody reads
		wrong, then := g.path(), g.path()
		g.call("measure", state+" || †state."+wrong, map[string]any{"from": g.number()})
		g.call("measure", then, map[string]any{"from": state + ".value || 0"})
		g.call("tell", "", map[string]any{"code": "†state." + wrong + ".code"})
		g.numbers = append(g.numbers, "†state."+then+".value")
	case 5: // a path that is rewritten
		g.call("measure", state, map[string]any{"from": g.number()})
		g.call("measure", state, map[string]any{"from": state + ".value"})
		g.numbers = append(g.numbers, state+".value")
	case 6: // a result in two places, and references inside a parameter
		other := g.path()
		g.call("describe", state+" && †state."+other, map[string]any{"text": g.word(), "size": g.number()})
		g.call("store", "†state."+g.path(), map[string]any{"record": map[string]any{"name": state + ".text", "parts": []any{g.number(), "†state." + other + ".length"}}})
	case 7: // a call under a condition of what another gave
		g.call("measure", state, map[string]any{"from": g.number(), "_when": g.number() + " > 10"})
		g.give(state + ".value || " + g.number())
	}
}

// tools are what branching plans call.
const branchingTools = `{
	"measure": {"type": "object", "properties": {"from": {"type": "number"}, "digits": {"type": "integer"},
		"_output": {"type": "object", "properties": {"value": {"type": "number"}, "unit": {"type": "string"}}, "required": ["value"]}}, "required": ["from"]},
	"describe": {"type": "object", "properties": {"text": {"type": "string"}, "size": {"type": "number"}, "style": {"enum": ["plain", "loud"]},
		"_output": {"type": "object", "properties": {"text": {"type": "string"}, "length": {"type": "integer"}}, "required": ["text"]}}, "required": ["text", "size"]},
	"decide": {"type": "object", "properties": {"from": {"type": "number"},
		"_output": {"type": "object", "properties": {"score": {"type": "number"}, "why": {"type": "string"}}, "required": ["score", "why"]}}, "required": ["from"]},
	"store": {"type": "object", "properties": {"record": {"type": "object", "properties": {"name": {"type": "string"},
		"parts": {"type": "array", "items": {"type": "number"}}}, "required": ["name"], "additionalProperties": false},
		"_output": {"type": "object", "properties": {"id": {"type": "string"}}}}, "required": ["record"]},
	"tell": {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]}
}`

// soundPlan is the nth branching plan.
func soundPlan(n int) []byte {
	g := &branching{Rand: rand.New(rand.NewPCG(uint64(n), 3)), output: map[string]any{}}
	g.call("measure", "†state.first", map[string]any{"from": "†input.n"})
	g.call("describe", "†state.about", map[string]any{"text": "†input.about", "size": "†state.first.value"})
	g.numbers, g.texts = []string{"†state.first.value"}, []string{"†state.about.text"}
	for range 3 + g.IntN(6) {
		g.step()
	}
	g.give(g.numbers[len(g.numbers)-1])
	g.give(g.texts[len(g.texts)-1])
	text, err := json.Marshal(map[string]any{
		"tools": json.RawMessage(branchingTools), "calls": g.calls, "output": g.output,
		"input": map[string]any{"n": 1, "about": "what it is about"},
	})
	if err != nil {
		panic(err)
	}
	return text
}
