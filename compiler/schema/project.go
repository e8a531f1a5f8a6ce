package schema

import (
	"maps"
	"slices"
)

// A Step is one step of a path into a value: a key of an object, or an index
// of an array.
type Step struct {
	Key     string
	Index   int
	IsIndex bool
}

// Key is a step to a property.
func Key(name string) Step { return Step{Key: name} }

// Index is a step to an item.
func Index(i int) Step { return Step{Key: indexKey(i), Index: i, IsIndex: true} }

// A Place is what a schema says of a path into the values that it accepts.
type Place struct {
	// Schema accepts whatever may stand there; nil when nothing is known of it.
	Schema *Schema
	// Possible is false when nothing can be there: under a closed object, below
	// a scalar, past the end of a list.
	Possible bool
	// Named is true when every step is a property that the schema declares (or a
	// value that it lists), or an item of something that it says is an array.
	Named bool
	// Silent is true when the schema says nothing at all of what is at some step,
	// so that no name can be called unknown there.
	Silent bool
	// Open is true when the schema says itself, where step Depth goes wrong, that
	// there may be more than it names: additionalProperties or
	// unevaluatedProperties is there, and isn't false.
	Open bool
	// Required is true when every accepted value has something there.
	Required bool
	// Depth is the first step that is not possible, or else not named;
	// len(path) when all are.
	Depth int

	in *node // where step Depth goes wrong; nil when no step does
}

// Known are the names that are declared where step Depth goes wrong, sorted.
// They are collected anew each time.
func (p Place) Known() []string {
	if p.in == nil {
		return nil
	}
	return p.in.declared()
}

// At follows a path into the schema: through properties, patternProperties,
// additionalProperties, items, prefixItems, dependencies, references and
// combinations. What it says errs on the side of the possible.
func (s *Schema) At(path []Step) Place { return s.at(path, nil) }

// AtIn is At for a value at hand that the schema accepts: of alternatives only those count
// that accept it, and of these only what they say.
func (s *Schema) AtIn(value any, path []Step) Place { return s.at(path, &value) }

func (s *Schema) at(path []Step, in *any) Place {
	p := Place{Possible: true, Named: true, Required: true, Depth: len(path)}
	n := s.ready()
	for i, step := range path {
		r := n.at(step, Anything, in, maxNesting)
		named := r.named || step.IsIndex && r.described
		if p.Named && !named || !r.possible {
			p.Depth = i
			p.in = n
			p.Silent = !r.described
			p.Open = r.open
		}
		p.Named = p.Named && named
		p.Required = p.Required && r.required
		if !r.possible {
			p.Possible, p.Named, p.Required, p.Silent, p.Open = false, false, false, false, false
			p.Schema = of(nothing)
			return p
		}
		if n = r.node; n == nil {
			n = everything
		}
		if in != nil {
			if part, there := stepInto(*in, step); there {
				in = &part
			} else {
				in = nil
			}
		}
	}
	p.Schema = of(n)
	return p
}

// A reach is what one step leads to.
type reach struct {
	node      *node // nil: nothing is declared for it
	possible  bool
	named     bool // declared by this name
	required  bool
	described bool // something was said of what is here
	open      bool // other names than the declared ones are explicitly allowed
}

// at takes one step from a node, of whose values only those of some kinds count, or only the
// one that is at hand.
func (n *node) at(step Step, within Kinds, in *any, depth int) reach {
	if n.verdict == never {
		return reach{described: true}
	}
	if n.verdict == always || depth < 0 {
		return reach{possible: true}
	}
	within &= n.possible()
	r := n.own(step, within)
	with := func(other reach) { r = meet(r, other) }
	if n.values != nil {
		with(amongValues(n.values, step))
	}
	if n.ref != nil {
		with(n.ref.at(step, within, in, depth-1))
	}
	for _, x := range n.allOf {
		with(x.at(step, within, in, depth-1))
	}
	if n.anyOf != nil {
		with(among(n.anyOf, step, within, in, depth))
	}
	if n.oneOf != nil {
		with(among(n.oneOf, step, within, in, depth))
	}
	if n.cond != nil && (n.then != nil || n.other != nil) {
		branches := []*node{everything, everything}
		if n.then != nil {
			branches[0] = both([]*node{n.cond, n.then})
		}
		if n.other != nil {
			branches[1] = n.other
		}
		with(among(branches, step, within, in, depth))
	}
	if n.not != nil {
		r.described = true
	}
	return r
}

