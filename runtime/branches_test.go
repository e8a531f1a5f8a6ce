package runtime_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// What the analyzer says of branches is held against runs: a plan is run with
// every way in which its activities may end, or many of them, and whatever is
// said must be so in each.

// branchingPlan is the text of a small plan full of alternatives, conditions,
// fallbacks and gates. Every expression stands in double quotes on its own line.
func branchingPlan(r *rand.Rand) string {
	var b strings.Builder
	chance := func(percent int) bool { return r.IntN(100) < percent }
	if chance(30) {
		b.WriteString("writes: once\n")
	}
	b.WriteString("inputSchema: {type: object, properties: {n: {type: number}}, required: [n]}\ntools:\n  work: {type: object, additionalProperties: true}\n")
	b.WriteString("  sure: {type: object, additionalProperties: true, _output: {type: string}}\ncalls:\n")
	paths := []string{"a", "b", "c", "d", "e", "h"}
	written := []string{}
	path := func() string {
		if len(written) == 0 || chance(70) && len(written) < len(paths) {
			for _, p := range paths {
				if !slices.Contains(written, p) {
					return p
				}
			}
		}
		return paths[r.IntN(len(paths))]
	}
	read := func() string {
		if len(written) == 0 {
			return "†input.n"
		}
		p := written[r.IntN(len(written))]
		if p == "h" && chance(50) {
			return "†state.h.k"
		}
		return "†state." + p
	}
	operand := func() string {
		switch r.IntN(8) {
		case 0:
			return read() + " && " + read()
		case 1:
			return "'lit'"
		}
		return read()
	}
	value := func() string {
		operands := []string{read()}
		for chance(40) && len(operands) < 4 {
			operands = append(operands, operand())
		}
		return strings.Join(operands, " || ")
	}
	comparison := func() string {
		n := r.IntN(4)
		switch r.IntN(7) {
		case 0:
			return fmt.Sprintf("†input.n > %d", n)
		case 1:
			return fmt.Sprintf("†input.n <= %d", n)
		case 2:
			return fmt.Sprintf("†input.n in [%d, %d]", n, r.IntN(4))
		case 3:
			return fmt.Sprintf("%d < †input.n <= %d", n, r.IntN(4))
		case 4:
			return fmt.Sprintf("†input.n != %d", n)
		}
		p := read()
		for p == "†state.h" || p == "†state.h.k" {
			p = "†input.n"
		}
		return fmt.Sprintf("%s == 'v%d'", p, r.IntN(2))
	}
	condition := func() string {
		c := comparison()
		switch r.IntN(5) {
		case 0:
			c += " and " + comparison()
		case 1:
			c += " or " + comparison()
		case 2:
			c = "not (" + c + ")"
		}
		return "†(" + c + ")"
	}
	for i := range 2 + r.IntN(5) {
		fmt.Fprintf(&b, "  - _tool: %s\n    _id: c%d\n", []string{"work", "sure"}[r.IntN(2)], i)
		for k := range r.IntN(3) {
			fmt.Fprintf(&b, "    p%d: \"%s\"\n", k, value())
		}
		if chance(30) {
			fmt.Fprintf(&b, "    _when: \"%s\"\n", condition())
		}
		var routes []string
		var mine []string
		for range 1 + r.IntN(3) {
			one := path()
			mine = append(mine, one)
			route := "†state." + one
			if chance(15) {
				if other := path(); !strings.HasPrefix(other, one) && !strings.HasPrefix(one, other) { // one result isn't written over itself
					mine, route = append(mine, other), route+" && †state."+other
				}
			}
			routes = append(routes, route)
		}
		if !chance(10) {
			fmt.Fprintf(&b, "    _outputPath: \"%s\"\n", strings.Join(routes, " || "))
			written = append(written, mine...)
		}
	}
	b.WriteString("output:\n")
	for i := range 1 + r.IntN(3) {
		fmt.Fprintf(&b, "  l%d: \"%s\"\n", i, value())
	}
	return b.String()
}

// An ending is how the activity of one call ends.
type ending struct {
	alternative int // -1: none named
	fails       bool
	value       any
}

// A branchRun is what came of a plan in one world.
type branchRun struct {
	ran    map[string]bool
	status []string
	log    []runtime.Message
	state  any
	output map[string]any
}

