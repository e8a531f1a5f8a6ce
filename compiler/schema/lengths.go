package schema

import (
	"github.com/obelus-dev/obelus/compiler/schema/ast"
)

// Lengths are how many items the lists among the values that the schema accepts may have, at least and at most, by its
// keywords; most is -1 where they don't bound it.
func (s *Schema) Lengths() (least, most int) {
	z := lengths(s.ready(), maxShape)
	if z.Max == ast.MaxCount {
		return z.Min, -1
	}
	return z.Min, max(z.Min, z.Max)
}

func lengths(n *ast.Node, depth int) ast.Size {
	z := ast.AnySize
	if depth == 0 || n.Verdict != ast.Depends {
		return z
	}
	if n.Values != nil {
		z = across(n.Values, func(v any) (ast.Size, bool) {
			list, ok := v.([]any)
			return ast.Size{Min: len(list), Max: len(list)}, ok
		})
	}
	if a := n.Arrays; a != nil {
		z.Narrow(a.Size)
		if a.Rest != nil && a.Rest.Verdict == ast.Never {
			z.Narrow(ast.Size{Min: 0, Max: len(a.Prefix)})
		}
	}
	if n.Ref != nil {
		z.Narrow(lengths(n.Ref, depth-1))
	}
	for _, x := range n.AllOf {
		z.Narrow(lengths(x, depth-1))
	}
	for _, list := range [][]*ast.Node{n.AnyOf, n.OneOf} {
		if list != nil {
			z.Narrow(across(list, func(x *ast.Node) (ast.Size, bool) {
				return lengths(x, depth-1), x.Possible()&Array != 0
			}))
		}
	}
	return z
}

// across are the sizes of those of several that have one.
func across[T any](all []T, of func(T) (ast.Size, bool)) ast.Size {
	hull, some := ast.Size{Min: ast.MaxCount}, false
	for _, one := range all {
		if z, ok := of(one); ok {
			hull, some = ast.Size{Min: min(hull.Min, z.Min), Max: max(hull.Max, z.Max)}, true
		}
	}
	if !some {
		return ast.AnySize
	}
	return hull
}
