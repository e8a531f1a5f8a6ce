package simulate_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime/simulate"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// A reckoning is a random plan of which conditions are about what is worked out of made-up
// values, and a model of it that shares no code with obelus: what each of its values may be,
// and which of the calls under conditions run with them.
type reckoning struct {
	*rand.Rand
	text    strings.Builder
	files   map[string]string
	domains [][]any           // of what is made up
	values  []func([]any) any // by name: what it is
	kinds   []string          // the same
	refs    []string          // the same
	tools   strings.Builder
	codes   strings.Builder
	runs    []func([]any) bool // by call under a condition, or for a list: whether any of it runs
}

// way is how a value is worked out of one or two others: as code, and as Go.
type way struct {
	of, gives, code string
	as              func(a, b any) any
}

func number(v any) float64 { return v.(float64) }

func items(v any) []any { return v.([]any) }

func total(v any) (sum float64) {
	for _, one := range items(v) {
		sum += number(one)
	}
	return sum
}

var reckonings = []way{
	{"number", "number", "a * 3 + 1", func(a, _ any) any { return number(a)*3 + 1 }},
	{"number", "number", "a + b", func(a, b any) any { return number(a) + number(b) }},
	{"number", "number", "a - b", func(a, b any) any { return number(a) - number(b) }},
	{"number", "number", "a * a", func(a, _ any) any { return number(a) * number(a) }},
	{"number", "number", "a * b + 100", func(a, b any) any { return number(a)*number(b) + 100 }},
	{"number", "text", "a > 3 ? \"big\" : \"small\"", func(a, _ any) any { return map[bool]any{true: "big", false: "small"}[number(a) > 3] }},
	{"number", "truth", "a + b == 4", func(a, b any) any { return number(a)+number(b) == 4 }},
	{"number", "list", "[a, b]", func(a, b any) any { return []any{a, b} }},
	{"text", "text", "upper(a)", func(a, _ any) any { return strings.ToUpper(a.(string)) }},
	{"text", "text", "a + \"-x\"", func(a, _ any) any { return a.(string) + "-x" }},
	{"text", "number", "len(a)", func(a, _ any) any { return float64(len(a.(string))) }},
	{"text", "truth", "a == b", func(a, b any) any { return a == b }},
	{"truth", "number", "a ? 7 : 2", func(a, _ any) any { return map[any]any{true: 7.0, false: 2.0}[a] }},
	{"truth", "truth", "not a", func(a, _ any) any { return a != true }},
	{"list", "number", "sum(a)", func(a, _ any) any { return total(a) }},
	{"list", "number", "len(a)", func(a, _ any) any { return float64(len(items(a))) }},
	{"list", "list", "a | map(# * 2)", func(a, _ any) any {
		all := []any{}
		for _, one := range items(a) {
			all = append(all, number(one)*2)
		}
		return all
	}},
	{"list", "list", "a | filter(# > 1)", func(a, _ any) any {
		all := []any{}
		for _, one := range items(a) {
			if number(one) > 1 {
				all = append(all, one)
			}
		}
		return all
	}},
}

// conditioned are conditions on values of a kind, with what they compare with.
var conditioned = []struct {
	on, text string
	holds    func(v any, n float64) bool
}{
	{"number", "%s > %v", func(v any, n float64) bool { return number(v) > n }},
	{"number", "%s <= %v", func(v any, n float64) bool { return number(v) <= n }},
	{"number", "%s == %v", func(v any, n float64) bool { return number(v) == n }},
	{"text", "%s == \"BLUE\"", func(v any, _ float64) bool { return v == "BLUE" }},
	{"text", "%s == \"big\"", func(v any, _ float64) bool { return v == "big" }},
	{"text", "%s == \"green-x\"", func(v any, _ float64) bool { return v == "green-x" }},
	{"text", "%s == \"it is blue\"", func(v any, _ float64) bool { return v == "it is blue" }},
	{"text", "%s == \"it is 3\"", func(v any, _ float64) bool { return v == "it is 3" }},
	{"text", "%s != \"RED-x\"", func(v any, _ float64) bool { return v != "RED-x" }},
	{"truth", "%s", func(v any, _ float64) bool { return v == true }},
	{"truth", "†(not %s)", func(v any, _ float64) bool { return v != true }},
	{"list", "†(len(%s) > 1)", func(v any, _ float64) bool { return len(items(v)) > 1 }},
	{"list", "†(sum(%s) > %v)", func(v any, n float64) bool { return total(v) > n }},
}

// schemaOf is what a tool says of its result.
var schemaOf = map[string]string{"number": "{type: number}", "text": "{type: string}", "truth": "{type: boolean}", "list": "{type: array, items: {type: number}}"}

