package analyzer

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/obelus-dev/obelus/analyzer/internal/branch"
	"github.com/obelus-dev/obelus/analyzer/internal/logic"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/dag"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/runtime/orders"
)

var _ = register(Rule{
	Rule:  &diag.Rule{Code: "OB706", Name: "forbidden-order", Default: diag.Error},
	Needs: branch.Needed,
	Run:   forbiddenOrders,
})

// An OrderWitness is the evidence of OB706: calls in an order that the graph allows, of
// which the last mustn't begin there, and the branch on which they run.
type OrderWitness struct {
	Order  []string        `json:"order"`
	Branch []branch.Choice `json:"branch,omitempty"`
}

// orderChecks are what the policies of the plan ask of orders.
func (p *Pass) orderChecks() []orders.Check {
	if p.checks == nil && len(p.Plan.Policies) > 0 {
		p.checks = orders.Of(p.Plan.Policies)
	}
	return p.checks
}

// forbiddenOrders reports calls that may begin where a policy forbids it, in some order
// that the graph allows, on some branch (S17.6). A solution is held to it as it runs: what
// earlier ticks did counts there, see [Pass.orderSolution].
func forbiddenOrders(p *Pass) {
	checks := p.orderChecks()
	if len(checks) == 0 || p.screens || !p.Plan.Graph.Acyclic() {
		return
	}
	var doubtful [][2]int
	for at := range checks {
		c := &checks[at]
		shares, subjects, others := p.shares(at, c)
		var all []broken
		switch {
		case len(subjects) == 0 || c.Kind == orders.NeverAfter && len(others) == 0:
			continue
		case c.Kind == orders.OnlyAfter && p.config.within:
			continue // what was done before the call that runs the plan counts
		case c.Kind == orders.OnlyAfter:
			all = p.notAfter(c, shares, subjects)
			for i := range all { // of a solution alone nobody knows what was done before it
				all[i].sure = all[i].sure && p.Plan.Form != compiler.Solution
			}
		case c.Kind == orders.NeverAfter:
			all = p.after(shares, subjects, others)
		default:
			all = p.tooOften(c, shares, subjects)
		}
		slices.SortStableFunc(all, func(a, b broken) int { return cmp.Compare(b.certainty(), a.certainty()) })
		for i := range all {
			if i < maxOrderFindings {
				f := p.reportOrder(c, &all[i])
				if more := len(all) - maxOrderFindings; more > 0 && i == maxOrderFindings-1 {
					f.Message += fmt.Sprintf("; so it is with %d more calls", more)
				}
			}
			if !all[i].sure {
				doubtful = p.inDoubt(doubtful, c, &all[i], subjects, others)
			}
		}
	}
	p.inOrder(doubtful)
}

// maxOrderFindings bounds how many calls one order is said to be broken by.
const maxOrderFindings = 50

func (b *broken) certainty() int {
	if b.sure {
		return 1
	}
	return 0
}

// inDoubt adds the pairs of calls of which it matters to a call in doubt which comes first,
// as they are listed; those that the graph orders otherwise are left out.
func (p *Pass) inDoubt(pairs [][2]int, c *orders.Check, b *broken, subjects, others []int32) [][2]int {
	var trace dag.Trace
	add := func(i, k int32) {
		i, k = min(i, k), max(i, k)
		if trace.Follow(&p.Plan.Graph, i, 0); i != k && !trace.Met(k) {
			pairs = append(pairs, [2]int{int(i), int(k)})
		}
	}
	const most = 200 // which are enough for a reader of such a plan
	if p.budget().follows -= len(p.Plan.Calls); p.may.follows < 0 {
		return pairs
	}
	if c.Kind == orders.AtMost {
		for at := 1; at < min(len(subjects), most); at++ {
			add(subjects[at-1], subjects[at])
		}
		return pairs
	}
	for _, other := range others[:min(len(others), most)] {
		add(other, b.call)
	}
	return pairs
}

// inOrder lets pairs of calls run as listed, so that which of them is refused doesn't hang
// on timing, as long as no calls wait for each other then.
func (p *Pass) inOrder(pairs [][2]int) {
	if len(pairs) == 0 {
		return
	}
	if all := slices.Concat(p.ordered, pairs); p.Plan.InOrder(all).Graph.Acyclic() {
		p.ordered = all
		return
	}
	for _, pair := range pairs[:min(len(pairs), maxOrdered)] {
		if more := append(slices.Clip(p.ordered), pair); p.Plan.InOrder(more).Graph.Acyclic() {
			p.ordered = more
		}
	}
}

