package analyzer

import (
	"github.com/obelus-dev/obelus/compiler/source"
)

// headOf is the first line of a place: what a person can look at.
func headOf(s source.Span) source.Span { return s.Head() }

// placeAt follows a path from a node, whose key is given where it has one, into the text. The place of a mapping or
// list that isn't in one line with its key is that key, or else its first line.
func placeAt(key, n *source.Node, path []any) source.Span {
	for _, step := range path {
		var next *source.Node
		switch step := step.(type) {
		case string:
			for i := range n.Fields {
				if n.Fields[i].Key.Text == step {
					key, next = n.Fields[i].Key, n.Fields[i].Value
				}
			}
		case int:
			if step < len(n.Items) {
				key, next = nil, n.Items[step]
			}
		}
		if next == nil {
			break
		}
		n = next
	}
	span := n.Span()
	if key != nil && (n.Kind == source.Object || n.Kind == source.Array) && key.Span().From().Line != span.To().Line {
		return key.Span()
	}
	return headOf(span)
}
