package analyzer

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/analyzer/rules"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/testdata/amount"
)

var threeInstances = []string{"①", "employee_B", "c"}

// calls are a random plan's, one a line, and for which instance each is.
func randomCalls(r *rand.Rand) (calls, of []string) {
	paths := []string{"a", "b", "c", "d", "a.x"}
	path := func() string { return "†state." + paths[r.IntN(len(paths))] }
	for i := range 2 + r.IntN(6) {
		text := fmt.Sprintf("_tool: t%d, _id: c%d", r.IntN(3), i)
		for k := range r.IntN(3) {
			value := path()
			if r.IntN(4) == 0 {
				value += " || " + path()
			}
			text += fmt.Sprintf(", p%d: '%s'", k, value)
		}
		if r.IntN(4) > 0 {
			text += ", _outputPath: " + path()
		}
		calls, of = append(calls, text), append(of, append([]string{"", "", ""}, threeInstances...)[r.IntN(6)])
	}
	return calls, of
}

func judgedText(t testing.TB, text string) []diag.Diagnostic {
	t.Helper()
	p, found := compiler.Compile(source.NewFile("plan.yaml", []byte(text)), compiler.Options{})
	if p.Root == nil {
		t.Fatalf("this can't be read:\n%s", text)
	}
	return Analyze(p, found, Config{SampleRun: SampleRuns}).Findings
}

