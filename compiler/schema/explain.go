package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/wording"
)

// A Violation says where and why a value isn't accepted.
type Violation struct {
	// Path leads into the value: a string for a key, an int for an index.
	Path []any
	// SchemaPath leads to the keyword that refuses, into the schema's raw value,
	// or into Defs[Def] when Def isn't "".
	SchemaPath []string
	Def        string
	Keyword    string
	// Message is in plain words: lower case, no full stop.
	Message string
	Lacks   string // the key that isn't there, of the keyword required
}

// Where is the path in the notation of expressions: .items[0]["odd key"].
func (v *Violation) Where() string {
	var b strings.Builder
	for _, step := range v.Path {
		switch step := step.(type) {
		case string:
			if plainKey(step) {
				b.WriteString("." + step)
			} else {
				b.WriteString("[" + strconv.Quote(step) + "]")
			}
		case int:
			fmt.Fprintf(&b, "[%d]", step)
		}
	}
	return b.String()
}

func plainKey(s string) bool {
	for _, r := range s {
		if r != '_' && !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9') {
			return false
		}
	}
	return s != ""
}

// Error is the place and the message.
func (v *Violation) Error() string {
	if len(v.Path) == 0 {
		return v.Message
	}
	return v.Where() + ": " + v.Message
}

// Validate is nil when the schema accepts the value. Of several faults it tells
// one, always the same. Values are what encoding/json decodes; other Go numbers
// are read as float64. A value nested more than 1,000 deep where the schema
// looks, or one that would take more than a second, isn't accepted.
func (s *Schema) Validate(v any) *Violation {
	return s.ValidateWithin(v, nil)
}

// Limit is the keyword of a violation that says that the value couldn't be judged.
const Limit = "limit"

// ValidateWithin is Validate that takes what its regular patterns cost off an allowance;
// nil is none.
func (s *Schema) ValidateWithin(v any, a *Allowance) *Violation {
	n := s.ready()
	c := checker{allowance: a}
	defer func() { a.draw(c.effort) }()
	if c.accepts(n, v) && !c.spent {
		if n.verdict == always && KindOf(v) == 0 {
			return &Violation{Keyword: "type", Message: "expected a JSON value, got " + string(describe(v))}
		}
		return nil
	}
	if c.spent {
		return &Violation{Keyword: Limit, Message: "a value can't be held against its schema: it is too deep or too large, or the patterns of this schema and of those before take too long"}
	}
	e := explainer{budget: 10_000}
	if found := e.explain(n, v, nil); found != nil {
		return found
	}
	return &Violation{Message: "the schema doesn't accept " + string(describe(v))}
}

// An explainer goes the way of a checker a second time, slowly and in a fixed
// order, to find what to say. Past its budget it stops looking deeper.
type explainer struct {
	check  checker
	budget int
}

// A trail is the way into the value, innermost step first.
type trail struct {
	step  any
	outer *trail
}

func (t *trail) path() []any {
	var path []any
	for ; t != nil; t = t.outer {
		path = append(path, t.step)
	}
	slices.Reverse(path)
	return path
}

// secret reports whether the way leads through the name of a secret.
func (t *trail) secret() bool {
	for ; t != nil; t = t.outer {
		if name, ok := t.step.(string); ok && naming.SecretKey(name) {
			return true
		}
	}
	return false
}

// shown is a value of what is judged, in a message: one that is secret is left out.
type shown string

func at(n *node, t *trail, keyword string, format string, args ...any) *Violation {
	if n.secret() || t.secret() {
		for i, arg := range args {
			if _, ok := arg.(shown); ok {
				args[i] = "a value that isn't shown"
			}
		}
	}
	v := &Violation{Path: t.path(), Keyword: keyword, Message: fmt.Sprintf(format, args...), Def: n.unit.name}
	if n.unit != loose {
		v.SchemaPath = n.path()
		if keyword != "" {
			v.SchemaPath = append(v.SchemaPath, keyword)
		}
	}
	return v
}

