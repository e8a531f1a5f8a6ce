package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/dot"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/simulate"
)

// report is a rehearsal for people.
func (r *rehearsal) report(s *simulate.Scenario) string {
	style := terminal.StyleFor(r.out)
	var out strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	what := fmt.Sprintf("seed %d", s.Seed)
	if s.Schedule > 0 {
		what += fmt.Sprintf(", schedule %d", s.Schedule)
	}
	if r.replaying {
		what = fmt.Sprintf("schedule %d", s.Schedule+1)
	}
	say("%s", style.Bold(diag.Escape(fmt.Sprintf("rehearsal of %s, %s, %s", r.title(), wording.Count(len(s.Calls), "call"), what))))
	r.tellMadeUp(say, style)
	say("")
	r.timeline(&out, s, style)
	if s.Outcome.Output != nil {
		say("\n%s\n%s", style.Bold("output"), terminal.Display(s.Outcome.Output))
	}
	if len(s.Outcome.Instances) > 0 {
		say("\n%s", style.Bold("instances"))
		for n, end := range s.Outcome.Instances {
			if n == terminal.FewInstances {
				say("  … and %s; --format json has them all", fmt.Sprint(len(s.Outcome.Instances)-n, " more"))
				break
			}
			say("  %s", strings.TrimRight(terminal.Pad(string(end.Status), 7)+" "+diag.Escape(end.ID)+"  "+terminal.Cut(terminal.Brief(end.Output), 100), " "))
		}
	}
	if state, ok := s.Outcome.State.(map[string]any); ok && len(state) > 0 {
		say("\n%s\n%s", style.Bold("state"), terminal.Display(state))
	}
	if s.Left > 0 {
		say("%s left out: there was no room for all; --unbounded rehearses them", wording.Count(s.Left, "more instance"))
	}
	word := style.Green(string(s.Outcome.Status))
	if s.Outcome.Status != runtime.RunDone {
		word = style.Red(string(s.Outcome.Status))
	}
	say("\n%s in %s of virtual time: %s", word, terminal.Duration(s.Makespan), terminal.Tally(s.Outcome.Counts, s.Outcome.Status))
	if s.Outcome.Reason == simulate.TooLong {
		say("  it was stopped: %s; --unbounded goes on to the end", s.Outcome.Reason)
	}
	for n, e := range s.Outcome.Errors {
		if n == maxTimeline {
			say("  … and %s; --format json has them all", wording.Count(len(s.Outcome.Errors)-n, "more error"))
			break
		}
		who := ""
		if e.Call != "" {
			who = strings.TrimPrefix(e.Instance+" "+e.Call, " ") + ": "
		}
		say("  %s %s", style.Red("✗"), diag.Escape(who+e.Message))
	}
	say("  %s; lower bound %s; %s of work", togetherOf(s, r.most), terminal.Duration(s.LowerBound), terminal.Duration(s.Work))
	if len(s.CriticalPath) > 0 {
		of := ""
		if id := criticalInstance(s); id != nil {
			of = " of " + diag.Escape(*id)
		}
		say("  critical path%s: %s", of, terminal.Cut(diag.Escape(strings.Join(names(s, s.CriticalPath), " → ")), 400))
	}
	if s.Cost > 0 {
		say("  cost: %.4g", s.Cost)
	}
	return out.String()
}

// title names the simulated plan.
func (r *rehearsal) title() string {
	if r.plan.Name == "" && r.plan.File != nil {
		return r.plan.File.Name
	}
	return r.plan.Name
}

// barWidth is how many characters the makespan has in the timeline.
const barWidth = 40

