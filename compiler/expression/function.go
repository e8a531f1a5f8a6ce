package expression

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// A function is a function or method of the expression language. The parser, the checker, the evaluator and the
// messages read the same entry.
type function struct {
	// signature is the name, the parameters and the result, as in "split(string, separator string, most number?) [string]"
	// (a list of strings). A parameter is its kinds, behind a label if there is one. It may be left out behind "?", and is repeated behind
	// "...". Behind "#" it is an expression that is evaluated once per item of the first argument. The result is "item"
	// for an item of the first argument or null, and "same" for the type of the first argument.
	signature string
	total     bool                                   // it results in a value for all arguments of these kinds
	scan      int                                    // bytes of a text, as the first argument, that cost one step; 0: it is free
	grow      int                                    // bytes of memory for each byte, item or key of the first argument
	results   func(n *Node, arguments []*Type) *Type // the type of the result, if the signature can't say it
	run       func(invocation) any
	loop      func(m *evaluation, n *Node, list []any, extra any) any

	// The parts of the signature.
	name   string
	params []param
	least  int // arguments that are required
	most   int // -1: any number
	item   bool
	same   bool
	result *Type // nil: any
}

// A param is one parameter of a function.
type param struct {
	label   string
	kinds   KindSet
	perItem bool
}

// param is the parameter of an argument: the last is that of all further arguments.
func (f *function) param(i int) param { return f.params[min(i, len(f.params)-1)] }

// usage is how a function is called: with the arguments that it requires, and with all.
func (f *function) usage() string {
	call := func(params []param) string {
		labels := make([]string, len(params))
		for i, p := range params {
			labels[i] = p.label
		}
		return f.name + "(" + strings.Join(labels, ", ") + ")"
	}
	if len(f.params) == f.least {
		return "write " + call(f.params)
	}
	return "write " + call(f.params[:f.least]) + " or " + call(f.params)
}

var kindWords = map[string]KindSet{
	"null": Null, "boolean": Bool, "number": Number, "string": String, "list": Array, "object": Object,
	"date": date, "duration": duration, "any": anything,
}

func kindsOf(words string) (kinds KindSet) {
	for word := range strings.SplitSeq(words, "|") {
		kinds |= kindWords[word]
	}
	return kinds
}

// byName reads the signatures of a table.
func byName(table []function) map[string]*function {
	named := make(map[string]*function, len(table))
	for i := range table {
		f := &table[i]
		f.readSignature()
		named[f.name] = f
	}
	return named
}

func (f *function) readSignature() {
	name, rest, _ := strings.Cut(f.signature, "(")
	params, result, _ := strings.Cut(rest, ") ")
	f.name = name
	for text := range strings.SplitSeq(params, ", ") {
		text, repeated := strings.CutSuffix(text, "...")
		text, optional := strings.CutSuffix(text, "?")
		text, perItem := strings.CutPrefix(text, "#")
		label, kinds, labelled := strings.Cut(text, " ")
		if !labelled {
			label, kinds = strings.ReplaceAll(strings.TrimSuffix(text, "|null"), "|", " or "), text
		}
		f.params = append(f.params, param{label, kindsOf(kinds), perItem})
		if !optional {
			f.least++
		}
		if f.most++; repeated {
			f.most = -1
		}
	}
	switch element, isList := strings.CutPrefix(result, "["); {
	case isList:
		f.result = &Type{Kinds: Array, Elem: &Type{Kinds: kindsOf(strings.TrimSuffix(element, "]"))}}
	case result == "item":
		f.item = true
	case result == "same":
		f.same = true
	case result != "any":
		f.result = &Type{Kinds: kindsOf(result), Open: result == "object"}
	}
}

// An invocation is one call of a function, its arguments being of the kinds that it wants.
type invocation struct {
	m    *evaluation
	n    *Node
	args []any
}

func (c invocation) text(i int) string { return c.args[i].(string) }
func (c invocation) list(i int) []any  { return c.args[i].([]any) }
func (c invocation) given(i int) bool  { return i < len(c.args) }
func (c invocation) grow(bytes int)    { c.m.grow(c.n, bytes) }
func (c invocation) work(steps int)    { c.m.step(c.n, steps) }

func (c invocation) fail(argument int, message, help string) abandoned {
	return failure(c.n.Args[argument], message, help)
}

// misread fails for a text that isn't written as the function reads it.
func (c invocation) misread(message, help string) abandoned {
	return c.fail(0, message, help).of(OfText)
}

// of is a failure for a cause.
func (a abandoned) of(cause Cause) abandoned {
	a.error.(*Error).Cause = cause
	return a
}

