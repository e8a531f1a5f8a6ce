package runtime

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// orderedPlan is a generated plan, what it delegates to and a policy about it.
type orderedPlan struct {
	text, inner, policy string
	rules               []orderedRule
}

// An orderedRule is a rule as an independent monitor knows it.
type orderedRule struct {
	name, kind, subject, other, per string
	most                            int
}

var orderedTools = []string{"a", "b", "c"}

// orderedCalls writes some calls. The tools a and b give booleans, c one of two texts, l a
// list; b is idempotent.
func orderedCalls(r *rand.Rand, n int, delegates bool) string {
	var b strings.Builder
	chance := func(of int) bool { return r.IntN(of) == 0 }
	tools := make([]string, n)
	routes := make([]bool, n)
	for i := range n {
		tools[i] = orderedTools[r.IntN(len(orderedTools))]
		if delegates && chance(6) {
			tools[i] = "d"
		}
		if chance(7) {
			tools[i] = "l"
		}
		routes[i] = chance(4)
	}
	path := func(not int) string {
		j := r.IntN(n)
		for n > 1 && j == not {
			j = r.IntN(n)
		}
		if j > not && !chance(6) {
			j = r.IntN(not + 1)
		}
		if j == not {
			return "†input.k"
		}
		if routes[j] && chance(3) {
			return fmt.Sprintf("†state.t%d", j)
		}
		return fmt.Sprintf("†state.s%d", j)
	}
	for i := range n {
		fmt.Fprintf(&b, "- {_tool: %s, _id: c%d", tools[i], i)
		switch r.IntN(9) {
		case 0, 1, 2:
			fmt.Fprintf(&b, ", p: %s", path(i))
		case 3:
			fmt.Fprintf(&b, ", p: \"%s || %s\"", path(i), path(i))
		case 4:
			fmt.Fprintf(&b, ", p: \"%s || 1\"", path(i))
		case 5:
			fmt.Fprintf(&b, ", p: \"%s && %s\"", path(i), path(i))
		case 6:
			fmt.Fprintf(&b, ", p: [%s, %s]", path(i), path(i))
		}
		if tools[i] != "l" {
			switch r.IntN(6) {
			case 0:
				b.WriteString(", k: x")
			case 1:
				b.WriteString(", k: y")
			case 2:
				b.WriteString(", k: †input.k")
			case 3:
				if j := slices.Index(tools[:i], "c"); j >= 0 {
					fmt.Fprintf(&b, ", k: †state.s%d", j)
				}
			}
		}
		if chance(6) {
			if j := slices.IndexFunc(tools[:i], func(t string) bool { return t == "a" || t == "b" }); j >= 0 {
				fmt.Fprintf(&b, ", _when: \"%s†state.s%d\"", []string{"", "not ", "†input.yes or not "}[r.IntN(3)], j)
			}
		}
		if i > 0 && chance(3) {
			if j := r.IntN(i); chance(2) {
				fmt.Fprintf(&b, ", _after: [c%d]", j)
			} else {
				fmt.Fprintf(&b, ", _after: {settled: [c%d]}", j)
			}
		}
		if chance(8) {
			b.WriteString(", _retry: 2")
		}
		if chance(8) && tools[i] != "l" {
			own := func() string { return b.String()[strings.LastIndex(b.String(), "\n- {")+1:] }
			named := strings.Contains(own(), ", k: ")
			switch j := slices.Index(tools[:i], "l"); {
			case j >= 0:
				fmt.Fprintf(&b, ", _each: †state.s%d", j)
			case chance(2):
				b.WriteString(", _each: [x, y]")
			}
			if strings.Contains(own(), "_each") {
				if !named && chance(2) {
					b.WriteString([]string{", k: †item", ", k: †index"}[r.IntN(2)])
				}
				if chance(3) {
					b.WriteString(", _onItemFailure: collect")
				}
			}
		}
		if routes[i] {
			fmt.Fprintf(&b, ", _outputPath: \"s%d || t%d\"", i, i)
		} else if !chance(4) {
			fmt.Fprintf(&b, ", _outputPath: s%d", i)
		}
		b.WriteString("}\n")
	}
	return b.String()
}

