package runtime_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// A stone is one step of a straight plan: it reads what steps before it gave, or
// an input.
type stone struct {
	name  string
	tells map[string]any // literal parameters
	reads map[string]read
}

type read struct{ of, below string }

func straight(r *rand.Rand) []stone {
	known := []string{"size", "user"}
	var steps []stone
	for i := range 3 + r.IntN(10) {
		s := stone{name: fmt.Sprint("v", i), reads: map[string]read{}}
		s.tells = map[string]any{"seed": float64(r.IntN(1000)), "shape": []string{"object", "list", "number", "text", "nothing"}[r.IntN(5)]}
		if r.IntN(4) == 0 {
			s.tells["fails"] = 1.0
		}
		for k := range r.IntN(4) {
			s.reads[fmt.Sprint("from", k)] = read{known[r.IntN(len(known))], []string{"", "", ".name", "[0].city", ".tags[0]"}[r.IntN(5)]}
		}
		steps, known = append(steps, s), append(known, s.name)
	}
	return steps
}

// A mason writes a straight plan down, with pieces of it in delegates.
type mason struct {
	*rand.Rand
	files map[string][]byte
}

// plan writes steps into a document: what it is given from outside is its input.
func (m *mason) plan(steps []stone, given []string, deep int) map[string]any {
	places, tools := map[string]string{}, toolDefinitions()
	for _, name := range given {
		places[name] = "†input." + name
	}
	var calls []any
	for len(steps) > 0 {
		if deep == 0 || m.IntN(3) > 0 {
			calls = append(calls, steps[0].call(places))
			steps = steps[1:]
			continue
		}
		n := 1 + m.IntN(len(steps))
		calls = append(calls, m.delegate(steps[:n], places, tools, deep))
		steps = steps[n:]
	}
	output := map[string]any{}
	for name, place := range places {
		output[name] = place
	}
	return map[string]any{"plan": "straight", "tools": tools, "calls": calls, "output": output}
}

// delegate writes steps into a plan of their own, and the call that runs it.
func (m *mason) delegate(steps []stone, places map[string]string, tools map[string]any, deep int) map[string]any {
	call, given := map[string]any{}, map[string]bool{}
	for _, s := range steps {
		for _, from := range s.reads {
			if place, outside := places[from.of]; outside {
				call[from.of], given[from.of] = place, true
			}
		}
	}
	name := fmt.Sprint("part", len(m.files))
	file := name + ".yaml"
	m.files[file] = nil // the name is taken
	doc := m.plan(steps, slices.Sorted(maps.Keys(given)), deep-1)
	text, err := json.Marshal(doc)
	if err != nil {
		panic(err)
	}
	m.files[file] = text
	tools[name] = map[string]any{"type": "object", "additionalProperties": true, "_delegate": file}
	call["_tool"], call["_id"], call["_outputPath"] = name, name, name
	for _, s := range steps {
		places[s.name] = "†state." + name + "." + s.name
	}
	return call
}

func (s stone) call(places map[string]string) map[string]any {
	call := map[string]any{"_tool": "fetch", "_id": s.name, "_outputPath": s.name, "_retry": map[string]any{"attempts": 2.0}}
	maps.Copy(call, s.tells)
	for param, from := range s.reads {
		call[param] = places[from.of] + from.below
		if from.below != "" {
			call[param] = places[from.of] + from.below + " || 0"
		}
	}
	places[s.name] = "†state." + s.name
	return call
}

func (m *mason) open(name string) ([]byte, error) {
	if text := m.files[name]; text != nil {
		return text, nil
	}
	return nil, os.ErrNotExist
}

// A plan with pieces in delegates, nested ones too, does what it does with these
// written out: the same calls with the same parameters, and the same output; also
// for several instances side by side, in ticks, and with kills and stops.
func TestDelegatesInlined(t *testing.T) {
	t.Parallel()
	plans, count := amount.Of(12, 50, 5000), map[string]int{}
	for n := range plans {
		r := rand.New(rand.NewPCG(uint64(n), 15))
		steps, ids := straight(r), []string{"①", "②", "③"}[:r.IntN(4)]
		planned := r.IntN(2) == 0
		written := func(deep int, seed uint64) (map[string]bool, any) {
			m := &mason{rand.New(rand.NewPCG(seed, uint64(n))), map[string][]byte{}}
			doc := m.plan(steps, []string{"size", "user"}, deep)
			doc["input"] = map[string]any{"size": 3.0, "user": map[string]any{"name": "ann", "tags": []any{"x"}}}
			if len(ids) > 0 {
				instances := map[string]any{}
				for i, id := range ids {
					instances[id] = map[string]any{"input": map[string]any{"size": float64(i)}}
				}
				doc["instances"] = instances
			}
			count["delegates"] += len(m.files)
			return m.run(t, n, doc, planned, seed)
		}
		calls, output := written(0, 0)
		for seed := uint64(1); seed < 4; seed++ {
			got, same := written(3, seed)
			if !maps.Equal(got, calls) || inJSON(same) != inJSON(output) {
				t.Fatalf("plan %d, seed %d: with delegates\n%s\n%s\nand without\n%s\n%s", n, seed, inJSON(got), inJSON(same), inJSON(calls), inJSON(output))
			}
		}
	}
	t.Logf("%d plans, with %d delegates", plans, count["delegates"])
}

