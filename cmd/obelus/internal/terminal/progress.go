package terminal

import (
	"context"
	"fmt"
	"io"
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
	"golang.org/x/term"
)

// A Run is what progress shows of a run besides its events.
type Run struct {
	Plan             *plan.Plan
	Planned          bool                          // a model writes what runs
	Journal, Results string                        // paths; "" for none
	Taken            func() (taken int, more bool) // of the file of instances; nil for none
	Resumed          *session.Replay               // the contents of its journal; nil for a new run
}

// Progress shows a run: a line for each finished call, and on a terminal the running calls below.
type Progress struct {
	out   io.Writer
	run   Run
	style Style
	width int  // columns of a line
	live  bool // running calls are drawn
	names int  // columns for names

	mu             sync.Mutex
	started        time.Time
	at             time.Duration // of the last command
	tick           int           // 0 without a planner
	usage          runtime.Usage // at the end of the last tick
	planning       bool          // the planner has been asked
	calls          []*callState  // that are running or have a question
	frames         map[int]*frameState
	instanceCounts instanceCounts
	drawn          int  // lines of running calls
	held           bool // a question has the terminal
	stop           chan struct{}
	drawing        sync.WaitGroup
	err            error
}

// A frameState counts the calls of one frame.
type frameState struct{ calls, settled, failed int }

// A callState is a call that has started or has a question.
type callState struct {
	frame, call int
	name        string
	asking      bool
	since       time.Duration // of its first start
	attempt     int
	report      string // its own report of progress
}

const (
	FewInstances  = 20 // up to which each call is shown; also of the items of a call
	shownFailures = 10 // of more instances or items
	shownRunning  = 8  // calls with a line of their own
	maxDropped    = 10 // names of calls that a solution leaves out
)

// NewRecorded shows a run from its journal.
func NewRecorded(out io.Writer, run Run) *Progress {
	p := &Progress{out: out, run: run, width: 100, stop: make(chan struct{}), style: StyleFor(out)}
	for _, call := range run.Plan.Calls {
		p.names = min(48, max(p.names, diag.Columns(diag.Escape(call.Name))))
	}
	p.instanceCounts.expected = len(run.Plan.Instances)
	if run.Resumed != nil {
		p.at = run.Resumed.At
	}
	return p
}

// NewProgress shows a run on a writer, or on the terminal behind a gate. When ctx ends the run is
// being stopped.
func NewProgress(ctx context.Context, out io.Writer, run Run) *Progress {
	p := NewRecorded(out, run)
	p.started = time.Now()
	screen := out
	if g, ok := out.(*Gate); ok {
		g.drawing, screen = p, g.to
	}
	p.style = StyleFor(screen)
	if fd, ok := Of(screen); ok {
		p.live = true
		if width, _, err := term.GetSize(fd); err == nil && width > 0 {
			p.width = width
		}
		p.drawing.Go(func() { p.refresh(ctx) })
	}
	p.instanceCounts.read = run.Taken
	title, size := run.Plan.Name, wording.Count(len(run.Plan.Calls), "call")
	if title == "" && run.Plan.File != nil {
		title = run.Plan.File.Name
	}
	if run.Planned {
		size = "planned as it runs"
	}
	p.print("%s\n\n", p.style.Bold(diag.Escape(title+", "+size)))
	if run.Resumed != nil {
		p.instanceCounts.expected += len(run.Resumed.Joined)
		for _, end := range run.Resumed.Left {
			p.instanceCounts.count(end)
		}
	}
	return p
}

func (p *Progress) print(format string, args ...any) {
	if _, err := fmt.Fprintf(p.out, format, args...); err != nil && p.err == nil {
		p.err = err
	}
}

// note prints a line above the running calls.
func (p *Progress) note(mark, text string) {
	p.erase()
	p.print("  %s %s\n", mark, diag.Escape(text))
}

