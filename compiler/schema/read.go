package schema

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// read turns a schema's JSON into nodes: the schema itself and whatever it
// refers to. Nothing is read twice, and nothing that no reference reaches.
func read(raw any, o Options) (*node, *SchemaError) {
	f := &family{options: o, units: map[string]*unit{}}
	r := &reader{family: f}
	if o.Keywords != nil {
		if *o.Keywords <= 0 {
			return nil, &SchemaError{Message: together, Help: lessTogether}
		}
		defer func() { *o.Keywords -= r.keywords + r.besides }()
	}
	u := r.unit("", raw)
	for r.err == nil && len(r.refs) > 0 {
		pending := r.refs
		r.refs = nil
		for _, p := range pending {
			r.resolve(p)
		}
	}
	if r.err == nil {
		r.settleScopes()
		r.checkLoops(u.root)
	}
	if r.err != nil {
		return nil, r.err
	}
	return u.root, nil
}

// A family is a schema with the named schemas that it can refer to.
type family struct {
	options Options
	units   map[string]*unit // by the name of the named schema
	scoped  bool             // some reference depends on the dynamic scope
	export  exporter
}

// A reader builds nodes. Of several faults it keeps the one whose place comes
// first, so that the order in which Go goes over a map never shows.
type reader struct {
	family   *family
	err      *SchemaError
	full     bool // the error is a limit, and reading stops
	keywords int
	besides  int // what costs besides, in keywords: each schema one more, and patterns
	refs     []pendingRef
	dynamics []*node
}

type pendingRef struct {
	node    *node
	keyword string // $ref, $dynamicRef or $recursiveRef
	ref     string
}

const (
	together     = "the schemas of the document have too many keywords together, with their references and repetitions expanded"
	lessTogether = "let fewer schemas refer to large ones, let patterns repeat less, or split the document"
)

func (r *reader) fail(n *node, tail []string, help, format string, args ...any) {
	e := &SchemaError{Path: append(n.path(), tail...), Def: n.unit.name, Message: fmt.Sprintf(format, args...), Help: help}
	if r.full {
		return
	}
	if r.err == nil || cmp.Or(cmp.Compare(e.Def, r.err.Def), slices.Compare(e.Path, r.err.Path), cmp.Compare(e.Message, r.err.Message)) < 0 {
		r.err = e
	}
}

// stop reports a limit, which comes before every other fault.
func (r *reader) stop(n *node, message, help string) {
	if !r.full {
		r.full = true
		r.err = &SchemaError{Def: n.unit.name, Message: message, Help: help, Limit: true}
	}
}

func (r *reader) unit(name string, raw any) *unit {
	o := r.family.options
	u := &unit{name: name, raw: raw, draft: cmp.Or(o.Dialect, Draft2020), family: r.family,
		resources: map[string]*resource{}, odd: map[string]*node{}}
	r.family.units[name] = u
	if m, ok := raw.(map[string]any); ok {
		if s, ok := m["$schema"]; ok {
			text, _ := s.(string)
			if d, ok := dialectOf(text); ok {
				u.draft = d
			} else {
				r.fail(&node{unit: u}, []string{"$schema"}, `leave it out for draft 2020-12, or name draft 4, 6, 7, 2019-09 or 2020-12, such as "http://json-schema.org/draft-07/schema#"`,
					"%s isn't a JSON Schema dialect that is understood", quote(s))
			}
		}
	}
	u.assert = o.AssertFormat || u.draft < Draft2019
	base := &resource{}
	u.resources[""] = base
	u.root = r.node(u, nil, "", "", raw, base, 0)
	if u.root == nil {
		u.root = everything
	}
	if base.root == nil {
		base.root = u.root
	}
	return u
}

