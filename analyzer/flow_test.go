package analyzer

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/analyzer/rules"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// A schemaMaker makes up schemas such as people write for tools: kinds, bounds,
// enums, objects with named properties, lists, alternatives.
type schemaMaker struct{ *rand.Rand }

func (g schemaMaker) pick(options ...string) string { return options[g.IntN(len(options))] }

func (g schemaMaker) schema(depth int) string {
	switch n := g.IntN(12); {
	case n < 2:
		return `{"type":"` + g.pick("integer", "number", "string", "boolean", "null") + `"}`
	case n < 3:
		low := g.IntN(5) - 2
		return fmt.Sprintf(`{"type":"%s","minimum":%d,"maximum":%d}`, g.pick("integer", "number"), low, low+g.IntN(6))
	case n < 4:
		return fmt.Sprintf(`{"type":"string","%s":%d}`, g.pick("minLength", "maxLength"), g.IntN(4))
	case n < 5:
		return `{"enum":[` + g.pick(`"a"`, `1`, `"a","b"`, `1,"a"`, `null,0.5`) + `]}`
	case n < 6:
		return `{"type":["` + g.pick("integer", "string") + `","` + g.pick("null", "boolean") + `"]}`
	case n < 7:
		return `{"type":"string","pattern":"` + g.pick("^a+$", "^[ab]*$", "b$", "^.{2}") + `"}`
	case depth == 0:
		return `{"type":"` + g.pick("integer", "string") + `"}`
	case n < 10:
		var properties, required []string
		for _, name := range []string{"p", "q", "r"}[:1+g.IntN(3)] {
			properties = append(properties, fmt.Sprintf("%q:%s", name, g.schema(depth-1)))
			if g.IntN(2) == 0 {
				required = append(required, fmt.Sprintf("%q", name))
			}
		}
		return `{"type":"object","properties":{` + strings.Join(properties, ",") + `},"required":[` + strings.Join(required, ",") + `]` +
			g.pick("", "", `,"additionalProperties":false`) + `}`
	case n < 11:
		return fmt.Sprintf(`{"type":"array","items":%s,"maxItems":%d}`, g.schema(depth-1), g.IntN(4))
	}
	return `{"` + g.pick("anyOf", "oneOf") + `":[` + g.schema(depth-1) + `,` + g.schema(depth-1) + `]}`
}

// A flowPlan is a generated plan with one typed flow in it.
type flowPlan struct {
	text      string
	producers []*schema.Schema // what may come, each by itself
	consumer  *schema.Schema
	less      bool // null doesn't come
}

// plan makes up a plan in which results reach a parameter in one of the ways in
// which they do.
func (g schemaMaker) plan() flowPlan {
	parse := func(text string) *schema.Schema {
		var raw any
		if err := json.Unmarshal([]byte(text), &raw); err != nil {
			panic(err)
		}
		return schema.New(raw, schema.Options{})
	}
	first, second, taken := g.schema(2), g.schema(2), g.schema(2)
	if g.IntN(3) == 0 {
		taken = first // so that some fit
	}
	f := flowPlan{producers: []*schema.Schema{parse(first)}, consumer: parse(taken)}
	calls := `{"_tool":"one","_outputPath":"†state.x"}`
	value := `"†state.x"`
	switch g.IntN(7) {
	case 0:
		calls = `{"_tool":"one","_outputPath":"†state.x && †state.y"}`
		value = `"†state.y"`
	case 1:
		calls = `{"_tool":"wrapped","_outputPath":"†state.w"}`
		value = `"†state.w.inner.value"`
	case 2:
		calls += `,{"_tool":"two","_outputPath":"†state.y"}`
		value = `"†state.x || †state.y"`
		f.producers, f.less = append(f.producers, parse(second)), true
	case 3:
		calls += `,{"_tool":"two","_outputPath":"†state.y"}`
		value = `"†state.y && †state.x"`
		f.less = true
	case 4:
		value = `"†state.x || 7"`
		f.producers, f.less = append(f.producers, schema.Const(7.0)), true
	case 5:
		calls += `,{"_tool":"two","_outputPath":"†state.y"}`
		value = `"†(†input.choose == 1 ? †state.x : †state.y)"`
		f.producers = append(f.producers, parse(second))
	}
	parameter := taken
	if g.IntN(3) == 0 {
		parameter, value = `{"type":"object","properties":{"at":`+taken+`}}`, `{"at":`+value+`}`
	}
	f.text = `{"tools":{"one":{"_output":` + first + `},"two":{"_output":` + second + `},` +
		`"wrapped":{"_output":{"type":"object","properties":{"inner":{"type":"object","properties":{"value":` + first + `}}}}},` +
		`"take":{"properties":{"v":` + parameter + `}}},"calls":[` + calls + `,{"_tool":"take","v":` + value + `}]}`
	return f
}

