package expression

import (
	"encoding/json"
	"math"
	"reflect"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/expr-lang/expr/builtin"
	"github.com/obelus-dev/obelus/compiler/source"
)

// library is a function as the library computes it.
func library(name string) func(invocation) any {
	f := builtin.Builtins[builtin.Index[name]]
	return func(c invocation) any {
		var value any
		var err error
		switch {
		case f.Fast != nil:
			value = f.Fast(c.args[0])
		case f.Safe != nil:
			value, _, err = f.Safe(c.args...)
		default:
			value, err = f.Func(c.args...)
		}
		if err != nil {
			panic(c.misread(strings.TrimPrefix(err.Error(), "time: "), ""))
		}
		return c.plain(value)
	}
}

// plain is a value of the library as one of JSON.
func (c invocation) plain(value any) any {
	switch v := value.(type) {
	case int:
		if v > maxInteger || v < -maxInteger {
			panic(failure(c.n, "the result of "+quote(c.n.Name)+" is larger than a number can be exactly", ""))
		}
		return float64(v)
	case float64:
		return finiteNumber(c.n, v)
	case []string:
		out := make([]any, len(v))
		for i, text := range v {
			out[i] = text
		}
		return out
	}
	return value
}

// method is a method of a date or a duration that results in a number.
func method(c invocation) any {
	v := reflect.ValueOf(c.args[0]).MethodByName(c.n.Name).Call(nil)[0]
	if v.CanInt() {
		return float64(v.Int())
	}
	return v.Float()
}

// The cost of functions that doesn't follow from the size of the first argument.

func costOfTrim(c invocation) {
	if c.given(1) { // it looks at the whole set for each character of the string
		c.work((len(c.text(0)) + 16) * (len(c.text(1)) + 16) / 64)
	}
}

func costOfSecond(c invocation) { c.work(len(c.text(1)) / 64) }

// occurrences is how often a text is in another, up to the number that an argument allows.
func (c invocation) occurrences(most int) int {
	n := strings.Count(c.text(0), c.text(1)) + 1
	if limit := c.integer(most, -1); limit >= 0 {
		n = min(n, limit)
	}
	return n
}

func costOfSplit(c invocation) { c.grow(2 * listItem * c.occurrences(2)) }
func costOfJoin(c invocation) {
	bytes, glue := 0, 0
	if c.given(1) {
		glue = len(c.text(1))
	}
	for i, v := range c.list(0) {
		s, ok := v.(string)
		if !ok {
			panic(c.fail(0, "\"join\" wants a list of strings, and item "+itoa(i)+" is "+KindOf(v).String(),
				"map the items first: … | map(string(#)) | join(\", \")"))
		}
		bytes += len(s) + glue + listItem
	}
	c.grow(bytes)
}

func costOfConcat(c invocation) {
	for i := range c.args {
		c.grow(2 * listItem * len(c.list(i)))
	}
}

// each calls f with everything in the arguments that is no list, and how deep in lists it is.
func (c invocation) each(f func(argument int, v any, depth int)) {
	var visit func(argument int, v any, depth int)
	visit = func(argument int, v any, depth int) {
		c.work(1)
		list, ok := v.([]any)
		if !ok {
			f(argument, v, depth)
		}
		if depth > maxValueDepth {
			panic(c.fail(argument, "the list is nested too deeply", ""))
		}
		for _, item := range list {
			visit(argument, item, depth+1)
		}
	}
	for i, v := range c.args {
		visit(i, v, 0)
	}
}

func costOfFlatten(c invocation) {
	c.each(func(_ int, _ any, depth int) { c.grow(depth * listItem) }) // it copies each level
}

func costOfNumbers(c invocation) {
	c.each(func(argument int, v any, _ int) {
		if KindOf(v) != Number {
			panic(c.fail(argument, quote(c.n.Name)+" wants numbers, and got "+KindOf(v).String(), ""))
		}
	})
}