func generateOrdered(r *rand.Rand) orderedPlan {
	head := `
inputSchema: {type: object, properties: {k: {enum: [x, y]}, yes: {type: boolean}}}
tools:
  a: {properties: {p: {}, k: {}, _output: {type: boolean}}}
  b: {properties: {p: {}, k: {}, _output: {type: boolean}}}
  c: {properties: {p: {}, k: {}, _output: {enum: [x, y]}}}
  l: {properties: {p: {}, _output: {type: array, items: {enum: [x, y]}, maxItems: 2, minItems: ` + fmt.Sprint(r.IntN(2)) + `, uniqueItems: ` + fmt.Sprint(r.IntN(2) == 0) + `}}}
`
	g := orderedPlan{inner: head + "calls:\n" + orderedCalls(r, 1+r.IntN(2), false)}
	g.text = head + "  d: {properties: {p: {}, k: {}, _delegate: {const: inner.yaml}}}\ncalls:\n" + orderedCalls(r, 2+r.IntN(3), true)
	var b strings.Builder
	b.WriteString("rules:\n")
	for i := range 2 {
		one := orderedRule{name: fmt.Sprintf("r%d", i), kind: []string{"only-after", "never-after", "at-most"}[r.IntN(3)], most: 1 + r.IntN(2)}
		names := append(slices.Clone(orderedTools), "d")
		r.Shuffle(len(names), func(i, k int) { names[i], names[k] = names[k], names[i] })
		one.subject, one.other = names[0], names[1]
		if r.IntN(4) == 0 {
			one.per = "k"
		}
		per := ""
		if one.per != "" {
			per = ", per: k"
		}
		fmt.Fprintf(&b, "- rule: %s\n", one.name)
		s, o := one.subject, one.other
		switch one.kind {
		case "only-after":
			fmt.Fprintf(&b, "  order: {%s: {only-after: %s%s}}\n  allows: [%s, %s]\n  denies: [%s]\n", s, o, per, o, s, s)
		case "never-after":
			fmt.Fprintf(&b, "  order: {%s: {never-after: %s%s}}\n  allows: [%s, %s]\n  denies: [%s, %s]\n", s, o, per, s, o, o, s)
		default:
			many := strings.Repeat(s+", ", one.most)
			fmt.Fprintf(&b, "  order: {%s: {at-most: %d%s}}\n  allows: [%s]\n  denies: [%s%s]\n", s, one.most, per, strings.TrimSuffix(many, ", "), many, s)
		}
		g.rules = append(g.rules, one)
	}
	g.policy = b.String()
	return g
}

// compiled compiles it with the policy or without.
func (g *orderedPlan) compiled(t testing.TB, policed bool) (*plan.Plan, []diag.Diagnostic) {
	yes := true
	o := compiler.Options{
		Name: "plan.yaml", Limits: source.DefaultLimits(), Functions: []string{"a", "b", "c", "l"},
		Hints: map[string]plan.Hints{"b": {Idempotent: &yes}},
		Open: func(name string) ([]byte, error) {
			if name == "inner.yaml" {
				return []byte(g.inner), nil
			}
			return nil, os.ErrNotExist
		},
	}
	if policed {
		o.Policies = []compiler.PolicyFile{{File: source.NewFile("obelus.policy.yaml", []byte(g.policy)), Counts: true}}
	}
	return compiler.Compile(source.NewFile("plan.yaml", []byte(g.text)), o)
}

func (g *orderedPlan) String() string { return g.text + "---\n" + g.inner + "---\n" + g.policy }

// An orderMonitor is told what begins and what is done, and says which rules that breaks.
// It knows nothing of plans.
type orderMonitor struct {
	rules      []orderedRule
	begun      map[string]int // by tool, and value of k
	done       map[string]bool
	idempotent map[string]bool
	broken     map[string]bool
}

func newOrderMonitor(rules []orderedRule) *orderMonitor {
	return &orderMonitor{rules, map[string]int{}, map[string]bool{}, map[string]bool{"b": true}, map[string]bool{}}
}

func (m *orderMonitor) key(rule orderedRule, params map[string]any) string {
	if rule.per == "" {
		return rule.name
	}
	return fmt.Sprint(rule.name, " ", params[rule.per])
}

func (m *orderMonitor) see(c *Command) {
	switch {
	case c.Of == nil || c.Of.Each != nil:
	case c.Kind == Start, c.Kind == Enter:
		tool := c.Of.ToolName
		for _, rule := range m.rules {
			key := m.key(rule, c.Params)
			again := c.Attempt > 1 && m.idempotent[tool]
			if rule.subject == tool {
				switch {
				case rule.kind == "only-after" && !m.done[key],
					rule.kind == "never-after" && m.begun[key] > 0,
					rule.kind == "at-most" && !again && m.begun[key] >= rule.most:
					m.broken[rule.name] = true
				}
			}
			if rule.kind == "never-after" && rule.other == tool || rule.kind == "at-most" && rule.subject == tool && !again {
				m.begun[key]++
			}
		}
	}
}

