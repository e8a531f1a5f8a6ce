package simulate

import (
	"math"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/runtime"
)

// A site is where a rehearsal goes one of several ways by a value: a condition, a list that a
// call runs for, a reference that may come to null, or a decision in the code of an activity.
type site struct {
	plan     *compiler.Plan
	under    string
	reads    []int
	items    *site          // of a list: the condition that is asked for each of it
	call     *compiler.Call // whose condition it is; nil of the others
	ways     []analyzer.BranchChoice
	asked    bool            // its ways are looked for; else they only lead to those of others
	ofItems  bool            // a condition that is asked for each of a list: it holds for some, or for none
	ofList   bool            // a list that a call runs for, or its items
	sources  map[string]bool // the calls whose results it hangs on, by their paths; "" is the input
	computed bool            // what it is about isn't as it was made up
	far      func(way int, r *ruler) float64
}

// siteKey says where a site is: below which calls, in which template or term, and for which
// of its references, if it is one.
type siteKey struct {
	under string
	in    any
	ref   int
}

// A level is a plan at the place where it is carried out.
type level struct {
	plan  *compiler.Plan
	under string
	call  *compiler.Call // that it is carried out for
	above *level
}

const (
	mostSites  = 2_000
	mostTraced = 200_000 // calls that are come by when sources are traced, for all sites
)

// chart finds the sites of a plan and of its delegates.
func (s *steering) chart(l *level, depth int) {
	for _, call := range l.plan.Calls {
		path := runtime.Path(l.under, call.Name)
		if code := codeOf(l.plan, call); code != nil {
			for _, term := range decisions(code.Logic(), nil) {
				one := &site{far: func(way int, r *ruler) float64 { return r.far(term, way == 0) }, ways: make([]analyzer.BranchChoice, 2)}
				if s.site(siteKey{path, term, -1}, l, call, call.Reads, true, one); len(one.sources) > 0 {
					s.code[path] = append(s.code[path], one)
				}
			}
		}
		if t := call.When; t != nil && t.Expr != nil {
			s.condition(l, call, t)
		}
		if call.Each != nil && call.Each.List.Expr != nil {
			s.list(l, call, call.Each.List)
		}
		for t := range call.Params.Expressions() {
			s.nulls(l, call, t)
		}
		if below := l.plan.Delegates[call.Plan()]; below != nil && depth < 8 {
			s.chart(&level{below, path, call, l}, depth+1)
		}
	}
}

// site takes up a site that hangs on reads of a call.
func (s *steering) site(key siteKey, l *level, call *compiler.Call, reads []int, computed bool, one *site) {
	if len(s.sites) >= mostSites {
		s.vague = true
		return
	}
	one.plan, one.under, one.reads, one.sources, one.computed = l.plan, l.under, reads, map[string]bool{}, computed
	s.trace(l, call, reads, one, map[siteKey]bool{})
	if len(one.sources) == 0 {
		return // what is given decides
	}
	s.sites[key] = one
	s.order = append(s.order, one)
}

func (s *steering) condition(l *level, call *compiler.Call, t *compiler.Template) {
	key := siteKey{l.under, t, -1}
	if !t.PerItem() && s.twin(key, l, t) {
		return
	}
	term := t.Expr.Logic()
	yes, no := true, false
	path := runtime.Path(l.under, call.Name)
	one := &site{call: call, asked: true, ofItems: t.PerItem(), ofList: t.PerItem(), far: func(way int, r *ruler) float64 { return r.far(term, way == 0) }, ways: []analyzer.BranchChoice{
		{Call: path, Condition: t.Node.Text, Holds: &yes}, {Call: path, Condition: t.Node.Text, Holds: &no}}}
	s.site(key, l, call, t.Reads, len(t.Reads) > 1 || !s.turns(l.plan, t, term), one)
	if s.sites[key] == one && !t.PerItem() {
		s.twins[t.Node.Text] = append(s.twins[t.Node.Text], one)
	}
}

// twin finds the site of what is written alike about the same.
func (s *steering) twin(key siteKey, l *level, t *compiler.Template) bool {
	for _, one := range s.twins[t.Node.Text] {
		if one.plan == l.plan && one.under == l.under && slices.EqualFunc(t.Reads, one.reads, func(a, b int) bool {
			return slices.Equal(l.plan.Reads[a].Writers, l.plan.Reads[b].Writers)
		}) {
			s.sites[key] = one
			return true
		}
	}
	return false
}

// turns reports whether values are known that stand for all with which a condition on one
// value holds, and doesn't.
func (s *steering) turns(plan *compiler.Plan, t *compiler.Template, term *expression.Term) bool {
	for _, turn := range s.explorer.turns(plan).turns {
		if read := &plan.Reads[t.Reads[0]]; turn.Read.Path != read.Path || !slices.Equal(turn.Read.Writers, read.Writers) {
			continue
		}
		var yes, no bool
		for _, v := range turn.Values {
			y, n := t.Expr.Holds(term, func(int) (any, expression.Presence) { return v, expression.There }, &s.meter)
			yes, no = yes || y, no || n
		}
		return yes && no && turn.Exact
	}
	return false
}

