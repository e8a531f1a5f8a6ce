package main

import (
	"fmt"
	"strings"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime/simulate"
)

// mostCombinations are played one by one; of more there is a sample.
const mostCombinations = 2_000

type (
	branchProblem struct {
		Kind    simulate.ProblemKind `json:"kind"`
		Call    *string              `json:"call"`
		Message string               `json:"message"`
	}
	branchSummary struct {
		Choices   int            `json:"choices"`
		Played    int            `json:"played"` // combinations
		Most      float64        `json:"most"`   // that there may be
		Complete  bool           `json:"complete"`
		Problems  map[string]int `json:"problems"`
		LeftOut   int            `json:"leftOut,omitzero"` // causes that there was no room to follow
		Idle      []string       `json:"idle,omitempty"`   // calls that ran in none of them
		Unreached []unplayed     `json:"unreached,omitempty"`
		Open      bool           `json:"vague,omitzero"` // there were too many values to try all
	}
	unplayed struct {
		Branch []analyzer.BranchChoice `json:"branch"` // one way in which a condition came out in none of them
	}
)

// explore rehearses the branches of the plan.
func (r *rehearsal) explore(plan *analyzer.Rehearsal, o simulate.Options) error {
	most := mostCombinations
	if o.Unbounded {
		most = 1 << 40
	}
	found := simulate.Explore(plan, o, r.madeUp, most)
	if err := r.failed(found.Usual); err != nil {
		return err
	}
	say := r.tell
	if r.json {
		say = r.list
	}
	if err := say(found); err != nil {
		return err
	}
	if len(found.Problems) > 0 {
		return ending(statusFound)
	}
	return nil
}

// list writes what was found for programs: the usual course, one for each problem, and the
// summary.
func (r *rehearsal) list(found *simulate.Exploration) error {
	if err := r.show(found.Usual); err != nil {
		return err
	}
	summary := summaryOf(found.Usual)
	summary.Scenarios, summary.Stuck, summary.Deterministic = 1+len(found.Problems), found.Stuck, true
	summary.Branches = &branchSummary{Choices: len(found.Choices()), Played: found.Played, Most: found.Most, Complete: found.Complete, LeftOut: found.Untold, Idle: found.Idle, Problems: map[string]int{}, Open: found.ValuesLeft}
	for _, choice := range found.Unreached {
		summary.Branches.Unreached = append(summary.Branches.Unreached, unplayed{[]analyzer.BranchChoice{choice}})
	}
	for _, p := range found.Problems {
		e := r.event(p.Scenario)
		e.Problem, e.Branch, e.Seen = &branchProblem{p.Kind, diag.OrNull(p.Call), p.Message}, diag.Listed(p.Path), p.Seen
		summary.Branches.Problems[string(p.Kind)]++
		if err := diag.JSONLine(r.out, e); err != nil {
			return err
		}
	}
	return diag.JSONLine(r.out, summary)
}

// problemTitles are the kinds of problem in the order in which they are shown.
var problemTitles = []struct {
	kind  simulate.ProblemKind
	title string
}{
	{simulate.Stuck, "gets stuck"},
	{simulate.NoOutput, "ends without output"},
	{simulate.Unhandled, "ends with a failure that nothing handles"},
}

// tell writes what was found for people.
func (r *rehearsal) tell(found *simulate.Exploration) error {
	style := terminal.StyleFor(r.out)
	var out strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	say("%s", style.Bold(diag.Escape(fmt.Sprintf("branches of %s, %s, seed %d", r.title(), wording.Count(len(found.Choices()), "choice"), found.Usual.Seed))))
	say("%s", extent(found))
	r.tellMadeUp(say, style)
	if found.Cut {
		say("some combinations were stopped: %s; --unbounded goes on to the end", simulate.TooLong)
	}
	unreached(say, found, style)
	for _, of := range problemTitles {
		n := 0
		for _, p := range found.Problems {
			if p.Kind != of.kind {
				continue
			}
			if n++; n == 1 {
				say("\n%s %s", style.Red("✗"), style.Bold(of.title))
			}
			if n > maxTimeline {
				continue
			}
			r.problem(say, &p, found, style)
		}
		if n > maxTimeline {
			say("  … and %s; --format json has them all", wording.Count(n-maxTimeline, "more branch"))
		}
	}
	if found.Untold > 0 {
		say("\n%s left out: there was no room to follow them all; --unbounded does", wording.Count(found.Untold, "more cause"))
	}
	if len(found.Problems) == 0 {
		say("\n%s no branch that was played gets stuck, ends without output or with a failure that nothing handles", style.Green("✓"))
	}
	_, err := fmt.Fprint(r.out, out.String())
	return err
}

// maxUnreached bounds the shown branches that weren't reached.
const maxUnreached = 12

// unreached lists what came out so in no combination.
func unreached(say func(string, ...any), found *simulate.Exploration, style terminal.Style) {
	if found.ValuesLeft {
		say("there are too many values to try all of them")
	}
	for i, b := range found.Unreached {
		if i == 0 {
			say("\n%s %s", style.Yellow("!"), style.Bold("not played"))
		}
		if i == maxUnreached {
			say("  … and %d more; --format json has them all", len(found.Unreached)-i)
			return
		}
		say("  %s", diag.Escape(fmt.Sprintf("%q: %s", b.Call, analyzer.InWords(b))))
	}
}

func (r *rehearsal) problem(say func(string, ...any), p *simulate.Problem, found *simulate.Exploration, style terminal.Style) {
	say("  %s  %s", diag.Escape(strings.Join(inWords(p.Path), ", ")), style.Faint(fmt.Sprintf("in %d of %d", p.Seen, found.Played)))
	named := len(p.Path) > 0 && p.Path[len(p.Path)-1].Fails && strings.HasPrefix(p.Path[len(p.Path)-1].Call+"/", p.Call+"/")
	if message := p.Message; p.Kind != simulate.Unhandled || !named {
		if p.Call != "" {
			message = fmt.Sprintf("%q: %s", p.Call, message)
		}
		say("      %s", terminal.Cut(diag.Escape(message), 300))
	}
}

// extent says how much was played.
func extent(found *simulate.Exploration) string {
	text := fmt.Sprintf("played all %s of what is varied", wording.Count(found.Played, "combination"))
	if !found.Complete {
		text = fmt.Sprintf("played %d of at most %.4g combinations", found.Played, found.Most)
	}
	if len(found.Idle) > 0 {
		text += "; in none of them ran " + diag.Escape(wording.Cut(strings.Join(found.Idle, ", "), 200))
	}
	return text
}
