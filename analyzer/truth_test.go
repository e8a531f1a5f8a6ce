package analyzer

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/analyzer/internal/branch"
	"github.com/obelus-dev/obelus/analyzer/internal/logic"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/testdata/amount"
	"github.com/santhosh-tekuri/jsonschema/v5"
)

// typedValues are what generated conditions are about: fields of the result of one
// call, with their schemas and values to try besides those that a condition names.
var typedValues = []typedValue{
	{name: "b", schema: `{"type":"boolean"}`, tries: []any{true, false}},
	{name: "c", schema: `{"type":"boolean"}`, tries: []any{true, false}},
	{name: "kind", schema: `{"enum":["praise","bug","other"]}`, tries: []any{"praise", "bug", "other"}},
	{name: "mood", schema: `{"type":"string","enum":["bug","calm"]}`, tries: []any{"bug", "calm"}},
	{name: "i", schema: `{"type":"integer","minimum":0,"maximum":9}`, tries: span(0, 9)},
	{name: "j", schema: `{"type":"integer","minimum":-3,"maximum":5}`, tries: span(-3, 5)},
	{name: "n", schema: `{"type":"integer"}`, tries: span(-14, 14)},
	{name: "m", schema: `{"type":"integer"}`, tries: span(-14, 14)},
	{name: "r", schema: `{"type":"number"}`, tries: append(span(-12, 12), 0.5, -0.5, 2.5, 3.5, 1.25, 1e9, -1e9)},
	{name: "p", schema: `{"type":"number","minimum":0}`, tries: append(span(0, 12), 0.5, 2.5, 3.5, 1e9)},
	{name: "s", schema: `{"type":"string"}`, tries: texts},
	{name: "t", schema: `{"type":"string"}`, tries: texts},
	{name: "w", schema: `{"type":"string","minLength":1,"maxLength":5}`, tries: texts},
	{name: "xs", schema: `{"type":"array","items":{"type":"integer","minimum":0,"maximum":9}}`, tries: listsOf(span(0, 9))},
	{name: "ys", schema: `{"type":"array","items":{"type":"number"},"maxItems":3}`, tries: listsOf([]any{-2.0, 0.0, 0.5, 1.0, 3.0, 4.0, 5.0, 12.0})},
	{name: "ts", schema: `{"type":"array","items":{"type":"string"},"minItems":1}`, tries: listsOf(texts)},
	{name: "ks", schema: `{"type":"array","items":{"enum":["praise","bug","other"]}}`, tries: listsOf([]any{"praise", "bug", "other"})},
	{name: "ni", schema: `{"type":["integer","null"],"minimum":0,"maximum":9}`, tries: append(span(0, 9), nil)},
	{name: "nb", schema: `{"type":["boolean","null"]}`, tries: []any{true, false, nil}},
	{name: "ns", schema: `{"type":["string","null"]}`, tries: append(slices.Clone(texts), nil)},
}

var texts = []any{"", "a", "b", "A", "B", "ab", "abc", "ABC", "Abc", "bug", "x", "abcd", "abcde", "abcdef", "xyz", "zabc", "something else", "ba"}

func span(from, to int) (all []any) {
	for i := from; i <= to; i++ {
		all = append(all, float64(i))
	}
	return all
}

func listsOf(items []any) []any {
	all := []any{[]any{}}
	for i, a := range items {
		b, c := items[(i*3+1)%len(items)], items[(i*5+2)%len(items)]
		all = append(all, []any{a}, []any{a, b}, []any{a, a}, []any{a, b, c}, []any{c, b, a, a, b}, []any{b, c, a, a})
	}
	return all
}

func init() { // what a schema doesn't accept is no value to try
	for i := range typedValues {
		v := &typedValues[i]
		var raw any
		if err := json.Unmarshal([]byte(v.schema), &raw); err != nil {
			panic(err)
		}
		var err error
		if v.ordinary, err = schema.New(raw, schema.Options{}).Ordinary(); err != nil {
			panic(err)
		}
		v.tries = slices.DeleteFunc(slices.Clone(v.tries), func(x any) bool { return v.ordinary.Validate(x) != nil })
	}
}

type typedValue struct {
	name, schema string
	tries        []any
	ordinary     *jsonschema.Schema
}

func typed(name string) int {
	return slices.IndexFunc(typedValues, func(v typedValue) bool { return v.name == name })
}

// A conditionMaker writes conditions of one family.
type conditionMaker struct{ r *rand.Rand }