// dialectOf recognises the URL of a standard metaschema.
func dialectOf(url string) (Dialect, bool) {
	url = strings.TrimSuffix(strings.TrimSuffix(url, "/"), "#")
	url = strings.TrimPrefix(strings.TrimPrefix(url, "http:"), "https:")
	d, ok := map[string]Dialect{
		"//json-schema.org/schema":               Draft2020,
		"//json-schema.org/draft/2020-12/schema": Draft2020,
		"//json-schema.org/draft/2019-09/schema": Draft2019,
		"//json-schema.org/draft-07/schema":      Draft7,
		"//json-schema.org/draft-06/schema":      Draft6,
		"//json-schema.org/draft-04/schema":      Draft4,
	}[url]
	return d, ok
}

// node reads one schema. It is nil when the value is none at all.
func (r *reader) node(u *unit, parent *node, keyword, key string, raw any, base *resource, depth int) *node {
	n := &node{unit: u, parent: parent, keyword: keyword, key: key, raw: raw, kinds: Anything, base: base}
	if depth > maxNesting {
		r.stop(n, fmt.Sprintf("a schema can be nested %d deep, and this one is deeper", maxNesting), "name its parts under $defs and refer to them")
	}
	if r.full {
		return nil
	}
	if parent != nil && keyword != "" {
		parent.children = append(parent.children, n)
	}
	r.keywords, r.besides = r.keywords+1, r.besides+1
	switch v := raw.(type) {
	case bool:
		if u.draft < Draft6 && keyword != "additionalProperties" && keyword != "additionalItems" {
			r.fail(n, nil, `write {} for true and {"not": {}} for false, or use a later draft`, "%v isn't a schema in draft 4", v)
		}
		if v {
			n.verdict = always
		} else {
			n.verdict, n.kinds = never, 0
		}
		return n
	case map[string]any:
		r.keywords += len(v)
		if r.keywords > maxKeywords {
			r.stop(n, fmt.Sprintf("a schema can have %d keywords, and this one has more", maxKeywords), "split it, or say less of its parts")
			return nil
		}
		r.identify(n, v)
		p := parser{reader: r, node: n, depth: depth, exclusiveMin: v["exclusiveMinimum"] == true, exclusiveMax: v["exclusiveMaximum"] == true}
		if len(v) > 0 {
			p.parse(v)
		}
		if len(v) == 0 {
			n.verdict = always
		}
		return n
	}
	r.fail(n, nil, "write {type: string}, or so", "a schema is an object, true or false; here is %s", describe(raw))
	return nil
}

// identify gives the node its resource, and enters its anchors there.
func (r *reader) identify(n *node, m map[string]any) {
	u := n.unit
	key := "$id"
	if u.draft == Draft4 {
		key = "id"
	}
	if _, refers := m["$ref"]; refers && u.draft < Draft2019 {
		return // keywords beside a $ref don't count there, not even this
	}
	id, _ := m[key].(string)
	uri, fragment, _ := strings.Cut(id, "#")
	if uri != "" {
		uri = resolveURI(n.base.uri, uri)
		if _, taken := u.resources[uri]; taken {
			r.fail(n, []string{key}, "give each schema an id of its own", "two schemas have the id %s", quote(uri))
		}
		old := n.base
		n.base = &resource{uri: uri, root: n}
		u.resources[uri] = n.base
		if n.parent == nil {
			u.resources[""] = n.base
			old.root = n
		}
	} else if n.parent == nil {
		n.base.root = n
	}
	anchor := func(name string, dynamic bool) {
		if n.base.anchors == nil {
			n.base.anchors, n.base.dynamic = map[string]*node{}, map[string]*node{}
		}
		n.base.anchors[name] = n
		if dynamic {
			n.base.dynamic[name] = n
		}
	}
	if fragment != "" && u.draft < Draft2019 {
		anchor(fragment, false)
	}
	if name, ok := m["$anchor"].(string); ok && u.draft >= Draft2019 {
		anchor(name, false)
	}
	if name, ok := m["$dynamicAnchor"].(string); ok && u.draft >= Draft2020 {
		anchor(name, true)
	}
	if m["$recursiveAnchor"] == true && u.draft >= Draft2019 && n.base.root == n {
		n.base.recursive = true
	}
}