func costOfMedian(c invocation) {
	costOfNumbers(c)
	c.each(func(_ int, _ any, depth int) {
		c.grow(16 * depth)
		c.work(8)
	})
}

func length(c invocation) any {
	switch v := c.args[0].(type) {
	case string:
		return float64(utf8.RuneCountInString(v))
	case []any:
		return float64(len(v))
	}
	return float64(len(c.args[0].(map[string]any)))
}

// typeName gives the library's names; a number without a fraction is an int.
func typeName(c invocation) any {
	v := c.args[0]
	if number, ok := v.(float64); ok && number == math.Trunc(number) {
		return "int"
	}
	names := map[KindSet]string{
		Null: "nil", Bool: "bool", Number: "float", String: "string", Array: "array", Object: "map",
		date: "date", duration: "duration",
	}
	return names[KindOf(v)]
}

func toInteger(c invocation) any {
	if s, ok := c.args[0].(string); ok {
		v, err := strconv.ParseInt(s, 10, 64)
		if err != nil || v > maxInteger || v < -maxInteger {
			panic(c.misread(quote(s)+" isn't a whole number", "float(…) reads numbers with a fraction"))
		}
		return float64(v)
	}
	return math.Trunc(c.number(0))
}

func toNumber(c invocation) any {
	s, ok := c.args[0].(string)
	if !ok {
		return c.args[0]
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
		panic(c.misread(quote(s)+" isn't a number", ""))
	}
	return v
}

func toText(c invocation) any {
	if text, ok := c.args[0].(string); ok {
		return text
	}
	if text, ok := AsText(c.args[0]); ok {
		c.grow(textCopies * len(text))
		return text
	}
	return c.m.asJSON(c.n, c.args[0], false)
}

func repeat(c invocation) any {
	s, times := c.text(0), c.integer(1, 0)
	if times < 0 {
		panic(c.fail(1, "a string can't be repeated "+itoa(times)+" times", "").of(OfValue))
	}
	c.grow(len(s) * min(times, math.MaxInt32)) // far beyond any limit, and no overflow
	if s == "" {
		return s
	}
	return strings.Repeat(s, times)
}

// index counts characters, as slices and len do.
func index(f func(s, part string) int) func(invocation) any {
	return func(c invocation) any {
		at := f(c.text(0), c.text(1))
		if at > 0 {
			at = utf8.RuneCountInString(c.text(0)[:at])
		}
		return float64(at)
	}
}

func fromJSON(c invocation) any {
	d := json.NewDecoder(strings.NewReader(c.text(0)))
	d.UseNumber()
	for token, err := d.Token(); err == nil; token, err = d.Token() {
		if number, ok := token.(json.Number); ok {
			if problem := source.Inexact(number.String()); problem != "" {
				panic(c.misread(problem, "write it as a string in the JSON"))
			}
		}
	}
	var v any
	if err := json.Unmarshal([]byte(c.text(0)), &v); err != nil {
		panic(c.misread("the string isn't JSON: "+err.Error(), ""))
	}
	return v
}

// layouts are the forms of a date that is read without a layout of its own.
var layouts = []string{
	"2006-01-02", "15:04:05", "2006-01-02 15:04:05", time.RFC3339, time.RFC822, time.RFC850, time.RFC1123,
}

// toDate reads a date. A date that names no zone is in UTC; a zone's short name means nothing, because its meaning
// depends on the machine.
func toDate(c invocation) any {
	s, tried, form := c.text(0), layouts, ""
	if c.given(1) {
		c.work(len(c.text(1)) + len(s))
		tried, form = []string{c.text(1)}, " of the form "+quote(c.text(1))
	}
	for _, layout := range tried {
		if t, err := time.ParseInLocation(layout, s, time.UTC); err == nil {
			return t
		}
	}
	panic(c.misread(quote(s)+" isn't a date"+form,
		"write 2006-01-02 or 2006-01-02T15:04:05Z, or as a layout how the date of 2 January 2006, 15:04:05 is written"))
}

