package runtime

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/source"
)

// EXECUTION.md#order-of-calls: a try holds its place until it has ended, also after its time-out and
// that of the calls that delegate to it: never are more at work than limits.parallel,
// a call isn't tried again nor settled beside its own try, and the run comes to its
// end, also when it is killed in the middle and resumed. So it is in whichever order
// tries end and timers run out.
func TestTriesHoldTheirPlaces(t *testing.T) {
	overdue := 0
	for seed := range uint64(300) {
		chance := rand.New(rand.NewPCG(seed, 8))
		v := overduePlan(t, chance)
		h := &holder{t: t, seed: seed, m: New(v, Options{}), parallel: v.Plan().Limits.Parallel, chance: chance, atWork: map[string]Event{}}
		h.take(h.m.Step(Event{Kind: RunBegan}))
		for h.outcome == nil && len(h.coming) > 0 {
			h.next()
		}
		if h.outcome == nil || h.outcome.Status == "stopped" {
			t.Fatalf("seed %d: the run has no end: %+v", seed, h.outcome)
		}
		overdue += h.overdue
	}
	t.Logf("%d tries were given up", overdue)
	if overdue < 300 {
		t.Errorf("only %d tries were given up: this shows too little", overdue)
	}
}

// overduePlan is a plan whose calls and delegates have time-outs and further tries.
func overduePlan(t *testing.T, chance *rand.Rand) *analyzer.Verified {
	t.Helper()
	extras := func() string {
		text := ""
		if chance.IntN(3) > 0 {
			text += ", _timeout: 1s"
		}
		if chance.IntN(2) == 0 {
			text += fmt.Sprintf(", _retry: {attempts: %d, backoff: 1ms}", 2+chance.IntN(2))
		}
		return text
	}
	calls := func(depth int) string {
		text := ""
		for i := range 1 + chance.IntN(4) {
			by, reads := "", ""
			if depth > 0 && chance.IntN(2) == 0 {
				by = fmt.Sprintf(", _delegate: d%d.yaml", depth)
			}
			if i > 0 && chance.IntN(2) == 0 {
				reads = fmt.Sprintf(", x: †state.p%d || †state.e%d", i-1, i-1)
			}
			text += fmt.Sprintf("- {_id: c%d, _tool: work%s%s%s, _outputPath: p%d || e%d}\n", i, by, reads, extras(), i, i)
		}
		return text
	}
	inner, middle := "calls:\n"+calls(0)+"output: †state.p0\n", "calls:\n"+calls(1)+"output: †state.p0\n"
	text := fmt.Sprintf("limits: {parallel: %d}\ncalls:\n%s", 1+chance.IntN(3), calls(2))
	p, found := compiler.Compile(source.NewFile("plan.yaml", []byte(text)), compiler.Options{
		Functions: []string{"work"}, Open: func(name string) ([]byte, error) {
			switch name {
			case "d1.yaml":
				return []byte(inner), nil
			case "d2.yaml":
				return []byte(middle), nil
			}
			return nil, os.ErrNotExist
		},
	})
	analysis := analyzer.Analyze(p, found, analyzer.Config{})
	v, found := analysis.Verified, analysis.Findings
	if v == nil {
		t.Fatalf("%v\n%s", found, text)
	}
	return v
}

// A holder is a world that keeps an eye on what is at work.
type holder struct {
	t        *testing.T
	seed     uint64
	m        *Machine
	parallel int
	chance   *rand.Rand
	coming   []Event
	atWork   map[string]Event // by call, the end that its try will have
	overdue  int
	outcome  *Outcome
}

func placeOf(frame, call int) string { return fmt.Sprint(frame, ":", call) }

func (h *holder) take(commands []Command) {
	for _, c := range commands {
		key := placeOf(c.Frame, c.Call)
		switch c.Kind {
		case Start:
			if _, twice := h.atWork[key]; twice {
				h.t.Fatalf("seed %d: %s is tried again beside its own try", h.seed, c.Of.Name)
			}
			e := Event{Kind: Ended, Try: c.Try, Route: -1}
			if h.chance.IntN(4) == 0 {
				e.Failure = &Failure{Code: "error", Message: "no"}
			}
			h.atWork[key] = e
			h.coming = append(h.coming, e)
			if len(h.atWork) > h.parallel {
				h.t.Fatalf("seed %d: %d are at work, and %d may be", h.seed, len(h.atWork), h.parallel)
			}
		case SetTimer:
			h.coming = append(h.coming, Event{Kind: Fired, Try: c.Try})
		case Cancel:
			if _, working := h.atWork[key]; !working {
				h.t.Fatalf("seed %d: %s is given up and isn't at work", h.seed, c.Of.Name)
			}
			h.overdue++
		case Settle:
			if _, working := h.atWork[key]; working {
				h.t.Fatalf("seed %d: %s settles as %v while its try is at work", h.seed, c.Of.Name, c.Settlement.Status)
			}
		case Finish:
			h.outcome = c.Outcome
		}
	}
}

// next lets something happen; now and then that is a kill of which only the events so
// far are left.
func (h *holder) next() {
	if h.chance.IntN(40) == 0 {
		clear(h.atWork)
		h.coming = slices.DeleteFunc(h.coming, func(Event) bool { return true })
		h.take(h.m.Step(Event{Kind: Resumed, Resumption: &Resumption{InFlight: "retry"}}))
		return
	}
	at := h.chance.IntN(len(h.coming))
	e := h.coming[at]
	h.coming = slices.Delete(h.coming, at, at+1)
	if e.Kind == Ended {
		delete(h.atWork, placeOf(e.Frame, e.Call))
	}
	h.take(h.m.Step(e))
}

// What came too late to count isn't a result: a try that ran out of time has failed
// with the code "timeout", whatever it still brought.
func TestOverdueTryBringsNothing(t *testing.T) {
	p, found := compiler.Compile(source.NewFile("plan.yaml", []byte("calls: [{_tool: work, _timeout: 1s, _outputPath: p || e}]")), compiler.Options{Functions: []string{"work"}})
	v := analyzer.Analyze(p, found, analyzer.Config{}).Verified
	m := New(v, Options{})
	m.Step(Event{Kind: RunBegan})
	var kinds []string
	for _, c := range m.Step(Event{Kind: Fired, Try: Try{Attempt: 1}}) {
		kinds = append(kinds, fmt.Sprint(c.Kind == Cancel))
	}
	if got := strings.Join(kinds, " "); got != "true" {
		t.Errorf("at the time-out: %s", got)
	}
	for _, c := range m.Step(Event{Kind: Ended, Try: Try{Attempt: 1}, Value: "late", Route: -1}) {
		if c.Kind == Finish {
			state := c.Outcome.State.(map[string]any)
			if fault, _ := state["e"].(map[string]any); fault["code"] != "timeout" || state["p"] != nil {
				t.Errorf("the state is %v", state)
			}
		}
	}
	if !m.Over() {
		t.Error("the run isn't over")
	}
}
