package schema

import (
	"maps"
	"slices"
	"strings"
)

// A keyword is read by itself, from a draft on.
type keyword struct {
	since Dialect
	read  func(p parser, k string, v any) // a copy, so that reading what says nothing of values allocates nothing
}

// keywords are all that are read by themselves. Annotations say nothing of values
// but have a form of their own.
var keywords map[string]keyword

func init() {
	one := func(place func(n *node) **node) func(parser, string, any) {
		return func(p parser, k string, v any) { *place(p.node) = p.schema(k, "", v) }
	}
	list := func(place func(n *node) *[]*node) func(parser, string, any) {
		return func(p parser, k string, v any) { *place(p.node) = p.schemas(k, v) }
	}
	count := func(otherwise int, place func(n *node) *int) func(parser, string, any) {
		return func(p parser, k string, v any) { *place(p.node) = p.count(k, v, otherwise) }
	}
	defined := func(p parser, k string, v any) { p.schemaMap(k, v) }
	reference := func(p parser, k string, v any) { p.ref(k, v) }
	text := func(p parser, k string, v any) { p.string(k, v) }
	flag := func(p parser, k string, v any) { p.boolean(k, v) }
	anchor := func(p parser, k string, v any) { p.anchorName(k, v) }
	content := func(place func(r *stringRules) *string) func(parser, string, any) {
		return func(p parser, k string, v any) {
			if text, ok := p.string(k, v); ok && p.node.unit.draft == Draft7 {
				*place(p.node.text()) = text
			}
		}
	}
	keywords = map[string]keyword{
		"$ref": {Draft4, reference}, "$recursiveRef": {Draft2019, reference}, "$dynamicRef": {Draft2020, reference},
		"definitions": {Draft4, defined}, "$defs": {Draft2019, defined},
		"allOf": {Draft4, list(func(n *node) *[]*node { return &n.allOf })},
		"anyOf": {Draft4, list(func(n *node) *[]*node { return &n.anyOf })},
		"oneOf": {Draft4, list(func(n *node) *[]*node { return &n.oneOf })},
		"not":   {Draft4, one(func(n *node) **node { return &n.not })},
		"if":    {Draft7, one(func(n *node) **node { return &n.cond })},
		"then":  {Draft7, one(func(n *node) **node { return &n.then })},
		"else":  {Draft7, one(func(n *node) **node { return &n.other })},

		"minLength":        {Draft4, count(0, func(n *node) *int { return &n.text().min })},
		"maxLength":        {Draft4, count(maxCount, func(n *node) *int { return &n.text().max })},
		"pattern":          {Draft4, func(p parser, k string, v any) { p.node.text().pattern = p.pattern(k, "", v) }},
		"format":           {Draft4, parser.format},
		"contentEncoding":  {Draft7, content(func(r *stringRules) *string { return &r.encoding })},
		"contentMediaType": {Draft7, content(func(r *stringRules) *string { return &r.mediaType })},
		"contentSchema":    {Draft2019, func(p parser, k string, v any) { p.schema(k, "", v) }},

		"items":            {Draft4, parser.items},
		"prefixItems":      {Draft2020, list(func(n *node) *[]*node { return &n.array().prefix })},
		"contains":         {Draft6, one(func(n *node) **node { return &n.array().contains })},
		"minContains":      {Draft2019, count(1, func(n *node) *int { return &n.array().least })},
		"maxContains":      {Draft2019, count(maxCount, func(n *node) *int { return &n.array().most })},
		"minItems":         {Draft4, count(0, func(n *node) *int { return &n.array().min })},
		"maxItems":         {Draft4, count(maxCount, func(n *node) *int { return &n.array().max })},
		"uniqueItems":      {Draft4, func(p parser, k string, v any) { p.node.array().unique = p.boolean(k, v) }},
		"unevaluatedItems": {Draft2019, one(func(n *node) **node { return &n.array().unevaluated })},
		"additionalItems": {Draft4, func(p parser, k string, v any) { // arrayForms decides whether it counts
			if p.node.unit.draft < Draft2020 {
				p.schema(k, "", v)
			}
		}},

		"properties":            {Draft4, parser.properties},
		"patternProperties":     {Draft4, parser.patternProperties},
		"additionalProperties":  {Draft4, one(func(n *node) **node { return &n.object().additional })},
		"propertyNames":         {Draft6, one(func(n *node) **node { return &n.object().propertyNames })},
		"required":              {Draft4, func(p parser, k string, v any) { p.node.object().required = p.names(k, "", v) }},
		"minProperties":         {Draft4, count(0, func(n *node) *int { return &n.object().min })},
		"maxProperties":         {Draft4, count(maxCount, func(n *node) *int { return &n.object().max })},
		"unevaluatedProperties": {Draft2019, one(func(n *node) **node { return &n.object().unevaluated })},
		"dependencies":          {Draft4, func(p parser, k string, v any) { p.dependencies(k, v, true, true) }},
		"dependentRequired":     {Draft2019, func(p parser, k string, v any) { p.dependencies(k, v, true, false) }},
		"dependentSchemas":      {Draft2019, func(p parser, k string, v any) { p.dependencies(k, v, false, true) }},

		"title": {Draft4, text}, "description": {Draft4, text}, "$schema": {Draft4, text}, "$comment": {Draft7, text},
		"readOnly": {Draft7, flag}, "writeOnly": {Draft7, flag}, "deprecated": {Draft2019, flag},
		"$id": {Draft6, parser.identifier}, "id": {Draft4, parser.identifier}, "$anchor": {Draft2019, anchor}, "$dynamicAnchor": {Draft2020, anchor},
		"$recursiveAnchor": {Draft2019, func(p parser, k string, v any) {
			if p.node.unit.draft == Draft2019 {
				p.boolean(k, v)
			} else {
				p.anchorName(k, v)
			}
		}},
		"examples": {Draft7, func(p parser, k string, v any) {
			if _, ok := v.([]any); !ok {
				p.fail(k, "", "examples is a list of values; here is %s", describe(v))
			}
		}},
		// Vocabularies mean something only in a metaschema, and there are none but the standard ones here.
		"$vocabulary": {Draft2019, func(p parser, k string, v any) {
			if _, ok := v.(map[string]any); !ok {
				p.fail(k, "", "$vocabulary is an object; here is %s", describe(v))
			}
		}},
	}
}

