package analyzer

import (
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/analyzer/internal/logic"
	"github.com/obelus-dev/obelus/analyzer/rules"
	"github.com/obelus-dev/obelus/compiler/dag"
	"github.com/obelus-dev/obelus/compiler/label"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/policy"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// A share is what a call is to a check of a policy's order rule: it itself, or the calls
// of the plan that carries it out.
type share struct {
	call           *plan.Call
	subject, other bool
	uncertain      bool          // the calls of the plan that carries it out may not run, or not fail
	some           bool          // once it is done at least one of its items is
	count          int           // AtMost: how often subjects start with it, at most one too many
	key            string        // what it counts under: see orderKey
	without        logic.Literal // it runs, and none of the others that it depends on is done
}

// orderChecks are what the policies of the plan ask of orders.
func orderChecks(p *Pass) []policy.Check {
	checks := analysis.Kept[[]policy.Check](p.Store)
	if *checks == nil && len(p.Plan.Policies) > 0 {
		*checks = policy.Checks(p.Plan.Policies)
	}
	return *checks
}

// shares are those of the calls that are anything to a check, in the order of the calls.
func shares(p *Pass, at int) (all []share) {
	for _, call := range p.Plan.Calls {
		if one := shareOf(p, at, call); one.subject || one.other {
			all = append(all, one)
		}
	}
	return all
}

func shareOf(p *Pass, at int, call *plan.Call) share {
	c := &orderChecks(p)[at]
	in := delegateShare(p, at, call)
	one := share{call: call, subject: label.Meets(c.Subject, p.Plan, call), other: label.Meets(c.Other, p.Plan, call),
		some: true, uncertain: in.uncertain}
	own, attempts, items := 0, max(1, call.Retry.Attempts), 1
	if one.subject {
		if own = attempts; label.IsIdempotent(p.Plan, call) {
			own = 1
		}
	}
	one.subject, one.other = one.subject || in.subject, one.other || in.other
	if one.subject || one.other {
		if call.Each != nil {
			least, most := p.Flow.Lengths(call)
			items, one.some = min(most, c.Most+2), least > 0 && !call.When.PerItem() && !call.Each.Collect
		}
		if one.key = orderKey(p, c.Per, call); strings.HasPrefix(one.key, eachItem) {
			items = 1
		}
	}
	one.uncertain = one.uncertain || attempts > 1 && call.Delegate != "" // the plan may never fail
	one.count = min((own+attempts*in.count)*items, c.Most+1)
	return one
}

// delegateShare is what the plan that carries a call out is to a check.
func delegateShare(p *Pass, at int, call *plan.Call) (all share) {
	d := p.Plan.Delegates[call.Delegate]
	if d == nil || p.Delegates == nil {
		return all
	}
	return analysis.Once(p.Delegates.Store, orderPlace{d, at}, func() share {
		judged := p.Delegates.Judge(d)
		if !judged.Sound {
			return all // which is a finding of its own
		}
		inner := p.Inner(judged.Plan)
		c, shares := &orderChecks(inner)[at], shares(inner, at)
		for i := range shares {
			one := &shares[i]
			all.subject, all.other = all.subject || one.subject, all.other || one.other
			all.count = min(all.count+one.count, c.Most+1)
			all.uncertain = all.uncertain || one.uncertain || inner.Flow.Conditions().Runs(one.call) != logic.True
		}
		if c.Kind == policy.OnlyAfter {
			all.subject = len(maybeBefore(inner, shares)) > 0
		}
		return all
	})
}

// An orderPlace is a plan and a check.
type orderPlace struct {
	plan  *plan.Plan
	check int
}

// orderKey is what a call counts under for a parameter: two calls with the same key have the
// same value there. It is "" where that isn't known, or isn't one value.
func orderKey(p *Pass, parameter string, call *plan.Call) string {
	at := slices.IndexFunc(call.Params.Fields, func(f plan.TemplateField) bool { return f.Key == parameter })
	switch {
	case parameter == "" || at < 0 && call.Delegate == "":
		return "=null"
	case at < 0 || call.Delegate != "":
		return ""
	}
	t := call.Params.Fields[at].Value
	if t.PerItem() {
		if t.Expr == nil || !t.Expr.Plain() {
			return ""
		}
		r := &p.Plan.Reads[t.Reads[0]].Ref
		if r.Kind == "index" || len(r.Path) == 0 && surelyFits(p, call.Each.List, unrepeated) {
			return eachItem + call.Name
		}
		return ""
	}
	var b strings.Builder
	if !t.Live {
		b.WriteByte('=')
	}
	rules.Fingerprint(p, &b, t)
	return b.String()
}

// eachItem begins the key of a call whose items count under different values: their positions, or items of a list
// without duplicates.
const eachItem = "each "

// unrepeated accepts lists without duplicates.
var unrepeated = schema.New(map[string]any{"uniqueItems": true}, schema.Options{})

// literal reports whether the value that a call counts under is written in the plan.
func (s *share) literal() bool { return strings.HasPrefix(s.key, "=") }

// same reports whether two shares count under the same value, and whether they may.
func (s *share) same(other *share) (is, may bool) {
	is = s.key != "" && s.key == other.key
	return is, is || !s.literal() || !other.literal()
}

// toOrder adds the pairs of calls that are to run one after the other, so that which of them a check refuses doesn't
// depend on timing: those that the graph orders, and with all set the others as they are listed.
func toOrder(p *Pass, pairs [][2]int, c *policy.Check, shares []share, all bool) [][2]int {
	if c.Kind == policy.AtMost {
		slices.SortStableFunc(shares, func(x, y share) int {
			return p.Plan.Graph.Rank(x.call.Index) - p.Plan.Graph.Rank(y.call.Index)
		})
		for i := 1; all && i < len(shares); i++ {
			pairs = append(pairs, [2]int{shares[i-1].call.Index, shares[i].call.Index})
		}
		return pairs
	}
	ordered := map[[2]int]bool{} // that wait for each other in any case
	eachPair(p, strictGraph(p), shares, func(y, x *share, after bool) {
		if after {
			ordered[[2]int{x.call.Index, y.call.Index}] = true
		}
	})
	eachPair(p, &p.Plan.Graph, shares, func(y, x *share, after bool) {
		pair := [2]int{x.call.Index, y.call.Index}
		matters := (x.subject && y.other || x.other && y.subject) && !ordered[pair]
		if matters && (after || all && p.Plan.Graph.Rank(pair[0]) < p.Plan.Graph.Rank(pair[1])) &&
			!slices.ContainsFunc(y.call.After, func(a plan.After) bool { return a.Call == pair[0] }) {
			pairs = append(pairs, pair)
		}
	})
	return pairs
}

// strictGraph is who never starts before whom has settled.
func strictGraph(p *Pass) *dag.Graph {
	strict := analysis.Kept[*dag.Graph](p.Store)
	if *strict == nil {
		deps := dag.NewBuilder(len(p.Plan.Calls), p.Plan.Graph.Edges())
		for _, call := range p.Plan.Calls {
			for _, a := range call.After {
				if !a.Settled {
					deps.Add(int32(a.Call))
				}
			}
			for _, i := range call.Reads {
				if r := &p.Plan.Reads[i]; r.Ref.Required && len(r.Writers) == 1 {
					deps.Add(r.Writers[0])
				}
			}
			deps.Next()
		}
		graph := deps.Graph(nil)
		*strict = &graph
	}
	return *strict
}
