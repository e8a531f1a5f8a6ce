package simulate_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime/simulate"
	"github.com/obelus-dev/obelus/testdata/amount"
	"github.com/obelus-dev/obelus/testdata/cputime"
)

// branching is a random plan of at most so many calls, with alternatives, failures, conditions
// on what calls give, parts that may be missing, and an output over several of them; with
// items also calls that run for lists found on the way, under conditions on their items and
// places. It is empty where the plan has errors.
func branching(random *rand.Rand, most int, items bool) (string, *analyzer.Simulation) {
	var calls []string
	refs, lists := []string{}, []string{}
	ref := func() string { return refs[random.IntN(len(refs))] }
	joined := func(op string) string {
		list := []string{ref()}
		for range random.IntN(3) {
			list = append(list, ref())
		}
		return strings.Join(list, op)
	}
	for i := range 2 + random.IntN(most-1) {
		switch kind := random.IntN(6); {
		case !items:
		case kind == 0:
			calls = append(calls, fmt.Sprintf("- {_tool: many, _outputPath: a%d}", i))
			refs, lists = append(refs, fmt.Sprintf("†state.a%d", i)), append(lists, fmt.Sprintf("†state.a%d.list", i))
			continue
		case kind < 3 && len(lists) > 0:
			when := []string{"", ", _when: '†item.n > 5'", ", _when: '†item.n <= 3'", ", _when: '†index > 0'"}[random.IntN(4)]
			calls = append(calls, fmt.Sprintf("- {_tool: one, _each: %s%s, of: †item.n, _outputPath: a%d}", lists[random.IntN(len(lists))], when, i))
			refs, lists = append(refs, fmt.Sprintf("†state.a%d[0]", i), fmt.Sprintf("†state.a%d[1]", i)), append(lists, fmt.Sprintf("†state.a%d", i))
			continue
		}
		call := fmt.Sprintf("- {_tool: %s, _outputPath: %s", []string{"get", "sure"}[random.IntN(4)/3], "a"+fmt.Sprint(i))
		routed := random.IntN(3) > 0
		if routed {
			call += fmt.Sprintf(" || error%d", i)
		}
		if len(refs) > 0 {
			switch random.IntN(6) {
			case 0:
				call += ", of: '" + joined(" || ") + "'"
			case 1:
				call += ", of: " + ref()
			case 2:
				call += ", _when: '" + ref() + ".n > 5'"
			case 3:
				call += ", of: " + ref() + ".note"
			case 4: // on what is worked out, of one call or of two
				calls = append(calls, fmt.Sprintf("- {_tool: reckon, a: %s.n, b: %s.n, _outputPath: r%d}", ref(), ref(), i))
				call += fmt.Sprintf(", _when: '†state.r%d > %d'", i, 20+random.IntN(30))
			}
		}
		calls = append(calls, call+"}")
		if refs = append(refs, fmt.Sprintf("†state.a%d", i)); routed && random.IntN(2) == 0 {
			refs = append(refs, fmt.Sprintf("†state.error%d", i))
		}
	}
	output := "'" + joined(" || ") + "'"
	if random.IntN(3) == 0 {
		output = fmt.Sprintf("{one: %s, two: '%s'}", ref(), joined(" || "))
	}
	text := `
tools:
  get: {type: object, properties: {of: {}, _output: {type: object, properties: {n: {type: integer, minimum: 0, maximum: 9}, note: {type: string}}, required: [n]}}}
  many: {type: object, properties: {_output: {type: object, properties: {n: {type: integer, minimum: 0, maximum: 9}, list: {type: array, items: {type: object, properties: {n: {type: integer, minimum: 0, maximum: 9}}, required: [n]}}}, required: [n, list]}}, x-simulate: {failure: 0}}
  one: {type: object, properties: {of: {}, _output: {type: object, properties: {n: {type: integer, minimum: 0, maximum: 9}}, required: [n]}}, x-simulate: {failure: 0}}
  reckon: {type: object, properties: {a: {type: number}, b: {type: number}, _output: {type: number}}, required: [a, b]}
  sure: {type: object, properties: {of: {}, _output: {type: object, properties: {n: {type: integer, minimum: 0, maximum: 9}}, required: [n]}}, x-simulate: {failure: 0}}
activities: {reckon: {expr: a * 5 + b}}
calls:
` + strings.Join(calls, "\n") + "\noutput: " + output + "\n"
	p, found := compiler.Compile(source.NewFile("plan.yaml", []byte(text)), compiler.Options{})
	if v := analyzer.Analyze(p, found, analyzer.Config{SampleRun: simulate.SampleRun}).Verified; v != nil {
		return text, v.Simulation()
	}
	return text, nil
}