// sampled are values that may come.
func (f *flowPlan) sampled(r *rand.Rand, n int) []any {
	var all []any
	for _, p := range f.producers {
		p = p.AsDeclared(false) // what it names is there
		for range n {
			if v, ok := p.Sample(r); ok && !(f.less && v == nil) {
				all = append(all, v)
			}
		}
	}
	return all
}

var seedFlag = flag.Uint64("seed", 1, "the seed of generated flows; 0 chooses one and prints it")

func chooseSeed(t *testing.T) uint64 {
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("seed %d", seed)
	return seed
}

// LANGUAGE.md#findings: over generated plans whose flows are fully known, no
// value is refused where nothing is reported, none is accepted where OB505 is,
// and every value that OB506 shows is one that the source's schema accepts and
// the parameter's refuses, by the word of the ordinary validator.
func TestGeneratedFlows(t *testing.T) {
	n := amount.Of(300, 4000, 100_000)
	seed := chooseSeed(t)
	g := schemaMaker{rand.New(rand.NewPCG(seed, 506))}
	count := map[string]int{}
	for range n {
		f := g.plan()
		_, _, found := judged("flow.json", f.text)
		var said *diag.Diagnostic
		cut := false
		for i, d := range found {
			switch d.Rule.Code {
			case "OB505", "OB506":
				said = &found[i]
			case "OB902":
				cut = true
				count["not analysed"]++
			case "OB510", "OB509", "OB504", "OB205", "OB209", "OB407":
			default:
				if d.Severity == diag.Error {
					t.Fatalf("the plan isn't what the test takes it for: %s\n%s", shown(d), f.text)
				}
			}
		}
		values := f.sampled(g.Rand, 100)
		switch {
		case said == nil:
			count["silent"]++
			for _, v := range values {
				if !f.consumer.Accepts(v) {
					if !cut && !f.excused(v) {
						t.Errorf("nothing is reported, and %s is refused\n%s", analysis.Brief(v), f.text)
					}
					break
				}
			}
		case said.Rule == rules.FlowMismatch.Rule:
			count["never"]++
			for _, v := range values {
				if f.consumer.Accepts(v) {
					t.Errorf("%s\nand %s is accepted\n%s", shown(*said), analysis.Brief(v), f.text)
					break
				}
			}
		default:
			count["perhaps"]++
			f.confirm(t, said)
		}
		if t.Failed() {
			return
		}
	}
	t.Log(count)
	for _, kind := range []string{"silent", "never", "perhaps"} {
		if count[kind] < n/20 {
			t.Errorf("only %d plans are %s", count[kind], kind)
		}
	}
}

// excused reports whether a refused value is refused for a part of which its
// source says nothing, so that nothing is concluded from it.
func (f *flowPlan) excused(v any) bool {
	for _, p := range f.producers {
		if p.Accepts(v) && flow.IsUndescribed(p, f.consumer, v) {
			return true
		}
	}
	return false
}

// confirm holds the value that a finding shows against both schemas.
func (f *flowPlan) confirm(t *testing.T, said *diag.Diagnostic) {
	t.Helper()
	consumer, err := f.consumer.Ordinary()
	if err != nil {
		t.Fatal(err)
	}
	witness := said.Witness
	full := func(v any) bool { // the witness may be of the whole parameter
		m, ok := v.(map[string]any)
		return ok && len(m) == 1
	}
	for _, v := range []any{witness, inner(witness, full)} {
		for _, p := range f.producers {
			producer, err := p.Ordinary()
			if err != nil {
				t.Fatal(err)
			}
			if producer.Validate(v) == nil && consumer.Validate(v) != nil && !(f.less && v == nil) {
				return
			}
		}
	}
	t.Errorf("%s\n%s isn't what one accepts and the other refuses\n%s", shown(*said), analysis.Brief(witness), f.text)
}

