package analyzer

import (
	"slices"

	"github.com/obelus-dev/obelus/analyzer/internal/logic"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// branchConditions are, as formulas, the conditions under which calls of a plan run,
// what they write, and which reads have a value (S4.3, S5.2, S5.5, S8.3, S9.2):
// exactly what the machine does, as far as it hangs on the plan and on what the
// variables stand for. By default nothing fails, first alternatives are taken and
// conditions hold. The variables that are choices make the branches of a plan; the
// others stand for what isn't known (whether a result holds a field that its schema
// doesn't promise, whether a tool without a failure route fails). A result of which no
// schema tells the shape may or may not hold a field; a property that a schema names
// counts as there in strict questions (S7.1).
type branchConditions struct {
	pass     *Pass
	circuit  *logic.Circuit
	runs     []logic.Literal       // by call: its activity is started
	outcomes [][]logic.Literal     // by call: which alternative it takes, if it runs; the only one of a call without alternatives is that it doesn't fail
	failures map[int]logic.Literal // by call that has alternatives: it fails, if it runs
	reads    []valued              // by read
	shared   map[readKey]valued
	prefixes []prefix // by path
	subjects map[readKey]*subject
	atoms    map[string]*atom // by what they say, and of what
	terms    map[*expression.Term]*atom
	free     map[string]logic.Literal // what atoms say of values that weren't tried
	beyond   logic.Literal            // that such values count; 0 where there are none
	whens    []*expression.Term       // by call
	holding  map[heldKey]valued
	null     map[heldKey]logic.Literal
	work     int  // contributions of writers to reads that were looked at
	outdated bool // an atom is about a value that has been divided without it

	evaluations expression.Meter // that evaluating atoms may still take
	searched    int              // steps that looking for values took
}

// A valued is what is known of a value to come.
type valued struct {
	there logic.Literal // there is one, which may be null
	solid logic.Literal // there is one, and it isn't null
}

// What the variables stand for.
type (
	aboutOutcome struct{ call, from, middle, to int } // takes one of the alternatives from:middle, of from:to
	aboutFailure struct{ call int }                   // fails, and has no failure route
	aboutAtom    struct{ text string }                // an expression that isn't looked into is true
	aboutSubject struct {                             // the value of a reference is among the first of its cells
		of               *subject
		from, middle, to int
	}
	aboutNull    struct{ path string } // there is null at a path
	aboutUnknown struct{}              // something that the plan doesn't tell
)

const (
	maxGates  = 1_500_000
	callGates = 12        // more for each call: large plans aren't hostile
	maxWork   = 4_000_000 // writers of reads, over all reads
)

// conditions are the pass's own, built when first asked for.
func (p *Pass) conditions() *branchConditions {
	if p.branches != nil && len(p.branches.runs) == len(p.Plan.Calls) {
		return p.branches
	}
	if e := p.branches; e != nil && e.extend() {
		return e
	}
	n := len(p.Plan.Calls)
	e := &branchConditions{
		pass: p, circuit: logic.New(maxGates + callGates*n),
		failures: map[int]logic.Literal{}, shared: map[readKey]valued{}, subjects: map[readKey]*subject{}, atoms: map[string]*atom{}, terms: map[*expression.Term]*atom{}, free: map[string]logic.Literal{},
		holding: map[heldKey]valued{}, null: map[heldKey]logic.Literal{}, evaluations: expression.Meter{Steps: evaluationWork, Memory: evaluationRoom},
	}
	p.branches = e
	e.reach()
	e.findAtoms(p.Plan.Calls)
	inOrder := make([]bool, n)
	for _, i := range p.Plan.Graph.Order() {
		inOrder[i] = true
	}
	for i := range n {
		if !inOrder[i] { // on a cycle, or after one: nothing is known
			e.runs[i] = e.unknown(true)
		}
	}
	e.build(p.Plan.Graph.Order())
	return e
}

// build works out which calls run, in the graph's order.
func (e *branchConditions) build(calls []int32) {
	plan := e.pass.Plan
	for _, i := range calls {
		e.circuit.Level = int32(plan.Graph.Rank(int(i)))
		e.runs[i] = e.start(plan.Calls[i])
		if e.circuit.Exhausted() {
			break
		}
	}
	e.circuit.Level = int32(len(plan.Calls))
}

// reach makes room for the calls, reads and paths of the plan.
func (e *branchConditions) reach() {
	plan, known := e.pass.Plan, len(e.reads)
	n := len(plan.Calls)
	e.runs, e.outcomes, e.whens = reaches(e.runs, n), reaches(e.outcomes, n), reaches(e.whens, n)
	e.reads, e.prefixes = reaches(e.reads, len(plan.Reads)), reaches(e.prefixes, plan.Paths.Len())
	for i := known; i < len(e.reads); i++ {
		e.reads[i].there = -1
	}
}

// extend takes up the calls that a plan has got since, each of which depends on earlier
// ones alone. It reports false where they ask about a value what it wasn't divided by:
// then all has to be built anew.
func (e *branchConditions) extend() bool {
	known := len(e.runs)
	e.reach()
	calls := e.pass.Plan.Calls[known:]
	if e.findAtoms(calls); e.outdated {
		return false
	}
	e.circuit.Allow(callGates * len(calls))
	order := make([]int32, len(calls))
	for i := range order {
		order[i] = int32(known + i)
	}
	e.build(order)
	return true
}

// unknown is something that the plan doesn't tell.
func (e *branchConditions) unknown(byDefault bool) logic.Literal {
	return e.circuit.Variable(false, byDefault, aboutUnknown{})
}

// within builds what belongs to a call in its place, whoever asks for it first.
func (e *branchConditions) within(call int, build func()) {
	level := e.circuit.Level
	e.circuit.Level = int32(e.pass.Plan.Graph.Rank(call))
	build()
	e.circuit.Level = level
}

// start is whether a call's activity is started.
func (e *branchConditions) start(call *compiler.Call) logic.Literal {
	runs := e.ready(call)
	if e.pass.Plan.Writes == compiler.Once && runs != logic.False {
		runs = e.circuit.And(runs, e.taken(call).Not())
	}
	return runs
}

// ready is whether everything that a call needs is there, and done what it comes after.
func (e *branchConditions) ready(call *compiler.Call) logic.Literal {
	runs := logic.True
	if call.When != nil {
		runs = e.condition(call)
	}
	for _, a := range call.After {
		if !a.Settled && a.Call != call.Index {
			runs = e.circuit.And(runs, e.done(e.pass.Plan.Calls[a.Call]))
		}
	}
	for _, f := range call.Params.Fields {
		if runs != logic.False {
			runs = e.circuit.And(runs, e.there(f.Value))
		}
	}
	return runs
}

// there is whether every expression in a template has a value.
func (e *branchConditions) there(t *compiler.Template) logic.Literal {
	switch {
	case !t.Live():
		return logic.True
	case t.Expr != nil && t.Expr.Plain():
		return e.read(t.Reads[0]).there
	case t.Expr != nil:
		return e.formula(t).value(t.Expr.Logic()).there
	case t.Fields == nil && t.Items == nil:
		return e.unknown(true) // it couldn't be read
	}
	all := logic.True
	for i := range t.Fields {
		all = e.circuit.And(all, e.there(t.Fields[i].Value))
	}
	for _, item := range t.Items {
		all = e.circuit.And(all, e.there(item))
	}
	return all
}

// outcome is which alternative a call takes if it runs: exactly one of several;
// of a call that has just one output, or none, that it doesn't fail.
func (e *branchConditions) outcome(call *compiler.Call) []logic.Literal {
	if e.outcomes[call.Index] != nil {
		return e.outcomes[call.Index]
	}
	n := len(call.Output)
	taken := make([]logic.Literal, max(n, 1))
	e.within(call.Index, func() {
		if n < 2 {
			taken[0] = e.circuit.Variable(false, false, aboutFailure{call.Index}).Not()
		} else {
			e.split(taken, 0, n, logic.True, true, func(from, middle, to int) any { return aboutOutcome{call.Index, from, middle, to} })
		}
	})
	e.outcomes[call.Index] = taken
	return taken
}

// done is whether a call ends as done: it runs, and doesn't fail, into its failure route
// neither.
func (e *branchConditions) done(call *compiler.Call) logic.Literal {
	outcome, last := e.outcome(call), call.FailureRoute()
	if last < 0 {
		return e.circuit.And(e.runs[call.Index], outcome[0])
	}
	failed, known := e.failures[call.Index]
	if !known {
		e.within(call.Index, func() {
			failed = e.circuit.And(outcome[last], e.circuit.Variable(false, false, aboutFailure{call.Index}))
		})
		e.failures[call.Index] = failed
	}
	return e.circuit.And(e.runs[call.Index], failed.Not())
}

// split says of exactly one of several, from:to, that it is so. By default
// it is the first.
func (e *branchConditions) split(each []logic.Literal, from, to int, so logic.Literal, choice bool, about func(from, middle, to int) any) {
	if to-from == 1 {
		each[from] = so
		return
	}
	middle := (from + to + 1) / 2
	first := e.circuit.Variable(choice, true, about(from, middle, to))
	e.split(each, from, middle, e.circuit.And(so, first), choice, about)
	e.split(each, middle, to, e.circuit.And(so, first.Not()), choice, about)
}

// writes is whether a call writes the paths of one of its alternatives.
func (e *branchConditions) writes(call *compiler.Call, alternative int) logic.Literal {
	w := e.circuit.And(e.runs[call.Index], e.outcome(call)[alternative])
	if w == logic.False || alternative != call.FailureRoute() {
		return w
	}
	plan := e.pass.Plan
	for _, path := range call.Output[alternative] {
		if plan.StateSchema != nil && plan.Paths.Kind(path.ID) == "state" && plan.StateSchema.At(compiler.SchemaPath(plan.Paths.Segments(path.ID)[1:])).Schema != nil {
			return e.circuit.And(w, e.held(heldKey{int32(call.Index), pathtree.Root}).there) // the schema may not admit a failure record
		}
	}
	if plan.Writes == compiler.Once {
		w = e.circuit.And(w, e.occupied(call, alternative, false).Not())
	}
	return w
}

// taken is whether a value already stands where a call would write, its failure
// route aside (S5.5).
func (e *branchConditions) taken(call *compiler.Call) logic.Literal {
	taken := logic.False
	for i := range call.Output {
		if i != call.FailureRoute() {
			taken = e.circuit.Or(taken, e.occupied(call, i, true))
		}
	}
	return taken
}

// occupied is whether one of the calls that come before another under once has
// written a path that overlaps one of its alternatives, or the state begins with
// a value there. Failure records count only if they are asked for.
func (e *branchConditions) occupied(call *compiler.Call, alternative int, records bool) logic.Literal {
	plan, occupied := e.pass.Plan, logic.False
	for _, path := range call.Output[alternative] {
		segments := plan.Paths.Segments(path.ID)
		if v, ok := pathtree.Walk(plan.State, segments[1:]); ok && v != nil && segments[0].Key == "state" {
			return logic.True
		}
		if len(plan.Instances) > 0 && segments[0].Key == "state" && e.pass.begins("state", segments[1:]) {
			occupied = e.circuit.Or(occupied, e.unknown(true))
		}
		for _, w := range call.Choices {
			other := plan.Calls[w]
			for i, route := range other.Output {
				if e.work++; e.work > maxWork {
					e.circuit.Exhaust()
					return logic.False
				}
				if (records || i != other.FailureRoute()) && slices.ContainsFunc(route, func(p compiler.Path) bool { return plan.Paths.Overlap(p.ID, path.ID) }) {
					occupied = e.circuit.Or(occupied, e.writes(other, i))
				}
			}
		}
	}
	return occupied
}

// A readKey tells reads of one value from others: a path, and the calls that are
// seen.
type readKey struct {
	path        pathtree.ID
	bound       compiler.Binding
	count       int
	first, last int32
	without     int // under once: the reader, which isn't among them
}

func (e *branchConditions) key(r *compiler.Read) readKey {
	k := readKey{path: r.Path, bound: r.Bound, count: len(r.Writers), without: -1}
	if k.count > 0 {
		k.first, k.last = r.Writers[0], r.Writers[k.count-1]
	}
	if r.Bound == compiler.All {
		k.without = r.Call
	}
	return k
}

// read is what is known of the value of a read.
func (e *branchConditions) read(r int) valued {
	if e.reads[r].there >= 0 {
		return e.reads[r]
	}
	read := &e.pass.Plan.Reads[r]
	if e.unwritten(read) {
		e.reads[r] = valued{logic.False, logic.False}
		return e.reads[r]
	}
	v, ok := e.afterFirst(read)
	if !ok {
		key := e.key(read)
		if v, ok = e.shared[key]; !ok {
			v = e.resolve(read)
			e.shared[key] = v
		}
	}
	e.reads[r] = v
	return v
}

// unwritten reports whether a read that an expression can do without is never there. Of
// one that it can't do without OB203 speaks.
func (e *branchConditions) unwritten(r *compiler.Read) bool {
	kind := e.pass.Plan.Paths.Kind(r.Path)
	return !r.Ref.Required && (kind == "state" || kind == "data") && e.pass.Plan.Form != compiler.Solution && !e.pass.mayBeThere(r)
}

// A prefix keeps what the first writers of a path leave there: reads that are
// bound to some of them share the work.
type prefix struct {
	after   []valued // after[i]: when i of them have been looked at
	ordered int      // how many of them are known to stand in the graph's order
}

// afterFirst is the value of a read that is bound to the first writers of a path
// (it sees those listed before it), where the graph has these in the same order.
func (e *branchConditions) afterFirst(r *compiler.Read) (valued, bool) {
	plan := e.pass.Plan
	if r.Bound != compiler.Earlier || r.Path == pathtree.Root || plan.Paths.Depth(r.Path) < 2 {
		return valued{}, false
	}
	shared := &e.prefixes[r.Path]
	for shared.ordered < len(r.Writers) {
		next := shared.ordered
		if next > 0 && plan.Graph.Rank(int(r.Writers[next-1])) > plan.Graph.Rank(int(r.Writers[next])) {
			return valued{}, false
		}
		shared.ordered++
	}
	if shared.after == nil {
		shared.after = append(make([]valued, 0, 1+len(r.Writers)), e.initial(r))
	}
	for i := len(shared.after) - 1; i < len(r.Writers); i++ {
		shared.after = append(shared.after, e.contribution(shared.after[i], plan.Calls[r.Writers[i]], r.Path))
	}
	return shared.after[len(r.Writers)], true
}

// resolve folds what a read's writers do over what is there from the start, in
// the order in which the machine does (S5.3).
func (e *branchConditions) resolve(r *compiler.Read) valued {
	plan := e.pass.Plan
	if r.Path == pathtree.Root {
		return valued{e.unknown(true), e.unknown(true)}
	}
	if plan.Paths.Depth(r.Path) < 2 && plan.Paths.Kind(r.Path) != "error" {
		return valued{logic.True, logic.True}
	}
	writers := slices.Clone(r.Writers)
	slices.SortFunc(writers, func(a, b int32) int { return plan.Graph.Rank(int(a)) - plan.Graph.Rank(int(b)) })
	v := e.initial(r)
	for _, w := range writers {
		v = e.contribution(v, plan.Calls[w], r.Path)
	}
	return v
}

// contribution is what stands at a path once a call has settled.
func (e *branchConditions) contribution(v valued, call *compiler.Call, at pathtree.ID) valued {
	paths := e.pass.Plan.Paths
	for i, route := range call.Output {
		for _, path := range route {
			if e.work++; e.work > maxWork {
				e.circuit.Exhaust()
				return v
			}
			if !paths.Overlap(path.ID, at) {
				continue
			}
			w := e.writes(call, i)
			set := call.Method == compiler.Set || i == call.FailureRoute()
			switch {
			case path.ID != at && paths.IsAbove(at, path.ID), path.ID == at && !set: // what is above comes into being with it
				v = valued{e.circuit.Or(v.there, w), e.circuit.Or(v.solid, w)}
			case path.ID == at:
				v = valued{e.circuit.Or(v.there, w), e.circuit.IfThenElse(w, e.result(call, i, at, path.ID).solid, v.solid)}
			case set:
				part := e.result(call, i, at, path.ID)
				v = valued{e.circuit.IfThenElse(w, part.there, v.there), e.circuit.IfThenElse(w, part.solid, v.solid)}
			default:
				part := e.result(call, i, at, path.ID)
				v = valued{e.circuit.Or(v.there, e.circuit.And(w, part.there)), e.circuit.Or(v.solid, e.circuit.And(w, part.solid))}
			}
		}
	}
	return v
}

// result is what a call that writes one path leaves at another, at or below it.
// On its failure route that may be the record of a failure (S9.2), which isn't
// null, or a result that was sent there by name.
func (e *branchConditions) result(call *compiler.Call, alternative int, at, written pathtree.ID) valued {
	paths := e.pass.Plan.Paths
	deeper := paths.Depth(at) - paths.Depth(written)
	held := e.held(heldKey{int32(call.Index), at})
	if call.Tool == nil || call.Tool.Output == nil || alternative == call.FailureRoute() && deeper > 0 {
		if deeper == 0 {
			return valued{logic.True, held.solid}
		}
		return held
	}
	below := []expression.Segment{paths.Segment(at)} // if it is one step, as it mostly is
	if deeper != 1 {
		below = paths.Segments(at)[paths.Depth(written):]
	}
	place := e.pass.inResultAt(call.Tool, below)
	v := valued{held.there, held.solid}
	switch {
	case !place.Possible: // that is OB513's
		there := e.unknown(false)
		return valued{there, there}
	case place.Required || deeper == 0:
		v.there = logic.True
	}
	switch {
	case place.Schema == nil:
	case place.Schema.Kinds()&schema.Null == 0:
		v.solid = v.there
	default: // it is said that null may come, so that it is a branch of the plan
		v.solid = e.circuit.And(v.there, e.nulls(heldKey{int32(call.Index), at}).Not())
	}
	return v
}

// nulls is that a result is null at a path at which its schema says that it may be.
func (e *branchConditions) nulls(k heldKey) logic.Literal {
	l, ok := e.null[k]
	if !ok {
		e.within(int(k.call), func() { l = e.circuit.Variable(true, false, aboutNull{e.pass.path(k.path)}) })
		e.null[k] = l
	}
	return l
}

// A heldKey is a path into what a call writes.
type heldKey struct {
	call int32
	path pathtree.ID
}

// held is what isn't known of a result: whether it holds something at a path.
func (e *branchConditions) held(k heldKey) valued {
	v, ok := e.holding[k]
	if !ok {
		e.within(int(k.call), func() {
			v.there = e.unknown(true)
			v.solid = e.circuit.And(v.there, e.unknown(true))
		})
		e.holding[k] = v
	}
	return v
}

// initial is what is there before any call has run. Given input is no promise,
// as it can be replaced, and only what its schema requires is (S6.5). What calls
// write and the document doesn't hold isn't there, although a state given at
// run time might bring it: nobody writes a plan for that.
func (e *branchConditions) initial(r *compiler.Read) valued {
	plan := e.pass.Plan
	below := func() []expression.Segment { return plan.Paths.Segments(r.Path)[1:] }
	promised := func(s *schema.Schema) valued {
		place := s.At(compiler.SchemaPath(below()))
		v := valued{e.unknown(true), 0}
		if place.Required {
			v.there = logic.True
		}
		if v.solid = v.there; place.Schema == nil || place.Schema.Kinds()&schema.Null != 0 {
			v.solid = e.circuit.And(v.there, e.unknown(true))
		}
		return v
	}
	switch plan.Paths.Kind(r.Path) {
	case "input":
		if plan.InputSchema != nil {
			return promised(plan.InputSchema)
		}
	case "state":
		if given, ok := plan.Paths.Walk(plan.State, r.Path); ok {
			switch {
			case given != nil && (r.Start || len(plan.Instances) == 0):
				return valued{logic.True, logic.True}
			case len(plan.Instances) > 0: // some lay a value of their own over it
				return valued{logic.True, e.unknown(true)}
			}
			return valued{logic.True, logic.False}
		}
		if plan.StateSchema != nil && plan.StateSchema.At(compiler.SchemaPath(below())).Required {
			return promised(plan.StateSchema)
		}
		if r.Start { // every instance holds it
			return valued{logic.True, logic.True}
		}
		if len(r.Writers) > 0 && (plan.Form == compiler.PlanFile || plan.Form == compiler.CallList || plan.Form == compiler.Replan) && !e.pass.Unknown(diag.State|diag.Writes) &&
			(len(plan.Instances) == 0 || !e.pass.begins("state", below())) {
			return valued{logic.False, logic.False}
		}
	case "data":
		if given, ok := plan.Paths.Walk(anyMap(plan.Data), r.Path); ok && given != nil {
			return valued{logic.True, logic.True}
		}
	}
	there := e.unknown(true)
	return valued{there, e.circuit.And(there, e.unknown(true))}
}
