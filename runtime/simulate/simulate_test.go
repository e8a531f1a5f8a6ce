package simulate_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/simulate"
	"github.com/obelus-dev/obelus/testdata/amount"
)

func verified(t *testing.T, plan string) *analyzer.Simulation {
	t.Helper()
	p, found := compiler.Compile(source.NewFile("plan.yaml", []byte(plan)), compiler.Options{})
	analysis := analyzer.Analyze(p, found, analyzer.Config{})
	v, found := analysis.Verified, analysis.Findings
	if v == nil {
		t.Fatalf("%s: %s", found[0].Rule.Code, found[0].Message)
	}
	return v.Simulation()
}

const trip = `
tools:
  flight: {type: object, properties: {_output: {type: object, properties: {price: {type: number, minimum: 10, maximum: 90}}, required: [price]}}, x-simulate: {duration: 2s, cost: 0.5}}
  hotel: {type: object, properties: {_output: {type: string}}, _mock: Ritz, x-simulate: {duration: {p50: 3s, p95: 6s}}}
  book: {type: object, properties: {price: {type: number}, hotel: {type: string}, _output: {type: string}}, x-simulate: {duration: 1s, failure: 0.5}}
  mail: {type: object, properties: {text: {}}}
calls:
- {_tool: flight, _outputPath: flight}
- {_tool: hotel, _outputPath: hotel}
- {_tool: book, price: †state.flight.price, hotel: †state.hotel, _outputPath: receipt || fault}
- {_tool: mail, text: †state.receipt}
- {_tool: mail, text: †state.fault.message}
output: '†state.receipt || †state.fault.code'
`

// tell writes a scenario with all its numbers.
func tell(s *simulate.Scenario) string {
	var b strings.Builder
	fmt.Fprintln(&b, s.Outcome.Status, s.Makespan, s.LowerBound, s.Work, s.Cost, s.CriticalPath, s.Peak, s.Outcome.State)
	for _, c := range s.Calls {
		fmt.Fprintln(&b, c.Call.Name, c.Status, c.From, c.To, c.Busy, c.Attempts, c.Reason)
	}
	return b.String()
}

// EXECUTION.md#simulation: the same seed gives the same simulation to the byte, another seed
// another; times and costs are what the tools say.
func TestSimulation(t *testing.T) {
	v := verified(t, trip)
	first := simulate.Run(v, simulate.Options{Seed: 7})
	if again := simulate.Run(v, simulate.Options{Seed: 7}); tell(again) != tell(first) {
		t.Errorf("the same seed gave\n%s\nand\n%s", tell(first), tell(again))
	}
	outcomes := map[string]bool{}
	for seed := range uint64(30) {
		s := simulate.Run(v, simulate.Options{Seed: seed})
		outcomes[s.Calls[2].Status.String()] = true
		flight := s.Outcome.State.(map[string]any)["flight"].(map[string]any)["price"].(float64)
		if flight < 10 || flight > 90 || s.Outcome.State.(map[string]any)["hotel"] != "Ritz" {
			t.Errorf("seed %d made up %v", seed, s.Outcome.State)
		}
		if s.Cost != 0.5 || s.Calls[0].Busy != 2*time.Second || s.Outcome.Status != "done" {
			t.Errorf("seed %d: cost %v, flight took %v, %s", seed, s.Cost, s.Calls[0].Busy, s.Outcome.Status)
		}
		if s.Makespan < s.LowerBound || s.LowerBound < s.Calls[1].Busy+time.Second {
			t.Errorf("seed %d: makespan %v, lower bound %v", seed, s.Makespan, s.LowerBound)
		}
	}
	if !outcomes["done"] || !outcomes["failed"] {
		t.Errorf("at a failure rate of a half, 30 bookings were all %v", outcomes)
	}
}

// EXECUTION.md#simulation: the critical path is the longest chain of work, and a makespan without
// waiting is its length.
func TestCriticalPath(t *testing.T) {
	certain := strings.NewReplacer("failure: 0.5", "failure: 0", "{p50: 3s, p95: 6s}", "3s").Replace(trip)
	s := simulate.Run(verified(t, certain), simulate.Options{Seed: 1})
	if want := s.Calls[1].Busy + time.Second + 100*time.Millisecond; s.Makespan != want || s.Critical != want {
		t.Errorf("makespan %v, critical path %v, want %v", s.Makespan, s.Critical, want)
	}
	if !reflect.DeepEqual(s.CriticalPath, []int{1, 2, 3}) {
		t.Errorf("critical path %v", s.CriticalPath)
	}
	one := simulate.Run(verified(t, trip), simulate.Options{Seed: 1, Options: runtime.Options{Parallel: 1}})
	if one.Makespan != one.Work || one.LowerBound != one.Work || one.Peak != 1 {
		t.Errorf("one at a time: makespan %v, bound %v, work %v, peak %d", one.Makespan, one.LowerBound, one.Work, one.Peak)
	}
}

