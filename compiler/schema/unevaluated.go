package schema

import "slices"

// otherProperties writes unevaluatedProperties as additionalProperties beside
// all the names that count as evaluated, where these are the same for every
// object. Where they depend on the object it only names the keyword.
func (n *node) otherProperties() (rules *objectRules, keyword string) {
	if n.objects == nil || n.objects.unevaluated == nil || n.objects.unevaluated.verdict == always {
		return nil, ""
	}
	e := evaluation{fixed: true}
	e.properties(n, true)
	switch {
	case e.all:
		return nil, ""
	case !e.fixed:
		return nil, "unevaluatedProperties"
	}
	slices.Sort(e.names)
	rules = &objectRules{size: anySize, names: slices.Compact(e.names), patterns: e.patterns,
		additional: n.objects.unevaluated, properties: map[string]*node{}}
	for _, name := range rules.names {
		rules.properties[name] = everything
	}
	return rules, ""
}

// otherItems does the same for unevaluatedItems and items.
func (n *node) otherItems() (rules *arrayRules, keyword string) {
	if n.arrays == nil || n.arrays.unevaluated == nil || n.arrays.unevaluated.verdict == always {
		return nil, ""
	}
	e := evaluation{fixed: true}
	e.items(n, true)
	switch {
	case e.all:
		return nil, ""
	case !e.fixed:
		return nil, "unevaluatedItems"
	}
	rules = anyArray(false)
	rules.rest = n.arrays.unevaluated
	for range e.prefix {
		rules.prefix = append(rules.prefix, everything)
	}
	return rules, ""
}

// evaluatesNamesOnly reports whether nothing but properties that the node or its
// parts declare by name can count as evaluated.
func (n *node) evaluatesNamesOnly() bool {
	e := evaluation{fixed: true}
	e.properties(n, true)
	return !e.all && !e.open && e.patterns == nil
}

// An evaluation is what a node and its parts evaluate, whatever the value.
type evaluation struct {
	all      bool
	fixed    bool // it doesn't depend on the value
	open     bool // on some values it is more than the names that the parts declare
	names    []string
	patterns []patternRule
	prefix   int
}

func (e *evaluation) properties(n *node, asking bool) {
	if o := n.objects; o != nil {
		if o.additional != nil || o.unevaluated != nil && !asking {
			e.all = true
			return
		}
		e.names = append(e.names, o.names...)
		for _, x := range o.patterns {
			e.patterns = append(e.patterns, patternRule{x.pattern, everything})
		}
	}
	e.parts(n, (*evaluation).properties)
}

func (e *evaluation) items(n *node, asking bool) {
	if a := n.arrays; a != nil {
		if a.rest != nil || a.unevaluated != nil && !asking {
			e.all = true
			return
		}
		e.prefix = max(e.prefix, len(a.prefix))
		if a.contains != nil && a.evaluates {
			e.fixed = false
		}
	}
	e.parts(n, (*evaluation).items)
}

// parts goes on to what always applies; what applies to some values only must
// not evaluate anything.
func (e *evaluation) parts(n *node, collect func(*evaluation, *node, bool)) {
	if n.dynamic != nil || n.meta != "" {
		e.fixed, e.open = false, true
	}
	if n.ref != nil {
		collect(e, n.ref, false)
	}
	for _, x := range n.allOf {
		collect(e, x, false)
	}
	certain := append(slices.Clone(n.allOf), n.ref, n.not)
	n.inPlace(func(x *node) {
		if slices.Contains(certain, x) {
			return
		}
		some := evaluation{fixed: true}
		collect(&some, x, false)
		if some.all || !some.fixed || some.names != nil || some.patterns != nil || some.prefix > 0 {
			e.fixed = false
		}
		e.open = e.open || some.open || some.all || some.patterns != nil
	})
}
