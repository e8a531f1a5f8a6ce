package schema

import (
	"fmt"
	"math"
	"math/big"
	"reflect"
	"strconv"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler/wording"
)

// maxSteps bounds the work of one validation: enough for values of megabytes,
// and about a second at most. memoAfter is when a validation begins to
// remember what it has found, which keeps recursive alternatives from being
// tried over and over at every level.
const (
	maxSteps   = 20_000_000
	cacheAfter = 50_000
)

// Accepts reports whether the schema accepts a value, without saying why not.
func (s *Schema) Accepts(v any) bool {
	n := s.ready()
	if n.verdict == always {
		return KindOf(v) != 0
	}
	c := checker{}
	return c.accepts(n, v) && !c.spent
}

// AcceptsWithin is Accepts within a budget of steps like that of [Contains], off which
// it takes what it cost. It is undecided when they don't last.
func (s *Schema) AcceptsWithin(v any, steps *int) (accepted, decided bool) {
	c := bounded(*steps * checksPerStep)
	accepted = c.accepts(s.ready(), v)
	*steps -= c.steps / checksPerStep
	return accepted && !c.spent, !c.spent
}

// A checker validates one value. Its zero value is ready.
type checker struct {
	steps  int
	most   int // how many steps there may be, which are then the same every time; 0 for maxSteps
	effort int // of regular patterns, where most is 0
	depth  int
	spent  bool // out of steps or depth: no answer counts
	cache  map[cacheKey]bool

	allowance *Allowance // of effort, with other validations; nil for none

	explains bool       // it looks for a violation, and remembers no answers
	found    *Violation // by which the last node refused the value
	path     []Step     // in the value, while it explains
}

type cacheKey struct {
	node *node
	data uintptr
	size int
}

// accepts reports whether the node accepts the value.
func (c *checker) accepts(n *node, v any) bool {
	if c.spent {
		return false
	}
	if c.steps++; c.steps > maxSteps || c.depth > maxDepth || c.most > 0 && c.steps > c.most {
		c.spent = true
		return false
	}
	c.explains = c.explains && c.steps <= maxExplained
	switch n.verdict {
	case always:
		return true
	case never:
		return c.explains && c.fail(n, "", "nothing is allowed here, got %s", describe(v))
	}
	c.depth++
	ok := c.memoized(n, v)
	c.depth--
	return ok
}

// test is accepts for a node whose refusal is no violation.
func (c *checker) test(n *node, v any) bool {
	explains := c.explains
	c.explains = false
	defer func() { c.explains = explains }()
	return c.accepts(n, v)
}

// part reports whether the node, if there is one, accepts a part of the value.
func (c *checker) part(n *node, step Step, v any) bool {
	if n == nil || !c.explains {
		return n == nil || c.accepts(n, v)
	}
	c.path = append(c.path, step)
	defer c.leave()
	return c.accepts(n, v)
}

func (c *checker) leave() { c.path = c.path[:len(c.path)-1] }

