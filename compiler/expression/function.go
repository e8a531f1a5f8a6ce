package expression

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler/source"
)

// A function is one that an expression can call with values.
type function struct {
	least, most int       // arguments; most -1 is any number
	params      []KindSet // what each argument may be; the last is that of all further ones
	result      *Type     // nil is anything
	items       bool      // the result has the type of the first argument's items, or is null
	same        bool      // the result has the type of the first argument
	words       string    // how it is called
	run         func(invocation) any
}

func (f *function) param(i int) KindSet { return f.params[min(i, len(f.params)-1)] }

func (f *function) usage() string { return "write " + f.words }

// An invocation is one call of a function, its arguments being of the kinds
// that it wants.
type invocation struct {
	m    *evaluation
	n    *node
	args []any
}

func (c invocation) text(i int) string { return c.args[i].(string) }
func (c invocation) list(i int) []any  { return c.args[i].([]any) }
func (c invocation) given(i int) bool  { return i < len(c.args) }
func (c invocation) grow(bytes int)    { c.m.grow(c.n, bytes) }
func (c invocation) work(steps int)    { c.m.step(c.n, steps) }

func (c invocation) fail(argument int, message, help string) abandoned {
	return c.m.fail(c.n.args[argument], message, help)
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
		panic(c.fail(i, quote(c.n.name)+" wants a whole number here, and got "+describe(c.args[i]), "round(…), floor(…) or int(…) make one"))
	}
	return v
}

// call evaluates a function's arguments, sees to their kinds, and runs it.
func (m *evaluation) call(n *node) any {
	base := len(m.stack)
	defer func() { m.stack = m.stack[:base] }()
	for i, a := range n.args {
		v := m.run(a)
		if want := n.fn.param(i); kindOf(v)&want == 0 {
			panic(m.fail(a, quote(n.name)+" wants "+want.String()+", and got "+kindOf(v).String(), helpArgument(n.name, want, v)))
		}
		m.stack = append(m.stack, v)
	}
	return n.fn.run(invocation{m, n, m.stack[base:len(m.stack):len(m.stack)]})
}

func helpArgument(name string, want KindSet, v any) string {
	if v == nil {
		return "write … || to have another value in its place"
	}
	if want&String != 0 && name != "join" {
		return "string(…) makes a string of it"
	}
	return ""
}

var (
	aBool    = &Type{Kinds: Bool}
	aNumber  = &Type{Kinds: Number}
	aString  = &Type{Kinds: String}
	aList    = &Type{Kinds: Array}
	anObject = &Type{Kinds: Object, Open: true}
	texts    = &Type{Kinds: Array, Elem: aString}
	numbers  = &Type{Kinds: Array, Elem: aNumber}
	maybe    = &Type{Kinds: Null | Number}
)