func runBranch(t testing.TB, simulation *analyzer.Simulation, n any, how []ending) branchRun {
	t.Helper()
	p := simulation.Plan()
	m := runtime.Simulate(simulation, runtime.Options{Input: map[string]any{"n": n}})
	out := branchRun{ran: map[string]bool{}, status: make([]string, len(p.Calls))}
	var coming []runtime.Event
	take := func(commands []runtime.Command) {
		for _, c := range commands {
			switch c.Kind {
			case runtime.Start:
				out.ran[p.Calls[c.Call].Name] = true
				e := runtime.Event{Kind: runtime.Ended, Call: c.Call, Attempt: c.Attempt, Value: how[c.Call].value, Route: how[c.Call].alternative}
				if how[c.Call].fails {
					e = runtime.Event{Kind: runtime.Ended, Call: c.Call, Attempt: c.Attempt, Failure: &runtime.Failure{Code: "error", Message: "on purpose"}}
				}
				coming = append(coming, e)
			case runtime.Settle:
				out.status[c.Call] = c.Settlement.Status.String()
			case runtime.Finish:
				out.state = c.Outcome.State
				out.output, _ = c.Outcome.Output.(map[string]any)
			}
		}
	}
	take(m.Step(runtime.Event{Kind: runtime.RunBegan}))
	for !m.Over() {
		e := coming[0]
		coming = coming[1:]
		take(m.Step(e))
	}
	out.log = slices.Clone(m.Log().Messages())
	return out
}

// usualResult is something that every read of the generated plans finds its
// part of.
func usualResult(call *plan.Call) any {
	if call.ToolName == "sure" {
		return "v0"
	}
	return map[string]any{"k": "v0"}
}

// endings goes through the ways in which activities may end: all of them when
// they are few, else a sample.
func endings(p *plan.Plan, r *rand.Rand, most int, f func(n any, how []ending, strict bool)) (all bool) {
	options := make([][]ending, len(p.Calls))
	total := 5
	for i, call := range p.Calls {
		values := []any{"v0", "v1"}
		if call.ToolName == "work" {
			values = append(values, map[string]any{"k": "v0"}, nil)
		}
		for alternative := range max(1, len(call.Output)) {
			for _, v := range values {
				options[i] = append(options[i], ending{alternative: alternative, value: v})
			}
		}
		options[i] = append(options[i], ending{alternative: -1, fails: true})
		if total <= most {
			total *= len(options[i])
		}
	}
	how := make([]ending, len(p.Calls))
	give := func(n int) {
		strict := true
		for i, call := range p.Calls {
			missing := how[i].value == nil || call.ToolName == "work" && how[i].value == "v0" || call.ToolName == "work" && how[i].value == "v1"
			strict = strict && !(how[i].fails && len(call.Output) < 2) && (how[i].fails || !missing)
		}
		f(float64(n), how, strict)
	}
	if total > most {
		for range most {
			for i := range how {
				how[i] = options[i][r.IntN(len(options[i]))]
			}
			give(r.IntN(5))
		}
		return false
	}
	at := make([]int, len(p.Calls))
	for {
		for i := range how {
			how[i] = options[i][at[i]]
		}
		for n := range 5 {
			give(n)
		}
		i := 0
		for ; i < len(at); i++ {
			if at[i]++; at[i] < len(options[i]) {
				break
			}
			at[i] = 0
		}
		if i == len(at) {
			return true
		}
	}
}

// led is the ends of activities in the branch that a finding shows; false when
// the branch wants two results of one call.
func led(p *plan.Plan, branch []analyzer.BranchChoice, r *rand.Rand) (n any, how []ending, ok bool) {
	how = make([]ending, len(p.Calls))
	wanted := make([]bool, len(p.Calls))
	n = float64(r.IntN(5))
	for i, call := range p.Calls {
		how[i] = ending{alternative: r.IntN(max(1, len(call.Output))), value: usualResult(call)}
	}
	for _, d := range branch {
		for i, call := range p.Calls {
			if call.Name == d.Call {
				how[i].fails = d.Fails
				if d.Takes != "" {
					how[i].alternative = slices.Index(compiler.Offered(p, call), d.Takes)
				}
			}
		}
		switch {
		case d.Reference == "†input.n":
			n = *d.Value
		case d.Reference != "":
			for i, call := range p.Calls {
				for _, route := range call.Output {
					for _, path := range route {
						if p.Paths.String(path.ID) != d.Reference {
							continue
						}
						if wanted[i] && !reflect.DeepEqual(how[i].value, *d.Value) {
							return nil, nil, false
						}
						if _, isText := (*d.Value).(string); !isText && call.ToolName == "sure" {
							return nil, nil, false // nothing forbids the branch, but this tool gives texts only
						}
						how[i].value, wanted[i] = *d.Value, true
					}
				}
			}
		}
	}
	return n, how, true
}

