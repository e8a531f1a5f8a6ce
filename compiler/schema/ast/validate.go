package ast

import (
	"fmt"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler/wording"
)

// maxSteps bounds the work of one validation: enough for values of megabytes,
// and about a second at most. cacheAfter is when a validation begins to
// remember what it has found, which keeps recursive alternatives from being
// tried over and over at every level.
const (
	maxSteps   = 20_000_000
	cacheAfter = 50_000
)

// A Checker validates one value. Its zero value is ready.
type Checker struct {
	Steps  int
	most   int // how many steps there may be, which are then the same every time; 0 for maxSteps
	effort int // of regular patterns, where most is 0
	depth  int
	Spent  bool // out of steps or depth: no answer counts
	cache  map[cacheKey]bool

	allowance *Allowance // of effort, with other validations; nil for none

	explains bool       // it looks for a violation, and remembers no answers
	found    *Violation // by which the last node refused the value
	path     []Step     // in the value, while it explains
}

type cacheKey struct {
	node *Node
	data uintptr
	size int
}

// Accepts reports whether the node accepts the value.
func (c *Checker) Accepts(n *Node, v any) bool {
	if c.Spent {
		return false
	}
	if c.Steps++; c.Steps > maxSteps || c.depth > maxDepth || c.most > 0 && c.Steps > c.most {
		c.Spent = true
		return false
	}
	c.explains = c.explains && c.Steps <= maxExplained
	switch n.Verdict {
	case Always:
		return true
	case Never:
		return c.explains && c.fail(n, "", "nothing is allowed here, got %s", describe(v))
	}
	c.depth++
	ok := c.memoized(n, v)
	c.depth--
	return ok
}

// test is accepts for a node whose refusal is no violation.
func (c *Checker) test(n *Node, v any) bool {
	explains := c.explains
	c.explains = false
	defer func() { c.explains = explains }()
	return c.Accepts(n, v)
}

// part reports whether the node, if there is one, accepts a part of the value.
func (c *Checker) part(n *Node, step Step, v any) bool {
	if n == nil || !c.explains {
		return n == nil || c.Accepts(n, v)
	}
	c.path = append(c.path, step)
	defer c.leave()
	return c.Accepts(n, v)
}

func (c *Checker) leave() { c.path = c.path[:len(c.path)-1] }

// memoized remembers answers about containers once a validation has become
// long. What a node says of a value doesn't depend on the way there.
func (c *Checker) memoized(n *Node, v any) bool {
	if c.Steps < cacheAfter || c.explains {
		return c.check(n, v)
	}
	key := cacheKey{node: n}
	switch v := v.(type) {
	case map[string]any:
		key.data, key.size = reflect.ValueOf(v).Pointer(), -1
	case []any:
		key.data, key.size = reflect.ValueOf(v).Pointer(), len(v)
	default:
		return c.check(n, v)
	}
	if answer, ok := c.cache[key]; ok {
		return answer
	}
	answer := c.check(n, v)
	if !c.Spent {
		if c.cache == nil {
			c.cache = map[cacheKey]bool{}
		}
		c.cache[key] = answer
	}
	return answer
}

// check reports whether the node accepts the value. When the checker explains, it keeps the violation.
func (c *Checker) check(n *Node, v any) bool {
	kind := KindOf(v)
	switch {
	case kind == 0:
		return c.explains && c.fail(n, "type", "expected a JSON value, got %s", describe(v))
	case n.Kinds&kind == 0:
		return c.explains && c.fail(n, "type", "expected %s, got %s", n.Kinds, describe(v))
	case n.Values != nil && !n.Lists(v):
		return c.explains && c.fail(n, n.valuesKeyword(), "expected %s, got %s", shown(listed(n.Values)), describe(v))
	}
	switch kind {
	case String:
		if n.Strings != nil && !c.text(n, v.(string)) {
			return false
		}
	case Integer, Fraction:
		if f, _ := Float(v); n.Numbers != nil && !c.number(n, f) {
			return false
		}
	case Object:
		if n.Objects != nil && !c.object(n, v.(map[string]any)) {
			return false
		}
	case Array:
		if n.Arrays != nil && !c.array(n, v.([]any)) {
			return false
		}
	}
	return c.inPlace(n, v)
}

// valuesKeyword is the keyword that lists the node's values.
func (n *Node) valuesKeyword() string {
	if m, ok := n.Raw.(map[string]any); ok && m["enum"] == nil {
		return "const"
	}
	return "enum"
}

// Lists reports whether a value is among the node's.
func (n *Node) Lists(v any) bool {
	if n.index == nil {
		return contains(n.Values, v)
	}
	k, ok := key(v, maxDepth)
	return ok && n.index[k]
}

func contains(values []any, v any) bool {
	return slices.ContainsFunc(values, func(x any) bool { return Equal(x, v) })
}

