package schema

import (
	"maps"
	"slices"

	"github.com/obelus-dev/obelus/compiler/schema/ast"
	"github.com/obelus-dev/obelus/compiler/schema/regex"
)

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

	in *ast.Node // where step Depth goes wrong; nil when no step does
}

// Known are the names that are declared where step Depth goes wrong, sorted.
// They are collected anew each time.
func (p Place) Known() []string {
	if p.in == nil {
		return nil
	}
	return declaredBy(p.in)
}

// At follows a path into the schema: through properties, patternProperties,
// additionalProperties, items, prefixItems, dependencies, references and
// combinations. What it says errs on the side of the possible.
func (s *Schema) At(path []Step) Place { return s.at(path, nil) }

// Part is At for a property.
func (s *Schema) Part(name string) Place { return s.At([]Step{Key(name)}) }

// Item is At for the items of a list that are alike.
func (s *Schema) Item() Place { return s.At([]Step{Index(0)}) }

// AtIn is At for a value at hand that the schema accepts: of alternatives only those count
// that accept it, and of these only what they say.
func (s *Schema) AtIn(value any, path []Step) Place { return s.at(path, &value) }

func (s *Schema) at(path []Step, in *any) Place {
	p := Place{Possible: true, Named: true, Required: true, Depth: len(path)}
	n := s.ready()
	for i, step := range path {
		r := at(n, step, Anything, in, ast.MaxNesting)
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
			return Place{Schema: of(ast.Nothing), Depth: p.Depth, in: p.in}
		}
		if n = r.node; n == nil {
			n = ast.Everything
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
	node      *ast.Node // nil: nothing is declared for it
	possible  bool
	named     bool // declared by this name
	required  bool
	described bool // something was said of what is here
	open      bool // other names than the declared ones are explicitly allowed
}

// at takes one step from a node, of whose values only those of some kinds count, or only the
// one that is at hand.
func at(n *ast.Node, step Step, within Kinds, in *any, depth int) reach {
	if n.Verdict == ast.Never {
		return reach{described: true}
	}
	if n.Verdict == ast.Always || depth < 0 {
		return reach{possible: true}
	}
	within &= n.Possible()
	r := own(n, step, within)
	with := func(other reach) { r = meet(r, other) }
	if n.Values != nil {
		with(amongValues(n.Values, step))
	}
	if n.Ref != nil {
		with(at(n.Ref, step, within, in, depth-1))
	}
	for _, x := range n.AllOf {
		with(at(x, step, within, in, depth-1))
	}
	if n.AnyOf != nil {
		with(among(n.AnyOf, step, within, in, depth))
	}
	if n.OneOf != nil {
		with(among(n.OneOf, step, within, in, depth))
	}
	if n.Cond != nil && (n.Then != nil || n.Other != nil) {
		branches := []*ast.Node{ast.Everything, ast.Everything}
		if n.Then != nil {
			branches[0] = ast.Both([]*ast.Node{n.Cond, n.Then})
		}
		if n.Other != nil {
			branches[1] = n.Other
		}
		with(among(branches, step, within, in, depth))
	}
	if n.Not != nil {
		r.described = true
	}
	return r
}

// own is what the node's own keywords say.
func own(n *ast.Node, step Step, within Kinds) reach {
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
		a := n.Arrays
		if r.described = a != nil || n.Kinds != Anything; a == nil {
			return r
		}
		if i := step.Index; i < 0 || i >= a.Max {
			r.possible = false
		} else {
			r.node = a.Item(i)
		}
		r.required = only && step.Index < a.Min
		return r.settle()
	}
	o := n.Objects
	if o == nil {
		return r
	}
	r.described = o.Properties != nil || o.Patterns != nil || o.Additional != nil
	// It explicitly allows properties that aren't declared.
	r.open = o.Additional != nil && o.Additional.Verdict != ast.Never ||
		o.Unevaluated != nil && o.Unevaluated.Verdict != ast.Never
	parts := o.Judges(o.Properties[step.Key], func(p *regex.Pattern) bool { return p.Match(step.Key) })
	if parts != nil {
		// A map from any name to one kind of value declares no names, and none is unknown to it.
		r.named = parts[0] != o.Additional ||
			o.Properties == nil && o.Patterns == nil && o.Additional.Verdict != ast.Never
	}
	if parts != nil {
		r.node = ast.Both(parts)
	}
	if o.PropertyNames != nil {
		r.possible = ast.Accepts(o.PropertyNames, step.Key)
	}
	r.required = only && slices.Contains(o.Required, step.Key)
	return r.settle()
}

// settle draws the conclusion of a schema that accepts nothing.
func (r reach) settle() reach {
	if r.node == nil {
		return r
	}
	switch r.node.Verdict {
	case ast.Never:
		r.possible, r.named = false, false
	case ast.Always:
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
		r.node = ast.Both([]*ast.Node{a.node, b.node})
	}
	return r.settle()
}