var (
	numbers = []any{0.0, 1.0, 2.0, 3.0, 4.0}
	halves  = []any{0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0}
)

// source adds a call whose result is made up.
func (g *reckoning) source() {
	i := len(g.refs)
	at, kind, domain := fmt.Sprintf("†state.v%d", i), "", []any(nil)
	switch g.IntN(4) {
	case 0, 1:
		kind, domain = "number", numbers
	case 2:
		kind, domain = "text", []any{"red", "green", "blue"}
	case 3:
		if kind, domain = "truth", []any{true, false}; g.IntN(2) == 0 {
			kind, domain = "list", []any{[]any{}}
			for _, a := range numbers[:4] {
				domain = append(domain, []any{a})
				for _, b := range numbers[:4] {
					domain = append(domain, []any{a, b})
				}
			}
		}
	}
	tool := kind
	if kind == "number" && g.IntN(2) == 0 {
		tool, domain = "halves", halves
	}
	fmt.Fprintf(&g.text, "- {_tool: %s, _outputPath: v%d}\n", tool, i)
	from := len(g.domains)
	g.domains = append(g.domains, domain)
	g.value(at+".of", kind, func(world []any) any { return world[from] })
}

func (g *reckoning) value(ref, kind string, of func([]any) any) {
	g.refs, g.kinds, g.values = append(g.refs, ref), append(g.kinds, kind), append(g.values, of)
}

// some is a value of a kind; -1 where there is none.
func (g *reckoning) some(kind string) int {
	for range 20 {
		if i := g.IntN(len(g.refs)); g.kinds[i] == kind {
			return i
		}
	}
	return slices.Index(g.kinds, kind)
}

// computed adds a call that works something out, by code or by a plan of its own.
func (g *reckoning) computed() {
	a := len(g.refs) - 1 // chains
	if g.IntN(3) == 0 {
		a = g.IntN(len(g.refs))
	}
	w := reckonings[g.IntN(len(reckonings))]
	for w.of != g.kinds[a] {
		w = reckonings[g.IntN(len(reckonings))]
	}
	b := g.some(w.of)
	i, path := len(g.refs), fmt.Sprintf("v%d", len(g.refs))
	of, other := g.values[a], g.values[b]
	as := func(world []any) any { return w.as(of(world), other(world)) }
	switch plain := fmt.Sprintf("a: %s, b: %s", g.refs[a], g.refs[b]); g.IntN(6) {
	case 0: // as a plan of its own
		file := fmt.Sprintf("p%d.yaml", i)
		g.files[file] = fmt.Sprintf("calls: [{_tool: work, a: †input.a, b: †input.b, _outputPath: r}]\noutput: †state.r\ntools: {work: {type: object, additionalProperties: true, properties: {_output: %s}}}\nactivities: {work: {expr: '%s'}}\n", schemaOf[w.gives], w.code)
		fmt.Fprintf(&g.tools, "  work%d: {type: object, additionalProperties: true, properties: {_output: %s}, _delegate: %s}\n", i, schemaOf[w.gives], file)
		fmt.Fprintf(&g.text, "- {_tool: work%d, %s, _outputPath: %s}\n", i, plain, path)
	case 1: // in a text
		if kind := g.kinds[a]; kind == "number" || kind == "text" {
			w.gives, w.code, plain = "text", "a", "a: 'it is †{"+g.refs[a]+"}'"
			as = func(world []any) any { return fmt.Sprint("it is ", of(world)) }
		}
		fallthrough
	default:
		fmt.Fprintf(&g.tools, "  work%d: {type: object, additionalProperties: true, properties: {_output: %s}}\n", i, schemaOf[w.gives])
		fmt.Fprintf(&g.codes, "  work%d: {expr: '%s'}\n", i, w.code)
		fmt.Fprintf(&g.text, "- {_tool: work%d, %s, _outputPath: %s}\n", i, plain, path)
	}
	g.value("†state."+path, w.gives, as)
}

// conditional adds a call that runs by what was worked out.
func (g *reckoning) conditional() {
	at := len(g.refs) - 1 - g.IntN(min(3, len(g.refs)))
	of, n := g.values[at], float64(g.IntN(10))
	if g.kinds[at] == "list" && g.IntN(2) == 0 {
		fmt.Fprintf(&g.text, "- {_tool: use, _each: %s, of: †item, _when: '†item > %v'}\n", g.refs[at], n/3)
		g.runs = append(g.runs, func(world []any) bool {
			return slices.ContainsFunc(items(of(world)), func(one any) bool { return number(one) > n/3 })
		})
		return
	}
	c := conditioned[g.IntN(len(conditioned))]
	for c.on != g.kinds[at] {
		c = conditioned[g.IntN(len(conditioned))]
	}
	text := strings.Replace(c.text, "%s", g.refs[at], 1)
	if strings.Contains(text, "%v") {
		text = fmt.Sprintf(text, n)
	}
	fmt.Fprintf(&g.text, "- {_tool: use, of: %s, _when: '%s'}\n", g.refs[at], text)
	g.runs = append(g.runs, func(world []any) bool { return c.holds(of(world), n) })
}