// inPlace checks what the node applies to the value itself.
func (c *Checker) inPlace(n *Node, v any) bool {
	if n.Ref != nil && !c.Accepts(n.Ref, v) {
		return false
	}
	for _, x := range n.AllOf {
		if !c.Accepts(x, v) {
			return false
		}
	}
	if n.AnyOf != nil && !c.alternatives(n, "anyOf", n.AnyOf, v) || n.OneOf != nil &&
		!c.alternatives(n, "oneOf", n.OneOf, v) {
		return false
	}
	if n.Not != nil && c.test(n.Not, v) {
		if n.Not.Values != nil {
			return c.explains && c.fail(n, "not", "expected anything but %s", shown(listed(n.Not.Values)))
		}
		return c.explains && c.fail(n, "not", "%s fits what is excluded here", describe(v))
	}
	if n.Cond != nil && (n.Then != nil || n.Other != nil) {
		branch := n.Other
		if c.test(n.Cond, v) {
			branch = n.Then
		}
		if branch != nil && !c.Accepts(branch, v) {
			return false
		}
	}
	return c.unevaluated(n, v)
}

// alternatives checks the value against the branches of anyOf, or of oneOf, where exactly one must accept it.
func (c *Checker) alternatives(n *Node, keyword string, list []*Node, v any) bool {
	var refusals []*Violation
	first := -1
	for i, x := range list {
		switch {
		case !c.Accepts(x, v):
			refusals = append(refusals, c.found)
		case first >= 0:
			return c.explains && c.fail(n, keyword,
				"expected exactly one of %d alternatives to fit, but number %d and number %d both fit %s",
				len(list), first+1, i+1, describe(v))
		default:
			first = i
		}
		if first >= 0 && keyword == "anyOf" {
			break
		}
	}
	if c.found = nil; first < 0 && c.explains {
		c.found = c.closest(n, keyword, list, refusals, v)
	}
	return first >= 0
}

// IsMultiple judges the numbers as they are written: 0.3 is a multiple of 0.1.
func IsMultiple(f, of float64) bool {
	const exact = 1 << 53
	if of == math.Trunc(of) && of < exact && math.Abs(f) < exact {
		return math.Mod(f, of) == 0
	}
	return new(big.Rat).Quo(Rational(f), Rational(of)).IsInt()
}

// Rational is the number whose shortest decimal is that of f.
func Rational(f float64) *big.Rat {
	r, _ := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64))
	return r
}

func (c *Checker) number(n *Node, f float64) bool {
	r := n.Numbers
	keyword, format, bound := "", "", (*float64)(nil)
	switch {
	case r.Min != nil && f < *r.Min:
		keyword, format, bound = "minimum", "expected %s or more, got %s", r.Min
	case r.Above != nil && f <= *r.Above:
		keyword, format, bound = "exclusiveMinimum", "expected more than %s, got %s", r.Above
	case r.Max != nil && f > *r.Max:
		keyword, format, bound = "maximum", "expected %s or less, got %s", r.Max
	case r.Below != nil && f >= *r.Below:
		keyword, format, bound = "exclusiveMaximum", "expected less than %s, got %s", r.Below
	case r.Multiple != nil && !IsMultiple(f, *r.Multiple):
		keyword, format, bound = "multipleOf", "expected a multiple of %s, got %s", r.Multiple
	default:
		return true
	}
	return c.explains && c.fail(n, keyword, format, quote(*bound), shown(quote(f)))
}

func (c *Checker) text(n *Node, s string) bool {
	r := n.Strings
	length := r.Min
	if r.Min > 0 || r.Max < len(s) {
		length = utf8.RuneCountInString(s)
	}
	switch {
	case length < r.Min:
		return c.explains &&
			c.fail(n, "minLength", "expected at least %s, got %s with %d", wording.Count(r.Min, "character"),
				shown(quote(s)), length)
	case length > r.Max:
		return c.explains &&
			c.fail(n, "maxLength", "expected at most %s, got %s with %d", wording.Count(r.Max, "character"),
				shown(quote(s)), length)
	case r.Pattern != nil && !c.Matches(r.Pattern, s):
		return c.explains && c.fail(n, "pattern", "expected a string that matches the pattern %s, got %s",
			quote(r.Pattern.Source), shown(quote(s)))
	case r.Valid != nil && !r.Valid(s):
		return c.explains && c.fail(n, "format", "expected a string of the format %s, got %s", quote(r.Format),
			shown(quote(s)))
	}
	return true
}

