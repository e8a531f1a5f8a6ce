package runtime_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// What the model knows of paths, expressions and values.

// A path leads into the state or the input; a shorter one that begins another
// overlaps it.
type statePath []segment

type segment struct {
	key     string
	index   int
	isIndex bool
}

func overlap(p, q statePath) bool {
	n := min(len(p), len(q))
	return slices.Equal(p[:n], q[:n])
}

func overlapsAny(route []statePath, p statePath) bool {
	return slices.ContainsFunc(route, func(q statePath) bool { return overlap(p, q) })
}

func (p statePath) equal(q statePath) bool { return slices.Equal(p, q) }

// toList is the path up to the first list on it, or all of it.
func (p statePath) toList() statePath {
	if i := slices.IndexFunc(p, func(s segment) bool { return s.isIndex }); i >= 0 {
		return p[:i]
	}
	return p
}

func samePaths(a, b []statePath) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(p statePath) bool { return !slices.ContainsFunc(b, p.equal) })
}

func (p statePath) String() string {
	var b strings.Builder
	for _, s := range p {
		if s.isIndex {
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		} else {
			b.WriteString("." + s.key)
		}
	}
	return b.String()
}

// ---- expressions ----------------------------------------------------------

type expressionKind int

const (
	literalExpression expressionKind = iota
	referenceExpression
	fallbackExpression
	gateExpression
	comparisonExpression
	textExpression
)

type formula struct {
	kind      expressionKind
	value     any // of a literal; of a comparison its operator
	reference reference
	operands  []*formula
}

type reference struct {
	kind string // state or input
	path statePath
}

// readExpression reads a string that begins with †: references,
// literals, fallbacks, gates and parentheses.
func readExpression(text string) *formula {
	r := &reader{text: []rune(text)}
	if next := string(r.text[1:]); next == "" || !unicode.IsLetter([]rune(next)[0]) {
		r.at = 1 // the mark alone: what follows is no reference
	}
	return r.readAll()
}

// readText reads a text with expressions in it: its pieces, one after the other.
func readText(text string) *formula {
	r := &reader{text: []rune(text)}
	e := &formula{kind: textExpression}
	var literal []rune
	put := func(piece *formula) {
		e.operands = append(e.operands, &formula{kind: literalExpression, value: string(literal)}, piece)
		literal = nil
	}
	if r.begins("††") {
		literal, r.at = []rune("†"), 2
	}
	for r.at < len(r.text) {
		switch {
		case r.begins("††{"):
			literal, r.at = append(literal, '†', '{'), r.at+3
		case r.begins("†{"):
			r.at, r.inBraces = r.at+2, true
			put(r.fallback())
			if !r.take("}") {
				r.fail()
			}
			r.inBraces = false
		default:
			literal, r.at = append(literal, r.text[r.at]), r.at+1
		}
	}
	put(&formula{kind: literalExpression, value: ""})
	return e
}

func (r *reader) begins(what string) bool {
	return strings.HasPrefix(string(r.text[r.at:]), what)
}

// inText is a value as it stands in a text; false for one that has no form there.
func inText(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case bool, float64:
		text, err := json.Marshal(v)
		return string(text), err == nil
	}
	return "", false
}

// readRoutes reads an _outputPath as alternatives of fan-outs.
func readRoutes(text string) [][]statePath {
	r := &reader{text: []rune(text), barePaths: true}
	return alternatives(r.readAll())
}

func alternatives(e *formula) [][]statePath {
	switch e.kind {
	case referenceExpression:
		return [][]statePath{{e.reference.path}}
	case fallbackExpression:
		var routes [][]statePath
		for _, operand := range e.operands {
			routes = append(routes, alternatives(operand)...)
		}
		return routes
	case gateExpression:
		routes := [][]statePath{nil}
		for _, operand := range e.operands {
			var longer [][]statePath
			for _, begun := range routes {
				for _, rest := range alternatives(operand) {
					longer = append(longer, slices.Concat(begun, rest))
				}
			}
			routes = longer
		}
		return routes
	}
	panic("model: an output path holds a literal")
}

type reader struct {
	text      []rune
	at        int
	barePaths bool
	inBraces  bool // where a kind's † may be left out
}

func (r *reader) readAll() *formula {
	e := r.fallback()
	if r.skipBlanks(); r.at < len(r.text) {
		r.fail()
	}
	return e
}

func (r *reader) fail() {
	panic(fmt.Sprintf("model: can't read %q at %d", string(r.text), r.at))
}

func (r *reader) fallback() *formula {
	operands := []*formula{r.gate()}
	for r.take("||") || r.take("??") {
		operands = append(operands, r.gate())
	}
	return joined(fallbackExpression, operands)
}

func (r *reader) gate() *formula {
	operands := []*formula{r.comparison()}
	for r.take("&&") {
		operands = append(operands, r.comparison())
	}
	return joined(gateExpression, operands)
}

