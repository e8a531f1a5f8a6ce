package expression

import (
	"slices"
	"strings"
	"time"
)

// What a value of each kind takes, roughly.
const (
	listItem    = 24
	objectField = 64
)

// inText is what messages call a text with expressions.
const inText = "†{ … }"

// operatorTable has what nodes do that have operands.
var operatorTable = []function{
	{op: OpFallback, signature: "||(any) any"},
	{op: OpGate, signature: "&&(any) any"},
	{op: OpCond, signature: "(boolean, any, any) any", phrase: "a condition",
		results: func(_ *checker, _ *Node, types []*Type) *Type { return either(types[1], types[2], 0) }},
	{op: OpOr, signature: "or(boolean, boolean) boolean"},
	{op: OpAnd, signature: "and(boolean, boolean) boolean"},
	{op: OpNot, signature: "not(boolean) boolean",
		run: func(c invocation) any { return !c.args[0].(bool) }},
	{op: OpNegate, signature: "-(number) number", phrase: "a sign",
		run: func(c invocation) any { return -c.number(0) }},
	{op: OpPlus, signature: "+(number) number", phrase: "a sign",
		run: func(c invocation) any { return c.args[0] }},
	{op: OpText, signature: "(string|number|boolean|date|duration...) string", phrase: inText, run: textOf},
	{op: OpMember, signature: "(list, number) any; (object, string) any; (string, number) string", phrase: "an index",
		partial: true, results: resultOfMember, run: member},
	{op: OpSlice, signature: "(list|string, integer?, integer?) same", phrase: "a slice", items: sliced, run: slice},

	{op: OpEqual, signature: "==(any, any) boolean", results: equality,
		run: func(c invocation) any { return c.m.equal(c.n, c.args[0], c.args[1], 0) }},
	{op: OpUnequal, signature: "!=(any, any) boolean", results: equality,
		run: func(c invocation) any { return !c.m.equal(c.n, c.args[0], c.args[1], 0) }},
	{op: OpLess, signature: "<" + bySize, run: compared(func(order int) bool { return order < 0 })},
	{op: OpLessEqual, signature: "<=" + bySize,
		run: compared(func(order int) bool { return order <= 0 })},
	{op: OpMore, signature: ">" + bySize, run: compared(func(order int) bool { return order > 0 })},
	{op: OpMoreEqual, signature: ">=" + bySize,
		run: compared(func(order int) bool { return order >= 0 })},
	{op: OpIn, signature: "in(any, list|null) boolean; (string, object) boolean",
		results: membership, run: isIn},
	{op: OpMatches, signature: "matches" + ofTexts,
		fails: func(n *Node) bool { return n.pattern == nil }, run: search(matches)},
	{op: OpContains, signature: "contains" + ofTexts, run: search(inside(strings.Contains))},
	{op: OpStarts, signature: "startsWith" + ofTexts, run: search(inside(strings.HasPrefix))},
	{op: OpEnds, signature: "endsWith" + ofTexts, run: search(inside(strings.HasSuffix))},
	{op: OpRange, signature: "..(integer, integer) [number]", fails: unlessShort, items: spanned,
		run: span},

	{op: OpAdd, signature: "+(number, number) number; (string, string) string; (date, duration) date; " +
		"(duration, date) date; (duration, duration) duration", run: add},
	{op: OpSubtract, signature: "-(number, number) number; (date, date) duration; (date, duration) date; " +
		"(duration, duration) duration", run: subtract},
	{op: OpMultiply, signature: "*(number, number) number; (duration, number) duration; (number, duration) duration",
		run: multiply},
	{op: OpDivide, signature: "/(number, number) number", run: divide,
		fails: func(n *Node) bool { return n.Args[1].Op != OpLiteral || n.Args[1].Value == 0.0 }},
	{op: OpModulo, signature: "%(number, number) number", partial: true, run: modulo},
	{op: OpPower, signature: "**(number, number) number", partial: true, run: power},
}

const (
	bySize  = "(number, number) boolean; (string, string) boolean; (date, date) boolean; (duration, duration) boolean"
	ofTexts = "(string|null, string|null) boolean"
)