func (m *orderMonitor) concerns(tool string) bool {
	return slices.ContainsFunc(m.rules, func(r orderedRule) bool {
		return r.subject == tool || r.kind != "at-most" && r.other == tool
	})
}

// finished is told with which parameters a call was done.
func (m *orderMonitor) finished(tool string, params map[string]any) {
	for _, rule := range m.rules {
		if rule.kind == "only-after" && rule.other == tool {
			m.done[m.key(rule, params)] = true
		}
	}
}

// An orderWorld carries a plan out by choices, and knows what may happen next. A person is
// asked about every call, so that each may begin as late as the graph allows.
type orderWorld struct {
	machine *Machine
	monitor *orderMonitor
	open    map[string]openTry // what may end or fire, by what it is
	saw     func(*Command)     // if given, is told of commands
}

type openTry struct {
	event  Event
	of     *plan.Call
	params map[string]any
}

func (w *orderWorld) step(e Event) {
	var soon []Event
	defer func() {
		for _, e := range soon {
			w.step(e)
		}
	}()
	for _, c := range w.machine.Step(e) {
		if c.Of == nil {
			continue
		}
		name := fmt.Sprintf("%s/%s#%d", c.Under, c.Of.Name, c.Attempt)
		w.monitor.see(&c)
		if w.saw != nil {
			w.saw(&c)
		}
		event := Event{Try: c.Try, Route: -1}
		switch c.Kind {
		case Start:
			event.Kind = Ended
			w.open["end "+name] = openTry{event, c.Of, c.Params}
		case Enter:
			w.open["in "+name] = openTry{event, c.Of, c.Params}
		case Ask:
			event.Kind, event.Decision = Decided, &Decision{Verdict: Approve}
			if c.Question.InFlight {
				event.Decision.Verdict = Fail
			}
			if w.monitor.concerns(c.Of.ToolName) || w.saw != nil {
				w.open["ask "+name] = openTry{event, c.Of, nil}
			} else { // it doesn't matter when
				soon = append(soon, event)
			}
		case SetTimer:
			event.Kind = Fired
			w.open["fire "+name] = openTry{event, c.Of, nil}
		case Settle:
			for _, how := range []string{"end ", "in "} {
				if try, ok := w.open[how+name]; ok {
					if c.Settlement.Status == Done && c.Of.Each == nil {
						w.monitor.finished(c.Of.ToolName, try.params)
					}
					delete(w.open, how+name)
				}
			}
		}
	}
}

// A choice is one thing that happens next.
type choice struct {
	name string // of what is open
	what int
}

// outcomes are how a try of a tool may end. Lists are never empty with 1, and may hold an
// item twice with 2.
func outcomes(call *plan.Call, lists int) (all []Event) {
	values := map[string][]any{"a": {true, false}, "b": {true, false}, "c": {"x", "y"}, "l": {[]any{}, []any{"x"}, []any{"x", "y"}, []any{"x", "x"}}}[call.ToolName]
	if call.ToolName == "l" {
		values = values[lists&1 : 3+lists/2]
	}
	for _, v := range values {
		all = append(all, Event{Value: v, Route: -1})
		for route := 1; route < len(call.Output); route++ {
			all = append(all, Event{Value: v, Route: route})
		}
	}
	return append(all, Event{Route: -1, Failure: &Failure{Code: "error", Message: "no"}})
}

// next are the things that may happen, sorted.
func (w *orderWorld) next(lists int) (all []choice) {
	for name, try := range w.open {
		switch try.event.Kind {
		case Ended:
			if strings.HasPrefix(name, "end ") {
				for i := range outcomes(try.of, lists) {
					all = append(all, choice{name, i})
				}
			}
		case Fired, Decided:
			all = append(all, choice{name, 0})
		}
	}
	slices.SortFunc(all, func(a, b choice) int {
		if c := strings.Compare(a.name, b.name); c != 0 {
			return c
		}
		return a.what - b.what
	})
	return all
}

func (w *orderWorld) take(c choice, lists int) {
	try := w.open[c.name]
	e := try.event
	if e.Kind == Ended {
		out := outcomes(try.of, lists)[c.what]
		e.Value, e.Route, e.Failure = out.Value, out.Route, out.Failure
		// Its settlement finds it, and further tries have other names.
	} else {
		delete(w.open, c.name)
	}
	if strings.HasPrefix(c.name, "end ") {
		w.open["in "+strings.TrimPrefix(c.name, "end ")] = openTry{Event{Kind: RunBegan}, try.of, try.params}
		delete(w.open, c.name)
	}
	w.step(e)
}