func witnessOf(t testing.TB, d diag.Diagnostic) analyzer.Branch {
	t.Helper()
	text, err := json.Marshal(d.Witness)
	if err != nil {
		t.Fatal(err)
	}
	var b analyzer.Branch
	if err := json.Unmarshal(text, &b); err != nil {
		t.Fatal(err)
	}
	return b
}

// meets reports whether two calls wrote paths of which one is in the other, not
// both as failure records, and at least one by set.
func meets(p *plan.Plan, log []runtime.Message, a, b int) bool {
	for _, x := range log {
		for _, y := range log {
			if x.Call == a && y.Call == b && p.Paths.Overlap(x.Path, y.Path) && !(x.Failure && y.Failure) && (x.Method == plan.Set || y.Method == plan.Set) {
				return true
			}
		}
	}
	return false
}

// without is the plan with an operand of a fallback, or all after it, taken out.
func without(text string, d diag.Diagnostic) (string, bool) {
	at := d.Span.Start
	from := strings.LastIndexByte(text[:at], '"') + 1
	to := at + strings.IndexByte(text[at:], '"')
	operands := strings.Split(text[from:to], " || ")
	offset := from
	for i, o := range operands {
		if offset == at {
			if strings.Contains(d.Message, "operands after it") {
				operands = operands[:i+1]
			} else {
				operands = slices.Delete(operands, i, i+1)
			}
			break
		}
		offset += len(o) + len(" || ")
	}
	changed := strings.Join(operands, " || ")
	if len(operands) == 1 && !strings.Contains(changed, "&&") && strings.HasPrefix(changed, "†") {
		changed += " && " + changed // a plain reference would let null pass
	}
	if !strings.HasPrefix(changed, "†") {
		if strings.Contains(changed, "†") {
			changed = "†(" + changed + ")"
		} else {
			changed = strings.Trim(changed, "'")
		}
	}
	return text[:from] + changed + text[to:], len(operands) > 0
}

func analysed(text string) (*plan.Plan, []diag.Diagnostic, *analyzer.Simulation) {
	p, found := compiler.Compile(source.NewFile("plan.yaml", []byte(text)), compiler.Options{})
	found = analyzer.Analyze(p, found, analyzer.Config{}).Findings
	return p, found, analyzer.Simulate(p, found)
}

// LANGUAGE.md#the-graph: LANGUAGE.md#findings and OB205, OB209, OB212, OB302, OB401: no call found dead ever runs
// and no dead one is missed, no operand found useless is ever missed, calls that
// don't conflict never write the same, conflicts and missing leaves show a branch
// on which they are.
func TestBranchesAgreeWithRuns(t *testing.T) {
	t.Parallel()
	plans, most := amount.Of(6, 160, 500), 400
	counts := map[string]int{}
	for seed := range uint64(plans) {
		agreeWithRuns(t, seed, most, counts)
		if t.Failed() {
			return
		}
	}
	t.Log(counts)
	for _, code := range []string{"OB205", "OB209", "OB302", "OB401", "OB212", "exclusive pairs"} {
		if counts[code] < plans/100 {
			t.Errorf("only %d of %s", counts[code], code)
		}
	}
}

