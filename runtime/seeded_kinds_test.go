package runtime_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/schema"
)

// A seeded plan has one fault. It is found when a finding with one of the codes
// stands at one of the places.
type seeded struct {
	plan   sketch
	places []spot
	from   []int // by call: which one of the sound plan's it is; nil where each is its own
}

// A spot is where a fault must be found, and as what.
type spot struct {
	codes string
	call  int   // -1 is the output
	at    []any // the way from the call, or the output, to the text at fault
	key   bool  // not the value but its key
}

// at is the place of a text in which something is mentioned.
func (m mention) spot(codes string) spot { return spot{codes: codes, call: m.call, at: m.at} }

// A kind of fault makes all seeded plans of a plan that it can.
type faultKind struct {
	name string
	seed func(sketch) []seeded
}

var faultKinds = []faultKind{
	{"read of a renamed path", renamedPaths},
	{"dropped writer", droppedWriters},
	{"swapped outputs of two tools", swappedOutputs},
	{"changed type of a parameter", changedTypes},
	{"second writer", secondWriters},
	{"closed cycle", closedCycles},
	{"dropped required parameter", droppedParameters},
	{"misspelt tool", misspeltTools},
	{"misspelt parameter", misspeltParameters},
	{"misspelt meta key", misspeltMeta},
	{"read of an unnamed field", unnamedFields},
	{"unreachable branch", unreachableBranches},
	{"removed fallback", removedFallbacks},
	{"written input", writtenInputs},
}

func renamedPaths(s sketch) []seeded {
	var all []seeded
	for _, m := range s.mentions() {
		if m.kind != "state" || len(m.path) == 0 {
			continue
		}
		codes := "OB203"
		if m.soft() {
			codes = "OB203 OB209"
		}
		d := s.copy()
		from := m.start + len("†state.")
		d.change(m, m.text[:from]+"elsewhere"+m.text[from+len(m.path[0]):])
		all = append(all, seeded{plan: d, places: []spot{m.spot(codes)}})
	}
	return all
}

// droppedWriters leaves out paths with several writers: without one of them the
// plan is a shorter plan, and as sound as it was. Besides where its result was
// read, the gap shows where nothing reads any more what the writer read.
func droppedWriters(s sketch) []seeded {
	var all []seeded
	for w := range s.calls {
		if len(s.writes(w)) == 0 || !s.alone(w) {
			continue
		}
		d := s.copy()
		d.put(slices.Delete(d.calls, w, w+1))
		f := seeded{plan: d, from: s.each()}
		f.from = slices.Delete(f.from, w, w+1)
		for _, m := range s.reading(w) {
			if m.call > w {
				m.call--
			}
			f.places = append(f.places, m.spot("OB203 OB209"))
		}
		for _, m := range s.mentions() {
			if from, _, ok := s.source(m); ok && m.call == w {
				if from > w {
					from--
				}
				f.places = append(f.places, spot{codes: "OB407", call: from, at: []any{"_outputPath"}})
			}
		}
		all = append(all, f)
	}
	return all
}

// swappedOutputs exchanges what two tools are said to give. It shows where one of
// the two is read.
func swappedOutputs(s sketch) []seeded {
	var called []string
	for _, c := range s.calls {
		if name := c["_tool"].(string); !slices.Contains(called, name) && properties(s.tool(name))["_output"] != nil {
			called = append(called, name)
		}
	}
	var all []seeded
	for i, a := range called {
		for _, b := range called[i+1:] {
			d := s.copy()
			x, y := properties(d.tool(a)), properties(d.tool(b))
			x["_output"], y["_output"] = y["_output"], x["_output"]
			f := seeded{plan: d}
			for _, m := range s.mentions() {
				if call, _, ok := s.source(m); ok && (s.calls[call]["_tool"] == a || s.calls[call]["_tool"] == b) {
					f.places = append(f.places, m.spot("OB505 OB506 OB510 OB513"))
				}
			}
			all = append(all, f)
		}
	}
	return all
}

// fieldOf is the schema of what stands below a result.
func fieldOf(result any, rest []string) (any, bool) {
	for _, name := range rest {
		m, _ := result.(map[string]any)
		next, ok := properties(m)[name]
		if !ok {
			return nil, false
		}
		result = next
	}
	return result, true
}

// judgedValues makes values of one schema up and puts them to another, with the
// ordinary validator.
func judgedValues(taken, given any) (accepted, refused int) {
	validator, err := schema.New(taken, schema.Options{}).Ordinary()
	if err != nil {
		panic(err)
	}
	r := rand.New(rand.NewPCG(5, 5))
	for range 20 {
		if v, ok := schema.New(given, schema.Options{}).Sample(r); ok {
			if validator.Validate(v) == nil {
				accepted++
			} else {
				refused++
			}
		}
	}
	return accepted, refused
}

