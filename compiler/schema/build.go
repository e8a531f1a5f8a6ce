package schema

import (
	"maps"
	"slices"
)

// ObjectOf is the schema of an object that is put together from parts: each
// property that is there is what its schema accepts, those that are required
// are there, and there are no others. A nil schema accepts everything.
func ObjectOf(properties map[string]*Schema, required []string) *Schema {
	o := &objectRules{size: anySize, properties: map[string]*node{}, names: slices.Sorted(maps.Keys(properties)), additional: nothing}
	for _, name := range o.names {
		part := properties[name].ready()
		if part.verdict == never && slices.Contains(required, name) {
			return of(nothing)
		}
		o.properties[name] = part
	}
	o.required = slices.Sorted(slices.Values(required))
	return of(&node{unit: detached, kinds: Object, objects: o})
}

// ListOf is the schema of a list of least to most items, whose items the schema accepts; most is -1 where there may be
// any number.
func ListOf(item *Schema, least, most int) *Schema {
	if most < 0 {
		most = maxCount
	}
	a := anyArray()
	a.size, a.rest = size{least, most}, item.ready()
	return of(&node{unit: detached, kinds: Array, arrays: a})
}

// TupleOf is the schema of a list that is put together from its items.
func TupleOf(items ...*Schema) *Schema {
	a := anyArray()
	a.size, a.prefix = size{len(items), len(items)}, nodesOf(items)
	if slices.ContainsFunc(a.prefix, func(n *node) bool { return n.verdict == never }) {
		return of(nothing)
	}
	return of(&node{unit: detached, kinds: Array, arrays: a})
}

// OfKinds is the schema of all values of some kinds.
func OfKinds(kinds Kinds) *Schema {
	switch kinds {
	case Anything:
		return nil
	case 0:
		return of(nothing)
	}
	return of(&node{unit: detached, kinds: kinds})
}

// Containing is the schema of all values that have something at a path, which
// the inner schema accepts; what else is there doesn't matter.
func Containing(path []Step, inner *Schema) *Schema {
	n := inner.ready()
	for _, step := range slices.Backward(path) {
		if step.IsIndex {
			a := anyArray()
			a.min = step.Index + 1
			for range step.Index {
				a.prefix = append(a.prefix, everything)
			}
			a.prefix = append(a.prefix, n)
			n = &node{unit: detached, kinds: Array, arrays: a}
			continue
		}
		n = &node{unit: detached, kinds: Object, objects: &objectRules{
			size: anySize, properties: map[string]*node{step.Key: n}, names: []string{step.Key}, required: []string{step.Key}}}
	}
	return of(n)
}

// AsDeclared is the schema less what it only leaves open: a property that it
// names is there, required or not, and where it names some and doesn't speak of
// others, there are no others. It accepts nothing that the schema doesn't, and is
// what a schema means when its author describes what a tool gives.
func (s *Schema) AsDeclared() *Schema { return s.shaped(true) }

// AsNamed is [Schema.AsDeclared] that leaves open which of the properties that aren't
// required are there: what a schema means that describes what is brought to a plan.
func (s *Schema) AsNamed() *Schema { return s.shaped(false) }

func (s *Schema) shaped(allNames bool) *Schema {
	n := s.ready()
	shaped := n.shape(maxShape, shaping{map[*node]bool{}, allNames})
	if shaped.verdict == always {
		return s
	}
	return of(both([]*node{n, shaped}))
}

// maxShape is how many levels of a schema are taken as declared.
const maxShape = 8

// A shaping is how nodes are taken as declared.
type shaping struct {
	above    map[*node]bool // those that are gone through
	allNames bool           // with every property that they name
}

// shape is what taking a node as declared adds to it.
func (n *node) shape(depth int, by shaping) *node {
	if depth == 0 || by.above[n] || n.verdict != depends {
		return everything
	}
	by.above[n] = true
	defer delete(by.above, n)
	var parts []*node
	if n.ref != nil {
		parts = append(parts, n.ref.shape(depth, by))
	}
	for _, x := range n.allOf {
		parts = append(parts, x.required(depth, by))
	}
	for _, list := range [][]*node{n.anyOf, n.oneOf} {
		if list == nil {
			continue
		}
		var options []*node
		for _, x := range list {
			options = append(options, both([]*node{x, x.shape(depth-1, by)}))
		}
		parts = append(parts, union(options))
	}
	alone := n.ref == nil && n.allOf == nil && n.anyOf == nil && n.oneOf == nil && n.cond == nil
	if n.objects != nil {
		parts = append(parts, n.objects.shape(depth-1, by, alone))
	}
	if a := n.arrays; a != nil && a.rest != nil && len(a.prefix) == 0 {
		if item := a.rest.shape(depth-1, by); item.verdict != always {
			list := anyArray()
			list.rest = item
			parts = append(parts, &node{unit: detached, kinds: Anything, arrays: list})
		}
	}
	return both(parts)
}

// required is the shape of a part of an allOf, whose siblings may name more.
func (n *node) required(depth int, by shaping) *node {
	if n.objects == nil || n.verdict != depends {
		return everything
	}
	return n.objects.shape(depth-1, by, false)
}

func (o *objectRules) shape(depth int, by shaping, alone bool) *node {
	if len(o.names) == 0 {
		return everything
	}
	declared := &objectRules{size: anySize, properties: map[string]*node{}, names: o.names}
	for _, name := range o.names {
		p := o.properties[name]
		declared.properties[name] = p.shape(depth, by)
		if by.allNames && p.verdict != never {
			declared.required = append(declared.required, name)
		}
	}
	if alone && o.additional == nil && o.unevaluated == nil && o.patterns == nil && len(o.required) <= len(o.names) {
		declared.additional = nothing
		for _, name := range o.required {
			if o.properties[name] == nil {
				declared.additional = nil // it asks for more than it names
			}
		}
	}
	says := declared.additional != nil || declared.required != nil
	for _, p := range declared.properties {
		says = says || p.verdict != always
	}
	if !says {
		return everything
	}
	return &node{unit: detached, kinds: Anything, objects: declared}
}
