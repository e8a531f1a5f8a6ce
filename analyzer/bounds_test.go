package analyzer

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// A boundedPlan passes something that is made of the input to a bounded parameter,
// under a condition or none.
type boundedPlan struct {
	value, when, bound, input string
	tries                     []any // values of the input that tell all apart
}

// boundedNumber bounds a number, in one of the ways in which a plan can see to it.
func boundedNumber(r *rand.Rand) (b boundedPlan) {
	c := func() int { return 10 * r.IntN(5) }
	pick := func(all ...string) string { return all[r.IntN(len(all))] }
	b.input, b.value = "type: number", "†input.v"
	guard := func(of string) string {
		one := func() string {
			switch r.IntN(7) {
			case 0:
				return fmt.Sprintf("not (%s > %d)", of, c())
			case 1:
				return fmt.Sprintf("%d <= %s and %s < %d", c(), of, of, c())
			case 2:
				return fmt.Sprintf("%s in [%d, %d]", of, c(), c())
			case 3:
				return fmt.Sprintf("%s == %d", of, c())
			}
			return fmt.Sprintf("%s %s %d", of, pick("<", "<=", ">", ">="), c())
		}
		switch r.IntN(5) {
		case 0:
			return one() + " and " + one()
		case 1:
			return one() + " or " + one()
		case 2:
			return "not (" + one() + " or " + one() + ")"
		}
		return one()
	}
	switch r.IntN(6) {
	case 0:
		b.value = fmt.Sprintf("†(min(†input.v, %d))", c())
	case 1:
		b.value = fmt.Sprintf("†(max(%d, min(†input.v, %d)))", c(), c())
	case 2:
		b.value = fmt.Sprintf("†(%s ? †input.v : %d)", guard("†input.v"), c())
	case 3:
		b.value = fmt.Sprintf("†(%s ? %d : †input.v)", guard("†input.v"), c())
	}
	if b.value == "†input.v" && r.IntN(4) > 0 { // what a choice looks at isn't held against a condition
		b.when = guard("†input.v")
	}
	b.bound = pick(fmt.Sprintf("{maximum: %d}", c()), fmt.Sprintf("{type: number, minimum: %d}", c()), fmt.Sprintf("{type: number, exclusiveMaximum: %d}", c()), fmt.Sprintf("{type: number, minimum: %d, maximum: %d}", c()-50, c()+10))
	b.tries = []any{-1000.0, 1000.0}
	for v := -60; v <= 60; v += 5 {
		b.tries = append(b.tries, float64(v))
	}
	return b
}

// boundedText bounds a text.
func boundedText(r *rand.Rand) (b boundedPlan) {
	pick := func(all ...string) string { return all[r.IntN(len(all))] }
	b.input = pick("type: string", "type: string, pattern: '^[a-c]+$'", "type: string, enum: [a, b@x, c]")
	b.value = pick("†input.v", "†input.v", "†{input.v}@x", "a†{input.v}", "a†{input.v}c")
	if r.IntN(2) == 0 {
		b.when = pick("†input.v endsWith '@x'", "†input.v startsWith 'a'", "†input.v matches '^a*$'", "†input.v in ['a', 'b@x']", "†input.v == 'a'", "not (†input.v contains '@')", "len(†input.v) <= 2", "†input.v endsWith '@x' or †input.v == 'a'")
	}
	b.bound = pick("{type: string, pattern: '@x$'}", "{pattern: '^a'}", "{type: string, pattern: '^[a-c]*@x$'}", "{enum: [a, b@x]}", "{type: string, maxLength: 4}", "{not: {pattern: '@'}}", "{type: string, minLength: 1}")
	letters := []string{"", "a", "b", "c", "@x", "aa", "d@"}
	for _, one := range letters {
		for _, two := range letters {
			for _, three := range []string{"", "@x", "aa"} {
				b.tries = append(b.tries, one+two+three)
			}
		}
	}
	return b
}

func (b boundedPlan) text() string {
	when := ""
	if b.when != "" {
		when = fmt.Sprintf(", _when: %q", "†("+b.when+")")
	}
	return fmt.Sprintf("inputSchema: {type: object, required: [v], properties: {v: {%s}}}\nactivities: {give: {expr: '1'}}\ntools: {give: {type: object, properties: {p: true}}}\ncalls:\n  - {_tool: give, p: %q%s}\n", b.input, b.value, when)
}