// own is what the node's own keywords say.
func (n *node) own(step Step, within Kinds) reach {
	kind := Object
	if step.IsIndex {
		kind = Array
	}
	if within&kind == 0 {
		return reach{described: true}
	}
	r := reach{possible: true}
	only := within == kind
	if step.IsIndex {
		a := n.arrays
		if r.described = a != nil || n.kinds != Anything; a == nil {
			return r
		}
		if i := step.Index; i < 0 || i >= a.max {
			r.possible = false
		} else {
			r.node = a.item(i)
		}
		r.required = only && step.Index < a.min
		return r.settle()
	}
	o := n.objects
	if o == nil {
		return r
	}
	r.described = o.properties != nil || o.patterns != nil || o.additional != nil
	r.open = o.open()
	var parts []*node
	if p := o.properties[step.Key]; p != nil {
		parts, r.named = append(parts, p), true
	}
	for _, p := range o.patterns {
		if p.pattern.Match(step.Key) {
			parts, r.named = append(parts, p.node), true
		}
	}
	if parts == nil && o.additional != nil {
		parts = append(parts, o.additional)
		// A map from any name to one kind of value declares no names, and none is unknown to it.
		r.named = o.properties == nil && o.patterns == nil && o.additional.verdict != never
	}
	if parts != nil {
		r.node = both(parts)
	}
	if o.propertyNames != nil {
		c := checker{}
		r.possible = c.accepts(o.propertyNames, step.Key)
	}
	r.required = only && slices.Contains(o.required, step.Key)
	return r.settle()
}

// open reports whether the schema explicitly allows properties that aren't declared.
func (o *objectRules) open() bool {
	return o != nil && (o.additional != nil && o.additional.verdict != never || o.unevaluated != nil && o.unevaluated.verdict != never)
}

// settle draws the conclusion of a schema that accepts nothing.
func (r reach) settle() reach {
	if r.node == nil {
		return r
	}
	switch r.node.verdict {
	case never:
		r.possible, r.named = false, false
	case always:
		r.node = nil
	}
	if !r.possible {
		r.required, r.node = false, nil
	}
	return r
}

// meet combines what two schemas say that both hold.
func meet(a, b reach) reach {
	r := reach{
		possible:  a.possible && b.possible,
		named:     a.named || b.named,
		required:  a.required || b.required,
		described: a.described || b.described,
		open:      a.open || b.open,
	}
	switch {
	case a.node == nil:
		r.node = b.node
	case b.node == nil:
		r.node = a.node
	default:
		r.node = both([]*node{a.node, b.node})
	}
	return r.settle()
}

// among is what alternatives declare, one of them being true. Those that the kinds of the whole node already exclude
// don't count, nor those that don't accept the value at hand.
func among(list []*node, step Step, within Kinds, in *any, depth int) reach {
	r := reach{required: true, described: true}
	var parts []*node
	open := false
	for _, x := range list {
		if x.possible()&within == 0 || in != nil && !(&checker{}).accepts(x, *in) {
			continue
		}
		part := x.at(step, within, in, depth-1)
		r.described = r.described && (part.described || !part.possible)
		r.required = r.required && part.required
		if !part.possible {
			continue
		}
		r.possible = true
		r.named = r.named || part.named
		r.open = r.open || part.open
		if part.node == nil {
			open = true
		}
		if part.node != nil {
			parts = append(parts, part.node)
		}
	}
	r.required = r.required && r.possible
	if r.possible && (!open || in != nil && parts != nil) {
		r.node = union(parts)
	}
	return r.settle()
}

// amongValues is what a list of values says.
func amongValues(values []any, step Step) reach {
	r := reach{required: true, described: true}
	var parts []any
	for _, v := range values {
		x, ok := stepInto(v, step)
		if !ok {
			r.required = false
			continue
		}
		r.possible, r.named = true, true
		if !slices.ContainsFunc(parts, func(y any) bool { return Equal(x, y) }) {
			parts = append(parts, x)
		}
	}
	r.required = r.required && r.possible
	if r.possible {
		r.node = constant(parts...)
	}
	return r
}

func stepInto(v any, step Step) (any, bool) {
	switch v := v.(type) {
	case map[string]any:
		if !step.IsIndex {
			x, ok := v[step.Key]
			return x, ok
		}
	case []any:
		if step.IsIndex && step.Index >= 0 && step.Index < len(v) {
			return v[step.Index], true
		}
	}
	return nil, false
}

// Kinds is the set of kinds that the schema may accept; it can be too large,
// never too small.
func (s *Schema) Kinds() Kinds { return s.ready().possible() }