// among is what alternatives declare, one of them being true. Those that the kinds of the whole node already exclude
// don't count, nor those that don't accept the value at hand.
func among(list []*ast.Node, step Step, within Kinds, in *any, depth int) reach {
	r := reach{required: true, described: true}
	var parts []*ast.Node
	open := false
	for _, x := range list {
		if x.Possible()&within == 0 || in != nil && !ast.Accepts(x, *in) {
			continue
		}
		part := at(x, step, within, in, depth-1)
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
		r.node = ast.Union(parts)
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
		parts = append(parts, x)
	}
	r.required = r.required && r.possible
	if r.possible {
		r.node = ast.Constant(ast.Distinct(parts)...)
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
func (s *Schema) Kinds() Kinds { return s.ready().Possible() }

// Properties are the names that the schema declares for properties of an
// object, sorted; also those of its parts and alternatives.
func (s *Schema) Properties() []string { return declaredBy(s.ready()) }

func declaredBy(n *ast.Node) []string {
	names := map[string]bool{}
	seen := map[*ast.Node]bool{}
	var collect func(n *ast.Node)
	collect = func(n *ast.Node) {
		if seen[n] {
			return
		}
		seen[n] = true
		if n.Objects != nil {
			for _, name := range n.Objects.Names {
				if n.Objects.Properties[name].Verdict != ast.Never {
					names[name] = true
				}
			}
		}
		for _, v := range n.Values {
			if m, ok := v.(map[string]any); ok {
				for name := range m {
					names[name] = true
				}
			}
		}
		not := n.Not
		n.InPlace(func(x *ast.Node) {
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
	return slices.Sorted(maps.Keys(neededBy(s.ready())))
}

func neededBy(n *ast.Node) map[string]bool {
	names := map[string]bool{}
	if n.Objects != nil {
		for _, name := range n.Objects.Required {
			names[name] = true
		}
	}
	both := func(a, b map[string]bool) map[string]bool { maps.Copy(a, b); return a }
	either := func(a, b map[string]bool) map[string]bool {
		maps.DeleteFunc(a, func(name string, _ bool) bool { return !b[name] })
		return a
	}
	return ast.Combined(n, names, both, either, func(x *ast.Node) (map[string]bool, bool) {
		return neededBy(x), x.Possible()&n.Kinds&Object != 0
	})
}

// Closed reports whether an accepted object can have no properties but the
// declared ones: additionalProperties is false, here, in a part, or in every
// alternative.
func (s *Schema) Closed() bool { return isClosed(s.ready()) }

func isClosed(n *ast.Node) bool {
	if n.Verdict == ast.Never {
		return true
	}
	if o := n.Objects; o != nil {
		if len(o.Patterns) == 0 && o.Additional != nil && o.Additional.Verdict == ast.Never {
			return true
		}
		if o.Unevaluated != nil && o.Unevaluated.Verdict == ast.Never && n.EvaluatesNamesOnly() {
			return true
		}
	}
	return ast.Combined(n, n.Values != nil, func(a, b bool) bool { return a || b },
		func(a, b bool) bool { return a && b },
		func(x *ast.Node) (bool, bool) { return isClosed(x), x.Possible()&n.Kinds&Object != 0 })
}

// Alternatives are what the first union in the schema makes of it: every value that it accepts fits one of them at
// least. A schema without a union, or with one that can't be taken apart, has none.
func (s *Schema) Alternatives(steps int) (all []*Schema) {
	rest, options := union(s.ready(), ast.MaxNesting)
	for _, option := range options {
		if one := of(ast.Both([]*ast.Node{rest, option})); !Empty(one, steps, &steps) {
			all = append(all, one)
		}
	}
	return all
}

// union is a node without its first union, and the alternatives of that.
func union(n *ast.Node, depth int) (rest *ast.Node, options []*ast.Node) {
	if depth == 0 || n.Verdict != ast.Depends || n.Values != nil || n.Objects != nil && n.Objects.Unevaluated != nil {
		return n, nil
	}
	rest = &ast.Node{Unit: ast.Detached, Kinds: n.Kinds, Ref: n.Ref, AllOf: n.AllOf, AnyOf: n.AnyOf, OneOf: n.OneOf,
		Not: n.Not, Cond: n.Cond, Then: n.Then, Other: n.Other,
		Numbers: n.Numbers, Strings: n.Strings, Arrays: n.Arrays, Objects: n.Objects}
	switch {
	case len(n.OneOf) > 1:
		rest.OneOf = nil
		return rest, n.OneOf
	case len(n.AnyOf) > 1:
		rest.AnyOf = nil
		return rest, n.AnyOf
	case n.Ref != nil:
		rest.Ref, options = union(n.Ref, depth-1)
	}
	rest.AllOf = slices.Clone(n.AllOf)
	for i := 0; i < len(rest.AllOf) && options == nil; i++ {
		rest.AllOf[i], options = union(rest.AllOf[i], depth-1)
	}
	return rest, options
}
