package subset

import (
	"slices"

	"github.com/obelus-dev/obelus/compiler/schema/ast"
)

// An arrayGoal is what is asked of an array: its length, rules for all its
// items, goals for some, and whether they differ.
type arrayGoal struct {
	ast.Size
	rules     []*ast.ArrayRules
	here      []itemGoal // at their index
	somewhere []itemGoal // at their index or after it
	unique    bool       // no two items are equal
	twins     bool       // two items are equal
}

type itemGoal struct {
	index    int
	literals []literal
}

func (g *arrayGoal) clip() {
	g.rules, g.here, g.somewhere = slices.Clip(g.rules), slices.Clip(g.here), slices.Clip(g.somewhere)
}

func (g *arrayGoal) accept(s *state, r *ast.ArrayRules) bool {
	g.Narrow(r.Size)
	if r.Rest != nil && r.Rest.Verdict == ast.Never {
		g.Max = min(g.Max, len(r.Prefix))
	}
	for i, x := range r.Prefix {
		if x.Verdict == ast.Never {
			g.Max = min(g.Max, i)
		}
	}
	if r.Prefix != nil || r.Rest != nil {
		g.rules = append(g.rules, r)
	}
	if r.Contains != nil {
		if r.Least > 1 || r.Most < ast.MaxCount {
			s.leaveOut("contains")
		}
		if r.Least > 0 {
			g.Narrow(ast.Size{Min: r.Least, Max: ast.MaxCount})
			g.somewhere = append(g.somewhere, itemGoal{0, []literal{{r.Contains, false}}})
		}
	}
	if r.Unevaluated.Limits() {
		s.leaveOut("unevaluatedItems")
	}
	if r.Unique {
		g.unique = true
		s.leaveOut("uniqueItems")
	}
	return g.Min <= g.Max && !(g.unique && g.twins)
}

// want is the goal that an item, the one at an index or also any after it, is as literals say.
func (g itemGoal) want(after bool) goal {
	return demand(func(s *state) bool {
		if after {
			s.array.somewhere = append(s.array.somewhere, g)
		} else {
			s.array.here = append(s.array.here, g)
		}
		return s.array.Narrow(ast.Size{Min: g.index + 1, Max: ast.MaxCount})
	})
}

// equalItems is the goal that two items are equal, which only a try shows: items that are asked the same are the same.
func equalItems(s *state) bool {
	s.array.twins = true
	s.leaveOut("uniqueItems")
	return !s.array.unique && s.array.Narrow(ast.Size{Min: 2, Max: ast.MaxCount})
}

func arrayRefusals(r *ast.ArrayRules) []goal {
	options := sizeRefusals(r.Size)
	for i, x := range r.Prefix {
		if x.Verdict != ast.Always {
			options = append(options, itemGoal{i, []literal{{x, true}}}.want(false))
		}
	}
	if r.Rest != nil && r.Rest.Verdict != ast.Always {
		options = append(options, itemGoal{len(r.Prefix), []literal{{r.Rest, true}}}.want(true))
	}
	switch {
	case r.Contains == nil:
	case r.Least == 1 && r.Most == ast.MaxCount:
		none := ast.AnyArray()
		none.Rest = &ast.Node{Unit: ast.Detached, Kinds: ast.Anything, Not: r.Contains}
		options = append(options, accept{&ast.Node{Unit: ast.Detached, Kinds: ast.Anything, Arrays: none}})
	default:
		options = append(options, skip("contains"))
	}
	if r.Unevaluated.Limits() {
		options = append(options, skip("unevaluatedItems"))
	}
	if r.Unique {
		options = append(options, demand(equalItems))
	}
	return options
}

// literals are what the rules say of the item at an index.
func (g *arrayGoal) literals(i int) []literal {
	var list []literal
	for _, r := range g.rules {
		if x := r.Item(i); x != nil {
			list = append(list, literal{x, false})
		}
	}
	return list
}

// An asker asks about parts of a value and keeps in mind what the answers depend on, for the case that the search
// fails.
type asker struct {
	p    *Prover
	low  int
	why  string
	none bool // some answer was unclear
}

