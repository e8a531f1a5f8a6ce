package analyzer

import (
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/analyzer/internal/logic"
	"github.com/obelus-dev/obelus/analyzer/rules"
	"github.com/obelus-dev/obelus/compiler/bind"
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
	without        logic.Literal // OnlyAfter: it runs, and none of the others that it depends on is done
}

// sharesOf are those of the calls that are anything to a check, in the order of the calls.
func sharesOf(p *Pass, c *policy.Check) (all []share) {
	for _, call := range p.Plan.Calls {
		one := delegateShare(p, c, call)
		isMet := label.IsMet(p.Plan, call)
		attempts, items, own := max(1, call.Retry.Attempts), 1, 0
		if isMet(c.Subject) {
			one.subject, own = true, attempts
			if label.IsIdempotent(p.Plan, call) {
				own = 1
			}
		}
		if one.other = one.other || isMet(c.Other); !one.subject && !one.other {
			continue
		}
		one.call, one.key, one.some = call, orderKey(p, c.Per, call), true
		if call.Each != nil {
			least, most := p.Flow.Lengths(call)
			one.uncertain = one.uncertain || least == 0 && call.When != nil // which may be about how many there are
			one.some = least > 0 && !call.When.PerItem() && !call.Each.Collect
			if !strings.HasPrefix(one.key, eachItem) {
				items = min(most, c.Most+2)
			}
		}
		one.uncertain = one.uncertain || attempts > 1 && call.Delegate != "" // the plan may never fail
		one.count = min((own+attempts*one.count)*items, c.Most+1)
		all = append(all, one)
	}
	return all
}

// delegateShare is what the plan that carries a call out is to a check: anything, in a solution, which doesn't know it.
func delegateShare(p *Pass, c *policy.Check, call *plan.Call) (all share) {
	d := p.Plan.Delegates[call.Delegate]
	switch {
	case call.Delegate != "" && p.Screens:
		return share{subject: true, other: true, count: c.Most + 1}
	case d == nil || p.Delegates == nil:
		return all
	}
	return analysis.Once(p.Delegates.Store, orderPlace{d, c}, func() share {
		judged := p.Delegates.Judge(d)
		if !judged.Sound {
			return all // which is a finding of its own
		}
		inner := p.Inner(judged.Plan)
		shares := sharesOf(inner, c)
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
	check *policy.Check
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
func (s share) literal() bool { return strings.HasPrefix(s.key, "=") }

// same reports whether two shares count under the same value, and whether they may.
func (s *share) same(other *share) (is, may bool) {
	is = s.key != "" && s.key == other.key
	return is, is || !s.literal() || !other.literal()
}

// maxRelated is how many calls a check relates with each other. More run one after the other, all of them.
const maxRelated = 500

// inTurn adds, by call, those before it with which a check relates it, where one of them may be refused: they run in
// the order of the shares, so that timing doesn't decide which.
func inTurn(p *Pass, at int, c *policy.Check, shares []share, with [][]int) {
	total := 0
	if live := p.Plan.Live; live != nil && at < len(live.Started) {
		total = live.Started[at]
	}
	inChain := c.Kind != policy.AtMost && len(shares) > maxRelated
	full := 0 // AtMost: with the share before it there is no room left, and what comes next waits for that
	for i, one := range shares {
		total = min(total+one.count, c.Most+1)
		if c.Kind == policy.AtMost && total <= c.Most {
			continue // there is room for all of them
		}
		for k := i - 1; k >= full; k-- {
			if one.subject && shares[k].other || shares[k].subject && one.other || inChain {
				with[one.call.Index] = append(with[one.call.Index], shares[k].call.Index)
			}
			if inChain {
				break
			}
		}
		if c.Kind == policy.AtMost {
			full = i
		}
	}
}

// relatedCalls are, by call of a solution, the calls listed before it with which order rules relate it. A solution is
// held to the rules as it runs, since what earlier ticks did counts.
func relatedCalls(p *Pass) [][]int {
	with := make([][]int, len(p.Plan.Calls))
	for at, c := range policy.Checks(p.Plan.Policies) {
		inTurn(p, at, c, sharesOf(p, c), with)
	}
	return with
}

// asPairs are related calls as pairs. Those of calls that have been held are left out where calls would wait for each
// other.
func asPairs(p *Pass, related [][]int, held func(call int) bool) (pairs [][2]int) {
	var late [][2]int
	for call, with := range related {
		slices.Sort(with)
		for _, earlier := range slices.Compact(with) {
			if pair := [2]int{earlier, call}; held(call) {
				late = append(late, pair)
			} else {
				pairs = append(pairs, pair)
			}
		}
	}
	components := func(pairs [][2]int) int {
		return bind.WithOrder(p.Plan, slices.Concat(p.Ordered, pairs)).Graph.Components()
	}
	if all := slices.Concat(pairs, late); len(late) > 0 && components(all) == components(pairs) {
		return all // no more calls wait for each other
	}
	return pairs
}
