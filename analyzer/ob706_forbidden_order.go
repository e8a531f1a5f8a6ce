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

// An OrderWitness is the evidence of OB706: calls in an order that the graph allows, the last of them
// forbidden, and the branch on which they run.
type OrderWitness struct {
	Order  []string        `json:"order"`
	Branch []branch.Choice `json:"branch,omitempty"`
}

// questionWork is what a question about branches counts as pairs of calls.
const questionWork = 100

// forbiddenOrders reports calls for which the graph doesn't force the order that a policy
// requires, on some branch. Whether an order that the graph leads to is kept on
// every branch isn't looked at: the run refuses what would break it.
func forbiddenOrders(p *Pass) {
	if p.Screens || !p.Plan.Graph.Acyclic() { // a solution is held to it as it runs: earlier ticks count
		return
	}
	var pairs [][2]int
	checks := orderChecks(p)
	for at := range checks {
		c := &checks[at]
		shares := shares(p, at)
		var all []misorder
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
		pairs = toOrder(p, pairs, c, shares, slices.ContainsFunc(all, func(m misorder) bool { return !m.certain }))
	}
	if pairs = slices.Concat(p.Ordered, pairs); len(pairs) > len(p.Ordered) &&
		bind.WithOrder(p.Plan, pairs).Graph.Acyclic() {
		p.Ordered = pairs
	}
}

// A misorder is a call that may start where a check forbids it, after some others.
type misorder struct {
	call    *plan.Call
	earlier []*plan.Call
	goal    logic.Literal // the branch
	answer  logic.Answer
	certain bool
}

// misorderOf asks whether a call can come where it mustn't; nil where it can't.
func misorderOf(p *Pass, call *plan.Call, goal logic.Literal, certain bool, earlier ...*plan.Call) *misorder {
	e := p.Flow.Conditions()
	if !e.Work(questionWork) {
		return nil
	}
	a := e.SolveLikely([]logic.Literal{goal})[0]
	if a.Impossible || e.Exhausted() {
		return nil
	}
	if certain = certain && a.Possible; certain {
		// It mustn't depend on what the plan doesn't tell.
		certain = rules.Undecided(e.Decisions(goal, a.Assignment)) == 0
		for _, v := range e.Implicant(goal, a.Assignment) {
			call, ends := e.EndingOf(v)
			unlikely := ends && a.Assignment.Flips(v) &&
				(p.Plan.Calls[call].Delegate != "" || p.Plan.Calls[call].Each != nil)
			certain = certain && e.About(v) != nil && !unlikely
		}
	}
	return &misorder{call, earlier, goal, a, certain}
}

// maybeBefore are the subjects that may start without one of the others done before. Only the
// calls that a subject depends on count.
func maybeBefore(p *Pass, shares []share) (all []misorder) {
	e := p.Flow.Conditions()
	for i := range shares {
		shares[i].without = e.Runs(shares[i].call)
	}
	eachPair(p, &p.Plan.Graph, shares, func(y, x *share, ordered bool) {
		if is, _ := x.same(y); ordered && is && y.subject && x.other && x.some {
			e.Allow(2)
			y.without = e.And(y.without, e.Done(x.call).Not())
		}
	})
	for i := range shares {
		x := &shares[i]
		if !x.subject || x.without == logic.False {
			continue
		}
		certain := !x.uncertain && p.Plan.Form != plan.Solution && // calls of earlier ticks are unknown
			!slices.ContainsFunc(shares, func(y share) bool { is, may := x.same(&y); return y.other && is != may })
		m := misorderOf(p, x.call, x.without, certain)
		if m != nil && (m.answer.Possible || x.without == e.Runs(x.call)) {
			all = append(all, *m)
		}
	}
	return all
}

