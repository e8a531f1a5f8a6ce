package analyzer

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/testdata/amount"
	"github.com/obelus-dev/obelus/testdata/cputime"
)

func repeated(n int, f func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(f(i))
	}
	return b.String()
}

// branchy are plans of up to 100 kB whose branches would take for ever if each
// were looked at by itself, and what is found in each.
func branchy() map[string]struct {
	text string
	want map[string]int // findings by code; -1 is some
} {
	type want = map[string]int
	pairs := func(n int) string { // n independent two-way branches, each way with a call of its own
		return repeated(n, func(i int) string {
			return fmt.Sprintf("- {_tool: j, _outputPath: †state.a%d || †state.b%d}\n- {_tool: f, x: †state.a%d, _outputPath: c%d}\n- {_tool: f, x: †state.b%d, _outputPath: d%d}\n", i, i, i, i, i, i)
		})
	}
	joined := func(n int, names, with string) string {
		parts := strings.Split(strings.TrimSuffix(repeated(n, func(i int) string { return fmt.Sprintf(names, i) + with }), with), "\x00")
		return strings.Join(parts, "")
	}
	cases := map[string]struct {
		text string
		want want
	}{
		"32 branches, joined": {"calls:\n" + pairs(32) + "- _tool: f\n  x: [" + joined(32, "†state.c%[1]d || †state.d%[1]d", ", ") + "]\n", want{"OB302": 0, "OB902": 0}},
		"32 branches, one way each": {"calls:\n" + pairs(32) + "- _tool: f\n  x: [" + joined(32, "†state.c%d", ", ") + "]\n- _tool: f\n  x: [" + joined(32, "†state.c%d", ", ") + ", †state.d17]\n",
			want{"OB302": 1, "OB902": 0}},
		"32 branches that write one path": {"calls:\n" + pairs(32) + repeated(32, func(i int) string {
			return fmt.Sprintf("- {_tool: f, x: †state.c%d, _outputPath: p}\n- {_tool: f, x: †state.d%d, _outputPath: p}\n", i, i)
		}), want{"OB401": 62, "OB902": 0}},
		"32 branches and an output": {"calls:\n" + pairs(32) + "output:\n" + repeated(32, func(i int) string {
			return fmt.Sprintf("  o%d: †state.c%d || †state.d%d\n  p%d: †state.c%d\n", i, i, i, i, i)
		}),
			want{"OB205": 32, "OB902": 0}},
		"32 branches, all or nothing": {"calls:\n" + pairs(32) + "- _tool: f\n  x: †" + joined(32, "state.c%d", " && †") + "\n  _outputPath: all\n- _tool: f\n  x: †" + joined(32, "state.d%d", " || †") + "\n  y: †state.all\n",
			want{"OB302": 1, "OB902": 0}},
		"498 operands of fallbacks": {"calls:\n" + repeated(249, func(i int) string {
			return fmt.Sprintf("- {_tool: j, _outputPath: †state.a%d || †state.b%d}\n", i, i)
		}) +
			"- {_tool: f, x: †" + joined(249, "state.a%[1]d || †state.b%[1]d", " || †") + "}\n", want{"OB302": 0, "OB902": 0}},
		"500 operands of which one never has a value": {"calls:\n- {_tool: j, _outputPath: †state.x || †state.y}\n" + repeated(498, func(i int) string { return fmt.Sprintf("- {_tool: j, _outputPath: a%d}\n", i) }) +
			"- {_tool: f, x: †" + joined(498, "state.a%d", " || †") + " || †state.y, z: †state.x}\n", want{"OB209": 1, "OB902": 0}},
		"80 layers, all to all": {"calls:\n" + repeated(80, func(i int) string {
			return repeated(5, func(k int) string {
				if i == 0 {
					return fmt.Sprintf("- {_tool: j, _outputPath: †state.s0x%d || †state.t0x%d}\n", k, k)
				}
				reads := repeated(5, func(m int) string { return fmt.Sprintf(", p%d: †state.s%dx%d || †state.t%dx%d", m, i-1, m, i-1, m) })
				return fmt.Sprintf("- {_tool: j%s, _outputPath: †state.s%dx%d || †state.t%dx%d}\n", reads, i, k, i, k)
			})
		}) + "- {_tool: f, a: †state.s79x0, b: †state.t79x0}\n", want{"OB302": 1, "OB902": 0}},
		"80 layers, one way only": {"calls:\n" + repeated(80, func(i int) string {
			return repeated(5, func(k int) string {
				if i == 0 {
					return fmt.Sprintf("- {_tool: j, _outputPath: †state.s0x%d || †state.t0x%d}\n", k, k)
				}
				reads := repeated(5, func(m int) string { return fmt.Sprintf(", p%d: †state.s%dx%d", m, i-1, m) })
				return fmt.Sprintf("- {_tool: j%s, _outputPath: †state.s%dx%d || †state.t%dx%d}\n", reads, i, k, i, k)
			})
		}) + "- {_tool: f, a: †state.s79x0, b: †state.t3x4}\n", want{"OB302": 1, "OB902": 0}},
		"one output of 1000 alternatives": {"calls:\n- {_tool: j, _outputPath: †" + joined(1000, "state.a%d", " || †") + "}\n" + repeated(500, func(i int) string {
			return fmt.Sprintf("- {_tool: f, a: †state.a%d, b: †state.a%d}\n", 2*i, 2*i+i%2)
		}), want{"OB302": 250, "OB902": 0}},
		"once, many for one path": {"writes: once\ncalls:\n" + repeated(1000, func(i int) string {
			return fmt.Sprintf("- {_tool: f, x: †state.q, _when: †input.n == %d, _outputPath: p || †state.e}\n", i)
		}), want{"OB302": 0}},
		"a thousand conditions on one value": {"calls:\n" + repeated(1500, func(i int) string { return fmt.Sprintf("- {_tool: f, _when: †input.n == %d, _outputPath: p}\n", i) }), want{"OB212": 0, "OB401": 0, "OB902": 1}},
		"160 conditions on one number": {"tools: {j: {_output: {type: integer}}, f: {}}\ncalls:\n- {_tool: j, _outputPath: n}\n" + repeated(160, func(i int) string { return fmt.Sprintf("- {_tool: f, _when: †state.n == %d, _outputPath: p}\n", 3*i) }),
			want{"OB401": 0, "OB902": 1}},
		"289 beginnings of one text": {"tools: {j: {_output: {type: string}}, f: {}}\ncalls:\n- {_tool: j, _outputPath: s}\n" + repeated(289, func(i int) string {
			return fmt.Sprintf("- {_tool: f, _when: \"†state.s startsWith 'kind%d:'\", _outputPath: p}\n", i)
		}), want{"OB401": 0, "OB902": 1}},
		"10 words that one text may hold": {"tools: {j: {_output: {type: string}}, f: {}}\ncalls:\n- {_tool: j, _outputPath: s}\n" + repeated(10, func(i int) string {
			return fmt.Sprintf("- {_tool: f, _when: \"†state.s contains 'word%d'\", _outputPath: p}\n", i)
		}),
			want{"OB401": 9, "OB902": 0}},
		"conditions on conditions": {"calls:\n" + repeated(800, func(i int) string {
			return fmt.Sprintf("- {_tool: f, _when: \"†(†state.a%d == 'x' and †input.n%d > 3)\", _outputPath: a%d}\n", max(0, i-1), i, i)
		}), want{"OB302": 0, "OB902": 0}},
		"what nobody can decide": {hardPlan(40, rand.New(rand.NewPCG(1, 1))), want{"OB302": 0, "OB902": -1}},
	}
	out := map[string]struct {
		text string
		want map[string]int
	}{}
	for name, c := range cases {
		out[name] = struct {
			text string
			want map[string]int
		}{c.text, c.want}
	}
	return out
}