// changedTypes gives a parameter a type that refuses what comes to it: a value in
// the plan, or all that another tool is said to give.
func changedTypes(s sketch) []seeded {
	others := []any{
		map[string]any{"type": "boolean"},
		map[string]any{"type": "array", "items": map[string]any{"type": "null"}, "minItems": 1.0},
	}
	comes := map[string][]mention{}
	for _, m := range s.mentions() {
		if m.call >= 0 {
			key := fmt.Sprint(m.call, m.at[0])
			comes[key] = append(comes[key], m)
		}
	}
	var all []seeded
	for i, c := range s.calls {
		for _, name := range names(c) {
			if properties(s.tool(c["_tool"]))[name] == nil {
				continue
			}
			given, codes := any(nil), "OB505"
			switch ms := comes[fmt.Sprint(i, name)]; {
			case len(ms) == 0:
				given, codes = map[string]any{"const": c[name]}, "OB504"
			case len(ms) == 1 && ms[0].plain() && len(ms[0].at) == 1:
				call, rest, ok := s.source(ms[0])
				if !ok {
					continue
				}
				given, ok = fieldOf(properties(s.tool(s.calls[call]["_tool"]))["_output"], rest)
				if !ok || reflect.DeepEqual(given, map[string]any{}) {
					continue
				}
			default:
				continue
			}
			for _, other := range others {
				if accepted, refused := judgedValues(other, given); accepted > 0 || refused == 0 {
					continue
				}
				d := s.copy()
				properties(d.tool(c["_tool"]))[name] = other
				all = append(all, seeded{plan: d, places: []spot{{codes: codes, call: i, at: []any{name}}}})
				break
			}
		}
	}
	return all
}

// secondWriters lists a call twice. A call that reads what it writes is left
// out: the second reads from the first, and they are ordered.
func secondWriters(s sketch) []seeded {
	var all []seeded
	for w, c := range s.calls {
		if len(s.writes(w)) == 0 || slices.ContainsFunc(s.reading(w), func(m mention) bool { return m.call == w }) || !s.alone(w) {
			continue
		}
		d := s.copy()
		d.put(slices.Insert(d.calls, w+1, s.copy().calls[w]))
		if c["_id"] != nil {
			d.calls[w+1]["_id"] = "again"
		}
		at := []any{"_outputPath"}
		all = append(all, seeded{plan: d, places: []spot{{codes: "OB401", call: w, at: at}, {codes: "OB401", call: w + 1, at: at}}})
	}
	return all
}

func closedCycles(s sketch) []seeded {
	var all []seeded
	for _, m := range s.mentions() {
		w, _, ok := s.source(m)
		if !ok || m.call < 0 || len(s.writes(m.call)) == 0 || !s.alone(m.call) {
			continue
		}
		back := "†state." + strings.Join(s.writes(m.call)[0], ".")
		name, text := "_when", back+" != null"
		if parameters := names(s.calls[w]); len(parameters) > 0 {
			name, text = parameters[0], back
		}
		d := s.copy()
		d.calls[w][name] = text
		all = append(all, seeded{plan: d, places: []spot{{codes: "OB301", call: w, at: []any{name}}, m.spot("OB301")}})
	}
	return all
}

func droppedParameters(s sketch) []seeded {
	var all []seeded
	for i, c := range s.calls {
		required, _ := s.tool(c["_tool"])["required"].([]any)
		for _, name := range required {
			if c[name.(string)] == nil {
				continue
			}
			d := s.copy()
			delete(d.calls[i], name.(string))
			all = append(all, seeded{plan: d, places: []spot{{codes: "OB502", call: i, at: []any{"_tool"}}}})
		}
	}
	return all
}

func misspeltTools(s sketch) []seeded {
	var all []seeded
	for i, c := range s.calls {
		d := s.copy()
		d.calls[i]["_tool"] = misspelt(c["_tool"].(string))
		all = append(all, seeded{plan: d, places: []spot{{codes: "OB501", call: i, at: []any{"_tool"}}}})
	}
	return all
}

// misspelt exchanges the last two letters, or doubles the last if they are one.
func misspelt(word string) string {
	letters := []rune(word)
	n := len(letters)
	if n < 2 || letters[n-1] == letters[n-2] {
		return word + string(letters[n-1])
	}
	letters[n-1], letters[n-2] = letters[n-2], letters[n-1]
	return string(letters)
}

