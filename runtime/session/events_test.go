package session_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/session"
)

// EXECUTION.md#events: what is waited for has the time since the run began at which it is told, however
// long ago anything else happened.
func TestWaitsHaveTheirTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines strings.Builder
		e := session.NewEvents(&lines, "")
		time.Sleep(time.Second)
		e.Waits("for memory")
		e.Observe(5*time.Second, runtime.Command{Kind: runtime.Plan, Try: runtime.Try{Tick: 1}})
		for range 2 {
			time.Sleep(3 * time.Second)
			e.Waits("502")
		}
		want := `{"event":"wait","reason":"for memory","at":1000}
{"event":"tick","tick":1,"status":"started","errors":[],"at":5000}
{"event":"wait","reason":"502","at":8000}
{"event":"wait","reason":"502","at":11000}
`
		if lines.String() != want {
			t.Errorf("got\n%s", lines.String())
		}
	})
}
