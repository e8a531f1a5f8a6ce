package runtime_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/activity"
	"github.com/obelus-dev/obelus/runtime/local"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// What TestCuttings says of the machine is so in the local world as well, at any
// speed of the planner and of the activities.
func TestCuttingsAtAnySpeed(t *testing.T) {
	t.Parallel()
	documents := amount.Of(15, 100, 3000)
	for n := range documents {
		f := frayed(uint64(n))
		v, why := compileWith(t, f.document, compiler.Options{Functions: toolNames})
		if v == nil {
			t.Fatal(why)
		}
		var first map[string]any
		for speed := range 5 {
			synctest.Test(t, func(t *testing.T) {
				got := f.atSpeed(t, v, speed, rand.New(rand.NewPCG(uint64(speed), uint64(n))))
				if first == nil {
					first = got
				}
				if differs := difference(got, first); differs != "" {
					t.Fatalf("document %d, speed %d, of\n%s\n%s\n%s", n, speed, inJSON(f.document["state"]), strings.Join(f.solutions, "\n"), differs)
				}
			})
		}
	}
}

// atSpeed runs the document: at speed 0 each solution comes in one piece, at
// others in pieces and with pauses.
func (c *fray) atSpeed(t *testing.T, v *analyzer.Verified, speed int, order *rand.Rand) map[string]any {
	funcs := map[string]activity.Func{}
	for _, name := range toolNames {
		funcs[name] = func(ctx context.Context, r activity.Request) (any, error) {
			value, _, failed := perform(r.Call, r.Attempt, r.Params)
			if time.Sleep(time.Duration(drawn(uint64(speed), r.Call)%20) * time.Millisecond); failed != nil {
				return nil, &activity.Failure{Code: failed.Code, Message: failed.Message, Details: failed.Details}
			}
			return value, nil
		}
	}
	set, err := activity.Open(nil, funcs, activity.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	ending := map[string]any{}
	o := local.Options{Options: runtime.Options{Planned: true}, Activities: set, Planner: &cutter{c.solutions, speed, order}}
	o.Observe = func(_ time.Duration, command runtime.Command) {
		key := fmt.Sprint(whose(command), command.Tick, ":", command.Call)
		switch command.Kind {
		case runtime.Start:
			ending["started "+key] = command.Params
		case runtime.Settle:
			ending["settled "+key] = command.Settlement.Status.String()
		}
	}
	out, err := local.Run(t.Context(), v, o)
	if err != nil {
		t.Fatal(err)
	}
	inOrder := func(errors []runtime.CallError) {
		slices.SortFunc(errors, func(a, b runtime.CallError) int { return strings.Compare(inJSON(a), inJSON(b)) })
	}
	inOrder(out.Errors)
	for i := range out.Instances {
		inOrder(out.Instances[i].Errors)
	}
	ending["status"], ending["state"], ending["output"], ending["instances"], ending["counts"], ending["errors"] = out.Status, out.State, out.Output, out.Instances, out.Counts, out.Errors
	return ending
}

// A cutter is a planner that writes at a certain speed.
type cutter struct {
	solutions []string
	speed     int
	order     *rand.Rand
}

func (c *cutter) Answer(ctx context.Context, r *runtime.Request, emit func(string)) (runtime.Usage, error) {
	text := c.solutions[r.Tick-1]
	for c.speed > 0 && len(text) > 0 {
		n := min(len(text), 1+c.order.IntN(100))
		emit(text[:n]) // which may end inside of a character
		text = text[n:]
		time.Sleep(time.Duration(c.order.IntN(4*c.speed)) / 2 * time.Millisecond)
	}
	emit(text)
	return runtime.Usage{}, nil
}