// timeline draws when each call was at work, in the order of their starts.
func (r *rehearsal) timeline(out *strings.Builder, s *simulate.Scenario, style terminal.Style) {
	names := 0
	for i := range s.Calls {
		names = min(48, max(names, diag.Columns(nameOf(&s.Calls[i]))))
	}
	order, critical := inTime(s)
	tries := triesOf(s)
	for n, i := range order {
		if n == maxTimeline {
			fmt.Fprintf(out, "  … and %s; --format json has them all\n", wording.Count(len(order)-n, "more call"))
			return
		}
		call := s.Calls[i]
		bar := strings.Repeat(" ", barWidth)
		if call.Started && s.Makespan > 0 {
			from, to := along(call.From, s.Makespan), along(call.To, s.Makespan)
			to = min(barWidth, max(to, from+1))
			from = min(from, to-1)
			mark := "━"
			if critical[i] {
				mark = "█"
			}
			drawn := slices.Repeat([]string{mark}, to-from)
			for n := 1; n < len(tries[i]); n++ { // between two of them it isn't at work
				for at := along(tries[i][n-1].To, s.Makespan) + 1; at < along(tries[i][n].From, s.Makespan); at++ {
					drawn[at-from] = "┄"
				}
			}
			bar = strings.Repeat(" ", from) + strings.Join(drawn, "") + strings.Repeat(" ", barWidth-to)
		}
		line := fmt.Sprintf("  %s %s  %s  %s", r.mark(call, style), terminal.Pad(nameOf(&call), names), bar, terminal.Cut(r.words(call), 100))
		fmt.Fprintln(out, strings.TrimRight(line, " "))
	}
	fmt.Fprintf(out, "  %s\n", style.Faint(fmt.Sprintf("  %s  0%s%s   █ critical path", strings.Repeat(" ", names), strings.Repeat(" ", barWidth-1-len(terminal.Duration(s.Makespan))), terminal.Duration(s.Makespan))))
}

// triesOf are the tries of calls that had several.
func triesOf(s *simulate.Scenario) map[int][]dot.Span {
	all := map[int][]dot.Span{}
	for _, m := range s.Moments {
		if s.Calls[m.Call].Attempts < 2 {
			continue
		}
		if spans := all[m.Call]; m.Status == runtime.Running {
			all[m.Call] = append(spans, dot.Span{From: m.At, To: s.Calls[m.Call].To})
		} else if len(spans) > 0 {
			last := &spans[len(spans)-1]
			last.To = min(last.To, m.At)
		}
	}
	return all
}

// inTime are the calls in the order of their starts, and which are on the critical path.
func inTime(s *simulate.Scenario) (order []int, critical map[int]bool) {
	order, critical = make([]int, len(s.Calls)), map[int]bool{}
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.Calls[a].From, s.Calls[b].From) })
	for _, call := range s.CriticalPath {
		critical[call] = true
	}
	return order, critical
}

// drawings are the formats in which a timeline is drawn.
var drawings = map[string]func(*dot.Timeline) string{"mermaid": (*dot.Timeline).Gantt, "svg": (*dot.Timeline).SVG}

// drawing is the timeline of a rehearsal to be drawn.
func (r *rehearsal) drawing(s *simulate.Scenario) *dot.Timeline {
	t := &dot.Timeline{Name: fmt.Sprintf("rehearsal of %s, seed %d", r.title(), s.Seed), Notes: []string{
		fmt.Sprintf("%s in %s; %s; the critical path is marked", s.Outcome.Status, terminal.Duration(s.Makespan), togetherOf(s, r.most)),
	}}
	order, critical := inTime(s)
	tries := triesOf(s)
	for _, i := range order {
		call := &s.Calls[i]
		bar := dot.Bar{Label: strings.TrimPrefix(call.Instance+" "+pathOf(call), " "), From: call.From, To: call.To, Tries: tries[i], Marks: []dot.Mark{{Kind: dot.MarkKind(call.Status.String())}}}
		if critical[i] {
			bar.Marks = append(bar.Marks, dot.Mark{Kind: dot.Critical})
		}
		if call.Status != runtime.Done {
			bar.Detail = r.words(*call)
		} else if call.Attempts > 1 {
			bar.Detail = wording.Counted(call.Attempts, "try", "tries")
		}
		t.Bars = append(t.Bars, bar)
	}
	return t
}

// maxTimeline bounds the lines of a timeline.
const maxTimeline = 60

func along(at, all time.Duration) int { return int(int64(at) * barWidth / int64(all)) }