// A parser reads the keywords of one schema object.
type parser struct {
	reader                     *reader
	node                       *node
	depth                      int
	exclusiveMin, exclusiveMax bool // draft 4's flags
}

func (p *parser) fail(keyword, help, format string, args ...any) {
	p.reader.fail(p.node, []string{keyword}, help, format, args...)
}

func (p *parser) parse(m map[string]any) {
	n := p.node
	for keyword, v := range m {
		if p.reader.full {
			return
		}
		p.keyword(keyword, v, m)
	}
	if o := n.objects; o != nil {
		slices.SortFunc(o.patterns, func(a, b patternRule) int { return cmp.Compare(a.node.key, b.node.key) })
		slices.SortFunc(o.needs, func(a, b dependency) int {
			return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.keyword, b.keyword))
		})
	}
	p.arrayForms(m)
	if n.cond == nil {
		n.then, n.other = nil, nil
	}
	if _, ok := m["$ref"]; ok && n.unit.draft < Draft2019 {
		// There nothing beside a $ref counts; what it defines can be referred to.
		*n = node{unit: n.unit, parent: n.parent, keyword: n.keyword, key: n.key, raw: n.raw,
			kinds: Anything, children: n.children, base: n.base, ref: n.ref}
	}
}

func (n *node) number() *numberRules {
	if n.numbers == nil {
		n.numbers = &numberRules{}
	}
	return n.numbers
}

func (n *node) text() *stringRules {
	if n.strings == nil {
		n.strings = &stringRules{size: anySize}
	}
	return n.strings
}

func (n *node) array() *arrayRules {
	if n.arrays == nil {
		n.arrays = anyArray(n.unit.draft >= Draft2020)
	}
	return n.arrays
}

func (n *node) object() *objectRules {
	if n.objects == nil {
		n.objects = &objectRules{size: anySize}
	}
	return n.objects
}

// keyword reads one keyword. Keywords that the draft doesn't know are
// annotations, as JSON Schema says of all unknown ones.
func (p *parser) keyword(k string, v any, m map[string]any) {
	n, draft := p.node, p.node.unit.draft
	switch k {
	case "type":
		n.kinds = p.types(v)
	case "enum":
		p.enum(v, m)
	case "const":
		if _, beside := m["enum"]; draft >= Draft6 && p.finite(k, v) && !beside {
			n.values = []any{v}
		}
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		p.bound(k, v, m)
	default:
		if known, ok := keywords[k]; ok && draft >= known.since {
			known.read(*p, k, v)
		}
	}
}

func (p *parser) types(v any) Kinds {
	one := func(v any) Kinds {
		name, _ := v.(string)
		for _, t := range typeNames {
			if t.name == name {
				return t.kinds
			}
		}
		help := "it is one of null, boolean, number, integer, string, array, object"
		if intended, ok := foreignTypes[strings.ToLower(name)]; ok {
			help = fmt.Sprintf("did you mean %q?", intended)
		}
		p.fail("type", help, "%s isn't a type", quote(v))
		return 0
	}
	list, ok := v.([]any)
	if !ok {
		return one(v)
	}
	if len(list) == 0 {
		p.fail("type", "leave it out to allow every type", "type has no member")
	}
	var kinds Kinds
	for i, x := range list {
		kinds |= one(x)
		if slices.ContainsFunc(list[:i], func(y any) bool { return Equal(x, y) }) {
			p.fail("type", "name it once", "type names %s twice", quote(x))
		}
	}
	return kinds
}

// foreignTypes are names that other languages have for the types.
var foreignTypes = map[string]string{
	"str": "string", "text": "string", "int": "integer", "long": "integer", "float": "number", "double": "number", "decimal": "number",
	"bool": "boolean", "list": "array", "tuple": "array", "dict": "object", "map": "object", "mapping": "object", "none": "null", "nil": "null",
	"string": "string", "number": "number", "integer": "integer", "boolean": "boolean", "array": "array", "object": "object", "null": "null",
}