func misspeltKeys(s sketch, codes string, take func(string) bool) []seeded {
	var all []seeded
	for i, c := range s.calls {
		for name, value := range c {
			wrong := misspelt(name)
			if _, named := properties(s.tool(c["_tool"]))[wrong]; named || !take(name) {
				continue
			}
			d := s.copy()
			delete(d.calls[i], name)
			d.calls[i][wrong] = value
			all = append(all, seeded{plan: d, places: []spot{{codes: codes, call: i, at: []any{wrong}, key: true}}})
		}
	}
	slices.SortFunc(all, func(a, b seeded) int { return strings.Compare(string(a.plan.text()), string(b.plan.text())) })
	return all
}

func misspeltParameters(s sketch) []seeded {
	return misspeltKeys(s, "OB503", func(name string) bool { return !strings.HasPrefix(name, "_") })
}

func misspeltMeta(s sketch) []seeded {
	return misspeltKeys(s, "OB102", func(name string) bool { return strings.HasPrefix(name, "_") && name != "_tool" })
}

func unnamedFields(s sketch) []seeded {
	var all []seeded
	for _, m := range s.mentions() {
		call, rest, ok := s.source(m)
		if !ok || len(rest) == 0 {
			continue
		}
		result := properties(s.tool(s.calls[call]["_tool"]))["_output"]
		if _, named := fieldOf(result, rest); !named {
			continue
		}
		wrong := slices.Clone(rest)
		wrong[len(wrong)-1] = misspelt(rest[len(rest)-1])
		if _, named := fieldOf(result, wrong); named {
			continue
		}
		d := s.copy()
		d.change(m, strings.TrimSuffix(m.text[:m.end], rest[len(rest)-1])+wrong[len(wrong)-1]+m.text[m.end:])
		all = append(all, seeded{plan: d, places: []spot{m.spot("OB513")}})
	}
	return all
}

// unreachableBranches makes a call that waits for one alternative wait for the
// other one as well.
func unreachableBranches(s sketch) []seeded {
	var all []seeded
	for _, m := range s.mentions() {
		w, _, ok := s.source(m)
		if !ok || m.call < 0 || !m.plain() {
			continue
		}
		text := s.calls[w]["_outputPath"].(string)
		if !strings.Contains(text, "||") || strings.Contains(text, "&&") {
			continue
		}
		for _, other := range s.writes(w) {
			if overlapping(other, m.path) {
				continue
			}
			d := s.copy()
			d.change(m, "†state."+strings.Join(other, ".")+" && "+m.text)
			gated := seeded{plan: d, places: []spot{{codes: "OB302", call: m.call}}}
			d = s.copy()
			d.calls[m.call]["_when"] = "†state." + strings.Join(other, ".") + " != null"
			all = append(all, gated, seeded{plan: d, places: []spot{{codes: "OB302", call: m.call}}})
		}
	}
	return all
}

// removedFallbacks leaves only the first operand of a fallback, which is there
// on some branches only. What the output then lacks on the others is missing in
// its own leaf, or in one that comes from the call that can't run there; and
// nothing reads any more what the other operands were.
func removedFallbacks(s sketch) []seeded {
	var all []seeded
	for _, m := range s.mentions() {
		if m.start != 0 || !m.soft() {
			continue
		}
		d := s.copy()
		d.change(m, m.text[:m.end])
		f := seeded{plan: d}
		if m.call < 0 {
			f.places = []spot{m.spot("OB205")}
		} else {
			for _, o := range s.downstream(m.call) {
				f.places = append(f.places, o.spot("OB205"))
			}
			for _, w := range s.droppedOperands(m) {
				f.places = append(f.places, spot{codes: "OB407 OB207", call: w, at: []any{"_outputPath"}})
			}
		}
		all = append(all, f)
	}
	return all
}

// downstream are the leaves of the output that a call has a part in: by what it
// gives, or by what others make of that.
func (s sketch) downstream(call int) []mention {
	var all []mention
	reached := []int{call}
	for i := 0; i < len(reached); i++ {
		for _, m := range s.reading(reached[i]) {
			if m.call < 0 {
				all = append(all, m)
			} else if !slices.Contains(reached, m.call) {
				reached = append(reached, m.call)
			}
		}
	}
	return all
}

// droppedOperands are the calls whose results stand after the first operand.
func (s sketch) droppedOperands(first mention) []int {
	var all []int
	for _, m := range s.mentions() {
		if m.call == first.call && slices.Equal(m.at, first.at) && m.start > 0 && m.kind == "state" {
			all = append(all, s.writers(m.path)...)
		}
	}
	return all
}

func writtenInputs(s sketch) []seeded {
	var all []seeded
	for i := range s.calls {
		if len(s.writes(i)) == 0 {
			continue
		}
		d := s.copy()
		d.calls[i]["_outputPath"] = "†input.result"
		all = append(all, seeded{plan: d, places: []spot{{codes: "OB404", call: i, at: []any{"_outputPath"}}}})
	}
	return all
}