func (g conditionMaker) one(of ...string) string { return of[g.r.IntN(len(of))] }
func (g conditionMaker) ref(of ...string) string { return "†state.v." + g.one(of...) }
func (g conditionMaker) less() string            { return g.one("<", "<=", ">", ">=", "==", "!=") }
func (g conditionMaker) int(from, to int) string { return fmt.Sprint(from + g.r.IntN(to-from+1)) }
func (g conditionMaker) text() string {
	return g.one(`"a"`, `"b"`, `"abc"`, `"bug"`, `"ABC"`, `""`, `"x"`, `"calm"`)
}
func (g conditionMaker) word() string { return g.one(`"praise"`, `"bug"`, `"other"`) }

// conditionFamilies are what conditions are made of, by name.
var conditionFamilies = map[string]func(g conditionMaker) string{
	"boolean": func(g conditionMaker) string {
		return g.one(g.ref("b", "c"), "not "+g.ref("b", "c"), g.ref("b", "c")+" == "+g.one("true", "false"), g.ref("b")+g.one(" == ", " != ")+g.ref("c"))
	},
	"enum": func(g conditionMaker) string {
		return g.one(g.ref("kind")+g.one(" == ", " != ")+g.word(), g.ref("kind", "mood")+g.one(" in ", " not in ")+"["+g.word()+", "+g.word()+"]",
			g.ref("mood")+" == "+g.one(`"bug"`, `"calm"`), g.ref("kind")+g.one(" == ", " != ")+g.ref("mood"))
	},
	"integer": func(g conditionMaker) string {
		return g.ref("i", "j", "n") + " " + g.less() + " " + g.int(-4, 10)
	},
	"number": func(g conditionMaker) string {
		return g.ref("r", "p") + " " + g.less() + " " + g.one(g.int(-4, 10), "2.5", "0.1")
	},
	"order": func(g conditionMaker) string {
		return g.ref("i", "j", "n", "m", "r") + " " + g.less() + " " + g.ref("i", "j", "n", "m", "r")
	},
	"modulo": func(g conditionMaker) string {
		return g.ref("i", "j", "n") + " % " + g.int(2, 4) + " " + g.one("==", "!=") + " " + g.int(0, 3)
	},
	"arithmetic": func(g conditionMaker) string {
		x := g.ref("i", "j", "n", "r")
		return g.one(x+" + "+g.int(1, 5), x+" * "+g.int(2, 4), x+" * 2 - "+g.int(1, 4), "10 - "+x, "-"+x, x+" / 2", "("+x+" + 1) * 3", x+" + "+x) + " " + g.less() + " " + g.int(-4, 14)
	},
	"sum": func(g conditionMaker) string {
		return g.ref("i", "j") + g.one(" + ", " - ") + g.ref("i", "j", "n", "m") + " " + g.less() + " " + g.int(-4, 14)
	},
	"rounding": func(g conditionMaker) string {
		return g.one("abs", "floor", "ceil", "round", "int") + "(" + g.ref("i", "n", "r") + ") " + g.less() + " " + g.int(-3, 9)
	},
	"text": func(g conditionMaker) string {
		return g.one(g.ref("s", "t", "w")+g.one(" == ", " != ")+g.text(), g.ref("s", "w")+g.one(" in ", " not in ")+"["+g.text()+", "+g.text()+"]",
			g.ref("s")+g.one(" == ", " != ")+g.ref("t", "w"))
	},
	"pieces": func(g conditionMaker) string {
		return g.ref("s", "w") + g.one(" startsWith ", " endsWith ", " contains ", " matches ", " not contains ") + g.one(`"a"`, `"b"`, `"bc"`, `"abc"`)
	},
	"case": func(g conditionMaker) string {
		return g.one("lower("+g.ref("s", "w", "kind")+")"+g.one(" == ", " != ")+g.one(`"a"`, `"abc"`, `"bug"`, `"Abc"`), "upper("+g.ref("s", "w")+")"+g.one(" == ", " != ")+g.one(`"ABC"`, `"A"`),
			"trim("+g.ref("s", "w")+") == "+g.one(`""`, `"a"`), g.ref("s")+" == "+g.one(`"abc"`, `"ABC"`))
	},
	"length": func(g conditionMaker) string {
		return "len(" + g.ref("s", "w", "xs", "ys", "ts") + ") " + g.less() + " " + g.int(0, 5)
	},
	"member": func(g conditionMaker) string {
		return g.one(g.int(0, 5)+g.one(" in ", " not in ")+g.ref("xs", "ys"), g.word()+g.one(" in ", " not in ")+g.ref("ks", "ts"), g.ref("i", "j")+g.one(" in ", " not in ")+"[1, 3, "+g.int(0, 9)+"]",
			g.ref("i")+" in 2.."+g.int(2, 7))
	},
	"items": func(g conditionMaker) string {
		which := g.one("any", "none", "all", "one")
		return g.one(which+"("+g.ref("xs", "ys")+", # "+g.less()+" "+g.int(0, 6)+")", which+"("+g.ref("ks", "ts")+", # == "+g.word()+")",
			"count("+g.ref("xs", "ys")+", # "+g.less()+" "+g.int(0, 6)+") "+g.less()+" "+g.int(0, 2), "len(filter("+g.ref("ks")+", # == "+g.word()+")) "+g.less()+" "+g.int(0, 2))
	},
	"fallback": func(g conditionMaker) string {
		return g.one("("+g.ref("ni", "i")+g.one(" ?? ", " || ")+g.int(0, 5)+") "+g.less()+" "+g.int(0, 9), "("+g.ref("nb")+" ?? "+g.one("true", "false")+")", "("+g.ref("ns")+` ?? "") == `+g.text())
	},
	"null": func(g conditionMaker) string {
		return g.one(g.ref("ni", "nb", "ns")+g.one(" == ", " != ")+"null", g.ref("ni")+g.one(" == ", " != ")+g.int(0, 9), g.ref("nb")+" == true", g.ref("ni")+" != null and "+g.ref("ni")+" > "+g.int(0, 8))
	},
}

