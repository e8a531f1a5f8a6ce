package analyzer

import (
	"fmt"
	"slices"

	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/analyzer/internal/logic"
	"github.com/obelus-dev/obelus/analyzer/rules"
	"github.com/obelus-dev/obelus/compiler/bind"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/wording"
)

var writeConflict = rules.Register(Rule{Needs: diag.Order, Run: writeConflicts}.
	As("OB401", "write-conflict", diag.Error))

// writeConflicts reports calls that may write one path although neither waits for the other, in one
// finding for each call. Calls that never write the path in the same run don't conflict.
func writeConflicts(p *Pass) {
	p.Ordered = nil
	if len(p.Plan.Unordered) == 0 {
		return
	}
	if p.Barred == nil && analysis.IsAstray(p) {
		p.Strayed = true
		return
	}
	pairs := slices.DeleteFunc(slices.Clone(p.Plan.Unordered), func(u plan.Unordered) bool {
		return p.Barred != nil && (p.Barred(u.A) || p.Barred(u.B))
	})
	if len(pairs) == 0 {
		return
	}
	e := p.Flow.Conditions()
	goals := make([]logic.Literal, len(pairs))
	for i := range pairs {
		goals[i] = e.Meet(&pairs[i])
	}
	answers := e.SolveLikely(goals)
	var listed [][2]int
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
		if len(with) > 0 && !conflict(p, pairs, goals, answers, with) {
			for _, k := range with {
				listed = append(listed, [2]int{pairs[k].A, pairs[k].B})
			}
		}
		i = end
	}
	order(p, pairs, listed)
}

// conflict reports a call and those of the pairs that it may conflict in: an error where
// two schedules show the conflict, or without a replay where values do, and a warning where
// values let both calls run. It reports whether that is an error.
func conflict(p *Pass, pairs []plan.Unordered, goals []logic.Literal, answers []logic.Answer,
	with []int) (isError bool) {
	e := p.Flow.Conditions()
	possible := slices.DeleteFunc(slices.Clone(with), func(k int) bool { return !answers[k].Possible })
	first := func(k int) []int {
		return append([]int{k},
			slices.DeleteFunc(slices.Clone(possible), func(other int) bool { return other == k })...)
	}
	replay := *analysis.Kept[Replay](p.Shared) != nil
	meet := -1 // a pair that values let run
	for _, k := range possible[:min(len(possible), maxShownConflicts)] {
		branch := e.Decisions(goals[k], answers[k].Assignment)
		decided := rules.Undecided(branch) == 0
		if decided && meet < 0 {
			meet = k
		}
		var schedules []Schedule
		if replay {
			schedules = conflictSchedules(p, &pairs[k], answers[k].Assignment)
		}
		if schedules == nil && (replay || !decided) {
			continue
		}
		f := reportConflict(p, pairs, first(k), "the result depends on timing")
		if !p.Screens { // what comes behind changes the example
			if words := analysis.DescribeBranch(branch); words != "" {
				f.Message += "; both run when " + words
			}
			if p.Plan.Targets != nil { // a schedule is for the calls of all instances
				schedules = nil
			}
			f.Witness = Branch{Branch: branch, Schedules: schedules}
		}
		return true
	}
	if meet >= 0 {
		reportConflict(p, pairs, first(meet),
			"no two runs were found that end differently; they run one after the other, as listed if that is possible").
			As(diag.Warning)
	}
	for _, k := range with {
		if a := answers[k]; !a.Possible && !a.Beyond {
			call := p.Plan.Calls[pairs[k].B]
			analysis.Unanswered(p, pairs[k].PathB.Span(), call,
				"whether "+analysis.Quote(call.Name)+" conflicts with other calls")
			break
		}
	}
	return false
}

// maxShownConflicts bounds how many pairs with one call are tried for schedules.
const maxShownConflicts = 3