func (p *parser) enum(v any, m map[string]any) {
	list, ok := v.([]any)
	if !ok {
		p.fail("enum", "", "enum is a list of values; here is %s", describe(v))
		return
	}
	if len(list) == 0 {
		p.fail("enum", "name at least one value, or write false for a schema that nothing satisfies", "enum has no value")
		return
	}
	if !p.finite("enum", v) {
		return
	}
	if p.node.unit.draft < Draft2019 {
		seen := map[uint64][]any{}
		for _, x := range list {
			h := hash(x, maxDepth)
			if slices.ContainsFunc(seen[h], func(y any) bool { return Equal(x, y) }) {
				p.fail("enum", "name it once", "enum has the value %s twice", quote(x))
			}
			seen[h] = append(seen[h], x)
		}
	}
	if single, beside := m["const"]; beside && p.node.unit.draft >= Draft6 {
		list = slices.DeleteFunc(slices.Clone(list), func(x any) bool { return !Equal(x, single) })
	}
	p.node.values = list
	if len(list) > 16 {
		index := &valueIndex{make(map[string]bool, len(list)), map[uint64][]any{}}
		for _, x := range list {
			if word, ok := x.(string); ok {
				index.words[word] = true
			} else {
				h := hash(x, maxNesting)
				index.rest[h] = append(index.rest[h], x)
			}
		}
		p.node.index = index
	}
}

// finite reports whether a value is a JSON value, not too deep.
func (p *parser) finite(keyword string, v any) bool {
	if fault := unfit(v, maxNesting); fault != "" {
		p.fail(keyword, "", "the value of %s %s", keyword, fault)
		return false
	}
	return true
}

// unfit says why a value isn't a JSON value of at most some depth, or "".
func unfit(v any, depth int) string {
	if depth < 0 {
		return "is nested too deep"
	}
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			if fault := unfit(x, depth-1); fault != "" {
				return fault
			}
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if fault := unfit(v[k], depth-1); fault != "" {
				return fault
			}
		}
	default:
		if KindOf(v) == 0 {
			return "isn't a JSON value"
		}
	}
	return ""
}

func (p *parser) bound(k string, v any, m map[string]any) {
	n := p.node
	if n.unit.draft == Draft4 && strings.HasPrefix(k, "exclusive") {
		if _, ok := v.(bool); !ok {
			p.fail(k, "", "%s is true or false in draft 4; here is %s", k, describe(v))
		}
		if bound := strings.ToLower(strings.TrimPrefix(k, "exclusive")); m[bound] == nil {
			p.fail(k, "", "%s says something of %q, which is missing", k, bound)
		}
		return
	}
	if k != "multipleOf" && strings.HasPrefix(k, "exclusive") && KindOf(v) == Boolean {
		p.fail(k, fmt.Sprintf("write the bound itself as %q", k), "%s is a number since draft 6; here is %s", k, describe(v))
		return
	}
	f, ok := number(v)
	if !ok || kindOfFloat(f) == 0 {
		p.fail(k, "", "%s is a number; here is %s", k, describe(v))
		return
	}
	rules := n.number()
	switch k {
	case "minimum":
		if rules.min = &f; p.exclusiveMin && n.unit.draft == Draft4 {
			rules.min, rules.above = nil, &f
		}
	case "maximum":
		if rules.max = &f; p.exclusiveMax && n.unit.draft == Draft4 {
			rules.max, rules.below = nil, &f
		}
	case "exclusiveMinimum":
		rules.above = &f
	case "exclusiveMaximum":
		rules.below = &f
	case "multipleOf":
		if f <= 0 {
			p.fail(k, "", "multipleOf is above 0; here is %s", quote(v))
			return
		}
		rules.multiple = &f
	}
}
