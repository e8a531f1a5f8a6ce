package schema

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/schema/regex"
	ordinary "github.com/santhosh-tekuri/jsonschema/v5"
)

// formats are the checks of the formats that are asserted, those of the
// ordinary validator. Other names are annotations.
var formats = ordinary.Formats

func init() {
	formats["regex"] = func(v any) bool { // which the library takes for one of Go's
		source, ok := v.(string)
		if !ok {
			return true
		}
		_, _, err := regex.Compile(source)
		return err == nil
	}
}

// A parser reads the keywords of one schema object.
type parser struct {
	reader *reader
	node   *node
	depth  int
	all    map[string]any

	overruled bool // by a $ref, as everything beside one is in drafts 4, 6 and 7
}

func (p *parser) fail(keyword, help, format string, args ...any) {
	p.reader.fail(p.node, []string{keyword}, help, format, args...)
}

func (p *parser) parse() {
	n := p.node
	for k, v := range p.all {
		if p.reader.full {
			return
		}
		_ = p.general(k, v) || p.scalar(k, v) || p.container(k, v) || p.annotation(k, v)
	}
	if o := n.objects; o != nil {
		slices.SortFunc(o.patterns, func(a, b patternRule) int { return cmp.Compare(a.node.key, b.node.key) })
		slices.SortFunc(o.needs, func(a, b dependency) int {
			return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.keyword, b.keyword))
		})
	}
	if n.cond == nil {
		n.then, n.other = nil, nil
	}
}

// general reads keywords about values of any kind.
func (p *parser) general(k string, v any) bool {
	n := p.node
	switch k {
	case "type":
		n.kinds = p.types(v)
	case "enum":
		p.enum(v)
	case "const":
		if _, beside := p.all["enum"]; p.finite(k, v) && !beside {
			n.values = []any{v}
		}
	case "$ref", "$dynamicRef":
		if text, ok := p.string(k, v); ok && (k == "$ref" || !p.overruled) {
			p.reader.refs = append(p.reader.refs, pendingRef{n, k, text})
		}
	case "$recursiveRef":
		p.fail(k, `write "$ref"`, "%s isn't understood", k)
	case "definitions", "$defs":
		p.schemaMap(k, v)
	case "allOf":
		n.allOf = p.schemas(k, v)
	case "anyOf":
		n.anyOf = p.schemas(k, v)
	case "oneOf":
		n.oneOf = p.schemas(k, v)
	case "not":
		n.not = p.schema(k, "", v)
	case "if":
		n.cond = p.schema(k, "", v)
	case "then":
		n.then = p.schema(k, "", v)
	case "else":
		n.other = p.schema(k, "", v)
	default:
		return false
	}
	return true
}

// scalar reads keywords about numbers and texts.
func (p *parser) scalar(k string, v any) bool {
	n := p.node
	switch k {
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		p.bound(k, v)
	case "minLength":
		n.text().min = p.count(k, v, 0)
	case "maxLength":
		n.text().max = p.count(k, v, maxCount)
	case "pattern":
		n.text().pattern = p.pattern(k, "", v)
	case "format":
		if name, ok := p.string(k, v); ok {
			n.text().format = name
			if p.reader.family.options.AssertFormat || n.unit.old {
				n.text().valid = formats[name]
			}
		}
	default:
		return false
	}
	return true
}