func (c *Checker) object(n *Node, v map[string]any) bool {
	r := n.Objects
	for _, name := range r.Required {
		if _, ok := v[name]; !ok {
			if c.explains {
				c.found = c.violation(n, "required", "%q is missing", name)
				c.found.Lacks = name
			}
			return false
		}
	}
	if r.Properties != nil || r.Patterns != nil || r.PropertyNames != nil || r.Additional.Limits() {
		if c.most > 0 || c.explains { // the order decides how many steps there are, and which violation is found
			for _, name := range sortedKeys(v) {
				if !c.property(n, name, v[name]) {
					return false
				}
			}
		} else {
			for name, x := range v {
				if !c.property(n, name, x) {
					return false
				}
			}
		}
	}
	switch {
	case len(v) < r.Min:
		return c.explains && c.fail(n, "minProperties", "expected at least %s, got %d",
			wording.Counted(r.Min, "property", "properties"), len(v))
	case len(v) > r.Max:
		return c.explains && c.fail(n, "maxProperties", "expected at most %s, got %d",
			wording.Counted(r.Max, "property", "properties"), len(v))
	}
	for _, d := range r.Needs {
		if _, ok := v[d.Name]; !ok {
			continue
		}
		for _, name := range d.Names {
			if _, ok := v[name]; !ok {
				return c.explains &&
					c.fail(n, d.keyword, "%q is missing, which is needed where %q is there", name, d.Name)
			}
		}
		if d.Node != nil && !c.Accepts(d.Node, v) {
			return false
		}
	}
	return true
}

func (c *Checker) property(n *Node, name string, x any) bool {
	r, step := n.Objects, Key(name)
	if r.PropertyNames != nil && !c.part(r.PropertyNames, step, name) {
		if c.explains && c.found != nil {
			c.found.Keyword, c.found.Message = "propertyNames", fmt.Sprintf("the name %q isn't allowed: %s", name,
				c.found.Message)
		}
		return false
	}
	declared := r.Properties[name]
	if declared != nil && !c.part(declared, step, x) {
		return false
	}
	known := declared != nil
	for _, p := range r.Patterns {
		if c.Matches(p.Pattern, name) {
			if known = true; !c.part(p.Node, step, x) {
				return false
			}
		}
		if c.Spent {
			return false
		}
	}
	return known || c.undeclared(n, "additionalProperties", r.Additional, r.Names, name, x)
}

// undeclared checks a property that the node doesn't declare against the schema of the rest.
func (c *Checker) undeclared(n *Node, keyword string, rest *Node, known []string, name string, x any) bool {
	if c.explains && rest != nil && rest.Verdict == Never {
		c.path = append(c.path, Key(name))
		defer c.leave()
		return c.fail(n, keyword, "%q isn't a known property%s", name, knownNames(known))
	}
	return c.part(rest, Key(name), x)
}

func (c *Checker) array(n *Node, v []any) bool {
	r := n.Arrays
	switch {
	case len(v) < r.Min:
		return c.explains && c.fail(n, "minItems", "expected at least %s, got %d", wording.Count(r.Min, "item"), len(v))
	case len(v) > r.Max:
		return c.explains && c.fail(n, "maxItems", "expected at most %s, got %d", wording.Count(r.Max, "item"), len(v))
	case r.Rest != nil && r.Rest.Verdict == Never && len(v) > len(r.Prefix):
		return c.explains && c.fail(n, "items", "expected at most %s, got %d", wording.Count(len(r.Prefix), "item"),
			len(v))
	}
	for i, x := range v {
		item := r.Item(i)
		if i >= len(r.Prefix) && !item.Limits() {
			break
		}
		if !c.part(item, Step{Index: i, IsIndex: true}, x) {
			return false
		}
	}
	if r.Unique {
		if i, j := duplicate(v); i >= 0 {
			return c.explains &&
				c.fail(n, "uniqueItems", "expected items that all differ, but items %d and %d are both %s", i,
					j, describe(v[j]))
		}
	}
	if r.Contains == nil {
		return true
	}
	matched := 0
	for _, x := range v {
		if c.test(r.Contains, x) {
			matched++
		}
	}
	switch {
	case matched < r.Least:
		return c.explains && c.fail(n, "contains", "expected at least %s of the kind that contains asks for, got %d",
			wording.Count(r.Least, "item"), matched)
	case matched > r.Most:
		return c.explains && c.fail(n, "maxContains", "expected at most %s of the kind that contains asks for, got %d",
			wording.Count(r.Most, "item"), matched)
	}
	return true
}

// duplicate finds two equal items, the earliest pair by its second; -1 when
// there is none.
func duplicate(v []any) (int, int) {
	seen := make(map[any]int, len(v))
	for j, x := range v {
		k, ok := key(x, maxDepth)
		if i, twice := seen[k]; ok && twice {
			return i, j
		}
		if ok {
			seen[k] = j
		}
	}
	return -1, -1
}

// Accepts reports whether a node accepts a value, without saying why not.
func Accepts(n *Node, v any) bool {
	if n.Verdict == Always {
		return KindOf(v) != 0
	}
	c := Checker{}
	return c.Accepts(n, v) && !c.Spent
}
