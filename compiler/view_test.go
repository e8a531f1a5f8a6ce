package compiler

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/compiler/bind"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// A sketch is a random plan for a few instances, call by call.
type sketch struct {
	head  string
	calls []string
	of    []string // by call: its instance; "" for all
}

var viewed = []string{"①", "employee_B", "c"}

func randomSketch(r *rand.Rand) sketch {
	s := sketch{head: []string{"", "writes: once\n"}[r.IntN(2)]}
	paths := []string{"a", "b", "c", "a.x", "a.y", "l[0]", "l[1]"}
	path := func() string { return "†state." + paths[r.IntN(len(paths))] }
	if r.IntN(2) == 0 {
		s.head += "state: {b: 1}\n"
	}
	own := r.IntN(3)
	s.head += "instances:\n"
	for i, id := range viewed {
		values := ""
		if i < own || own == 2 {
			values = "state: {c: 1}"
		}
		s.head += fmt.Sprintf("  %s: {%s}\n", id, values)
	}
	n := 2 + r.IntN(8)
	for i := range n {
		of := ""
		if r.IntN(2) == 0 {
			of = viewed[r.IntN(len(viewed))]
		}
		text := fmt.Sprintf("_tool: t, _id: c%d", i)
		for k := range r.IntN(3) {
			value := path()
			switch r.IntN(5) {
			case 0:
				value = path() + " || " + path() + " || 1"
			case 1:
				value = "[1, {deep: '" + path() + "'}]"
			}
			if value[0] != '[' {
				value = "'" + value + "'"
			}
			text += fmt.Sprintf(", p%d: %s", k, value)
		}
		if r.IntN(4) == 0 {
			text += ", _when: '" + path() + " == 1'"
		}
		if r.IntN(3) > 0 {
			to := path()
			if r.IntN(3) == 0 {
				to += " || " + path()
			}
			text += ", _outputPath: '" + to + "'"
			if r.IntN(4) == 0 {
				text += ", _outputMethod: push"
			}
		}
		if r.IntN(4) == 0 {
			text += ", _scopes: [input, '" + path() + "', '" + path() + "']"
		}
		if r.IntN(4) == 0 && i > 0 {
			text += fmt.Sprintf(", _after: [c%d]", r.IntN(n))
		}
		s.calls, s.of = append(s.calls, text), append(s.of, of)
	}
	return s
}

// text is the plan of all calls, or of those that one instance runs.
func (s sketch) text(only string) string {
	var b strings.Builder
	b.WriteString(s.head + "calls:\n")
	kept := func(i int) bool { return only == "" || s.of[i] == "" || s.of[i] == only }
	for i, call := range s.calls {
		if !kept(i) {
			continue
		}
		for k := range s.calls { // what nobody listens to is written out of "_after" by hand
			if !kept(k) {
				call = strings.ReplaceAll(call, fmt.Sprintf(", _after: [c%d]", k), "")
			}
		}
		if s.of[i] != "" {
			call += ", _instance: " + s.of[i]
		}
		fmt.Fprintf(&b, "  - {%s}\n", call)
	}
	if b.String() == s.head+"calls:\n" {
		b.WriteString("  []\n")
	}
	b.WriteString("output: {a: †state.a, x: †state.b || 1}\n")
	return b.String()
}

// binding writes out all that binding a plan found, by the names of calls.
func binding(p *plan.Plan) string {
	var b strings.Builder
	names := func(calls []int32) (list []string) {
		for _, i := range calls {
			list = append(list, p.Calls[i].Name)
		}
		return list
	}
	read := func(r int) string {
		one := &p.Reads[r]
		return fmt.Sprintf("%s %d %v %v", one.Ref.String(), one.Bound, names(one.Writers), one.Start)
	}
	var template func(t *plan.Template)
	template = func(t *plan.Template) {
		if t == nil || !t.Live() {
			return
		}
		for _, r := range t.Reads {
			fmt.Fprintf(&b, "    %s: %s\n", t.Node.Text, read(r))
		}
		for _, f := range t.Fields {
			template(f.Value)
		}
		for _, item := range t.Items {
			template(item)
		}
	}
	for i, call := range p.Calls {
		var after []int32
		for _, other := range call.After {
			after = append(after, int32(other.Call))
		}
		fmt.Fprintf(&b, "%s after %v choices %v waits %v deps %v\n", call.Name, names(after), names(call.Choices), names(call.Waits), names(p.Graph.Deps(i)))
		for _, r := range call.Reads {
			if p.Reads[r].Call != i || call.Index != i {
				fmt.Fprintf(&b, "    a read of %d belongs to %d\n", i, p.Reads[r].Call)
			}
			fmt.Fprintf(&b, "  %s\n", read(r))
		}
		for _, s := range call.Scopes {
			fmt.Fprintf(&b, "    scope %s: %s\n", s.Ref.String(), read(s.Read))
		}
		template(call.Params)
		template(call.When)
		for _, route := range call.Output {
			for _, path := range route {
				for _, w := range p.Writers(path.ID) {
					fmt.Fprintf(&b, "  %s is written by %s %s %v\n", p.Paths.String(path.ID), p.Calls[w.Call].Name, p.Paths.String(w.Path), w.Failure)
				}
			}
		}
	}
	template(p.Output)
	fmt.Fprintf(&b, "order %v self %v\n", names(p.Graph.Order()), names(p.Graph.SelfCycles()))
	for _, u := range p.Unordered {
		fmt.Fprintf(&b, "unordered %s %s %s %s\n", p.Calls[u.A].Name, p.Calls[u.B].Name, p.Paths.String(u.PathA.ID), p.Paths.String(u.PathB.ID))
	}
	return sortedWriters(b.String())
}

