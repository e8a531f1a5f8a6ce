package schema

import (
	"fmt"
	"math/rand/v2"
)

// A generator makes random schemas, and values that are likely to matter to
// them: small alphabets, so that keywords meet.
type generator struct {
	r     *rand.Rand
	draft dialect
	refs  bool // with $ref into $defs, recursive ones too
	wild  bool // now and then a keyword with a value of the wrong form
	exact bool // only what containment models
}

var generatorNames = []string{"a", "b", "ab", "c"}
var generatorPatterns = []string{"^a", "b$", "^[ab]+$", "a.*b", "^.{2}$", "^(a|bc)*$", `\d`, "^$"}

func pick[T any](g *generator, list ...T) T { return list[g.r.IntN(len(list))] }

func (g *generator) definitions() string {
	if g.draft < draft2019 {
		return "definitions"
	}
	return "$defs"
}

// root is a whole schema, with definitions when it has references.
func (g *generator) root(depth int) any {
	s := g.schema(depth)
	m, ok := s.(map[string]any)
	if !ok {
		return s
	}
	if g.refs {
		m[g.definitions()] = map[string]any{"x": g.schema(depth - 1), "y": g.schema(depth - 1)}
	}
	m["$schema"] = metaURL[g.draft]
	return m
}

func (g *generator) schema(depth int) any {
	if g.draft >= draft6 && g.r.IntN(12) == 0 {
		return g.r.IntN(3) > 0
	}
	m := map[string]any{}
	for range 1 + g.r.IntN(3) {
		g.keyword(m, depth)
	}
	return m
}

func (g *generator) keyword(m map[string]any, depth int) {
	small := func() any { return float64(g.r.IntN(4)) }
	if depth <= 0 || g.r.IntN(5) < 2 {
		switch g.r.IntN(12) {
		case 0, 1, 2:
			m["type"] = pick[any](g, "null", "boolean", "integer", "number", "string", "array", "object",
				[]any{"string", "null"}, []any{"integer", "array"}, []any{"object", "number"})
		case 3:
			m["enum"] = []any{g.value(1), "a", []any{g.value(0)}}[:1+g.r.IntN(3)]
		case 4:
			if g.draft >= draft6 {
				m["const"] = g.value(1)
			}
		case 5:
			m["minimum"] = pick[any](g, 0.0, 1.0, 1.5, -2.0)
		case 6:
			m["maximum"] = pick[any](g, 0.0, 1.0, 2.5, 3.0)
		case 7:
			if g.draft > draft4 {
				m[pick(g, "exclusiveMinimum", "exclusiveMaximum")] = pick[any](g, 0.0, 1.0, 2.0)
			} else if m["minimum"] != nil {
				m["exclusiveMinimum"] = true
			}
		case 8:
			m["multipleOf"] = pick[any](g, 1.0, 2.0, 0.5, 3.0, 0.1)
		case 9:
			m["minLength"] = small()
		case 10:
			m["maxLength"] = small()
		case 11:
			m["pattern"] = pick(g, generatorPatterns...)
		}
		return
	}
	sub := func() any { return g.schema(depth - 1) }
	subs := func() any {
		list := []any{sub()}
		for range g.r.IntN(3) {
			list = append(list, sub())
		}
		return list
	}
	switch g.r.IntN(24) {
	case 0, 1, 2:
		p := map[string]any{}
		for range 1 + g.r.IntN(2) {
			p[pick(g, generatorNames...)] = sub()
		}
		m["properties"] = p
	case 3, 4:
		m["additionalProperties"] = pick[any](g, false, sub(), true)
	case 5:
		m["patternProperties"] = map[string]any{pick(g, generatorPatterns...): sub()}
	case 6, 7:
		m["required"] = []any{pick(g, generatorNames...)}
	case 8:
		m[pick(g, "minProperties", "maxProperties")] = small()
	case 9:
		if g.draft >= draft6 {
			m["propertyNames"] = sub()
		}
	case 10:
		name := pick(g, generatorNames...)
		if g.r.IntN(2) == 0 {
			wild := g.wild
			g.wild = wild && g.checksDependencies()
			m["dependencies"] = map[string]any{name: sub()}
			g.wild = wild
		} else {
			m["dependencies"] = map[string]any{name: []any{pick(g, generatorNames...)}}
		}
	case 11, 12:
		m["items"] = sub()
	case 13:
		if g.draft >= draft2020 {
			m["prefixItems"] = subs()
		} else {
			m["items"], m["additionalItems"] = subs(), pick[any](g, false, sub())
		}
	case 14:
		if g.draft >= draft6 {
			m["contains"] = sub()
			if g.draft >= draft2019 && g.r.IntN(2) == 0 {
				m[pick(g, "minContains", "maxContains")] = small()
			}
		}
	case 15:
		m["uniqueItems"] = g.r.IntN(4) > 0
	case 16:
		m[pick(g, "minItems", "maxItems")] = small()
	case 17:
		m["allOf"] = subs()
	case 18, 19:
		m["anyOf"] = subs()
	case 20:
		m["oneOf"] = subs()
	case 21:
		m["not"] = sub()
	case 22:
		if g.draft >= draft7 {
			m["if"], m["then"] = sub(), sub()
			if g.r.IntN(2) == 0 {
				m["else"] = sub()
			}
		}
	case 23:
		g.odd(m, depth, sub)
	}
}