// enumerate goes through every order and every outcome of a plan that nothing is forbidden
// in, and gives the rules that some run breaks; false where there are too many.
func (g *orderedPlan) enumerate(plan *plan.Plan, most int) (broken map[string]bool, complete bool) {
	broken = map[string]bool{}
	lists := 0
	if strings.Contains(g.text, "minItems: 1") {
		lists = 1
	}
	if strings.Contains(g.text, "uniqueItems: false") {
		lists += 2
	}
	for _, input := range []map[string]any{{"k": "x", "yes": true}, {"k": "y", "yes": true}, {"k": "x", "yes": false}, {"k": "y", "yes": false}} {
		if input["k"] == "y" && !strings.Contains(g.policy, "per:") || input["yes"] == false && !strings.Contains(g.text, "input.yes") {
			continue
		}
		seen := map[string]bool{}
		begin := func() *orderWorld {
			w := &orderWorld{machine: newMachine(plan, Options{Input: input, Confirm: Confirm{Policy: Always}}, false, false), monitor: newOrderMonitor(g.rules), open: map[string]openTry{}}
			w.step(Event{Kind: RunBegan})
			return w
		}
		// The world is one in which the path has been gone; the last way on goes on in it.
		var visit func(w *orderWorld, path []choice) bool
		visit = func(w *orderWorld, path []choice) bool {
			for name := range w.monitor.broken {
				broken[name] = true
			}
			// What has happened decides what is, in whatever order it happened.
			happened := []string{}
			for _, c := range path {
				happened = append(happened, fmt.Sprint(c.name, "=", c.what))
			}
			slices.Sort(happened)
			if key := strings.Join(happened, ";"); seen[key] || len(broken) == len(g.rules) {
				return true
			} else {
				seen[key] = true
			}
			if most--; most < 0 {
				return false
			}
			all := w.next(lists)
			for i, c := range all {
				on := w
				if i < len(all)-1 {
					on = begin()
					for _, before := range path {
						on.take(before, lists)
					}
				}
				on.take(c, lists)
				if !visit(on, append(slices.Clip(path), c)) {
					return false
				}
			}
			return true
		}
		if !visit(begin(), nil) {
			return broken, false
		}
	}
	return broken, true
}

// early matches what may let a call start before all that the graph has before it is done, or
// more than once.
var early = regexp.MustCompile(`_each|_tool: d|\|\||_retry|settled`)

// LANGUAGE.md#policies-and-labels: where OB706 is an error, some run breaks the rule: this goes through all orders and
// branches of a machine that forbids nothing. Where no call starts early or more than once,
// every rule that a run breaks is found.
func TestForbiddenOrdersAgreeWithEnumeration(t *testing.T) {
	t.Parallel()
	n, plans := amount.Of(20, 83, 5000), 0
	var errors, clean, doubts, left int
	for seed := uint64(1); plans < n; seed++ {
		g := generateOrdered(rand.New(rand.NewPCG(seed, 706)))
		free, found := g.compiled(t, false)
		if diag.HasErrors(found) {
			continue
		}
		policed, found := g.compiled(t, true)
		if diag.HasErrors(found) {
			t.Fatalf("seed %d: %v\n%s", seed, found[0].Message, g.String())
		}
		judged := analyzer.Analyze(policed, found, analyzer.Config{})
		if slices.ContainsFunc(judged.Errors, func(d diag.Diagnostic) bool { return d.Rule.Code != "OB706" }) {
			continue
		}
		broken, complete := g.enumerate(free, 2000)
		if !complete {
			continue
		}
		plans++
		for _, rule := range g.rules {
			severity := diag.Info
			var message string
			for _, d := range judged.Findings {
				if d.Rule.Code == "OB706" && strings.Contains(d.Message, fmt.Sprintf("rule %q", rule.name)) && d.Severity > severity {
					severity, message = d.Severity, d.Message
				}
			}
			switch {
			case severity == diag.Error && !broken[rule.name]:
				t.Errorf("seed %d: no run breaks %s: %s\n%s", seed, rule.name, message, g.String())
			case severity == diag.Info && broken[rule.name] && !early.MatchString(g.text):
				t.Errorf("seed %d: a run breaks %s, and there is no finding\n%s", seed, rule.name, g.String())
			case severity == diag.Warning:
				doubts++
			case severity == diag.Error:
				errors++
			case broken[rule.name]:
				left++
			default:
				clean++
			}
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d plans: %d rules broken, %d kept, %d in doubt, %d left to the run", plans, errors, clean, doubts, left)
	if errors == 0 || clean == 0 || left > errors/4 {
		t.Error("the plans show too little")
	}
}