func (r *reader) comparison() *formula {
	left := r.atom()
	for _, operator := range []string{"==", "!=", "<=", ">=", "<", ">"} {
		if r.take(operator) {
			return &formula{kind: comparisonExpression, value: operator, operands: []*formula{left, r.atom()}}
		}
	}
	return left
}

// compared is what a comparison of two values comes to. Only numbers have an
// order here.
func compared(a any, operator string, b any) bool {
	switch operator {
	case "==":
		return reflect.DeepEqual(a, b)
	case "!=":
		return !reflect.DeepEqual(a, b)
	}
	x, y := a.(float64), b.(float64)
	return x < y && operator[0] == '<' || x > y && operator[0] == '>' || x == y && len(operator) == 2
}

// joined is a chain of operands; one alone is itself. What stands in
// parentheses is an operand: a null that it comes to isn't there.
func joined(kind expressionKind, operands []*formula) *formula {
	if len(operands) == 1 {
		return operands[0]
	}
	return &formula{kind: kind, operands: operands}
}

func (r *reader) atom() *formula {
	if r.take("(") {
		inner := r.fallback()
		if !r.take(")") {
			r.fail()
		}
		return inner
	}
	if r.take("†") || r.inBraces && (r.begins("state.") || r.begins("input.")) {
		ref := reference{kind: r.word()}
		if ref.kind != "state" && ref.kind != "input" {
			panic("model: no kind " + ref.kind)
		}
		ref.path = r.segments()
		return &formula{kind: referenceExpression, reference: ref}
	}
	if r.barePaths {
		first := segment{key: r.word()}
		return &formula{kind: referenceExpression, reference: reference{"state", append(statePath{first}, r.segments()...)}}
	}
	return &formula{kind: literalExpression, value: r.literal()}
}

func (r *reader) segments() statePath {
	var p statePath
	for r.at < len(r.text) {
		switch {
		case r.text[r.at] == '.':
			r.at++
			p = append(p, asSegment(r.word()))
		case r.text[r.at] == '[' && r.at+1 < len(r.text) && r.text[r.at+1] == '"':
			r.at++
			p = append(p, segment{key: r.quoted()})
			r.at++ // the closing bracket
		case r.text[r.at] == '[':
			r.at++
			p = append(p, asSegment(r.word()))
			r.at++
		default:
			return p
		}
	}
	return p
}

// asSegment makes .0 an index like [0].
func asSegment(word string) segment {
	if index, err := strconv.Atoi(word); err == nil {
		return segment{index: index, isIndex: true}
	}
	return segment{key: word}
}

func (r *reader) word() string {
	start := r.at
	for r.at < len(r.text) && (unicode.IsLetter(r.text[r.at]) || unicode.IsDigit(r.text[r.at]) || strings.ContainsRune("_-", r.text[r.at])) {
		r.at++
	}
	if r.at == start {
		r.fail()
	}
	return string(r.text[start:r.at])
}

func (r *reader) quoted() string {
	end := r.at + 1
	for r.text[end] != '"' {
		end++
	}
	value := string(r.text[r.at+1 : end])
	r.at = end + 1
	return value
}

func (r *reader) literal() any {
	r.skipBlanks()
	if r.at < len(r.text) && r.text[r.at] == '"' {
		return r.quoted()
	}
	start := r.at
	for r.at < len(r.text) && !strings.ContainsRune(" )|&?}", r.text[r.at]) {
		r.at++
	}
	var value any
	if json.Unmarshal([]byte(string(r.text[start:r.at])), &value) != nil {
		r.fail()
	}
	return value
}

func (r *reader) skipBlanks() {
	for r.at < len(r.text) && r.text[r.at] == ' ' {
		r.at++
	}
}

func (r *reader) take(token string) bool {
	r.skipBlanks()
	if strings.HasPrefix(string(r.text[r.at:]), token) {
		r.at += len([]rune(token))
		return true
	}
	return false
}

// readString reads a string of a plan: one dagger begins an expression, two a literal, and in a text expressions stand in braces. It is nil for a text without.
func readString(text string) *formula {
	if e, read := formulas.Load(text); read {
		return e.(*formula)
	}
	e := readStringAnew(text)
	formulas.Store(text, e)
	return e
}

// formulas are the strings that were read before: a plan is read for each of its runs.
var formulas sync.Map

func readStringAnew(text string) *formula {
	if strings.HasPrefix(text, "†") && !strings.HasPrefix(text, "††") && !strings.HasPrefix(text, "†{") {
		return readExpression(text)
	}
	if e := readText(text); len(e.operands) > 2 {
		return e
	}
	return nil
}