// order lets the calls of each pair run one after the other, so that the final state is always the same: as they are
// listed, or as in the graph where that would be a cycle. With more pairs than are kept, all calls that may write the
// same place are ordered.
func order(p *Pass, unordered []plan.Unordered, pairs [][2]int) {
	more := len(p.Plan.Unordered) >= bind.MaxUnordered
	if more {
		analysis.Unanswered(p, p.Plan.CallsNode.Span().Head(), nil,
			fmt.Sprintf("whether more than %d pairs of calls conflict", bind.MaxUnordered))
	}
	if len(pairs) == 0 && !more {
		return
	}
	listed := func(call int32) int { return int(call) }
	inGraph := func(call int32) int { return p.Plan.Graph.Rank(int(call)) }
	for _, place := range []func(call int32) int{listed, inGraph} {
		p.Ordered = nil
		for _, pair := range pairs {
			if place(int32(pair[0])) > place(int32(pair[1])) {
				pair[0], pair[1] = pair[1], pair[0]
			}
			p.Ordered = append(p.Ordered, pair)
		}
		if more {
			p.Ordered = append(p.Ordered, chains(p, place)...)
		}
		arriving := p.Held != nil // what arrives comes after what is there
		if arriving || !p.Plan.Graph.Acyclic() || bind.WithOrder(p.Plan, p.Ordered).Graph.Acyclic() {
			return
		}
		if p.Flow.Lacks != nil { // each instance's graph has an order of its own
			break
		}
	}
	p.Ordered = nil
	for i, u := range unordered {
		if more || slices.Contains(pairs, [2]int{u.A, u.B}) {
			reportConflict(p, unordered, []int{i},
				"in the order in which they are listed calls would wait for each other")
		}
	}
}

// chains are pairs that order all calls that may write the same place.
func chains(p *Pass, place func(call int32) int) (pairs [][2]int) {
	known := map[pathtree.ID]bool{}
	for _, call := range p.Plan.Calls {
		for _, path := range call.Paths() {
			if known[path.ID] {
				continue
			}
			known[path.ID] = true
			writers := slices.Clone(p.Plan.Around(path.ID))
			slices.SortStableFunc(writers, func(a, b plan.Writer) int { return place(a.Call) - place(b.Call) })
			for i := 1; i < len(writers); i++ {
				if writers[i-1].Call != writers[i].Call {
					pairs = append(pairs, [2]int{int(writers[i-1].Call), int(writers[i].Call)})
				}
			}
		}
	}
	return pairs
}

// reportConflict reports one call against some of those before it, by their places among the pairs.
func reportConflict(p *Pass, pairs []plan.Unordered, with []int, says string) *diag.Diagnostic {
	first := pairs[with[0]]
	call, other := p.Plan.Calls[first.B], p.Plan.Calls[first.A]
	path, otherPath := p.Path(first.PathB.ID), p.Path(first.PathA.ID)
	what := analysis.Quote(path)
	if path != otherPath {
		what = analysis.Quote(path) + " and " + analysis.Quote(otherPath) + ", one inside the other,"
	}
	f := p.ReportCall(call, first.PathB.Span(), "%q and %q may both write %s and neither waits for the other: %s",
		call.Name, other.Name, what, says)
	if n := len(with) - 1; n > 0 {
		f.Message += "; the same applies to " + wording.Count(n, "more call")
	}
	for _, k := range with[:min(len(with), analysis.MaxShown)] {
		u := pairs[k]
		f.Note(u.PathA.Span(), "%q writes %q here", p.Plan.Calls[u.A].Name, p.Path(u.PathA.ID))
	}
	help := "let one read the other's result or name it in \"_after\", or write to two paths"
	if p.Plan.Form != plan.Replan { // which can't set it
		help =
			"let one read the other's result or name it in \"_after\", write to two paths, or use \"writes: once\" " +
				"to keep the first"
	}
	return f.Advise("%s", help)
}