// container reads keywords about arrays and objects.
func (p *parser) container(k string, v any) bool {
	switch k {
	case "items", "additionalItems":
		_, several := p.all["items"].([]any)
		switch {
		case several && k == "items":
			p.node.array().prefix = p.schemas(k, v)
		case several || k == "items":
			p.node.array().rest = p.schema(k, "", v)
		}
	case "prefixItems":
		prefix := p.schemas(k, v)
		if _, several := p.all["items"].([]any); !several {
			p.node.array().prefix = prefix
		}
	case "contains":
		p.node.array().contains = p.schema(k, "", v)
	case "minContains":
		p.node.array().least = p.count(k, v, 1)
	case "maxContains":
		p.node.array().most = p.count(k, v, maxCount)
	case "minItems":
		p.node.array().min = p.count(k, v, 0)
	case "maxItems":
		p.node.array().max = p.count(k, v, maxCount)
	case "uniqueItems":
		p.node.array().unique = p.boolean(k, v)
	case "unevaluatedItems":
		p.node.array().unevaluated = p.schema(k, "", v)
	case "properties":
		o := p.node.object()
		o.properties = p.schemaMap(k, v)
		o.names = slices.Sorted(maps.Keys(o.properties))
	case "patternProperties":
		for source, x := range p.schemaMap(k, v) {
			if re := p.pattern(k, source, source); re != nil {
				o := p.node.object()
				o.patterns = append(o.patterns, patternRule{re, x})
			}
		}
	case "additionalProperties":
		p.node.object().additional = p.schema(k, "", v)
	case "propertyNames":
		p.node.object().propertyNames = p.schema(k, "", v)
	case "required":
		p.node.object().required = p.names(k, "", v)
	case "minProperties":
		p.node.object().min = p.count(k, v, 0)
	case "maxProperties":
		p.node.object().max = p.count(k, v, maxCount)
	case "unevaluatedProperties":
		p.node.object().unevaluated = p.schema(k, "", v)
	case "dependencies", "dependentRequired", "dependentSchemas":
		p.dependencies(k, v)
	default:
		return false
	}
	return true
}

// annotation reads keywords that say nothing of values but have a form of their own.
func (p *parser) annotation(k string, v any) bool {
	switch k {
	case "title", "description", "$comment", "$id", "$anchor", "$dynamicAnchor", "contentEncoding", "contentMediaType":
		p.string(k, v)
	case "readOnly", "writeOnly", "deprecated":
		p.boolean(k, v)
	case "contentSchema":
		p.schema(k, "", v)
	case "examples":
		if _, ok := v.([]any); !ok && !p.node.unit.old { // draft 4 has no such keyword
			p.fail(k, "", "examples is a list of values; here is %s", describe(v))
		}
	}
	return true
}

func (p *parser) dependencies(k string, v any) {
	m, ok := v.(map[string]any)
	if !ok {
		p.fail(k, "", "%s is an object; here is %s", k, describe(v))
		return
	}
	for name, x := range m {
		d := dependency{name: name, keyword: k}
		if _, list := x.([]any); k == "dependentRequired" || list && k == "dependencies" {
			d.names = p.names(k, name, x)
		} else if d.node = p.schema(k, name, x); d.node == nil {
			continue
		}
		p.node.object().needs = append(p.node.object().needs, d)
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
		n.arrays = anyArray()
	}
	return n.arrays
}

func (n *node) object() *objectRules {
	if n.objects == nil {
		n.objects = &objectRules{size: anySize}
	}
	return n.objects
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

func (p *parser) enum(v any) {
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
	if single, beside := p.all["const"]; beside {
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

func (p *parser) bound(k string, v any) {
	if of, exclusive := strings.CutPrefix(k, "exclusive"); exclusive && KindOf(v) == Boolean {
		if bound := strings.ToLower(of); v == true && p.all[bound] == nil {
			p.fail(k, "write the number itself: "+k+": 5", "%s is true, and there is no %s", k, bound)
		}
		return // in draft 4 it says whether the bound itself is excluded
	}
	f, ok := number(v)
	if !ok || kindOfFloat(f) == 0 {
		p.fail(k, "", "%s is a number; here is %s", k, describe(v))
		return
	}
	rules := p.node.number()
	switch k {
	case "minimum":
		if rules.min = &f; p.all["exclusiveMinimum"] == true {
			rules.min, rules.above = nil, &f
		}
	case "maximum":
		if rules.max = &f; p.all["exclusiveMaximum"] == true {
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
