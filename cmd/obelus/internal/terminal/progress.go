package terminal

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/session"
)

// A Run is what progress shows of a run besides its events.
type Run struct {
	Plan             *plan.Plan
	Planned          bool          // a model writes what runs
	Simulated        bool          // its times are virtual
	Journal, Results string        // paths; "" for none
	Joining          int           // instances of a file that are to join
	Resumed          *session.Look // where it stood; nil for a new run
	Errors           *Screen       // of a run that shows only its output, and errors here; else nil
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
	usage    runtime.Usage // at the end of the last tick
	planning bool          // the planner has been asked
	calls    []*callState  // that are running or have a question
	settled  int           // calls of this tick
	failed   map[int]int   // items of calls with many, by frame
	expected int           // instances of the run
	ends     map[runtime.RunStatus]int
	ignore   func() bool // stops waiting for the end of the context; nil for nothing to wait for
}

// A callState is a call that has started or has a question.
type callState struct {
	frame, call int
	name        string
	asking      bool
	since       time.Duration // of its first start
	attempt     int
}

const (
	fewItems      = 20 // instances, or items of a call, up to which each is shown
	shownFailures = 10 // of more
)

// NewRecorded shows a run from its journal.
func NewRecorded(out *Screen, run Run) *Progress {
	p := &Progress{Screen: out, run: run, width: 100, style: StyleFor(out),
		failed: map[int]int{}, ends: map[runtime.RunStatus]int{}, expected: len(run.Plan.Instances)}
	for _, call := range run.Plan.Calls {
		p.names = min(48, max(p.names, diag.Columns(diag.Escape(call.Name))))
	}
	if run.Resumed != nil {
		p.at = run.Resumed.At
	}
	return p
}

// NewProgress shows a run on a screen. When ctx ends the run is being stopped.
func NewProgress(ctx context.Context, screen *Screen, run Run) *Progress {
	p := NewRecorded(screen, run)
	if _, p.isLive = Of(screen); p.isLive {
		p.width = columns(screen, math.MaxInt, p.width)
		p.ignore = context.AfterFunc(ctx, func() { p.Print("  stopping; Ctrl-C again kills\n") })
	}
	title, size := run.Plan.Name, wording.Count(len(run.Plan.Calls), "call")
	if title == "" && run.Plan.File != nil {
		title = run.Plan.File.Name
	}
	if run.Planned {
		size = "planned as it runs"
	}
	p.Print("%s\n\n", p.style.Bold(diag.Escape(title+", "+size)))
	p.expected += run.Joining
	if run.Resumed != nil {
		p.expected += len(run.Resumed.Joined)
		for _, end := range run.Resumed.Machine.Stands().Instances {
			if end.Status == runtime.RunDone { // the others may run again
				p.ends[end.Status]++
			}
		}
	}
	if p.isLive {
		p.draw(p.status())
	}
	return p
}

// note prints a line with a mark.
func (p *Progress) note(mark, text string) { p.Print("  %s %s\n", mark, diag.Escape(text)) }

// Observe shows a command of the run.
func (p *Progress) Observe(at time.Duration, c runtime.Command) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at = at; p.run.Errors != nil {
		return
	} else if p.isLive {
		defer func() { p.draw(p.status()) }()
	}
	switch c.Kind {
	case runtime.Plan:
		p.planning = true
		if c.Tick > p.tick {
			p.tick, p.calls, p.settled = c.Tick, nil, 0
		}
		if c.Tick > 1 {
			p.Print("\n  %s\n", p.style.Faint(fmt.Sprintf("tick %d%s", c.Tick, Used(p.usage))))
		}
	case runtime.EndTick:
		p.planning, p.usage = false, c.End.Usage
		for _, fault := range c.End.Faults {
			p.note(p.style.Red("✗"), "the solution: "+fault.Message)
		}
	case runtime.Leave:
		p.left(c.Left)
	case runtime.Start, runtime.Enter, runtime.Ask, runtime.Repeat, runtime.Settle:
		if c.Instance == "" || p.expected <= fewItems {
			p.observeCall(at, c)
		}
	}
}

