package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/runtime"
	"golang.org/x/term"
)

// Progress shows a run to people (S8.7): a line for every call that settles,
// and on a terminal, below these lines, what is at work and what waits.
type progress struct {
	out     io.Writer
	plan    *compiler.Plan
	style   style
	journal string // its path; "" when the run keeps none
	width   int    // columns of a line
	live    bool   // there is a terminal to draw on
	names   int    // columns of the column of names

	mu       sync.Mutex
	begun    time.Time
	at       time.Duration // of the last command
	tick     int           // 0 when nobody plans
	planning bool          // the planner is asked, and its tick hasn't ended
	calls    []shownCall   // of the tick, as far as they are known
	drawn    int           // lines below the settled ones
	held     bool          // a question has the terminal
	stop     chan struct{}
	ended    sync.WaitGroup
	err      error
}

// A shownCall is where a call stands, to somebody who looks on.
type shownCall struct {
	call    *compiler.Call
	status  runtime.Status
	started bool
	since   time.Duration // it was first started
	attempt int
}

func newProgress(out io.Writer, plan *compiler.Plan, planned bool, ctx context.Context) *progress {
	p := &progress{out: out, plan: plan, width: 100, begun: time.Now(), stop: make(chan struct{})}
	screen := behind(out, p)
	p.style = styleFor(screen)
	for _, call := range plan.Calls {
		p.meet(call)
	}
	if fd, ok := terminalOf(screen); ok {
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
	size := count(len(plan.Calls), "call")
	if planned {
		p.calls = nil // they come with the solutions
		size = "planned as it runs"
	}
	p.print("%s\n\n", p.style.bold(diag.Escape(title+", "+size)))
	return p
}

func (p *progress) meet(call *compiler.Call) {
	p.calls = append(p.calls, shownCall{call: call})
	p.names = min(32, max(p.names, utf8.RuneCountInString(call.Name)))
}

// about is the call that a command is about.
func (p *progress) about(c runtime.Command) *shownCall {
	for len(p.calls) <= c.Call {
		p.calls = append(p.calls, shownCall{})
	}
	one := &p.calls[c.Call]
	one.call = c.Of
	p.names = min(32, max(p.names, utf8.RuneCountInString(c.Of.Name)))
	return one
}

func (p *progress) print(format string, args ...any) {
	if _, err := fmt.Fprintf(p.out, format, args...); err != nil && p.err == nil {
		p.err = err
	}
}

func (p *progress) observe(at time.Duration, c runtime.Command) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at = at
	switch c.Kind {
	case runtime.Plan:
		p.beginTick(c.Tick)
	case runtime.EndTick:
		p.planning = false
		for _, fault := range c.End.Faults {
			p.erase()
			p.print("  %s %s\n", p.style.red("✗"), diag.Escape("the solution: "+fault.Message))
		}
	case runtime.Start:
		one := p.about(c)
		one.status, one.attempt = runtime.Running, c.Attempt
		if !one.started {
			one.started, one.since = true, at
		}
		switch {
		case c.Attempt > 1:
			p.above(one, p.style.yellow("↻"), fmt.Sprintf("try %d", c.Attempt))
		case c.Doubt != "":
			p.above(one, p.style.yellow("!"), diag.Escape(c.Doubt))
		}
	case runtime.Advise:
		p.erase()
		p.print("  %s\n", p.style.faint(advised(c.Instance, c.Ranking)))
	case runtime.Ask:
		p.about(c).status = runtime.Asking
	case runtime.Repeat:
		one := p.about(c)
		one.status = runtime.Done
		p.above(one, p.style.faint("="), p.style.faint("done already"))
	case runtime.Settle:
		one := p.about(c)
		one.status = c.Settlement.Status
		mark, words := p.settled(c)
		p.above(one, mark, words)
	}
}

// beginTick makes room for the calls of the next solution.
func (p *progress) beginTick(tick int) {
	p.planning = true
	if tick == p.tick {
		return // its answer is asked for again
	}
	p.tick, p.calls = tick, nil
	if tick > 1 {
		p.erase()
		p.print("\n  %s\n", p.style.faint(fmt.Sprintf("tick %d", tick)))
	}
}

// above writes a line over those that come and go.
func (p *progress) above(one *shownCall, mark, words string) {
	p.erase()
	took := "      "
	if one.started {
		took = p.style.faint(fmt.Sprintf("%6s", short(p.at-one.since)))
	}
	p.print("  %s %s %s  %s\n", mark, pad(diag.Escape(one.call.Name), p.names), took, words)
}

// settled says in a mark and a few words how a call settled: results are cut
// to the line, trouble never is.
func (p *progress) settled(c runtime.Command) (mark, words string) {
	s := c.Settlement
	switch s.Status {
	case runtime.Done:
		return p.style.green("✓"), cut(brief(s.Output), max(20, p.width-p.names-14))
	case runtime.Failed:
		words = diag.Escape("failed: " + s.Failure.Message)
		if s.Failure.Code != "error" {
			words = diag.Escape("failed (" + s.Failure.Code + "): " + s.Failure.Message)
		}
		if s.Attempts > 1 {
			words = fmt.Sprintf("%s, after %d tries", words, s.Attempts)
		}
		if s.Routed {
			return p.style.yellow("!"), words + ", handled by " + diag.Escape(p.route(c.Of))
		}
		return p.style.red("✗"), words
	case runtime.Skipped:
		return p.style.faint("–"), diag.Escape("skipped: " + s.Reason)
	case runtime.Rejected:
		return p.style.yellow("✗"), diag.Escape(rejection(s))
	}
	return p.style.faint("–"), diag.Escape(s.Status.String() + ": " + s.Reason)
}