// hardPlan asks for one matching of n branches with n others, and against
// another: a question that diagrams have no short answer to.
func hardPlan(n int, r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("calls:\n")
	for _, kind := range []string{"a", "b"} {
		for i := range n {
			fmt.Fprintf(&b, "- {_tool: j, _outputPath: †state.%s%d || †state.not-%s%d}\n", kind, i, kind, i)
		}
	}
	order, other := r.Perm(n), r.Perm(n)
	b.WriteString("- _tool: f\n  first: †" + strings.TrimSuffix(repeated(n, func(i int) string { return fmt.Sprintf("state.a%d || †", i) }), " || †"))
	b.WriteString("\n  x: †" + strings.TrimSuffix(repeated(n, func(i int) string { return fmt.Sprintf("state.a%d && †state.b%d || †", order[i], other[i]) }), " || †") + "\n")
	for i := range n {
		fmt.Fprintf(&b, "  y%d: †state.not-a%d || †state.not-b%d\n", i, order[i], other[i])
	}
	return b.String()
}

// EXECUTION.md#limits: whatever the branches, a check ends within 2 seconds and 256 MiB,
// and what it says is true.
func TestBranchesAreBounded(t *testing.T) {
	cases := branchy()
	for name, c := range cases {
		if len(name)%amount.Of(6, 1, 1) > 0 { // with -thorough all are tried
			continue
		}
		t.Run(name, func(t *testing.T) {
			if len(c.text) > 135_000 {
				t.Fatalf("%d bytes are too many to mean anything", len(c.text))
			}
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			var plan *plan.Plan
			var found []diag.Diagnostic
			took, soon := cputime.Within(3*time.Second, func() { plan, _, found = judged("plan.yaml", c.text) })
			runtime.ReadMemStats(&after)
			t.Logf("%d bytes, %d calls: %d findings, %v, %d MiB allocated in all", len(c.text), len(plan.Calls), len(found), took.Round(time.Millisecond), (after.TotalAlloc-before.TotalAlloc)>>20)
			if !soon {
				t.Errorf("took %v", took)
			}
			if got := int64(after.HeapSys) - int64(before.HeapSys); got > 256<<20 {
				t.Errorf("the heap grew by %d MiB", got>>20)
			}
			for code, want := range c.want {
				n := 0
				for _, d := range found {
					if d.Rule.Code == code {
						n++
					}
				}
				if want < 0 && n == 0 || want >= 0 && n != want {
					t.Errorf("%d of %s, want %d:\n%s", n, code, want, every(found[:min(len(found), 12)]))
				}
			}
			for _, d := range found {
				if d.Rule == diag.BadExpression || d.Rule == diag.Syntax {
					t.Errorf("the plan isn't what it is meant to be: %s", shown(d))
				}
			}
		})
	}
}