func (r *rehearsal) mark(call simulate.CallReport, style terminal.Style) string {
	switch {
	case call.Status == runtime.Done:
		return style.Green("✓")
	case call.Status == runtime.Failed && call.Routed:
		return style.Yellow("!")
	case call.Status == runtime.Failed:
		return style.Red("✗")
	}
	return style.Faint("–")
}

func (r *rehearsal) words(call simulate.CallReport) string {
	switch {
	case call.Failure != nil && call.Routed:
		return diag.Escape("failed, and handled: " + call.Failure.Message)
	case call.Failure != nil:
		if call.Attempts > 1 {
			return diag.Escape(fmt.Sprintf("failed in %s: %s", wording.Counted(call.Attempts, "try", "tries"), call.Failure.Message))
		}
		return diag.Escape("failed: " + call.Failure.Message)
	case call.Status != runtime.Done:
		return diag.Escape(call.Status.String() + ": " + call.Reason)
	}
	text := terminal.Cut(terminal.Brief(call.Output), 60)
	if call.Attempts > 1 {
		text = strings.TrimSuffix(wording.Counted(call.Attempts, "try", "tries")+": "+text, ": ")
	}
	return text
}

// conclude says what the rehearsals together show.
func (r *rehearsal) conclude(first, different *simulate.Scenario) error {
	if r.drawn != nil {
		return nil
	}
	if r.json {
		summary := summaryOf(first)
		if different != nil {
			summary.Diverging = r.diverge(first, different)
		}
		if r.seeds {
			summary.Seeds = &seedSummary{len(r.plays) - r.left, r.ends[runtime.RunDone]}
		}
		summary.Scenarios, summary.LeftOut, summary.Deterministic = len(r.plays)-r.left, r.left, different == nil
		if slices.ContainsFunc(first.Calls, func(c simulate.CallReport) bool { return !c.Status.Settled() }) {
			summary.Stuck++
		}
		return diag.JSONLine(r.out, summary)
	}
	style := terminal.StyleFor(r.out)
	var err error
	switch {
	case r.seeds:
		var ends []string
		for _, status := range []runtime.RunStatus{runtime.RunDone, runtime.RunFailed, runtime.RunStopped} {
			if n := r.ends[status]; n > 0 {
				ends = append(ends, fmt.Sprintf("%d %s", n, status))
			}
		}
		text := fmt.Sprintf("\nover %s: %s\n", wording.Count(len(r.plays)-r.left, "seed"), strings.Join(ends, ", "))
		if r.left > 0 {
			text += wording.Count(r.left, "more seed") + " left out: they would cost too much; --unbounded rehearses all\n"
		}
		_, err = fmt.Fprint(r.out, text)
	case different != nil:
		_, err = fmt.Fprintf(r.out, "\n%s schedule %d ends differently:\n%s", style.Red("✗"), r.number(different), r.difference(first, different))
	case len(r.plays) > 1:
		_, err = fmt.Fprintf(r.out, "\n%s %s in the same state\n", style.Green("✓"), wording.Counted(len(r.plays)-r.left-1, "other schedule ends", "other schedules end"))
		if r.left > 0 && err == nil {
			_, err = fmt.Fprintf(r.out, "%s left out: they would cost too much; --unbounded rehearses all\n", wording.Count(r.left, "more schedule"))
		}
	}
	return err
}

// number is how people count schedules: replayed ones from 1, others from 1
// after the first.
func (r *rehearsal) number(s *simulate.Scenario) int {
	if r.replaying {
		return s.Schedule + 1
	}
	return s.Schedule
}

// tellMadeUp says what was made up of what a run is given.
func (r *rehearsal) tellMadeUp(say func(string, ...any), style terminal.Style) {
	for _, of := range []struct {
		what string
		keys []string
	}{{"input", r.madeUp.Input}, {"state", r.madeUp.State}} {
		if len(of.keys) > 0 {
			say("%s", style.Faint(diag.Escape("made up for the "+of.what+": "+strings.Join(of.keys, ", "))))
		}
	}
}
