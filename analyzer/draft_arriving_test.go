package analyzer

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/bind"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/label"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/policy"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// EXECUTION.md#the-planning-loop: each call of a solution that arrives, compiled and judged once, gets the verdict
// that compiling and judging all that has arrived by then gives it, in plans of one state
// and of several.
func TestEveryCallIsJudgedAsWithAllBeforeIt(t *testing.T) {
	count := map[string]int{}
	for seed := range amount.Of(100, 200, 40_000) {
		s := newSolution(uint64(seed))
		s.arrive(t, count)
	}
	t.Log(count)
	for _, kind := range []string{"held", "OB106", "OB303", "OB401", "OB405", "OB502", "OB504", "OB505", "OB508", "OB510", "OB511", "OB701", "free"} {
		if count[kind] == 0 {
			t.Errorf("no call is %s", kind)
		}
	}
}

// A solution of few paths, with the plan that it is for.
type solution struct {
	*rand.Rand
	seed    uint64
	setting compiler.Setting
	calls   []string
}

const arrivingPolicy = `
tools: {text: {output: {integrity: untrusted}}, list: {output: {confidentiality: secret}}}
rules:
- rule: trusted
  tool: [picky, anything]
  requires: {n: {integrity: trusted}, x: {integrity: trusted}}
  allows: {n: {integrity: trusted}}
  denies: {n: {integrity: untrusted}}
`

func newSolution(seed uint64) *solution {
	s := &solution{Rand: rand.New(rand.NewPCG(seed, 5)), seed: seed}
	text := `
tools:
  number: {type: object, properties: {_output: {type: number}}, additionalProperties: true}
  text: {type: object, properties: {_output: {type: string}, x: {type: string}}, additionalProperties: true}
  object: {type: object, properties: {_output: {type: object, properties: {k: {type: number}}, required: [k], additionalProperties: false}}, additionalProperties: true}
  list: {type: object, properties: {_output: {type: array, items: {type: number}}}, additionalProperties: true}
  anything: {additionalProperties: true}
  picky: {type: object, properties: {n: {type: number}, s: {type: string}}, required: [n]}
input: {size: 3, name: Jo}
calls: []
`
	if s.IntN(5) == 0 {
		text += "writes: once\n"
	}
	if s.IntN(3) == 0 {
		text += "stateSchema: {type: object, properties: {a: {type: number}, b: {type: object, properties: {k: {type: number}}}, c: {type: array, items: {type: number}}}}\n"
	}
	var options compiler.Options
	if s.seed%3 == 0 {
		options.Policies = []compiler.PolicyFile{{File: source.NewFile("policy.yaml", []byte(arrivingPolicy)), Counts: true}}
	}
	base, _ := compiler.Compile(source.NewFile("plan.yaml", []byte(text)), options)
	s.setting = compiler.Setting{Plan: base, Input: map[string]any{"size": 3.0, "name": "Jo"}, State: map[string]any{}, Paths: base.Paths.Clone()}
	for _, key := range []string{"a", "b", "c", "d"} {
		if s.IntN(3) > 0 {
			s.setting.State[key] = []any{1.0, "text", map[string]any{"k": 1.0}, []any{1.0}, nil}[s.IntN(5)]
		}
	}
	if s.IntN(4) == 0 {
		for _, id := range []string{"①", "②", "③"} {
			s.setting.Instances = append(s.setting.Instances, plan.Instance{ID: id, Values: plan.Values{State: s.setting.State}})
		}
		s.setting.Input, s.setting.State = nil, nil
	}
	if s.setting.Live = label.Beginning(base); s.seed%2 == 0 && s.setting.Live != nil {
		s.setting.Live.Write([]expression.Segment{{Key: "state"}, {Key: "b"}}, policy.Label{policy.Integrity: policy.Untrusted}, "a call")
		s.setting.Live.See(policy.Label{policy.Integrity: policy.Untrusted}, "a call")
	}
	for i := range 2 + s.IntN(9) {
		s.calls = append(s.calls, s.call(i))
	}
	return s
}

func pick[T any](s *solution, of ...T) T { return of[s.IntN(len(of))] }

func (s *solution) path() string {
	return pick(s, "a", "b", "c", "d", "e", "f", "b.k", "c[0]", "c[1]", "d.k", "b.k.m", "e.k", "е") // the last is Cyrillic
}