// LANGUAGE.md#instances: what is wrong with a plan over instances is what is wrong with
// the plan of one of them. A reference that dangles in some is a warning there.
func TestViewsJudgeLikePlans(t *testing.T) {
	const seed = 12_001
	// By call, whatever the words; a cycle is reported at one of its calls. Conflicts aren't
	// looked for beside a reference that dangles.
	topics := func(found []diag.Diagnostic, into map[string]bool) {
		for _, d := range found {
			if d.Severity == diag.Error && d.Rule != diag.DanglingReference {
				into[d.Rule.Code+" "+d.Call] = true
			}
		}
	}
	several := 0
	for i := range uint64(amount.Of(80, 600, 10_000)) {
		r := rand.New(rand.NewPCG(seed, i))
		calls, of := randomCalls(r)
		head := []string{"", "writes: once\n"}[r.IntN(2)] + []string{"", "state: {b: 1}\n"}[r.IntN(2)]
		full := head + "instances: {①: {}, employee_B: {}, c: {}}\ncalls:\n"
		for k, call := range calls {
			if of[k] != "" {
				call += ", _instance: " + of[k]
			}
			full += "  - {" + call + "}\n"
		}
		want, dangling := map[string]bool{}, map[string]int{}
		for _, id := range threeInstances {
			one := head + "calls:\n"
			n := 0
			for k, call := range calls {
				if of[k] == "" || of[k] == id {
					one += "  - {" + call + "}\n"
					n++
				}
			}
			if n == 0 {
				continue
			}
			found := judgedText(t, one)
			topics(found, want)
			seen := map[string]bool{}
			for _, d := range found {
				if at := d.Call + " " + d.Span.Text(); d.Rule == diag.DanglingReference && !seen[at] {
					seen[at] = true
					dangling[at]++
				}
			}
		}
		got, found := map[string]bool{}, judgedText(t, full)
		topics(found, got)
		if len(dangling) > 0 {
			for _, topic := range []map[string]bool{got, want} {
				maps.DeleteFunc(topic, func(what string, _ bool) bool { return strings.HasPrefix(what, writeConflict.Code) })
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("seed %d/%d:\n%s\nhas %v\nand the plans of its instances %v", seed, i, full, got, want)
		}
		for at, n := range dangling {
			call, _, _ := strings.Cut(at, " ")
			mine := slices.ContainsFunc(calls, func(text string) bool {
				return strings.Contains(text, "_id: "+call+",") && of[slices.Index(calls, text)] != ""
			})
			rule := rules.MaybeMissing.Rule
			if n == len(threeInstances) || mine {
				rule = diag.DanglingReference
			} else {
				several++
			}
			if !slices.ContainsFunc(found, func(d diag.Diagnostic) bool { return d.Rule == rule && d.Call+" "+d.Span.Text() == at }) {
				t.Fatalf("seed %d/%d:\n%s\n%s dangles in %d instances, and %s doesn't say so:\n%s", seed, i, full, at, n, rule.Code, every(found))
			}
		}
		if again := judgedText(t, full); every(again) != every(found) {
			t.Fatalf("seed %d/%d: another time it is judged differently", seed, i)
		}
	}
	if several < 10 {
		t.Fatalf("only %d references dangled in some instances", several)
	}
}

// manyInstances is a plan of shared calls and one call more for each of many
// instances.
func manyInstances(shared, instances int) string {
	var b strings.Builder
	b.WriteString("tools: {t: {properties: {p: {type: string}}, _output: {type: string}}}\ninstances:\n")
	for i := range instances {
		fmt.Fprintf(&b, "  i%d: {state: {own: 1}}\n", i)
	}
	b.WriteString("calls:\n")
	for i := range shared {
		fmt.Fprintf(&b, "  - {_tool: t, p: '†state.p%d || \"none\"', _outputPath: †state.p%d}\n", max(0, i-1), i)
	}
	for i := range instances {
		fmt.Fprintf(&b, "  - {_tool: t, p: †state.p0, _instance: i%d, _outputPath: †state.x}\n", i)
	}
	return b.String()
}

// EXECUTION.md#limits: instances are judged within a budget, and what is left over is reported.
func TestInstancesHaveABudget(t *testing.T) {
	said := func(found []diag.Diagnostic) bool {
		return slices.ContainsFunc(found, func(d diag.Diagnostic) bool {
			return d.Rule == analysis.NotAnalysed && strings.Contains(d.Message, "not all instances are analysed")
		})
	}
	if found := judgedText(t, manyInstances(10, 60)); said(found) {
		t.Errorf("sixty instances are too many:\n%s", every(found))
	}
	// What instances without calls of their own share is judged all the same.
	text := strings.Replace(manyInstances(500, 1000), "calls:\n", "  plain: {}\ncalls:\n  - {_tool: t, p: †state.x, _outputPath: †state.z}\n", 1)
	if found := judgedText(t, text); !said(found) || !slices.ContainsFunc(found, func(d diag.Diagnostic) bool {
		return strings.Contains(d.Message, "it is missing in the instance \"plain\"")
	}) {
		t.Error("half a million calls over all instances are judged without a word, or the instance that comes last isn't judged")
	}
}

// LANGUAGE.md#policies-and-labels: a forbidden flow of one instance of many is found, whether its calls or its values are
// other ones.
func TestFlowsInManyInstances(t *testing.T) {
	const many = 400
	var values, shared, own strings.Builder
	for i := range many {
		value := []string{"1", "{password: hunter2}"}[i/(many-1)]
		fmt.Fprintf(&values, "  i%d: {state: {k%d: %s}}\n", i, i, value)
		fmt.Fprintf(&shared, "  - {_tool: send, text: '†(†state.k%d ?? 1)'}\n", i)
		fmt.Fprintf(&own, "  - {_tool: send, text: %s, _instance: i%d}\n", []string{"1", "†state.k399"}[i/(many-1)], i)
	}
	policy := compiler.PolicyFile{File: source.NewFile("policy.yaml", []byte("tools: {send: {effects: [external]}}")), Counts: true}
	head := "tools: {send: {properties: {text: true}}}\nactivities: {send: {exec: {argv: [send]}}}\ninstances:\n" + values.String() + "calls:\n"
	for _, calls := range []string{shared.String(), own.String()} {
		p, found := compiler.Compile(source.NewFile("plan.yaml", []byte(head+calls)), compiler.Options{Policies: []compiler.PolicyFile{policy}})
		if !slices.ContainsFunc(Analyze(p, found, Config{SampleRun: SampleRuns}).Findings, func(d diag.Diagnostic) bool { return d.Rule.Code == "OB702" }) {
			t.Errorf("nothing is said of the secret of i399 in %d calls", len(p.Calls))
		}
	}
}

// EXECUTION.md#instances: where the instances come with the run, those that no call names
// are judged as well, by the calls that they run.
func TestInstancesOfTheRun(t *testing.T) {
	const text = `
plan: people
calls:
  - {_tool: a, _instance: ①, _outputPath: †state.x}
  - {_tool: b, x: †state.x, _outputPath: †state.y}
  - {_tool: c, y: †state.y, _outputPath: †state.x}
  - {_tool: d, _instance: ①, _outputPath: †state.z}
  - {_tool: e, z: †state.z}
`
	p, found := compiler.Compile(source.NewFile("plan.yaml", []byte(text)), compiler.Options{Instances: true})
	var got []string
	for _, d := range Analyze(p, found, Config{SampleRun: SampleRuns}).Findings {
		if d.Severity > diag.Info {
			got = append(got, d.Rule.Code+" "+d.Message)
		}
	}
	want := []string{
		`OB301 2 calls wait for each other: "b#2" → "c#3" → "b#2" (in instances that no call names)`,
		`OB205 "†state.z" has a value in some instances only: it is missing in instances that no call names`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("found %q", got)
	}
}
