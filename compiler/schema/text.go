package schema

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/obelus-dev/obelus/compiler/schema/regex"
)

// each calls put for every keyword that the node has, in the words of draft 2020-12, with its value: numbers, texts,
// values, kinds, nodes, lists of nodes, and nodes by name.
func (n *node) each(put func(keyword string, v any)) {
	one := func(keyword string, x *node) {
		if x != nil {
			put(keyword, x)
		}
	}
	list := func(keyword string, all []*node) {
		if all != nil {
			put(keyword, all)
		}
	}
	if n.kinds != Anything {
		put("type", n.kinds)
	}
	if n.values != nil {
		put("enum", n.values)
	}
	one("$ref", n.ref)
	list("allOf", n.allOf)
	list("anyOf", n.anyOf)
	list("oneOf", n.oneOf)
	one("not", n.not)
	one("if", n.cond)
	one("then", n.then)
	one("else", n.other)
	if r := n.numbers; r != nil {
		for i, bound := range [...]*float64{r.min, r.max, r.above, r.below, r.multiple} {
			if bound != nil {
				put([...]string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}[i], *bound)
			}
		}
	}
	if r := n.strings; r != nil {
		r.size.each("minLength", "maxLength", put)
		if r.pattern != nil {
			put("pattern", r.pattern)
		}
		if r.valid != nil {
			put("format", r.format)
		}
	}
	if r := n.arrays; r != nil {
		list("prefixItems", r.prefix)
		one("items", r.rest)
		r.size.each("minItems", "maxItems", put)
		if r.unique {
			put("uniqueItems", true)
		}
		if r.contains != nil {
			put("contains", r.contains)
			put("minContains", r.least)
			put("maxContains", r.most)
		}
		one("unevaluatedItems", r.unevaluated)
	}
	if n.objects != nil {
		n.objects.each(put)
	}
}

func (z size) each(least, most string, put func(keyword string, v any)) {
	if z.min > 0 {
		put(least, z.min)
	}
	if z.max < maxCount {
		put(most, z.max)
	}
}

func (r *objectRules) each(put func(keyword string, v any)) {
	if len(r.names) > 0 {
		put("properties", r.properties)
	}
	if r.patterns != nil {
		put("patternProperties", r.patterns)
	}
	for i, x := range [...]*node{r.additional, r.propertyNames, r.unevaluated} {
		if x != nil {
			put([...]string{"additionalProperties", "propertyNames", "unevaluatedProperties"}[i], x)
		}
	}
	if r.required != nil {
		put("required", r.required)
	}
	r.size.each("minProperties", "maxProperties", put)
	if r.needs != nil {
		put("dependentSchemas", r.needs)
	}
}

// print is the node as a JSON value in draft 2020-12: part is the text of one of its parts, and refer the reference to
// one that it refers to.
func (n *node) print(part func(*node) any, refer func(*node) string) map[string]any {
	m := map[string]any{}
	parts := func(nodes []*node) []any {
		all := make([]any, len(nodes))
		for i, x := range nodes {
			all[i] = part(x)
		}
		return all
	}
	n.each(func(keyword string, v any) {
		m[keyword] = v
		switch v := v.(type) {
		case Kinds:
			m[keyword] = v.names()
		case int:
			m[keyword] = float64(v)
		case []string:
			m[keyword] = anyOfStrings(v)
		case *node:
			if keyword == "$ref" {
				m[keyword] = refer(v)
			} else {
				m[keyword] = part(v)
			}
		case []*node:
			m[keyword] = parts(v)
		case *regex.Pattern:
			if m[keyword] = v.Text(); !v.Regular() {
				delete(m, keyword)
				m[irregularPattern] = v.Source
			}
		case map[string]*node:
			all := map[string]any{}
			for _, name := range slices.Sorted(maps.Keys(v)) { // what is in a loop is told apart by where it was entered
				all[name] = part(v[name])
			}
			m[keyword] = all
		case []patternRule:
			same := map[string][]any{} // patterns that Go reads alike
			for _, p := range v {
				text := cmp.Or(p.pattern.Text(), p.pattern.Source)
				same[text] = append(same[text], part(p.node))
			}
			all := map[string]any{}
			for pattern, nodes := range same {
				all[pattern] = map[string]any{"allOf": nodes}
			}
			m[keyword] = all
		case []dependency:
			all := map[string]any{}
			for _, d := range v {
				then := map[string]any{"required": anyOfStrings(d.names)}
				if before := all[d.name]; before != nil {
					then["anyOf"] = []any{before}
				}
				if d.node != nil {
					then["allOf"] = parts([]*node{d.node})
				}
				all[d.name] = then
			}
			m[keyword] = all
		}
	})
	return m
}

// identity is the same for nodes that say the same of values, whatever else they say, and for no others: it is a digest
// of the text that the node is printed as. What refers back to itself is the same only where it is the same text.
func (n *node) identity() string {
	if n.unit == detached {
		return n.digest((*node).identity)
	}
	f := n.unit.family
	f.identify.Do(func() { f.units[""].root.identify() })
	return cmp.Or(n.form, fmt.Sprintf("%p", n))
}

func (n *node) identify() string {
	if n.unit == detached {
		return n.digest((*node).identify)
	}
	if n.form == "" {
		o := n.unit.family.options // what refers back is this text in this place
		n.form = fmt.Sprintf("%p %t %p %p %s", o.Defs, o.AssertFormat, n.unit.root.raw, n.raw, n.base)
		n.form = n.digest((*node).identify)
	}
	return n.form
}

func (n *node) digest(of func(*node) string) string {
	text, err := json.Marshal(n.print(func(x *node) any { return of(x) }, of))
	if err != nil {
		return fmt.Sprintf("%p", n)
	}
	return fmt.Sprintf("%x", sha256.Sum256(append(text, byte(n.verdict))))
}

func anyOfStrings(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}
