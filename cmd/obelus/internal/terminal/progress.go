package terminal

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime"
)

// A Run is what progress shows of a run besides its events.
type Run struct {
	Plan    *plan.Plan
	Journal string        // its path; "" for none
	Joining int           // instances of a file that are to join
	At      time.Duration // of the last event so far
}

// Progress shows a run: a line for each finished call, and on a terminal what is running below.
type Progress struct {
	*Screen
	isLive bool // draws a status line
	run    Run
	style  Style
	width  int // columns of a line
	names  int // columns for names

	mu       sync.Mutex
	at       time.Duration // of the last command
	tick     int           // 0 without a planner
	running  []*started
	finished int         // calls of this tick
	ignore   func() bool // stops waiting for the end of the context
}

// A started call hasn't finished.
type started struct {
	frame, call int
	name        string
	since       time.Duration // -1 for a call that hasn't started either
}

// few is up to how many instances, or items of a call, each is shown; of more instances half as many that failed.
const few = 20

// NewRecorded shows a run from its journal.
func NewRecorded(out *Screen, run Run) *Progress {
	p := &Progress{Screen: out, run: run, width: 100, at: run.At, style: StyleFor(out)}
	for _, call := range run.Plan.Calls {
		p.names = min(48, max(p.names, diag.Columns(diag.Escape(call.Name))))
	}
	return p
}

// NewProgress shows a run on a screen. When ctx ends the run is being stopped.
func NewProgress(ctx context.Context, screen *Screen, run Run) *Progress {
	p := NewRecorded(screen, run)
	if p.isLive = draws(screen); p.isLive {
		p.width = columns(screen, math.MaxInt, p.width)
		p.ignore = context.AfterFunc(ctx, func() { p.Print("  stopping; Ctrl-C again kills\n") })
	}
	p.drawStatus()
	return p
}

// Observe shows a command of the run: of a call what becomes of it, unless it is one of many.
func (p *Progress) Observe(at time.Duration, c runtime.Command) {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.drawStatus()
	p.at = at
	mark, text := "", ""
	switch c.Kind {
	case runtime.Plan:
		if c.Tick > p.tick {
			p.tick, p.running, p.finished = c.Tick, nil, 0
		}
		if c.Tick > 1 {
			p.Print("\n  %s\n", p.style.Faint(fmt.Sprintf("tick %d", c.Tick)))
		}
		return
	case runtime.EndTick:
		for _, fault := range c.End.Faults {
			p.Print("  %s the solution: %s\n", p.style.Red("✗"), diag.Escape(fault.Message))
		}
		return
	case runtime.Start, runtime.Enter:
		if c.Uncertainty != "" && c.Attempt <= 1 {
			mark, text = p.style.Yellow("!"), diag.Escape(c.Uncertainty)
		}
	case runtime.Ask:
		if c.Question.Within > 0 && !p.isLive {
			mark, text = p.style.Yellow("?"), "asked; an answer is awaited for up to "+Duration(c.Question.Within)
		}
	case runtime.Repeat:
		mark, text = p.style.Faint("="), p.style.Faint("done already")
	case runtime.Settle:
		mark, text = Settlement(p.style, c, max(20, p.width-p.names-14))
	default:
		return
	}
	one, took := p.follow(&c), "      "
	if c.Instance != "" && len(p.run.Plan.Instances)+p.run.Joining > few ||
		c.Of.ItemOf != nil && len(c.Plan.Calls) > few || mark == "" {
		return
	}
	if one.since >= 0 {
		took = p.style.Faint(fmt.Sprintf("%6s", Duration(p.at-one.since)))
	}
	p.Print("%s\n", strings.TrimRight(fmt.Sprintf("  %s %s %s  %s", mark, Pad(one.name, p.names), took, text), " "))
}

// follow keeps which calls are running, and gives the one of a command.
func (p *Progress) follow(c *runtime.Command) *started {
	name := strings.TrimPrefix(c.Instance+" "+runtime.Path(c.Under, c.Of.Name), " ")
	one := &started{c.Frame, c.Call, diag.Escape(name), -1}
	p.names = min(48, max(p.names, diag.Columns(one.name)))
	at := slices.IndexFunc(p.running, func(s *started) bool { return s.frame == c.Frame && s.call == c.Call })
	if at >= 0 {
		one = p.running[at]
	} else if c.Kind == runtime.Start || c.Kind == runtime.Enter {
		one.since = p.at
		p.running = append(p.running, one)
	}
	if c.Settlement != nil {
		p.finished++
		p.running = slices.DeleteFunc(p.running, func(s *started) bool { return s == one })
	}
	return one
}

// Waits shows what the run waits for.
func (p *Progress) Waits(why string) { p.Print("  %s %s\n", p.style.Yellow("!"), diag.Escape(why)) }

// Settlement is a mark and a text for how a call settled. A result is cut to so many columns.
func Settlement(style Style, c runtime.Command, columns int) (mark, text string) {
	s := c.Settlement
	mark, text = style.Faint("–"), Cause(&c)
	switch {
	case s.Status == runtime.Done:
		mark, text = style.Green("✓"), Cut(brief(s.Output), columns)+"; "+text
		text = strings.TrimSuffix(strings.TrimPrefix(text, "; "), "; ")
	case s.Status == runtime.Rejected:
		mark = style.Yellow("✗")
	case s.Status == runtime.Failed && s.Failure.Code != "error":
		mark, text = style.Red("✗"), "failed ("+diag.Escape(s.Failure.Code)+"): "+text
	case s.Status == runtime.Failed:
		mark, text = style.Red("✗"), "failed: "+text
	case !s.Left:
		text = s.Status.String() + ": " + text
	}
	if s.Routed {
		mark = style.Yellow("!")
	}
	return mark, text
}

