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
	if a := n.Arrays; a != nil {
		z.Narrow(a.Size)
		if a.Rest != nil && a.Rest.Verdict == ast.Never {
			z.Narrow(ast.Size{Min: 0, Max: len(a.Prefix)})
		}
	}
	if n.Values != nil {
		hull := ast.Size{Min: ast.MaxCount}
		for _, v := range n.Values {
			if list, ok := v.([]any); ok {
				hull = wider(hull, ast.Size{Min: len(list), Max: len(list)})
			}
		}
		if hull.Min <= hull.Max {
			z.Narrow(hull)
		}
	}
	narrower := func(a, b ast.Size) ast.Size { a.Narrow(b); return a }
	return ast.Combined(n, z, narrower, wider, func(x *ast.Node) (ast.Size, bool) {
		return lengths(x, depth-1), x.Possible()&Array != 0
	})
}

func wider(a, b ast.Size) ast.Size { return ast.Size{Min: min(a.Min, b.Min), Max: max(a.Max, b.Max)} }