// observeCall shows what becomes of a call.
func (p *Progress) observeCall(at time.Duration, c runtime.Command) {
	many := c.Of.ItemOf != nil && len(c.Plan.Calls) > fewItems
	one := p.callState(c)
	switch c.Kind {
	case runtime.Start, runtime.Enter:
		if one.attempt == 0 {
			one.since = at
		}
		one.attempt, one.asking = max(1, c.Attempt), false
		switch {
		case many:
		case c.Attempt > 1:
			p.line(one, p.style.Yellow("↻"), fmt.Sprintf("attempt %d", c.Attempt))
		case c.Uncertainty != "":
			p.line(one, p.style.Yellow("!"), diag.Escape(c.Uncertainty))
		}
	case runtime.Ask:
		if one.asking = true; c.Question.Within > 0 && !p.isLive {
			p.line(one, p.style.Yellow("?"), "asked; an answer is awaited for up to "+Duration(c.Question.Within))
		}
	case runtime.Repeat:
		p.line(one, p.style.Faint("="), p.style.Faint("done already"))
		p.settle(one)
	case runtime.Settle:
		hasFailed := c.Settlement.Status == runtime.Failed || c.Settlement.Status == runtime.Rejected
		if many && hasFailed {
			p.failed[c.Frame]++
		}
		if !many || hasFailed && p.failed[c.Frame] <= shownFailures {
			mark, text := Settlement(p.style, c, max(20, p.width-p.names-14))
			p.line(one, mark, strings.TrimPrefix(text+decided(c.Settlement), "; "))
		}
		if !c.Settlement.Left { // else it continues with the run
			p.settle(one)
		}
	}
}

// callState is the state of a command's call.
func (p *Progress) callState(c runtime.Command) *callState {
	for _, one := range p.calls {
		if one.frame == c.Frame && one.call == c.Call {
			return one
		}
	}
	name := strings.TrimPrefix(c.Instance+" "+runtime.Path(c.Under, c.Of.Name), " ")
	one := &callState{frame: c.Frame, call: c.Call, name: diag.Escape(name)}
	p.calls = append(p.calls, one)
	p.names = min(48, max(p.names, diag.Columns(one.name)))
	return one
}

// settle removes a call from those that are running.
func (p *Progress) settle(one *callState) {
	p.settled++
	p.calls = slices.DeleteFunc(p.calls, func(other *callState) bool { return other == one })
}

// Waits shows what the run waits for.
func (p *Progress) Waits(why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.run.Errors == nil {
		p.note(p.style.Yellow("!"), why)
	}
}

// line prints the line of a call.
func (p *Progress) line(one *callState, mark, text string) {
	took := "      "
	if one.attempt > 0 {
		took = p.style.Faint(fmt.Sprintf("%6s", Duration(p.at-one.since)))
	}
	p.Print("%s\n", strings.TrimRight(fmt.Sprintf("  %s %s %s  %s", mark, Pad(one.name, p.names), took, text), " "))
}

// Settlement is a mark and a text for how a call settled. A result is cut to so many columns.
func Settlement(style Style, c runtime.Command, columns int) (mark, text string) {
	s := c.Settlement
	switch s.Status {
	case runtime.Done:
		return style.Green("✓"), Cut(Brief(s.Output), columns)
	case runtime.Failed:
		mark, text = style.Red("✗"), "failed: "+s.Failure.Message
		if s.Failure.Code != "error" {
			text = "failed (" + s.Failure.Code + "): " + s.Failure.Message
		}
		if s.Attempts > 1 {
			text += fmt.Sprintf(", after %d attempts", s.Attempts)
		}
	case runtime.Rejected:
		mark, text = style.Yellow("✗"), s.Reason
		if s.Decision != nil && s.Decision.Reason != "" {
			text = "rejected: " + s.Decision.Reason
		}
	default:
		if text = s.Reason; !s.Left {
			text = s.Status.String() + ": " + text
		}
		return style.Faint("–"), diag.Escape(text)
	}
	if s.Routed {
		route := "its failure route"
		if offered := compiler.Offered(c.Plan, c.Of); len(offered) > 0 {
			route = offered[len(offered)-1]
		}
		mark, text = style.Yellow("!"), text+", handled by "+route
	}
	return mark, diag.Escape(text)
}

// decided is what people decided about a call.
func decided(s *runtime.Settlement) (text string) {
	if s.Decision == nil {
		return ""
	}
	for _, d := range append(slices.Clone(s.Earlier), s.Decision) {
		if d.By != "" {
			text += fmt.Sprintf("; %s by %s", d.Verdict, diag.Escape(d.By))
		}
	}
	return text
}

