package facts_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/testdata/amount"
	"github.com/obelus-dev/obelus/testdata/cputime"
)

// flows are the differences that follow for where values come from and which reads are known from the
// start, found by what the compiler bound. Calls are written <N>.
func flows(a, b *plan.Plan, idsA, idsB []int) []string {
	bindings := func(p *plan.Plan, ids []int) map[string]string {
		values := map[string]string{}
		for i, c := range p.Calls {
			put := func(key string, reads []int) {
				var all []string
				for _, r := range reads {
					read := &p.Reads[r]
					if compiler.ReadsItem(p, read) {
						continue
					}
					var writers []int
					for _, w := range read.Writers {
						writers = append(writers, ids[w])
					}
					sort.Ints(writers)
					all = append(all, fmt.Sprint(read.Ref.String(), writers, read.Start || len(writers) == 0))
				}
				values[fmt.Sprintf("<%d> %s", ids[i], key)] = strings.Join(all, ";")
			}
			for _, f := range c.Params.Fields {
				leaves("value "+f.Key, f.Value, put)
			}
			if c.When != nil {
				leaves("condition ", c.When, put)
			}
			if c.Each != nil {
				leaves("each of ", c.Each.List, put)
				if f := c.Params.Fields; slices.ContainsFunc(f, func(f plan.TemplateField) bool { return f.Key == "c" }) {
					values[fmt.Sprintf("<%d> value c", ids[i])] = values[fmt.Sprintf("<%d> each of ", ids[i])] + "item"
				}
			}
		}
		if p.Output != nil {
			leaves("", p.Output, func(key string, reads []int) {
				var all []string
				for _, r := range reads {
					read := &p.Reads[r]
					var writers []int
					for _, w := range read.Writers {
						writers = append(writers, ids[w])
					}
					sort.Ints(writers)
					all = append(all, fmt.Sprint(read.Ref.String(), writers, read.Start || len(writers) == 0))
				}
				values["output   "+strings.TrimPrefix(key, ".")] = strings.Join(all, ";")
			})
		}
		return values
	}
	valuesA, valuesB := bindings(a, idsA), bindings(b, idsB)
	var all []string
	for key, value := range valuesA {
		if other, both := valuesB[key]; both && other != value {
			if !strings.HasPrefix(key, "output") {
				key = "call " + key
			}
			all = append(all, strings.TrimRight("changed "+key, " ")+" in")
		}
	}
	return all
}

func leaves(path string, t *plan.Template, put func(string, []int)) {
	switch {
	case t.Fields != nil && t.Live:
		for _, f := range t.Fields {
			leaves(path+"."+f.Key, f.Value, put)
		}
	case t.Items != nil && t.Live:
		for i, item := range t.Items {
			leaves(fmt.Sprintf("%s[%d]", path, i), item, put)
		}
	case t.Expr != nil:
		put(path, t.Reads)
	}
}