// sortedWriters brings the writers of one call and path, which stand in the order
// in which paths were first named, into one that doesn't hang on it.
func sortedWriters(text string) string {
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); {
		end := i
		for end < len(lines) && strings.Contains(lines[end], " is written by ") {
			end++
		}
		slices.Sort(lines[i:end])
		i = max(end, i+1)
	}
	return strings.Join(lines, "\n")
}

func planOf(text string) *plan.Plan {
	p, _ := Compile(source.NewFile("plan.yaml", []byte(text)), Options{})
	return p
}

// LANGUAGE.md#instances: an instance's view binds like the plan without the calls of
// others, and compiling is the same each time.
func TestViewBindsAlone(t *testing.T) {
	const seed = 20261121
	targeted, cases := 0, amount.Of(250, 1000, 20_000)
	for i := range uint64(cases) {
		s := randomSketch(rand.New(rand.NewPCG(seed, i)))
		p := planOf(s.text(""))
		if p.Targeted() {
			targeted++
		}
		for _, id := range viewed {
			view := bind.ForInstance(p, id)
			want := binding(planOf(s.text(id)))
			if p.Root == nil {
				t.Fatalf("seed %d/%d: this can't be read:\n%s", seed, i, s.text(""))
			}
			if got := binding(view); got != want {
				t.Fatalf("seed %d/%d, instance %s:\n%s\nbinds\n%s\nand alone\n%s", seed, i, id, s.text(""), got, want)
			}
			if again := binding(bind.ForInstance(planOf(s.text("")), id)); again != binding(view) {
				t.Fatalf("seed %d/%d, instance %s: another time it binds differently", seed, i, id)
			}
			for _, call := range view.Calls {
				if p.Calls[call.Place].Name != call.Name || call.Instance != "" && call.Instance != id {
					t.Fatalf("seed %d/%d: %s at %d isn't a call of the view of %s", seed, i, call.Name, call.Place, id)
				}
			}
			if view.Full() != p {
				t.Fatalf("seed %d/%d: a view has another whole", seed, i)
			}
		}
	}
	if targeted < cases/2 {
		t.Fatalf("only %d plans had calls for single instances", targeted)
	}
}

// LANGUAGE.md#instances: instances that run the same calls share one plan.
func TestViewsAreShared(t *testing.T) {
	p := planOf("instances: {a: {}, b: {}, c: {stateSchema: {type: object}}}\ncalls: [{_tool: x}]")
	if bind.ForInstance(p, "a") != p || bind.ForInstance(p, "b") != p || bind.ForInstance(p, "unknown") != p || p.Targeted() {
		t.Error("a plan in which all calls are for all isn't its own view")
	}
	if c := bind.ForInstance(p, "c"); c == p || c.StateSchema == nil || p.StateSchema != nil || c.Calls[0] != p.Calls[0] || len(c.Instances) != 1 {
		t.Error("an instance's own state schema isn't in its view, or costs more than that")
	}
	p = planOf("instances: {a: {}, b: {}, c: {}}\ncalls: [{_tool: x}, {_tool: y, _instance: a}]")
	if bind.ForInstance(p, "a") != p {
		t.Error("the view from which nothing is left out isn't the plan")
	}
	if b := bind.ForInstance(p, "b"); b == p || b != bind.ForInstance(p, "c") || len(b.Calls) != 1 || len(b.Instances) != 2 {
		t.Error("instances without calls of their own don't share their view")
	}
}

// LANGUAGE.md#instances: a state message of an instance brings it a state and a schema.
func TestInstanceMessages(t *testing.T) {
	p := planOf(`
context:
  - {type: state, schema: {type: object}, text: shared}
  - {type: state, _instance: ①, text: mine, schema: {required: [text]}}
  - {type: state, _instance: ①, state: {more: 1}}
  - {type: input, _instance: ②, name: Jane}
calls: []`)
	if len(p.Instances) != 2 {
		t.Fatalf("instances: %v", p.Instances)
	}
	one, two := p.Instances[0], p.Instances[1]
	if got := fmt.Sprint(one.State, one.Input, two.State, two.Input); got != "map[more:1 text:mine] <nil> <nil> map[name:Jane]" {
		t.Errorf("values: %s", got)
	}
	if one.StateSchema == nil || two.StateSchema != nil || p.StateSchema == nil {
		t.Error("the schema of an instance's message isn't the instance's own")
	}
}
