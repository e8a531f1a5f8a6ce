package analyzer

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/internal/logic"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/dag"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/runtime/orders"
)

// A share is what a call is to a check of the policy's orders: it itself, or the calls of
// the plan that carries it out.
type share struct {
	subject, other bool
	gives          bool // OnlyAfter: once it is done one of the others has been done
	clashes        bool // NeverAfter: one of its subjects may come after one of its own others
	sure           bool // all that doesn't hang on what comes to the plan that carries it out
	begins         int  // AtMost: how often subjects may begin with it, up to one too many
	key            string
	open           bool // what it counts under isn't known, or isn't one value
}

// same reports whether two shares count under the same value, and whether they may.
func (a *share) same(b *share) (surely, maybe bool) {
	switch {
	case a.open || b.open:
		return false, true
	case a.key == b.key:
		return true, true
	}
	return false, !a.literal() || !b.literal()
}

// literal reports whether the value that a call counts under stands in the plan, or none is asked for.
func (a *share) literal() bool { return a.key == "" || strings.HasPrefix(a.key, "=") }

// An orderPart is what a plan is to a check, as the plan of a call.
type orderPart struct {
	subject, other, needs, gives bool
	begins                       int
	sure                         bool // as far as it isn't nothing
}

// passedBy are the parameters that a call passes on to the plan that carries it out, and
// whether they are sure not to be null.
func (p *Pass) passedBy(call *compiler.Call) map[string]bool {
	all := map[string]bool{}
	for _, f := range call.Params.Fields {
		switch {
		case !f.Value.Live():
			all[f.Key] = f.Value.Value != nil
		case f.Value.Expr != nil:
			all[f.Key] = !slices.ContainsFunc(p.flowsOf(f.Value), func(f flow) bool { return f.schema.Kinds()&schema.Null != 0 })
		default:
			all[f.Key] = true
		}
	}
	return all
}

// shares are what the calls of the plan are to a check, and which of them are anything.
func (p *Pass) shares(at int, c *orders.Check) (all []share, subjects, others []int32) {
	all = make([]share, len(p.Plan.Calls))
	for i, call := range p.Plan.Calls {
		role := c.Role(p.Plan, call)
		if role == 0 && call.Plan() == "" {
			continue
		}
		one := &all[i]
		*one = p.share(at, c, call, role)
		if one.subject {
			subjects = append(subjects, int32(i))
		}
		if one.other {
			others = append(others, int32(i))
		}
	}
	return all, subjects, others
}

func (p *Pass) share(at int, c *orders.Check, call *compiler.Call, role orders.Role) share {
	one := share{subject: role&orders.Subject != 0, other: role&orders.Other != 0, sure: true}
	in := p.orderPartOf(call, at)
	tries, limit := max(1, call.Retry.Attempts), c.Most+1
	items, some := 1, true
	alike := 1 // items that may count under one value
	if call.Each != nil {
		items, some = p.lengths(call.Each, limit+1)
		some = some && !call.When.PerItem() && !call.Each.Collect
		if alike = items; c.Per != "" && p.distinct(call, c.Per) {
			alike = 1
		}
	}
	switch c.Kind {
	case orders.OnlyAfter:
		one.gives = some && (one.other || in.gives)
		one.sure = one.subject || in.sure
		one.subject, one.other = one.subject || in.needs, one.other || in.gives
	case orders.NeverAfter:
		again := func(items int) bool { return tries > 1 || items > 1 }
		one.clashes = one.other && in.subject || again(items) && (one.subject || in.subject) && (one.other || in.other) && (in.subject || in.other) || again(alike) && one.subject && one.other
		one.sure = (one.subject || one.other) && !in.subject && !in.other || in.sure
		one.subject, one.other = one.subject || in.subject, one.other || in.other
	case orders.AtMost:
		own := 0
		if one.subject {
			if own = tries; orders.Idempotent(p.Plan, call) {
				own = 1
			}
		}
		one.sure = in.begins == 0 || in.sure
		one.begins = capped(limit, capped(limit, own, alike)+capped(limit, tries, in.begins, items))
		one.subject = one.begins > 0
		one.other = one.subject
	}
	if tries > 1 && (c.Kind == orders.AtMost || one.clashes) {
		one.sure = one.sure && p.canFail(call) // else it may never be tried again
	}
	if c.Per != "" {
		one.key, one.open = p.orderKey(c.Per, call)
		one.open = one.open || in != orderPart{sure: true}
	}
	return one
}

// capped is a product, at most a limit.
func capped(limit int, factors ...int) int {
	if slices.Contains(factors, 0) {
		return 0
	}
	product := 1
	for _, f := range factors {
		if product > limit/f {
			return limit
		}
		product *= f
	}
	return product
}