// EXECUTION.md#limits: findings about branches are the same every time.
func TestBranchesAreJudgedTheSameEveryTime(t *testing.T) {
	for name, c := range branchy() {
		if len(c.text) > 40_000 {
			continue
		}
		_, _, first := judged("plan.yaml", c.text)
		_, _, second := judged("plan.yaml", c.text)
		if every(first) != every(second) {
			t.Errorf("%s: findings differ", name)
		}
	}
}

// BenchmarkBranches judges plans of n calls with nothing but branches: two-way
// outputs, a call on each way, joins, conditions and conflicts that exclude each
// other.
func BenchmarkBranches(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			text := "calls:\n" + repeated(n/5, func(i int) string {
				return fmt.Sprintf("- {_tool: j, x: †state.p%d || 0, _outputPath: †state.a%d || †state.b%d}\n- {_tool: f, x: †state.a%d, _outputPath: p%d}\n"+
					"- {_tool: f, x: †state.b%d, _outputPath: p%d}\n- {_tool: f, _when: †state.p%d > 3, _outputPath: q%d}\n- {_tool: f, x: †state.q%d || †state.p%d}\n", max(0, i-1), i, i, i, i+1, i, i+1, i+1, i, i, i+1)
			})
			plan, found := compiler.Compile(source.NewFile("plan.yaml", []byte(text)), compiler.Options{})
			b.ReportAllocs()
			for b.Loop() {
				Analyze(plan, found, Config{})
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/call")
		})
	}
}

