package schema

import "slices"

// evaluatesNamesOnly reports whether nothing but properties that the node or its
// parts declare by name can count as evaluated.
func (n *node) evaluatesNamesOnly() bool {
	names := n.objects == nil || n.objects.additional == nil && n.objects.patterns == nil
	n.inPlace(func(x *node) {
		names = names && (x == n.not || (x.objects == nil || x.objects.unevaluated == nil) && x.evaluatesNamesOnly())
	})
	return names
}

// unevaluated checks every part that no other keyword has evaluated, in order.
func (c *checker) unevaluated(n *node, v any) bool {
	switch v := v.(type) {
	case map[string]any:
		if n.objects == nil || !n.objects.unevaluated.limits() {
			return true
		}
		seen := evaluated{names: map[string]bool{}}
		c.evaluate(n, v, &seen, true)
		for _, name := range sortedKeys(v) {
			if !seen.all && !seen.names[name] && !c.undeclared(n, "unevaluatedProperties", n.objects.unevaluated, nil, name,
				v[name]) {
				return false
			}
		}
	case []any:
		if n.arrays == nil || !n.arrays.unevaluated.limits() {
			return true
		}
		seen := evaluated{items: map[int]bool{}}
		c.evaluate(n, v, &seen, true)
		for i, x := range v {
			if !seen.all && i >= seen.first && !seen.items[i] &&
				!c.part(n.arrays.unevaluated, Step{Index: i, IsIndex: true}, x) {
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
func (c *checker) evaluate(n *node, v any, seen *evaluated, asking bool) {
	if seen.all || c.spent {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		if o := n.objects; o != nil {
			if o.additional != nil || o.unevaluated != nil && !asking {
				seen.all = true
				return
			}
			for name := range v {
				if o.properties[name] != nil || slices.ContainsFunc(o.patterns,
					func(p patternRule) bool { return c.matches(p.pattern, name) }) {
					seen.names[name] = true
				}
			}
			for _, d := range o.needs {
				if _, ok := v[d.name]; ok && d.node != nil {
					c.evaluate(d.node, v, seen, false)
				}
			}
		}
	case []any:
		if a := n.arrays; a != nil {
			if a.rest != nil || a.unevaluated != nil && !asking {
				seen.all = true
				return
			}
			seen.first = max(seen.first, len(a.prefix))
			if a.contains != nil {
				for i, x := range v {
					if c.accepts(a.contains, x) {
						seen.items[i] = true
					}
				}
			}
		}
	}
	into := func(x *node) {
		if x != nil && c.accepts(x, v) {
			c.evaluate(x, v, seen, false)
		}
	}
	into(n.ref)
	for _, list := range [][]*node{n.allOf, n.anyOf, n.oneOf} {
		for _, x := range list {
			into(x)
		}
	}
	if n.cond != nil {
		if c.accepts(n.cond, v) {
			c.evaluate(n.cond, v, seen, false)
			into(n.then)
		} else {
			into(n.other)
		}
	}
}