func (g conditionMaker) condition(family string, depth int) string {
	simple := func() string { return conditionFamilies[family](g) }
	if depth > 0 && g.r.IntN(3) == 0 {
		switch g.r.IntN(4) {
		case 0:
			return "not (" + g.condition(family, depth-1) + ")"
		case 1:
			return "(" + g.condition(family, depth-1) + " and " + simple() + ")"
		case 2:
			return "(" + g.condition(family, depth-1) + " ? " + simple() + " : " + g.one(simple(), "false", "true") + ")"
		}
		return "(" + g.condition(family, depth-1) + " or " + simple() + ")"
	}
	return simple()
}

// A truthCase is a plan whose calls have the conditions, and what is known of it.
type truthCase struct {
	plan  *plan.Plan
	e     *branch.Conditions
	calls []*plan.Call
	terms []string
}

func truthCaseOf(t *testing.T, conditions []string) *truthCase {
	t.Helper()
	var text strings.Builder
	text.WriteString(`{"tools":{"get":{"_output":{"type":"object","required":[`)
	for i, v := range typedValues {
		fmt.Fprintf(&text, "%s%q", strings.Repeat(",", min(i, 1)), v.name)
	}
	text.WriteString(`],"properties":{`)
	for i, v := range typedValues {
		fmt.Fprintf(&text, "%s%q:%s", strings.Repeat(",", min(i, 1)), v.name, v.schema)
	}
	text.WriteString(`}}},"use":{}},"calls":[{"_tool":"get","_outputPath":"v"}`)
	for _, c := range conditions {
		fmt.Fprintf(&text, `,{"_tool":"use","_when":%s}`, quoteJSON("†("+c+")"))
	}
	text.WriteString("]}")
	plan, found := compiler.Compile(source.NewFile("plan.json", []byte(text.String())), compiler.Options{})
	if diag.HasErrors(found) {
		t.Fatalf("%v: %s", conditions, every(found))
	}
	e := analysis.NewPass(plan, analysis.UnknownFacts(plan, found)).Flow.Conditions()
	return &truthCase{plan: plan, e: e, calls: plan.Calls[1:], terms: conditions}
}

// holds evaluates a condition over some values: whether it is true, and whether it
// is false; neither where it has no value.
func (c *truthCase) holds(call *plan.Call, values map[string]any) (yes, no bool) {
	value, presence, err := call.When.Expr.Eval(func(i int) (any, expression.Presence) {
		return values[c.nameOf(call, i)], expression.There
	}, nil)
	if err != nil || presence != expression.There {
		return false, false
	}
	return value == true, value == false
}

func (c *truthCase) nameOf(call *plan.Call, ref int) string {
	path := call.When.Expr.References()[ref].Path
	return path[len(path)-1].Key
}

// some calls f with values of what the conditions read: all of them where they are
// few, else some.
func (c *truthCase) some(r *rand.Rand, f func(values map[string]any) bool) {
	var of []int
	for _, call := range c.calls {
		for i := range call.When.Reads {
			if at := typed(c.nameOf(call, i)); !slices.Contains(of, at) {
				of = append(of, at)
			}
		}
	}
	all := 1
	for _, at := range of {
		all *= len(typedValues[at].tries)
	}
	values := map[string]any{}
	const most = 1500
	for n := range min(all, most) {
		for _, at := range of {
			tries := typedValues[at].tries
			if all > most {
				values[typedValues[at].name] = tries[r.IntN(len(tries))]
			} else {
				values[typedValues[at].name] = tries[n%len(tries)]
				n /= len(tries)
			}
		}
		if !f(values) {
			return
		}
	}
}

