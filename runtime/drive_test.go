package runtime_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// A workflow is a world as a deterministic workflow engine would be one: it knows a history of events with the
// commands that followed from each, and the events that are to come, and nothing else. It is suspended after every
// event that is new to its history.
type workflow struct {
	History []historyEvent
	Coming  []runtime.Event

	plan   *plan.Plan
	act    behaviour
	order  *rand.Rand
	next   int // the event of the history that is replayed
	fresh  bool
	result Outcome
}

type historyEvent struct {
	Event    runtime.Event
	Commands []string
}

var errSuspended = errors.New("the workflow is suspended")

func (w *workflow) Next() (runtime.Event, error) {
	switch {
	case w.next < len(w.History):
	case w.fresh:
		return runtime.Event{}, errSuspended
	case w.next == 0:
		w.fresh, w.History = true, []historyEvent{{Event: runtime.Event{Kind: runtime.RunBegan}}}
	case len(w.Coming) == 0:
		return runtime.Event{}, errors.New("nothing is at work, and the run isn't over")
	default:
		at := w.order.IntN(len(w.Coming))
		w.fresh, w.History = true, append(w.History, historyEvent{Event: w.Coming[at]})
		w.Coming = slices.Delete(w.Coming, at, at+1)
	}
	w.next++
	return w.History[w.next-1].Event, nil
}

func (w *workflow) Do(commands []runtime.Command) error {
	var names []string
	for _, c := range commands {
		names = append(names, fmt.Sprint(c.Kind, c.Frame, c.Call, c.Attempt, c.After))
	}
	past := &w.History[w.next-1]
	replayed := w.next < len(w.History) || !w.fresh
	if replayed && !slices.Equal(names, past.Commands) {
		return fmt.Errorf("event %d: replayed it commands %q, and at first %q", w.next-1, names, past.Commands)
	}
	past.Commands = names
	for _, c := range commands {
		switch {
		case c.Kind == runtime.Settle:
			w.result.Status[w.plan.Calls[c.Call].Name] = c.Settlement.Status.String()
		case c.Kind == runtime.Finish:
			w.result.Run, w.result.State, w.result.Output = string(c.Outcome.Status), wordless(c.Outcome.State), wordless(c.Outcome.Output)
		case replayed: // it is coming already, or has come
		case c.Kind == runtime.Start:
			w.Coming = append(w.Coming, performed(w.plan, c, w.act))
		case c.Kind == runtime.SetTimer:
			w.Coming = append(w.Coming, runtime.Event{Kind: runtime.Fired, Try: runtime.Try{Call: c.Call, Attempt: c.Attempt}})
		}
	}
	return nil
}

// A run that is stopped, serialised and continued by a new machine between any two events ends as one that
// isn't, whatever the order in which its activities end.
func TestDrivenByAWorkflowEngine(t *testing.T) {
	t.Parallel()
	runs, lives := 0, 0
	for n := range amount.Of(60, 400, 4000) {
		doc := planNumber(t, n)
		v, _ := compileGenerated(t, doc)
		if v == nil {
			continue
		}
		runs++
		want := drive(t, v, perform, schedule(0))
		order := schedule(n)
		kept := []byte("{}")
		for {
			w := &workflow{plan: v.Plan(), act: perform, order: order, result: Outcome{Status: map[string]string{}}}
			if err := json.Unmarshal(kept, w); err != nil {
				t.Fatal(err)
			}
			outcome, err := runtime.Drive(runtime.New(v, runtime.Options{}), w)
			if lives++; err == nil {
				if string(outcome.Status) != want.Run || !reflect.DeepEqual([]any{w.result.Status, w.result.State, w.result.Output}, []any{want.Status, want.State, want.Output}) {
					t.Fatalf("plan %d came to %s, and undisturbed to %s", n, show(w.result), show(want))
				}
				break
			}
			if !errors.Is(err, errSuspended) {
				t.Fatalf("plan %d: %v", n, err)
			}
			if kept, err = json.Marshal(w); err != nil {
				t.Fatal(err)
			}
		}
	}
	if lives < 5*runs || runs < 20 {
		t.Errorf("%d runs in %d lives", runs, lives)
	}
}

// followed steps one event of a journal.
func followed(m *runtime.Machine, e runtime.Event) ([]runtime.Command, error) {
	if err := m.Check(&e); err != nil {
		return nil, err
	}
	return m.Step(e), nil
}
