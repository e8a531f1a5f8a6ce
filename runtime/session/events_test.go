package session_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/session"
)

// EXECUTION.md#events: what is waited for has the time since the run began at which it is told, however
// long ago anything else happened; how far a call is has that of its command.
func TestWaitsHaveTheirTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines strings.Builder
		e := session.NewEvents(&lines, "")
		time.Sleep(time.Second)
		e.Waits("for memory")
		e.Observe(5*time.Second, runtime.Command{Kind: runtime.Plan, Tick: 1})
		for range 2 {
			time.Sleep(3 * time.Second)
			e.Waits("502")
		}
		call := runtime.Command{Kind: runtime.Progressed, Attempt: 1, Of: &plan.Call{Name: "copy#1", Use: plan.Use{ToolName: "copy"}}, Site: &runtime.Site{}, Progress: &runtime.Progress{Done: 3, Total: 10, Message: "\x1b[2J"}}
		e.Observe(12*time.Second, call)
		call.Progress = &runtime.Progress{Done: 4.5}
		e.Observe(13*time.Second, call)
		want := `{"event":"wait","reason":"for memory","at":1000}
{"event":"tick","tick":1,"status":"started","errors":[],"at":5000}
{"event":"wait","reason":"502","at":8000}
{"event":"wait","reason":"502","at":11000}
{"event":"progress","call":"copy#1","tool":"copy","instance":null,"under":null,"attempt":1,"done":3,"total":10,"message":"\u001b[2J","at":12000}
{"event":"progress","call":"copy#1","tool":"copy","instance":null,"under":null,"attempt":1,"done":4.5,"total":null,"message":null,"at":13000}
`
		if lines.String() != want {
			t.Errorf("got\n%s", lines.String())
		}
	})
}