// tidied makes differences comparable: one blank between words, each once.
func tidied(all []string) []string {
	for i := range all {
		all[i] = strings.Join(strings.Fields(all[i]), " ")
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// What is told of one change to a plan is that change and what follows from it for the
// flow of values, and nothing else; the other way round it is told the other way round.
func TestDifferencesAreExact(t *testing.T) {
	counts := map[string]int{}
	for seed := range uint64(amount.Of(215, 2_000, 200_000)) {
		r := rand.New(rand.NewPCG(seed, 16))
		old := written(r)
		m := mutations[seed%uint64(len(mutations))]
		new := old.clone()
		expected, ok := m.do(r, new)
		if !ok {
			continue
		}
		a, b := old.compile(t), new.compile(t)
		if a.Root == nil || b.Root == nil || len(a.Calls) != len(old.calls) || len(b.Calls) != len(new.calls) {
			t.Fatalf("seed %d: the plans can't be read", seed)
		}
		counts[m.name]++
		before, after := facts.Of(a, facts.Options{}), facts.Of(b, facts.Options{})
		known := func(name string, p *plan.Plan, ids []int) string {
			for i, c := range p.Calls {
				if c.Name == name {
					return fmt.Sprintf("<%d>", ids[i])
				}
			}
			return name
		}
		var got []string
		for _, d := range facts.Compare(before, after).Differences {
			if d.Of == facts.ItemWorst {
				continue
			}
			if d.In == "" && d.Of == facts.ItemCall {
				if d.Change == facts.Removed {
					d.Name = known(d.Name, a, old.ids)
				} else {
					d.Name = known(d.Name, b, new.ids)
				}
			}
			got = append(got, said(d))
		}
		want := append(expected, flows(a, b, old.ids, new.ids)...)
		if got, want := tidied(got), tidied(want); !slices.Equal(got, want) {
			t.Fatalf("seed %d, %s: told\n%s\nwant\n%s\nold %s\nnew %s", seed, m.name, strings.Join(got, "\n"), strings.Join(want, "\n"), old.text(), new.text())
		}
		mirrors(t, before, after)
		var read facts.Facts // as an approval has them
		text, _ := json.Marshal(before)
		if err := json.Unmarshal(text, &read); err != nil {
			t.Fatal(err)
		}
		if here, there := facts.Compare(before, after).Rows().Text(false), facts.Compare(&read, after).Rows().Text(false); here != there {
			t.Fatalf("seed %d, %s: of facts that were read it says\n%s\nand else\n%s", seed, m.name, there, here)
		}
	}
	for _, m := range mutations {
		if counts[m.name] == 0 && amount.Of(0, 1, 1) > 0 {
			t.Errorf("no plan was changed by %q", m.name)
		}
	}
}

// mirrors holds that what differs is the same from both sides.
func mirrors(t *testing.T, a, b *facts.Facts) {
	t.Helper()
	sides := func(c *facts.Comparison, mirrored bool) []string {
		var all []string
		for _, d := range c.Differences {
			old, _ := json.Marshal(d.Old)
			new, _ := json.Marshal(d.New)
			was := d.Was
			if was == "" {
				was = d.Name
			}
			if mirrored {
				d.Name, was, old, new = was, d.Name, new, old
				switch d.Change {
				case facts.Added:
					d.Change = facts.Removed
				case facts.Removed:
					d.Change = facts.Added
				}
			}
			all = append(all, fmt.Sprint(d.Change, d.Of, " ", d.Name, was, d.What, d.Path, " in ", d.In, string(old), string(new)))
		}
		slices.Sort(all)
		return all
	}
	there, back := sides(facts.Compare(a, b), false), sides(facts.Compare(b, a), true)
	if !slices.Equal(there, back) {
		t.Fatalf("one way\n%s\nthe other way\n%s", strings.Join(there, "\n"), strings.Join(back, "\n"))
	}
}

// Whatever message of a context is another, or setting of a plan, is told; and what it is by
// default is the same as if it were written.
func TestEverySettingCounts(t *testing.T) {
	messages := func(m string) string {
		return `[{"type":"tool","tool":{"t":{"type":"object","properties":{"x":{}}}}},` + m + `,{"type":"plan","plan":[{"_tool":"t","x":1}]}]`
	}
	plan := func(more string) string { return "calls: [{_tool: t, x: 1}]\n" + more }
	for _, c := range []struct{ old, new, want string }{
		{messages(`{"type":"state","state":{"a":1}}`), messages(`{"type":"state","state":{"a":2}}`), "state"},
		{messages(`{"type":"input","input":{"a":1}}`), messages(`{"type":"input","input":{"a":2}}`), "input"},
		{messages(`{"type":"data","kind":"k","data":{"a":1}}`), messages(`{"type":"data","kind":"k","data":{"a":2}}`), "data"},
		{messages(`{"type":"error","data":{"a":1}}`), messages(`{"type":"error","data":{"a":2}}`), "errors"},
		{messages(`{"type":"text","text":"one"}`), messages(`{"type":"text","text":"two"}`), "messages"},
		{messages(`{"type":"meta","x":"one"}`), messages(`{"type":"meta","x":"two"}`), "messages"},
		{messages(`{"type":"advisor","id":"a","role":"one"}`), messages(`{"type":"advisor","id":"a","role":"two"}`), "advisors"},
		{messages(`{"type":"state","state":{"a":1},"schema":{}}`), messages(`{"type":"state","state":{"a":1},"schema":{"type":"object"}}`), "stateSchema"},
		{messages(`{"type":"data","kind":"k","data":{},"schema":{}}`), messages(`{"type":"data","kind":"k","data":{},"schema":{"type":"object"}}`), "dataSchemas"},
		{plan("mode: eager"), plan(""), ""},
		{plan("mode: lazy"), plan(""), "mode"},
		{plan("writes: last"), plan(""), ""},
		{plan("writes: once"), plan(""), "writes"},
		{plan("terminate: output"), plan(""), ""},
		{plan("terminate: calls"), plan(""), "terminate"},
		{plan("limits: {time: 1h}"), plan("limits: {time: 60m}"), ""},
		{plan("limits: {tokens: 5}"), plan("limits: {tokens: 6}"), "limits"},
		{plan("inputSchema: {type: object}"), plan("inputSchema: {type: object, properties: {a: {}}}"), "inputSchema"},
		{plan("instances: {a: {input: {x: 1}}}"), plan("instances: {a: {input: {x: 2}}}"), "instances"},
		{plan("instances: {a: {}}"), plan("instances: {b: {}}"), "instances"},
		{plan("version: '1'"), plan("version: '2'"), "version"},
		{plan("description: one"), plan("description: two"), "description"},
		{plan("advisors: [{id: a, role: one}]\nadvice: {enforce: ask, threshold: 1}"), plan("advisors: [{id: a, role: one}]\nadvice: {enforce: warn, threshold: 1}"), "advice"},
	} {
		var got []string
		old, new := compiled(t, "old.yaml", c.old, nil), compiled(t, "new.yaml", c.new, nil)
		for _, d := range facts.Compare(facts.Of(old, facts.Options{}), facts.Of(new, facts.Options{})).Differences {
			if d.Of == facts.ItemSetting && !slices.Contains(got, d.Name) {
				got = append(got, d.Name)
			} else if d.Of != facts.ItemSetting && d.Of != facts.ItemWorst {
				t.Errorf("%s and %s: %s differs", c.old, c.new, d.Of)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s and %s: %v differs, want %q", c.old, c.new, got, c.want)
		}
	}
}

// Every key of a call counts, and how it is written doesn't, but in expressions.
func TestEveryKeyOfACallCounts(t *testing.T) {
	files := map[string]string{"a.yaml": "calls: []", "b.yaml": "calls: []"}
	for _, c := range []struct{ old, new, want string }{
		{"_outputPath: p", "_outputPath: †state.p", ""},
		{"_outputPath: a || b", "_outputPath: b || a", "writes"},
		{"_outputPath: a && b", "_outputPath: b && a", ""},
		{"_outputPath: a && b", "_outputPath: a", "writes"},
		{"_outputPath: p, _outputMethod: set", "_outputPath: p", ""},
		{"_outputPath: p, _outputMethod: push", "_outputPath: p", "method"},
		{"_instance: i", "_instance: k", "instance"},
		{"_activity: one", "_activity: two", "carried out by"},
		{"_delegate: a.yaml", "_delegate: b.yaml", "runs the plan"},
		{"_scopes: [state]", "_scopes: [†state]", ""},
		{"_scopes: [state]", "_scopes: [input]", "context"},
		{"_outputPath: p, _output: 1", "_outputPath: p, _output: 2", "result"},
		{"_when: †input.x > 1", "_when: †(†input.x > 1.0)", "condition"},
		{"_when: †input.x > 1", "_when: †input.x >= 1", "condition"},
		{"_after: [z]", "_after: {settled: z}", "after"},
		{"_after: [z]", "_after: z", ""},
		{"_retry: 3", "_retry: {attempts: 3}", ""},
		{"_retry: {attempts: 3, backoff: 1s}", "_retry: {attempts: 3, backoff: 2s}", "backoff"},
		{"_timeout: 60s", "_timeout: 1m", ""},
		{"_timeout: 60s", "_timeout: 2m", "timeout"},
		{"_each: [1, 2], x: †item", "_each: [1, 3], x: †item", "each of"},
		{"x: {a: 1, b: 2}", "x: {b: 2.0, a: 1}", ""},
		{"x: [1, 2]", "x: [2, 1]", "value"},
		{"x: '††state.y'", "x: '†state.y'", "value"},
		{"x: †input.x", "x: '†input[\"x\"]'", ""},
		{"x: 'a †{input.x}'", "x: 'a †{ †input.x }'", "value"},
	} {
		compile := func(call string) *facts.Facts {
			text := "instances: {i: {}, k: {}}\nstate: {y: 1}\nactivities: {one: {exec: {argv: [one]}}, two: {exec: {argv: [two]}}}\ncalls:\n- {_id: z, _tool: z}\n- {_id: c, _tool: t, " + call + "}\n"
			return facts.Of(compiled(t, "plan.yaml", text, files), facts.Options{})
		}
		var got []string
		for _, d := range facts.Compare(compile(c.old), compile(c.new)).Differences {
			if d.Of == facts.ItemCall && !slices.Contains(got, d.What) {
				got = append(got, d.What)
			}
		}
		if slices.Sort(got); strings.Join(got, " ") != c.want {
			t.Errorf("%s and %s: %q differs, want %q", c.old, c.new, got, c.want)
		}
	}
}

// In which order calls write counts where results are put together and where the first one
// wins, and nowhere else.
func TestOrderOfWriting(t *testing.T) {
	for name, c := range map[string]struct{ head, one, other, want string }{
		"pushed":                   {"", "- {_tool: a, _outputPath: l, _outputMethod: push}", "- {_tool: b, _outputPath: l, _outputMethod: push}", "†state.l"},
		"pushed into two":          {"", "- {_tool: a, _outputPath: l, _outputMethod: push}", "- {_tool: b, _outputPath: m, _outputMethod: push}", ""},
		"the first one":            {"writes: once", "- {_tool: a, _outputPath: l}", "- {_tool: b, _outputPath: l}", "†state.l"},
		"the first one of another": {"writes: once", "- {_tool: a, _outputPath: l.y}", "- {_tool: b, _outputPath: l.x}", ""},
		"on different branches":    {"", "- {_tool: a, of: †state.yes, _outputPath: l}", "- {_tool: b, of: †state.no, _outputPath: l}", ""},
	} {
		compile := func(calls ...string) *facts.Facts {
			text := c.head + "\ncalls:\n- {_tool: ask, _outputPath: yes || no}\n" + strings.Join(calls, "\n") + "\n- {_tool: show, all: †state.l || null}\n"
			return facts.Of(compiled(t, "plan.yaml", text, nil), facts.Options{})
		}
		got := ""
		for _, d := range facts.Compare(compile(c.one, c.other), compile(c.other, c.one)).Differences {
			got += fmt.Sprint(d.Of, d.Name)
		}
		if want := strings.ReplaceAll(c.want, "†", "order†"); got != want {
			t.Errorf("%s: %q differs, want %q", name, got, want)
		}
	}
}

// A call that only one of the plans has changes no order, and isn't in what is shown of one.
func TestOrderOfWhatBothPlansHave(t *testing.T) {
	compile := func(tools string) *facts.Facts {
		text := "calls:\n"
		for _, tool := range strings.Fields(tools) {
			text += "- {_tool: " + tool + ", _outputPath: l, _outputMethod: push}\n"
		}
		return facts.Of(compiled(t, "plan.yaml", text, nil), facts.Options{})
	}
	for _, c := range []struct{ old, new, want string }{
		{"a b", "a c b", ""}, {"a c b", "a b", ""}, {"a b", "b c a", `["a#3","b#1"] ["b#1","a#3"]`},
	} {
		got := ""
		for _, d := range facts.Compare(compile(c.old), compile(c.new)).Differences {
			if d.Of == facts.ItemOrder {
				got += string(d.Old.Literal.Text) + " " + string(d.New.Literal.Text)
			}
		}
		if got != c.want {
			t.Errorf("%s and %s: the order differs as %q, want %q", c.old, c.new, got, c.want)
		}
	}
}

// Two plans of 10,000 calls are compared within a second, also where all of them have other
// names and places, or where they have little in common.
func TestLargePlansAreComparedSoon(t *testing.T) {
	text := large(amount.Of(6_000, 10_000, 10_000))
	old := facts.Of(compiled(t, "plan.yaml", text, nil), facts.Options{})
	for name, other := range map[string]string{
		"the same":      text,
		"one literal":   strings.Replace(text, "literal 5001,", "other 5001,", 1),
		"all literals":  strings.ReplaceAll(text, ", b: literal ", ", b: other "),
		"all paths":     strings.ReplaceAll(strings.ReplaceAll(text, "state.p", "state.q"), "_outputPath: p", "_outputPath: q"),
		"another tool":  strings.ReplaceAll(text, "_tool: get", "_tool: fetch"),
		"an input":      strings.Replace(text, "{q: x}", "{q: y}", 1),
		"nothing alike": "calls: []",
	} {
		if len(name)%amount.Of(3, 1, 1) > 0 { // with -thorough all are compared
			continue
		}
		new := facts.Of(compiled(t, "plan.yaml", other, nil), facts.Options{})
		var c *facts.Comparison
		if took, soon := cputime.Within(time.Second, func() { c = facts.Compare(old, new) }); !soon {
			t.Errorf("%s: took %v", name, took)
		}
		if c.Same() != (name == "the same") {
			t.Errorf("%s: %d differences", name, len(c.Differences))
		}
		if name == "one literal" && len(c.Differences) != 1 {
			t.Errorf("%s: %s", name, c.Rows().Text(false))
		}
	}
}