// Observe shows a command of the run.
func (p *Progress) Observe(at time.Duration, c runtime.Command) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at = at
	switch c.Kind {
	case runtime.Plan:
		p.planning = true
		if c.Tick > p.tick {
			if p.tick, p.calls, p.frames = c.Tick, nil, nil; c.Tick > 1 {
				p.erase()
				used := Used(p.usage)
				if used != "" {
					used += " so far"
				}
				p.print("\n  %s\n", p.style.Faint(fmt.Sprintf("tick %d%s", c.Tick, used)))
			}
		}
	case runtime.EndTick:
		p.planning, p.usage = false, c.End.Usage
		if len(c.End.Dropped) > 0 {
			p.note(p.style.Yellow("!"), "the solution leaves out calls that the plan still had to run: "+wording.Names(c.End.Dropped, maxDropped))
		}
		for _, fault := range c.End.Faults {
			p.note(p.style.Red("✗"), "the solution: "+fault.Message)
		}
	case runtime.Advise:
		p.erase()
		p.print("  %s\n", p.style.Faint(ranking(c.Instance, c.Ranking)))
	case runtime.Leave:
		p.left(c.Left)
	case runtime.Start, runtime.Enter, runtime.Progressed, runtime.Ask, runtime.Repeat, runtime.Settle:
		if c.Instance != "" && p.instanceCounts.known() > FewInstances {
			p.instanceCounts.started(c)
		} else {
			p.observeCall(at, c)
		}
	}
}

