package ast

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
)

// Print is the node as a JSON value in draft 2020-12: part is the text of one of its parts, and refer the reference to
// one that it refers to.
func (n *Node) Print(part func(*Node) any, refer func(*Node) string) map[string]any {
	m := page{map[string]any{}, part}
	if n.Kinds != Anything {
		m.text["type"] = n.Kinds.names()
	}
	if n.Values != nil {
		m.text["enum"] = n.Values
	}
	if n.Ref != nil {
		m.text["$ref"] = refer(n.Ref)
	}
	m.list("allOf", n.AllOf)
	m.list("anyOf", n.AnyOf)
	m.list("oneOf", n.OneOf)
	m.node("not", n.Not)
	m.node("if", n.Cond)
	m.node("then", n.Then)
	m.node("else", n.Other)
	if r := n.Numbers; r != nil {
		for i, bound := range [...]*float64{r.Min, r.Max, r.Above, r.Below, r.Multiple} {
			if bound != nil {
				m.text[[...]string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}[i]] =
					*bound
			}
		}
	}
	if r := n.Strings; r != nil {
		m.size("minLength", "maxLength", r.Size)
		if r.Pattern != nil {
			m.text["pattern"] = cmp.Or(r.Pattern.Text(), r.Pattern.Source)
		}
		if r.Valid != nil {
			m.text["format"] = r.Format
		}
	}
	if r := n.Arrays; r != nil {
		m.list("prefixItems", r.Prefix)
		m.node("items", r.Rest)
		m.size("minItems", "maxItems", r.Size)
		if r.Unique {
			m.text["uniqueItems"] = true
		}
		if m.node("contains", r.Contains); r.Contains != nil {
			m.text["minContains"], m.text["maxContains"] = float64(r.Least), float64(r.Most)
		}
		m.node("unevaluatedItems", r.Unevaluated)
	}
	if n.Objects != nil {
		m.object(n.Objects)
	}
	return m.text
}

// A page is the text of a node, being written.
type page struct {
	text map[string]any
	part func(*Node) any
}

func (m page) node(keyword string, n *Node) {
	if n != nil {
		m.text[keyword] = m.part(n)
	}
}

func (m page) list(keyword string, nodes []*Node) {
	if nodes == nil {
		return
	}
	all := make([]any, len(nodes))
	for i, x := range nodes {
		all[i] = m.part(x)
	}
	m.text[keyword] = all
}

func (m page) size(least, most string, z Size) {
	if z.Min > 0 {
		m.text[least] = float64(z.Min)
	}
	if z.Max < MaxCount {
		m.text[most] = float64(z.Max)
	}
}

func (m page) object(r *ObjectRules) {
	properties, patterns, needs := map[string]any{}, map[string]any{}, map[string]any{}
	for _, name := range r.Names { // in order: parts of a loop are distinguished by where it was entered
		properties[name] = m.part(r.Properties[name])
	}
	for _, p := range r.Patterns { // Go may read some alike
		text := cmp.Or(p.Pattern.Text(), p.Pattern.Source)
		nodes, _ := patterns[text].([]any)
		patterns[text] = append(nodes, m.part(p.Node))
	}
	for text, nodes := range patterns {
		patterns[text] = map[string]any{"allOf": nodes}
	}
	for _, d := range r.Needs {
		then := page{map[string]any{"required": anyOfStrings(d.Names)}, m.part}
		if before := needs[d.Name]; before != nil {
			then.text["anyOf"] = []any{before}
		}
		if d.Node != nil {
			then.list("allOf", []*Node{d.Node})
		}
		needs[d.Name] = then.text
	}
	for keyword, all := range map[string]map[string]any{
		"properties": properties, "patternProperties": patterns, "dependentSchemas": needs} {
		if len(all) > 0 {
			m.text[keyword] = all
		}
	}
	m.node("additionalProperties", r.Additional)
	m.node("propertyNames", r.PropertyNames)
	m.node("unevaluatedProperties", r.Unevaluated)
	if r.Required != nil {
		m.text["required"] = anyOfStrings(r.Required)
	}
	m.size("minProperties", "maxProperties", r.Size)
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
