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
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/session"
	"golang.org/x/term"
)

// A shownRun is what there is to show of a run besides what it does.
type Run struct {
	Plan             *compiler.Plan
	Planned          bool                               // a model writes what is run
	Journal, Results string                             // their paths; "" for none
	Taken            func() (taken int, all, file bool) // of the file of instances; nil where there is none
	Resumed          *session.Replay                    // what its journal held; nil for a run that begins
}

// Progress shows a run to people: a line for every call that settles,
// and on a terminal, below these lines, what is at work and what waits.
type Progress struct {
	out   io.Writer
	run   Run
	style Style
	width int  // columns of a line
	live  bool // there is a terminal to draw on
	names int  // columns of the column of names

	mu       sync.Mutex
	begun    time.Time
	at       time.Duration // of the last command
	tick     int           // 0 when nobody plans
	usage    runtime.Usage // of models, as the last tick ended
	planning bool          // the planner is asked, and its tick hasn't ended
	frames   []*shownFrame // at work, as far as their calls are known
	crowd    crowdShown
	drawn    int  // lines below the settled ones
	held     bool // a question has the terminal
	stop     chan struct{}
	ended    sync.WaitGroup
	err      error
}

// A shownFrame is the calls of one plan at work: of the run, of an instance of
// it, or of a delegate.
type shownFrame struct {
	number   int
	label    string // before the names of its calls
	instance string
	plan     *compiler.Plan
	calls    []shownCall
	nested   bool // it is a delegate's, or the items of a call
	items    bool // it is the items of a call
	settled  int  // of its calls
	failed   int  // of these
}

// many reports whether a frame is of more items than have a line each.
func (f *shownFrame) many() bool { return f.items && len(f.calls) > FewInstances }

// A shownCall is where a call stands, to somebody who looks on.
type shownCall struct {
	name    string
	status  runtime.Status
	started bool
	since   time.Duration // it was first started
	attempt int
	told    string // how far it says that it is, behind "running"
}

// NewEnded shows how a run ended that had ended before.
func NewEnded(out io.Writer, run Run) *Progress {
	return &Progress{out: out, run: run, style: StyleFor(out), at: run.Resumed.At, stop: make(chan struct{})}
}

// NewTold shows a run that isn't going on here, as its journal tells of it.
func NewTold(out io.Writer, run Run) *Progress {
	p := &Progress{out: out, run: run, width: 100, stop: make(chan struct{}), style: StyleFor(out)}
	p.crowd.expected = len(run.Plan.Instances)
	if !run.Planned && p.crowd.expected == 0 && !run.Plan.AwaitsInstances {
		p.frame(runtime.Command{Site: &runtime.Site{}, Plan: run.Plan})
	}
	return p
}

// NewProgress shows a run on a writer, or on the terminal to which that leads. When ctx
// ends the run is being stopped.
func NewProgress(ctx context.Context, out io.Writer, run Run) *Progress {
	p := &Progress{out: out, run: run, width: 100, begun: time.Now(), stop: make(chan struct{})}
	plan := run.Plan
	screen := behind(out, p)
	p.style = StyleFor(screen)
	p.crowd.expected, p.crowd.read = len(plan.Instances), run.Taken
	if fd, ok := Of(screen); ok {
		p.live = true
		if width, _, err := term.GetSize(fd); err == nil && width > 0 {
			p.width = width
		}
		p.ended.Go(func() { p.refresh(ctx) })
	}
	title := plan.Name
	if title == "" && plan.File != nil {
		title = plan.File.Name
	}
	size := wording.Count(len(plan.Calls), "call")
	switch {
	case run.Planned:
		size = "planned as it runs"
	case p.crowd.expected == 0 && !plan.AwaitsInstances:
		p.frame(runtime.Command{Site: &runtime.Site{}, Plan: plan})
	}
	p.print("%s\n\n", p.style.Bold(diag.Escape(title+", "+size)))
	if run.Resumed != nil {
		p.crowd.resumed(run.Resumed)
	}
	return p
}

// frame is the one that a command is about. All calls of a plan are known at
// once, but for those of a solution, which come as it is written.
func (p *Progress) frame(c runtime.Command) *shownFrame {
	at := slices.IndexFunc(p.frames, func(f *shownFrame) bool { return f.number == c.Frame })
	if at < 0 {
		at = len(p.frames)
		f := &shownFrame{number: c.Frame, plan: c.Plan, instance: c.Instance, label: c.Instance, nested: c.Above() != "", items: c.Of != nil && c.Of.ItemOf != nil}
		if c.Instance != "" {
			f.label += " "
		}
		if c.Under != "" {
			f.label += c.Under + "/"
		}
		p.frames = append(p.frames, f)
	}
	f := p.frames[at]
	known := len(c.Plan.Calls)
	if p.tick > 0 && !f.nested {
		known = min(known, c.Call+1)
	}
	for i := len(f.calls); i < known; i++ {
		name := diag.Escape(f.label + c.Plan.Calls[i].Name)
		f.calls = append(f.calls, shownCall{name: name})
		p.names = min(48, max(p.names, diag.Columns(name)))
	}
	return f
}