// status is a line about which calls are running, and how many have settled.
func (p *Progress) status() string {
	var running []string
	for _, one := range p.calls {
		if !one.asking {
			running = append(running, one.name)
		}
	}
	text := counts("running asking settled", len(running), len(p.calls)-len(running), p.settled)
	if p.planning {
		text = fmt.Sprintf("tick %d, %s", p.tick, text)
	}
	if p.expected > fewItems {
		text = fmt.Sprintf("%s, of %d", Ends(p.ends), p.expected)
	} else if len(running) > 0 {
		text += ": " + strings.Join(running, ", ")
	}
	return "  " + p.style.Faint(Cut("· "+text, p.width-3))
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

// left shows the end of an instance: of many only the first failures.
func (p *Progress) left(end *runtime.InstanceEnd) {
	p.ends[end.Status]++
	mark, text := p.style.Green("●"), string(end.Status)
	switch {
	case p.expected > fewItems && (end.Status != runtime.RunFailed || p.ends[end.Status] > shownFailures):
		return
	case end.Status != runtime.RunFailed:
		if end.Output != nil {
			text += "  " + Cut(Brief(end.Output), max(20, p.width-diag.Columns(end.ID)-14))
		}
	default:
		mark = p.style.Red("●")
		if len(end.Errors) > 0 {
			text = strings.TrimSuffix("failed: "+end.Errors[0].Call, ": ") + ": " + end.Errors[0].Message
		}
		if more := len(end.Errors) - 1; more > 0 {
			text += ", and " + wording.Count(more, "more error")
		}
		text = diag.Escape(text)
	}
	p.Print("  %s %s  %s\n", mark, p.style.Bold(diag.Escape(end.ID)), text)
}

// End shows the result, and last the counts of calls. The outcome of a run that never started is nil.
func (p *Progress) End(o *runtime.Outcome) error {
	if p.isLive {
		p.ignore()
		p.draw("")
	}
	if o == nil {
		return nil
	} else if p.run.Errors != nil {
		return p.onlyOutput(o)
	}
	if p.settled+len(p.calls) > 0 || o.Instances != nil {
		p.Print("\n")
	}
	if o.Output != nil && o.Status != runtime.RunStopped {
		p.Print("%s\n\n", Display(o.Output))
	}
	for _, e := range o.Errors {
		if e.Call == "" && o.Ticks == 0 && o.Instances == nil { // those of ticks were shown before
			p.Print("%s %s\n", p.style.Red("✗"), diag.Escape(e.Message))
		}
	}
	paint := p.style.Green
	switch o.Status {
	case runtime.RunFailed:
		paint = p.style.Red
	case runtime.RunStopped:
		paint = p.style.Yellow
	}
	text := paint(string(o.Status))
	if o.Status == runtime.RunStopped && o.Reason != "" {
		text += " (" + diag.Escape(string(o.Reason)) + ")"
	}
	text += " in "
	if o.Ticks > 1 {
		text += fmt.Sprintf("%d ticks, ", o.Ticks)
	}
	if text += Duration(p.at); p.run.Simulated {
		text += " of virtual time"
	}
	text += Used(o.Usage) + ": "
	if o.Instances != nil {
		ends := map[runtime.RunStatus]int{}
		for _, end := range o.Instances {
			ends[end.Status]++
		}
		text += wording.Count(len(o.Instances), "instance") + ": " + Ends(ends)
		if p.run.Results != "" {
			text += "; results in " + diag.Escape(p.run.Results)
		}
		text += "; calls: "
	}
	if text += Tally(o.Counts, o.Status); p.run.Journal != "" {
		text += p.style.Faint("; journal " + diag.Escape(p.run.Journal))
	}
	p.Print("%s\n", text)
	return p.Err()
}

// onlyOutput shows the output of a run, or why there is none.
func (p *Progress) onlyOutput(o *runtime.Outcome) error {
	for _, e := range o.Errors {
		p.run.Errors.Print("obelus: %s\n", diag.Escape(strings.TrimPrefix(e.Call+": "+e.Message, ": ")))
	}
	if o.Status == runtime.RunStopped {
		p.run.Errors.Print("obelus: stopped: %s\n", diag.Escape(string(o.Reason)))
	} else if o.Output != nil {
		p.Print("%s\n", Display(o.Output))
	}
	return p.Err()
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
		text += ", cost " + strconv.FormatFloat(u.Cost, 'g', 4, 64)
	}
	return text
}

// Tally is how many calls settled in which way. Cancelled calls of a run that can be resumed are
// unfinished.
func Tally(of runtime.Counts, status runtime.RunStatus) string {
	names := "done failed skipped rejected cancelled"
	if status == runtime.RunStopped || status == runtime.RunGoesOn {
		names = "done failed skipped rejected unfinished"
	}
	return counts(names, of.Done, of.Failed, of.Skipped, of.Rejected, of.Cancelled)
}
