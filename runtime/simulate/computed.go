package simulate

import (
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/runtime"
)

// An origin is the source of a value for exploration.
type origin int

const (
	given    origin = iota // by the document, or by the user of the run
	madeUp                 // exploring sets it
	computed               // from made-up values: exploring doesn't look for values of these that change it
)

// A decision is a condition on values that are made up, or computed from such values.
type decision struct {
	as        analyzer.BranchChoice
	held, not bool // in some combination
}

// mostTraced bounds the calls, those of delegates as often as they run, that are traced.
const mostTraced = 200_000

// A level is a plan at the place where it is carried out.
type level struct {
	*explorer
	plan    *plan.Plan
	under   string
	input   origin // of a delegate
	results []origin
	lists   map[pathtree.ID]bool // for which an earlier call runs
}

// trace finds the decisions of a plan and of its delegates, and the calls that depend on
// computed values. It returns the origin of the plan's output.
func (l *level) trace(depth int) (output origin) {
	if l.traced += len(l.plan.Calls); depth > 8 || l.traced > mostTraced {
		l.out.ValuesLeft = true
		return computed
	}
	l.results, l.lists = make([]origin, len(l.plan.Calls)), map[pathtree.ID]bool{}
	for _, i := range l.plan.Graph.Order() {
		call := l.plan.Calls[i]
		from, below := l.origin(call, call.Reads), l.plan.Delegates[call.Plan()]
		switch {
		case below != nil:
			if from > given {
				from = computed
			}
			delegate := &level{explorer: l.explorer, plan: below, under: runtime.Path(l.under, call.Name), input: from}
			if from = max(from, delegate.trace(depth+1)); from > given {
				l.results[i] = computed
			}
		case codeOf(l.plan, call) == nil:
			l.results[i] = madeUp
		case from > given:
			l.results[i] = computed
		}
	}
	for _, call := range l.plan.Calls {
		if path := runtime.Path(l.under, call.Name); l.decided(call, path) {
			l.out.Computed = append(l.out.Computed, path)
		}
	}
	for t := range l.plan.Output.Expressions() {
		output = max(output, l.origin(nil, t.Reads))
	}
	return output
}

// origin is that of what some reads of a call give together.
func (l *level) origin(call *plan.Call, reads []int) (from origin) {
	for _, r := range reads {
		read := &l.plan.Reads[r]
		steps := l.plan.Paths.Segments(read.Path)
		switch {
		case compiler.ReadsItem(l.plan, read):
			for t := range call.Each.List.Expressions() {
				from = max(from, l.origin(call, t.Reads))
			}
		case l.under != "":
			if len(read.Writers) == 0 || steps[0].Key == "input" {
				from = max(from, l.input)
			}
		case len(steps) == 0:
			from = computed
		case steps[0].Key == "input" && varied(l.invented.Input, steps[1:]),
			steps[0].Key == "state" && varied(l.invented.State, steps[1:]):
			from = max(from, madeUp)
		}
		for _, w := range read.Writers {
			of := l.results[w]
			if of == madeUp && !sets(l.plan, l.plan.Calls[w], read) {
				of = computed
			}
			from = max(from, of)
		}
	}
	return from
}

// varied reports whether a value at some steps depends on keys that were made up.
func varied(made []string, steps []expression.Segment) bool {
	return len(made) > 0 && (len(steps) == 0 || slices.Contains(made, steps[0].Key))
}

// sets reports whether a read sees a part of what a call wrote, as the call gave it.
func sets(compiled *plan.Plan, call *plan.Call, read *plan.Read) bool {
	return call.Each == nil && call.Method != plan.Push && call.Method != plan.Concat &&
		slices.ContainsFunc(call.Output, func(route plan.Route) bool {
			return slices.ContainsFunc(route, func(p plan.Path) bool { return compiled.Paths.IsAbove(p.ID, read.Path) })
		})
}

