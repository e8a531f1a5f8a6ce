package schema

import (
	"reflect"

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
			for name, x := range v {
				all[name] = part(x)
			}
			m[keyword] = all
		case []patternRule:
			same := map[string][]*node{} // patterns that Go reads alike
			for _, p := range v {
				same[p.pattern.Text()] = append(same[p.pattern.Text()], p.node)
			}
			all := map[string]any{}
			for pattern, nodes := range same {
				all[pattern] = map[string]any{"allOf": parts(nodes)}
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

// identity is a number that is the same for nodes that say the same of values, whatever else they say. What refers
// back to itself is the same only where it is the same text.
func (n *node) identity() uint64 {
	if n.unit != detached {
		f := n.unit.family
		f.identify.Do(func() { f.units[""].root.identify() })
	}
	return n.identify()
}

func (n *node) identify() uint64 {
	if n.form != 0 {
		return n.form
	}
	h := mixer(n.verdict)
	if raw, ok := n.raw.(map[string]any); ok && n.unit != detached {
		f := n.unit.family
		h.mix(uint64(reflect.ValueOf(f.options.Defs).Pointer()))
		h.mix(uint64(reflect.ValueOf(raw).Pointer()))
		n.form = uint64(h) // of what refers back to it
		h = mixer(n.verdict)
	}
	n.each(func(keyword string, v any) {
		h.mix(hash(keyword, 0))
		switch v := v.(type) {
		case Kinds:
			h.mix(uint64(v))
		case *node:
			h.mix(v.identify())
		case []*node:
			for _, x := range v {
				h.mix(x.identify())
			}
		case []any:
			for _, x := range v {
				h.mix(hash(x, maxNesting))
			}
		case []string:
			all := uint64(0)
			for _, x := range v {
				all += hash(x, 0)
			}
			h.mix(all)
		case *regex.Pattern:
			h.mix(hash(v.Source, 0))
		case map[string]*node:
			all := uint64(0)
			for name, x := range v {
				all += hash(name, 0)*31 ^ x.identify()
			}
			h.mix(all)
		case []patternRule:
			for _, p := range v {
				h.mix(hash(p.pattern.Source, 0))
				h.mix(p.node.identify())
			}
		case []dependency:
			for _, d := range v {
				h.mix(hash(d.name, 0))
				for _, name := range d.names {
					h.mix(hash(name, 0))
				}
				if d.node != nil {
					h.mix(d.node.identify())
				}
			}
		default: // a number, text or truth
			h.mix(hash(v, 0))
		}
	})
	if n.unit != detached {
		n.form = uint64(h)
	}
	return uint64(h)
}

// A mixer puts numbers together into one, in order.
type mixer uint64

func (h *mixer) mix(x uint64) { *h = (*h ^ mixer(x)) * 1099511628211 }

func anyOfStrings(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}