func (p parser) format(k string, v any) {
	if name, ok := p.string(k, v); ok {
		p.node.text().format = name
		if p.node.unit.assert {
			p.node.text().valid = formats[name]
		}
	}
}

func (p parser) items(k string, v any) {
	_, several := v.([]any)
	switch n := p.node; {
	case several && n.unit.draft >= Draft2020:
		p.fail(k, `write "prefixItems" for a list of schemas, and "items" for what follows them`, "items is one schema in draft 2020-12; here is a list")
	case several:
		n.array().prefix = p.schemas(k, v)
	default:
		n.array().rest, n.array().restKeyword = p.schema(k, "", v), k
	}
}

func (p parser) properties(k string, v any) {
	o := p.node.object()
	o.properties = p.schemaMap(k, v)
	o.names = slices.Sorted(maps.Keys(o.properties))
}

func (p parser) patternProperties(k string, v any) {
	for source, x := range p.schemaMap(k, v) {
		if re := p.pattern(k, source, source); re != nil {
			o := p.node.object()
			o.patterns = append(o.patterns, patternRule{re, x})
		}
	}
}

// identifier reads $id, which was id in draft 4.
func (p parser) identifier(k string, v any) {
	draft := p.node.unit.draft
	if k == "id" && draft != Draft4 {
		return
	}
	id, ok := p.uriReference(k, v)
	if _, fragment, _ := strings.Cut(id, "#"); ok && draft >= Draft2019 && (fragment != "" || strings.HasSuffix(id, "##")) {
		p.fail(k, `write the fragment as "$anchor"`, "$id can't have a fragment since draft 2019-09")
	}
}