// after are the subjects that may begin after one of the others has begun.
func (p *Pass) after(shares []share, subjects, others []int32) (all []broken) {
	free, soft, complete := p.unorderedPairs(shares, subjects, others)
	if is := func(of []int32) bool { return len(of) > 0 }; complete && !slices.ContainsFunc(free, is) && !slices.ContainsFunc(soft, is) &&
		!slices.ContainsFunc(subjects, func(i int32) bool { return shares[i].clashes }) {
		return nil
	}
	e := p.conditions()
	for at, x := range subjects {
		call := p.Plan.Calls[x]
		var best *broken
		asked := map[logic.Literal]bool{}
		ask := func(y int32, goal logic.Literal, sure bool) {
			if asked[goal] || best != nil && best.sure || e.Exhausted() {
				return
			}
			asked[goal] = true
			answer, certain := p.canHold(goal)
			if sure = sure && certain && shares[x].sure && shares[y].sure; !answer.Impossible && (best == nil || sure) {
				best = &broken{x, []int32{y}, answer, goal, sure}
			}
		}
		if shares[x].clashes {
			ask(x, e.Runs(call), !shares[x].open)
		}
		for _, y := range free[at] {
			is, _ := shares[x].same(&shares[y])
			ask(y, e.And(e.Runs(call), e.Runs(p.Plan.Calls[y])), is)
		}
		if len(soft[at]) > 0 && (best == nil || !best.sure) {
			if p.budget().follows -= len(shares); p.may.follows < 0 {
				complete = false
				continue
			}
			happens := make([]logic.Literal, len(shares))
			for i := range happens {
				happens[i] = logic.False
			}
			happens[x] = logic.True
			starts := e.Before(happens).Starts
			for _, y := range soft[at] {
				is, _ := shares[x].same(&shares[y])
				ask(y, e.And(e.And(e.Runs(call), e.Runs(p.Plan.Calls[y])), starts[y].Not()), is)
			}
		}
		if best != nil {
			all = append(all, *best)
		}
	}
	if !complete || p.budget().goals < 0 || e.Exhausted() {
		p.uncounted()
	}
	return all
}

// unorderedPairs are, by subject, the others that the graph doesn't order behind it, and
// those that it does but that may begin earlier where something is skipped or isn't needed.
func (p *Pass) unorderedPairs(shares []share, subjects, others []int32) (free, soft [][]int32, complete bool) {
	free, soft = make([][]int32, len(subjects)), make([][]int32, len(subjects))
	of := slices.Concat(subjects, others)
	slices.Sort(of)
	of = slices.Compact(of)
	place := make([]int, len(subjects)) // of the subjects, ascending
	for at, x := range subjects {
		place[at], _ = slices.BinarySearch(of, x)
	}
	may := p.budget()
	look := func(g *dag.Graph, f func(at int, x, y int32, depends bool)) {
		g.Reach(of, func(y int32, from int, set *dag.Set) {
			if !shares[y].other {
				return
			}
			first, _ := slices.BinarySearch(place, from)
			for at := first; at < len(place) && place[at] < from+dag.Block; at++ {
				if x := subjects[at]; x != y && may.pairs > 0 {
					may.pairs--
					f(at, x, y, set.Has(from, place[at]))
				}
			}
		})
	}
	firmPairs := map[[2]int32]bool{}
	look(&p.firmly().graph, func(_ int, x, y int32, depends bool) {
		if depends {
			firmPairs[[2]int32{x, y}] = true
		}
	})
	look(&p.Plan.Graph, func(at int, x, y int32, depends bool) {
		switch _, may := shares[x].same(&shares[y]); {
		case !may:
		case !depends:
			free[at] = append(free[at], y)
		case !firmPairs[[2]int32{x, y}]:
			soft[at] = append(soft[at], y)
		}
	})
	return free, soft, may.pairs > 0
}