// list is the site of a list that is worked out: there is something in it, or nothing.
func (s *steering) list(l *level, call *compiler.Call, t *compiler.Template) {
	yes, path := true, runtime.Path(l.under, call.Name)
	term := t.Expr.Logic()
	if term.Op == expression.TermOther && term.Name == "[]" {
		return // as long as it is written
	}
	one := &site{asked: true, ofList: true, ways: []analyzer.BranchChoice{
		{Call: path, Condition: "len(" + t.Node.Text + ") > 0", Holds: &yes}, {Call: path, Condition: "len(" + t.Node.Text + ") == 0", Holds: &yes}}}
	one.far = func(way int, r *ruler) float64 {
		v, _ := r.value(term)
		items, isList := v.([]any)
		switch {
		case !isList:
			return math.Inf(1)
		case way == 1:
			return float64(len(items))
		case len(items) == 0:
			return 1
		}
		return 0
	}
	key := siteKey{l.under, t, -1}
	if call.When.PerItem() {
		one.items = s.sites[siteKey{l.under, call.When, -1}]
	} else if s.twin(key, l, t) {
		return
	}
	if s.site(key, l, call, t.Reads, false, one); s.sites[key] == one && one.items == nil {
		s.twins[t.Node.Text] = append(s.twins[t.Node.Text], one)
	}
}

// nulls are the sites of references to what code works out that may come to null.
func (s *steering) nulls(l *level, call *compiler.Call, t *compiler.Template) {
	for ref, r := range t.Reads {
		read := &l.plan.Reads[r]
		if !slices.ContainsFunc(read.Writers, func(w int32) bool {
			code := codeOf(l.plan, l.plan.Calls[w])
			return code != nil && mayBeNull(code.Logic())
		}) {
			continue
		}
		yes, path := true, runtime.Path(l.under, call.Name)
		one := &site{asked: true, ways: []analyzer.BranchChoice{
			{Call: path, Condition: read.Ref.String() + " != nil", Holds: &yes}, {Call: path, Reference: read.Ref.String(), Absent: true}}}
		one.far = func(way int, r *ruler) float64 {
			if v, p := r.look(ref); (p == expression.There && v != nil) == (way == 0) {
				return 0
			}
			return 1
		}
		s.site(siteKey{l.under, t, ref}, l, call, []int{r}, true, one)
	}
}

// mayBeNull reports whether code may come to null by what is written in it.
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

// decisions are the terms of code that are true or false and don't stand in a loop.
func decisions(t *expression.Term, all []*expression.Term) []*expression.Term {
	switch {
	case t.Op == expression.TermNot || t.Op == expression.TermAnd || t.Op == expression.TermOr:
	case t.Op >= expression.TermEqual:
		return append(all, t)
	case t.Op == expression.TermOther && t.Name == "?:":
		if a := t.Args[0]; a.Op < expression.TermNot {
			all = append(all, a)
		}
	case t.Op == expression.TermOther && !strings.Contains("+-*/%??[]", t.Name):
		return all
	}
	for _, a := range t.Args {
		all = decisions(a, all)
	}
	return all
}

// codeOf is the code that works out the results of a call; nil where they are made up.
func codeOf(plan *compiler.Plan, call *compiler.Call) *expression.Expr {
	if tool := call.Single(); tool != nil && len(tool.Mocks) > 0 {
		return nil
	}
	if a := plan.Activities[call.Activity]; a != nil {
		return a.Expression
	}
	return nil
}

// trace follows what reads of a call hang on to what was made up.
func (s *steering) trace(l *level, of *compiler.Call, reads []int, to *site, seen map[siteKey]bool) {
	for _, r := range reads {
		read := &l.plan.Reads[r]
		if l.plan.OfItem(read) {
			for t := range of.Each.List.Expressions() {
				to.computed = to.computed || !t.Expr.Plain()
				s.trace(l, of, t.Reads, to, seen)
			}
			continue
		}
		kind, steps := l.plan.Paths.Kind(read.Path), l.plan.Paths.Segments(read.Path)
		begins, made := s.input, s.invented.Input
		if kind == "state" {
			begins, made = s.state, s.invented.State
		}
		switch {
		case kind != "input" && kind != "state":
		case l.above != nil && (kind == "input" || len(read.Writers) == 0):
			to.computed = true
			s.trace(l.above, l.call, l.call.Reads, to, seen)
		case l.above == nil && (len(steps) > 1 && slices.Contains(made, steps[1].Key) || len(steps) < 2 && len(made) > 0):
			to.sources[begins.path] = true
		}
		for _, w := range read.Writers {
			s.traceCall(l, l.plan.Calls[w], read, to, seen)
		}
	}
}

func (s *steering) traceCall(l *level, call *compiler.Call, read *compiler.Read, to *site, seen map[siteKey]bool) {
	whole := slices.ContainsFunc(call.Output, func(route compiler.Route) bool {
		return slices.ContainsFunc(route, func(p compiler.Path) bool { return l.plan.Paths.IsAbove(p.ID, read.Path) })
	})
	to.computed = to.computed || !whole || call.Each != nil || call.Method == compiler.Push || call.Method == compiler.Concat
	path := runtime.Path(l.under, call.Name)
	if s.traced++; seen[siteKey{under: path}] || s.traced > mostTraced {
		s.vague = s.vague || s.traced > mostTraced
		return
	}
	seen[siteKey{under: path}] = true
	below := l.plan.Delegates[call.Plan()]
	switch {
	case codeOf(l.plan, call) != nil:
		to.computed = true
		s.trace(l, call, call.Reads, to, seen)
	case below != nil:
		to.computed = true
		for t := range below.Output.Expressions() {
			s.trace(&level{below, path, call, l}, nil, t.Reads, to, seen)
		}
	default:
		to.sources[path] = true
	}
}
