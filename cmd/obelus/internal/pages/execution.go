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

// An execution is what happened in a run, for drawings: its events as programs read them, and the last command about
// each call. It is an Observer.
type execution struct {
	*session.Events
	lines  []json.RawMessage
	plans  map[int]*plan.Plan            // by tick, as received so far
	faults map[int]string                // by tick that has ended: those of its solution, a line each
	calls  map[string][]*runtime.Command // by name in a view: the last command about each item and instance
	last   map[course]*runtime.Command
}

// A course is a call, or an item of one, in one frame of a run.
type course struct {
	name        string // in a view
	frame, call int
}

func newExecution() *execution {
	e := &execution{plans: map[int]*plan.Plan{}, faults: map[int]string{}, calls: map[string][]*runtime.Command{},
		last: map[course]*runtime.Command{}}
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

// note stores the last command about a call.
func (e *execution) note(c runtime.Command, name string) {
	key := course{name, c.Frame, c.Call}
	if e.last[key] == nil {
		e.last[key] = &runtime.Command{}
		e.calls[name] = append(e.calls[name], e.last[key])
	}
	*e.last[key] = c
}

// waits reports whether there is an open question about a call, or one below it.
func (e *execution) waits(name string) bool {
	for of, c := range e.last {
		if c.Kind == runtime.Ask && (of.name == name || strings.HasPrefix(of.name, name+"/")) {
			return true
		}
	}
	return false
}

// markOf is what became of a call.
func markOf(c *runtime.Command) dot.Mark {
	s := c.Settlement
	if s == nil {
		return dot.Mark{Kind: dot.Running}
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
	return mark
}

// mostReasons is how many reasons a box shows.
const mostReasons = 3

// mark draws in what happened.
func (e *execution) mark(v *dot.View) {
	for i := range v.Nodes {
		n := &v.Nodes[i]
		var reasons []string
		explain := func(text string) {
			if text != "" && len(reasons) < mostReasons && !slices.Contains(reasons, text) {
				reasons = append(reasons, text)
			}
		}
		for _, name := range n.Calls {
			isWaiting := e.waits(name)
			if isWaiting {
				explain("it waits for an answer")
			}
			all := e.calls[name]
			hasItems := slices.ContainsFunc(all, func(c *runtime.Command) bool { return c.Of.ItemOf != nil })
			for _, c := range all {
				isCounted := c.Of.Each == nil || !hasItems // else its items are
				if m := markOf(c); isCounted && !(isWaiting && m.Kind == dot.Running) {
					n.Mark(m)
					explain(diag.Escape(wording.Cut(m.Text, 100)))
				}
			}
		}
		n.State = strings.Join(reasons, ", ")
	}
}