// get reads a key or an index, and gives null where there is none.
func get(c invocation) any {
	switch v := c.args[0].(type) {
	case map[string]any:
		if key, ok := c.args[1].(string); ok {
			return v[key]
		}
		panic(abandoned{unwanted(c.n.Args[1], "the index of an object", "", String, KindOf(c.args[1]))})
	case []any:
		i, ok := integer(c.args[1])
		if !ok {
			panic(c.fail(1, "an index is a whole number, and this is "+describe(c.args[1]), ""))
		}
		if i < 0 {
			i += len(v)
		}
		if i >= 0 && i < len(v) {
			return v[i]
		}
	}
	return nil
}

func take(c invocation) any {
	list, n := c.list(0), c.integer(1, 0)
	if n < 0 {
		panic(c.fail(1, itoa(n)+" items can't be taken", "").of(OfValue))
	}
	n = min(n, len(list))
	return list[:n:n]
}

// ofFields makes a list with an item for each key of an object and its value, in the order of the keys.
func ofFields(item func(key string, value any) any) func(invocation) any {
	return func(c invocation) any {
		object := c.args[0].(map[string]any)
		c.work(4 * len(object))
		out := make([]any, 0, len(object))
		for _, key := range sortedKeys(object) {
			out = append(out, item(key, object[key]))
		}
		return out
	}
}

func fromPairs(c invocation) any {
	list := c.list(0)
	out := make(map[string]any, len(list))
	for i, v := range list {
		pair, ok := v.([]any)
		if !ok || len(pair) != 2 {
			panic(c.fail(0, "\"fromPairs\" wants a list of [key, value], and item "+itoa(i)+" isn't one", ""))
		}
		key, ok := keyText(pair[0])
		if !ok {
			panic(c.fail(0, "the key of pair "+itoa(i)+" is "+KindOf(pair[0]).String(), "a key is a string"))
		}
		out[key] = pair[1]
	}
	return out
}

// uniq keeps the first of equal items. Scalars, which are most, are found by a map; lists and objects are compared with
// each other.
func uniq(c invocation) any {
	seen := make(map[any]bool, len(c.list(0)))
	out, large := []any{}, []any(nil)
	for _, v := range c.list(0) {
		switch v.(type) {
		case nil, bool, float64, string:
			if seen[v] {
				continue
			}
			seen[v] = true
		default:
			if slices.ContainsFunc(large, func(other any) bool { return c.m.equal(c.n, v, other, 0) }) {
				continue
			}
			large = append(large, v)
		}
		out = append(out, v)
	}
	return out
}

// maxPattern bounds a pattern's characters.
const maxPattern = 1000

// A pattern is a compiled regular expression and what matching it costs.
type pattern struct {
	source  string
	regexp  *regexp.Regexp
	program int // instructions; matching takes at most one step of each per byte
}

// compilePattern compiles a pattern, or says what is wrong with it.
func compilePattern(source string) (*pattern, string) {
	if len(source) > maxPattern {
		return nil, "a pattern is at most " + itoa(maxPattern) + " characters long"
	}
	compiled, err := regexp.Compile(source)
	if err != nil {
		return nil, "the pattern can't be read: " + err.Error()
	}
	size := 0
	if parsed, err := syntax.Parse(source, syntax.Perl); err == nil {
		if program, err := syntax.Compile(parsed.Simplify()); err == nil {
			size = len(program.Inst)
		}
	}
	return &pattern{source, compiled, size}, ""
}

func matches(c invocation, where, what string) bool {
	p, m := c.n.pattern, c.m
	if p == nil {
		if p = m.lastPattern; p == nil || p.source != what {
			c.work(100 * (len(what) + 10))
			var problem string
			if p, problem = compilePattern(what); problem != "" {
				panic(c.fail(1, problem, "").of(OfText))
			}
			c.work(10 * p.program)
			m.lastPattern = p
		}
	}
	c.work((len(where) + 1) * (p.program/4 + 1) / 4)
	return p.regexp.MatchString(where)
}