// outcomes is whether some value comes that a bound accepts, and one that it refuses.
func (b boundedPlan) outcomes(p *plan.Plan, bound *schema.Schema) (accepts, refuses bool) {
	call := p.Calls[0]
	for _, v := range b.tries {
		if !p.InputSchema.Accepts(map[string]any{"v": v}) {
			continue
		}
		eval := func(t *plan.Template) any {
			if !t.Live {
				return t.Value
			}
			value, presence, err := t.Expr.Eval(func(i int) (any, expression.Presence) {
				value, there := pathtree.Walk(any(map[string]any{"v": v}), p.Reads[t.Reads[i]].Ref.Path)
				if !there {
					return nil, expression.Absent
				}
				return value, expression.There
			}, nil)
			if err != nil || presence != expression.There {
				return nil
			}
			return value
		}
		if call.When != nil && eval(call.When) != true {
			continue
		}
		if bound.Accepts(eval(call.Params.Fields[0].Value)) {
			accepts = true
		} else {
			refuses = true
		}
	}
	return accepts, refuses
}

// LANGUAGE.md#policies-and-labels: where everything that comes is within a bound, because a condition, a choice, min,
// max or what is written around it in a text sees to that, nothing is said; where nothing
// is, it is an error; and else a warning: what trying the values says. Patterns may leave it
// open, which is an info, and an error may be a warning then.
func TestBoundsAreProven(t *testing.T) {
	n := amount.Of(150, 2000, 20_000)
	silent, doubts, errors, open := 0, 0, 0, 0
	for seed := range uint64(n) {
		r := rand.New(rand.NewPCG(seed, 1705))
		b := boundedNumber(r)
		if seed%2 == 0 {
			b = boundedText(r)
		}
		node, _ := source.Parse(source.NewFile("bound", []byte(b.bound)), source.DefaultLimits())
		bound := schema.New(node.Value(), schema.Options{})
		allowed, denied := "", ""
		for _, v := range append(slices.Clone(b.tries), -1000.0, 1000.0, "no", "long@long") {
			text, _ := json.Marshal(v)
			if bound.Accepts(v) {
				allowed = string(text)
			} else {
				denied = string(text)
			}
		}
		if denied == "" {
			continue
		}
		policy := fmt.Sprintf("rules:\n- rule: bound\n  bounds: {give: {p: %s}}\n  allows: {give: {p: %s}}\n  denies: {give: {p: %s}}\n", b.bound, allowed, denied)
		p, found := compiler.Compile(source.NewFile("plan.yaml", []byte(b.text())), compiler.Options{Name: "plan.yaml", Policies: []compiler.PolicyFile{{File: source.NewFile("policy", []byte(policy)), Counts: true}}})
		if diag.HasErrors(found) {
			t.Fatal(seed, b.text(), policy, every(found))
		}
		accepts, refuses := b.outcomes(p, bound)
		if !accepts && !refuses {
			continue // it never begins
		}
		said := []string{}
		for _, d := range Analyze(p, found, Config{SampleRun: SampleRuns}).Findings {
			if d.Rule.Code == "OB705" && !strings.Contains(d.Message, "no type") {
				said = append(said, d.Severity.String())
			}
		}
		want := []string{}
		switch {
		case refuses && accepts:
			want, doubts = []string{"warning"}, doubts+1
		case refuses:
			want, errors = []string{"error"}, errors+1
		default:
			silent++
		}
		unspecified := b.when != "" && strings.Contains(b.value, "{") // of what is put into a text one condition counts
		if seed%2 == 0 && (slices.Equal(said, []string{"info"}) || refuses && !accepts && slices.Equal(said, []string{"warning"})) {
			open++
			continue
		}
		if !slices.Equal(said, want) && !(unspecified && slices.Equal(said, []string{"warning"})) {
			t.Errorf("seed %d: wants %v, says %v:\n%s%s", seed, want, said, b.text(), b.bound)
		}
	}
	t.Logf("%d within, %d in part, %d outside; %d are open", silent, doubts, errors, open)
	if open > n/3 {
		t.Errorf("%d of %d are open", open, n)
	}
}