// LANGUAGE.md#findings: what may be tried of a value is the same whether or not the plan asks the same of
// another: those that differ in what they may be, or in what is asked, are told apart.
func TestLikeConditionsAreDividedAlike(t *testing.T) {
	types := []string{
		"{}", "{type: integer}", "{type: integer, minimum: 2, maximum: 9}", "{type: boolean}", "{enum: [a, b, c]}", "{type: string}",
		"{type: [string, 'null']}", "{type: array, items: {type: integer}}", "{enum: [3, 4]}", "{type: number}",
	}
	asked := []string{
		"%s > 3", "%s > 4", "%s == 'a'", "%s == '†state.v0'", "%s == '†state.v1'", "%s == '{0}'", "len(%s) > 1", "%s in [3, 'b', true]", "%s != null", "not %s", "%s % 2 == 0", "(%s ?? 3) > 3", "%s > 3 and %s < 8",
	}
	plan := func(names []int, pick func(i int) (of, what string)) string {
		var state, calls strings.Builder
		for _, i := range names {
			of, what := pick(i)
			fmt.Fprintf(&state, "  v%d: %s\n", i, of)
			fmt.Fprintf(&calls, "- {_tool: f, _when: %q}\n", "†("+strings.ReplaceAll(what, "%s", fmt.Sprintf("†state.v%d", i))+")")
		}
		return "stateSchema:\n properties:\n" + state.String() + "calls:\n" + calls.String()
	}
	turns := func(text string) (said []string) {
		p, found := compiler.Compile(source.NewFile("plan.yaml", []byte(text)), compiler.Options{})
		if diag.HasErrors(found) {
			t.Fatalf("%s\n%s", text, every(found))
		}
		for _, turn := range Turns(p) {
			said = append(said, fmt.Sprint(turn.Values))
		}
		return said
	}
	r := rand.New(rand.NewPCG(1, 44))
	shared := 0
	for range 150 {
		var of, what [6]string
		for i := range of { // few of each, so that some are alike
			of[i], what[i] = types[r.IntN(len(types))], asked[r.IntN(len(asked))]
			if same := r.IntN(i + 1); r.IntN(2) == 0 {
				of[i] = of[same]
				if r.IntN(3) > 0 {
					what[i] = what[same]
				}
			}
		}
		pick := func(i int) (string, string) { return of[i], what[i] }
		together := turns(plan([]int{0, 1, 2, 3, 4, 5}, pick))
		for i := range of {
			if alone := turns(plan([]int{i}, pick)); !slices.Equal(alone, together[i:i+1]) {
				t.Errorf("%q of %s: alone %s, beside others %s\n%s", what[i], of[i], alone, together[i], plan([]int{0, 1, 2, 3, 4, 5}, pick))
			}
			if i > 0 && of[i] == of[0] && what[i] == what[0] {
				shared++
			}
		}
	}
	if shared < 50 {
		t.Errorf("only %d were alike", shared)
	}
}

// LANGUAGE.md#two-writers-of-one-path: calls of which no values were found that let both run are no finding, and wait for
// each other as listed, also where there are more pairs than are looked at.
func TestUndecidedPairsRunAsListed(t *testing.T) {
	for _, n := range []int{2, 200} {
		text := "tools: {j: {_output: {type: integer}}, f: {}}\ncalls:\n- {_tool: j, _outputPath: n}\n" +
			repeated(n, func(i int) string {
				return fmt.Sprintf("- {_tool: f, _when: †state.n %% 1000 == %d, _outputPath: p}\n", i)
			})
		p, found := compiler.Compile(source.NewFile("plan.yaml", []byte(text)), compiler.Options{})
		j := Analyze(p, found, Config{})
		if j.Verified == nil || slices.ContainsFunc(j.Findings, func(d diag.Diagnostic) bool { return d.Rule == writeConflict.Rule }) {
			t.Fatalf("%d calls: %s", n, every(j.Findings))
		}
		for i := 2; i <= n; i++ {
			if !slices.Contains(j.Plan.Calls[i].Ordered, int32(i-1)) {
				t.Errorf("%d calls: call %d waits for %v alone", n, i, j.Plan.Calls[i].Ordered)
			}
		}
	}
}