// memoized remembers answers about containers once a validation has become
// long. What a node says of a value doesn't depend on the way there.
func (c *checker) memoized(n *node, v any) bool {
	if c.steps < cacheAfter || c.explains {
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
	if !c.spent {
		if c.cache == nil {
			c.cache = map[cacheKey]bool{}
		}
		c.cache[key] = answer
	}
	return answer
}

// check reports whether the node accepts the value. When the checker explains, it keeps the violation.
func (c *checker) check(n *node, v any) bool {
	kind := KindOf(v)
	switch {
	case kind == 0:
		return c.explains && c.fail(n, "type", "expected a JSON value, got %s", describe(v))
	case n.kinds&kind == 0:
		return c.explains && c.fail(n, "type", "expected %s, got %s", n.kinds, describe(v))
	case n.values != nil && !n.lists(v):
		return c.explains && c.fail(n, n.valuesKeyword(), "expected %s, got %s", shown(listed(n.values)), describe(v))
	}
	switch kind {
	case String:
		if n.strings != nil && !c.text(n, v.(string)) {
			return false
		}
	case Integer, Fraction:
		if f, _ := number(v); n.numbers != nil && !c.number(n, f) {
			return false
		}
	case Object:
		if n.objects != nil && !c.object(n, v.(map[string]any)) {
			return false
		}
	case Array:
		if n.arrays != nil && !c.array(n, v.([]any)) {
			return false
		}
	}
	return c.inPlace(n, v)
}

// valuesKeyword is the keyword that lists the node's values.
func (n *node) valuesKeyword() string {
	if m, ok := n.raw.(map[string]any); ok && m["enum"] == nil {
		return "const"
	}
	return "enum"
}

// lists reports whether a value is among the node's.
func (n *node) lists(v any) bool {
	if n.index == nil {
		return contains(n.values, v)
	}
	if word, ok := v.(string); ok {
		return n.index.words[word]
	}
	return contains(n.index.rest[hash(v, maxNesting)], v)
}

func contains(values []any, v any) bool {
	if s, ok := v.(string); ok {
		for _, x := range values {
			if x == s {
				return true
			}
		}
		return false
	}
	for _, x := range values {
		if Equal(x, v) {
			return true
		}
	}
	return false
}

// inPlace checks what the node applies to the value itself.
func (c *checker) inPlace(n *node, v any) bool {
	if n.ref != nil && !c.accepts(n.ref, v) {
		return false
	}
	for _, x := range n.allOf {
		if !c.accepts(x, v) {
			return false
		}
	}
	if n.anyOf != nil && !c.alternatives(n, "anyOf", n.anyOf, v) || n.oneOf != nil &&
		!c.alternatives(n, "oneOf", n.oneOf, v) {
		return false
	}
	if n.not != nil && c.test(n.not, v) {
		if n.not.values != nil {
			return c.explains && c.fail(n, "not", "expected anything but %s", shown(listed(n.not.values)))
		}
		return c.explains && c.fail(n, "not", "%s fits what is excluded here", describe(v))
	}
	if n.cond != nil && (n.then != nil || n.other != nil) {
		branch := n.other
		if c.test(n.cond, v) {
			branch = n.then
		}
		if branch != nil && !c.accepts(branch, v) {
			return false
		}
	}
	return c.unevaluated(n, v)
}

// alternatives checks the value against the branches of anyOf, or of oneOf, where exactly one must accept it.
func (c *checker) alternatives(n *node, keyword string, list []*node, v any) bool {
	var refusals []*Violation
	first := -1
	for i, x := range list {
		switch {
		case !c.accepts(x, v):
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

// isMultiple judges the numbers as they are written: 0.3 is a multiple of 0.1.
func isMultiple(f, of float64) bool {
	const exact = 1 << 53
	if of == math.Trunc(of) && of < exact && math.Abs(f) < exact {
		return math.Mod(f, of) == 0
	}
	return new(big.Rat).Quo(rational(f), rational(of)).IsInt()
}

// rational is the number whose shortest decimal is that of f.
func rational(f float64) *big.Rat {
	r, _ := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64))
	return r
}

func (c *checker) number(n *node, f float64) bool {
	r := n.numbers
	keyword, format, bound := "", "", (*float64)(nil)
	switch {
	case r.min != nil && f < *r.min:
		keyword, format, bound = "minimum", "expected %s or more, got %s", r.min
	case r.above != nil && f <= *r.above:
		keyword, format, bound = "exclusiveMinimum", "expected more than %s, got %s", r.above
	case r.max != nil && f > *r.max:
		keyword, format, bound = "maximum", "expected %s or less, got %s", r.max
	case r.below != nil && f >= *r.below:
		keyword, format, bound = "exclusiveMaximum", "expected less than %s, got %s", r.below
	case r.multiple != nil && !isMultiple(f, *r.multiple):
		keyword, format, bound = "multipleOf", "expected a multiple of %s, got %s", r.multiple
	default:
		return true
	}
	return c.explains && c.fail(n, keyword, format, quote(*bound), shown(quote(f)))
}

func (c *checker) text(n *node, s string) bool {
	r := n.strings
	length := r.min
	if r.min > 0 || r.max < len(s) {
		length = utf8.RuneCountInString(s)
	}
	switch {
	case length < r.min:
		return c.explains && c.fail(n, "minLength", "expected at least %s, got %s with %d", wording.Count(r.min, "character"),
			shown(quote(s)), length)
	case length > r.max:
		return c.explains && c.fail(n, "maxLength", "expected at most %s, got %s with %d", wording.Count(r.max, "character"),
			shown(quote(s)), length)
	case r.pattern != nil && !c.matches(r.pattern, s):
		return c.explains && c.fail(n, "pattern", "expected a string that matches the pattern %s, got %s",
			quote(r.pattern.Source), shown(quote(s)))
	case r.valid != nil && !r.valid(s):
		return c.explains && c.fail(n, "format", "expected a string of the format %s, got %s", quote(r.format),
			shown(quote(s)))
	}
	return true
}

func (c *checker) object(n *node, v map[string]any) bool {
	r := n.objects
	for _, name := range r.required {
		if _, ok := v[name]; !ok {
			if c.explains {
				c.found = c.violation(n, "required", "%q is missing", name)
				c.found.Lacks = name
			}
			return false
		}
	}
	if r.properties != nil || r.patterns != nil || r.propertyNames != nil || r.additional.limits() {
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
	case len(v) < r.min:
		return c.explains && c.fail(n, "minProperties", "expected at least %s, got %d",
			wording.Counted(r.min, "property", "properties"), len(v))
	case len(v) > r.max:
		return c.explains && c.fail(n, "maxProperties", "expected at most %s, got %d",
			wording.Counted(r.max, "property", "properties"), len(v))
	}
	for _, d := range r.needs {
		if _, ok := v[d.name]; !ok {
			continue
		}
		for _, name := range d.names {
			if _, ok := v[name]; !ok {
				return c.explains && c.fail(n, d.keyword, "%q is missing, which is needed where %q is there", name, d.name)
			}
		}
		if d.node != nil && !c.accepts(d.node, v) {
			return false
		}
	}
	return true
}

func (c *checker) property(n *node, name string, x any) bool {
	r, step := n.objects, Key(name)
	if r.propertyNames != nil && !c.part(r.propertyNames, step, name) {
		if c.explains && c.found != nil {
			c.found.Keyword, c.found.Message = "propertyNames", fmt.Sprintf("the name %q isn't allowed: %s", name,
				c.found.Message)
		}
		return false
	}
	declared := r.properties[name]
	if declared != nil && !c.part(declared, step, x) {
		return false
	}
	known := declared != nil
	for _, p := range r.patterns {
		if c.matches(p.pattern, name) {
			if known = true; !c.part(p.node, step, x) {
				return false
			}
		}
		if c.spent {
			return false
		}
	}
	return known || c.undeclared(n, "additionalProperties", r.additional, r.names, name, x)
}

// undeclared checks a property that the node doesn't declare against the schema of the rest.
func (c *checker) undeclared(n *node, keyword string, rest *node, known []string, name string, x any) bool {
	if c.explains && rest != nil && rest.verdict == never {
		c.path = append(c.path, Key(name))
		defer c.leave()
		return c.fail(n, keyword, "%q isn't a known property%s", name, knownNames(known))
	}
	return c.part(rest, Key(name), x)
}

func (c *checker) array(n *node, v []any) bool {
	r := n.arrays
	switch {
	case len(v) < r.min:
		return c.explains && c.fail(n, "minItems", "expected at least %s, got %d", wording.Count(r.min, "item"), len(v))
	case len(v) > r.max:
		return c.explains && c.fail(n, "maxItems", "expected at most %s, got %d", wording.Count(r.max, "item"), len(v))
	case r.rest != nil && r.rest.verdict == never && len(v) > len(r.prefix):
		return c.explains && c.fail(n, "items", "expected at most %s, got %d", wording.Count(len(r.prefix), "item"),
			len(v))
	}
	for i, x := range v {
		item := r.item(i)
		if i >= len(r.prefix) && !item.limits() {
			break
		}
		if !c.part(item, Step{Index: i, IsIndex: true}, x) {
			return false
		}
	}
	if r.unique {
		if i, j := duplicate(v); i >= 0 {
			return c.explains && c.fail(n, "uniqueItems", "expected items that all differ, but items %d and %d are both %s", i,
				j, describe(v[j]))
		}
	}
	if r.contains == nil {
		return true
	}
	matched := 0
	for _, x := range v {
		if c.test(r.contains, x) {
			matched++
		}
	}
	switch {
	case matched < r.least:
		return c.explains && c.fail(n, "contains", "expected at least %s of the kind that contains asks for, got %d",
			wording.Count(r.least, "item"), matched)
	case matched > r.most:
		return c.explains && c.fail(n, "maxContains", "expected at most %s of the kind that contains asks for, got %d",
			wording.Count(r.most, "item"), matched)
	}
	return true
}

// duplicate finds two equal items, the earliest pair by its second; -1 when
// there is none.
func duplicate(v []any) (int, int) {
	if len(v) <= 8 {
		for j := range v {
			for i := range j {
				if Equal(v[i], v[j]) {
					return i, j
				}
			}
		}
		return -1, -1
	}
	seen := make(map[uint64][]int, len(v))
	for j, x := range v {
		h := hash(x, maxDepth)
		for _, i := range seen[h] {
			if Equal(v[i], x) {
				return i, j
			}
		}
		seen[h] = append(seen[h], j)
	}
	return -1, -1
}
