package subset

import (
	"slices"

	"github.com/obelus-dev/obelus/compiler/schema/ast"
	"github.com/obelus-dev/obelus/compiler/schema/regex"
)

// parts are what a node says of the parts of a value of one kind, if anything. An array is taken for an object whose
// names are its indexes.
func (p *Prover) parts(n *ast.Node, kind ast.Kinds) *ast.ObjectRules {
	switch {
	case kind == ast.Object:
		return n.Objects
	case n.Arrays == nil:
		return nil
	}
	r := n.Arrays
	o := p.lists[r]
	if o == nil {
		o = &ast.ObjectRules{Size: r.Size, Additional: r.Rest, Properties: map[string]*ast.Node{}}
		for i, x := range append(slices.Clip(r.Prefix), r.Rest) {
			if x != nil && x.Verdict == ast.Never {
				o.Max = min(o.Max, i)
			}
		}
		for i, x := range r.Prefix {
			o.Names = append(o.Names, ast.IndexKey(i))
			o.Properties[o.Names[i]] = x
		}
		p.lists[r] = o
	}
	return o
}

// present is the literal of objects that have a property, absent that of those that haven't.
func (p *Prover) present(name string) literal {
	return p.asks(ast.Node{Objects: &ast.ObjectRules{Size: ast.AnySize, Required: []string{name}}})[0]
}

func (p *Prover) absent(name string) literal {
	return p.asks(ast.Node{Objects: &ast.ObjectRules{Size: ast.AnySize, Names: []string{name},
		Properties: map[string]*ast.Node{name: ast.Nothing}}})[0]
}

func (p *Prover) objectRefusals(r *ast.ObjectRules) []way {
	ways := sizeRefusals(r.Size, func(z ast.Size) way { return p.asks(ast.Node{Objects: &ast.ObjectRules{Size: z}}) })
	for _, name := range r.Required {
		ways = append(ways, way{p.absent(name)})
	}
	some := ast.Node{Objects: &ast.ObjectRules{Properties: r.Properties, Names: r.Names, Patterns: r.Patterns,
		Additional: r.Additional}}
	limits := false
	some.Below(func(x *ast.Node) { limits = limits || x.Limits() })
	if limits {
		ways = append(ways, p.atom(some))
	}
	if r.PropertyNames.Limits() {
		ways = append(ways, p.unmodelled("propertyNames"))
	}
	if r.Unevaluated.Limits() {
		ways = append(ways, p.unmodelled("unevaluatedProperties"))
	}
	for _, d := range r.Needs {
		for _, name := range d.Names {
			ways = append(ways, way{p.present(d.Name), p.absent(name)})
		}
		if d.Node != nil {
			ways = append(ways, way{p.present(d.Name), {d.Node, true}})
		}
	}
	return ways
}

func (p *Prover) arrayRefusals(r *ast.ArrayRules) []way {
	sized := func(z ast.Size) way { return p.asks(ast.Node{Arrays: &ast.ArrayRules{Size: z}}) }
	ways := append(sizeRefusals(r.Size, sized), p.someItem(r.Prefix, r.Rest))
	if r.Contains != nil && uncounted(r) {
		none := ast.AnyArray()
		none.Rest = p.made(ast.Node{Not: r.Contains})
		ways = append(ways, p.asks(ast.Node{Arrays: none}))
	} else if r.Contains != nil {
		ways = append(ways, p.unmodelled("contains"))
	}
	if r.Unevaluated.Limits() {
		ways = append(ways, p.unmodelled("unevaluatedItems"))
	}
	if r.Unique { // items that are asked the same are the same
		twins := sized(ast.Size{Min: 2, Max: ast.MaxCount})
		ways = append(ways, append(twins, p.unmodelled("uniqueItems")...))
	}
	return ways
}

// someItem is the way of refusing some item.
func (p *Prover) someItem(prefix []*ast.Node, rest *ast.Node) way {
	a := ast.AnyArray()
	a.Prefix, a.Rest = prefix, rest
	return p.atom(ast.Node{Arrays: a})
}

func uncounted(r *ast.ArrayRules) bool { return r.Least == 1 && r.Most == ast.MaxCount }

func (b *branch) acceptItems(r *ast.ArrayRules) bool {
	if r.Unique {
		b.leaveOut("uniqueItems")
	}
	if r.Unevaluated.Limits() {
		b.leaveOut("unevaluatedItems")
	}
	if r.Contains == nil {
		return true
	}
	if !uncounted(r) {
		b.leaveOut("contains")
	}
	b.size.Min = max(b.size.Min, r.Least)
	not := b.p.made(ast.Node{Not: r.Contains})
	return b.size.Min <= b.size.Max && (r.Least == 0 || b.addAll(b.p.someItem(nil, not)))
}