func (e *explainer) fails(n *node, v any) bool {
	e.budget--
	return n != nil && e.budget > 0 && !e.check.accepts(n, v)
}

// explain finds the violation of a node that doesn't accept the value.
func (e *explainer) explain(n *node, v any, t *trail) *Violation {
	if e.budget--; e.budget < 0 {
		return at(n, t, "", "the schema doesn't accept %s", describe(v))
	}
	if n.verdict == never {
		return at(n, t, "", "nothing is allowed here, got %s", describe(v))
	}
	kind := KindOf(v)
	if kind == 0 {
		return at(n, t, "type", "expected a JSON value, got %s", describe(v))
	}
	if n.kinds&kind == 0 {
		return at(n, t, "type", "expected %s, got %s", n.kinds, describe(v))
	}
	if n.values != nil && !contains(n.values, v) {
		keyword := "enum"
		if m, ok := n.raw.(map[string]any); ok && m["enum"] == nil {
			keyword = "const"
		}
		return at(n, t, keyword, "expected %s, got %s", shown(listed(n.values)), describe(v))
	}
	var found *Violation
	switch v := v.(type) {
	case string:
		found = e.text(n, v, t)
	case []any:
		found = e.array(n, v, t)
	case map[string]any:
		found = e.object(n, v, t)
	default:
		f, ok := number(v)
		if ok && n.numbers != nil {
			found = n.numbers.explain(n, f, t)
		}
	}
	if found != nil {
		return found
	}
	return e.inPlace(n, v, t)
}

func (e *explainer) inPlace(n *node, v any, t *trail) *Violation {
	if e.fails(n.ref, v) {
		return e.explain(n.ref, v, t)
	}
	if n.dynamic != nil && e.fails(n.dynamic.target, v) {
		return e.explain(n.dynamic.target, v, t)
	}
	if n.meta != "" && !e.check.metaschema(n, v) {
		return at(n, t, "$ref", "expected a JSON Schema that is valid by %s", n.meta)
	}
	for _, x := range n.allOf {
		if e.fails(x, v) {
			return e.explain(x, v, t)
		}
	}
	for keyword, list := range [2][]*node{n.anyOf, n.oneOf} {
		if list == nil {
			continue
		}
		var accepting []int
		for i, x := range list {
			if e.check.accepts(x, v) {
				accepting = append(accepting, i)
			}
		}
		name := [2]string{"anyOf", "oneOf"}[keyword]
		switch {
		case len(accepting) == 0:
			return e.closest(n, name, list, v, t)
		case keyword == 1 && len(accepting) > 1:
			return at(n, t, name, "expected exactly one of %d alternatives to fit, but number %d and number %d both fit %s",
				len(list), accepting[0]+1, accepting[1]+1, describe(v))
		}
	}
	if n.not != nil && e.check.accepts(n.not, v) {
		if n.not.values != nil {
			return at(n, t, "not", "expected anything but %s", shown(listed(n.not.values)))
		}
		return at(n, t, "not", "%s fits what is excluded here", describe(v))
	}
	if n.cond != nil {
		branch := n.other
		if e.check.accepts(n.cond, v) {
			branch = n.then
		}
		if e.fails(branch, v) {
			return e.explain(branch, v, t)
		}
	}
	return e.unevaluated(n, v, t)
}

// closest tells of the alternative that the value comes nearest to: when all
// refuse its kind, what kinds or values would do; else the one that goes along
// with the value the furthest.
func (e *explainer) closest(n *node, keyword string, list []*node, v any, t *trail) *Violation {
	kinds, kind := Kinds(0), KindOf(v)
	var values []any
	onlyValues := true
	var best *Violation
	rank := -1
	for _, x := range list {
		kinds |= x.possible()
		if x.values == nil {
			onlyValues = false
		}
		values = append(values, x.values...)
		found := e.explain(x, v, t)
		if x.possible()&kind == 0 {
			continue
		}
		r := 2 * len(found.Path)
		if found.Keyword != "const" && found.Keyword != "enum" {
			r++ // a variant whose tag differs is not the one that was meant
		}
		if r > rank || best == nil {
			best, rank = found, r
		}
	}
	switch {
	case onlyValues:
		return at(n, t, keyword, "expected %s, got %s", shown(listed(values)), describe(v))
	case best != nil:
		return best
	}
	return at(n, t, keyword, "expected %s, got %s", kinds, describe(v))
}