// reckon makes a plan; nil where it has errors.
func reckon(n int) (*reckoning, *analyzer.Simulation) {
	g := &reckoning{Rand: rand.New(rand.NewPCG(uint64(n), 19)), files: map[string]string{}}
	for range 1 + g.IntN(3) {
		g.source()
	}
	for range 1 + g.IntN(3) {
		g.computed()
	}
	for range 1 + g.IntN(4) {
		g.conditional()
	}
	g.files["plan.yaml"] = "calls:\n" + g.text.String() + `tools:
  number: {type: object, properties: {_output: {type: object, properties: {of: {type: integer, minimum: 0, maximum: 4}}, required: [of]}}, x-simulate: {failure: 0}}
  halves: {type: object, properties: {_output: {type: object, properties: {of: {type: number, multipleOf: 0.5, minimum: 0, maximum: 4}}, required: [of]}}, x-simulate: {failure: 0}}
  text: {type: object, properties: {_output: {type: object, properties: {of: {enum: [red, green, blue]}}, required: [of]}}, x-simulate: {failure: 0}}
  truth: {type: object, properties: {_output: {type: object, properties: {of: {type: boolean}}, required: [of]}}, x-simulate: {failure: 0}}
  list: {type: object, properties: {_output: {type: object, properties: {of: {type: array, maxItems: 2, items: {type: integer, minimum: 0, maximum: 3}}}, required: [of]}}, x-simulate: {failure: 0}}
  use: {type: object, properties: {of: {}}, x-simulate: {failure: 0}}
` + g.tools.String()
	if g.codes.Len() > 0 {
		g.files["plan.yaml"] += "activities:\n" + g.codes.String()
	}
	p, found := compiler.Compile(source.NewFile("plan.yaml", []byte(g.files["plan.yaml"])), compiler.Options{Name: "plan.yaml", Open: func(name string) ([]byte, error) {
		if text, ok := g.files[name]; ok {
			return []byte(text), nil
		}
		return nil, fs.ErrNotExist
	}})
	j := analyzer.Analyze(p, found, analyzer.Config{SampleRun: simulate.SampleRun})
	if j.Verified == nil {
		return g, nil
	}
	return g, j.Verified.Simulation()
}

// ways are all sets of calls that the model says can run: by each, a letter.
func (g *reckoning) ways() map[string]bool {
	all := map[string]bool{}
	world := make([]any, len(g.domains))
	var choose func(i int)
	choose = func(i int) {
		if i == len(world) {
			row := ""
			for _, runs := range g.runs {
				row += map[bool]string{true: "T", false: "F"}[runs(world)]
			}
			all[row] = true
			return
		}
		for _, v := range g.domains[i] {
			world[i] = v
			choose(i + 1)
		}
	}
	choose(0)
	return all
}

// rowOf is the same of a simulation.
func rowOf(s *simulate.Scenario) (row string) {
	for _, one := range s.Calls {
		switch {
		case one.Under != "" || one.Call.ToolName != "use":
		case one.Call.ItemOf == nil:
			row += map[bool]string{true: "T", false: "F"}[one.Started && one.Call.Each == nil]
		case one.Started:
			row = row[:len(row)-1] + "T"
		}
	}
	return row
}

// EXECUTION.md#branches: conditions on what is worked out of made-up values, by code, texts, lists or plans of
// their own, come out only as some values let them.
func TestComputedConditions(t *testing.T) {
	t.Parallel()
	plans, ways, reached := 0, 0, 0
	for n := 0; plans < amount.Of(50, 300, 4_000); n++ {
		g, r := reckon(n)
		if r == nil {
			continue
		}
		plans++
		can, came := g.ways(), map[string]bool{}
		simulate.Begin(r, simulate.Options{Seed: 1}).Alternatives(3_000, func(a *simulate.Alternative) bool {
			came[rowOf(a.Scenario)] = true
			return true
		})
		ways += len(can)
		for row := range came {
			if can[row] {
				reached++
			} else {
				t.Errorf("plan %d: %s is reached, and can't be\n%s", n, row, g.files)
			}
		}
	}
	t.Logf("%d plans, %d of %d ways", plans, reached, ways)
	if reached*100 < ways*60 {
		t.Error("too few")
	}
}