// rejection says who or what rejected a call, and why.
func rejection(s *runtime.Settlement) string {
	if s.Decision != nil && s.Decision.Reason != "" {
		return "rejected: " + s.Decision.Reason
	}
	return s.Reason
}

// route is the failure route of a call, as text.
func (p *progress) route(c *compiler.Call) string {
	if at := c.FailureRoute(); at >= 0 && c.OutputNode != nil {
		routes := strings.Split(c.OutputNode.Text, "||")
		return strings.TrimSpace(routes[len(routes)-1])
	}
	return "its failure route"
}

// refresh redraws what is at work until the run ends.
func (p *progress) refresh(ctx context.Context) {
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

func (p *progress) draw(now time.Duration) {
	running, asking, waiting := 0, 0, 0
	var lines []string
	for i := range p.calls {
		one := &p.calls[i]
		switch {
		case one.status == runtime.Running:
			if running++; running <= shownAtWork {
				again := ""
				if one.attempt > 1 {
					again = fmt.Sprintf(", try %d", one.attempt)
				}
				lines = append(lines, fmt.Sprintf("%s %6s  running%s", pad(diag.Escape(one.call.Name), p.names), short(now-one.since), again))
			}
		case one.status == runtime.Asking:
			asking++
		case !one.status.Settled():
			waiting++
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
	switch settled := len(p.calls) - running - asking - waiting; {
	case len(parts) == 0:
		lines = append(lines, "what was cancelled is given time to end")
	case p.tick > 0:
		lines = append(lines, fmt.Sprintf("%s: %s, %d settled", short(now), strings.Join(parts, ", "), settled))
	default:
		lines = append(lines, fmt.Sprintf("%s: %s, %d of %d settled", short(now), strings.Join(parts, ", "), settled, len(p.calls)))
	}
	for _, line := range lines {
		p.print("  %s\n", p.style.faint(cut("· "+line, p.width-3)))
	}
	p.drawn = len(lines)
}

// firstWaiting says what the first call that hasn't started waits for; the calls
// of a solution aren't all known.
func (p *progress) firstWaiting() string {
	if p.tick > 0 {
		return ""
	}
	for i := range p.calls {
		one := &p.calls[i]
		if one.status != runtime.Waiting && one.status != runtime.Queued {
			continue
		}
		var names []string
		for _, d := range p.plan.Graph.Deps(i) {
			if !p.calls[d].status.Settled() {
				names = append(names, diag.Escape(p.calls[d].call.Name))
			}
		}
		if len(names) > 3 {
			names = append(names[:3], "others")
		}
		if len(names) > 0 {
			return diag.Escape(one.call.Name) + " waits for " + strings.Join(names, ", ")
		}
	}
	return ""
}

// erase takes away the lines that come and go.
func (p *progress) erase() {
	if p.drawn > 0 {
		p.print("\x1b[%dA\x1b[J", p.drawn)
		p.drawn = 0
	}
}

// abandon ends the drawing of a run that never began.
func (p *progress) abandon() {
	close(p.stop)
	p.ended.Wait()
	p.erase()
}

// end shows the result, and last what was done, failed and skipped.
func (p *progress) end(o *runtime.Outcome) error {
	p.abandon()
	if len(p.calls) > 0 {
		p.print("\n")
	}
	if o.Output != nil && o.Status != "stopped" {
		p.print("%s\n\n", display(o.Output))
	}
	for _, e := range o.Errors {
		if e.Call == "" && o.Ticks == 0 { // those of ticks were told as they came
			p.print("%s %s\n", p.style.red("✗"), diag.Escape(e.Message))
		}
	}
	kept := ""
	if p.journal != "" {
		kept = p.style.faint("; journal " + diag.Escape(p.journal))
	}
	p.print("%s%s\n", p.summary(o), kept)
	return p.err
}

func (p *progress) summary(o *runtime.Outcome) string {
	word := p.style.green(o.Status)
	switch o.Status {
	case "failed":
		word = p.style.red(o.Status)
	case "stopped":
		word = p.style.yellow(o.Status)
		if o.Reason != "" {
			word += " (" + diag.Escape(o.Reason) + ")"
		}
	}
	in := " in " + short(p.at)
	if o.Ticks > 1 {
		in = fmt.Sprintf(" in %d ticks, %s", o.Ticks, short(p.at))
	}
	if u := o.Usage; u.InputTokens+u.OutputTokens > 0 {
		in += fmt.Sprintf(", %d tokens", u.InputTokens+u.OutputTokens)
	}
	return word + in + ": " + tally(o.Counts)
}

// tally says how many calls settled in which way.
func tally(counts runtime.Counts) string {
	parts := []string{fmt.Sprintf("%d done", counts.Done)}
	for _, part := range []struct {
		n    int
		word string
	}{{counts.Failed, "failed"}, {counts.Skipped, "skipped"}, {counts.Rejected, "rejected"}, {counts.Cancelled, "cancelled"}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.word))
		}
	}
	return strings.Join(parts, ", ")
}