// run gives the calls that ran, with their parameters, and the output; of each
// instance, if there are any.
func (m *mason) run(t *testing.T, n int, doc map[string]any, planned bool, seed uint64) (map[string]bool, any) {
	r := &simulator{t: t, act: perform, order: rand.New(rand.NewPCG(seed, uint64(n))), kills: int(seed), stops: int(seed)}
	r.options = runtime.Options{Planned: planned, Parallel: int(seed) % 3}
	if planned {
		r.solutions = []string{fmt.Sprintf(`{"calls":%s,"output":%s}`, inJSON(doc["calls"]), inJSON(doc["output"]))}
		doc["calls"] = []any{}
		delete(doc, "output")
	}
	var why string
	if r.verified, why = m.compile(t, doc); r.verified == nil {
		t.Fatalf("plan %d, seed %d: %s\n%s\n%s", n, seed, why, inJSON(doc), m.files)
	}
	ran := map[string]bool{}
	r.checks = func(c runtime.Command) { ran[c.Instance+" "+c.Of.Name+" "+inJSON(c.Params)] = true }
	out := r.run()
	if out.Status != "done" {
		t.Fatalf("plan %d, seed %d: %s: %s\n%s", n, seed, out.Status, out.Reason, inJSON(doc))
	}
	if out.Instances == nil {
		return ran, out.Output
	}
	outputs := map[string]any{}
	for _, one := range out.Instances {
		outputs[one.ID] = one.Output
	}
	return ran, outputs
}

func (m *mason) compile(t *testing.T, doc map[string]any) (*analyzer.Verified, string) {
	return compileWith(t, doc, compiler.Options{Functions: toolNames, Open: m.open, Name: "plan.json"})
}

// Whatever fails in delegates, and whatever people say of their calls, every
// schedule, kill and stop ends alike; so does what the failure of a delegate is.
func TestDelegatesEndAlike(t *testing.T) {
	t.Parallel()
	plans, count := amount.Of(25, 120, 5000), map[string]int{}
	for n := range plans {
		r := rand.New(rand.NewPCG(uint64(n), 18))
		m := &mason{r, map[string][]byte{}}
		doc := m.plan(straight(r), []string{"size", "user"}, 3)
		doc["input"] = map[string]any{"size": 3.0, "user": map[string]any{"name": "ann", "tags": []any{"x"}}}
		for _, one := range doc["calls"].([]any) {
			if call := one.(map[string]any); r.IntN(2) == 0 {
				call["_outputPath"] = fmt.Sprintf("%s || trouble.%s", call["_outputPath"], call["_id"])
			}
		}
		v, why := m.compile(t, doc)
		if v == nil {
			t.Fatalf("plan %d: %s\n%s\n%s", n, why, inJSON(doc), m.files)
		}
		var want map[string]any
		for seed := range uint64(5) {
			r := &simulator{
				t: t, verified: v, act: unlucky(uint64(n)), decide: moodyOf(uint64(n)), order: rand.New(rand.NewPCG(seed, uint64(n))), kills: int(seed) % 3, stops: int(seed) / 2,
			}
			r.options = runtime.Options{Parallel: int(seed) % 3}
			if n%2 == 0 {
				r.options.Confirm.Policy = runtime.Always
			}
			r.run()
			got := r.ending()
			if seed == 0 {
				want = got
				count[string(r.out.Status)]++
			}
			if differs := difference(got, want); differs != "" {
				t.Fatalf("plan %d, seed %d, of\n%s\n%s\n%s", n, seed, inJSON(doc), m.files, differs)
			}
		}
	}
	t.Logf("%d plans: %v", plans, count)
}
