package facts_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/compiler/canonical"
	"github.com/obelus-dev/obelus/compiler/effects"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// EXECUTION.md#diff: a value of the plan's own input or state that is another stands with the calls
// that destroy something or hand something out and receive it, directly or through others, and first
// where there are any: by what the compiler bound.
func TestWhatSettingsReach(t *testing.T) {
	met := map[string]int{}
	for seed := range uint64(amount.Of(75, 1000, 50_000)) {
		r := rand.New(rand.NewPCG(seed, 163))
		old := written(r)
		new := old.clone()
		kind, key := []string{"input", "state"}[r.IntN(2)], ""
		switch kind {
		case "input":
			key = []string{"q", "n"}[r.IntN(2)]
			at(new.doc, "input")[key] = "another"
		default:
			key = []string{"s", "list"}[r.IntN(2)]
			at(new.doc, "state")[key] = map[string]any{"s": "another", "list": []any{1.0, 7.0}}[key]
		}
		a, b := old.compile(t), new.compile(t)
		after := facts.Of(b, facts.Options{})
		want, risk := reaches(b, after, kind, key)
		told := 0
		for _, d := range facts.Compare(facts.Of(a, facts.Options{}), after).Differences {
			if d.Of != facts.ItemSetting {
				continue
			}
			told++
			slices.Sort(d.Reaches)
			if !slices.Equal(d.Reaches, want) || d.Risk != risk {
				t.Fatalf("seed %d, %s.%s: it reaches %q and %s; expected %q, %s\n%s", seed, kind, key, d.Reaches, d.Risk, want, risk, new.text())
			}
		}
		if told != 1 {
			t.Fatalf("seed %d: %s.%s is told of %d times", seed, kind, key, told)
		}
		met[string(risk)]++
	}
	if len(met) < 3 {
		t.Errorf("risks that were met: %v", met)
	}
}

// reaches finds which calls of a plan are given what stands at a path from the start.
func reaches(p *plan.Plan, f *facts.Facts, kind, key string) (names []string, risk facts.Risk) {
	hit := make([]bool, len(p.Calls))
	rank := map[facts.Risk]int{"": 0, facts.Leaves: 1, facts.Destroys: 2}
	for range p.Calls {
		for i, c := range p.Calls {
			for _, at := range c.Reads {
				r := &p.Reads[at]
				text := r.Ref.String()
				hit[i] = hit[i] || (r.Start || len(r.Writers) == 0) && (text == "†"+kind || text == "†"+kind+"."+key || strings.HasPrefix(text, "†"+kind+"."+key+"["))
				hit[i] = hit[i] || slices.ContainsFunc(r.Writers, func(w int32) bool { return hit[w] })
			}
			hit[i] = hit[i] || f.Calls[i].Runs.Kind == facts.Model && c.Scopes == nil
		}
	}
	for i, c := range f.Calls {
		if !hit[i] {
			continue
		}
		one := facts.Risk("")
		switch {
		case c.Runs.Plan != "": // it asks a model, of which nobody says what it does
			inner := f.Delegates[c.Runs.Plan].Calls[0]
			one = map[bool]facts.Risk{true: facts.Destroys, false: facts.Leaves}[inner.Effect.Kind == effects.Unknown || inner.Effect.Kind == effects.Destructive]
		case c.Effect.Kind == effects.Destructive || c.Effect.Kind == effects.Unknown:
			one = facts.Destroys
		case c.Effect.OpenWorld || c.Runs.Kind == facts.Model:
			one = facts.Leaves
		}
		if rank[one] > rank[risk] {
			risk = one
		}
		if one != "" {
			names = append(names, c.Name)
		}
	}
	slices.Sort(names)
	return names, risk
}