func (b *branch) acceptParts(r *ast.ObjectRules) bool {
	b.size.Narrow(r.Size)
	for _, name := range r.Required {
		if !slices.Contains(b.has, name) {
			b.has = append(b.has, name)
		}
	}
	for _, name := range r.Names {
		if r.Properties[name].Verdict == ast.Never {
			b.lacks = append(b.lacks, name)
		}
	}
	if !b.p.spend(len(b.lacks)*len(b.has)/64) ||
		slices.ContainsFunc(b.lacks, func(name string) bool { return slices.Contains(b.has, name) }) {
		return false
	}
	if r.Unevaluated.Limits() {
		b.leaveOut("unevaluatedProperties")
	}
	for _, d := range r.Needs {
		then := way{b.p.present(d.Name)}
		for _, name := range d.Names {
			then = append(then, b.p.present(name))
		}
		if d.Node != nil {
			then = append(then, literal{d.Node, false})
		}
		b.choices = append(b.choices, choice{[]way{{b.p.absent(d.Name)}, then}, nil})
	}
	b.size.Min = max(b.size.Min, len(b.has))
	return b.size.Min <= b.size.Max
}

// rules are all that has been accepted of parts.
func (b *branch) rules() (list []*ast.ObjectRules) {
	for _, n := range b.accepted {
		if r := b.p.parts(n, b.kind); r != nil {
			list = append(list, r)
		}
	}
	return list
}

// An assembly puts an object or an array together: the parts that must exist, then those that serve the goals,
// then as many as are still missing. A goal is rules that have to refuse some part.
type assembly struct {
	*branch
	rules []*ast.ObjectRules
	names []string // that anything speaks of, in order
	alike bool     // all other names are
}

type part struct {
	name     string
	literals []literal
}

const longestArray = 1 << 16

func (b *branch) assemble() finding {
	a := assembly{branch: b, rules: b.rules(), names: slices.Clone(b.has), alike: true}
	var goals []*ast.ObjectRules
	for _, x := range b.atoms {
		if b.p.atoms[x] == "uniqueItems" && slices.ContainsFunc(b.accepted, unique) {
			return none()
		}
		if b.p.atoms[x] == "" {
			goals = append(goals, b.p.parts(x, b.kind))
		}
	}
	for _, r := range slices.Concat(a.rules, goals) {
		a.names = append(a.names, r.Names...)
		a.alike = a.alike && r.Patterns == nil && r.PropertyNames == nil
	}
	slices.Sort(a.names)
	a.names = slices.Compact(a.names)
	if b.kind == ast.Array {
		a.names = indexes(len(a.names)) // no prefix leaves one out
		b.has = a.names[:min(len(a.names), b.size.Min)]
	}
	switch {
	case b.kind == ast.Array && b.size.Min > longestArray:
		return unknown("minItems")
	case b.kind == ast.Object && b.size.Min > ast.MaxProperties:
		return unknown("minProperties")
	}
	var there []part
	for _, name := range b.has {
		literals, ok := a.judged(name)
		if !ok || b.p.inside(literals).Status == Empty {
			return none()
		}
		there = append(there, part{name, literals})
	}
	return a.place(there, goals)
}

func unique(n *ast.Node) bool { return n.Arrays != nil && n.Arrays.Unique }

func indexes(n int) (names []string) {
	for i := range n {
		names = append(names, ast.IndexKey(i))
	}
	return names
}

// judged is what the rules say of a part; false when there can be none of that name.
func (a *assembly) judged(name string) (list []literal, ok bool) {
	for _, r := range a.rules {
		if r.PropertyNames != nil && !a.p.accepts(r.PropertyNames, name) {
			return nil, false
		}
		for _, n := range a.judges(r, name) {
			if n.Verdict == ast.Never {
				return nil, false
			}
			list = append(list, literal{n, false})
		}
	}
	return list, true
}

func (a *assembly) judges(r *ast.ObjectRules, name string) []*ast.Node {
	return r.Judges(r.Properties[name], func(x *regex.Pattern) bool { return a.p.matches(x, name) })
}

func at(there []part, name string) int {
	return slices.IndexFunc(there, func(x part) bool { return x.name == name })
}

// place fulfils the goals, each by a part that is there or spoken of, or by one with a name of its own.
func (a *assembly) place(there []part, goals []*ast.ObjectRules) finding {
	switch {
	case !a.p.spend(1 + (len(there)+len(a.names))/64):
		return none()
	case len(goals) == 0:
		return a.complete(there)
	}
	names := slices.Clone(a.names)
	for _, x := range there {
		if _, known := slices.BinarySearch(a.names, x.name); !known {
			names = append(names, x.name)
		}
	}
	result := a.another(names, goals[0].Patterns)
	if result.Status == Found {
		names, result = append(names, result.Value.(string)), none()
	}
	for _, name := range names {
		for _, n := range a.judges(goals[0], name) {
			if result = result.or(a.with(there, name, n, goals[1:])); result.Status == Found {
				return result
			}
		}
	}
	if result.Status == Empty && !a.alike && a.mayRefuse(goals[0]) {
		return unknown("patternProperties")
	}
	return result
}

