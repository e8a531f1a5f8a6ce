package analyzer

import (
	"fmt"
	"slices"

	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/analyzer/internal/branch"
	"github.com/obelus-dev/obelus/analyzer/internal/logic"
	"github.com/obelus-dev/obelus/analyzer/rules"
	"github.com/obelus-dev/obelus/compiler/bind"
	"github.com/obelus-dev/obelus/compiler/dag"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/policy"
)

var _ = rules.Register(Rule{Needs: branch.Needed, Run: forbiddenOrders}.As("OB706", "forbidden-order", diag.Error))

// questionWork is what a question about branches counts as pairs of calls.
const questionWork = 100

// forbiddenOrders reports calls for which the graph doesn't force the order that a policy requires. They run one after
// the other, so that timing doesn't decide which call a run refuses.
func forbiddenOrders(p *Pass) {
	if p.Screens || !p.Plan.Graph.Acyclic() { // a solution is held to it as it runs: earlier ticks count
		return
	}
	related := make([][]int, len(p.Plan.Calls))
	for at, c := range policy.Checks(p.Plan.Policies) {
		shares, all := sharesOf(p, c), []misorder(nil)
		switch {
		case c.Kind == policy.NeverAfter:
			all = maybeAfter(p, shares)
		case c.Kind == policy.AtMost:
			all = tooOften(p, c, shares)
		case !p.Within: // else what was done before the call that runs the plan counts
			all = maybeBefore(p, shares)
		}
		for i := range all {
			reportOrder(p, c, &all[i])
		}
		// A call may start before one that the graph has before it is done, if it can do without that.
		if c.Kind == policy.NeverAfter || slices.ContainsFunc(all, func(m misorder) bool { return !m.certain }) {
			slices.SortStableFunc(shares, func(x, y share) int {
				return p.Plan.Graph.Rank(x.call.Index) - p.Plan.Graph.Rank(y.call.Index)
			})
			inTurn(p, at, c, shares, related)
		}
	}
	pairs := slices.Concat(p.Ordered, asPairs(p, related, func(int) bool { return false }))
	if len(pairs) > len(p.Ordered) && bind.WithOrder(p.Plan, pairs).Graph.Acyclic() {
		p.Ordered = pairs
	}
}

// A misorder is a call that may start where a check forbids it, after some others.
type misorder struct {
	call    *plan.Call
	earlier []*plan.Call
	certain bool
	answer  logic.Answer
	branch  []BranchChoice
}

// mayOccur reports whether a misorder can be, which it is where a goal holds, and on which branch.
func (m *misorder) mayOccur(p *Pass, goal logic.Literal) bool {
	e := p.Flow.Conditions()
	if !e.Work(questionWork) {
		return false
	}
	m.answer = e.SolveLikely([]logic.Literal{goal})[0]
	if m.certain = m.certain && m.answer.Possible; m.answer.Possible {
		m.branch = e.Decisions(goal, m.answer.Assignment)
		// It mustn't depend on what the plan doesn't tell, nor on a failure that may never come.
		m.certain = m.certain && rules.Undecided(m.branch) == 0
		for _, v := range e.Implicant(goal, m.answer.Assignment) {
			call, ends := e.EndingOf(v)
			unlikely := ends && m.answer.Assignment.Flips(v) &&
				(p.Plan.Calls[call].Delegate != "" || p.Plan.Calls[call].Each != nil)
			m.certain = m.certain && e.About(v) != nil && !unlikely
		}
	}
	return !m.answer.Impossible && !e.Exhausted()
}

// maybeBefore are the subjects that may start without one of the others done before. Only the
// calls that a subject depends on count.
func maybeBefore(p *Pass, shares []share) (all []misorder) {
	e := p.Flow.Conditions()
	for i := range shares {
		shares[i].without = e.Runs(shares[i].call)
	}
	eachPair(p, shares, func(y, x *share, ordered bool) {
		if is, _ := x.same(y); ordered && is && y.subject && x.other {
			if !x.some {
				y.uncertain = y.uncertain || y.call.When != nil // which may see to it that one is
				return
			}
			e.Allow(2)
			y.without = e.And(y.without, e.Done(x.call).Not())
		}
	})
	for i := range shares {
		x := &shares[i]
		if !x.subject {
			continue
		}
		m := misorder{call: x.call}
		m.certain = !x.uncertain && p.Plan.Form != plan.Solution && // calls of earlier ticks are unknown
			!slices.ContainsFunc(shares, func(y share) bool { is, may := x.same(&y); return y.other && is != may })
		if m.mayOccur(p, x.without) && (m.answer.Possible || x.without == e.Runs(x.call)) {
			all = append(all, m)
		}
	}
	return all
}

// maybeAfter are the subjects that may start after one of the others has started: nothing lets the other wait for them.
func maybeAfter(p *Pass, shares []share) (all []misorder) {
	e, found := p.Flow.Conditions(), map[*share]misorder{}
	eachPair(p, shares, func(y, x *share, ordered bool) {
		is, may := x.same(y)
		known, reported := found[x]
		if ordered || !may || !x.subject || !y.other || known.certain {
			return
		}
		m := misorder{call: x.call, earlier: []*plan.Call{y.call}, certain: is && !x.uncertain && !y.uncertain}
		if m.mayOccur(p, e.And(e.Runs(x.call), e.Runs(y.call))) && (m.certain || !reported) {
			found[x] = m
		}
	})
	for i := range shares {
		if m, reported := found[&shares[i]]; reported {
			all = append(all, m)
		}
	}
	return all
}