// maybeAfter are the subjects that may start after one of the others has started: nothing lets the other wait for them.
func maybeAfter(p *Pass, shares []share) (all []misorder) {
	e := p.Flow.Conditions()
	found := map[*share]*misorder{}
	eachPair(p, &p.Plan.Graph, shares, func(y, x *share, ordered bool) {
		if is, may := x.same(y); !ordered && may && x.subject && y.other && (found[x] == nil || !found[x].certain) {
			goal := e.And(e.Runs(x.call), e.Runs(y.call))
			if m := misorderOf(p, x.call, goal, is && !x.uncertain && !y.uncertain, y.call); m != nil &&
				(found[x] == nil || m.certain) {
				found[x] = m
			}
		}
	})
	for i := range shares {
		if m := found[&shares[i]]; m != nil {
			all = append(all, *m)
		}
	}
	return all
}

// eachPair goes through the pairs of calls with a role; ordered says that y comes after x in a graph.
func eachPair(p *Pass, g *dag.Graph, shares []share, f func(y, x *share, ordered bool)) {
	of, at := make([]int32, len(shares)), map[int32]int{}
	for i := range shares {
		of[i] = int32(shares[i].call.Index)
		at[of[i]] = i
	}
	e := p.Flow.Conditions()
	g.Reach(of, func(y int32, from int, after *dag.Set) {
		for i := from; i < min(len(of), from+dag.Block); i++ {
			if of[i] != y && e.Work(1) {
				f(&shares[at[y]], &shares[i], after.Has(from, i))
			}
		}
	})
}

// tooOften are the calls with which subjects may start more often than they may.
func tooOften(p *Pass, c *policy.Check, shares []share) (all []misorder) {
	var keys []string
	alike := map[string][]*share{} // those that are sure to count under one value
	var unspecified []*share       // those that may count under several
	for i := range shares {
		x := &shares[i]
		if x.key == "" || !x.literal() {
			unspecified = append(unspecified, x)
		}
		if x.key == "" {
			continue
		}
		if alike[x.key] == nil {
			keys = append(keys, x.key)
		}
		alike[x.key] = append(alike[x.key], x)
	}
	for _, key := range keys {
		all = append(all, together(p, c, alike[key], true)...)
	}
	for _, key := range append(keys, "") {
		if len(all) == 0 && len(unspecified) > 0 && (key == "" || alike[key][0].literal()) {
			all = together(p, c, slices.Concat(alike[key], unspecified), false)
		}
	}
	return all
}

// together is the call with which some shares may be one too many.
func together(p *Pass, c *policy.Check, of []*share, certain bool) []misorder {
	total := 0
	for _, x := range of {
		total = min(total+x.count, c.Most+1)
	}
	e := p.Flow.Conditions()
	if total <= c.Most || !e.Work(len(of)*(c.Most+2)) {
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
	m := misorderOf(p, nil, counts[c.Most+1], certain)
	if m == nil {
		return nil
	}
	for total = 0; total <= c.Most; of = of[1:] {
		x := of[0]
		if m.answer.Possible && !e.Holds(e.Runs(x.call), m.answer.Assignment) {
			continue
		}
		if m.call != nil {
			m.earlier = append(m.earlier, m.call)
		}
		m.call, m.certain = x.call, m.certain && !x.uncertain
		total += x.count
	}
	return []misorder{*m}
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
			"limit its \"_retry\", or give the list that it runs for \"maxItems\""
	default:
		says, help = fmt.Sprintf("%q may be one too many after %s: together they start %q more often than allowed",
			m.call.Name, analysis.QuotedNames(names), c.Subject.Text), "remove one of them"
	}
	witness := OrderWitness{Order: append(names, m.call.Name)}
	if m.answer.Possible {
		witness.Branch = p.Flow.Conditions().Decisions(m.goal, m.answer.Assignment)
		if words := analysis.DescribeBranch(witness.Branch); words != "" {
			says += ", when " + words
		}
	}
	f := p.ReportCall(m.call, m.call.ToolNode.Span(), "%s; the policy's rule %s says that %s", says,
		analysis.Quote(c.Name), c.Says()).Advise("%s", help)
	f.Witness = witness
	for _, other := range m.earlier[:min(len(m.earlier), analysis.MaxShown)] {
		f.Note(other.ToolNode.Span(), "%q is here", other.Name)
	}
	f.Show(c.Node.Span().Head(), "the rule is here")
	if !m.certain {
		f.Message += "; whether that happens isn't known, so a run refuses the call if it does"
		f.As(diag.Warning)
	}
}