type truthVerdict string

const (
	exclusive truthVerdict = "exclusive"
	both      truthVerdict = "both"
	open      truthVerdict = "open"
	wrong     truthVerdict = "wrong"
)

// judge asks whether a goal can be reached, which the values do in which reached
// says so; it is wrong where values show that.
func (c *truthCase) judge(r *rand.Rand, goal logic.Literal, reached func(values map[string]any) bool) (truthVerdict, string) {
	a := c.e.Solve(goal, true)
	switch {
	case a.Impossible:
		says, verdict := "", exclusive
		c.some(r, func(values map[string]any) bool {
			if reached(values) {
				says, verdict = fmt.Sprintf("called impossible, and so with %v", values), wrong
			}
			return verdict != wrong
		})
		return verdict, says
	case !a.Possible:
		return open, ""
	}
	values := map[string]any{}
	for _, v := range typedValues {
		values[v.name] = v.tries[0]
	}
	for _, d := range c.e.Decisions(goal, a.Assignment) {
		if d.Reference == "" || d.Value == nil {
			return open, ""
		}
		name := strings.TrimPrefix(d.Reference, "†state.v.")
		values[name] = *d.Value
		if typedValues[typed(name)].ordinary.Validate(*d.Value) != nil {
			return wrong, fmt.Sprintf("%s can't be %v", d.Reference, *d.Value)
		}
	}
	if !reached(values) {
		return wrong, fmt.Sprintf("called possible with %v, and isn't", values)
	}
	return both, ""
}

// comparing are the families that only compare a value with constants, or values of enums
// with each other: of these it is always decided what can hold.
var comparing = []string{"enum", "integer", "null", "number"}

// LANGUAGE.md#the-graph: whether two conditions can both hold, and whether one of several always
// does, is what evaluating them says, or open; values that show it are such as their schemas
// and the conditions allow.
func TestConditionsAgreeWithEvaluation(t *testing.T) {
	seed := chooseSeed(t)
	var names []string
	for name := range conditionFamilies {
		names = append(names, name)
	}
	sort.Strings(names)
	counts := map[string]map[truthVerdict]int{}
	note := func(question, family string, v truthVerdict) {
		for _, name := range []string{question + " " + family, question} {
			if counts[name] == nil {
				counts[name] = map[truthVerdict]int{}
			}
			counts[name][v]++
		}
	}
	failures := 0
	fail := func(question string, conditions []string, says string, n uint64) {
		if failures++; failures <= 12 {
			t.Errorf("case %d, %s: %q: %s", n, question, conditions, says)
		}
	}
	for n := range uint64(amount.Of(200, 500, 100_000)) {
		r := rand.New(rand.NewPCG(seed, n))
		g := conditionMaker{r}
		family := names[n%uint64(len(names))]
		first := g.condition(family, 2)
		other := family
		if r.IntN(4) == 0 {
			other = names[r.IntN(len(names))]
		}
		second := g.condition(other, 2)
		if r.IntN(6) == 0 {
			second = "not (" + first + ")"
		}
		conditions := []string{first, second}
		if r.IntN(3) == 0 {
			conditions = append(conditions, g.condition(family, 1))
		}
		c := truthCaseOf(t, conditions)
		yes := make([]logic.Literal, len(conditions))
		none := logic.True
		for i, call := range c.calls {
			yes[i] = c.e.Condition(call)
			none = c.e.And(none, yes[i].Not())
		}
		v, says := c.judge(r, c.e.And(yes[0], yes[1]), func(values map[string]any) bool {
			a, _ := c.holds(c.calls[0], values)
			b, _ := c.holds(c.calls[1], values)
			return a && b
		})
		note("both", family, v)
		if v == wrong || v == open && other == family && slices.Contains(comparing, family) {
			fail("both hold", conditions[:2], says, n)
		}
		v, says = c.judge(r, none, func(values map[string]any) bool {
			for _, call := range c.calls {
				if yes, _ := c.holds(call, values); yes {
					return false
				}
			}
			return true
		})
		note("cover", family, v)
		if v == wrong || v == open && other == family && slices.Contains(comparing, family) {
			fail("none holds", conditions, says, n)
		}
	}
	for _, question := range []string{"both", "cover"} {
		for _, name := range append([]string{""}, names...) {
			of := counts[strings.TrimSpace(question+" "+name)]
			t.Logf("%-18s exclusive %5d  possible %5d  open %5d  wrong %5d", question+" "+name, of[exclusive], of[both], of[open], of[wrong])
		}
	}
}

func quoteJSON(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(b)
}