// EXECUTION.md#diff: what only has a call done less, later or with a person's word isn't told of
// first, and the other way round it is.
func TestWhatOnlyTightensIsntFirst(t *testing.T) {
	const head = "tools: {t: {properties: {x: {}}}, z: {properties: {}}}\nactivities: {t: {exec: {argv: [t, '{x}']}}, z: {expr: '1'}}\ninput: {x: 1, l: [1]}\ncalls:\n- {_id: z, _tool: z, _outputPath: z}\n"
	for _, test := range []struct{ loose, tight string }{
		{"x: 1", "x: 1, _when: †input.x > 0"},
		{"x: 1", "x: 1, _after: z"},
		{"x: 1", "x: 1, _confirm: true"},
		{"x: 1, _retry: 3", "x: 1, _retry: 2"},
		{"x: 1, _retry: 3", "x: 1"},
		{"x: †item, _each: [1, 2]", "x: †item, _each: [1, 2], _confirm: true"},
	} {
		of := func(call string) *facts.Facts {
			return facts.Of(compiled(t, "plan.yaml", head+"- {_id: c, _tool: t, "+call+"}\n", nil), facts.Options{})
		}
		loose, tight := of(test.loose), of(test.tight)
		for what, c := range map[string]struct {
			old, new *facts.Facts
			risk     facts.Risk
		}{"tightened": {loose, tight, ""}, "loosened": {tight, loose, facts.Destroys}} {
			for _, d := range facts.Compare(c.old, c.new).Differences {
				if d.Of == facts.ItemCall && d.Risk != c.risk {
					t.Errorf("%s, %s: %s is %q", fmt.Sprint(test), what, d.What, d.Risk)
				}
			}
		}
	}
}

// EXECUTION.md#diff: a question that is gone comes before other differences, whatever the call does.
func TestRemovedQuestionsAreRisks(t *testing.T) {
	of := func(call string) *facts.Facts {
		return facts.Of(compiled(t, "plan.yaml", "activities: {t: {expr: '1'}}\ncalls: [{_tool: t"+call+"}]\n", nil), facts.Options{})
	}
	for what, c := range map[facts.Risk][2]string{facts.Unasked: {", _confirm: true", ""}, "": {"", ", _confirm: true"}} {
		if all := facts.Compare(of(c[0]), of(c[1])).Differences; len(all) != 1 || all[0].Risk != what {
			t.Errorf("%q and %q: %+v", c[0], c[1], all)
		}
	}
}

// EXECUTION.md#diff: a file that calls run is told of where it holds something else, or is there in one
// of the plans only, whether an argv, a shell's code or a pattern names it.
func TestFilesThatRunAreCompared(t *testing.T) {
	for _, argv := range []string{`[sh, lib/s.sh]`, `[sh, -c, "if [ -f ./lib/s.sh ]; then . ./lib/s.sh; fi"]`, `[sh, "{x}"], files: [lib/*.sh]`} {
		of := func(digest string) *facts.Facts {
			text := "tools: {t: {properties: {x: {}}}}\nactivities: {t: {exec: {argv: " + argv + "}}}\ncalls: [{_tool: t, x: lib/s.sh}]\n"
			var parts []plan.Part
			if digest != "" {
				parts = append(parts, plan.Part{Kind: canonical.PartProgram, Name: "lib/s.sh", Digest: digest})
			}
			return facts.Of(compiled(t, "plan.yaml", text, nil), facts.Options{Parts: parts})
		}
		for _, test := range []struct {
			old, new string
			change   facts.Change
		}{{"1", "2", facts.Changed}, {"", "2", facts.Added}, {"1", "", facts.Removed}} {
			all := facts.Compare(of(test.old), of(test.new)).Differences
			if len(all) != 1 || all[0].Of != facts.ItemProgram || all[0].Change != test.change || all[0].Risk != facts.Destroys {
				t.Errorf("%s, %q and %q: %+v", argv, test.old, test.new, all)
			}
		}
	}
}

