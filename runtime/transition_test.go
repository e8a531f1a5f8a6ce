package runtime

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/source"
)

// made are the transitions that the tests have met, by status.
var made [Cancelled + 1]atomic.Uint32

// All tests of the package go with it, those of generated plans among them.
func init() {
	onTransition = func(from, to Status) { made[from].Or(1 << to) }
}

// The tests together meet every transition that the table allows: what none
// of them needs has no place there.
func TestMain(m *testing.M) {
	failed := m.Run()
	all := failed == 0
	for _, some := range []string{"run", "skip", "list", "bench", "fuzz"} {
		all = all && flag.Lookup("test."+some).Value.String() == ""
	}
	if all {
		for from := Waiting; from <= Cancelled; from++ {
			for to := Waiting; to <= Cancelled; to++ {
				if mayFollow(from, to) && made[from].Load()&(1<<to) == 0 {
					fmt.Printf("no test has a call that is %s after it was %s\n", to, from)
					failed = 1
				}
			}
		}
	}
	os.Exit(failed)
}

// EXECUTION.md#order-of-calls: nothing follows what is settled, and every status that isn't can come to
// an end.
func TestSettledIsFinal(t *testing.T) {
	for from := Waiting; from <= Cancelled; from++ {
		for to := Waiting; to <= Cancelled; to++ {
			if from.Settled() && mayFollow(from, to) {
				t.Errorf("%s follows %s", to, from)
			}
		}
		if !from.Settled() && !mayFollow(from, Cancelled) {
			t.Errorf("a call that is %s can't be cancelled", from)
		}
		if from != Waiting && mayFollow(from, Waiting) {
			t.Errorf("a call that is %s may wait again", from)
		}
	}
}

// EXECUTION.md#order-of-calls shows the table.
func TestTransitionsAreDocumented(t *testing.T) {
	var table strings.Builder
	for from := Waiting; !from.Settled(); from++ {
		var follow []string
		for to := Waiting; to <= Cancelled; to++ {
			if mayFollow(from, to) {
				follow = append(follow, to.String())
			}
		}
		fmt.Fprintf(&table, "    %s: %s\n", from, strings.Join(follow, ", "))
	}
	if !strings.Contains(Reference, table.String()) {
		t.Errorf("EXECUTION.md lacks\n%s", table.String())
	}
}

func startedMachine(t *testing.T) *Machine {
	t.Helper()
	m := unverified(t, "calls: [{_tool: f, _id: one, _outputPath: a}, {_tool: f, _id: two, x: †state.a}]", Options{})
	if commands := m.Step(Event{Kind: RunBegan}); len(commands) != 1 || commands[0].Kind != Start {
		t.Fatalf("the machine begins with %v", commands)
	}
	return m
}

// unverified runs a plan that no analyzer has seen.
func unverified(t *testing.T, text string, o Options) *Machine {
	t.Helper()
	p, found := compiler.Compile(source.NewFile("plan.yaml", []byte(text)), compiler.Options{Functions: []string{"f"}})
	if p.Root == nil {
		t.Fatal(found)
	}
	return newMachine(p, o, false, false)
}

// An illegal change of a call's status panics in tests.
func TestIllegalTransitionPanics(t *testing.T) {
	m := startedMachine(t)
	defer func() {
		if got := fmt.Sprint(recover()); !strings.Contains(got, `"one" can't be queued after it was done`) {
			t.Errorf("it says %s", got)
		}
	}()
	m.frames[0].calls[0].status = Done
	m.frames[0].transition(0, Queued)
}

type beginning struct{}

func (beginning) Next() (Event, error) { return Event{Kind: RunBegan}, nil }
func (beginning) Do([]Command) error   { return nil }

// Where a run is driven, a machine that isn't consistent any more is an error.
func TestInconsistencyEndsTheRun(t *testing.T) {
	m := startedMachine(t)
	m.inconsistency = "what was written has no place"
	outcome, err := Drive(m, beginning{})
	if outcome != nil || err == nil || !strings.HasPrefix(err.Error(), "internal error: what was written has no place") {
		t.Errorf("%+v, %v", outcome, err)
	}
}

// Log is the state of a run that has no instances, so far.
func (m *Machine) Log() *Log { return m.frames[0].Log }