// barren are the shortest ways to end without output that an exploration found.
func barren(x *simulate.Exploration) (paths []string) {
	for _, p := range x.Problems {
		if p.Kind == simulate.NoOutput {
			slices.SortFunc(p.Path, func(a, b analyzer.BranchChoice) int { return strings.Compare(analyzer.InWords(a), analyzer.InWords(b)) })
			text, err := json.Marshal(p.Path)
			if err != nil {
				panic(err)
			}
			paths = append(paths, string(text))
		}
	}
	slices.Sort(paths)
	return paths
}

// EXECUTION.md#branches: a sample finds every way to end without output that playing all combinations
// finds, and where nothing is computed every failure that nothing handles.
func TestSamplesFindWhatEnumerationFinds(t *testing.T) {
	t.Parallel()
	plans, found, played, all, each := 0, 0, 0, 0, 0
	for n := 0; plans < amount.Of(4, 30, 2_000) && n < 100_000; n++ {
		text, r := branching(rand.New(rand.NewPCG(uint64(n), 15)), 12, n%2 > 0)
		if r == nil {
			continue
		}
		whole := simulate.Explore(r, simulate.Options{Seed: 1}, 6_000)
		if !whole.Complete || whole.Played < 40 {
			continue
		}
		if plans++; strings.Contains(text, "_each") {
			each++
		}
		sample := simulate.Explore(r, simulate.Options{Seed: 1}, 30)
		if sample.Complete {
			t.Fatalf("all of %d combinations were played of a sample", sample.Played)
		}
		played, all = played+sample.Played, all+whole.Played
		want, got := barren(whole), barren(sample)
		found += len(want)
		if !slices.Equal(got, want) {
			t.Errorf("plan %d: %d of %d combinations find\n%s\nall find\n%s\n%s", n, sample.Played, whole.Played, strings.Join(got, "\n"), strings.Join(want, "\n"), text)
		}
		for _, p := range whole.Problems {
			if p.Kind == simulate.Unhandled && !strings.Contains(text, "_tool: reckon") && !slices.ContainsFunc(sample.Problems, func(o simulate.Problem) bool { return o.Kind == p.Kind && o.Call == p.Call }) {
				t.Errorf("plan %d: a sample of %d of %d doesn't find that %s fails\n%s", n, sample.Played, whole.Played, p.Call, text)
			}
		}
	}
	t.Logf("%d plans, %d with items; %d of %d combinations, %d ways to end without output", plans, each, played, all, found)
	if found < plans/2 || each < plans/20 {
		t.Errorf("only %d ways", found)
	}
}

// EXECUTION.md#branches: what exploring costs is bounded, however many branches there are, and what was
// left out is told.
func TestExplorationsAreBounded(t *testing.T) {
	text := "tools: {t: {type: object, properties: {a: {}, _output: {type: object, properties: {x: {type: number}}, required: [x]}}}}\ncalls:\n- {_tool: t, a: 1, _outputPath: s0}\n"
	for i := range 1_000 {
		text += fmt.Sprintf("- {_tool: t, a: †state.s%d.x, _outputPath: s%d}\n", i/7, i+1)
	}
	r := verified(t, text+"output: †state.s1000\n")
	steps := simulate.DefaultSteps(r.Plan())
	var x *simulate.Exploration
	if took, soon := cputime.Within(2*time.Second, func() { x = simulate.Explore(r, simulate.Options{Seed: 1, Steps: steps}, 500) }); !soon {
		t.Errorf("took %v", took)
	}
	if x.Complete || x.Most < 1e300 {
		t.Errorf("%d of %g combinations, complete %v", x.Played, x.Most, x.Complete)
	}
}