// EXECUTION.md#diff: what is changed of a call that itself does no harm stands first, with what it
// reaches, where what it gives goes to one that does: itself, by way of others, or out of a
// delegate; and where it doesn't, it doesn't.
func TestWhatCallsReach(t *testing.T) {
	const plan = `
input: {who: ann}
tools:
  look: {properties: {q: {}, _output: {}}, annotations: {readOnlyHint: true}}
  calc: {properties: {v: {}, _output: {}}}
  work: {properties: {v: {}, _output: {}}}
  pay: {properties: {n: {}}, annotations: {destructiveHint: true}}
activities: {calc: {expr: v}, work: {plan: inner.yaml}, pay: {exec: {argv: [pay, "{n}"]}}}
calls:
- {_tool: look, _id: a, q: one, _output: {n: 1}, _outputPath: a}
- {_tool: calc, _id: b, v: †state.a.n, _outputPath: b}
- {_tool: work, _id: c, v: †state.b, _outputPath: c}
- {_tool: calc, _id: d, v: †state.c, _when: †(†input.who == 'ann'), _outputPath: d}
- {_tool: pay, _id: e, n: "†state.d || 1"}
- {_tool: calc, _id: f, v: 7, _outputPath: f}
output: †state.f
`
	const inner = "tools: {calc: {properties: {v: {}, _output: {}}}}\nactivities: {calc: {expr: v}}\ncalls:\n- {_tool: calc, v: †input.v, _outputPath: r}\noutput: †state.r\n"
	of := func(plan, inner string) *facts.Facts {
		return facts.Of(compiled(t, "plan.yaml", plan, map[string]string{"inner.yaml": inner}), facts.Options{})
	}
	old := of(plan, inner)
	for _, test := range []struct {
		from, to, reaches string
		risk              facts.Risk
	}{
		{"v: †state.a.n", "v: †(†state.a.n * 100)", "e", facts.Destroys},
		{"calc: {expr: v}, work", "calc: {expr: v + 1}, work", "e", facts.Destroys},
		{"v: †state.c", "v: †(†state.c + 1)", "e", facts.Destroys},
		{"== 'ann'", "!= 'bob'", "e", facts.Destroys},
		{"{n: 1}", "{n: 2}", "e", facts.Destroys},
		{"v: 7", "v: 8", "", ""},
		{"calc: {expr: v}}\ncalls", "calc: {expr: v + 1}}\ncalls", "e", facts.Destroys},
		{"v: †input.v", "v: †(†input.v + 1)", "e", facts.Destroys},
	} {
		met := false
		for _, d := range facts.Compare(old, of(strings.Replace(plan, test.from, test.to, 1), strings.Replace(inner, test.from, test.to, 1))).Differences {
			if d.Of != facts.ItemCall && d.Of != facts.ItemActivity {
				continue
			}
			met = true
			if strings.Join(d.Reaches, " ") != test.reaches || d.Risk != test.risk {
				t.Errorf("%s: it reaches %q, %q; expected %q, %q", test.to, d.Reaches, d.Risk, test.reaches, test.risk)
			}
		}
		if !met {
			t.Errorf("%s: no difference is told", test.to)
		}
	}
}

// EXECUTION.md#diff: every harmful call that a change reaches is named, however many others it reaches: in each plan
// that runs the delegate that is changed, and once where several changes reach many.
func TestEveryHarmfulCallIsNamed(t *testing.T) {
	const head = "input: {x: 1, y: 1}\ntools:\n  calc: {properties: {v: {}, _output: {}}}\n  pay: {properties: {v: {}}, annotations: {destructiveHint: true}}\n  work: {properties: {v: {}, _output: {}}}\nactivities: {calc: {expr: v}, pay: {exec: {argv: [pay, '{v}']}}, work: {plan: inner.yaml}}\ncalls:\n"
	const inner = "tools: {calc: {properties: {v: {}, _output: {}}}}\nactivities: {calc: {expr: v}}\ncalls:\n- {_tool: calc, v: †input.v, _outputPath: r}\noutput: †state.r\n"
	text := head
	for i := range 30 {
		text += fmt.Sprintf("- {_tool: calc, v: †input.x, _outputPath: a%d}\n", i)
	}
	for i := range 30 {
		text += fmt.Sprintf("- {_id: pay%d, _tool: pay, v: \"†(†input.x + †input.y)\"}\n", i)
	}
	text += "- {_tool: work, v: 1, _outputPath: w0}\n- {_tool: work, v: 2, _outputPath: w1}\n- {_id: last, _tool: pay, v: †state.w1}\n"
	old := facts.Of(compiled(t, "plan.yaml", text, map[string]string{"inner.yaml": inner}), facts.Options{})
	new := facts.Of(compiled(t, "plan.yaml", strings.Replace(text, "x: 1, y: 1", "x: 2, y: 2", 1), map[string]string{"inner.yaml": strings.Replace(inner, "†input.v", "†(input.v + 1)", 1)}), facts.Options{})
	named := map[string]int{}
	for _, d := range facts.Compare(old, new).Differences {
		if d.Of == facts.ItemSetting && len(d.Reaches) < 20 || d.In != "" && !slices.Equal(d.Reaches, []string{"last"}) {
			t.Errorf("%s %s reaches %q", d.In, d.Path, d.Reaches)
		}
		for _, name := range d.Reaches {
			named[name]++
		}
	}
	if len(named) != 31 || named["pay0"] != 2 || named["pay29"] != 1 {
		t.Errorf("named: %v", named)
	}
}
