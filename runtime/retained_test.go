package runtime

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/source"
)

// Of ten thousand instances that have left, delegates and calls of their own
// included, a machine holds what they came to, and no more.
func TestInstancesThatLeftAreForgotten(t *testing.T) {
	const instances = 10_000
	var plan strings.Builder
	plan.WriteString("input: {size: 1}\nstateSchema: {type: object, properties: {n: {type: number}, list: {}}}\nstate: {list: [1, 2, 3]}\ncalls:\n" +
		"- {_id: one, _tool: f, n: †state.n, size: †input.size, _outputPath: one}\n" +
		"- {_id: two, _tool: f, n: †state.one, _when: †state.n >= 0, _retry: {attempts: 2}, _outputPath: two || trouble}\n" +
		"- {_id: part, _tool: part, n: †state.two, _delegate: part.yaml, _timeout: 5s, _outputPath: three}\n")
	for i := range instances {
		if i%100 == 0 {
			fmt.Fprintf(&plan, "- {_id: own%d, _tool: f, n: †state.three, _instance: i%d, _outputPath: four}\n", i, i)
		}
	}
	plan.WriteString("output: †state.three\n")
	p, found := compiler.Compile(source.NewFile("plan.yaml", []byte(plan.String())), compiler.Options{
		Functions: []string{"f"}, Instances: true, Open: func(name string) ([]byte, error) {
			if name != "part.yaml" {
				return nil, os.ErrNotExist
			}
			return []byte("calls: [{_tool: f, n: †input.n, _outputPath: out}]\noutput: †state.out\n"), nil
		},
	})
	analysis := analyzer.Analyze(p, found, analyzer.Config{})
	v, found := analysis.Verified, analysis.Findings
	if v == nil {
		t.Fatal(found)
	}
	m := New(v, Options{Joining: true, Parallel: 50})
	events, joined, most := []Event{{Kind: RunBegan}}, 0, 0
	var outcome *Outcome
	for outcome == nil {
		e := events[0]
		events = events[1:]
		for _, c := range m.Step(e) {
			switch c.Kind {
			case Join:
				e := Event{Kind: Joined}
				for ; len(e.Instances) < c.Count && joined < instances; joined++ {
					e.Instances = append(e.Instances, Instance{ID: fmt.Sprint("i", joined), State: map[string]any{"n": float64(joined)}})
				}
				e.Last = joined == instances
				events = append(events, e)
			case Start:
				e := Event{Kind: Ended, Try: c.Try, Route: -1, Value: c.Params["n"]}
				if n, _ := e.Value.(float64); c.Of.Name == "two" && int(n)%7 == 0 {
					e.Value, e.Failure = nil, &Failure{Code: "error", Message: "broken"}
				}
				events = append(events, e)
			case SetTimer:
				if m.Status(c.Try) == Pausing {
					events = append(events, Event{Kind: Fired, Try: c.Try})
				}
			case Leave:
				most = max(most, m.instances.working)
			case Finish:
				outcome = c.Outcome
			}
		}
	}
	if len(outcome.Instances) != instances {
		t.Fatalf("%d instances have left", len(outcome.Instances))
	}
	if most > 100 {
		t.Errorf("%d instances were at work at once", most)
	}
	held := reachable(m)
	t.Logf("at most %d at work; held at the end: %v", most, held)
	for kind, bound := range map[string]int{"*runtime.frame": 0, "*state.Log": 0, "*resolve.Program": 3, "*compiler.Plan": 4, "*runtime.particulars": 0} {
		if held[kind] > bound {
			t.Errorf("the machine holds %d %s, expected at most %d", held[kind], kind, bound)
		}
	}
}

// reachable counts what can be reached from a machine, by type: also what stands
// in slices beyond their length.
func reachable(m *Machine) map[string]int {
	type place struct {
		at  uintptr
		typ reflect.Type
	}
	seen, count := map[place]bool{}, map[string]int{}
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Pointer:
			if v.IsNil() || seen[place{v.Pointer(), v.Type()}] {
				return
			}
			seen[place{v.Pointer(), v.Type()}] = true
			count[v.Type().String()]++
			if v.Type().String() != "*compiler.Plan" && v.Type().String() != "*compiler.Call" {
				walk(v.Elem())
			}
		case reflect.Interface:
			if !v.IsNil() {
				walk(v.Elem())
			}
		case reflect.Struct:
			for i := range v.NumField() {
				walk(v.Field(i))
			}
		case reflect.Map:
			for entries := v.MapRange(); entries.Next(); {
				walk(entries.Key())
				walk(entries.Value())
			}
		case reflect.Slice:
			if k := v.Type().Elem().Kind(); k != reflect.Uint8 && k != reflect.Int32 {
				whole := v.Slice(0, v.Cap())
				for i := range whole.Len() {
					walk(whole.Index(i))
				}
			}
		}
	}
	walk(reflect.ValueOf(m))
	return count
}
