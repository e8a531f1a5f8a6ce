package schema

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"unicode/utf8"
)

// maxSteps bounds the work of one validation: enough for values of megabytes,
// and about a second at most. memoAfter is when a validation begins to
// remember what it has found, which keeps recursive alternatives from being
// tried over and over at every level.
const (
	maxSteps  = 20_000_000
	memoAfter = 50_000
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
	scope  *scope
	memo   map[memoKey]bool

	allowance *Allowance // of effort, with other validations; nil for none
}

// A scope is the chain of resources through which a schema was reached, the
// innermost first. Only schemas with dynamic references keep one.
type scope struct {
	in    *resource
	outer *scope
}

type memoKey struct {
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
	switch n.verdict {
	case always:
		return true
	case never:
		return false
	}
	if n.scoped {
		defer c.enter(n)()
	}
	c.depth++
	ok := c.memoized(n, v)
	c.depth--
	return ok
}

// enter adds the node's resource to the scope, until the returned function is
// called.
func (c *checker) enter(n *node) (leave func()) {
	outer := c.scope
	if n.base != nil && (outer == nil || outer.in != n.base) {
		c.scope = &scope{n.base, outer}
	}
	return func() { c.scope = outer }
}

// memoized remembers answers about containers once a validation has become
// long. What a node says of a value doesn't depend on the way there, but for
// dynamic references.
func (c *checker) memoized(n *node, v any) bool {
	if c.steps < memoAfter || n.scoped {
		return c.check(n, v)
	}
	key := memoKey{node: n}
	switch v := v.(type) {
	case map[string]any:
		key.data, key.size = reflect.ValueOf(v).Pointer(), -1
	case []any:
		key.data, key.size = reflect.ValueOf(v).Pointer(), len(v)
	default:
		return c.check(n, v)
	}
	if answer, ok := c.memo[key]; ok {
		return answer
	}
	answer := c.check(n, v)
	if !c.spent {
		if c.memo == nil {
			c.memo = map[memoKey]bool{}
		}
		c.memo[key] = answer
	}
	return answer
}

func (c *checker) check(n *node, v any) bool {
	switch v := v.(type) {
	case string:
		if n.kinds&String == 0 || n.strings != nil && !c.text(n.strings, v) {
			return false
		}
	case float64:
		if !n.acceptsNumber(v) {
			return false
		}
	case bool:
		if n.kinds&Boolean == 0 {
			return false
		}
	case nil:
		if n.kinds&Null == 0 {
			return false
		}
	case map[string]any:
		if n.kinds&Object == 0 || n.objects != nil && !c.object(n.objects, v) {
			return false
		}
	case []any:
		if n.kinds&Array == 0 || n.arrays != nil && !c.array(n.arrays, v) {
			return false
		}
	default:
		f, ok := number(v)
		if !ok || !n.acceptsNumber(f) {
			return false
		}
	}
	if n.values != nil && !n.lists(v) {
		return false
	}
	return c.inPlace(n, v)
}

