package schema

import (
	"maps"
	"slices"
)

// ObjectOf is the schema of an object that is put together from parts: each
// property that is there is what its schema accepts, those that are required
// are there, and there are no others. A nil schema accepts everything.
func ObjectOf(properties map[string]*Schema, required []string) *Schema {
	o := &objectRules{max: maxCount, properties: map[string]*node{}, names: slices.Sorted(maps.Keys(properties)), additional: nothing}
	for _, name := range o.names {
		part := properties[name].ready()
		if part.verdict == never && slices.Contains(required, name) {
			return of(nothing)
		}
		o.properties[name] = part
	}
	o.required = slices.Sorted(slices.Values(required))
	return of(&node{unit: loose, kinds: Object, objects: o})
}

// ListOf is the schema of a list of least to most items, each of which is what
// the schema accepts; most is -1 where there may be any number.
func ListOf(item *Schema, least, most int) *Schema {
	if most < 0 {
		most = maxCount
	}
	return of(&node{unit: loose, kinds: Array, arrays: &arrayRules{min: least, max: most, least: 1, most: maxCount, rest: item.ready(), restKeyword: "items", evaluates: true}})
}

// TupleOf is the schema of a list that is put together from its items.
func TupleOf(items ...*Schema) *Schema {
	a := &arrayRules{min: len(items), max: len(items), least: 1, most: maxCount, prefix: nodesOf(items), evaluates: true}
	if slices.ContainsFunc(a.prefix, func(n *node) bool { return n.verdict == never }) {
		return of(nothing)
	}
	return of(&node{unit: loose, kinds: Array, arrays: a})
}

// OfKinds is the schema of all values of some kinds.
func OfKinds(kinds Kinds) *Schema {
	switch kinds {
	case Anything:
		return nil
	case 0:
		return of(nothing)
	}
	return of(&node{unit: loose, kinds: kinds})
}

// Containing is the schema of all values that have something at a path, which
// the inner schema accepts; what else is there doesn't matter.
func Containing(path []Step, inner *Schema) *Schema {
	n := inner.ready()
	for _, step := range slices.Backward(path) {
		if step.IsIndex {
			a := &arrayRules{min: step.Index + 1, max: maxCount, least: 1, most: maxCount, evaluates: true}
			for range step.Index {
				a.prefix = append(a.prefix, everything)
			}
			a.prefix = append(a.prefix, n)
			n = &node{unit: loose, kinds: Array, arrays: a}
			continue
		}
		n = &node{unit: loose, kinds: Object, objects: &objectRules{
			max: maxCount, properties: map[string]*node{step.Key: n}, names: []string{step.Key}, required: []string{step.Key}}}
	}
	return of(n)
}

// built adds what the constructors above make to a combination's text; part is
// the text of one of its parts.
func (n *node) built(m map[string]any, part func(*node) any) {
	if o := n.objects; o != nil {
		properties := map[string]any{}
		for _, name := range o.names {
			properties[name] = part(o.properties[name])
		}
		m["properties"] = properties
		if o.additional != nil {
			m["additionalProperties"] = part(o.additional)
		}
		if len(o.required) > 0 {
			m["required"] = anyOfStrings(o.required)
		}
	}
	if a := n.arrays; a != nil {
		if len(a.prefix) > 0 {
			items := make([]any, len(a.prefix))
			for i, x := range a.prefix {
				items[i] = part(x)
			}
			m["prefixItems"] = items
		}
		if a.rest != nil {
			m["items"] = part(a.rest)
		}
		if a.min > 0 {
			m["minItems"] = float64(a.min)
		}
		if a.max < maxCount {
			m["maxItems"] = float64(a.max)
		}
	}
}

func anyOfStrings(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}