func (s *solution) reference() string {
	if s.IntN(6) == 0 {
		return pick(s, "†input.size", "†input.name", "†input.siez", "†state")
	}
	return "†state." + s.path()
}

func (s *solution) call(i int) string {
	call := map[string]any{"_tool": pick(s, "number", "text", "object", "list", "anything", "picky", "numbr")}
	if call["_tool"] == "picky" {
		call["n"] = pick[any](s, 1, "one", s.reference())
		if s.IntN(3) == 0 {
			delete(call, "n")
		}
		if s.IntN(3) == 0 {
			call["s"] = s.reference()
		}
	} else if s.IntN(2) == 0 {
		call["x"] = pick(s, s.reference(), s.reference()+" || "+s.reference(), s.reference()+" || 1", s.reference()+" + 1")
		if s.IntN(30) == 0 {
			call["x"] = "†(state.a"
		}
	}
	if s.IntN(5) > 0 {
		call["_outputPath"] = pick(s, s.path(), s.path(), s.path()+" || "+s.path(), s.path()+" && "+s.path())
		if s.IntN(30) == 0 {
			call["_outputPath"] = "†input.size"
		}
		if s.IntN(3) == 0 {
			call["_outputMethod"] = pick(s, "push", "merge", "assign", "concat")
		}
	}
	if s.IntN(5) == 0 {
		call["_when"] = pick(s, s.reference()+" == 1", s.reference()+" > 2", s.reference(), s.reference()+` == "x"`)
	}
	if s.IntN(4) == 0 {
		call["_id"] = fmt.Sprint("id", s.IntN(8))
		if s.IntN(6) == 0 {
			call["_id"] = fmt.Sprint("number#", 1+s.IntN(6))
		}
	}
	if s.IntN(6) == 0 {
		call["_after"] = []string{fmt.Sprint("id", s.IntN(8))}
	}
	if len(s.setting.Instances) > 0 && s.IntN(3) == 0 {
		call["_instance"] = pick(s, "①", "②", "④")
	}
	text, _ := json.Marshal(call)
	if s.IntN(20) == 0 {
		return pick(s, `7`, strings.TrimSuffix(string(text), "}")+`,"x":1,"x":2}`, `{"tool":"number"}`)
	}
	return string(text)
}

// loose is what a run says of a call that reads what may still be written.
func loose(p *plan.Plan) func(*plan.Call) bool {
	return func(call *plan.Call) bool {
		return slices.ContainsFunc(call.Reads, func(i int) bool {
			r := &p.Reads[i]
			return p.Paths.Kind(r.Path) == "state" && (p.Writes == plan.Once || r.Bound == plan.Later || r.Bound == plan.Initial && !r.Start)
		})
	}
}

func (s *solution) arrive(t *testing.T, count map[string]int) {
	t.Helper()
	text := []byte(`{"calls":[`)
	ids := []string{""}
	if len(s.setting.Instances) > 0 {
		ids = []string{"①", "②", "③"}
	}
	drafts := map[string]*Draft{}
	for k, call := range s.calls {
		if k > 0 {
			text = append(text, ',')
		}
		text = append(text, call...)
		p, found := s.setting.Solve(source.NewFile("solution.json", append(slices.Clone(text), "]}"...)), compiler.Options{})
		for _, id := range ids {
			prefix, before := bind.ForInstance(p, id), drafts[id]
			i := len(prefix.Calls) - 1
			if i < 0 || before != nil && i < len(before.held) {
				continue
			}
			d := Arriving(prefix, found, nil, before, loose(prefix))
			drafts[id] = d
			isLoose := loose(prefix)
			isHeld := func(call *plan.Call) bool { return isLoose(call) || call.Index < i && d.held[call.Index] } // what is held stays so
			got, want := verdict(d, i), verdict(screenPrefix(prefix, found, isHeld), i)
			if got != want {
				t.Fatalf("seed %d, instance %q: %s\nis judged %s,\nand with all before it %s\nstate %v, writes %v, schema %v", s.seed, id, append(slices.Clone(text), "]}"...), got, want, s.setting.State, p.Writes, p.StateSchema != nil)
			}
			if all := Arriving(prefix, found, nil, nil, isHeld); verdict(all, i) != want {
				t.Fatalf("seed %d, instance %q: %s\nis judged %s with all that comes with it,\nand alone %s", s.seed, id, append(slices.Clone(text), "]}"...), verdict(all, i), want)
			}
			count[strings.SplitN(want, " ", 2)[0]]++
		}
	}
	for id, d := range drafts {
		for i := range d.held {
			if all := Arriving(d.plan, nil, nil, nil, func(call *plan.Call) bool { return d.held[call.Index] }); len(d.faults[i]) == 0 && verdict(all, i) != verdict(d, i) {
				t.Fatalf("seed %d, instance %q: %s\ncall %d is judged %s with those that come after it,\nand alone %s", s.seed, id, text, i, verdict(all, i), verdict(d, i))
			}
		}
	}
}

