package simulation

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/simulate"
	"github.com/obelus-dev/obelus/runtime/state"
)

// barWidth is how many characters the makespan has in the timeline, and maxTimeline how many lines a timeline has.
const (
	barWidth    = 40
	maxTimeline = 60
)

// head prints what is reported of the plan, and what of input and state was generated.
func (s *Simulation) head(style terminal.Style, what string, more string) {
	of := cmp.Or(s.Plan.Name, "the plan")
	s.Print("%s\n", style.Bold(diag.Escape(fmt.Sprintf("%s of %s, seed %d, %s", what, of, s.Seed, more))))
	if keys := slices.Concat(s.Made.Input, s.Made.State); len(keys) > 0 {
		s.Print("%s\n", style.Faint(diag.Escape("generated values: "+strings.Join(keys, ", "))))
	}
}

// report prints one simulation: its timeline, and what a run prints at its end.
func (s *Simulation) report(one *simulate.Scenario) {
	style := terminal.StyleFor(s.Screen)
	more := wording.Count(len(one.Calls), "call")
	if one.Schedule > 0 {
		more += fmt.Sprintf(", schedule %d", one.Schedule)
	}
	s.head(style, "simulation", more)
	s.Print("\n")
	s.bars(one, style)
	if state, ok := one.Outcome.State.(map[string]any); ok && len(state) > 0 {
		s.Print("\n%s\n%s\n", style.Bold("state"), s.Plan.Secrets.Text(terminal.Display(state)))
	}
	s.Print("\n")
	_ = terminal.NewRecorded(s.Screen, terminal.Run{Plan: s.Plan, At: one.Makespan}).End(one.Outcome)
	if len(one.CriticalPath) > 0 {
		path := diag.Escape(strings.Join(Names(one.CriticalPath), " → "))
		s.Print("  critical path: %s\n", terminal.Cut(path, 400))
	}
	if one.Cost > 0 {
		s.Print("  cost: %.4g\n", one.Cost)
	}
}

// bars draws when each call was at work, in the order of their starts.
func (s *Simulation) bars(one *simulate.Scenario, style terminal.Style) {
	name := func(c *simulate.CallReport) string {
		return diag.Escape(strings.TrimPrefix(c.Instance+" "+runtime.Path(c.Under, c.Call.Name), " "))
	}
	calls, columns := slices.Clone(one.Calls), 0
	for _, call := range calls {
		columns = min(48, max(columns, diag.Columns(name(call))))
	}
	slices.SortStableFunc(calls, func(a, b *simulate.CallReport) int { return cmp.Compare(a.From, b.From) })
	for _, call := range calls[:min(maxTimeline, len(calls))] {
		bar := strings.Repeat(" ", barWidth)
		if call.Started && one.Makespan > 0 {
			along := func(at time.Duration) int { return int(int64(at) * barWidth / int64(one.Makespan)) }
			to := min(barWidth, max(along(call.To), along(call.From)+1))
			from := min(along(call.From), to-1)
			drawn := "━"
			if slices.Contains(one.CriticalPath, call) {
				drawn = "█"
			}
			bar = strings.Repeat(" ", from) + strings.Repeat(drawn, to-from) + strings.Repeat(" ", barWidth-to)
		}
		of := runtime.Command{Of: call.Call, Plan: s.Plan, Settlement: &call.Settlement}
		mark, text := terminal.Settlement(style, of, 60)
		line := fmt.Sprintf("  %s %s  %s  %s", mark, terminal.Pad(name(call), columns), bar, text)
		s.Print("%s\n", strings.TrimRight(line, " "))
	}
	if left := len(calls) - maxTimeline; left > 0 {
		s.Print("  … and %s; --format json has all\n", wording.Count(left, "more call"))
	}
	end := terminal.Duration(one.Makespan)
	gap := strings.Repeat(" ", barWidth-1-len(end))
	s.Print("  %s\n", style.Faint(strings.Repeat(" ", columns+4)+"0"+gap+end+"   █ critical path"))
}

func (s *Simulation) conclude(all comparison) {
	style := terminal.StyleFor(s.Screen)
	switch {
	case s.Seeds > 0:
		s.Print("\nover %s: %s\n", wording.Count(all.played, "seed"), terminal.Ends(all.ends))
	case all.diverging != nil:
		s.Print("\n%s schedule %d ends differently: simulate it with --seed %d --schedule %[2]d\n", style.Red("✗"),
			all.diverging[1], all.first.Seed)
	case all.played > 1:
		s.Print("\n%s %s in the same state\n", style.Green("✓"),
			wording.Counted(all.played-1, "other schedule ends", "other schedules end"))
	}
	if all.left > 0 {
		s.Print("%s left out: they would cost too much; --unbounded simulates all\n",
			wording.Count(all.left, "simulation"))
	}
}

// problemTitles are the kinds of problem in the order in which they are shown.
var problemTitles = []struct {
	kind  simulate.ProblemKind
	title string
}{
	{simulate.Stuck, "gets stuck"},
	{simulate.NoOutput, "ends without output"},
	{simulate.Unhandled, "ends at a limit, or with a failure that nothing handles"},
}

// reportBranches prints what an exploration found.
func (s *Simulation) reportBranches(found *simulate.Exploration) {
	style := terminal.StyleFor(s.Screen)
	s.head(style, "branches", wording.Count(len(found.Choices), "choice"))
	fixed := state.Over(s.Plan.Input, s.Options.Input)
	maps.DeleteFunc(fixed, func(key string, _ any) bool { return slices.Contains(s.Made.Input, key) })
	if len(fixed) > 0 {
		keys := strings.Join(slices.Sorted(maps.Keys(fixed)), ", ")
		s.Print("%s\n", style.Faint(diag.Escape("fixed input: "+keys+"; --input gives other values")))
	}
	if found.Complete {
		s.Print("simulated all %s of what varies", wording.Count(found.Played, "combination"))
	} else {
		s.Print("simulated %d of at most %.4g combinations", found.Played, found.Most)
	}
	if len(found.Idle) > 0 {
		s.Print("; never ran: %s", diag.Escape(wording.Cut(strings.Join(found.Idle, ", "), 200)))
	}
	s.Print("\n")
	if found.Cut {
		s.Print("there was no room for all combinations and values; --unbounded runs all\n")
	}
	for _, kind := range problemTitles {
		title := fmt.Sprintf("\n%s %s\n", style.Red("✗"), style.Bold(kind.title))
		for i := range found.Problems {
			if p := &found.Problems[i]; p.Kind == kind.kind {
				s.Print("%s", title)
				s.problem(p, found.Played, style)
				title = ""
			}
		}
	}
	if len(found.Problems) == 0 {
		s.Print("\n%s no simulated branch gets stuck, ends without output, at a limit or with a failure that "+
			"nothing handles\n", style.Green("✓"))
	}
}

func (s *Simulation) problem(p *simulate.Problem, played int, style terminal.Style) {
	s.Print("  %s  %s\n", diag.Escape(strings.Join(InWords(p.Path), ", ")),
		style.Faint(fmt.Sprintf("in %d of %d", p.Seen, played)))
	message := p.Message
	if p.Call != "" {
		message = fmt.Sprintf("%q: %s", p.Call, message)
	}
	s.Print("      %s\n", terminal.Cut(diag.Escape(message), 300))
}

// InWords are options of choices as people read them.
func InWords(path []analyzer.BranchChoice) (words []string) {
	for _, choice := range path {
		words = append(words, analyzer.InWords(choice))
	}
	if words == nil {
		return []string{"as it usually goes"}
	}
	return words
}