// tooOften are the calls with which subjects may begin more often than they may: the last
// of as few as that takes.
func (p *Pass) tooOften(c *orders.Check, shares []share, subjects []int32) (all []broken) {
	exceeds := func(of []int32, sure bool) {
		total := 0
		for _, i := range of {
			total = capped(math.MaxInt32, total+shares[i].begins)
		}
		if total <= c.Most {
			return
		}
		e := p.conditions()
		goal := p.atLeast(shares, of, c.Most+1)[c.Most+1]
		answer, certain := p.canHold(goal)
		if answer.Impossible || e.Exhausted() {
			return
		}
		runs := func(i int32) bool { return !answer.Possible || e.Evaluate(e.Runs(p.Plan.Calls[i]), answer.Assignment) }
		with := slices.DeleteFunc(slices.Clone(of), func(i int32) bool { return !runs(i) })
		slices.SortStableFunc(with, func(a, b int32) int { return shares[b].begins - shares[a].begins })
		count, enough := 0, 0
		for count <= c.Most && enough < len(with) {
			count += shares[with[enough]].begins
			sure = sure && shares[with[enough]].sure
			enough++
		}
		with = with[:enough]
		slices.SortFunc(with, func(a, b int32) int { return p.Plan.Graph.Rank(int(a)) - p.Plan.Graph.Rank(int(b)) })
		all = append(all, broken{with[enough-1], with[:enough-1], answer, goal, sure && certain})
	}
	var keys []string
	alike := map[string][]int32{} // those that are sure to count under one value
	var vague []int32             // those that may count under any
	for _, i := range subjects {
		one := &shares[i]
		if one.open || !one.literal() {
			vague = append(vague, i)
		}
		if one.open {
			continue
		}
		if alike[one.key] == nil {
			keys = append(keys, one.key)
		}
		alike[one.key] = append(alike[one.key], i)
	}
	for _, key := range keys {
		exceeds(alike[key], true)
	}
	if len(all) > 0 || len(vague) == 0 {
		return all
	}
	exceeds(vague, false)
	for left := p.budget().gates; len(all) == 0 && len(keys) > 0 && left > 0; keys = keys[1:] {
		if of := alike[keys[0]]; shares[of[0]].literal() {
			left -= (len(of) + len(vague)) * (c.Most + 2)
			exceeds(slices.Concat(of, vague), false)
		}
	}
	return all
}

// reportOrder reports a call that may begin where a policy forbids it.
func (p *Pass) reportOrder(c *orders.Check, b *broken) *diag.Diagnostic {
	call := p.Plan.Calls[b.call]
	var names []string
	for _, i := range b.with {
		if i != b.call {
			names = append(names, p.Plan.Calls[i].Name)
		}
	}
	e := p.conditions()
	var says, help string
	switch {
	case c.Kind == orders.OnlyAfter:
		says, help = fmt.Sprintf("%q may begin before %q is done", call.Name, c.Other.Text), fmt.Sprintf("name a call of %q in its \"_after\", or let it read what that gives", c.Other.Text)
	case c.Kind == orders.AtMost:
		says, help = fmt.Sprintf("%q may be one too many: with it %q begins more often than %s", call.Name, c.Subject.Text, times(c.Most)), "take calls or tries of them out, or give the list that it runs for \"maxItems\""
		if len(names) > 0 {
			says = fmt.Sprintf("%q may be one too many after %s: together %q begins more often than %s", call.Name, quotedNames(names), c.Subject.Text, times(c.Most))
		}
	case len(names) == 0:
		says, help = fmt.Sprintf("%q may come after itself: %q and %q both begin with it, more than once", call.Name, c.Other.Text, c.Subject.Text), "take one of the two out"
	default:
		says, help = fmt.Sprintf("%q may begin after %s", call.Name, quotedNames(names)), fmt.Sprintf("let it come first: {settled: [%s]} in the \"_after\" of %s", p.idOf(call), quotedNames(names))
	}
	branch := e.Decisions(b.goal, b.answer.Assignment)
	if b.answer.Possible {
		if words := told(branch); words != "" {
			says += ", when " + words
		}
	}
	f := p.Report(call.ToolNode.Span(), "%s; the policy's rule %s says that %s", says, quote(c.Name), c.Says()).About(call.Label()).Advise("%s", help)
	if b.answer.Possible {
		f.Witness = OrderWitness{append(names, call.Name), branch}
	}
	for _, i := range b.with[:min(len(b.with), maxShown)] {
		if i != b.call {
			f.Note(p.Plan.Calls[i].ToolNode.Span(), "%q is here", p.Plan.Calls[i].Name)
		}
	}
	f.Show(headOf(c.Node.Span()), "the rule is here")
	if !b.sure {
		f.Message += "; whether that happens couldn't be decided, so a run refuses the call if it does"
		f.As(diag.Warning)
	}
	return f
}

// idOf is what "_after" can call a call.
func (p *Pass) idOf(call *compiler.Call) string {
	switch {
	case call.ID != "":
		return call.ID
	case slices.ContainsFunc(p.Plan.Calls, func(other *compiler.Call) bool { return other != call && other.ToolName == call.ToolName }):
		return "its _id"
	}
	return call.ToolName
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