// orderKey is what a call counts under for a parameter: two calls with the same key have the same
// value there. It is open where the items of the call may have several.
func (p *Pass) orderKey(parameter string, call *compiler.Call) (key string, open bool) {
	var b strings.Builder
	for _, f := range call.Params.Fields {
		if f.Key == parameter {
			p.fingerprint(&b, f.Value)
			return b.String(), f.Value.PerItem()
		}
	}
	return "=null", false
}

// distinct reports whether a parameter is another for each item of a call: it is the item's
// place, or the item of a list in which none is twice.
func (p *Pass) distinct(call *compiler.Call, parameter string) bool {
	at := slices.IndexFunc(call.Params.Fields, func(f compiler.TemplateField) bool { return f.Key == parameter })
	if at < 0 || call.Params.Fields[at].Value.Expr == nil || !call.Params.Fields[at].Value.Expr.Plain() {
		return false
	}
	switch ref := p.Plan.Reads[call.Params.Fields[at].Value.Reads[0]].Ref; {
	case len(ref.Path) > 0:
		return false
	case ref.Kind == "item" && !call.Each.List.Live():
		return unique.Accepts(call.Each.List.Value)
	case ref.Kind == "item" && call.Each.List.Expr != nil:
		return p.areLists(p.flowsOf(call.Each.List), unique)
	default:
		return ref.Kind == "index"
	}
}

// unique is the schema of lists in which no item is twice.
var unique = schema.New(map[string]any{"uniqueItems": true}, schema.Options{})

// lengths are the most items that the list of a call may have, up to a limit, and whether
// it is sure to have one.
func (p *Pass) lengths(each *compiler.Each, limit int) (most int, some bool) {
	switch list := each.List; {
	case list.Items != nil:
		return min(len(list.Items), limit), len(list.Items) > 0
	case !list.Live():
		items, _ := list.Value.([]any)
		return min(len(items), limit), len(items) > 0
	default:
		flows := p.flowsOf(list)
		limit = min(limit, compiler.MaxItems)
		low, high := 0, limit // of fewer than high items it is known, of more it isn't
		for low < high {
			if middle := (low + high) / 2; p.areLists(flows, lengthBound("maxItems", middle)) {
				high = middle
			} else {
				low = middle + 1
			}
		}
		return low, p.areLists(flows, lengthBound("minItems", 1))
	}
}

func lengthBound(keyword string, n int) *schema.Schema {
	return schema.New(map[string]any{keyword: float64(n)}, schema.Options{})
}

// areLists reports whether all that comes is known to be such a list.
func (p *Pass) areLists(flows []flow, such *schema.Schema) bool {
	return len(flows) > 0 && !slices.ContainsFunc(flows, func(f flow) bool {
		return f.schema == nil || f.sample || p.contains(f.schema, such).Relation != schema.Fits
	})
}

// orderPartOf is what the plan that carries a call out is to a check, with what the call
// passes.
func (p *Pass) orderPartOf(call *compiler.Call, at int) orderPart {
	d := p.Plan.Delegates[call.Plan()]
	if d == nil || p.config.delegates == nil {
		return orderPart{sure: true}
	}
	handed := p.passedBy(call)
	return once(p.config.delegates.orders, orderPlace{d, at, fmt.Sprint(handed)}, func() orderPart {
		judged := p.config.delegates.judge(d)
		if judged.Verified == nil {
			return orderPart{} // which is a finding of its own
		}
		inner := newPass(judged.Plan, nil)
		inner.config, inner.handed = p.config, handed
		return inner.orderPart(at)
	})
}

// An orderPlace is a plan, a check, and what the plan is handed.
type orderPlace struct {
	plan   *compiler.Plan
	check  int
	handed string
}

