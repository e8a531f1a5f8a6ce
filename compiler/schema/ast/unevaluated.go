package ast

import "slices"

// EvaluatesNamesOnly reports whether nothing but properties that the node or its
// parts declare by name can count as evaluated.
func (n *Node) EvaluatesNamesOnly() bool {
	names := n.Objects == nil || n.Objects.Additional == nil && n.Objects.Patterns == nil
	n.InPlace(func(x *Node) {
		names = names && (x == n.Not || (x.Objects == nil || x.Objects.Unevaluated == nil) && x.EvaluatesNamesOnly())
	})
	return names
}

// unevaluated checks every part that no other keyword has evaluated, in order.
func (c *Checker) unevaluated(n *Node, v any) bool {
	switch v := v.(type) {
	case map[string]any:
		if n.Objects == nil || !n.Objects.Unevaluated.Limits() {
			return true
		}
		seen := evaluated{names: map[string]bool{}}
		c.evaluate(n, v, &seen, true)
		for _, name := range sortedKeys(v) {
			if !seen.all && !seen.names[name] &&
				!c.undeclared(n, "unevaluatedProperties", n.Objects.Unevaluated, nil, name,
					v[name]) {
				return false
			}
		}
	case []any:
		if n.Arrays == nil || !n.Arrays.Unevaluated.Limits() {
			return true
		}
		seen := evaluated{items: map[int]bool{}}
		c.evaluate(n, v, &seen, true)
		for i, x := range v {
			if !seen.all && i >= seen.first && !seen.items[i] &&
				!c.part(n.Arrays.Unevaluated, Step{Index: i, IsIndex: true}, x) {
				return false
			}
		}
	}
	return true
}

// evaluated collects what has been evaluated: every part, the first items, and
// single parts.
type evaluated struct {
	all   bool
	first int
	names map[string]bool
	items map[int]bool
}

// evaluate collects what a node, which accepts the value, evaluates of it. Of
// the node that asks, its own unevaluated keyword doesn't count.
func (c *Checker) evaluate(n *Node, v any, seen *evaluated, asking bool) {
	if seen.all || c.Spent {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		if o := n.Objects; o != nil {
			if o.Additional != nil || o.Unevaluated != nil && !asking {
				seen.all = true
				return
			}
			for name := range v {
				if o.Properties[name] != nil || slices.ContainsFunc(o.Patterns,
					func(p PatternRule) bool { return c.Matches(p.Pattern, name) }) {
					seen.names[name] = true
				}
			}
			for _, d := range o.Needs {
				if _, ok := v[d.Name]; ok && d.Node != nil {
					c.evaluate(d.Node, v, seen, false)
				}
			}
		}
	case []any:
		if a := n.Arrays; a != nil {
			if a.Rest != nil || a.Unevaluated != nil && !asking {
				seen.all = true
				return
			}
			seen.first = max(seen.first, len(a.Prefix))
			if a.Contains != nil {
				for i, x := range v {
					if c.Accepts(a.Contains, x) {
						seen.items[i] = true
					}
				}
			}
		}
	}
	into := func(x *Node) {
		if x != nil && c.Accepts(x, v) {
			c.evaluate(x, v, seen, false)
		}
	}
	into(n.Ref)
	for _, list := range [][]*Node{n.AllOf, n.AnyOf, n.OneOf} {
		for _, x := range list {
			into(x)
		}
	}
	if n.Cond != nil {
		if c.Accepts(n.Cond, v) {
			c.evaluate(n.Cond, v, seen, false)
			into(n.Then)
		} else {
			into(n.Other)
		}
	}
}
