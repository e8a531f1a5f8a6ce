// Package pages draws plans, and what happened in runs and simulations, for people: as pages and views. It serves the
// page of a run as it goes, on this computer alone, and asks the questions of the run there.
package pages

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/dot"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/session"
)

// An execution is what happened in a run, for pages: its events as programs read them. It is an Observer.
type execution struct {
	*session.Events
	lines  []json.RawMessage
	plans  map[int]*plan.Plan // by tick, as received so far
	faults map[int]string     // by tick that has ended: those of its solution, a line each
}

func newExecution() *execution {
	e := &execution{plans: map[int]*plan.Plan{}, faults: map[int]string{}}
	e.Events = session.NewEvents(e, "")
	return e
}

// Write receives an event.
func (e *execution) Write(line []byte) (int, error) {
	e.lines = append(e.lines, bytes.TrimSpace(slices.Clone(line)))
	return len(line), nil
}

// longestResult is how much of a result a page shows, in bytes of JSON.
const longestResult = 4 << 10

// Observe receives a command of the run. What an earlier tick had done counts as done; what a stop left isn't over.
func (e *execution) Observe(at time.Duration, c runtime.Command) {
	switch c.Kind {
	case runtime.EndTick:
		var faults []string
		for _, fault := range c.End.Faults {
			faults = append(faults, diag.Escape(wording.Cut(fault.Message, 100)))
		}
		e.faults[c.Tick] = strings.Join(faults, "\n")
	case runtime.Repeat, runtime.Settle:
		settled := *c.Settlement
		if c.Kind == runtime.Repeat {
			c.Kind, settled.Reason = runtime.Settle, "an earlier tick has done it"
		}
		if text, err := json.Marshal(settled.Output); err == nil && len(text) > longestResult {
			settled.Output = wording.Cut(string(text), longestResult)
		}
		c.Settlement = &settled
	}
	if c.Plan != nil && c.Under == "" && c.Of != nil && c.Of.ItemOf == nil {
		e.plans[c.Tick] = c.Plan
	}
	if c.Settlement == nil || !c.Settlement.Left {
		e.Events.Observe(at, c)
	}
}

// pathItems are the numbers of items in a path of calls.
var pathItems = regexp.MustCompile(`\[\d+\](/|$)`)

// mark draws in what happened: of a call with items what became of these.
func mark(v *dot.View, commands []session.Observed) {
	last, calls := map[[2]int]*runtime.Command{}, map[string][]*runtime.Command{}
	for _, c := range commands {
		switch c.Kind {
		case runtime.Start, runtime.Enter, runtime.Repeat, runtime.Settle, runtime.Ask:
			name := runtime.Path(pathItems.ReplaceAllString(c.Under, "$1"), cmp.Or(c.Of.ItemOf, c.Of).Name)
			if c.Tick > 0 {
				name = fmt.Sprintf("%d:%s", c.Tick, name)
			}
			key := [2]int{c.Frame, c.Call}
			if last[key] == nil {
				last[key] = &runtime.Command{}
				calls[name] = append(calls[name], last[key])
			}
			*last[key] = c.Command
		case runtime.EndTick:
			clear(last)
		}
	}
	for i := range v.Nodes {
		n := &v.Nodes[i]
		for _, name := range n.Calls {
			hasItems := slices.ContainsFunc(calls[name], func(c *runtime.Command) bool { return c.Of.ItemOf != nil })
			for _, c := range calls[name] {
				s := c.Settlement
				switch {
				case c.Of.Each != nil && hasItems:
				case c.Kind == runtime.Ask:
					n.State = "it waits for an answer"
				case s == nil:
					n.Mark(dot.Mark{Kind: dot.Running})
				default:
					m := dot.Mark{Kind: dot.MarkKind(s.Status.String()), Text: wording.Cut(terminal.Cause(c), 100)}
					n.State = cmp.Or(m.Text, n.State)
					if s.Routed {
						m.Code = ", handled"
					}
					if !s.Left {
						n.Mark(m)
					}
				}
			}
		}
	}
}