func (p *Pass) orderPart(at int) (whole orderPart) {
	e := p.conditions()
	if at == failing {
		return orderPart{sure: slices.ContainsFunc(p.Plan.Calls, func(call *compiler.Call) bool {
			runs := e.Runs(call)
			if a := p.Plan.Activities[call.Activity]; collects(call) || a != nil && a.Expression != nil { // of which nobody knows whether it goes wrong
				return false
			}
			can, sure := p.canHold(runs)
			return call.FailureRoute() < 0 && can.Possible && sure && e.OnEndings(runs, can.Assignment) && p.canFail(call)
		})}
	}
	c := &p.orderChecks()[at]
	shares, subjects, others := p.shares(at, c)
	if len(subjects)+len(others) == 0 {
		return orderPart{sure: true}
	}
	whole.sure = true
	runs := func(of []int32) bool {
		if len(of) == 0 {
			return false
		}
		some := logic.False
		for _, i := range of {
			some = e.Or(some, e.Runs(p.Plan.Calls[i]))
			whole.sure = whole.sure && shares[i].sure
		}
		can, _ := p.canHold(some)
		whole.sure = whole.sure && can.Possible && e.OnEndings(some, can.Assignment)
		return !can.Impossible
	}
	switch c.Kind {
	case orders.OnlyAfter:
		for _, broken := range p.notAfter(c, shares, subjects) {
			whole.needs, whole.sure = true, broken.sure && e.OnEndings(broken.goal, broken.answer.Assignment)
			if whole.sure {
				break
			}
		}
		whole.gives = p.gives(shares)
	case orders.NeverAfter:
		whole.subject, whole.other = runs(subjects), runs(others)
	case orders.AtMost:
		limit := c.Most + 1
		counts := p.atLeast(shares, subjects, limit)
		for whole.begins = limit; whole.begins > 0; whole.begins-- {
			if can, sure := p.canHold(counts[whole.begins]); !can.Impossible {
				whole.sure = sure && can.Possible && e.OnEndings(counts[whole.begins], can.Assignment) && !slices.ContainsFunc(subjects, func(i int32) bool { return !shares[i].sure })
				break
			}
		}
	}
	return whole
}

// gives reports whether one of the others is sure to be done when the plan has come to a
// good end: none of its calls has failed without a route for that.
func (p *Pass) gives(shares []share) bool {
	e, without := p.conditions(), logic.True
	for i, call := range p.Plan.Calls {
		if shares[i].gives {
			without = e.And(without, e.Done(call).Not())
		}
		if call.FailureRoute() < 0 {
			without = e.And(without, e.Or(e.Runs(call).Not(), e.Done(call)))
		}
	}
	return without != logic.True && e.SolveOne(without, false).Impossible
}

// canHold answers whether a goal can hold, and whether that is certain: it hangs on
// nothing of which the plan doesn't tell.
func (p *Pass) canHold(goal logic.Literal) (a logic.Answer, sure bool) {
	e := p.conditions()
	if p.budget().goals--; p.may.goals < 0 {
		return a, false
	}
	a = e.SolveLikely([]logic.Literal{goal})[0]
	if !a.Possible {
		return a, a.Impossible
	}
	for _, v := range e.Implicant(goal, a.Assignment) {
		if call, ends := e.EndingOf(v); e.About(v) == nil || ends && a.Assignment.Flips(v) && (!p.canFail(p.Plan.Calls[call]) || collects(p.Plan.Calls[call])) {
			return a, false
		}
	}
	return a, undecided(e.Decisions(goal, a.Assignment)) == 0
}

// collects reports whether a call puts the failures of its items in the list that it gives:
// that it fails itself is rare.
func collects(call *compiler.Call) bool { return call.Each != nil && call.Each.Collect }

// canFail reports whether a call is sure to be able to fail: one that a plan carries out,
// if one of the plan's calls is.
func (p *Pass) canFail(call *compiler.Call) bool {
	if call.Plan() == "" {
		return true
	}
	return p.orderPartOf(call, failing).sure
}

// failing stands in the place of a check for whether a plan can fail.
const failing = -1

// A broken order is a call that may begin where it mustn't.
type broken struct {
	call   int32
	with   []int32 // the calls before it that make it so, in an order in which they may come
	answer logic.Answer
	goal   logic.Literal
	sure   bool
}

// notAfter are the subjects that may begin without one of the others done before.
func (p *Pass) notAfter(c *orders.Check, shares []share, subjects []int32) (all []broken) {
	always := p.alwaysAfter(c, shares)
	subjects = slices.DeleteFunc(slices.Clone(subjects), func(i int32) bool { return always[i] })
	if len(subjects) == 0 {
		return nil
	}
	e := p.conditions()
	// What counts for a call hangs on its key alone.
	type view struct{ surely, maybe []logic.Literal }
	views := map[string]view{}
	for _, i := range subjects {
		one, call := &shares[i], p.Plan.Calls[i]
		if e.Exhausted() {
			break
		}
		key := one.key
		if one.open {
			key = "?" + key
		}
		if _, known := views[key]; !known {
			if p.budget().follows -= len(shares); p.may.follows < 0 {
				p.uncounted()
				break
			}
		}
		v := once(views, key, func() view {
			surely, maybe := make([]logic.Literal, len(shares)), make([]logic.Literal, len(shares))
			differ := false
			for k := range shares {
				surely[k], maybe[k] = logic.False, logic.False
				if shares[k].gives {
					is, may := one.same(&shares[k])
					done := e.Done(p.Plan.Calls[k])
					if differ = differ || is != may; is {
						surely[k] = done
					}
					if may {
						maybe[k] = done
					}
				}
			}
			v := view{surely: e.Before(surely).Starts}
			if v.maybe = v.surely; differ {
				v.maybe = e.Before(maybe).Starts
			}
			return v
		})
		goal := e.And(e.Runs(call), v.maybe[i].Not())
		answer, sure := p.canHold(goal)
		if sure = sure && one.sure; answer.Impossible && v.surely[i] != v.maybe[i] {
			goal = e.And(e.Runs(call), v.surely[i].Not())
			answer, _ = p.canHold(goal)
			sure = false
		}
		if !answer.Impossible {
			all = append(all, broken{call: i, answer: answer, goal: goal, sure: sure})
		}
	}
	return all
}