func (c invocation) integer(i int) int {
	v, ok := integer(c.args[i])
	if !ok {
		panic(c.fail(i, quote(c.n.Name)+" wants a whole number here, and got "+describe(c.args[i]),
			"round(…), floor(…) or int(…) make one"))
	}
	return v
}

// call evaluates a function or a method.
func (m *evaluation) call(n *Node) any {
	base := len(m.stack)
	defer func() { m.stack = m.stack[:base] }()
	for i, a := range n.Args {
		m.stack = append(m.stack, m.want(a, n.fn.param(i).kinds, n))
	}
	c := invocation{m, n, m.stack[base:len(m.stack):len(m.stack)]}
	c.charge()
	return n.fn.run(c)
}

// charge pays for what the size of the first argument decides.
func (c invocation) charge() {
	f, size := c.n.fn, 0
	switch v := c.args[0].(type) {
	case string:
		if size = len(v); f.scan > 0 {
			c.work(size / f.scan)
		}
	case []any:
		size = len(v)
	case map[string]any:
		size = len(v)
	}
	if f.grow > 0 {
		c.grow(f.grow * size)
	}
}

// functions are those of the expression language that depend on nothing but their arguments, by name. It is filled when
// the program starts, since loops evaluate expressions, which call functions.
var functions map[string]*function

// functionNames are the names of all functions, sorted, for suggestions.
var functionNames []string

func init() {
	functions = byName(slices.Concat(scalarFunctions, listFunctions, loops))
	functionNames = slices.Sorted(maps.Keys(functions))
}

// What a value of each kind takes, roughly.
const (
	listItem    = 24
	objectField = 64
)

var scalarFunctions = []function{
	{signature: "len(list string|list|object) number", total: true, scan: 16, run: length},
	{signature: "type(any) string", total: true, run: typeName},
	{signature: "abs(number) number", total: true, run: numeric(math.Abs)},
	{signature: "ceil(number) number", total: true, run: numeric(math.Ceil)},
	{signature: "floor(number) number", total: true, run: numeric(math.Floor)},
	{signature: "round(number) number", total: true, run: numeric(math.Round)},
	{signature: "int(number|string) number", run: toInteger},
	{signature: "float(number|string) number", run: toNumber},
	{signature: "string(any) string", total: true, run: toText},

	{signature: "trim(string, characters string?) string", total: true, scan: 16, run: trim},
	{signature: "trimPrefix(string, prefix string?) string", total: true, run: trimAffix(strings.TrimPrefix)},
	{signature: "trimSuffix(string, suffix string?) string", total: true, run: trimAffix(strings.TrimSuffix)},
	{signature: "upper(string) string", total: true, scan: 8, grow: 3, run: recase(strings.ToUpper)},
	{signature: "lower(string) string", total: true, scan: 8, grow: 3, run: recase(strings.ToLower)},
	{signature: "split(string, separator string, most number?) [string]", total: true, scan: 8,
		run: split(strings.SplitN)},
	{signature: "splitAfter(string, separator string, most number?) [string]", scan: 8,
		run: split(strings.SplitAfterN)},
	{signature: "replace(string, old string, new string, most number?) string", total: true, scan: 8, grow: 1,
		run: replace},
	{signature: "repeat(string, times number) string", run: repeat},
	{signature: "join(list, separator string?) string", run: join},
	{signature: "indexOf(string, part string) number", total: true, scan: 8, run: index(strings.Index)},
	{signature: "lastIndexOf(string, part string) number", total: true, scan: 8, run: index(strings.LastIndex)},
	{signature: "hasPrefix(string, prefix string) boolean", total: true, run: affix(strings.HasPrefix)},
	{signature: "hasSuffix(string, suffix string) boolean", total: true, run: affix(strings.HasSuffix)},
	{signature: "toJSON(any) string", total: true, run: toJSON},
	{signature: "fromJSON(string) any", grow: 20, run: fromJSON},
	{signature: "toBase64(string) string", total: true, grow: 2, run: toBase64},
	{signature: "fromBase64(string) string", grow: 1, run: fromBase64},
	{signature: "date(string, layout string?) date", run: toDate},
	{signature: "duration(string) duration", run: toDuration},

	{signature: "max(number|list...) null|number", run: extreme(func(a, b float64) bool { return a > b })},
	{signature: "min(number|list...) null|number", run: extreme(func(a, b float64) bool { return a < b })},
	{signature: "mean(number|list...) number", run: mean},
	{signature: "median(number|list...) number", run: median},

	{signature: "bitand(number, number) number", run: bits(func(a, b int64) int64 { return a & b })},
	{signature: "bitor(number, number) number", run: bits(func(a, b int64) int64 { return a | b })},
	{signature: "bitxor(number, number) number", run: bits(func(a, b int64) int64 { return a ^ b })},
	{signature: "bitnand(number, number) number", run: bits(func(a, b int64) int64 { return a &^ b })},
	{signature: "bitshl(number, count number) number", run: shift(func(a int64, by uint) int64 { return a << by })},
	{signature: "bitshr(number, count number) number", run: shift(func(a int64, by uint) int64 { return a >> by })},
	{signature: "bitushr(number, count number) number", run: shift(func(a int64, by uint) int64 {
		return int64(uint64(a) >> by)
	})},
	{signature: "bitnot(number) number", run: bitnot},
}