// eachPair goes through the pairs of calls with a role; ordered says that y comes after x in the graph.
func eachPair(p *Pass, shares []share, f func(y, x *share, ordered bool)) {
	of, at := make([]int32, len(shares)), map[int32]int{}
	for i := range shares {
		of[i] = int32(shares[i].call.Index)
		at[of[i]] = i
	}
	e := p.Flow.Conditions()
	p.Plan.Graph.Reach(of, func(y int32, from int, after *dag.Set) {
		for i := from; i < min(len(of), from+dag.Block); i++ {
			if of[i] != y && e.Work(1) {
				f(&shares[at[y]], &shares[i], after.Has(from, i))
			}
		}
	})
}

// tooOften are the calls with which subjects may start more often than they may: those that are sure to count under one
// value, or else those that may.
func tooOften(p *Pass, c *policy.Check, shares []share) (all []misorder) {
	keys := map[string][]share{}
	for _, y := range shares {
		keys[y.key] = append(keys[y.key], y)
	}
	open := slices.DeleteFunc(slices.Clone(shares), share.literal)
	for _, certain := range []bool{true, false} {
		for _, y := range shares {
			of := keys[y.key]
			if y.call != of[0].call || certain && y.key == "" || !certain && len(all) > 0 {
				continue
			}
			if !certain {
				if !p.Flow.Conditions().Work(len(open)) {
					return all
				}
				of = append(slices.Clip(of), slices.DeleteFunc(slices.Clone(open),
					func(x share) bool { return x.key == y.key })...)
			}
			all = append(all, together(p, c, of, certain)...)
		}
	}
	return all
}

// together is the call with which some shares may be one too many.
func together(p *Pass, c *policy.Check, of []share, certain bool) []misorder {
	e := p.Flow.Conditions()
	if !e.Work(len(of) * (c.Most + 2)) {
		return nil
	}
	// By number: at least so many of the subjects start.
	e.Allow(2 * len(of) * (c.Most + 2))
	counts := slices.Repeat([]logic.Literal{logic.False}, c.Most+2)
	counts[0] = logic.True
	for _, x := range of {
		for n := c.Most + 1; n > 0; n-- {
			counts[n] = e.Or(counts[n], e.And(e.Runs(x.call), counts[max(0, n-x.count)]))
		}
	}
	goal, m := counts[c.Most+1], misorder{certain: certain}
	if goal == logic.False || !m.mayOccur(p, goal) {
		return nil
	}
	for total := 0; total <= c.Most; of = of[1:] {
		if x := of[0]; !m.answer.Possible || e.Holds(e.Runs(x.call), m.answer.Assignment) {
			m.earlier, m.certain = append(m.earlier, x.call), m.certain && !x.uncertain
			total += x.count
		}
	}
	last := len(m.earlier) - 1
	m.call, m.earlier = m.earlier[last], m.earlier[:last]
	return []misorder{m}
}

// reportOrder reports a call that may start where a policy forbids it.
func reportOrder(p *Pass, c *policy.Check, m *misorder) {
	names := make([]string, len(m.earlier))
	for i, other := range m.earlier {
		names[i] = other.Name
	}
	var says, help string
	switch {
	case c.Kind == policy.OnlyAfter:
		says, help = fmt.Sprintf("%q may start before %q is done", m.call.Name, c.Other.Text),
			fmt.Sprintf("name a call of %q in its \"_after\", or let it read what that gives", c.Other.Text)
	case c.Kind == policy.NeverAfter:
		says, help = fmt.Sprintf("%q may start after %s", m.call.Name, analysis.QuotedNames(names)),
			fmt.Sprintf("let %s wait for it, with \"settled\" in its \"_after\"", analysis.QuotedNames(names))
	case len(names) == 0:
		says, help = fmt.Sprintf("%q starts %q more often than allowed", m.call.Name, c.Subject.Text),
			"limit its \"_retry\", or give the list that it runs for \"maxItems\" or \"uniqueItems\""
	default:
		says, help = fmt.Sprintf("%q may be one too many after %s: together they start %q more often than allowed",
			m.call.Name, analysis.QuotedNames(names), c.Subject.Text), "remove one of them"
	}
	if words := analysis.DescribeBranch(m.branch); words != "" && m.certain {
		says += ", when " + words
	}
	f := p.ReportCall(m.call, m.call.ToolNode.Span(), "%s; the policy's rule %s says that %s", says,
		analysis.Quote(c.Name), c.Says()).Advise("%s", help)
	f.Witness = Branch{Branch: m.branch}
	f.Note(c.Node.Span().Head(), "the rule is here")
	if !m.certain {
		f.Message += "; whether that happens isn't known, so a run refuses the call if it does"
		f.As(diag.Warning)
	}
}