// formulasIn are all expressions in a value, keys in alphabetical order.
func formulasIn(value any) []*formula {
	var found []*formula
	switch v := value.(type) {
	case string:
		if e := readString(v); e != nil {
			found = append(found, e)
		}
	case []any:
		for _, item := range v {
			found = append(found, formulasIn(item)...)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			found = append(found, formulasIn(v[key])...)
		}
	}
	return found
}

func referencesIn(value any) []reference {
	var found []reference
	for _, e := range formulasIn(value) {
		found = append(found, e.references()...)
	}
	return found
}

func (e *formula) references() []reference {
	if e.kind == referenceExpression {
		return []reference{e.reference}
	}
	var found []reference
	for _, operand := range e.operands {
		found = append(found, operand.references()...)
	}
	return found
}

// ---- values ---------------------------------------------------------------

func valueAt(root any, p statePath) (any, bool) {
	for _, s := range p {
		switch base := root.(type) {
		case map[string]any:
			next, there := base[s.key]
			if s.isIndex || !there {
				return nil, false
			}
			root = next
		case []any:
			if !s.isIndex || s.index >= len(base) {
				return nil, false
			}
			root = base[s.index]
		default:
			return nil, false
		}
	}
	return root, true
}

// written is LANGUAGE.md#output-paths-and-state: base with value written at p, as a new value; false when
// the base is of a kind that can't take it. A nil base is empty.
func written(base any, p statePath, method string, value any) (any, bool) {
	if len(p) == 0 {
		return applied(base, method, value)
	}
	if s := p[0]; s.isIndex {
		list, ok := base.([]any)
		if !ok && base != nil || s.index > len(list) {
			return nil, false
		}
		list = slices.Clone(list)
		if s.index == len(list) {
			list = append(list, nil)
		}
		item, ok := written(list[s.index], p[1:], method, value)
		list[s.index] = item
		return list, ok
	}
	object, ok := base.(map[string]any)
	if !ok && base != nil {
		return nil, false
	}
	field, ok := written(object[p[0].key], p[1:], method, value)
	object = copied(object)
	object[p[0].key] = field
	return object, ok
}

func applied(base any, method string, value any) (any, bool) {
	object, isObject := base.(map[string]any)
	list, isList := base.([]any)
	patch, patches := value.(map[string]any)
	items, isItems := value.([]any)
	switch method {
	case "set":
		return value, true
	case "merge":
		if !patches {
			return value, isObject || base == nil
		}
		return merged(base, patch), isObject || base == nil
	case "assign":
		if !patches || !isObject && base != nil {
			return nil, false
		}
		object = copied(object)
		maps.Copy(object, patch)
		return object, true
	case "push":
		return append(slices.Clone(list), value), isList || base == nil
	case "concat":
		return append(append([]any{}, list...), items...), isItems && (isList || base == nil)
	}
	panic("model: unknown method " + method)
}

// merged is RFC 7396, but for nulls, which stay.
func merged(base any, patch any) any {
	fields, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	object, _ := base.(map[string]any)
	object = copied(object)
	for key, field := range fields {
		object[key] = merged(object[key], field)
	}
	return object
}

func copied(object map[string]any) map[string]any {
	result := make(map[string]any, len(object)+1)
	maps.Copy(result, object)
	return result
}

// accepts knows the few words of JSON Schema that the plans here use, and panics
// at any other.
func accepts(schema any, value any) bool {
	s, ok := schema.(map[string]any)
	if !ok {
		return schema != false
	}
	for word := range s {
		if !slices.Contains(knownWords, word) && !strings.HasPrefix(word, "x-") {
			panic("model: the schema's word " + word)
		}
	}
	object, isObject := value.(map[string]any)
	list, isList := value.([]any)
	_, isText := value.(string)
	float, isNumber := value.(float64)
	_, isFlag := value.(bool)
	fits := map[any]bool{
		nil: true, "object": isObject, "array": isList, "string": isText, "number": isNumber,
		"integer": isNumber && float == float64(int64(float)), "boolean": isFlag, "null": value == nil,
	}
	if !fits[s["type"]] {
		return false
	}
	if allowed, ok := s["enum"].([]any); ok && !slices.Contains(allowed, value) {
		return false
	}
	for _, item := range list {
		if !accepts(s["items"], item) {
			return false
		}
	}
	required, _ := s["required"].([]any)
	for _, key := range required {
		if _, there := object[key.(string)]; !there && isObject {
			return false
		}
	}
	properties, _ := s["properties"].(map[string]any)
	for key, field := range object {
		property, named := properties[key]
		if !named {
			property = s["additionalProperties"]
		}
		if !accepts(property, field) {
			return false
		}
	}
	return true
}

var knownWords = []string{"type", "enum", "items", "required", "properties", "additionalProperties", "description", "_output"}

func number(v any) int {
	switch n := v.(type) {
	case float64:
		return int(n)
	case int:
		return n
	}
	return 0
}