// about is the call that a command is about.
func (p *Progress) about(c runtime.Command) *shownCall {
	return &p.frame(c).calls[c.Call]
}

// over lets go of a delegate whose calls have all settled. Of many items it tells, where
// there is no terminal, from time to time how many have.
func (p *Progress) over(c runtime.Command) {
	f := p.frame(c)
	if f.settled++; f.many() && !p.live && f.settled < len(f.calls) && f.settled == nextTold(f.settled-1) {
		p.print("  %s\n", p.style.Faint(fmt.Sprintf("· %s%s: %d of %d settled", diag.Escape(f.label), diag.Escape(c.Of.ItemOf.Name), f.settled, len(f.calls))))
	}
	if f.nested && f.settled == len(f.calls) {
		p.frames = slices.DeleteFunc(p.frames, func(other *shownFrame) bool { return other == f })
	}
}

func (p *Progress) print(format string, args ...any) {
	if _, err := fmt.Fprintf(p.out, format, args...); err != nil && p.err == nil {
		p.err = err
	}
}

// Observe shows what a command of the run means.
func (p *Progress) Observe(at time.Duration, c runtime.Command) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at = at
	if p.watch(c) {
		return
	}
	switch c.Kind {
	case runtime.Plan:
		p.beginTick(c.Tick)
	case runtime.EndTick:
		p.planning, p.usage = false, c.End.Usage
		if len(c.End.Dropped) > 0 {
			p.erase()
			p.print("  %s %s\n", p.style.Yellow("!"), diag.Escape("the solution leaves out what the plan still had to do: "+wording.Names(c.End.Dropped, maxDropped)))
		}
		for _, fault := range c.End.Faults {
			p.erase()
			p.print("  %s %s\n", p.style.Red("✗"), diag.Escape("the solution: "+fault.Message))
		}
	case runtime.Start, runtime.Enter:
		one := p.about(c)
		one.status, one.attempt, one.told = runtime.Running, c.Attempt, ""
		if !one.started {
			one.started, one.since = true, at
		}
		switch {
		case p.frame(c).many():
		case c.Attempt > 1:
			p.above(one, p.style.Yellow("↻"), fmt.Sprintf("try %d", c.Attempt))
		case c.Doubt != "":
			p.above(one, p.style.Yellow("!"), diag.Escape(c.Doubt))
		}
	case runtime.Progressed:
		p.about(c).told = howFar(c.Progress)
	case runtime.Advise:
		p.erase()
		p.print("  %s\n", p.style.Faint(advised(c.Instance, c.Ranking)))
	case runtime.Ask:
		one := p.about(c)
		if one.status = runtime.Asking; c.Question.Within > 0 && !p.live {
			p.above(one, p.style.Yellow("?"), "asked; an answer is waited for up to "+Duration(c.Question.Within))
		}
	case runtime.Repeat:
		one := p.about(c)
		one.status = runtime.Done
		p.above(one, p.style.Faint("="), p.style.Faint("done already"))
	case runtime.Settle:
		one := p.about(c)
		one.status = c.Settlement.Status
		if p.isTold(c) {
			mark, words := p.settled(c)
			p.above(one, mark, words)
		}
		p.over(c)
	}
}

// isTold reports whether a settlement has a line: of many items only those that failed
// have, and of these the first.
func (p *Progress) isTold(c runtime.Command) bool {
	f := p.frame(c)
	if !f.many() {
		return true
	}
	if status := c.Settlement.Status; status != runtime.Failed && status != runtime.Rejected {
		return false
	}
	f.failed++
	return f.failed <= shownFailures
}

// maxDropped is how many calls are named that a solution leaves out.
const maxDropped = 10

// Waits tells that programs wait for processes, files or memory.
func (p *Progress) Waits(why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
	p.print("  %s %s\n", p.style.Yellow("!"), diag.Escape(why))
}

// beginTick makes room for the calls of the next solution.
func (p *Progress) beginTick(tick int) {
	p.planning = true
	if tick == p.tick {
		return // its answer is asked for again
	}
	p.tick, p.frames = tick, nil
	if tick > 1 {
		p.erase()
		p.print("\n  %s\n", p.style.Faint(fmt.Sprintf("tick %d%s", tick, sofar(Used(p.usage)))))
	}
}

