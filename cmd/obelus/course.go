package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
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

// A course is what happened in a run or in a rehearsal, for drawings: its events as
// programs are given them, and what became of each call. It is an observer.
type course struct {
	*session.Events
	lines []json.RawMessage
	plans map[int]*plan.Plan // by tick, as received so far
	ends  map[int]*runtime.TickEnd
	fates map[string]*lot // by the names of calls in a view
}

// A lot is what became of a call, of all its items and instances together.
type lot struct {
	counts   map[dot.Mark]int
	whys     map[dot.Mark]string // the last that is known, by what it is about; of a running call under the zero mark
	listed   bool                // a call with items was done
	from, to time.Duration
	started  bool
	tries    int
}

func newCourse() *course {
	c := &course{plans: map[int]*plan.Plan{}, ends: map[int]*runtime.TickEnd{}, fates: map[string]*lot{}}
	c.Events = session.NewEvents(c, "")
	return c
}

// Abandon is for a run that never began.
func (c *course) Abandon() {}

// Write takes an event.
func (c *course) Write(line []byte) (int, error) {
	c.lines = append(c.lines, bytes.TrimSpace(slices.Clone(line)))
	return len(line), nil
}

// longestResult is how much of a result a page shows, in bytes of JSON.
const longestResult = 4 << 10

// shortened is a value, or the beginning of its text where that is long.
func shortened(v any) any {
	text, err := json.Marshal(v)
	switch {
	case err != nil:
		return nil
	case len(text) > longestResult:
		return wording.Cut(string(text), longestResult)
	}
	return v
}

// Observe takes what happened. What an earlier tick had done counts as done.
func (c *course) Observe(at time.Duration, command runtime.Command) {
	if command.Kind == runtime.Progressed {
		return // it is over when the page is looked at
	}
	if command.Kind == runtime.Repeat {
		command.Kind = runtime.Settle
		settled := *command.Settlement
		settled.Reason = "an earlier step has done it"
		command.Settlement = &settled
	}
	if command.Kind == runtime.Settle {
		settled := *command.Settlement
		settled.Output = shortened(settled.Output)
		command.Settlement = &settled
	}
	if command.Plan != nil && command.Under == "" && command.Of != nil && command.Of.ItemOf == nil {
		c.plans[command.Tick] = command.Plan
	}
	if command.Kind == runtime.EndTick {
		c.ends[command.Tick] = command.End
	}
	c.note(at, command)
	c.Events.Observe(at, command)
}

// nameInView is how a view names the call that a command is about.
func nameInView(command runtime.Command) string {
	of := cmp.Or(command.Of.ItemOf, command.Of)
	name := runtime.Path(pathItems.ReplaceAllString(command.Under, "$1"), of.Name)
	if command.Tick > 0 {
		name = fmt.Sprintf("%d:%s", command.Tick, name)
	}
	return name
}

// pathItems are the numbers of items in a path of calls.
var pathItems = regexp.MustCompile(`\[\d+\](/|$)`)

// of is what became of a call, by its name in a view.
func (c *course) of(name string) *lot {
	if c.fates[name] == nil {
		c.fates[name] = &lot{counts: map[dot.Mark]int{}, whys: map[dot.Mark]string{}}
	}
	return c.fates[name]
}

// fateMark is how a call ended.
func fateMark(status runtime.Status, routed bool) dot.Mark {
	if status == runtime.Failed && routed {
		return dot.Mark{Kind: dot.Failed, Code: ", handled"}
	}
	return dot.Mark{Kind: dot.MarkKind(status.String())}
}