func (n *node) possible() Kinds {
	if n.verdict == never {
		return 0
	}
	k := n.kinds
	if n.values != nil {
		k &= kindsOf(n.values)
	}
	if n.ref != nil {
		k &= n.ref.possible()
	}
	for _, x := range n.allOf {
		k &= x.possible()
	}
	for _, list := range [][]*node{n.anyOf, n.oneOf} {
		if list != nil {
			var of Kinds
			for _, x := range list {
				of |= x.possible()
			}
			k &= of
		}
	}
	if n.not != nil {
		k &^= n.not.fullKinds()
	}
	if n.cond != nil && (n.then != nil || n.other != nil) {
		then, other := n.cond.possible(), Anything&^n.cond.fullKinds()
		if n.then != nil {
			then &= n.then.possible()
		}
		if n.other != nil {
			other &= n.other.possible()
		}
		k &= then | other
	}
	return k
}

// fullKinds are kinds whose values the node accepts, all of them; the set can be too
// small, never too large.
func (n *node) fullKinds() Kinds {
	switch n.verdict {
	case never:
		return 0
	case always:
		return Anything
	}
	if n.values != nil || n.oneOf != nil || n.not != nil || n.cond != nil {
		return 0
	}
	k := n.kinds
	if n.numbers != nil {
		k &^= Number
	}
	if r := n.strings; r != nil && (r.pattern != nil || r.size != anySize || r.valid != nil) {
		k &^= String
	}
	if n.arrays != nil {
		k &^= Array
	}
	if n.objects != nil {
		k &^= Object
	}
	if n.ref != nil {
		k &= n.ref.fullKinds()
	}
	for _, x := range n.allOf {
		k &= x.fullKinds()
	}
	if n.anyOf != nil {
		var of Kinds
		for _, x := range n.anyOf {
			of |= x.fullKinds()
		}
		k &= of
	}
	return k
}

// Properties are the names that the schema declares for properties of an
// object, sorted; also those of its parts and alternatives.
func (s *Schema) Properties() []string { return s.ready().declared() }

func (n *node) declared() []string {
	names := map[string]bool{}
	seen := map[*node]bool{}
	var collect func(n *node)
	collect = func(n *node) {
		if seen[n] {
			return
		}
		seen[n] = true
		if n.objects != nil {
			for _, name := range n.objects.names {
				if n.objects.properties[name].verdict != never {
					names[name] = true
				}
			}
		}
		for _, v := range n.values {
			if m, ok := v.(map[string]any); ok {
				for name := range m {
					names[name] = true
				}
			}
		}
		not := n.not
		n.inPlace(func(x *node) {
			if x != not {
				collect(x)
			}
		})
	}
	collect(n)
	return slices.Sorted(maps.Keys(names))
}

// Required are the names that every accepted object has, sorted, if the schema declares so directly, by its parts, or
// by all of its alternatives.
func (s *Schema) Required() []string {
	return slices.Sorted(maps.Keys(s.ready().needed()))
}

func (n *node) needed() map[string]bool {
	names := map[string]bool{}
	join := func(more map[string]bool) { maps.Copy(names, more) }
	if n.objects != nil {
		for _, name := range n.objects.required {
			names[name] = true
		}
	}
	if n.ref != nil {
		join(n.ref.needed())
	}
	for _, x := range n.allOf {
		join(x.needed())
	}
	for _, list := range [][]*node{n.anyOf, n.oneOf} {
		var common map[string]bool
		for _, x := range list {
			if x.possible()&n.kinds&Object == 0 {
				continue
			}
			more := x.needed()
			if common == nil {
				common = more
			}
			maps.DeleteFunc(common, func(name string, _ bool) bool { return !more[name] })
		}
		join(common)
	}
	return names
}

// Closed reports whether an accepted object can have no properties but the
// declared ones: additionalProperties is false, here, in a part, or in every
// alternative.
func (s *Schema) Closed() bool { return s.ready().closed() }

func (n *node) closed() bool {
	if n.verdict == never {
		return true
	}
	if o := n.objects; o != nil {
		if len(o.patterns) == 0 && o.additional != nil && o.additional.verdict == never {
			return true
		}
		if o.unevaluated != nil && o.unevaluated.verdict == never && n.evaluatesNamesOnly() {
			return true
		}
	}
	if n.values != nil || n.ref != nil && n.ref.closed() || slices.ContainsFunc(n.allOf, (*node).closed) {
		return true
	}
	for _, list := range [][]*node{n.anyOf, n.oneOf} {
		if list != nil && !slices.ContainsFunc(list, func(x *node) bool { return x.possible()&n.kinds&Object != 0 && !x.closed() }) {
			return true
		}
	}
	return false
}