// brief is a value on one line; the caller cuts it to size.
func brief(value any) string {
	text, isText := value.(string)
	if !isText && value != nil {
		text = JSON(value, "")
	}
	return diag.Escape(text)
}

// Cause is why a call settled as it did, and what people decided about it.
func Cause(c *runtime.Command) string {
	s := c.Settlement
	text := s.Reason
	if s.Failure != nil {
		text = s.Failure.Message
	}
	if s.Attempts > 1 && s.Status == runtime.Failed {
		text += fmt.Sprintf(", after %d attempts", s.Attempts)
	}
	if s.Routed {
		route := "its failure route"
		if offered := compiler.Offered(c.Plan, c.Of); len(offered) > 0 {
			route = offered[len(offered)-1]
		}
		text += ", handled by " + route
	}
	for _, d := range append(slices.Clone(s.Earlier), s.Decision) {
		if d != nil && d.By != "" {
			text += fmt.Sprintf("; %s by %s", d.Verdict, d.By)
		}
	}
	return diag.Escape(strings.TrimPrefix(text, "; "))
}

// drawStatus draws which calls are running, and how many have finished.
func (p *Progress) drawStatus() {
	if !p.isLive {
		return
	}
	text := "· " + counts("running finished", len(p.running), p.finished)
	for i, one := range p.running[:min(len(p.running), few)] {
		text += []string{": ", ", "}[min(i, 1)] + one.name
	}
	p.draw("  " + p.style.Faint(Cut(text, p.width-3)))
}

// counts are numbers with their names: the first one, and those above 0.
func counts(names string, numbers ...int) string {
	var texts []string
	for i, name := range strings.Fields(names) {
		if i == 0 || numbers[i] > 0 {
			texts = append(texts, fmt.Sprintf("%d %s", numbers[i], name))
		}
	}
	return strings.Join(texts, ", ")
}

// End shows the result, and last the counts of calls. The outcome of a run that never started is nil.
func (p *Progress) End(o *runtime.Outcome) error {
	if p.isLive {
		p.ignore()
		p.draw("")
	}
	if o == nil {
		return nil
	}
	if p.finished+len(p.running) > 0 || o.Instances != nil {
		p.Print("\n")
	}
	ends := map[runtime.RunStatus]int{}
	for _, end := range o.Instances {
		if ends[end.Status]++; len(o.Instances) <= few || len(end.Errors) > 0 && ends[end.Status] <= few/2 {
			p.instance(&end)
		}
	}
	if o.Output != nil && o.Status != runtime.RunStopped {
		p.Print("%s\n\n", Display(o.Output))
	}
	for _, e := range o.Errors {
		if e.Call == "" && o.Ticks == 0 && o.Instances == nil { // those of ticks were shown before
			p.Print("%s %s\n", p.style.Red("✗"), diag.Escape(e.Message))
		}
	}
	text := string(o.Status)
	if o.Status == runtime.RunStopped && o.Reason != "" {
		text += " (" + diag.Escape(string(o.Reason)) + ")"
	}
	switch o.Status {
	case runtime.RunFailed:
		text = p.style.Red(text)
	case runtime.RunStopped:
		text = p.style.Yellow(text)
	default:
		text = p.style.Green(text)
	}
	text += " in "
	if o.Ticks > 1 {
		text += fmt.Sprintf("%d ticks, ", o.Ticks)
	}
	text += Duration(p.at) + Used(o.Usage) + ": "
	if o.Instances != nil {
		text += wording.Count(len(o.Instances), "instance") + ": " + Ends(ends) + "; calls: "
	}
	text += Tally(o.Counts)
	if p.run.Journal != "" {
		text += p.style.Faint("; journal " + diag.Escape(p.run.Journal))
	}
	p.Print("%s\n", text)
	return p.Err()
}

func (p *Progress) instance(end *runtime.InstanceEnd) {
	mark, text := p.style.Green("●"), string(end.Status)
	if end.Output != nil {
		text += "  " + Cut(brief(end.Output), max(20, p.width-diag.Columns(end.ID)-14))
	}
	for _, e := range end.Errors {
		mark = p.style.Red("●")
		text += ": " + diag.Escape(strings.TrimPrefix(e.Call+": "+e.Message, ": "))
	}
	p.Print("  %s %s  %s\n", mark, p.style.Bold(diag.Escape(end.ID)), text)
}

// Ends is how many runs ended in which way.
func Ends(of map[runtime.RunStatus]int) string {
	return counts("done failed stopped running", of[runtime.RunDone], of[runtime.RunFailed], of[runtime.RunStopped],
		of[runtime.RunGoesOn])
}

// Used is what models have used, behind other text; "" for nothing.
func Used(u runtime.Usage) string {
	if u.Tokens() == 0 {
		return ""
	}
	text := fmt.Sprintf(", %d tokens", u.Tokens())
	if u.Cost > 0 {
		text += fmt.Sprintf(", cost %.4g", u.Cost)
	}
	return text
}

// Tally is how many calls settled in which way; cancelled ones are unfinished.
func Tally(of runtime.Counts) string {
	names := "done failed skipped rejected unfinished"
	return counts(names, of.Done, of.Failed, of.Skipped, of.Rejected, of.Cancelled)
}
