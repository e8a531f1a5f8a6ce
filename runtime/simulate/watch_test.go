package simulate_test

import (
	"testing"

	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/simulate"
)

// A simulation that nobody watches any more stops at its next event, and of branches no
// other is begun.
func TestWatched(t *testing.T) {
	r := verified(t, "tools: {a: {properties: {of: {}, _output: {type: boolean}}}}\ncalls:\n- {_tool: a, _outputPath: x || y}\n- {_tool: a, of: †state.x, _outputPath: z || u}\n- {_tool: a, of: †state.z, _outputPath: w}\n")
	seen := 0
	s := simulate.Run(r, simulate.Options{Abandoned: func() bool { seen++; return seen > 1 }})
	if s.Outcome.Status != runtime.RunStopped || s.Outcome.Reason != simulate.Unwatched || seen != 2 {
		t.Errorf("%+v after %d events", s.Outcome, seen)
	}
	if found := simulate.Explore(r, simulate.Options{Abandoned: func() bool { return true }}, 100); found.Usual == nil || found.Played > 1 || found.Complete {
		t.Errorf("played %d", found.Played)
	}
	whole := simulate.Explore(r, simulate.Options{}, 100)
	left := 4
	if found := simulate.Explore(r, simulate.Options{Abandoned: func() bool { left--; return left <= 0 }}, 100); found.Played >= whole.Played || found.Complete {
		t.Errorf("played %d of %d", found.Played, whole.Played)
	}
}
