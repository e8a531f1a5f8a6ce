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
	out   io.Writer
	plan  *compiler.Plan
	style style
	width int  // columns of a line
	live  bool // there is a terminal to draw on
	names int  // columns of the column of names

	mu      sync.Mutex
	begun   time.Time
	at      time.Duration // of the last command
	status  []runtime.Status
	since   map[int]time.Duration // when a call at work was first started
	attempt map[int]int
	drawn   int // lines below the settled ones
	stop    chan struct{}
	ended   sync.WaitGroup
	err     error
}

func newProgress(out io.Writer, plan *compiler.Plan, ctx context.Context) *progress {
	p := &progress{
		out: out, plan: plan, style: styleFor(out), width: 100,
		begun: time.Now(), status: make([]runtime.Status, len(plan.Calls)), since: map[int]time.Duration{}, attempt: map[int]int{},
		stop: make(chan struct{}),
	}
	for _, call := range plan.Calls {
		p.names = min(32, max(p.names, utf8.RuneCountInString(call.Name)))
	}
	if fd, ok := terminalOf(out); ok {
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
	p.print("%s\n\n", p.style.bold(diag.Escape(fmt.Sprintf("%s, %s", title, count(len(plan.Calls), "call")))))
	return p
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
	case runtime.Start:
		p.status[c.Call] = runtime.Running
		p.attempt[c.Call] = c.Attempt
		if _, again := p.since[c.Call]; !again {
			p.since[c.Call] = at
		}
		if c.Attempt > 1 {
			p.above(c.Call, p.style.yellow("↻"), fmt.Sprintf("try %d", c.Attempt))
		}
	case runtime.Settle:
		p.status[c.Call] = c.Settlement.Status
		mark, words := p.settled(c)
		p.above(c.Call, mark, words)
		delete(p.since, c.Call)
	}
}

// above writes a line over those that come and go.
func (p *progress) above(call int, mark, words string) {
	p.erase()
	name := diag.Escape(p.plan.Calls[call].Name)
	took := "      "
	if since, ok := p.since[call]; ok {
		took = p.style.faint(fmt.Sprintf("%6s", short(p.at-since)))
	}
	p.print("  %s %s %s  %s\n", mark, pad(name, p.names), took, words)
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
			return p.style.yellow("!"), words + ", handled by " + diag.Escape(p.route(c.Call))
		}
		return p.style.red("✗"), words
	case runtime.Skipped:
		return p.style.faint("–"), diag.Escape("skipped: " + s.Reason)
	case runtime.Rejected:
		return p.style.yellow("✗"), diag.Escape("rejected: " + s.Reason)
	}
	return p.style.faint("–"), diag.Escape(s.Status.String() + ": " + s.Reason)
}

// route is the failure route of a call, as text.
func (p *progress) route(call int) string {
	c := p.plan.Calls[call]
	var paths []string
	if at := c.FailureRoute(); at >= 0 {
		for _, path := range c.Output[at] {
			paths = append(paths, p.plan.Paths.String(path.ID))
		}
	}
	return strings.Join(paths, " && ")
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
			p.erase()
			p.draw(time.Since(p.begun))
			p.mu.Unlock()
		}
	}
}

// shownAtWork is how many calls at work, and how many that wait, have a line.
const shownAtWork = 8

func (p *progress) draw(now time.Duration) {
	running, waiting := 0, 0
	var lines []string
	for i, status := range p.status {
		switch {
		case status == runtime.Running:
			if running++; running <= shownAtWork {
				again := ""
				if p.attempt[i] > 1 {
					again = fmt.Sprintf(", try %d", p.attempt[i])
				}
				lines = append(lines, fmt.Sprintf("%s %6s  running%s", pad(diag.Escape(p.plan.Calls[i].Name), p.names), short(now-p.since[i]), again))
			}
		case !status.Settled():
			waiting++
		}
	}
	if running > shownAtWork {
		lines = append(lines, fmt.Sprintf("and %d more running", running-shownAtWork))
	}
	if first := p.firstWaiting(); first != "" {
		lines = append(lines, first)
	}
	if running+waiting > 0 {
		lines = append(lines, fmt.Sprintf("%s: %d running, %d waiting, %d of %d settled", short(now), running, waiting, len(p.status)-running-waiting, len(p.status)))
	} else {
		lines = append(lines, "what was cancelled is given time to end")
	}
	for _, line := range lines {
		p.print("  %s\n", p.style.faint(cut("· "+line, p.width-3)))
	}
	p.drawn = len(lines)
}

// firstWaiting says what the first call that hasn't started waits for.
func (p *progress) firstWaiting() string {
	for i, status := range p.status {
		if status.Settled() || status == runtime.Running {
			continue
		}
		var names []string
		for _, d := range p.plan.Graph.Deps(i) {
			if !p.status[d].Settled() {
				names = append(names, diag.Escape(p.plan.Calls[d].Name))
			}
		}
		if len(names) > 3 {
			names = append(names[:3], "others")
		}
		if len(names) > 0 {
			return diag.Escape(p.plan.Calls[i].Name) + " waits for " + strings.Join(names, ", ")
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
	if len(p.status) > 0 {
		p.print("\n")
	}
	if o.Output != nil && o.Status != "stopped" {
		p.print("%s\n\n", display(o.Output))
	}
	for _, e := range o.Errors {
		if e.Call == "" {
			p.print("%s %s\n", p.style.red("✗"), diag.Escape(e.Message))
		}
	}
	p.print("%s\n", p.summary(o))
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
	return word + " in " + short(p.at) + ": " + tally(o.Counts)
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
