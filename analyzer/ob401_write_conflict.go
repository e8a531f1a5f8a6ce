package analyzer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/internal/logic"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
)

var writeConflict = register(Rule{
	Rule:  &diag.Rule{Code: "OB401", Name: "write-conflict", Default: diag.Error},
	Needs: diag.Order,
	Run:   writeConflicts,
})

// writeConflicts reports calls that may write one path although neither waits
// for the other (S6.3): for each call those listed before it, in one finding.
// Calls of which one runs only on branches on which the other doesn't, or
// doesn't write that path, don't conflict (S6.5).
func writeConflicts(p *Pass) {
	p.ordered = nil
	if len(p.Plan.Unordered) == 0 {
		return
	}
	astray := p.astray()
	pairs := slices.DeleteFunc(slices.Clone(p.Plan.Unordered), func(u compiler.Unordered) bool {
		if astray != nil && (astray[u.A] || astray[u.B]) {
			p.strays()
			return true
		}
		return u.B < p.from || p.barred != nil && (p.barred(u.A) || p.barred(u.B))
	})
	if len(pairs) == 0 {
		return
	}
	e := p.conditions()
	goals := make([]logic.Literal, len(pairs))
	for i := range pairs {
		goals[i] = e.Meet(&pairs[i])
	}
	answers := e.SolveLikely(goals)
	var doubts []doubt
	for i := 0; i < len(pairs); {
		end := i + 1
		for end < len(pairs) && pairs[end].B == pairs[i].B {
			end++
		}
		var with []int
		for k := i; k < end; k++ {
			if !answers[k].Impossible {
				with = append(with, k)
			}
		}
		if len(with) > 0 {
			if d, doubtful := p.conflict(pairs, goals, answers, with); doubtful {
				doubts = append(doubts, d)
			}
		}
		i = end
	}
	p.orderDoubts(doubts)
}

// A doubt is pairs of which it couldn't be shown that it matters which comes first,
// and the place of the finding that says so.
type doubt struct {
	finding int
	pairs   [][2]int
}

// conflict reports a call and those of the pairs that it may conflict in. It is an
// error where two schedules show it, or without a replay where values do, and otherwise
// a doubt.
func (p *Pass) conflict(pairs []compiler.Unordered, goals []logic.Literal, answers []logic.Answer, with []int) (d doubt, doubtful bool) {
	e := p.conditions()
	possible := slices.DeleteFunc(slices.Clone(with), func(k int) bool { return !answers[k].Possible })
	for _, k := range possible[:min(len(possible), maxShownConflicts)] {
		branch := e.Decisions(goals[k], answers[k].Assignment)
		var schedules []Schedule
		if p.config.Replay != nil {
			schedules = p.conflictSchedules(&pairs[k], answers[k].Assignment)
		}
		if schedules == nil && (p.config.Replay != nil || undecided(branch) > 0) {
			continue
		}
		first := append([]int{k}, slices.DeleteFunc(slices.Clone(possible), func(other int) bool { return other == k })...)
		f := p.writeConflict(pairs, first, "what stays depends on timing")
		if !p.screens { // what comes behind changes the example
			if words := told(branch); words != "" {
				f.Message += "; both run when " + words
			}
			f.Witness = Branch{Branch: branch, Schedules: schedules}
		}
		return d, false
	}
	call, why := p.Plan.Calls[pairs[with[0]].B], "no two runs were found that end differently"
	switch a := answers[with[0]]; {
	case a.Beyond, a.Possible && undecided(e.Decisions(goals[with[0]], a.Assignment)) > 0:
		why = "whether they can both run couldn't be decided"
	case !a.Possible:
		why = "whether they can both run is not fully analysed: too many decisions meet"
	}
	f := p.writeConflict(pairs, with, why+runAsListed).As(diag.Warning)
	d.finding = len(p.found) - 1
	for _, k := range with {
		d.pairs = append(d.pairs, [2]int{pairs[k].A, pairs[k].B})
	}
	if len(possible) == 0 && !answers[with[0]].Beyond {
		p.unanswered(f.Span, call, "whether "+quote(call.Name)+" conflicts with other calls")
	}
	return d, true
}

const runAsListed = "; so they run in the order in which they are listed"

// maxShownConflicts bounds how many pairs with one call are tried for schedules.
const maxShownConflicts = 3

// orderDoubts orders the pairs in doubt as listed, so that it doesn't matter what is
// true of them. Where that would let calls wait for each other they stay errors.
func (p *Pass) orderDoubts(doubts []doubt) {
	var all [][2]int
	for _, d := range doubts {
		all = append(all, d.pairs...)
	}
	if len(p.Plan.Unordered) >= compiler.MaxUnordered {
		for _, d := range doubts {
			p.unordered(d, "there are too many such pairs to order them all")
		}
		return
	}
	arriving := p.held != nil // what arrives comes after what is there
	if len(all) == 0 || arriving || !p.Plan.Graph.Acyclic() || p.Plan.InOrder(all).Graph.Acyclic() {
		p.ordered = all
		return
	}
	for _, d := range doubts[:min(len(doubts), maxOrdered)] {
		if more := append(slices.Clip(p.ordered), d.pairs...); p.Plan.InOrder(more).Graph.Acyclic() {
			p.ordered = more
			continue
		}
		p.unordered(d, "in the order in which they are listed calls would wait for each other")
	}
	for _, d := range doubts[min(len(doubts), maxOrdered):] {
		p.unordered(d, "in the order in which they are listed calls would wait for each other")
	}
}

// maxOrdered bounds how often an order is tried.
const maxOrdered = 20

// unordered makes an error of a doubt.
func (p *Pass) unordered(d doubt, why string) {
	f := &p.found[d.finding]
	f.Severity = diag.Error
	f.Message = strings.TrimSuffix(f.Message, runAsListed) + "; " + why
}

// writeConflict reports one call against some of those before it, by their places
// among the pairs.
func (p *Pass) writeConflict(pairs []compiler.Unordered, with []int, says string) *diag.Diagnostic {
	first := pairs[with[0]]
	call, other := p.Plan.Calls[first.B], p.Plan.Calls[first.A]
	path, otherPath := p.path(first.PathB.ID), p.path(first.PathA.ID)
	what := quote(path)
	if path != otherPath {
		what = quote(path) + " and " + quote(otherPath) + ", one inside the other,"
	}
	f := p.Report(first.PathB.Span(), "%q and %q may both write %s and neither waits for the other: %s", call.Name, other.Name, what, says).About(call.Label())
	switch n := len(with) - 1; n {
	case 0:
	case 1:
		f.Message += "; so it is with one more call"
	default:
		f.Message += fmt.Sprintf("; so it is with %d more calls", n)
	}
	for _, k := range with[:min(len(with), maxShown)] {
		u := pairs[k]
		f.Note(u.PathA.Span(), "%q writes %q here", p.Plan.Calls[u.A].Name, p.path(u.PathA.ID))
	}
	return f.Advise("let one read what the other writes or name it in \"_after\"; or give them paths of their own; or say \"writes: once\" to let the first win")
}
