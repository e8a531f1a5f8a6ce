package local_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/activity"
	"github.com/obelus-dev/obelus/runtime/local"
)

// A tireless planner writes without a pause until it is given up, or has written
// its fill. What it writes could become a solution for a long time.
type tireless struct{ wrote int }

func (p *tireless) Answer(ctx context.Context, r *runtime.Request, emit func(string)) (runtime.Usage, error) {
	emit(`{"calls":[{"_tool":"look","_outputPath":"x"}],"meta":[`)
	piece := strings.Repeat(`"y",`, 4<<10)
	for ; ctx.Err() == nil && p.wrote < 60<<20; p.wrote += len(piece) {
		emit(piece)
	}
	if err := ctx.Err(); err != nil {
		return runtime.Usage{}, err
	}
	emit(`1],"output":1}`)
	return runtime.Usage{}, nil
}

// Results, interruptions and limits of time are served between the pieces of an
// answer, however fast it comes: whether it ends there is no
// matter of how long it is. A busy machine may need a while for the call that comes
// first, and gets more of it then.
func TestServedBetweenPieces(t *testing.T) {
	for _, reason := range []runtime.Reason{"interrupted", "limits.time"} {
		t.Run(string(reason), func(t *testing.T) {
			for limit := 30 * time.Millisecond; ; limit *= 2 {
				why := served(t, reason, limit)
				if why == "" {
					return
				}
				if limit > 400*time.Millisecond {
					t.Fatal(why)
				}
			}
		})
	}
}

// served says how a run ended otherwise than for the reason and with its call done.
func served(t *testing.T, reason runtime.Reason, limit time.Duration) string {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	interrupts := reason == "interrupted"
	limits := fmt.Sprintf("{time: %dms}", limit.Milliseconds())
	if interrupts {
		limits = "{}"
	}
	planner := &tireless{}
	o := local.Options{Options: runtime.Options{Planned: true}, Planner: planner}
	outcome, story := run(t, ctx, "tools: {look: {}}\nlimits: "+limits+"\ncalls: []\n", map[string]activity.Func{"look": func(context.Context, activity.Request) (any, error) {
		if interrupts {
			time.AfterFunc(20*time.Millisecond, cancel)
		}
		return 1.0, nil
	}}, o)
	if outcome.Status == "stopped" && outcome.Reason == reason && outcome.Counts.Done == 1 {
		return ""
	}
	return fmt.Sprintf("%s %s after %d bytes\n%s", outcome.Status, outcome.Reason, planner.wrote, story)
}
