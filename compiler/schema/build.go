package schema

import (
	"maps"
	"slices"

	"github.com/obelus-dev/obelus/compiler/schema/ast"
)

// ObjectOf is the schema of an object that is put together from parts: each
// property that is there is what its schema accepts, those that are required
// are there, and there are no others. A nil schema accepts everything.
func ObjectOf(properties map[string]*Schema, required []string) *Schema {
	o := &ast.ObjectRules{Size: ast.AnySize, Properties: map[string]*ast.Node{},
		Names: slices.Sorted(maps.Keys(properties)), Additional: ast.Nothing}
	for _, name := range o.Names {
		part := properties[name].ready()
		if part.Verdict == ast.Never && slices.Contains(required, name) {
			return of(ast.Nothing)
		}
		o.Properties[name] = part
	}
	o.Required = slices.Sorted(slices.Values(required))
	return of(&ast.Node{Unit: ast.Detached, Kinds: Object, Objects: o})
}

// ListOf is the schema of a list of least to most items, whose items the schema accepts; most is -1 where there may be
// any number.
func ListOf(item *Schema, least, most int) *Schema {
	if most < 0 {
		most = ast.MaxCount
	}
	a := ast.AnyArray()
	a.Size, a.Rest = ast.Size{Min: least, Max: most}, item.ready()
	return of(&ast.Node{Unit: ast.Detached, Kinds: Array, Arrays: a})
}

// TupleOf is the schema of a list that is put together from its items.
func TupleOf(items ...*Schema) *Schema {
	a := ast.AnyArray()
	a.Size, a.Prefix = ast.Size{Min: len(items), Max: len(items)}, nodesOf(items)
	if slices.ContainsFunc(a.Prefix, func(n *ast.Node) bool { return n.Verdict == ast.Never }) {
		return of(ast.Nothing)
	}
	return of(&ast.Node{Unit: ast.Detached, Kinds: Array, Arrays: a})
}

// OfKinds is the schema of all values of some kinds.
func OfKinds(kinds Kinds) *Schema {
	switch kinds {
	case Anything:
		return nil
	case 0:
		return of(ast.Nothing)
	}
	return of(&ast.Node{Unit: ast.Detached, Kinds: kinds})
}

// Containing is the schema of all values that have something at a path, which
// the inner schema accepts; what else is there doesn't matter.
func Containing(path []Step, inner *Schema) *Schema {
	n := inner.ready()
	for _, step := range slices.Backward(path) {
		if step.IsIndex {
			a := ast.AnyArray()
			a.Min = step.Index + 1
			for range step.Index {
				a.Prefix = append(a.Prefix, ast.Everything)
			}
			a.Prefix = append(a.Prefix, n)
			n = &ast.Node{Unit: ast.Detached, Kinds: Array, Arrays: a}
			continue
		}
		n = &ast.Node{Unit: ast.Detached, Kinds: Object, Objects: &ast.ObjectRules{
			Size: ast.AnySize, Properties: map[string]*ast.Node{step.Key: n}, Names: []string{step.Key},
			Required: []string{step.Key}}}
	}
	return of(n)
}

// AsDeclared is the schema less what it only leaves open: a property that it
// names is there, required or not, and where it names some and doesn't speak of
// others, there are no others. It accepts nothing that the schema doesn't, and is
// what a schema means when its author describes what a tool gives. Of what is external to a plan it is
// left open which of the properties are there that aren't required.
func (s *Schema) AsDeclared(external bool) *Schema {
	n := s.ready()
	shaped := shape(n, maxShape, shaping{map[*ast.Node]bool{}, !external})
	if shaped.Verdict == ast.Always {
		return s
	}
	return of(ast.Both([]*ast.Node{n, shaped}))
}

// maxShape is how many levels of a schema are taken as declared.
const maxShape = 8

// A shaping is how nodes are taken as declared.
type shaping struct {
	above    map[*ast.Node]bool // those that are gone through
	allNames bool               // with every property that they name
}

// shape is what taking a node as declared adds to it.
func shape(n *ast.Node, depth int, by shaping) *ast.Node {
	if depth == 0 || by.above[n] || n.Verdict != ast.Depends {
		return ast.Everything
	}
	by.above[n] = true
	defer delete(by.above, n)
	var parts []*ast.Node
	if n.Ref != nil {
		parts = append(parts, shape(n.Ref, depth, by))
	}
	for _, x := range n.AllOf {
		parts = append(parts, shapeOfPart(x, depth, by))
	}
	for _, list := range [][]*ast.Node{n.AnyOf, n.OneOf} {
		if list == nil {
			continue
		}
		var options []*ast.Node
		for _, x := range list {
			options = append(options, ast.Both([]*ast.Node{x, shape(x, depth-1, by)}))
		}
		parts = append(parts, ast.Union(options))
	}
	alone := n.Ref == nil && n.AllOf == nil && n.AnyOf == nil && n.OneOf == nil && n.Cond == nil
	if n.Objects != nil {
		parts = append(parts, shapeOfObject(n.Objects, depth-1, by, alone))
	}
	if a := n.Arrays; a != nil && a.Rest != nil && len(a.Prefix) == 0 {
		if item := shape(a.Rest, depth-1, by); item.Verdict != ast.Always {
			list := ast.AnyArray()
			list.Rest = item
			parts = append(parts, &ast.Node{Unit: ast.Detached, Kinds: Anything, Arrays: list})
		}
	}
	return ast.Both(parts)
}

// shapeOfPart is the shape of a part of an allOf, whose siblings may name more.
func shapeOfPart(n *ast.Node, depth int, by shaping) *ast.Node {
	if n.Objects == nil || n.Verdict != ast.Depends {
		return ast.Everything
	}
	return shapeOfObject(n.Objects, depth-1, by, false)
}

func shapeOfObject(o *ast.ObjectRules, depth int, by shaping, alone bool) *ast.Node {
	if len(o.Names) == 0 {
		return ast.Everything
	}
	declared := &ast.ObjectRules{Size: ast.AnySize, Properties: map[string]*ast.Node{}, Names: o.Names}
	for _, name := range o.Names {
		p := o.Properties[name]
		declared.Properties[name] = shape(p, depth, by)
		if by.allNames && p.Verdict != ast.Never {
			declared.Required = append(declared.Required, name)
		}
	}
	if alone && o.Additional == nil && o.Unevaluated == nil && o.Patterns == nil {
		declared.Additional = ast.Nothing
		for _, name := range o.Required {
			if o.Properties[name] == nil {
				declared.Additional = nil // it asks for more than it names
			}
		}
	}
	says := declared.Additional != nil || declared.Required != nil
	for _, p := range declared.Properties {
		says = says || p.Verdict != ast.Always
	}
	if !says {
		return ast.Everything
	}
	return &ast.Node{Unit: ast.Detached, Kinds: Anything, Objects: declared}
}