// uncounted says that the budget didn't last.
func (p *Pass) uncounted() {
	at := headOf(p.Plan.CallsNode.Span())
	if !slices.ContainsFunc(p.found, func(d diag.Diagnostic) bool { return d.Rule == notAnalysed.Rule && d.Span == at }) {
		p.cutShort(at, "which of the calls may come after which isn't fully analysed for the policy: there are too many")
	}
}

// alwaysAfter are calls that, if they run, come after one of the others is done, as far as
// that is plain to see: it is what it needs, or one that it needs does.
func (p *Pass) alwaysAfter(c *orders.Check, shares []share) []bool {
	always := make([]bool, len(shares))
	if c.Per != "" {
		return always
	}
	firm := p.firmly()
	for _, i := range p.Plan.Graph.Order() {
		for _, w := range firm.graph.Deps(int(i)) {
			always[i] = always[i] || always[w] || shares[w].gives && firm.done[[2]int32{i, w}]
		}
	}
	return always
}

// A firmOrder is who hangs on whom as far as that is plain to see, and which of these must
// be done.
type firmOrder struct {
	graph dag.Graph
	done  map[[2]int32]bool
}

func (p *Pass) firmly() *firmOrder {
	if p.firm == nil {
		p.firm = &firmOrder{done: map[[2]int32]bool{}}
		deps := dag.NewBuilder(len(p.Plan.Calls), p.Plan.Graph.Edges())
		for _, call := range p.Plan.Calls {
			p.hangsOn(call, func(w int32, done bool) {
				if deps.Add(w); done {
					p.firm.done[[2]int32{int32(call.Index), w}] = true
				}
			})
			deps.Next()
		}
		p.firm.graph = deps.Graph(nil)
	}
	return p.firm
}

// hangsOn goes through calls without which another doesn't run, as far as that is plain to
// see; done says that such a call must be done.
func (p *Pass) hangsOn(call *compiler.Call, f func(w int32, done bool)) {
	for _, a := range call.After {
		if !a.Settled {
			f(int32(a.Call), true)
		}
	}
	if call.Each != nil {
		return // of which shares may be read for items alone
	}
	for _, at := range call.Reads {
		r := &p.Plan.Reads[at]
		if !r.Ref.Required || len(r.Writers) != 1 || r.Start || p.Plan.Paths.Kind(r.Path) != "state" || p.begins("state", p.Plan.Paths.Segments(r.Path)[1:]) {
			continue
		}
		f(r.Writers[0], p.Plan.Calls[r.Writers[0]].FailureRoute() < 0)
	}
}

// An orderBudget is what the orders of all rules may still take together of one plan:
// pairs of calls that are held against each other, questions about branches, calls that are
// gone through to see what comes before them, and gates to count with.
type orderBudget struct{ pairs, goals, follows, gates int }

func (p *Pass) budget() *orderBudget {
	if p.may == nil {
		p.may = &orderBudget{pairs: 1_000_000, goals: 20_000, follows: 2_000_000, gates: 1 << 20}
	}
	return p.may
}

// atLeast are, for every number up to a limit, whether at least so many of the subjects
// begin.
func (p *Pass) atLeast(shares []share, subjects []int32, limit int) []logic.Literal {
	e := p.conditions()
	total := 0
	for _, i := range subjects {
		total = capped(math.MaxInt32, total+shares[i].begins)
	}
	counts := make([]logic.Literal, min(total, limit)+1)
	for n := range counts {
		counts[n] = logic.False
	}
	counts[0] = logic.True
	if gates := len(subjects) * len(counts); gates <= p.budget().gates {
		p.may.gates -= gates
		e.Allow(2 * gates)
		for _, i := range subjects {
			runs := e.Runs(p.Plan.Calls[i])
			for n := len(counts) - 1; n > 0; n-- {
				counts[n] = e.Or(counts[n], e.And(runs, counts[max(0, n-shares[i].begins)]))
			}
		}
	} else {
		e.Allow(1)
		for n := 1; n < len(counts); n++ {
			counts[n] = e.Untried()
		}
	}
	for len(counts) <= limit {
		counts = append(counts, logic.False)
	}
	return counts
}
