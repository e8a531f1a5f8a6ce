package subset

import (
	"slices"

	"github.com/obelus-dev/obelus/compiler/schema/ast"
	"github.com/obelus-dev/obelus/compiler/schema/regex"
)

// An objectGoal is what is asked of an object: how many properties, which are
// there and which aren't, rules for all of them, and goals for some.
type objectGoal struct {
	ast.Size
	rules     []*ast.ObjectRules
	has       []string
	lacks     []string
	values    []valueGoal
	somewhere []someGoal
}

// A valueGoal is for the value of one property.
type valueGoal struct {
	name     string
	literals []literal
}

// A someGoal is for some property: its name matches some patterns and not others,
// and isn't one of a list.
type someGoal struct {
	matches, misses []*regex.Pattern
	not             []string
	value           []literal
}

func (g *objectGoal) clip() {
	g.rules, g.has, g.lacks = slices.Clip(g.rules), slices.Clip(g.has), slices.Clip(g.lacks)
	g.values, g.somewhere = slices.Clip(g.values), slices.Clip(g.somewhere)
}

func (g *objectGoal) accept(p *Prover, s *state, r *ast.ObjectRules) bool {
	g.Narrow(r.Size)
	if r.Properties != nil || r.Patterns != nil || r.Additional != nil {
		g.rules = append(g.rules, r)
	}
	if r.PropertyNames != nil {
		s.leaveOut("propertyNames")
	}
	if r.Unevaluated.Limits() {
		s.leaveOut("unevaluatedProperties")
	}
	for _, name := range r.Required {
		if !g.present(name) {
			return false
		}
	}
	for _, d := range r.Needs {
		then := every{}
		for _, name := range d.Names {
			then = append(then, there(name, true))
		}
		if d.Node != nil {
			then = append(then, accept{d.Node})
		}
		if !s.choose(p, choice{options: []goal{there(d.Name, false), every{there(d.Name, true), then}}}) {
			return false
		}
	}
	return g.Min <= g.Max
}

// there is the goal that a property is there, or that it isn't.
func there(name string, is bool) goal {
	return demand(func(s *state) bool {
		if is {
			return s.object.present(name)
		}
		s.object.lacks = append(s.object.lacks, name)
		return !slices.Contains(s.object.has, name)
	})
}

func (g *objectGoal) present(name string) bool {
	if !slices.Contains(g.has, name) {
		g.has = append(g.has, name)
		g.Min = max(g.Min, len(g.has))
	}
	return g.Min <= g.Max && !slices.Contains(g.lacks, name)
}

// some is the goal that there is such a property.
func (g someGoal) some() goal {
	return demand(func(s *state) bool {
		s.object.somewhere = append(s.object.somewhere, g)
		return s.object.Narrow(ast.Size{Min: 1, Max: ast.MaxCount})
	})
}

func objectRefusals(r *ast.ObjectRules) []goal {
	var options []goal
	for _, name := range r.Required {
		options = append(options, there(name, false))
	}
	options = append(options, sizeRefusals(r.Size)...)
	for _, name := range r.Names {
		if x := r.Properties[name]; x.Verdict != ast.Always {
			options = append(options, demand(func(s *state) bool {
				s.object.values = append(s.object.values, valueGoal{name, []literal{{x, true}}})
				return s.object.present(name)
			}))
		}
	}
	for _, x := range r.Patterns {
		if x.Node.Verdict != ast.Always {
			options = append(options,
				someGoal{matches: []*regex.Pattern{x.Pattern}, value: []literal{{x.Node, true}}}.some())
		}
	}
	if r.Additional.Limits() {
		other := someGoal{not: r.Names, value: []literal{{r.Additional, true}}}
		for _, x := range r.Patterns {
			other.misses = append(other.misses, x.Pattern)
		}
		options = append(options, other.some())
	}
	if r.PropertyNames != nil {
		options = append(options, skip("propertyNames"))
	}
	if r.Unevaluated.Limits() {
		options = append(options, skip("unevaluatedProperties"))
	}
	for _, d := range r.Needs {
		for _, name := range d.Names {
			options = append(options, every{there(d.Name, true), there(name, false)})
		}
		if d.Node != nil {
			options = append(options, every{there(d.Name, true), refuse{d.Node}})
		}
	}
	return options
}