// verdict writes out what is held against a call.
func verdict(d *Draft, call int) string {
	if d.held[call] {
		return "held"
	}
	if len(d.faults[call]) == 0 {
		return "free"
	}
	var all []string
	for _, f := range d.faults[call] {
		all = append(all, fmt.Sprintf("%s %s (%s) at %d", f.Rule.Code, f.Message, f.Help, f.Span.Start))
		for _, note := range f.Related {
			all = append(all, fmt.Sprintf("  %s at %d", note.Message, note.Span.Start))
		}
	}
	return strings.Join(all, "\n")
}

// screenPrefix judges all of what has arrived of a solution anew.
func screenPrefix(p *plan.Plan, found []diag.Diagnostic, overApproximate func(call *plan.Call) bool) *Draft {
	d := &Draft{plan: p, complete: true, faults: make([][]diag.Diagnostic, len(p.Calls)), held: make([]bool, len(p.Calls))}
	found = about(p, found)
	for i, call := range p.Calls {
		d.held[i] = overApproximate(call)
	}
	for i := range found {
		if found[i].Rule == diag.UnknownCall {
			if call := d.callIn(found[i].Span); call != nil {
				d.held[call.Index] = true
			}
		}
	}
	joins := func(call *plan.Call) bool {
		for alternative, route := range call.Output {
			for _, path := range route {
				for _, w := range p.Writers(path.ID) {
					if int(w.Call) < call.Index && d.held[w.Call] && !(alternative == call.FailureRoute() && w.Failure) {
						return true
					}
				}
			}
		}
		return false
	}
	for i, call := range p.Calls {
		d.held[i] = d.held[i] || slices.ContainsFunc(call.After, func(other plan.After) bool { return other.ByTool || other.Call >= i }) ||
			slices.ContainsFunc(p.Graph.Deps(i), func(dep int32) bool { return d.held[dep] }) || p.Writes != plan.Once && joins(call)
	}
	pass := newScreening(p)
	pass.Held = func(call int) bool { return d.held[call] }
	d.screen(pass, found)
	return d
}

// LANGUAGE.md#two-writers-of-one-path: calls of which it can't be decided whether they conflict run as listed,
// also where they arrive one after the other.
func TestArrivingDoubtsAreOrdered(t *testing.T) {
	base, _ := compiler.Compile(source.NewFile("plan.yaml", []byte("input: {text: abc}\nstate: {v: 1}\ncalls: []\n")), compiler.Options{})
	setting := compiler.Setting{Plan: base, Paths: base.Paths.Clone(), Input: map[string]any{"text": "abc"}}
	calls := []string{
		`{"_tool":"a","_when":"†(fromJSON(†input.text).a > 2)","_outputPath":"p"}`,
		`{"_tool":"b","_when":"†(fromJSON(†input.text).b > 2)","_outputPath":"p"}`,
		`{"_tool":"c","_when":"†(fromJSON(†input.text).a <= 2)","_outputPath":"q"}`,
	}
	text := []byte(`{"calls":[`)
	var d *Draft
	for i, call := range calls {
		text = append(text, ","[:min(i, 1)]...)
		text = append(text, call...)
		p, found := setting.Solve(source.NewFile("solution.json", append(slices.Clone(text), "]}"...)), compiler.Options{})
		d = Arriving(p, found, nil, d, loose(p))
	}
	setting.Paths = base.Paths.Clone()
	full, found := setting.Solve(source.NewFile("solution.json", append(slices.Clone(text), "]}"...)), compiler.Options{})
	for name, d := range map[string]*Draft{"arriving": d, "whole": Screen(full, found, nil, nil)} {
		for i, want := range []string{"[]", "[0]", "[]"} {
			call := d.Plan().Calls[i]
			if got := fmt.Sprint(call.Waits); got != want || len(d.Faults(i)) > 0 {
				t.Errorf("%s: %s waits for %s, want %s; %v", name, call.Name, got, want, d.Faults(i))
			}
		}
	}
}