func (c *course) note(at time.Duration, command runtime.Command) {
	switch command.Kind {
	case runtime.Start, runtime.Enter, runtime.Settle, runtime.Ask:
	default:
		return
	}
	f := c.of(nameInView(command))
	switch command.Kind {
	case runtime.Ask:
		f.whys[dot.Mark{}] = "a person is asked"
	case runtime.Start, runtime.Enter:
		delete(f.whys, dot.Mark{})
		if !f.started {
			f.started, f.from = true, at
		}
	case runtime.Settle:
		s := command.Settlement
		fate := fateMark(s.Status, s.Routed)
		switch {
		case command.Of.Each == nil || len(f.counts) == 0 && !(s.Left && f.started):
			f.counts[fate]++
		default: // its items are counted
			f.listed = f.listed || s.Status == runtime.Done
		}
		delete(f.whys, dot.Mark{})
		f.to, f.tries = at, max(f.tries, s.Attempts)
		why := s.Reason
		if s.Failure != nil {
			why = s.Failure.Message
		}
		if d := s.Decision; d != nil {
			why = strings.TrimSuffix(fmt.Sprintf("%s: %s by %s", why, d.Verdict, cmp.Or(d.By, "a person")), " ")
			why = strings.TrimPrefix(why, ": ")
		}
		if why != "" {
			f.whys[fate] = why
		}
	}
}

// mark draws in what happened.
func (c *course) mark(v *dot.View) {
	for i := range v.Nodes {
		n := &v.Nodes[i]
		f := c.fates[n.Call]
		if n.Call == "" || f == nil {
			continue
		}
		counts, whys := maps.Clone(f.counts), maps.Clone(f.whys)
		if len(counts) == 0 && f.started {
			counts[dot.Mark{Kind: dot.Running}] = 1
		}
		if skipped := fateMark(runtime.Skipped, false); f.listed && len(counts) == 1 && counts[skipped] > 0 {
			done := dot.Mark{Kind: dot.Done, Code: ", with every item skipped"}
			counts, whys = map[dot.Mark]int{done: 1}, map[dot.Mark]string{done: whys[skipped]}
		}
		for m, count := range counts { // the view keeps them in an order of its own
			m.Text, m.Count = whys[m], count
			v.Mark(n.Call, m)
		}
		var words []string
		if f.started && f.to >= f.from {
			words = append(words, terminal.Duration(f.from)+" to "+terminal.Duration(f.to))
		}
		if f.tries > 1 {
			words = append(words, fmt.Sprintf("%d tries", f.tries))
		}
		var reasons []string
		for _, m := range append([]dot.Mark{{}}, n.Marks...) {
			why := whys[dot.Mark{Kind: m.Kind, Code: m.Code}]
			if why != "" && len(counts) > 1 && m.Kind != "" {
				why = string(m.Kind) + ": " + why // not all of it is
			}
			if why != "" {
				reasons = append(reasons, diag.Escape(wording.Cut(why, 100)))
			}
		}
		n.State = strings.Join(reasons, ", ")
		n.Detail = strings.TrimPrefix(n.Detail+"\n"+strings.Join(words, ", "), "\n")
	}
}

// step describes a tick that has ended.
func (c *course) step(tick int) string {
	end := c.ends[tick]
	if end == nil {
		return ""
	}
	var words []string
	for _, fault := range end.Faults {
		words = append(words, diag.Escape(wording.Cut(fault.Message, 100)))
	}
	return strings.Join(words, "\n")
}

// leftLast shows what a stop has left only where the run hasn't gone on since.
type leftLast struct {
	observer
	left  []func()
	ended bool
}

func (l *leftLast) Observe(at time.Duration, c runtime.Command) {
	if l.ended {
		l.left, l.ended = nil, false
	}
	if c.Kind == runtime.Settle && c.Settlement.Left {
		l.left = append(l.left, func() { l.observer.Observe(at, c) })
		return
	}
	l.ended = c.Kind == runtime.Finish
	l.observer.Observe(at, c)
}

func (l *leftLast) End(o *runtime.Outcome) error {
	for _, show := range l.left {
		if o.Status == runtime.RunStopped {
			show()
		}
	}
	return l.observer.End(o)
}

// outcomeOf is how a run ended, or how it stands.
func outcomeOf(look *session.Look) *runtime.Outcome {
	if look.Replay.Over() && look.Replay.Outcome != nil {
		return look.Replay.Outcome
	}
	stands := look.Replay.Machine.Stands()
	if !look.Replay.Machine.Stopped() && look.Status == string(runtime.RunGoesOn) {
		stands.Status, stands.Reason = runtime.RunGoesOn, ""
		for i := range stands.Instances {
			if one := &stands.Instances[i]; one.Status == runtime.RunStopped {
				one.Status = runtime.RunGoesOn
			}
		}
	}
	return stands
}
