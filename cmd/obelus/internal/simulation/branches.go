package simulation

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime/simulate"
	"github.com/obelus-dev/obelus/runtime/state"
)

const maxCombinations = 2_000 // are simulated; of more those that differ least from the usual one

// explore simulates the branches of the plan.
func (s *Simulation) explore() (isFine bool, err error) {
	most := maxCombinations
	if s.Unbounded {
		most = 1 << 40
	}
	found := simulate.Explore(s.Simulated, s.Options, most)
	if err := s.hasFailing(found.Usual); err != nil {
		return false, err
	}
	if s.Format == "json" {
		s.writeBranches(found)
	} else {
		s.reportBranches(found)
	}
	return len(found.Problems) == 0, nil
}

// writeBranches writes the usual scenario, one for each problem, and the summary.
func (s *Simulation) writeBranches(found *simulate.Exploration) {
	s.JSON(scenarioEvent(found.Usual, s.Made, nil))
	problems := map[simulate.ProblemKind]int{}
	for i := range found.Problems {
		p := &found.Problems[i]
		problems[p.Kind]++
		s.JSON(scenarioEvent(p.Scenario, s.Made, p))
	}
	branches := diag.Ordered{"choices", len(found.Choices), "played", found.Played, "most", found.Most, "complete",
		found.Complete, "problems", problems}.
		If("idle", found.Idle).If("vague", found.ValuesLeft)
	all := &comparison{first: found.Usual, played: 1 + len(found.Problems)}
	s.JSON(summaryEvent(all, found.Stuck, branches, nil))
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

// reportBranches prints what was found.
func (s *Simulation) reportBranches(found *simulate.Exploration) {
	style := terminal.StyleFor(s.Screen)
	s.head(style, "branches", found.Usual.Seed, wording.Count(len(found.Choices), "choice"))
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
		s.Print("there was no room for all combinations and causes; --unbounded runs all\n")
	}
	if found.ValuesLeft {
		s.Print("not every value that may change a condition was simulated\n")
	}
	for _, kind := range problemTitles {
		n := 0
		for i := range found.Problems {
			if p := &found.Problems[i]; p.Kind == kind.kind {
				if n++; n == 1 {
					s.Print("\n%s %s\n", style.Red("✗"), style.Bold(kind.title))
				}
				if n <= maxTimeline {
					s.problem(p, found.Played, style)
				}
			}
		}
		if n > maxTimeline {
			s.Print("  … and %s; --format json has all\n", wording.Count(n-maxTimeline, "more branch"))
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
	if n := len(p.Path); p.Kind == simulate.Unhandled && n > 0 && p.Path[n-1].Fails &&
		strings.HasPrefix(p.Path[n-1].Call+"/", p.Call+"/") {
		return // the path names the failure
	}
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