// checksDependencies reports whether the ordinary validator looks at the form of
// "dependencies" before it reads them. From 2019-09 on it doesn't, and falls over
// whatever it finds there.
func (g *generator) checksDependencies() bool { return g.draft < draft2019 }

func (g *generator) odd(m map[string]any, depth int, sub func() any) {
	switch g.r.IntN(5) {
	case 0:
		if g.draft >= draft2019 && !g.exact {
			m[pick(g, "unevaluatedProperties", "unevaluatedItems")] = pick[any](g, false, sub())
		}
	case 1:
		if !g.exact {
			m["format"] = pick(g, "date", "ipv4", "regex", "made-up")
		}
	case 2:
		if g.wild {
			keyword := pick(g, "type", "enum", "properties", "items", "required", "minLength", "maximum", "allOf", "not", "dependencies",
				"additionalProperties", "pattern", "patternProperties", "title", "examples", "$comment", "exclusiveMinimum", "format", "uniqueItems")
			m[keyword] = pick[any](g, 5.0, "x", "(", true, nil, []any{}, []any{1.0}, []any{"a", "a"}, map[string]any{"(": true}, map[string]any{"a": 1.0}, -1.0, 1.5)
			if keyword == "dependencies" && !g.checksDependencies() {
				delete(m, keyword)
			}
		}
	default:
		if g.refs {
			m["$ref"] = fmt.Sprintf("#/%s/%s", g.definitions(), pick(g, "x", "y"))
		}
	}
}

// value is a random JSON value over the same small alphabets.
func (g *generator) value(depth int) any {
	n := 7
	if depth <= 0 {
		n = 5
	}
	switch g.r.IntN(n) {
	case 0:
		return nil
	case 1:
		return g.r.IntN(2) == 0
	case 2:
		return pick[any](g, 0.0, 1.0, 2.0, 3.0, -2.0, 100.0)
	case 3:
		return pick[any](g, 0.5, 1.5, 0.1, 0.3, 2.25)
	case 4:
		return pick[any](g, "", "a", "b", "ab", "abc", "bca", "1", "2024-01-01", "é")
	case 5:
		list := []any{}
		for range g.r.IntN(4) {
			list = append(list, g.value(depth-1))
		}
		return list
	}
	m := map[string]any{}
	for range g.r.IntN(4) {
		m[pick(g, "a", "b", "ab", "c", "", "bca")] = g.value(depth - 1)
	}
	return m
}

var dialects = []dialect{draft4, draft6, draft7, draft2019, draft2020}

// A dialect is a draft of JSON Schema.
type dialect uint16

const (
	draft4    dialect = 4
	draft6    dialect = 6
	draft7    dialect = 7
	draft2019 dialect = 2019
	draft2020 dialect = 2020
)

var metaURL = map[dialect]string{
	draft4:    "http://json-schema.org/draft-04/schema",
	draft6:    "http://json-schema.org/draft-06/schema",
	draft7:    "http://json-schema.org/draft-07/schema",
	draft2019: "https://json-schema.org/draft/2019-09/schema",
	draft2020: "https://json-schema.org/draft/2020-12/schema",
}