// observeCall shows what becomes of a call.
func (p *Progress) observeCall(at time.Duration, c runtime.Command) {
	if p.frames == nil {
		p.frames = map[int]*frameState{}
	}
	f := p.frames[c.Frame]
	if f == nil {
		f = &frameState{}
		p.frames[c.Frame] = f
	}
	f.calls = max(f.calls, len(c.Plan.Calls))
	many := c.Of.ItemOf != nil && f.calls > FewInstances
	one := p.callState(c)
	switch c.Kind {
	case runtime.Start, runtime.Enter:
		if one.attempt == 0 {
			one.since = at
		}
		one.attempt, one.report, one.asking = max(1, c.Attempt), "", false
		switch {
		case many:
		case c.Attempt > 1:
			p.finished(one, p.style.Yellow("↻"), fmt.Sprintf("attempt %d", c.Attempt))
		case c.Uncertainty != "":
			p.finished(one, p.style.Yellow("!"), diag.Escape(c.Uncertainty))
		}
	case runtime.Progressed:
		one.report = report(c.Progress)
	case runtime.Ask:
		if one.asking = true; c.Question.Within > 0 && !p.live {
			p.finished(one, p.style.Yellow("?"), "asked; an answer is awaited for up to "+Duration(c.Question.Within))
		}
	case runtime.Repeat:
		p.finished(one, p.style.Faint("="), p.style.Faint("done already"))
		p.settled(c, f)
	case runtime.Settle:
		status := c.Settlement.Status
		if many && (status == runtime.Failed || status == runtime.Rejected) {
			f.failed++
		}
		if !many || (status == runtime.Failed || status == runtime.Rejected) && f.failed <= shownFailures {
			mark, text := p.settlement(c)
			p.finished(one, mark, text)
		}
		if !c.Settlement.Left { // else it continues with the run
			p.settled(c, f)
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

// settled removes a call, and its frame once all of that is settled.
func (p *Progress) settled(c runtime.Command, f *frameState) {
	p.calls = slices.DeleteFunc(p.calls, func(one *callState) bool { return one.frame == c.Frame && one.call == c.Call })
	if f.settled++; f.settled == f.calls && (c.Under != "" || c.Of.ItemOf != nil) {
		delete(p.frames, c.Frame)
	}
}

// Waits shows what the run waits for.
func (p *Progress) Waits(why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.note(p.style.Yellow("!"), why)
}

// finished prints the line of a call.
func (p *Progress) finished(one *callState, mark, text string) {
	p.erase()
	took := "      "
	if one.attempt > 0 {
		took = p.style.Faint(fmt.Sprintf("%6s", Duration(p.at-one.since)))
	}
	p.print("%s\n", strings.TrimRight(fmt.Sprintf("  %s %s %s  %s", mark, Pad(one.name, p.names), took, text), " "))
}

// settlement is a mark and a text for how a call settled. Results are cut to the line.
func (p *Progress) settlement(c runtime.Command) (mark, text string) {
	s := c.Settlement
	switch s.Status {
	case runtime.Done:
		return p.style.Green("✓"), Cut(Brief(s.Output), max(20, p.width-p.names-14))
	case runtime.Failed:
		mark, text = p.style.Red("✗"), "failed: "+s.Failure.Message
		if s.Failure.Code != "error" {
			text = "failed (" + s.Failure.Code + "): " + s.Failure.Message
		}
		if s.Attempts > 1 {
			text += fmt.Sprintf(", after %d attempts", s.Attempts)
		}
	case runtime.Skipped:
		return p.style.Faint("–"), diag.Escape("skipped: " + s.Reason)
	case runtime.Rejected:
		mark, text = p.style.Yellow("✗"), s.Reason
		if s.Decision != nil && s.Decision.Reason != "" {
			text = "rejected: " + s.Decision.Reason
		}
	default:
		if s.Left {
			return p.style.Faint("–"), diag.Escape(s.Reason)
		}
		return p.style.Faint("–"), diag.Escape(s.Status.String() + ": " + s.Reason)
	}
	if s.Routed {
		route := "its failure route"
		if offered := compiler.Offered(c.Plan, c.Of); len(offered) > 0 {
			route = offered[len(offered)-1]
		}
		mark, text = p.style.Yellow("!"), text+", handled by "+route
	}
	return mark, diag.Escape(text)
}

// refresh redraws the running calls until the run ends.
func (p *Progress) refresh(ctx context.Context) {
	tick := time.NewTicker(120 * time.Millisecond)
	defer tick.Stop()
	interrupted := ctx.Done()
	for {
		select {
		case <-p.stop:
			return
		case <-interrupted:
			interrupted = nil
			p.mu.Lock()
			p.erase()
			p.print("  stopping; Ctrl-C again kills\n")
			p.mu.Unlock()
		case <-tick.C:
			p.mu.Lock()
			if !p.held {
				p.erase()
				p.draw(time.Since(p.started))
			}
			p.mu.Unlock()
		}
	}
}

// draw shows the running calls, and how many calls wait and have settled.
func (p *Progress) draw(now time.Duration) {
	var lines []string
	running, asking, all, settled := 0, 0, 0, 0
	for _, one := range p.calls {
		if one.asking {
			asking++
		} else if running++; running <= shownRunning {
			again := ""
			if one.attempt > 1 {
				again = fmt.Sprintf(", attempt %d", one.attempt)
			}
			lines = append(lines, fmt.Sprintf("%s %6s  running%s", Pad(one.name, p.names), Duration(now-one.since), again+one.report))
		}
	}
	for _, f := range p.frames {
		all, settled = all+f.calls, settled+f.settled
	}
	text := fmt.Sprintf("%s: ", Duration(now))
	if p.planning {
		text += fmt.Sprintf("tick %d, ", p.tick)
	}
	text += fmt.Sprintf("%d running, ", running)
	if asking > 0 {
		text += fmt.Sprintf("%d asking, ", asking)
	}
	if waiting := all - settled - running - asking; waiting > 0 {
		text += fmt.Sprintf("%d waiting, ", waiting)
	}
	if text += fmt.Sprintf("%d settled", settled); p.instanceCounts.known() > FewInstances {
		lines, text = nil, Duration(now)+": "+p.instanceCounts.text()
	}
	for _, line := range append(lines, text) {
		p.print("  %s\n", p.style.Faint(Cut("· "+line, p.width-3)))
	}
	p.drawn = len(lines) + 1
}

// report is a call's own report of progress on one line.
func report(r *runtime.Progress) string {
	text := ": " + strconv.FormatFloat(r.Done, 'g', 6, 64)
	if r.Total > 0 {
		text = fmt.Sprintf(": %.0f%%", 100*r.Done/r.Total)
	}
	if r.Message != "" {
		text += ", " + diag.Escape(r.Message)
	}
	return text
}

// ranking is how the advisors rate the tools, on one line.
func ranking(instance string, ranks []plan.Rank) string {
	all := make([]string, len(ranks))
	for i, r := range ranks {
		all[i] = diag.Escape(r.Tool) + " " + strconv.FormatFloat(r.Weight, 'g', 4, 64)
	}
	line := "advice"
	if instance != "" {
		line += " for " + diag.Escape(instance)
	}
	if len(all) == 0 {
		return line + ": nobody votes"
	}
	return line + ": " + strings.Join(all, ", ")
}

// erase removes the lines of running calls.
func (p *Progress) erase() {
	if p.drawn > 0 {
		p.print("\x1b[%dA\x1b[J", p.drawn)
		p.drawn = 0
	}
}

// Abandon ends the drawing of a run that never started.
func (p *Progress) Abandon() {
	close(p.stop)
	p.drawing.Wait()
	p.erase()
}

// End shows the result, and last the counts of calls.
func (p *Progress) End(o *runtime.Outcome) error {
	p.Abandon()
	if len(p.frames) > 0 || o.Instances != nil {
		p.print("\n")
	}
	if o.Output != nil && o.Status != runtime.RunStopped {
		p.print("%s\n\n", Display(o.Output))
	}
	for _, e := range o.Errors {
		if e.Call == "" && o.Ticks == 0 && o.Instances == nil { // those of ticks were shown before
			p.print("%s %s\n", p.style.Red("✗"), diag.Escape(e.Message))
		}
	}
	if n := p.instanceCounts.uncertain; n > 0 {
		p.print("%s %s started that the advisors rate below the threshold\n", p.style.Yellow("!"), wording.Count(n, "call"))
	}
	status := string(o.Status)
	switch o.Status {
	case runtime.RunFailed:
		status = p.style.Red(status)
	case runtime.RunStopped:
		if status = p.style.Yellow(status); o.Reason != "" {
			status += " (" + diag.Escape(string(o.Reason)) + ")"
		}
	default:
		status = p.style.Green(status)
	}
	in := " in "
	if o.Ticks > 1 {
		in += fmt.Sprintf("%d ticks, ", o.Ticks)
	}
	counts := ": "
	if o.Instances != nil {
		counts = ": " + p.tallyInstances(o) + "; calls: "
	}
	counts += Tally(o.Counts, o.Status)
	if p.run.Journal != "" {
		counts += p.style.Faint("; journal " + diag.Escape(p.run.Journal))
	}
	p.print("%s\n", status+in+Duration(p.at)+Used(o.Usage)+counts)
	return p.err
}

// Used is what models have used, behind other text; "" for nothing.
func Used(u runtime.Usage) string {
	if u.Tokens() == 0 {
		return ""
	}
	text := fmt.Sprintf(", %d tokens", u.Tokens())
	if u.Cost > 0 {
		text += fmt.Sprintf(", cost %s", strconv.FormatFloat(u.Cost, 'g', 4, 64))
	}
	return text
}

// Tally is how many calls settled in which way. Cancelled calls of a run that can be resumed are
// unfinished.
func Tally(counts runtime.Counts, status runtime.RunStatus) string {
	cancelled := "cancelled"
	if status == runtime.RunStopped || status == runtime.RunGoesOn {
		cancelled = "unfinished"
	}
	text := fmt.Sprintf("%d done", counts.Done)
	for _, part := range []struct {
		n    int
		name string
	}{{counts.Failed, "failed"}, {counts.Skipped, "skipped"}, {counts.Rejected, "rejected"}, {counts.Cancelled, cancelled}} {
		if part.n > 0 {
			text += fmt.Sprintf(", %d %s", part.n, part.name)
		}
	}
	return text
}

// hold removes the running calls from the screen until release.
func (p *Progress) hold() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
	p.held = true
}

func (p *Progress) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held = false
}