func (e *explainer) text(n *node, s string, t *trail) *Violation {
	r := n.strings
	if r == nil {
		return nil
	}
	length := utf8.RuneCountInString(s)
	switch {
	case length < r.min:
		return at(n, t, "minLength", "expected at least %s, got %s with %d", wording.Count(r.min, "character"), shown(quote(s)), length)
	case length > r.max:
		return at(n, t, "maxLength", "expected at most %s, got %s with %d", wording.Count(r.max, "character"), shown(quote(s)), length)
	case r.pattern != nil && !e.check.matches(r.pattern, s):
		return at(n, t, "pattern", "expected a string that matches the pattern %s, got %s", quote(r.pattern.Source), shown(quote(s)))
	case r.valid != nil && !r.valid(s):
		return at(n, t, "format", "expected a string of the format %s, got %s", quote(r.format), shown(quote(s)))
	case !r.content(s):
		return at(n, t, "contentEncoding", "expected a string that holds %s, got %s", strings.TrimSpace(r.encoding+" "+r.mediaType), shown(quote(s)))
	}
	return nil
}

func (r *numberRules) explain(n *node, f float64, t *trail) *Violation {
	it := shown(quote(f))
	switch {
	case r.min != nil && f < *r.min:
		return at(n, t, "minimum", "expected %s or more, got %s", quote(*r.min), it)
	case r.above != nil && f <= *r.above:
		return at(n, t, "exclusiveMinimum", "expected more than %s, got %s", quote(*r.above), it)
	case r.max != nil && f > *r.max:
		return at(n, t, "maximum", "expected %s or less, got %s", quote(*r.max), it)
	case r.below != nil && f >= *r.below:
		return at(n, t, "exclusiveMaximum", "expected less than %s, got %s", quote(*r.below), it)
	case r.multiple != nil && !isMultiple(f, *r.multiple):
		return at(n, t, "multipleOf", "expected a multiple of %s, got %s", quote(*r.multiple), it)
	}
	return nil
}

func (e *explainer) array(n *node, v []any, t *trail) *Violation {
	r := n.arrays
	if r == nil {
		return nil
	}
	switch {
	case len(v) < r.min:
		return at(n, t, "minItems", "expected at least %s, got %d", wording.Count(r.min, "item"), len(v))
	case len(v) > r.max:
		return at(n, t, "maxItems", "expected at most %s, got %d", wording.Count(r.max, "item"), len(v))
	}
	matched := 0
	for i, x := range v {
		item := r.item(i)
		if item != nil && item == r.rest && item.verdict == never {
			return at(n, t, r.restKeyword, "expected at most %s, got %d", wording.Count(len(r.prefix), "item"), len(v))
		}
		if e.fails(item, x) {
			return e.explain(item, x, &trail{i, t})
		}
		if r.contains != nil && e.check.accepts(r.contains, x) {
			matched++
		}
	}
	if r.unique {
		if i, j := duplicate(v); i >= 0 {
			return at(n, t, "uniqueItems", "expected items that all differ, but items %d and %d are both %s", i, j, describe(v[j]))
		}
	}
	if r.contains != nil && matched < r.least {
		return at(n, t, "contains", "expected at least %s of the kind that contains asks for, got %d", wording.Count(r.least, "item"), matched)
	}
	if r.contains != nil && matched > r.most {
		return at(n, t, "maxContains", "expected at most %s of the kind that contains asks for, got %d", wording.Count(r.most, "item"), matched)
	}
	return nil
}