// above writes a line over those that come and go.
func (p *Progress) above(one *shownCall, mark, words string) {
	p.erase()
	took := "      "
	if one.started {
		took = p.style.Faint(fmt.Sprintf("%6s", Duration(p.at-one.since)))
	}
	p.print("%s\n", strings.TrimRight(fmt.Sprintf("  %s %s %s  %s", mark, Pad(one.name, p.names), took, words), " "))
}

// settled says in a mark and a few words how a call settled: results are cut
// to the line, trouble never is.
func (p *Progress) settled(c runtime.Command) (mark, words string) {
	s := c.Settlement
	switch s.Status {
	case runtime.Done:
		return p.style.Green("✓"), Cut(Brief(s.Output), max(20, p.width-p.names-14))
	case runtime.Failed:
		words = diag.Escape("failed: " + s.Failure.Message)
		if s.Failure.Code != "error" {
			words = diag.Escape("failed (" + s.Failure.Code + "): " + s.Failure.Message)
		}
		if s.Attempts > 1 {
			words = fmt.Sprintf("%s, after %d tries", words, s.Attempts)
		}
		mark = p.style.Red("✗")
	case runtime.Skipped:
		return p.style.Faint("–"), diag.Escape("skipped: " + s.Reason)
	case runtime.Rejected:
		mark, words = p.style.Yellow("✗"), diag.Escape(rejection(s))
	default:
		if s.Left {
			return p.style.Faint("–"), diag.Escape(s.Reason)
		}
		return p.style.Faint("–"), diag.Escape(s.Status.String() + ": " + s.Reason)
	}
	if s.Routed {
		return p.style.Yellow("!"), words + ", handled by " + diag.Escape(route(c))
	}
	return mark, words
}

// rejection says who or what rejected a call, and why.
func rejection(s *runtime.Settlement) string {
	if s.Decision != nil && s.Decision.Reason != "" {
		return "rejected: " + s.Decision.Reason
	}
	return s.Reason
}

// route is the path that the failure of a call was written to, as text.
func route(c runtime.Command) string {
	if offered := c.Plan.Offered(c.Of); len(offered) > 0 {
		return offered[len(offered)-1]
	}
	return "its failure route"
}

// refresh redraws what is at work until the run ends.
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
				p.draw(time.Since(p.begun))
			}
			p.mu.Unlock()
		}
	}
}

// shownAtWork is how many calls at work, and how many that wait, have a line.
const shownAtWork = 8

func (p *Progress) draw(now time.Duration) {
	if p.crowd.many {
		p.drawn = 1
		p.print("  %s\n", p.style.Faint(Cut("· "+Duration(now)+": "+p.crowd.line(now), p.width-3)))
		return
	}
	running, asking, waiting, all := 0, 0, 0, 0
	var lines []string
	for _, f := range p.frames {
		all += len(f.calls)
		for i := range f.calls {
			one := &f.calls[i]
			switch {
			case one.status == runtime.Running:
				if running++; running <= shownAtWork {
					again := ""
					if one.attempt > 1 {
						again = fmt.Sprintf(", try %d", one.attempt)
					}
					lines = append(lines, fmt.Sprintf("%s %6s  running%s", Pad(one.name, p.names), Duration(now-one.since), again+one.told))
				}
			case one.status == runtime.Asking:
				asking++
			case !one.status.Settled():
				waiting++
			}
		}
	}
	if running > shownAtWork {
		lines = append(lines, fmt.Sprintf("and %d more running", running-shownAtWork))
	}
	if first := p.firstWaiting(); first != "" {
		lines = append(lines, first)
	}
	var parts []string
	if p.planning {
		parts = append(parts, fmt.Sprintf("tick %d", p.tick))
	}
	if running+asking+waiting > 0 {
		parts = append(parts, fmt.Sprintf("%d running", running))
	}
	if asking > 0 {
		parts = append(parts, fmt.Sprintf("%d asking", asking))
	}
	if waiting > 0 {
		parts = append(parts, fmt.Sprintf("%d waiting", waiting))
	}
	switch settled := all - running - asking - waiting; {
	case len(parts) == 0:
		lines = append(lines, "what was cancelled is given time to end")
	case p.tick > 0:
		lines = append(lines, fmt.Sprintf("%s: %s, %d settled", Duration(now), strings.Join(parts, ", "), settled))
	default:
		lines = append(lines, fmt.Sprintf("%s: %s, %d of %d settled", Duration(now), strings.Join(parts, ", "), settled, all))
	}
	for _, line := range lines {
		p.print("  %s\n", p.style.Faint(Cut("· "+line, p.width-3)))
	}
	p.drawn = len(lines)
}

