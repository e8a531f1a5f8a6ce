package ast

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/schema/regex"
	ordinary "github.com/santhosh-tekuri/jsonschema/v5"
)

// Formats are the checks of the formats that are asserted, those of the
// ordinary validator. Other names are annotations.
var Formats = ordinary.Formats

func init() {
	Formats["regex"] = func(v any) bool { // which the library takes for one of Go's
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
	node   *Node
	depth  int
	all    map[string]any

	overruled bool // by a $ref, as everything beside one is in drafts 4, 6 and 7
}

func (p *parser) fail(keyword, help, format string, args ...any) {
	p.reader.fail(p.node, []string{keyword}, help, format, args...)
}

func (p *parser) parse() {
	n := p.node
	for _, k := range slices.Sorted(maps.Keys(p.all)) { // so that the first fault is the same each time
		if p.reader.full {
			return
		}
		v := p.all[k]
		_ = p.general(k, v) || p.scalar(k, v) || p.container(k, v) || p.annotation(k, v)
	}
	if o := n.Objects; o != nil {
		slices.SortStableFunc(o.Needs, func(a, b dependency) int {
			return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.keyword, b.keyword))
		})
	}
	if n.Cond == nil {
		n.Then, n.Other = nil, nil
	}
}

// general reads keywords about values of any kind.
func (p *parser) general(k string, v any) bool {
	n := p.node
	switch k {
	case "type":
		n.Kinds = p.types(v)
	case "enum":
		p.enum(v)
	case "const":
		if _, beside := p.all["enum"]; p.finite(k, v) && !beside {
			n.Values = []any{v}
		}
	case "$ref":
		if text, ok := p.string(k, v); ok {
			p.reader.refs = append(p.reader.refs, pendingRef{n, text})
		}
	case "$dynamicRef", "$recursiveRef":
		if !p.overruled {
			p.fail(k, `write "$ref"`, "%s isn't understood", k)
		}
	case "definitions", "$defs":
		p.schemaMap(k, v)
	case "allOf":
		n.AllOf = p.schemas(k, v)
	case "anyOf":
		n.AnyOf = p.schemas(k, v)
	case "oneOf":
		n.OneOf = p.schemas(k, v)
	case "not":
		n.Not = p.schema(k, "", v)
	case "if":
		n.Cond = p.schema(k, "", v)
	case "then":
		n.Then = p.schema(k, "", v)
	case "else":
		n.Other = p.schema(k, "", v)
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
		n.text().Min = p.count(k, v, 0)
	case "maxLength":
		n.text().Max = p.count(k, v, MaxCount)
	case "pattern":
		n.text().Pattern = p.pattern(k, "", v)
	case "format":
		if name, ok := p.string(k, v); ok {
			n.text().Format = name
			if p.reader.family.options.AssertFormat || n.Unit.old {
				n.text().Valid = Formats[name]
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
			p.node.array().Prefix = p.schemas(k, v)
		case several || k == "items":
			p.node.array().Rest = p.schema(k, "", v)
		}
	case "prefixItems":
		prefix := p.schemas(k, v)
		if _, several := p.all["items"].([]any); !several {
			p.node.array().Prefix = prefix
		}
	case "contains":
		p.node.array().Contains = p.schema(k, "", v)
	case "minContains":
		p.node.array().Least = p.count(k, v, 1)
	case "maxContains":
		p.node.array().Most = p.count(k, v, MaxCount)
	case "minItems":
		p.node.array().Min = p.count(k, v, 0)
	case "maxItems":
		p.node.array().Max = p.count(k, v, MaxCount)
	case "uniqueItems":
		p.node.array().Unique = p.boolean(k, v)
	case "unevaluatedItems":
		p.node.array().Unevaluated = p.schema(k, "", v)
	case "properties":
		o := p.node.object()
		o.Properties = p.schemaMap(k, v)
		o.Names = slices.Sorted(maps.Keys(o.Properties))
	case "patternProperties":
		nodes := p.schemaMap(k, v)
		for _, source := range slices.Sorted(maps.Keys(nodes)) {
			if re := p.pattern(k, source, source); re != nil {
				o := p.node.object()
				o.Patterns = append(o.Patterns, PatternRule{re, nodes[source]})
			}
		}
	case "additionalProperties":
		p.node.object().Additional = p.schema(k, "", v)
	case "propertyNames":
		p.node.object().PropertyNames = p.schema(k, "", v)
	case "required":
		p.node.object().Required = p.names(k, "", v)
	case "minProperties":
		p.node.object().Min = p.count(k, v, 0)
	case "maxProperties":
		p.node.object().Max = p.count(k, v, MaxCount)
	case "unevaluatedProperties":
		p.node.object().Unevaluated = p.schema(k, "", v)
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
		if _, ok := v.([]any); !ok && !p.node.Unit.old { // draft 4 has no such keyword
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
	for _, name := range slices.Sorted(maps.Keys(m)) { // the first fault is the same each time
		x := m[name]
		d := dependency{Name: name, keyword: k}
		if _, list := x.([]any); k == "dependentRequired" || list && k == "dependencies" {
			d.Names = p.names(k, name, x)
		} else if d.Node = p.schema(k, name, x); d.Node == nil {
			continue
		}
		p.node.object().Needs = append(p.node.object().Needs, d)
	}
}

func (n *Node) number() *NumberRules {
	if n.Numbers == nil {
		n.Numbers = &NumberRules{}
	}
	return n.Numbers
}

func (n *Node) text() *StringRules {
	if n.Strings == nil {
		n.Strings = &StringRules{Size: AnySize}
	}
	return n.Strings
}

func (n *Node) array() *ArrayRules {
	if n.Arrays == nil {
		n.Arrays = AnyArray()
	}
	return n.Arrays
}

func (n *Node) object() *ObjectRules {
	if n.Objects == nil {
		n.Objects = &ObjectRules{Size: AnySize}
	}
	return n.Objects
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
	"str": "string", "text": "string", "int": "integer", "long": "integer", "float": "number",
	"double": "number", "decimal": "number",
	"bool": "boolean", "list": "array", "tuple": "array", "dict": "object", "map": "object",
	"mapping": "object", "none": "null", "nil": "null",
	"string": "string", "number": "number", "integer": "integer", "boolean": "boolean",
	"array": "array", "object": "object", "null": "null",
}

func (p *parser) enum(v any) {
	list, ok := v.([]any)
	if !ok {
		p.fail("enum", "", "enum is a list of values; here is %s", describe(v))
		return
	}
	if len(list) == 0 {
		p.fail("enum", "name at least one value, or write false for a schema that nothing satisfies",
			"enum has no value")
		return
	}
	if !p.finite("enum", v) {
		return
	}
	if single, beside := p.all["const"]; beside {
		list = slices.DeleteFunc(slices.Clone(list), func(x any) bool { return !Equal(x, single) })
	}
	p.node.Values = list
	if len(list) > 16 {
		p.node.index = make(map[any]bool, len(list))
		for _, x := range list {
			k, _ := key(x, maxDepth)
			p.node.index[k] = true
		}
	}
}

// finite reports whether a value is a JSON value, not too deep.
func (p *parser) finite(keyword string, v any) bool {
	if fault := unfit(v, MaxNesting); fault != "" {
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
	f, ok := Float(v)
	if !ok || KindOfFloat(f) == 0 {
		p.fail(k, "", "%s is a number; here is %s", k, describe(v))
		return
	}
	rules := p.node.number()
	switch k {
	case "minimum":
		if rules.Min = &f; p.all["exclusiveMinimum"] == true {
			rules.Min, rules.Above = nil, &f
		}
	case "maximum":
		if rules.Max = &f; p.all["exclusiveMaximum"] == true {
			rules.Max, rules.Below = nil, &f
		}
	case "exclusiveMinimum":
		rules.Above = &f
	case "exclusiveMaximum":
		rules.Below = &f
	case "multipleOf":
		if f <= 0 {
			p.fail(k, "", "multipleOf is above 0; here is %s", quote(v))
			return
		}
		rules.Multiple = &f
	}
}

// A Size is how many there are: characters, items, properties.
type Size struct{ Min, Max int }

var AnySize = Size{Max: MaxCount}

func (z Size) Holds(n int) bool { return z.Min <= n && n <= z.Max }

// Narrow is false where nothing is left.
func (z *Size) Narrow(by Size) bool {
	z.Min, z.Max = max(z.Min, by.Min), min(z.Max, by.Max)
	return z.Min <= z.Max
}

// Work is counted in steps, so that the same question always has the same answer. A step of reasoning costs a few
// microseconds; validating and making up values count smaller steps, and this many make one step of reasoning.
const ChecksPerStep = 32

// Bounded is a checker that takes no more than so many steps.
func Bounded(steps int) Checker { return Checker{most: max(steps, 1)} }

// What the patterns of one validation may cost at most together, besides what
// small ones cost on long texts: a second or less.
const (
	maxEffort     = 12_000_000
	effortsOfByte = 8
)

// An Allowance is what the patterns of several validations may still cost together. Where there
// is none left, they have that of a few short texts each.
type Allowance struct {
	Left int
	Used int // with what each validation has of its own
}

// effortsOfEach is what every validation has of its own.
const effortsOfEach = 1_000

// NewAllowance is that of a run before anything has come from outside.
func NewAllowance() Allowance { return Allowance{Left: maxEffort} }

// draw takes off what a validation has cost beyond its own.
func (a *Allowance) draw(effort int) {
	if a != nil {
		a.Left -= max(0, effort-effortsOfEach)
		a.Used += effort
	}
}

// Refill adds what it may take to match a value that has come from outside several times: a run that reads many
// documents may spend time on their patterns as well.
func (a *Allowance) Refill(v any) { a.Left += 8 * effortsOfByte * textOf(v) }

// textOf is how many bytes of text there are in a value.
func textOf(v any) int {
	n := 0
	switch v := v.(type) {
	case string:
		n = len(v)
	case []any:
		for _, x := range v {
			n += textOf(x)
		}
	case map[string]any:
		for name, x := range v {
			n += len(name) + textOf(x)
		}
	}
	return n
}

// Matches asks a pattern. What that costs is taken off the steps of a checker that has a
// bound of its own; else it is counted by itself.
func (c *Checker) Matches(p *regex.Pattern, text string) bool {
	counted, most := &c.effort, maxEffort+effortsOfByte*len(text)
	if c.most > 0 {
		counted, most = &c.Steps, c.most
	} else if c.allowance != nil {
		most = min(most, max(0, c.allowance.Left)+effortsOfEach)
	}
	left := most - *counted
	matched, decided := p.MatchWithin(text, &left)
	*counted, c.Spent = most-left, c.Spent || !decided
	return matched && decided
}