// EXECUTION.md#simulation: 10,000 calls are simulated in under a second.
func TestLargeSimulationsAreQuick(t *testing.T) {
	text := "tools: {t: {type: object, properties: {a: {}, _output: {type: object, properties: {x: {type: number}}, required: [x]}}}}\ncalls:\n- {_tool: t, a: 1, _outputPath: s0}\n"
	for i := range amount.Of(4_000, 9_999, 9_999) {
		text += fmt.Sprintf("- {_tool: t, a: †state.s%d.x, _outputPath: s%d}\n", i-i%7, i+1)
	}
	r := verified(t, text)
	if took, soon := cputime.Within(time.Second, func() {
		if s := simulate.Run(r, simulate.Options{Seed: 1, Steps: simulate.DefaultSteps(r.Plan())}); s.Outcome.Status != "done" {
			t.Errorf("%s: %s", s.Outcome.Status, s.Outcome.Reason)
		}
	}); !soon {
		t.Errorf("took %v", took)
	}
}

// EXECUTION.md#branches: all combinations are played also where an item takes a result, with a failure route
// beside it, and where a condition asks of a list that it loops over.
func TestItemsAndLoopsAreBranches(t *testing.T) {
	for _, calls := range []string{
		"- {_tool: get, _outputPath: 'o[0] || e'}\noutput: †state.o || †state.e",
		"- {_tool: get, _outputPath: acc, _outputMethod: push}\n- {_tool: get, _when: '†(any(†state.acc, # != null))', _outputPath: r}\noutput: †state.acc",
		"- {_tool: get, _outputPath: acc, _outputMethod: push}\n- {_tool: get, _when: '†(all(†state.acc, 0 < # < 9))', _outputPath: r}\noutput: †state.acc",
		"- {_tool: many, _outputPath: l}\n- {_tool: get, _when: '†(first(†state.l || [{ok: true}]).ok)', _outputPath: r}\noutput: †state.l",
	} {
		found := simulate.Explore(verified(t, "tools: {get: {type: object, _output: {type: integer}}, many: {type: object, _output: {type: array, minItems: 1, items: {type: object, properties: {ok: {type: boolean}}, required: [ok]}}}}\ncalls:\n"+calls+"\n"), simulate.Options{Seed: 1}, 100)
		if found.Played == 0 || !found.Complete {
			t.Errorf("%s: %d played, complete %v", calls, found.Played, found.Complete)
		}
	}
}

// EXECUTION.md#branches: of a union, no result is made up that the tool can't give.
func TestVariantsAreBranches(t *testing.T) {
	for _, each := range []string{"[a]", "[a, b]", "†state.found"} {
		found := simulate.Explore(verified(t, `
tools:
  find: {type: object, properties: {_output: {type: array, items: {type: string}}}}
  classify:
    properties:
      _output:
        oneOf:
          - {type: object, properties: {kind: {const: bug}, severity: {type: integer}}, required: [kind, severity], additionalProperties: false}
          - {type: object, properties: {kind: {const: question}, topic: {type: string}}, required: [kind, topic], additionalProperties: false}
          - {type: object, properties: {kind: {const: spam}}, required: [kind], additionalProperties: false}
  page: {type: object}
calls:
  - {_tool: find, _outputPath: found}
  - {_tool: classify, _each: `+each+`, _outputPath: classes}
  - {_tool: page, _when: "†(any(†state.classes, .kind == 'bug'))"}
output: †state.classes
`), simulate.Options{Seed: 1}, 100)
		for _, p := range found.Problems {
			if strings.Contains(fmt.Sprint(p), "_output") {
				t.Errorf("%s: %v", each, p)
			}
		}
	}
}