func inner(v any, full func(any) bool) any {
	if full(v) {
		return v.(map[string]any)["at"]
	}
	return v
}

// LANGUAGE.md#references-and-expressions: the same of what expressions work out: nothing that comes out is
// accepted where OB505 is reported, and the value that OB506 shows is one that
// comes out, and that the ordinary validator refuses.
func TestGeneratedExpressionFlows(t *testing.T) {
	seed := chooseSeed(t)
	g := schemaMaker{rand.New(rand.NewPCG(seed, 510))}
	cases, count := amount.Of(200, 1500, 40_000), map[string]int{}
	for range cases {
		number := g.pick(`{"type":"integer","minimum":-3,"maximum":6}`, `{"type":"number","minimum":0,"maximum":5}`, `{"enum":[1,2.5,4]}`)
		text := g.pick(`{"type":"string","maxLength":4}`, `{"enum":["a","bcd"]}`)
		code := g.pick("†state.r.n + 1", "†state.r.n * 2 - †state.r.m", "†state.r.n / 2", "†(string(†state.r.n))", "†(†state.r.s + '!')", "†(len(†state.r.s))",
			"†state.r.n > †state.r.m", "†(upper(†state.r.s))", "†([†state.r.n, †state.r.s])", "†({'k': †state.r.n})", "†(†state.r.n > 1 ? †state.r.n + 1 : 'none')", "†(†state.r.n - 1 || 'none')")
		wanted := g.schema(2)
		if g.IntN(2) == 0 {
			wanted = g.pick(`{"type":"number"}`, `{"type":"integer"}`, `{"type":"number","minimum":0}`, `{"type":"string"}`, `{"type":"string","minLength":3}`, `{"type":["string","number"]}`, `{"type":"array"}`)
		}
		plan, _, found := judged("flow.json", `{"tools":{"one":{"_output":{"type":"object","properties":{"n":`+number+`,"m":`+number+`,"s":`+text+`}}},"take":{"properties":{"v":`+wanted+
			`}}},"calls":[{"_tool":"one","_outputPath":"†state.r"},{"_tool":"take","v":"`+code+`"}]}`)
		var said *diag.Diagnostic
		if slices.ContainsFunc(found, func(d diag.Diagnostic) bool { return d.Rule.Code == "OB509" }) {
			continue // nothing at all fits what was made up
		}
		for i, d := range found {
			switch {
			case d.Rule == rules.FlowMismatch.Rule || d.Rule == rules.FlowMayMismatch.Rule:
				said = &found[i]
			case d.Severity == diag.Error:
				t.Fatalf("%s: %s", code, shown(d))
			}
		}
		if said == nil {
			count["silent"]++
			continue
		}
		count[said.Rule.Code]++
		source, value := plan.Calls[0].Tool.Output.AsDeclared(false), plan.Calls[1].Params.Fields[0].Value
		consumer := plan.Calls[1].Tool.Parameters.At([]schema.Step{schema.Key("v")}).Schema
		ordinary, err := consumer.Ordinary()
		if err != nil {
			t.Fatal(err)
		}
		if said.Rule == rules.FlowMayMismatch.Rule && ordinary.Validate(said.Witness) == nil {
			t.Fatalf("%s into %s: the validator accepts %s", code, wanted, analysis.Brief(said.Witness))
		}
		for range 60 {
			result, ok := source.Sample(g.Rand)
			if !ok {
				t.Fatal("the result can't be sampled")
			}
			out, presence, err := value.Expr.Eval(func(i int) (any, expression.Presence) {
				v, ok := pathtree.Walk(map[string]any{"r": result}, plan.Reads[value.Reads[i]].Ref.Path)
				if !ok {
					t.Fatalf("%s has no value in %s", code, analysis.Brief(result))
				}
				return v, expression.There
			}, nil)
			if err == nil && presence == expression.There && said.Rule == rules.FlowMismatch.Rule && consumer.Accepts(out) {
				t.Fatalf("%s into %s: %s, and %s is accepted", code, wanted, shown(*said), analysis.Brief(out))
			}
		}
	}
	t.Log(count)
	for _, kind := range []string{"silent", "OB505", "OB506"} {
		if count[kind] < cases/30 {
			t.Errorf("only %d are %s", count[kind], kind)
		}
	}
}
