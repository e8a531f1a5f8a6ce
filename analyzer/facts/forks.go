package facts

import (
	"cmp"
	"slices"

	"github.com/obelus-dev/obelus/analyzer/internal/branch"
	"github.com/obelus-dev/obelus/analyzer/internal/logic"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/plan"
)

// A Fork is a set of conditions that exclude each other in one run, as those of an if and its else or the cases of an
// enum, with the calls that run on one of these branches alone.
type Fork []Case

// A Case is one branch of a fork.
type Case struct {
	Condition string // as a call's "_when" has it
	Calls     []int  // in the order of the plan
}

// mostGuards bounds the conditions that are held against each other.
const mostGuards = 40

// Forks are the forks of a plan's own calls, the largest first. Two of them have no call in common, or one is within
// one case of the other.
func Forks(p *plan.Plan) []Fork {
	guards := guardsOf(p)
	if len(guards) < 2 || len(guards) > mostGuards || p.Graph.Len() != len(p.Calls) {
		return nil
	}
	solver := branch.New(p, branch.Nothing{})
	var all [][]*guard
	for _, g := range guards {
		g.holds = solver.Condition(p.Calls[g.calls[0]])
		excluded := func(cases []*guard) bool {
			return !slices.ContainsFunc(cases, func(o *guard) bool {
				return !solver.SolveOne(solver.And(g.holds, o.holds), false).Impossible
			})
		}
		if at := slices.IndexFunc(all, excluded); at >= 0 {
			all[at] = append(all[at], g)
		} else {
			all = append(all, []*guard{g})
		}
	}
	var forks []Fork
	for _, cases := range all {
		if f := forkOf(p, cases); len(f) > 1 {
			forks = append(forks, f)
		}
	}
	slices.SortStableFunc(forks, func(a, b Fork) int { return cmp.Compare(b.size(), a.size()) })
	kept := forks[:0]
	for _, f := range forks {
		if !slices.ContainsFunc(kept, func(k Fork) bool { return !f.apart(k) }) {
			kept = append(kept, f)
		}
	}
	return kept
}

// A guard is a condition, and the calls that have it.
type guard struct {
	text  string
	calls []int
	holds logic.Literal
}

// guardsOf are the conditions of calls; a text whose values change between calls is two conditions.
func guardsOf(p *plan.Plan) (all []*guard) {
	for i, c := range p.Calls {
		t := compiler.Condition(c)
		if t == nil || !t.Live() || t.Expr == nil || c.Instance != "" {
			continue
		}
		alike := func(g *guard) bool {
			other := compiler.Condition(p.Calls[g.calls[0]])
			return g.text == c.When.Node.Text && slices.EqualFunc(t.Reads, other.Reads, func(a, b int) bool {
				return slices.Equal(p.Reads[a].Writers, p.Reads[b].Writers)
			})
		}
		if at := slices.IndexFunc(all, alike); at >= 0 {
			all[at].calls = append(all[at].calls, i)
		} else {
			all = append(all, &guard{text: c.When.Node.Text, calls: []int{i}})
		}
	}
	return all
}

// forkOf finds the calls that run on one branch alone: those with its condition, and those that need what these give.
func forkOf(p *plan.Plan, cases []*guard) (f Fork) {
	of := make([]int, len(p.Calls)) // the case, from 1
	for i, g := range cases {
		for _, call := range g.calls {
			of[call] = i + 1
		}
		f = append(f, Case{Condition: g.text})
	}
	for _, i := range p.Graph.Order() {
		c := p.Calls[i]
		for _, r := range needed(c) {
			read := &p.Reads[r]
			if of[i] > 0 || !read.Ref.Required || read.Start || len(read.Writers) == 0 || c.Instance != "" {
				continue
			}
			if first := of[read.Writers[0]]; !slices.ContainsFunc(read.Writers, func(w int32) bool { return of[w] != first }) {
				of[i] = first
			}
		}
		for _, a := range c.After {
			if of[i] == 0 && !a.Settled && c.Instance == "" {
				of[i] = of[a.Call]
			}
		}
	}
	for i, at := range of {
		if at > 0 {
			f[at-1].Calls = append(f[at-1].Calls, i)
		}
	}
	return f
}

func (f Fork) size() (n int) {
	for _, c := range f {
		n += len(c.Calls)
	}
	return n
}

// apart reports whether a fork has no call of a larger one, or stands within one of its cases.
func (f Fork) apart(large Fork) bool {
	for _, c := range large {
		all, some := true, false
		for _, own := range f {
			for _, call := range own.Calls {
				within := slices.Contains(c.Calls, call)
				all, some = all && within, some || within
			}
		}
		if all {
			return true
		}
		if some {
			return false
		}
	}
	return true
}