// EXECUTION.md#simulation: --fail makes a tool, or one call, fail every time.
func TestFail(t *testing.T) {
	v := verified(t, trip)
	s := simulate.Run(v, simulate.Options{Seed: 1, Fail: []string{"book"}})
	if s.Calls[2].Status != runtime.Failed || !s.Calls[2].Routed || s.Outcome.Output != "error" || s.Calls[3].Status != runtime.Skipped {
		t.Errorf("%s", tell(s))
	}
	s = simulate.Run(v, simulate.Options{Seed: 1, Fail: []string{"mail#4", "mail#5"}})
	if s.Outcome.Status != "failed" || len(s.Outcome.Errors) != 1 {
		t.Errorf("%s", tell(s))
	}
}

// EXECUTION.md#order-of-calls: schedules differ, states don't; time-outs run on the virtual
// clock.
func TestSchedules(t *testing.T) {
	v := verified(t, `
tools:
  work: {type: object, additionalProperties: true, properties: {_output: {type: integer}}, x-simulate: {duration: {p50: 1s, p95: 9s}}}
calls:
- {_tool: work, _outputPath: list, _outputMethod: push}
- {_tool: work, _outputPath: list, _outputMethod: push}
- {_tool: work, _outputPath: list, _outputMethod: push}
- {_tool: work, all: †state.list, _outputPath: sum}
- {_tool: work, _timeout: 1ms, _outputPath: late || fault}
`)
	makespans := map[time.Duration]bool{}
	var state any
	for n := range 40 {
		s := simulate.Run(v, simulate.Options{Seed: 3, Schedule: n})
		makespans[s.Makespan] = true
		if state == nil {
			state = s.Outcome.State
		} else if !reflect.DeepEqual(state, s.Outcome.State) {
			t.Fatalf("schedule %d ends in %v, schedule 0 in %v", n, s.Outcome.State, state)
		}
		if fault := s.Outcome.State.(map[string]any)["fault"].(map[string]any); fault["code"] != "timeout" {
			t.Errorf("schedule %d: %v", n, fault)
		}
	}
	if len(makespans) < 20 {
		t.Errorf("40 schedules have %d makespans", len(makespans))
	}
}

// EXECUTION.md#simulation: a mock that names its alternative takes it.
func TestMockNamesItsAlternative(t *testing.T) {
	s := simulate.Run(verified(t, `
tools: {ask: {type: object, _mock: {_outputPath: no, _output: 3}}}
calls: [{_tool: ask, _outputPath: yes || no || error}]
`), simulate.Options{})
	if want := any(map[string]any{"no": 3.0}); !reflect.DeepEqual(s.Outcome.State, want) {
		t.Errorf("state %v, want %v", s.Outcome.State, want)
	}
}