// functionTable has the functions. What has no run is computed by the library.
var functionTable = []function{
	{signature: "len(list string|list|object) number", scan: 16, run: length},
	{signature: "type(any) string", run: typeName},
	{signature: "abs(number) number"},
	{signature: "ceil(number) number"},
	{signature: "floor(number) number"},
	{signature: "round(number) number"},
	{signature: "int(number|string) number", partial: true, run: toInteger},
	{signature: "float(number|string) number", partial: true, run: toNumber},
	{signature: "string(any) string", run: toText},

	{signature: "trim(string, characters string?) string", scan: 16, cost: costOfTrim},
	{signature: "trimPrefix(string, prefix string?) string"},
	{signature: "trimSuffix(string, suffix string?) string"},
	{signature: "upper(string) string", scan: 8, grow: 3},
	{signature: "lower(string) string", scan: 8, grow: 3},
	{signature: "split(string, separator string, most integer?) [string]", scan: 8, cost: costOfSplit},
	{signature: "splitAfter(string, separator string, most integer?) [string]", scan: 8, cost: costOfSplit},
	{signature: "replace(string, old string, new string, most integer?) string", scan: 8, grow: 1,
		cost: func(c invocation) { c.grow(c.occurrences(3) * len(c.text(2))) }},
	{signature: "repeat(string, times integer) string", run: repeat},
	{signature: "join(list, separator string?) string", partial: true, cost: costOfJoin},
	{signature: "indexOf(string, part string) number", scan: 8, run: index(strings.Index)},
	{signature: "lastIndexOf(string, part string) number", scan: 8, run: index(strings.LastIndex)},
	{signature: "hasPrefix(string, prefix string) boolean", cost: costOfSecond},
	{signature: "hasSuffix(string, suffix string) boolean", cost: costOfSecond},
	{signature: "toJSON(any) string", run: func(c invocation) any { return c.m.asJSON(c.n, c.args[0], true) }},
	{signature: "fromJSON(string) any", partial: true, grow: 20, run: fromJSON},
	{signature: "toBase64(string) string", grow: 2},
	{signature: "fromBase64(string) string", partial: true, grow: 1},
	{signature: "date(string, layout string?) date", partial: true, run: toDate},
	{signature: "duration(string) duration", partial: true},

	{signature: "max(number|list...) null|number", partial: true, cost: costOfNumbers},
	{signature: "min(number|list...) null|number", partial: true, cost: costOfNumbers},
	{signature: "mean(number|list...) number", partial: true, cost: costOfNumbers},
	{signature: "median(number|list...) number", partial: true, cost: costOfMedian},

	{signature: "bitand(integer, integer) number"},
	{signature: "bitor(integer, integer) number"},
	{signature: "bitxor(integer, integer) number"},
	{signature: "bitnand(integer, integer) number"},
	{signature: "bitshl(integer, count integer) number"},
	{signature: "bitshr(integer, count integer) number"},
	{signature: "bitushr(integer, count integer) number"},
	{signature: "bitnot(integer) number"},

	{signature: "first(list|null) item"},
	{signature: "last(list|null) item"},
	{signature: "get(object|list|null, number|string) any", partial: true, run: get},
	{signature: "take(list, count integer) same", items: taken, run: take},
	{signature: "keys(object) [string]", grow: 3 * listItem,
		run: ofFields(func(key string, _ any) any { return key })},
	{signature: "values(object) list", grow: 3 * listItem,
		run: ofFields(func(_ string, value any) any { return value })},
	{signature: "toPairs(object) list", grow: 3 * listItem,
		run: ofFields(func(key string, value any) any { return []any{key, value} })},
	{signature: "fromPairs(pairs list) object", partial: true, grow: objectField, run: fromPairs,
		results: func(_ *checker, _ *Node, types []*Type) *Type {
			return &Type{Kinds: Object, Open: true, Rest: types[0].elem().elem()}
		}},
	{signature: "reverse(list) same", grow: listItem, items: asMany},
	{signature: "uniq(list) same", grow: 2 * objectField, items: atMost, run: uniq},
	{signature: "concat(list...) list", cost: costOfConcat},
	{signature: "flatten(list) list", cost: costOfFlatten},
	{signature: "sort(list, order string?) same", partial: true, grow: 3 * listItem, items: asMany,
		run: func(c invocation) any { return c.sorted(c.list(0), 1) }},

	// Those that evaluate an expression for each item of a list.
	{signature: "all(list, #boolean) boolean", run: find(slices.All, false, isNone)},
	{signature: "none(list, #boolean) boolean", run: find(slices.All, true, isNone)},
	{signature: "any(list, #boolean) boolean", run: find(slices.All, true, func(_ []any, i int) any { return i >= 0 })},
	{signature: "one(list, #boolean) boolean", run: one},
	{signature: "count(list, #boolean?) number", run: count},
	{signature: "find(list, #boolean) item", run: find(slices.All, true, itemAt)},
	{signature: "findIndex(list, #boolean) null|number", run: find(slices.All, true, indexOrNull)},
	{signature: "findLast(list, #boolean) item", run: find(slices.Backward, true, itemAt)},
	{signature: "findLastIndex(list, #boolean) null|number", run: find(slices.Backward, true, indexOrNull)},
	{signature: "filter(list, #boolean) same", items: atMost, run: filter},
	{signature: "map(list, #any) list", grow: listItem, items: asMany,
		results: func(_ *checker, _ *Node, types []*Type) *Type { return &Type{Kinds: Array, Elem: types[1]} },
		run:     func(c invocation) any { return c.turns() }},
	{signature: "sum(list, #number?) number", run: sum},
	{signature: "groupBy(list, #string|number|boolean) object", run: groupBy,
		results: func(_ *checker, _ *Node, types []*Type) *Type {
			return &Type{Kinds: Object, Open: true, Rest: types[0].without(Null)}
		}},
	{signature: "sortBy(list, #number|string|date|duration, order string?) same", partial: true, grow: 3 * listItem,
		items: asMany, run: sortBy},
	{signature: "reduce(list, #any, start any?) any", run: reduce,
		fails: func(n *Node) bool { return len(n.Args) < 3 }},

	// Methods of dates and durations, as in date("2024-02-29").Year().
	{signature: ".Year(date) number", run: method},
	{signature: ".Month(date) number", run: method},
	{signature: ".Day(date) number", run: method},
	{signature: ".Hour(date) number", run: method},
	{signature: ".Minute(date) number", run: method},
	{signature: ".Second(date) number", run: method},
	{signature: ".Weekday(date) number", run: method},
	{signature: ".YearDay(date) number", run: method},
	{signature: ".Unix(date) number", run: method},
	{signature: ".Format(date, layout string) string", run: func(c invocation) any {
		c.grow(8 * len(c.text(1))) // a layout's longest element, a month's name, has two characters for its nine
		return c.args[0].(time.Time).Format(c.text(1))
	}},
	{signature: ".Hours(duration) number", run: method},
	{signature: ".Minutes(duration) number", run: method},
	{signature: ".Seconds(duration) number", run: method},
	{signature: ".Milliseconds(duration) number", run: method},
}
