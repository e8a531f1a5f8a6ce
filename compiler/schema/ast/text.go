package ast

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
func (n *Node) each(put func(keyword string, v any)) {
	one := func(keyword string, x *Node) {
		if x != nil {
			put(keyword, x)
		}
	}
	list := func(keyword string, all []*Node) {
		if all != nil {
			put(keyword, all)
		}
	}
	if n.Kinds != Anything {
		put("type", n.Kinds)
	}
	if n.Values != nil {
		put("enum", n.Values)
	}
	one("$ref", n.Ref)
	list("allOf", n.AllOf)
	list("anyOf", n.AnyOf)
	list("oneOf", n.OneOf)
	one("not", n.Not)
	one("if", n.Cond)
	one("then", n.Then)
	one("else", n.Other)
	if r := n.Numbers; r != nil {
		for i, bound := range [...]*float64{r.Min, r.Max, r.Above, r.Below, r.Multiple} {
			if bound != nil {
				put([...]string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}[i], *bound)
			}
		}
	}
	if r := n.Strings; r != nil {
		r.Size.each("minLength", "maxLength", put)
		if r.Pattern != nil {
			put("pattern", r.Pattern)
		}
		if r.Valid != nil {
			put("format", r.Format)
		}
	}
	if r := n.Arrays; r != nil {
		list("prefixItems", r.Prefix)
		one("items", r.Rest)
		r.Size.each("minItems", "maxItems", put)
		if r.Unique {
			put("uniqueItems", true)
		}
		if r.Contains != nil {
			put("contains", r.Contains)
			put("minContains", r.Least)
			put("maxContains", r.Most)
		}
		one("unevaluatedItems", r.Unevaluated)
	}
	if n.Objects != nil {
		n.Objects.each(put)
	}
}

func (z Size) each(least, most string, put func(keyword string, v any)) {
	if z.Min > 0 {
		put(least, z.Min)
	}
	if z.Max < MaxCount {
		put(most, z.Max)
	}
}

func (r *ObjectRules) each(put func(keyword string, v any)) {
	if len(r.Names) > 0 {
		put("properties", r.Properties)
	}
	if r.Patterns != nil {
		put("patternProperties", r.Patterns)
	}
	for i, x := range [...]*Node{r.Additional, r.PropertyNames, r.Unevaluated} {
		if x != nil {
			put([...]string{"additionalProperties", "propertyNames", "unevaluatedProperties"}[i], x)
		}
	}
	if r.Required != nil {
		put("required", r.Required)
	}
	r.Size.each("minProperties", "maxProperties", put)
	if r.Needs != nil {
		put("dependentSchemas", r.Needs)
	}
}

// Print is the node as a JSON value in draft 2020-12: part is the text of one of its parts, and refer the reference to
// one that it refers to.
func (n *Node) Print(part func(*Node) any, refer func(*Node) string) map[string]any {
	m := map[string]any{}
	parts := func(nodes []*Node) []any {
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
		case *Node:
			if keyword == "$ref" {
				m[keyword] = refer(v)
			} else {
				m[keyword] = part(v)
			}
		case []*Node:
			m[keyword] = parts(v)
		case *regex.Pattern:
			if m[keyword] = v.Text(); !v.Regular() {
				delete(m, keyword)
				m[IrregularPattern] = v.Source
			}
		case map[string]*Node:
			all := map[string]any{}
			// Parts of a loop are distinguished by where it was entered.
			for _, name := range slices.Sorted(maps.Keys(v)) {
				all[name] = part(v[name])
			}
			m[keyword] = all
		case []PatternRule:
			same := map[string][]any{} // patterns that Go reads alike
			for _, p := range v {
				text := cmp.Or(p.Pattern.Text(), p.Pattern.Source)
				same[text] = append(same[text], part(p.Node))
			}
			all := map[string]any{}
			for pattern, nodes := range same {
				all[pattern] = map[string]any{"allOf": nodes}
			}
			m[keyword] = all
		case []dependency:
			all := map[string]any{}
			for _, d := range v {
				then := map[string]any{"required": anyOfStrings(d.Names)}
				if before := all[d.Name]; before != nil {
					then["anyOf"] = []any{before}
				}
				if d.Node != nil {
					then["allOf"] = parts([]*Node{d.Node})
				}
				all[d.Name] = then
			}
			m[keyword] = all
		}
	})
	return m
}

// Identity is the same for nodes that say the same of values, whatever else they say, and for no others: it is a digest
// of the text that the node is printed as. What refers back to itself is the same only where it is the same text.
func (n *Node) Identity() string {
	if n.Unit == Detached {
		return n.digest((*Node).Identity)
	}
	f := n.Unit.family
	f.identify.Do(func() { f.units[""].root.identify() })
	return cmp.Or(n.form, fmt.Sprintf("%p", n))
}

func (n *Node) identify() string {
	if n.Unit == Detached {
		return n.digest((*Node).identify)
	}
	if n.form == "" {
		o := n.Unit.family.options // what refers back is this text in this place
		n.form = fmt.Sprintf("%p %t %p %p %s", o.Defs, o.AssertFormat, n.Unit.root.Raw, n.Raw, n.base)
		n.form = n.digest((*Node).identify)
	}
	return n.form
}

func (n *Node) digest(of func(*Node) string) string {
	text, err := json.Marshal(n.Print(func(x *Node) any { return of(x) }, of))
	if err != nil {
		return fmt.Sprintf("%p", n)
	}
	return fmt.Sprintf("%x", sha256.Sum256(append(text, byte(n.Verdict), byte(n.Kinds))))
}

func anyOfStrings(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

// IrregularPattern replaces the keyword pattern where Go's expressions can't say what it says. Of patternProperties
// there is no such thing: the library can't read those.
const IrregularPattern = "x-irregular-pattern"