// LANGUAGE.md#findings: a schedule replays exactly, and a plan whose writes conflict ends in two
// states under two of them.
func TestReplay(t *testing.T) {
	p, found := compiler.Compile(source.NewFile("plan.yaml", []byte(`
calls:
- {_id: first, _tool: t, _outputPath: base}
- {_id: left, _tool: t, x: †state.base, _outputPath: x || fault}
- {_id: right, _tool: t, _outputPath: x}
- {_id: after, _tool: t, x: †state.x, _outputPath: x}
`)), compiler.Options{Functions: []string{"t"}})
	found = analyzer.Analyze(p, found, analyzer.Config{}).Findings
	r := analyzer.Simulate(p, found)
	if r == nil || !r.Conflicts() {
		t.Fatalf("expected OB401 and nothing else: %v", found)
	}
	end := func(call, path string, output any) analyzer.ScheduledEnd {
		return analyzer.ScheduledEnd{Call: call, Output: output, Path: path}
	}
	for _, c := range []struct {
		events []analyzer.ScheduledEnd
		want   string
	}{
		{[]analyzer.ScheduledEnd{end("first", "", 1.0), end("left", "x", "l"), end("right", "", "r")}, "map[base:1 x:r]"},
		{[]analyzer.ScheduledEnd{end("right", "", "r"), end("first", "", 1.0), end("left", "x", "l")}, "map[base:1 x:l]"},
		{[]analyzer.ScheduledEnd{end("right", "", "r"), end("first", "", 1.0), end("left", "fault", "l")}, "map[base:1 fault:l x:r]"},
	} {
		s, err := simulate.Replay(r, analyzer.Schedule{Events: c.events}, simulate.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(s.Outcome.State); got != c.want || s.Calls[3].Status != runtime.Failed {
			t.Errorf("got %s, want %s\n%s", got, c.want, tell(s))
		}
	}
	if _, err := simulate.Replay(r, analyzer.Schedule{Events: []analyzer.ScheduledEnd{end("left", "x", 1.0)}}, simulate.Options{}); err == nil {
		t.Error("a call that waits was ended")
	}
}

// EXECUTION.md#simulation: of calls one after the other all is the critical path, tries that fail and the pauses
// between them included.
func TestPausesAreOnTheCriticalPath(t *testing.T) {
	failing := 0
	for seed := range uint64(amount.Of(20, 50, 500)) {
		s := simulate.Run(verified(t, `
calls:
  - {_id: a, _tool: wait, _retry: {attempts: 4, backoff: 7s}, _outputPath: a || noA}
  - {_id: b, _tool: wait, _after: {settled: [a]}, _retry: {attempts: 3, backoff: 1s}, _outputPath: b || noB}
tools:
  wait: {type: object, properties: {_output: {type: string}}, annotations: {idempotentHint: true}, x-simulate: {duration: {p50: 2s, p95: 5s}, failure: 0.6}}
`), simulate.Options{Seed: seed})
		if s.Critical != s.Makespan || s.LowerBound != s.Makespan {
			t.Errorf("seed %d: a critical path of %v and at least %v of %v", seed, s.Critical, s.LowerBound, s.Makespan)
		}
		if s.Calls[0].Paused > 0 {
			failing++
		}
	}
	if failing == 0 {
		t.Error("no try failed")
	}
}

// EXECUTION.md#simulation: the critical path is made of what calls have waited for, so that nothing bounds a
// simulation from below by more than it took: of "a || b", of "??" and of conditions not what
// they could do without. Where every call has a place at once it is as long as the whole.
func TestCriticalPathIsOfWhatWasWaitedFor(t *testing.T) {
	early := 0
	for n := range amount.Of(75, 500, 10_000) {
		random := rand.New(rand.NewPCG(uint64(n), 15))
		text, _ := branching(random, 9, true)
		head, calls, _ := strings.Cut(text, "calls:\n")
		lines := strings.Split(calls, "\n")
		for i := range lines {
			more, ok := strings.CutPrefix(lines[i], "- {")
			if !ok {
				break
			}
			after := ""
			if i > 0 {
				after = []string{"_after: [c%d], ", "_after: {settled: [c%d]}, ", "", "", "", ""}[random.IntN(6)]
			}
			if after != "" {
				after = fmt.Sprintf(after, random.IntN(i))
			}
			if lines[i] = fmt.Sprintf("- {_id: c%d, %s%s", i, after, more); random.IntN(2) == 0 {
				lines[i] = strings.Replace(lines[i], "of: '†", "of: '†state.none ?? †", 1)
			}
		}
		text = head + "calls:\n" + strings.Join(lines, "\n")
		p, found := compiler.Compile(source.NewFile("plan.yaml", []byte(text)), compiler.Options{})
		j := analyzer.Analyze(p, found, analyzer.Config{})
		if j.Verified == nil {
			continue
		}
		for schedule := range 3 {
			o := simulate.Options{Seed: uint64(n), Schedule: schedule + 1, Options: runtime.Options{Parallel: 1 << 20}}
			s := simulate.Run(j.Verified.Simulation(), o)
			if s.Critical != s.Makespan || s.LowerBound != s.Makespan {
				t.Fatalf("plan %d, schedule %d: a critical path of %v and at least %v of %v\n%s\n%s", n, o.Schedule, s.Critical, s.LowerBound, s.Makespan, tell(s), text)
			}
			ended := map[int32]time.Duration{}
			for _, c := range s.Calls {
				if c.Under == "" {
					ended[int32(c.Call.Index)] = c.To
				}
			}
			for _, c := range s.Calls {
				if c.Started && c.Under == "" && slices.ContainsFunc(p.Graph.Deps(c.Call.Index), func(d int32) bool { return c.From < ended[d] }) {
					early++
				}
			}
			o.Parallel = 2
			if s = simulate.Run(j.Verified.Simulation(), o); s.Critical > s.LowerBound || s.LowerBound > s.Makespan {
				t.Fatalf("plan %d, schedule %d, two at a time: a critical path of %v and at least %v of %v\n%s\n%s", n, o.Schedule, s.Critical, s.LowerBound, s.Makespan, tell(s), text)
			}
		}
	}
	if early < 20 {
		t.Errorf("only %d calls began before all was there that they name", early)
	}
}
