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

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/dot"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/session"
)

// An execution is what happened in a run, for drawings: its events as programs read them, and what became of each
// call. It is an Observer.
type execution struct {
	*session.Events
	lines  []json.RawMessage
	plans  map[int]*plan.Plan      // by tick, as received so far
	faults map[int]string          // by tick that has ended: those of its solution, a line each
	calls  map[string]*callHistory // by their name in a view
}

// A callHistory is what became of a call, of all its items and instances together.
type callHistory struct {
	marks   []dot.Mark
	started bool
	asked   map[[2]int]bool // by frame and call: there is an open question
}

func newExecution() *execution {
	e := &execution{plans: map[int]*plan.Plan{}, faults: map[int]string{}, calls: map[string]*callHistory{}}
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

// shortened is a value, or the beginning of its text where that is long.
func shortened(v any) any {
	text, err := json.Marshal(v)
	if err == nil && len(text) > longestResult {
		return wording.Cut(string(text), longestResult)
	}
	return v
}

// Observe receives a command of the run. What an earlier tick had done counts as done.
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
		settled.Output = shortened(settled.Output)
		c.Settlement = &settled
	}
	if c.Plan != nil && c.Under == "" && c.Of != nil && c.Of.ItemOf == nil {
		e.plans[c.Tick] = c.Plan
	}
	if slices.Contains([]runtime.CommandKind{runtime.Start, runtime.Enter, runtime.Settle, runtime.Ask}, c.Kind) {
		name := nameInView(c)
		if c.Kind == runtime.Settle && c.Settlement.Left && e.waits(name) {
			return // the run has stopped, and its answer is awaited
		}
		e.note(c, name)
	}
	e.Events.Observe(at, c)
}

// pathItems are the numbers of items in a path of calls.
var pathItems = regexp.MustCompile(`\[\d+\](/|$)`)

// nameInView is how a view names the call of a command.
func nameInView(c runtime.Command) string {
	name := runtime.Path(pathItems.ReplaceAllString(c.Under, "$1"), cmp.Or(c.Of.ItemOf, c.Of).Name)
	if c.Tick > 0 {
		name = fmt.Sprintf("%d:%s", c.Tick, name)
	}
	return name
}

// note stores what a command says of a call.
func (e *execution) note(c runtime.Command, name string) {
	all := e.calls[name]
	if all == nil {
		all = &callHistory{asked: map[[2]int]bool{}}
		e.calls[name] = all
	}
	if key := [2]int{c.Frame, c.Call}; c.Kind == runtime.Ask {
		all.asked[key] = true
	} else {
		delete(all.asked, key)
	}
	all.started = all.started || c.Kind == runtime.Start || c.Kind == runtime.Enter
	s := c.Settlement
	if c.Kind != runtime.Settle {
		return
	}
	mark := dot.Mark{Kind: dot.MarkKind(s.Status.String()), Text: s.Reason}
	if s.Failure != nil {
		mark.Text = s.Failure.Message
	}
	if s.Status == runtime.Failed && s.Routed {
		mark.Code = ", handled"
	}
	if d := s.Decision; d != nil {
		mark.Text = strings.TrimPrefix(fmt.Sprintf("%s: %s by %s", mark.Text, d.Verdict, cmp.Or(d.By, "a person")),
			": ")
	}
	if c.Of.Each == nil || len(all.marks) == 0 && !(s.Left && all.started) { // otherwise its items are counted
		all.marks = append(all.marks, mark)
	}
}

// waits reports whether there is an open question about a call, or one below it.
func (e *execution) waits(name string) bool {
	for other, all := range e.calls {
		if len(all.asked) > 0 && (other == name || strings.HasPrefix(other, name+"/")) {
			return true
		}
	}
	return false
}

// mostReasons is how many reasons a box shows.
const mostReasons = 3

// mark draws in what happened.
func (e *execution) mark(v *dot.View) {
	for i := range v.Nodes {
		n := &v.Nodes[i]
		all := e.calls[n.Call]
		if n.Call == "" || all == nil {
			continue
		}
		marks := all.marks
		var reasons []string
		if e.waits(n.Call) {
			reasons = append(reasons, "it waits for an answer")
		} else if len(marks) == 0 && all.started {
			marks = []dot.Mark{{Kind: dot.Running}}
		}
		for _, m := range marks {
			v.Mark(n.Call, m)
			text := diag.Escape(wording.Cut(m.Text, 100))
			if text != "" && len(reasons) < mostReasons && !slices.Contains(reasons, text) {
				reasons = append(reasons, text)
			}
		}
		n.State = strings.Join(reasons, ", ")
	}
}