func (a *asker) ask(literals []literal) finding {
	f := a.p.inside(literals)
	a.low = min(a.low, f.low)
	if f.Status == Unclear {
		a.undecided(f.Why)
	}
	return f
}

func (a *asker) undecided(why string) {
	if !a.none {
		a.none, a.why = true, why
	}
}

// failed is the finding when no way led anywhere.
func (a *asker) failed() finding {
	if a.none {
		return finding{Status: Unclear, Why: a.why, low: a.low}
	}
	return finding{Status: Empty, low: a.low}
}

// An arraySearch places the goals of an array of some length: the first items
// have a place of their own each, those after them are alike but for what is
// placed there.
type arraySearch struct {
	asker
	goal   *arrayGoal
	length int
	slots  []slot // with a place or a goal of their own
	rest   int    // how many more items there are
	result []any
}

// A slot is one item, or several that are alike.
type slot struct {
	literals []literal
	index    int // of the item; -1 after the slots with a place
	times    int
}

func (g *arrayGoal) solve(p *Prover) finding {
	places := 0
	for _, r := range g.rules {
		places = max(places, len(r.Prefix))
	}
	for _, d := range slices.Concat(g.here, g.somewhere) {
		places = max(places, d.index+1)
	}
	a := arraySearch{asker: asker{p: p, low: unconditional}, goal: g}
	// Longer arrays than these have items that serve no goal and can go.
	longest := g.Min
	if extra := len(g.somewhere); extra > 0 {
		longest = max(g.Min, places) + extra
	}
	if g.Min > longestArray {
		return unknown("minItems")
	}
	for n := g.Min; n <= min(longest, g.Max); n++ {
		if !p.spend(1) {
			break
		}
		a.length, a.slots = n, nil
		for i := range min(n, places) {
			literals := g.literals(i)
			for _, d := range g.here {
				if d.index == i {
					literals = append(literals, d.literals...)
				}
			}
			a.slots = append(a.slots, slot{literals, i, 1})
		}
		a.rest = n - len(a.slots)
		impossible := func(s slot) bool { return a.ask(s.literals).Status == Empty }
		if !slices.ContainsFunc(a.slots, impossible) && a.place(0) {
			return some(a.result)
		}
	}
	return a.failed()
}

const longestArray = 1 << 16

// place puts the goals that may be fulfilled at several places.
func (a *arraySearch) place(i int) bool {
	if !a.p.spend(1) {
		return false
	}
	if i == len(a.goal.somewhere) {
		return a.finish()
	}
	d := a.goal.somewhere[i]
	for j := range a.slots {
		old := a.slots[j].literals
		if at := a.slots[j].index; at >= 0 && at < d.index {
			continue
		}
		a.slots[j].literals = append(slices.Clip(old), d.literals...)
		if a.ask(a.slots[j].literals).Status != Empty && a.place(i+1) {
			return true
		}
		a.slots[j].literals = old
	}
	if a.rest == 0 {
		return false
	}
	// The goals' indexes are all among the places, so what comes after suits each.
	literals := append(a.goal.literals(a.length), d.literals...)
	if a.ask(literals).Status == Empty {
		return false
	}
	a.slots = append(a.slots, slot{literals, -1, 1})
	a.rest--
	if a.place(i + 1) {
		return true
	}
	a.slots = a.slots[:len(a.slots)-1]
	a.rest++
	return false
}

// finish makes up the items.
func (a *arraySearch) finish() bool {
	slots := a.slots
	if a.rest > 0 {
		slots = append(slices.Clip(slots), slot{a.goal.literals(a.length), -1, a.rest})
	}
	if !a.p.spend(1 + a.length/64) {
		return false
	}
	a.result = make([]any, 0, a.length)
	for _, s := range slots {
		f := a.ask(s.literals)
		if f.Status != Found {
			return false
		}
		for range s.times {
			a.result = append(a.result, f.Value)
		}
	}
	return true
}