// An objectSearch makes up an object, property by property: those that have to
// be there, then what serves the goals for some property, then as many as are
// still missing.
type objectSearch struct {
	asker
	goal     *objectGoal
	gathered bool
	explicit []string // all names that anything speaks of, sorted
	names    []string // those that are there, in the order in which they came
	literals map[string][]literal
	patterns []*regex.Pattern // that anything says of names, each once
}

const (
	maxPatterns = 6
)

func (g *objectGoal) solve(p *Prover) finding {
	if g.Min > ast.MaxProperties {
		return unknown("minProperties")
	}
	o := objectSearch{asker: asker{p: p, low: unconditional}, goal: g, literals: map[string][]literal{}}
	// What is asked of single values is the likeliest to fail.
	has := slices.Clone(g.has)
	for _, v := range g.values {
		if i := slices.Index(has, v.name); i > 0 {
			has = slices.Insert(slices.Delete(has, i, i+1), 0, v.name)
		}
	}
	for _, name := range has {
		literals, ok := o.valueLiterals(name)
		if !ok {
			return o.failed()
		}
		for _, v := range g.values {
			if v.name == name {
				literals = append(literals, v.literals...)
			}
		}
		if o.ask(literals).Status == Empty {
			return o.failed()
		}
		o.put(name, literals)
	}
	if o.place(0) {
		v := make(map[string]any, len(o.names))
		for _, name := range o.names {
			f := o.ask(o.literals[name])
			if f.Status != Found {
				return o.failed()
			}
			v[name] = f.Value
		}
		return some(v)
	}
	return o.failed()
}

// gather collects the names and patterns that anything speaks of, once they
// are needed.
func (o *objectSearch) gather() {
	if o.gathered {
		return
	}
	o.gathered = true
	g := o.goal
	names := slices.Concat(g.has, g.lacks)
	add := func(x *regex.Pattern) {
		if !slices.ContainsFunc(o.patterns, x.Same) {
			o.patterns = append(o.patterns, x)
		}
	}
	for _, r := range g.rules {
		names = append(names, r.Names...)
		for _, x := range r.Patterns {
			add(x.Pattern)
		}
	}
	for _, d := range g.somewhere {
		names = append(names, d.not...)
		for _, x := range slices.Concat(d.matches, d.misses) {
			add(x)
		}
	}
	slices.Sort(names)
	o.explicit = slices.Compact(names)
}

func (o *objectSearch) put(name string, literals []literal) {
	o.names = append(o.names, name)
	o.literals[name] = literals
}

// cut takes the last properties away, until there are as many as that.
func (o *objectSearch) cut(length int) {
	for _, name := range o.names[length:] {
		delete(o.literals, name)
	}
	o.names = o.names[:length]
}

// valueLiterals are what the rules say of the value of a property; false when
// there can be none of that name.
func (o *objectSearch) valueLiterals(name string) ([]literal, bool) {
	var list []literal
	for _, r := range o.goal.rules {
		for _, n := range r.Judges(r.Properties[name], func(x *regex.Pattern) bool { return o.p.matches(x, name) }) {
			list = append(list, literal{n, false})
		}
	}
	return list, !slices.ContainsFunc(list, func(l literal) bool { return l.node.Verdict == ast.Never })
}

// named reports whether a goal for some property can be for the one of this name.
func (o *objectSearch) named(d someGoal, name string) bool {
	matches := func(x *regex.Pattern) bool { return o.p.matches(x, name) }
	return !slices.Contains(d.not, name) && !slices.ContainsFunc(d.misses, matches) &&
		!slices.ContainsFunc(d.matches, func(x *regex.Pattern) bool { return !matches(x) })
}