func agreeWithRuns(t *testing.T, seed uint64, most int, counts map[string]int) {
	r := rand.New(rand.NewPCG(seed, 65))
	text := branchingPlan(r)
	p, found, simulation := analysed(text)
	if simulation == nil {
		counts["unsound"]++
		return
	}
	counts["sound"]++
	fail := func(format string, args ...any) {
		t.Helper()
		var all []string
		for _, d := range found {
			all = append(all, fmt.Sprintf("%d %s %s", d.Span.From().Line, d.Rule.Code, d.Message))
		}
		t.Errorf("seed %d: %s\n%s\n%s", seed, fmt.Sprintf(format, args...), text, strings.Join(all, "\n"))
	}
	dead, constant, conflicting := map[string]bool{}, map[string]bool{}, map[string]bool{}
	missing := map[string]bool{}
	type change struct {
		finding    diag.Diagnostic
		simulation *analyzer.Simulation
	}
	var changes []change
	for _, d := range found {
		counts[d.Rule.Code]++
		switch d.Rule.Name {
		case "dead-call":
			dead[d.Call] = true
		case "constant-condition":
			if strings.Contains(d.Message, "never true") {
				constant[d.Call] = true
			}
		case "useless-fallback":
			if changed, ok := without(text, d); ok {
				if _, _, simulation := analysed(changed); simulation != nil && !simulation.Conflicts() { // order may have hung on the operand
					changes = append(changes, change{d, simulation})
				}
			}
		case "write-conflict":
			conflicting[d.Call] = true
			branch := witnessOf(t, d)
			n, how, ok := led(p, branch.Branch, r)
			if !ok {
				counts["not led"]++
				continue
			}
			counts["led to conflicts"]++
			run := runBranch(t, simulation, n, how)
			b := slices.IndexFunc(p.Calls, func(c *plan.Call) bool { return c.Name == d.Call })
			met := false
			for a := range b {
				met = met || meets(p, run.log, a, b)
			}
			if !met {
				fail("the branch of %s doesn't show the conflict: %v %v %v", d.Message, n, how, run.status)
			}
		case "maybe-missing":
			leaf := strings.Fields(strings.Split(text, "\n")[d.Span.From().Line-1])[0]
			leaf = strings.TrimSuffix(leaf, ":")
			missing[leaf] = true
			if n, how, ok := led(p, witnessOf(t, d).Branch, r); ok {
				counts["led to missing leaves"]++
				if run := runBranch(t, simulation, n, how); run.output[leaf] != nil {
					fail("the branch of %s doesn't lack %s: %v %v", d.Message, leaf, n, how)
				}
			}
		}
	}
	if slices.ContainsFunc(found, func(d diag.Diagnostic) bool { return d.Rule.Name == "not-fully-analysed" }) {
		fail("a small plan isn't analysed")
	}
	clean := len(conflicting) == 0
	ever, had := map[string]bool{}, map[string]bool{}
	lacked := map[string]string{}
	all := endings(p, r, most, func(n any, how []ending, strict bool) {
		if t.Failed() {
			return
		}
		run := runBranch(t, simulation, n, how)
		for name := range run.ran {
			ever[name] = true
			if dead[name] || constant[name] {
				fail("%s runs: %v %v", name, n, how)
			}
		}
		for _, u := range p.Unordered {
			if !conflicting[p.Calls[u.B].Name] && meets(p, run.log, u.A, u.B) {
				fail("%s and %s write the same: %v %v", p.Calls[u.A].Name, p.Calls[u.B].Name, n, how)
			}
		}
		if strict {
			for _, f := range p.Output.Fields {
				if _, there := run.output[f.Key]; there {
					had[f.Key] = true
				} else if len(run.output) == 0 {
					lacked[f.Key] = fmt.Sprint(n, how)
				}
			}
		}
		for _, c := range changes {
			if !clean {
				continue
			}
			other := runBranch(t, c.simulation, n, how)
			if !reflect.DeepEqual(run.state, other.state) || !reflect.DeepEqual(run.output, other.output) || !slices.Equal(run.status, other.status) {
				fail("%s, yet without it the run is another: %v %v\n%v\n%v", c.finding.Message, n, how, run, other)
			}
		}
	})
	for _, u := range p.Unordered {
		if !conflicting[p.Calls[u.B].Name] {
			counts["exclusive pairs"]++
		}
	}
	for _, f := range p.Output.Fields {
		if had[f.Key] && lacked[f.Key] != "" && !missing[f.Key] && clean {
			fail("nothing says that %s may be missing: %s", f.Key, lacked[f.Key])
		}
	}
	if !all {
		return
	}
	counts["all worlds"]++
	for _, call := range p.Calls {
		if !ever[call.Name] && !dead[call.Name] && !constant[call.Name] {
			fail("%s never runs, and nothing says so", call.Name)
		}
	}
}