// lists reports whether a value is among the node's.
func (n *node) lists(v any) bool {
	if n.index == nil {
		return contains(n.values, v)
	}
	if word, ok := v.(string); ok {
		return n.index.words[word]
	}
	return contains(n.index.others[hash(v, maxNesting)], v)
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

// inPlace holds what the node applies to the value itself.
func (c *checker) inPlace(n *node, v any) bool {
	if n.ref != nil && !c.accepts(n.ref, v) {
		return false
	}
	if n.meta != "" && !c.metaschema(n, v) {
		return false
	}
	if n.dynamic != nil && !c.accepts(c.dynamicTarget(n.dynamic), v) {
		return false
	}
	for _, x := range n.allOf {
		if !c.accepts(x, v) {
			return false
		}
	}
	if n.anyOf != nil && !slices.ContainsFunc(n.anyOf, func(x *node) bool { return c.accepts(x, v) }) {
		return false
	}
	if n.oneOf != nil {
		matched := 0
		for _, x := range n.oneOf {
			if c.accepts(x, v) {
				if matched++; matched > 1 {
					return false
				}
			}
		}
		if matched == 0 {
			return false
		}
	}
	if n.not != nil && c.accepts(n.not, v) {
		return false
	}
	if n.cond != nil && (n.then != nil || n.other != nil) {
		branch := n.other
		if c.accepts(n.cond, v) {
			branch = n.then
		}
		if branch != nil && !c.accepts(branch, v) {
			return false
		}
	}
	return c.unevaluated(n, v)
}

func (c *checker) dynamicTarget(d *dynamicRef) *node {
	target := d.target
	for s := c.scope; s != nil; s = s.outer {
		if d.anchor != "" {
			if found := s.in.dynamic[d.anchor]; found != nil {
				target = found
			}
		} else if s.in.recursive {
			target = s.in.root
		}
	}
	return target
}

// metaschema asks the ordinary validator, which holds the standard ones.
func (c *checker) metaschema(n *node, v any) bool {
	if unfit(v, maxNesting) != "" {
		return false
	}
	compiled, err := metaschemaOf(n.meta)
	return err == nil && compiled.Validate(v) == nil
}

func (n *node) acceptsNumber(f float64) bool {
	return n.kinds&kindOfFloat(f) != 0 && (n.numbers == nil || n.numbers.accepts(f))
}

// accepts compares as floats where the meaning is decimal: both give the same
// answer, because the shortest decimals of floats are in the floats' order.
func (r *numberRules) accepts(f float64) bool {
	return !(r.min != nil && f < *r.min || r.max != nil && f > *r.max ||
		r.above != nil && f <= *r.above || r.below != nil && f >= *r.below) &&
		(r.multiple == nil || isMultiple(f, *r.multiple))
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

func (c *checker) text(r *stringRules, s string) bool {
	if r.min > 0 || r.max < len(s) {
		if !r.holds(utf8.RuneCountInString(s)) {
			return false
		}
	}
	return (r.pattern == nil || c.matches(r.pattern, s)) && r.formed(s)
}

// formed judges the format and the contents of a string.
func (r *stringRules) formed(s string) bool {
	return (r.valid == nil || r.valid(s)) && (r.encoding == "" && r.mediaType == "" || r.content(s))
}

// content judges draft 7's contentEncoding and contentMediaType, of which base64
// and JSON are asserted.
func (r *stringRules) content(s string) bool {
	data := []byte(s)
	if r.encoding == "base64" {
		decoded, err := base64.StdEncoding.DecodeString(s)
		if err != nil {
			return false
		}
		data = decoded
	} else if r.encoding != "" {
		return true
	}
	return r.mediaType != "application/json" || json.Valid(data)
}

func (c *checker) object(r *objectRules, v map[string]any) bool {
	if !r.holds(len(v)) {
		return false
	}
	for _, name := range r.required {
		if _, ok := v[name]; !ok {
			return false
		}
	}
	declared := 0
	if len(r.names) <= len(v) || c.most > 0 {
		for _, name := range r.names {
			if x, ok := v[name]; ok {
				if declared++; !c.accepts(r.properties[name], x) {
					return false
				}
			}
		}
	} else {
		for name, x := range v {
			if p := r.properties[name]; p != nil {
				if declared++; !c.accepts(p, x) {
					return false
				}
			}
		}
	}
	if r.additional.limits() && declared < len(v) || r.patterns != nil || r.propertyNames != nil {
		if c.most > 0 {
			for _, name := range sortedKeys(v) {
				if !c.otherwise(r, name, v[name]) {
					return false
				}
			}
		} else {
			for name, x := range v {
				if !c.otherwise(r, name, x) {
					return false
				}
			}
		}
	}
	for _, d := range r.needs {
		if _, ok := v[d.name]; !ok {
			continue
		}
		if d.node != nil && !c.accepts(d.node, v) {
			return false
		}
		for _, name := range d.names {
			if _, ok := v[name]; !ok {
				return false
			}
		}
	}
	return true
}

// otherwise judges a property by all but properties.
func (c *checker) otherwise(r *objectRules, name string, x any) bool {
	if r.propertyNames != nil && !c.accepts(r.propertyNames, name) {
		return false
	}
	matched := false
	for _, p := range r.patterns {
		if c.matches(p.pattern, name) {
			if matched = true; !c.accepts(p.node, x) {
				return false
			}
		}
		if c.spent {
			return false
		}
	}
	return matched || r.additional == nil || r.properties[name] != nil || c.accepts(r.additional, x)
}

func (c *checker) array(r *arrayRules, v []any) bool {
	if !r.holds(len(v)) {
		return false
	}
	for i, x := range v {
		if i < len(r.prefix) {
			if !c.accepts(r.prefix[i], x) {
				return false
			}
		} else if !r.rest.limits() {
			break
		} else if !c.accepts(r.rest, x) {
			return false
		}
	}
	if r.contains != nil {
		matched := 0
		for _, x := range v {
			if c.accepts(r.contains, x) {
				matched++
			}
		}
		if matched < r.least || matched > r.most {
			return false
		}
	}
	if r.unique {
		if i, _ := duplicate(v); i >= 0 {
			return false
		}
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

// unevaluated judges what no other keyword has evaluated.
func (c *checker) unevaluated(n *node, v any) bool {
	return c.leftOver(n, v, func(by *node, _ string, _ int, x any) bool { return c.accepts(by, x) })
}

// leftOver calls judge for every part that no other keyword has evaluated, in order,
// until it is false: with what is said of such parts, and a name or an index.
func (c *checker) leftOver(n *node, v any, judge func(by *node, name string, index int, x any) bool) bool {
	switch v := v.(type) {
	case map[string]any:
		if n.objects == nil || !n.objects.unevaluated.limits() {
			return true
		}
		seen := evaluated{names: map[string]bool{}}
		c.evaluate(n, v, &seen, true)
		for _, name := range sortedKeys(v) {
			if !seen.all && !seen.names[name] && !judge(n.objects.unevaluated, name, 0, v[name]) {
				return false
			}
		}
	case []any:
		if n.arrays == nil || !n.arrays.unevaluated.limits() {
			return true
		}
		seen := evaluated{items: map[int]bool{}}
		c.evaluate(n, v, &seen, true)
		for i, x := range v {
			if !seen.all && i >= seen.first && !seen.items[i] && !judge(n.arrays.unevaluated, "", i, x) {
				return false
			}
		}
	}
	return true
}

// evaluated collects what has been evaluated: every part, the first items, and
// single parts.
type evaluated struct {
	all   bool
	first int
	names map[string]bool
	items map[int]bool
}

// evaluate collects what a node, which accepts the value, evaluates of it. Of
// the node that asks, its own unevaluated keyword doesn't count.
func (c *checker) evaluate(n *node, v any, seen *evaluated, asking bool) {
	if seen.all || c.spent {
		return
	}
	if n.scoped {
		defer c.enter(n)()
	}
	switch v := v.(type) {
	case map[string]any:
		if o := n.objects; o != nil {
			if o.additional != nil || o.unevaluated != nil && !asking {
				seen.all = true
				return
			}
			for name := range v {
				if o.properties[name] != nil || slices.ContainsFunc(o.patterns, func(p patternRule) bool { return c.matches(p.pattern, name) }) {
					seen.names[name] = true
				}
			}
			for _, d := range o.needs {
				if _, ok := v[d.name]; ok && d.node != nil {
					c.evaluate(d.node, v, seen, false)
				}
			}
		}
	case []any:
		if a := n.arrays; a != nil {
			if a.rest != nil || a.unevaluated != nil && !asking {
				seen.all = true
				return
			}
			seen.first = max(seen.first, len(a.prefix))
			if a.contains != nil && a.evaluates {
				for i, x := range v {
					if c.accepts(a.contains, x) {
						seen.items[i] = true
					}
				}
			}
		}
	}
	into := func(x *node) {
		if x != nil && c.accepts(x, v) {
			c.evaluate(x, v, seen, false)
		}
	}
	into(n.ref)
	if n.dynamic != nil {
		into(c.dynamicTarget(n.dynamic))
	}
	for _, list := range [][]*node{n.allOf, n.anyOf, n.oneOf} {
		for _, x := range list {
			into(x)
		}
	}
	if n.cond != nil {
		if c.accepts(n.cond, v) {
			c.evaluate(n.cond, v, seen, false)
			into(n.then)
		} else {
			into(n.other)
		}
	}
}