var listFunctions = []function{
	{signature: "first(list|null) item", total: true, run: edge(true)},
	{signature: "last(list|null) item", total: true, run: edge(false)},
	{signature: "get(object|list|null, number|string) any", results: resultOfGet, run: get},
	{signature: "take(list, count number) same", run: take},
	{signature: "keys(object) [string]", total: true, grow: 3 * listItem,
		run: ofFields(func(key string, _ any) any { return key })},
	{signature: "values(object) list", total: true, grow: 3 * listItem, results: listOfFields,
		run: ofFields(func(_ string, value any) any { return value })},
	{signature: "toPairs(object) list", total: true, grow: 3 * listItem,
		run: ofFields(func(key string, value any) any { return []any{key, value} })},
	{signature: "fromPairs(pairs list) object", grow: objectField, results: objectOfPairs, run: fromPairs},
	{signature: "reverse(list) same", total: true, grow: listItem, run: reverse},
	{signature: "uniq(list) same", total: true, grow: 2 * objectField, run: uniq},
	{signature: "concat(list...) list", total: true, run: concat},
	{signature: "flatten(list) list", total: true, run: flatten},
	{signature: "sort(list, order string?) same", grow: listItem, run: sortList},
}

// loops evaluate an expression for each item of a list.
var loops = []function{
	{signature: "all(list, #boolean) boolean", total: true, loop: search(slices.All, false, isNone)},
	{signature: "none(list, #boolean) boolean", total: true, loop: search(slices.All, true, isNone)},
	{signature: "any(list, #boolean) boolean", total: true, loop: search(slices.All, true, isFound)},
	{signature: "one(list, #boolean) boolean", total: true, loop: one},
	{signature: "count(list, #boolean?) number", total: true, loop: count},
	{signature: "find(list, #boolean) item", total: true, loop: search(slices.All, true, itemAt)},
	{signature: "findIndex(list, #boolean) null|number", total: true,
		loop: search(slices.All, true, indexOrNull)},
	{signature: "findLast(list, #boolean) item", total: true, loop: search(slices.Backward, true, itemAt)},
	{signature: "findLastIndex(list, #boolean) null|number", total: true,
		loop: search(slices.Backward, true, indexOrNull)},
	{signature: "filter(list, #boolean) same", total: true, loop: filter},
	{signature: "map(list, #any) list", total: true, grow: listItem, results: listOfResults, loop: mapItems},
	{signature: "sum(list, #number?) number", total: true, loop: sum},
	{signature: "groupBy(list, #string|number|boolean) object", total: true, results: objectOfLists, loop: groupBy},
	{signature: "sortBy(list, #number|string|date|duration, order string?) same", grow: 3 * listItem, loop: sortBy},
	{signature: "reduce(list, #any, start any?) any", total: true, results: resultOfReduce, loop: reduce},
}

// methods can be called on dates and durations, as in date("2024-02-29").Year().
var methods = byName([]function{
	{signature: "Year(date) number", run: datePart(time.Time.Year)},
	{signature: "Month(date) number", run: datePart(func(t time.Time) int { return int(t.Month()) })},
	{signature: "Day(date) number", run: datePart(time.Time.Day)},
	{signature: "Hour(date) number", run: datePart(time.Time.Hour)},
	{signature: "Minute(date) number", run: datePart(time.Time.Minute)},
	{signature: "Second(date) number", run: datePart(time.Time.Second)},
	{signature: "Weekday(date) number", run: datePart(func(t time.Time) int { return int(t.Weekday()) })},
	{signature: "YearDay(date) number", run: datePart(time.Time.YearDay)},
	{signature: "Unix(date) number", run: datePart(func(t time.Time) int { return int(t.Unix()) })},
	{signature: "Format(date, layout string) string", run: formatDate},
	{signature: "Hours(duration) number", run: durationPart(time.Duration.Hours)},
	{signature: "Minutes(duration) number", run: durationPart(time.Duration.Minutes)},
	{signature: "Seconds(duration) number", run: durationPart(time.Duration.Seconds)},
	{signature: "Milliseconds(duration) number", run: durationPart(func(d time.Duration) float64 {
		return float64(d.Milliseconds())
	})},
})