// decided reports whether it depends on computed values if a call runs, or for which items. It
// notes the call's condition.
func (l *level) decided(call *plan.Call, path string) (computes bool) {
	if t := call.When; t != nil && t.Expr != nil {
		if from := l.origin(call, t.Reads); from > given {
			d := &decision{as: analyzer.BranchChoice{Call: path, Condition: t.Node.Text}}
			l.decisions, l.decisionOf[path] = append(l.decisions, d), d
			computes = from == computed || slices.ContainsFunc(t.Reads, func(r int) bool {
				return !l.tried(call, &l.plan.Reads[r])
			})
		}
	}
	if call.Each != nil && call.Each.List.Expr != nil {
		list := call.Each.List
		switch from := l.origin(call, list.Reads); {
		case from == given:
		case from == computed || !list.Expr.Plain():
			computes = true
		default: // lists are varied for one call
			at := l.plan.Reads[list.Reads[0]].Path
			computes = computes || l.lists[at]
			l.lists[at] = true
		}
	}
	return computes || slices.ContainsFunc(call.Reads, func(r int) bool {
		return slices.ContainsFunc(l.plan.Reads[r].Writers, func(w int32) bool {
			code := codeOf(l.plan, l.plan.Calls[w])
			return code != nil && l.results[w] == computed && mayBeNull(code.Logic())
		})
	})
}

// tried reports whether representatives of all values of a read are tried, where
// conditions are concerned.
func (l *level) tried(call *plan.Call, read *plan.Read) bool {
	return slices.ContainsFunc(l.turns(l.plan).turns, func(t analyzer.Turn) bool {
		return t.Read.Path == read.Path && slices.Equal(t.Read.Writers, read.Writers) &&
			(t.Read.Call == call.Index || !compiler.ReadsItem(l.plan, read)) &&
			t.Exact && (len(t.Values) == 0 || t.Alike(t.Values[0], t.Values[0]))
	})
}

// mayBeNull reports whether code may evaluate to null, by its text.
func mayBeNull(t *expression.Term) bool {
	switch {
	case t.Op == expression.TermLiteral:
		return t.Value == nil
	case t.Op == expression.TermFallback || t.Op == expression.TermGate:
		return mayBeNull(t.Args[len(t.Args)-1])
	case t.Op != expression.TermOther:
		return false
	case t.Name == "?:":
		return mayBeNull(t.Args[1]) || mayBeNull(t.Args[2])
	}
	return slices.Contains([]string{"find", "findLast", "first", "last", "get", "??"}, t.Name)
}

// codeOf is the code that works out the results of a call; nil where they are made up.
func codeOf(plan *plan.Plan, call *plan.Call) *expression.Expr {
	if tool := call.Single(); tool != nil && len(tool.Mocks) > 0 {
		return nil
	}
	if a := plan.Activities[call.Activity]; a != nil {
		return a.Expression
	}
	return nil
}

func (x *explorer) see(one *CallReport) {
	planned := compiler.RepeatedCall(one.Call)
	if planned.When == nil || planned.When.PerItem() && one.Call.ItemOf == nil {
		return
	}
	if d := x.decisionOf[runtime.Path(one.Under, planned.Name)]; d != nil {
		d.held = d.held || one.Started || one.Status == runtime.Done
		d.not = d.not || one.Status == runtime.Skipped && strings.HasPrefix(one.Reason, "its condition")
	}
}

func (x *explorer) account() {
	for i, started := range x.started {
		if !started {
			x.out.Idle = append(x.out.Idle, x.plan.Calls[i].Name)
		}
	}
	x.out.Complete = x.out.Varied && !x.out.ValuesLeft && len(x.out.Computed)+len(x.out.Idle) == 0
	for _, d := range x.decisions {
		if x.out.Complete = x.out.Complete && d.held && d.not; d.held != d.not {
			d.as.Holds = &d.not
			x.out.Unreached = append(x.out.Unreached, d.as)
		}
	}
	x.out.Complete = x.out.Complete && len(x.out.Unreached) == 0
}