// place fulfils the goals for some property: by one that is there, by one that
// is spoken of, or by one with a name of its own.
func (o *objectSearch) place(i int) bool {
	if !o.p.spend(1) {
		return false
	}
	if i == len(o.goal.somewhere) {
		before := len(o.names)
		if o.fill() {
			return true
		}
		o.cut(before)
		return false
	}
	d := o.goal.somewhere[i]
	for _, name := range slices.Concat(o.names, o.optional()) {
		old, isThere := o.literals[name]
		literals, ok := old, true
		if !isThere {
			literals, ok = o.valueLiterals(name)
			ok = ok && len(o.names) < o.goal.Max
		}
		if !ok || !o.named(d, name) {
			continue
		}
		if literals = append(slices.Clip(literals), d.value...); o.ask(literals).Status == Empty {
			continue
		}
		before := len(o.names)
		if o.literals[name] = literals; !isThere {
			o.names = append(o.names, name)
		}
		if o.place(i + 1) {
			return true
		}
		if o.cut(before); isThere {
			o.literals[name] = old
		}
	}
	return len(o.names) < o.goal.Max && o.fresh(d, func() bool { return o.place(i + 1) })
}

// optional are the names that are spoken of and may be there but aren't yet.
func (o *objectSearch) optional() []string {
	o.gather()
	var list []string
	for _, name := range o.explicit {
		if _, isThere := o.literals[name]; !isThere && !slices.Contains(o.goal.lacks, name) {
			list = append(list, name)
		}
	}
	return list
}

// fresh adds a property with a name that no rule mentions, and continues. Names that the same patterns match are all
// alike, so that one for each combination is enough.
func (o *objectSearch) fresh(d someGoal, goOn func() bool) bool {
	o.gather()
	if len(o.patterns) > maxPatterns {
		o.undecided("patternProperties")
		return false
	}
	for signs := range 1 << len(o.patterns) {
		if !o.p.spend(1) {
			return false
		}
		matches := func(x *regex.Pattern) bool { return signs>>slices.IndexFunc(o.patterns, x.Same)&1 == 1 }
		if slices.ContainsFunc(d.misses, matches) ||
			slices.ContainsFunc(d.matches, func(x *regex.Pattern) bool { return !matches(x) }) {
			continue
		}
		var value []literal
		for _, r := range o.goal.rules {
			for _, n := range r.Judges(nil, matches) {
				value = append(value, literal{n, false})
			}
		}
		value = append(value, d.value...)
		if slices.ContainsFunc(value, func(l literal) bool { return l.node.Verdict == ast.Never && !l.deny }) ||
			o.ask(value).Status == Empty {
			continue
		}
		name := textGoal{Size: ast.AnySize, not: slices.Concat(o.explicit, o.names)}
		for _, x := range o.patterns {
			if matches(x) {
				name.matches = append(name.matches, x)
			} else {
				name.misses = append(name.misses, x)
			}
		}
		switch f := name.solve(o.p); f.Status {
		case Unclear:
			o.undecided(f.Why)
		case Found:
			o.put(f.Value.(string), value)
			if goOn() {
				return true
			}
			o.cut(len(o.names) - 1)
		}
	}
	return false
}

// fill adds properties until there are enough.
func (o *objectSearch) fill() bool {
	if len(o.names) >= o.goal.Min {
		return len(o.names) <= o.goal.Max
	}
	for _, name := range o.optional() {
		if len(o.names) >= o.goal.Min {
			return true
		}
		literals, ok := o.valueLiterals(name)
		if ok && o.ask(literals).Status == Found {
			o.put(name, literals)
		}
	}
	for len(o.names) < o.goal.Min {
		if !o.fresh(someGoal{}, func() bool { return true }) {
			return false
		}
	}
	return true
}