func (e *explainer) object(n *node, v map[string]any, t *trail) *Violation {
	r := n.objects
	if r == nil {
		return nil
	}
	for _, name := range r.required {
		if _, ok := v[name]; !ok {
			lacks := at(n, t, "required", "%q is missing", name)
			lacks.Lacks = name
			return lacks
		}
	}
	names := slices.Sorted(maps.Keys(v))
	for _, name := range names {
		x, inside := v[name], &trail{name, t}
		if r.propertyNames != nil && e.fails(r.propertyNames, name) {
			why := e.explain(r.propertyNames, name, nil)
			return at(n, inside, "propertyNames", "the name %q isn't allowed: %s", name, why.Message)
		}
		known := r.properties[name] != nil
		if e.fails(r.properties[name], x) {
			return e.explain(r.properties[name], x, inside)
		}
		for _, p := range r.patterns {
			if e.check.matches(p.pattern, name) {
				if known = true; e.fails(p.node, x) {
					return e.explain(p.node, x, inside)
				}
			}
		}
		if !known && r.additional != nil && r.additional.verdict == never {
			return at(n, inside, "additionalProperties", "%q isn't a known property%s", name, knownNames(r.names))
		}
		if !known && e.fails(r.additional, x) {
			return e.explain(r.additional, x, inside)
		}
	}
	switch {
	case len(v) < r.min:
		return at(n, t, "minProperties", "expected at least %s, got %d", wording.Counted(r.min, "property", "properties"), len(v))
	case len(v) > r.max:
		return at(n, t, "maxProperties", "expected at most %s, got %d", wording.Counted(r.max, "property", "properties"), len(v))
	}
	for _, d := range r.needs {
		if _, ok := v[d.name]; !ok {
			continue
		}
		for _, name := range d.names {
			if _, ok := v[name]; !ok {
				return at(n, t, d.keyword, "%q is missing, which is needed where %q is there", name, d.name)
			}
		}
		if e.fails(d.node, v) {
			return e.explain(d.node, v, t)
		}
	}
	return nil
}

func (e *explainer) unevaluated(n *node, v any, t *trail) (found *Violation) {
	e.check.leftOver(n, v, func(by *node, name string, index int, x any) bool {
		inside := &trail{index, t}
		_, object := v.(map[string]any)
		if object {
			inside.step = name
		}
		switch {
		case !e.fails(by, x):
		case object && by.verdict == never:
			found = at(n, inside, "unevaluatedProperties", "%q isn't a known property", name)
		default:
			found = e.explain(by, x, inside)
		}
		return found == nil
	})
	return found
}

func knownNames(names []string) string {
	if len(names) == 0 || len(names) > 8 {
		return ""
	}
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = strconv.Quote(name)
	}
	return "; known are " + strings.Join(quoted, ", ")
}

// listed names the values of an enum, the first of a long one.
func listed(values []any) string {
	var words []string
	for i, v := range values {
		if i == 8 && len(values) > 9 {
			words = append(words, fmt.Sprintf("one of %d others", len(values)-i))
			break
		}
		words = append(words, quote(v))
	}
	return wording.Or(words)
}

// describe names a value in few words: scalars as they are, containers by kind.
func describe(v any) shown {
	switch v := v.(type) {
	case []any:
		if len(v) == 0 {
			return "an empty array"
		}
		return "an array"
	case map[string]any:
		if len(v) == 0 {
			return "an empty object"
		}
		return "an object"
	}
	if KindOf(v) == 0 {
		return shown(fmt.Sprintf("%T", v))
	}
	return shown(quote(v))
}

// quote writes a value as JSON, cut short, with nothing in it that could act on
// a terminal.
func quote(v any) string {
	const most = 60
	text, ok := v.(string)
	if ok {
		return strconv.QuoteToGraphic(wording.Cut(text, most))
	}
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%T", v)
	}
	if len(data) > most {
		return describeKind(v)
	}
	return string(data)
}

func describeKind(v any) string {
	switch v.(type) {
	case []any:
		return "an array"
	case map[string]any:
		return "an object"
	}
	return fmt.Sprintf("%.20v", v)
}