// functions are those of the expression language that depend on nothing but
// their arguments.
var functions = map[string]*function{
	"len":    {least: 1, most: 1, params: []KindSet{String | Array | Object}, result: aNumber, words: "len(list)", run: length},
	"type":   {least: 1, most: 1, params: []KindSet{anything}, result: aString, words: "type(value)", run: typeName},
	"abs":    {least: 1, most: 1, params: []KindSet{Number}, result: aNumber, words: "abs(number)", run: numeric(math.Abs)},
	"ceil":   {least: 1, most: 1, params: []KindSet{Number}, result: aNumber, words: "ceil(number)", run: numeric(math.Ceil)},
	"floor":  {least: 1, most: 1, params: []KindSet{Number}, result: aNumber, words: "floor(number)", run: numeric(math.Floor)},
	"round":  {least: 1, most: 1, params: []KindSet{Number}, result: aNumber, words: "round(number)", run: numeric(math.Round)},
	"int":    {least: 1, most: 1, params: []KindSet{Number | String}, result: aNumber, words: "int(value)", run: toInteger},
	"float":  {least: 1, most: 1, params: []KindSet{Number | String}, result: aNumber, words: "float(value)", run: toNumber},
	"string": {least: 1, most: 1, params: []KindSet{anything}, result: aString, words: "string(value)", run: toText},

	"trim":        {least: 1, most: 2, params: []KindSet{String}, result: aString, words: "trim(string) or trim(string, characters)", run: trim},
	"trimPrefix":  {least: 1, most: 2, params: []KindSet{String}, result: aString, words: "trimPrefix(string, prefix)", run: trimAffix(strings.TrimPrefix)},
	"trimSuffix":  {least: 1, most: 2, params: []KindSet{String}, result: aString, words: "trimSuffix(string, suffix)", run: trimAffix(strings.TrimSuffix)},
	"upper":       {least: 1, most: 1, params: []KindSet{String}, result: aString, words: "upper(string)", run: recase(strings.ToUpper)},
	"lower":       {least: 1, most: 1, params: []KindSet{String}, result: aString, words: "lower(string)", run: recase(strings.ToLower)},
	"split":       {least: 2, most: 3, params: []KindSet{String, String, Number}, result: texts, words: "split(string, separator)", run: split(strings.SplitN)},
	"splitAfter":  {least: 2, most: 3, params: []KindSet{String, String, Number}, result: texts, words: "splitAfter(string, separator)", run: split(strings.SplitAfterN)},
	"replace":     {least: 3, most: 4, params: []KindSet{String, String, String, Number}, result: aString, words: "replace(string, old, new)", run: replace},
	"repeat":      {least: 2, most: 2, params: []KindSet{String, Number}, result: aString, words: "repeat(string, times)", run: repeat},
	"join":        {least: 1, most: 2, params: []KindSet{Array, String}, result: aString, words: "join(list, separator)", run: join},
	"indexOf":     {least: 2, most: 2, params: []KindSet{String}, result: aNumber, words: "indexOf(string, part)", run: index(strings.Index)},
	"lastIndexOf": {least: 2, most: 2, params: []KindSet{String}, result: aNumber, words: "lastIndexOf(string, part)", run: index(strings.LastIndex)},
	"hasPrefix":   {least: 2, most: 2, params: []KindSet{String}, result: aBool, words: "hasPrefix(string, prefix)", run: affix(strings.HasPrefix)},
	"hasSuffix":   {least: 2, most: 2, params: []KindSet{String}, result: aBool, words: "hasSuffix(string, suffix)", run: affix(strings.HasSuffix)},
	"toJSON":      {least: 1, most: 1, params: []KindSet{anything}, result: aString, words: "toJSON(value)", run: toJSON},
	"fromJSON":    {least: 1, most: 1, params: []KindSet{String}, words: "fromJSON(string)", run: fromJSON},
	"toBase64":    {least: 1, most: 1, params: []KindSet{String}, result: aString, words: "toBase64(string)", run: toBase64},
	"fromBase64":  {least: 1, most: 1, params: []KindSet{String}, result: aString, words: "fromBase64(string)", run: fromBase64},
	"date":        {least: 1, most: 2, params: []KindSet{String}, result: &Type{Kinds: date}, words: "date(string) or date(string, layout)", run: toDate},
	"duration":    {least: 1, most: 1, params: []KindSet{String}, result: &Type{Kinds: duration}, words: "duration(\"1h30m\")", run: toDuration},

	"max":    {least: 1, most: -1, params: []KindSet{Number | Array}, result: maybe, words: "max(list) or max(a, b)", run: extreme(func(a, b float64) bool { return a > b })},
	"min":    {least: 1, most: -1, params: []KindSet{Number | Array}, result: maybe, words: "min(list) or min(a, b)", run: extreme(func(a, b float64) bool { return a < b })},
	"mean":   {least: 1, most: -1, params: []KindSet{Number | Array}, result: aNumber, words: "mean(list)", run: mean},
	"median": {least: 1, most: -1, params: []KindSet{Number | Array}, result: aNumber, words: "median(list)", run: median},

	"first":     {least: 1, most: 1, params: []KindSet{Array | Null}, items: true, words: "first(list)", run: edge(true)},
	"last":      {least: 1, most: 1, params: []KindSet{Array | Null}, items: true, words: "last(list)", run: edge(false)},
	"get":       {least: 2, most: 2, params: []KindSet{Array | Object | Null, Number | String}, words: "get(object, key) or get(list, index)", run: get},
	"take":      {least: 2, most: 2, params: []KindSet{Array, Number}, same: true, words: "take(list, count)", run: take},
	"keys":      {least: 1, most: 1, params: []KindSet{Object}, result: texts, words: "keys(object)", run: keys},
	"values":    {least: 1, most: 1, params: []KindSet{Object}, result: aList, words: "values(object)", run: values},
	"toPairs":   {least: 1, most: 1, params: []KindSet{Object}, result: aList, words: "toPairs(object)", run: toPairs},
	"fromPairs": {least: 1, most: 1, params: []KindSet{Array}, result: anObject, words: "fromPairs([[key, value], …])", run: fromPairs},
	"reverse":   {least: 1, most: 1, params: []KindSet{Array}, same: true, words: "reverse(list)", run: reverse},
	"uniq":      {least: 1, most: 1, params: []KindSet{Array}, same: true, words: "uniq(list)", run: uniq},
	"concat":    {least: 1, most: -1, params: []KindSet{Array}, result: aList, words: "concat(list, list)", run: concat},
	"flatten":   {least: 1, most: 1, params: []KindSet{Array}, result: aList, words: "flatten(list)", run: flatten},
	"sort":      {least: 1, most: 2, params: []KindSet{Array, String}, same: true, words: "sort(list) or sort(list, \"desc\")", run: sortList},

	"bitand":  {least: 2, most: 2, params: []KindSet{Number}, result: aNumber, words: "bitand(a, b)", run: bits(func(a, b int64) int64 { return a & b })},
	"bitor":   {least: 2, most: 2, params: []KindSet{Number}, result: aNumber, words: "bitor(a, b)", run: bits(func(a, b int64) int64 { return a | b })},
	"bitxor":  {least: 2, most: 2, params: []KindSet{Number}, result: aNumber, words: "bitxor(a, b)", run: bits(func(a, b int64) int64 { return a ^ b })},
	"bitnand": {least: 2, most: 2, params: []KindSet{Number}, result: aNumber, words: "bitnand(a, b)", run: bits(func(a, b int64) int64 { return a &^ b })},
	"bitshl":  {least: 2, most: 2, params: []KindSet{Number}, result: aNumber, words: "bitshl(a, count)", run: shift(func(a int64, by uint) int64 { return a << by })},
	"bitshr":  {least: 2, most: 2, params: []KindSet{Number}, result: aNumber, words: "bitshr(a, count)", run: shift(func(a int64, by uint) int64 { return a >> by })},
	"bitushr": {least: 2, most: 2, params: []KindSet{Number}, result: aNumber, words: "bitushr(a, count)", run: shift(func(a int64, by uint) int64 { return int64(uint64(a) >> by) })},
	"bitnot":  {least: 1, most: 1, params: []KindSet{Number}, result: aNumber, words: "bitnot(a)", run: bitnot},
}