// howFar is what a call says of how far it is, in one line.
func howFar(r *runtime.Progress) string {
	words := ": " + strconv.FormatFloat(r.Done, 'g', 6, 64)
	if r.Total > 0 {
		words = fmt.Sprintf(": %.0f%%", 100*r.Done/r.Total)
	}
	if r.Message != "" {
		words += ", " + diag.Escape(r.Message)
	}
	return words
}

// firstWaiting says what the first call that hasn't started waits for; the calls
// of a solution aren't all known.
func (p *Progress) firstWaiting() string {
	if p.tick > 0 {
		return ""
	}
	for _, f := range p.frames {
		for i := range f.calls {
			one := &f.calls[i]
			if one.status != runtime.Waiting && one.status != runtime.Queued {
				continue
			}
			var names []string
			for _, d := range f.plan.Graph.Deps(i) {
				if !f.calls[d].status.Settled() {
					names = append(names, f.calls[d].name)
				}
			}
			if len(names) > 3 {
				names = append(names[:3], "others")
			}
			if len(names) > 0 {
				return one.name + " waits for " + strings.Join(names, ", ")
			}
		}
	}
	return ""
}

// erase takes away the lines that come and go.
func (p *Progress) erase() {
	if p.drawn > 0 {
		p.print("\x1b[%dA\x1b[J", p.drawn)
		p.drawn = 0
	}
}

// Abandon ends the drawing of a run that never began.
func (p *Progress) Abandon() {
	close(p.stop)
	p.ended.Wait()
	p.erase()
}

// End shows the result, and last what was done, failed and skipped.
func (p *Progress) End(o *runtime.Outcome) error {
	p.Abandon()
	if len(p.frames) > 0 || o.Instances != nil {
		p.print("\n")
	}
	if o.Output != nil && o.Status != runtime.RunStopped {
		p.print("%s\n\n", Display(o.Output))
	}
	for _, e := range o.Errors {
		if e.Call == "" && o.Ticks == 0 && o.Instances == nil { // those of ticks were told as they came
			p.print("%s %s\n", p.style.Red("✗"), diag.Escape(e.Message))
		}
	}
	if n := p.crowd.doubted; n > 0 {
		p.print("%s %s started that the advisors rate below the threshold\n", p.style.Yellow("!"), wording.Count(n, "call"))
	}
	kept := ""
	if p.run.Journal != "" {
		kept = p.style.Faint("; journal " + diag.Escape(p.run.Journal))
	}
	p.print("%s%s\n", p.summary(o), kept)
	return p.err
}

func (p *Progress) summary(o *runtime.Outcome) string {
	word := p.style.Green(string(o.Status))
	switch o.Status {
	case "failed":
		word = p.style.Red(string(o.Status))
	case "stopped":
		word = p.style.Yellow(string(o.Status))
		if o.Reason != "" {
			word += " (" + diag.Escape(string(o.Reason)) + ")"
		}
	}
	in := " in " + Duration(p.at)
	if o.Ticks > 1 {
		in = fmt.Sprintf(" in %d ticks, %s", o.Ticks, Duration(p.at))
	}
	in += Used(o.Usage)
	if o.Instances != nil {
		return word + in + ": " + p.tallyInstances(o) + "; calls: " + Tally(o.Counts, o.Status)
	}
	return word + in + ": " + Tally(o.Counts, o.Status)
}

// Used says what models have used, behind something else.
func Used(u runtime.Usage) string {
	if u.Tokens() == 0 {
		return ""
	}
	words := fmt.Sprintf(", %d tokens", u.Tokens())
	if u.Cost > 0 {
		words += fmt.Sprintf(", cost %s", strconv.FormatFloat(u.Cost, 'g', 4, 64))
	}
	return words
}

// sofar says of what was used that it isn't all.
func sofar(used string) string {
	if used == "" {
		return ""
	}
	return used + " so far"
}

// Tally says how many calls settled in which way. Those of a run that was stopped, or goes
// on, which haven't settled are still to come to their end.
func Tally(counts runtime.Counts, status runtime.RunStatus) string {
	cancelled := "cancelled"
	if status == runtime.RunStopped || status == runtime.RunGoesOn {
		cancelled = "unfinished"
	}
	parts := []string{fmt.Sprintf("%d done", counts.Done)}
	for _, part := range []struct {
		n    int
		word string
	}{{counts.Failed, "failed"}, {counts.Skipped, "skipped"}, {counts.Rejected, "rejected"}, {counts.Cancelled, cancelled}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.word))
		}
	}
	return strings.Join(parts, ", ")
}

// hold takes the lines that come and go off the screen until release.
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
