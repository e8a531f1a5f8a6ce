package schema

import (
	"slices"

	"github.com/obelus-dev/obelus/compiler/schema/regex"
)

// An objectGoal is what is asked of an object: how many properties, which are
// there and which aren't, rules for all of them, and goals for some.
type objectGoal struct {
	size
	rules     []*objectRules
	names     []*node // that accept every name
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

// A someGoal is for some property with a name as described.
type someGoal struct{ name, value []literal }

func (g *objectGoal) clip() {
	g.rules, g.names, g.has, g.lacks = slices.Clip(g.rules), slices.Clip(g.names), slices.Clip(g.has), slices.Clip(g.lacks)
	g.values, g.somewhere = slices.Clip(g.values), slices.Clip(g.somewhere)
}

func (g *objectGoal) accept(p *prover, s *state, r *objectRules) bool {
	g.narrow(r.size)
	if r.properties != nil || r.patterns != nil || r.additional != nil {
		g.rules = append(g.rules, r)
	}
	if r.propertyNames != nil {
		g.names = append(g.names, r.propertyNames)
	}
	for _, name := range r.required {
		if !(present(name)).apply(p, s) {
			return false
		}
	}
	for _, d := range r.needs {
		then := every{}
		for _, name := range d.names {
			then = append(then, present(name))
		}
		if d.node != nil {
			then = append(then, accept{d.node})
		}
		if !s.choose(p, choice{options: []goal{missing(d.name), every{present(d.name), then}}}) {
			return false
		}
	}
	return g.min <= g.max
}

type (
	present   string // the property is there
	missing   string // it isn't
	valueOf   struct{ valueGoal }
	someValue struct{ someGoal }
)

func (g present) apply(_ *prover, s *state) bool {
	o := &s.object
	if slices.Contains(o.lacks, string(g)) {
		return false
	}
	if !slices.Contains(o.has, string(g)) {
		o.has = append(o.has, string(g))
		o.min = max(o.min, len(o.has))
	}
	return o.min <= o.max
}

func (g missing) apply(_ *prover, s *state) bool {
	o := &s.object
	if slices.Contains(o.has, string(g)) {
		return false
	}
	if !slices.Contains(o.lacks, string(g)) {
		o.lacks = append(o.lacks, string(g))
	}
	return true
}

func (g valueOf) apply(p *prover, s *state) bool {
	s.object.values = append(s.object.values, g.valueGoal)
	return present(g.name).apply(p, s)
}

func (g someValue) apply(p *prover, s *state) bool {
	s.object.somewhere = append(s.object.somewhere, g.someGoal)
	return atLeast(1).apply(p, s)
}

func (g present) foresee(s *state) outlook {
	switch {
	case slices.Contains(s.object.has, string(g)):
		return sure
	case slices.Contains(s.object.lacks, string(g)), s.object.closedTo(string(g)):
		return hopeless
	}
	return open
}

func (g missing) foresee(s *state) outlook {
	switch {
	case slices.Contains(s.object.lacks, string(g)), s.object.closedTo(string(g)):
		return sure
	case slices.Contains(s.object.has, string(g)):
		return hopeless
	}
	return open
}

func (g valueOf) foresee(s *state) outlook {
	if present(g.name).foresee(s) == hopeless {
		return hopeless
	}
	return open
}

// closedTo reports whether the rules forbid a property at sight.
func (g *objectGoal) closedTo(name string) bool {
	for _, r := range g.rules {
		if x := r.properties[name]; x != nil {
			if x.verdict == never {
				return true
			}
		} else if r.additional != nil && r.additional.verdict == never && len(r.patterns) == 0 {
			return true
		}
	}
	return false
}

func (r *objectRules) refusals() []goal {
	var options []goal
	for _, name := range r.required {
		options = append(options, missing(name))
	}
	options = append(options, r.size.refusals()...)
	for _, name := range r.names {
		if x := r.properties[name]; x.verdict != always {
			options = append(options, valueOf{valueGoal{name, []literal{{x, true}}}})
		}
	}
	for _, x := range r.patterns {
		if x.node.verdict != always {
			options = append(options, someValue{someGoal{[]literal{{patternNode(x.pattern), false}}, []literal{{x.node, true}}}})
		}
	}
	if r.additional != nil && r.additional.verdict != always {
		var name []literal
		if len(r.names) > 0 {
			name = append(name, literal{nameNode(r.names), true})
		}
		for _, x := range r.patterns {
			name = append(name, literal{patternNode(x.pattern), true})
		}
		options = append(options, someValue{someGoal{name, []literal{{r.additional, true}}}})
	}
	if r.propertyNames != nil {
		options = append(options, someValue{someGoal{[]literal{{r.propertyNames, true}}, nil}})
	}
	for _, d := range r.needs {
		for _, name := range d.names {
			options = append(options, every{present(d.name), missing(name)})
		}
		if d.node != nil {
			options = append(options, every{present(d.name), refuse{d.node}})
		}
	}
	return options
}

func differsFromObject(v map[string]any) goal {
	names := sortedKeys(v)
	var options one
	for _, name := range names {
		options = append(options, missing(name))
	}
	other := someGoal{}
	if len(names) > 0 {
		other.name = []literal{{nameNode(names), true}}
	}
	options = append(options, someValue{other})
	for _, name := range names {
		options = append(options, valueOf{valueGoal{name, []literal{{constant(v[name]), true}}}})
	}
	return options
}

// patternNode accepts the strings that a pattern matches, and nameNode those of
// a list.
func patternNode(x *regex.Pattern) *node {
	return &node{unit: loose, kinds: Anything, strings: &stringRules{size: anySize, pattern: x}}
}

func nameNode(names []string) *node {
	values := make([]any, len(names))
	for i, name := range names {
		values[i] = name
	}
	return &node{unit: loose, kinds: String, values: values}
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
	unnamed  []unnamed        // more that are there, under names that nothing speaks of
	patterns []*regex.Pattern // of all rules, each once
}

// An unnamed is a property whose name isn't chosen yet: what is asked of the name
// and of the value, and what it may be. Where there are fewer candidates than
// goals for some property, these are all that there are.
type unnamed struct {
	someGoal
	candidates []candidate
}

type candidate struct {
	name  string
	value []literal
}

const (
	maxPatterns   = 6
	maxProperties = 2_000
)

func (g *objectGoal) solve(p *prover) finding {
	if g.min > maxProperties {
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
		if o.ask(literals).status == empty {
			return o.failed()
		}
		o.put(name, literals)
	}
	if o.place(0) {
		v := make(map[string]any, len(o.names))
		for _, name := range o.names {
			f := o.ask(o.literals[name])
			if f.status != found {
				return o.failed()
			}
			v[name] = f.value
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
	for _, r := range g.rules {
		names = append(names, r.names...)
		for _, x := range r.patterns {
			if !slices.ContainsFunc(o.patterns, x.pattern.Same) {
				o.patterns = append(o.patterns, x.pattern)
			}
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
	if slices.ContainsFunc(o.goal.names, func(n *node) bool { return !o.p.accepts(n, name) }) {
		return nil, false
	}
	var list []literal
	for _, r := range o.goal.rules {
		list = r.valueLiterals(list, r.properties[name], func(x *regex.Pattern) bool { return o.p.matches(x, name) })
	}
	return list, !slices.ContainsFunc(list, func(l literal) bool { return l.node.verdict == never })
}

func (r *objectRules) valueLiterals(list []literal, declared *node, matches func(*regex.Pattern) bool) []literal {
	known := declared != nil
	if known {
		list = append(list, literal{declared, false})
	}
	for _, x := range r.patterns {
		if matches(x.pattern) {
			known = true
			list = append(list, literal{x.node, false})
		}
	}
	if !known && r.additional != nil {
		list = append(list, literal{r.additional, false})
	}
	return list
}

// place fulfils the goals for some property: by one that is there, by one that
// is spoken of, or by one with a name of its own.
func (o *objectSearch) place(i int) bool {
	if !o.p.spend(1) {
		return false
	}
	if i == len(o.goal.somewhere) {
		return o.christen()
	}
	d := o.goal.somewhere[i]
	for _, name := range slices.Clone(o.names) {
		if !o.p.holds(d.name, name) {
			continue
		}
		old := o.literals[name]
		o.literals[name] = append(slices.Clip(old), d.value...)
		if o.ask(o.literals[name]).status != empty && o.place(i+1) {
			return true
		}
		o.literals[name] = old
	}
	for j, u := range o.unnamed {
		if o.unnamed[j] = o.called(someGoal{slices.Concat(u.name, d.name), slices.Concat(u.value, d.value)}); o.unnamed[j].candidates != nil && o.place(i+1) {
			return true
		}
		o.unnamed[j] = u
	}
	if len(o.names)+len(o.unnamed) >= o.goal.max {
		return false
	}
	for _, name := range o.optional() {
		if !o.p.holds(d.name, name) {
			continue
		}
		literals, ok := o.valueLiterals(name)
		if !ok {
			continue
		}
		literals = append(literals, d.value...)
		if o.ask(literals).status == empty {
			continue
		}
		o.put(name, literals)
		if o.place(i + 1) {
			return true
		}
		o.cut(len(o.names) - 1)
	}
	u := o.called(d)
	if u.candidates == nil {
		return false
	}
	o.unnamed = append(o.unnamed, u)
	if o.place(i + 1) {
		return true
	}
	o.unnamed = o.unnamed[:len(o.unnamed)-1]
	return false
}

// optional are the names that are spoken of and may be there but aren't yet.
func (o *objectSearch) optional() []string {
	o.gather()
	var list []string
	for _, name := range o.explicit {
		if o.literals[name] == nil && !slices.Contains(o.names, name) && !slices.Contains(o.goal.lacks, name) {
			list = append(list, name)
		}
	}
	return list
}

// called looks for names that nothing speaks of: for every combination of patterns
// that match the name there is another rule for the value. As many as there are
// goals are enough, because no more are needed at once.
func (o *objectSearch) called(d someGoal) unnamed {
	o.gather()
	u, enough := unnamed{someGoal: d}, max(len(o.goal.somewhere), 1)
	if len(o.patterns) > maxPatterns {
		o.doubt("patternProperties")
		return u
	}
	taken := slices.Concat(o.explicit, o.names)
	slices.Sort(taken)
	taken = slices.Compact(taken)
	for signs := range 1 << len(o.patterns) {
		if !o.p.spend(1) || enough <= 0 {
			break
		}
		matches := func(x *regex.Pattern) bool {
			i := slices.IndexFunc(o.patterns, x.Same)
			return signs>>i&1 == 1
		}
		var value []literal
		for _, r := range o.goal.rules {
			value = r.valueLiterals(value, nil, matches)
		}
		value = append(value, d.value...)
		if slices.ContainsFunc(value, func(l literal) bool { return l.node.verdict == never && !l.deny }) {
			continue
		}
		possible := o.ask(value).status
		if possible == empty {
			continue
		}
		name := append(slices.Clip(d.name), literal{kindNode(String), false})
		for i, x := range o.patterns {
			name = append(name, literal{patternNode(x), signs>>i&1 == 0})
		}
		for _, n := range o.goal.names {
			name = append(name, literal{n, false})
		}
		if len(taken) > 0 {
			name = append(name, literal{nameNode(taken), true})
		}
		names, _ := o.several(name, enough)
		for _, x := range names {
			u.candidates = append(u.candidates, candidate{x.(string), value})
		}
		if possible == found { // others may have to give way
			enough -= len(names)
		}
	}
	return u
}

// christen gives the properties without names a different name each, and adds
// properties until there are enough.
func (o *objectSearch) christen() bool {
	before := len(o.names)
	names := make([][]any, len(o.unnamed))
	for i, u := range o.unnamed {
		for _, c := range u.candidates {
			names[i] = append(names[i], c.name)
		}
	}
	chosen, ok := o.p.distinct(names)
	for i, name := range chosen {
		at := slices.Index(names[i], name)
		o.put(name.(string), o.unnamed[i].candidates[at].value)
	}
	if ok && o.fill() {
		return true
	}
	o.cut(before)
	return false
}

// fill adds properties until there are enough.
func (o *objectSearch) fill() bool {
	if len(o.names) >= o.goal.min {
		return len(o.names) <= o.goal.max
	}
	for _, name := range o.optional() {
		if len(o.names) >= o.goal.min {
			return true
		}
		literals, ok := o.valueLiterals(name)
		if ok && o.ask(literals).status == found {
			o.put(name, literals)
		}
	}
	for len(o.names) < o.goal.min && o.p.spend(1) {
		u := o.called(someGoal{})
		if u.candidates == nil {
			return false
		}
		o.put(u.candidates[0].name, u.candidates[0].value)
	}
	return len(o.names) >= o.goal.min
}