func length(c invocation) any {
	switch v := c.args[0].(type) {
	case string:
		c.work(len(v) / 16)
		return float64(utf8.RuneCountInString(v))
	case []any:
		return float64(len(v))
	}
	return float64(len(c.args[0].(map[string]any)))
}

// typeName gives the library's names; a number without a fraction is an int.
func typeName(c invocation) any {
	switch v := c.args[0].(type) {
	case nil:
		return "nil"
	case bool:
		return "bool"
	case float64:
		if v == math.Trunc(v) {
			return "int"
		}
		return "float"
	case string:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "map"
	}
	return strings.TrimPrefix(strings.TrimPrefix(kindOf(c.args[0]).String(), "a "), "an ")
}

func numeric(f func(float64) float64) func(invocation) any {
	return func(c invocation) any { return f(c.args[0].(float64)) }
}

func toInteger(c invocation) any {
	if s, ok := c.args[0].(string); ok {
		v, err := strconv.ParseInt(s, 10, 64)
		if err != nil || v > maxInteger || v < -maxInteger {
			panic(c.misread(quote(s)+" isn't a whole number", "float(…) reads numbers with a fraction"))
		}
		return float64(v)
	}
	return math.Trunc(c.args[0].(float64))
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
	switch v := c.args[0].(type) {
	case string:
		return v
	case bool, float64, nil:
	default:
		if text, ok := timeText(v); ok {
			return text
		}
	}
	return string(c.m.appendJSON(c.n, nil, c.args[0], false, 0))
}

func trim(c invocation) any {
	s := c.text(0)
	if c.given(1) {
		// Trim looks at the whole set for each character of the string.
		c.work((len(s) + 16) * (len(c.text(1)) + 16) / 64)
		return strings.Trim(s, c.text(1))
	}
	c.work(len(s) / 16)
	return strings.TrimSpace(s)
}

// trimAffix takes a part off one end, a blank where none is given.
func trimAffix(f func(s, part string) string) func(invocation) any {
	return func(c invocation) any {
		if !c.given(1) {
			return f(c.text(0), " ")
		}
		return f(c.text(0), c.text(1))
	}
}

func recase(f func(string) string) func(invocation) any {
	return func(c invocation) any {
		s := c.text(0)
		c.grow(3 * len(s))
		c.work(len(s) / 8)
		return f(s)
	}
}

func split(f func(s, separator string, n int) []string) func(invocation) any {
	return func(c invocation) any {
		s, separator, most := c.text(0), c.text(1), -1
		if c.given(2) {
			most = c.integer(2)
		}
		c.work(len(s) / 8)
		pieces := strings.Count(s, separator) + 1
		if most >= 0 {
			pieces = min(pieces, most)
		}
		c.grow(2 * listItem * pieces)
		parts := f(s, separator, most)
		out := make([]any, len(parts))
		for i, p := range parts {
			out[i] = p
		}
		return out
	}
}

func replace(c invocation) any {
	s, before, after, most := c.text(0), c.text(1), c.text(2), -1
	if c.given(3) {
		most = c.integer(3)
	}
	c.work(len(s) / 8)
	times := strings.Count(s, before)
	if most >= 0 {
		times = min(times, most)
	}
	c.grow(len(s) + times*len(after))
	return strings.Replace(s, before, after, most)
}