// mayRefuse reports whether rules may refuse a part of a name that isn't spoken of, by what is so of all of them.
func (a *assembly) mayRefuse(goal *ast.ObjectRules) bool {
	var certain []literal
	for _, r := range a.rules {
		if r.Additional != nil && r.Patterns == nil {
			certain = append(certain, literal{r.Additional, false})
		}
	}
	nodes := []*ast.Node{goal.Additional}
	for _, x := range goal.Patterns {
		nodes = append(nodes, x.Node)
	}
	return slices.ContainsFunc(nodes, func(n *ast.Node) bool {
		return n.Limits() && a.p.inside(append(slices.Clip(certain), literal{n, true})).Status != Empty
	})
}

// another finds a name that is none of some, for a pattern if there is one.
func (a *assembly) another(names []string, patterns []ast.PatternRule) finding {
	if a.kind == ast.Array {
		return some(ast.IndexKey(len(names)))
	}
	literals := []literal{{ofKind(ast.String), false}}
	var taken []any
	for _, name := range names {
		taken = append(taken, name)
	}
	if taken != nil {
		literals = append(literals, literal{a.p.made(*ast.Constant(taken...)), true})
	}
	if len(patterns) > 0 {
		only := ast.StringRules{Size: ast.AnySize, Pattern: patterns[0].Pattern}
		literals = append(literals, literal{a.p.made(ast.Node{Strings: &only}), false})
	}
	for _, r := range a.rules {
		if r.PropertyNames != nil {
			literals = append(literals, literal{r.PropertyNames, false})
		}
	}
	return a.p.inside(literals)
}

// with adds a part that a node must refuse, and places the goals that are left.
func (a *assembly) with(there []part, name string, n *ast.Node, goals []*ast.ObjectRules) finding {
	literals, ok := a.judged(name)
	i := at(there, name)
	if i >= 0 {
		literals = there[i].literals
	}
	literals = append(slices.Clip(literals), literal{n, true})
	if !ok || a.p.inside(literals).Status == Empty {
		return none()
	}
	next := slices.Clone(there)
	for ; i < 0; i = at(next, name) {
		x := part{name, literals}
		if a.kind == ast.Array { // those before it have to be there, too
			x.name = ast.IndexKey(len(next))
			x.literals, ok = a.judged(x.name)
		}
		if !ok || len(next) >= a.size.Max || !a.p.spend(1+len(next)/64) {
			return none()
		}
		next = append(next, x)
	}
	next[i].literals = literals
	return a.place(next, goals)
}

// complete adds parts until there are enough, and makes up their values.
func (a *assembly) complete(there []part) finding {
	names, fails, least := slices.Clone(a.names), none(), a.size.Min
	if a.kind == ast.Array { // after one that nothing speaks of they are alike
		least = min(least, max(len(names), len(there))+1)
	}
	for i := 0; len(there) < least; i++ {
		if !a.p.spend(1) {
			return unknown("budget")
		}
		if i == len(names) {
			f := a.another(names, nil)
			if f.Status != Found {
				return fails.or(f)
			}
			names = append(names, f.Value.(string))
		}
		if at(there, names[i]) >= 0 {
			continue
		}
		literals, ok := a.judged(names[i])
		f := none()
		if ok {
			f = a.p.inside(literals)
		}
		switch {
		case f.Status == Found:
			there = append(slices.Clip(there), part{names[i], literals})
		case a.kind == ast.Object && i < len(a.names): // it needn't be there
			fails = fails.or(f)
		case f.Status == Empty && !a.alike:
			return unknown("patternProperties")
		default:
			return fails.or(f)
		}
	}
	if len(there) > a.size.Max {
		return none()
	}
	result, object, list := some(nil), map[string]any{}, []any{}
	for _, x := range there {
		f := a.p.inside(x.literals)
		if f.Status == Empty {
			return f
		}
		if f.Status == Unclear && result.Status == Found {
			result = f
		}
		object[x.name], list = f.Value, append(list, f.Value)
	}
	switch {
	case result.Status != Found:
	case a.kind == ast.Object:
		result.Value = object
	case !a.p.spend(a.size.Min / 64):
		return unknown("budget")
	default:
		for len(list) < a.size.Min {
			list = append(list, list[len(list)-1])
		}
		result.Value = list
	}
	return result
}