func repeat(c invocation) any {
	times := c.integer(1)
	if times < 0 {
		panic(c.fail(1, "a string can't be repeated "+itoa(times)+" times", "").of(OfValue))
	}
	s := c.text(0)
	if len(s) > 0 {
		times = min(times, math.MaxInt32) // far beyond any limit, and no overflow
	}
	c.grow(len(s) * times)
	if s == "" {
		return ""
	}
	return strings.Repeat(s, times)
}

func join(c invocation) any {
	glue := ""
	if c.given(1) {
		glue = c.text(1)
	}
	list := c.list(0)
	bytes := 0
	parts := make([]string, 0, min(len(list), 64))
	for i, v := range list {
		s, ok := v.(string)
		if !ok {
			panic(c.fail(0, "\"join\" wants a list of strings, and item "+itoa(i)+" is "+kindOf(v).String(), "map the items first: … | map(string(#)) | join(\", \")"))
		}
		if bytes += len(s) + len(glue); bytes > c.m.most.Memory {
			break
		}
		parts = append(parts, s)
	}
	c.grow(bytes + listItem*len(parts))
	return strings.Join(parts, glue)
}

// index counts characters, as slices and len do.
func index(f func(s, part string) int) func(invocation) any {
	return func(c invocation) any {
		s := c.text(0)
		c.work(len(s) / 8)
		at := f(s, c.text(1))
		if at > 0 {
			at = utf8.RuneCountInString(s[:at])
		}
		return float64(at)
	}
}

func affix(f func(s, part string) bool) func(invocation) any {
	return func(c invocation) any {
		c.work(len(c.text(1)) / 64)
		return f(c.text(0), c.text(1))
	}
}

func toJSON(c invocation) any {
	return string(c.m.appendJSON(c.n, nil, c.args[0], true, 0))
}

func fromJSON(c invocation) any {
	s := c.text(0)
	c.grow(20 * len(s))
	var raw json.RawMessage // whose reading says what is wrong
	if err := json.Unmarshal([]byte(s), &raw); err != nil {
		panic(c.misread("the string isn't JSON: "+err.Error(), ""))
	}
	var v any
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		panic(c.misread("the string isn't JSON: "+err.Error(), ""))
	}
	v, problem := exact(v)
	if problem != "" {
		panic(c.misread(problem, "write it as a string in the JSON"))
	}
	return v
}

// exact is a value with its numbers as float64, or says which of them would lose
// digits.
func exact(v any) (_ any, problem string) {
	switch v := v.(type) {
	case json.Number:
		if problem := source.Inexact(v.String()); problem != "" {
			return nil, problem
		}
		number, _ := v.Float64()
		return number, ""
	case []any:
		for i := range v {
			if v[i], problem = exact(v[i]); problem != "" {
				return nil, problem
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if v[key], problem = exact(v[key]); problem != "" {
				return nil, problem
			}
		}
	}
	return v, ""
}

func toBase64(c invocation) any {
	s := c.text(0)
	c.grow(2*len(s) + 4)
	return base64.StdEncoding.EncodeToString([]byte(s))
}

func fromBase64(c invocation) any {
	c.grow(len(c.text(0)))
	out, err := base64.StdEncoding.DecodeString(c.text(0))
	if err != nil {
		panic(c.misread("the string isn't base64", ""))
	}
	if !utf8.Valid(out) {
		panic(c.misread("the string holds base64 of bytes that aren't text", ""))
	}
	return string(out)
}

func bits(f func(a, b int64) int64) func(invocation) any {
	return func(c invocation) any {
		a := c.integer(0)
		b := c.integer(1)
		return c.exact(f(int64(a), int64(b)))
	}
}

func shift(f func(a int64, by uint) int64) func(invocation) any {
	return func(c invocation) any {
		a := c.integer(0)
		by := c.integer(1)
		if by < 0 {
			panic(c.fail(1, "bits can't be shifted by "+itoa(by), ""))
		}
		return c.exact(f(int64(a), uint(by)))
	}
}

func bitnot(c invocation) any {
	a := c.integer(0)
	return c.exact(^int64(a))
}

// exact lets a whole number through that a number of JSON holds exactly.
func (c invocation) exact(v int64) any {
	if v > maxInteger || v < -maxInteger {
		panic(c.m.fail(c.n, "the result of "+quote(c.n.name)+" is larger than a number can be exactly", ""))
	}
	return float64(v)
}

// functionNames are the names of all functions, sorted, for suggestions.
var functionNames = func() []string {
	var names []string
	for name := range functions {
		names = append(names, name)
	}
	for name := range loops {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}()
