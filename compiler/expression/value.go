package expression

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// KindOf is the kind of one value.
func KindOf(v any) KindSet {
	switch v.(type) {
	case nil:
		return Null
	case bool:
		return Bool
	case float64:
		return Number
	case string:
		return String
	case []any:
		return Array
	case map[string]any:
		return Object
	case time.Time:
		return date
	case time.Duration:
		return duration
	}
	return 0
}

// describe names a value for a message: a number by its digits, others by
// their kind.
func describe(v any) string {
	if n, ok := v.(float64); ok {
		return numberText(n)
	}
	return KindOf(v).String()
}

// integer is a value as a whole number, if it is one that a float64 holds exactly.
func integer(v any) (int, bool) {
	n, ok := v.(float64)
	if !ok || n != math.Trunc(n) || n > maxInteger || n < -maxInteger {
		return 0, false
	}
	return int(n), true
}

// timeText is how a date or a duration leaves an expression.
func timeText(v any) (string, bool) {
	switch v := v.(type) {
	case time.Time:
		return v.Format(time.RFC3339Nano), true
	case time.Duration:
		return v.String(), true
	}
	return "", false
}

// equal compares two values of any kinds by what they hold.
func (m *evaluation) equal(n *Node, a, b any, depth int) bool {
	m.step(n, 1)
	if depth > maxValueDepth {
		panic(failure(n, "the values are nested too deeply to be compared", ""))
	}
	switch a := a.(type) {
	case nil, bool, float64, time.Duration:
		return a == b
	case string:
		other, ok := b.(string)
		if !ok || len(a) != len(other) {
			return false
		}
		m.step(n, len(a)/64)
		return a == other
	case time.Time:
		other, ok := b.(time.Time)
		return ok && a.Equal(other)
	case []any:
		other, ok := b.([]any)
		if !ok || len(a) != len(other) {
			return false
		}
		for i := range a {
			if !m.equal(n, a[i], other[i], depth+1) {
				return false
			}
		}
		return true
	case map[string]any:
		other, ok := b.(map[string]any)
		if !ok || len(a) != len(other) {
			return false
		}
		for _, key := range sortedKeys(a) { // in order, so that what it costs is always the same
			if field, ok := other[key]; !ok || !m.equal(n, a[key], field, depth+1) {
				return false
			}
		}
		return true
	}
	return false
}

// compare orders two numbers, strings, dates or durations; ok is false for others.
func (m *evaluation) compare(n *Node, a, b any) (order int, ok bool) {
	switch x := a.(type) {
	case float64:
		y, ok := b.(float64)
		return cmp.Compare(x, y), ok
	case string:
		y, ok := b.(string)
		m.step(n, min(len(x), len(y))/64)
		return cmp.Compare(x, y), ok
	case time.Time:
		y, ok := b.(time.Time)
		return x.Compare(y), ok
	case time.Duration:
		y, ok := b.(time.Duration)
		return cmp.Compare(x, y), ok
	}
	return 0, false
}

func compared(holds func(order int) bool) func(invocation) any {
	return func(c invocation) any {
		order, _ := c.m.compare(c.n.Args[1], c.args[0], c.args[1])
		return holds(order)
	}
}

func add(c invocation) any {
	switch a := c.args[0].(type) {
	case float64:
		return finiteNumber(c.n, a+c.number(1))
	case string:
		c.grow(len(a) + len(c.text(1)))
		return a + c.text(1)
	case time.Time:
		return a.Add(c.args[1].(time.Duration))
	case time.Duration:
		if at, ok := c.args[1].(time.Time); ok {
			return at.Add(a)
		}
		return a + c.args[1].(time.Duration)
	}
	return nil
}

func subtract(c invocation) any {
	switch a := c.args[0].(type) {
	case float64:
		return finiteNumber(c.n, a-c.number(1))
	case time.Time:
		if b, ok := c.args[1].(time.Time); ok {
			return a.Sub(b)
		}
		return a.Add(-c.args[1].(time.Duration))
	}
	return c.args[0].(time.Duration) - c.args[1].(time.Duration)
}

func multiply(c invocation) any {
	a, b := c.args[0], c.args[1]
	if _, second := b.(time.Duration); second {
		a, b = b, a
	}
	if a, ok := a.(time.Duration); ok {
		return time.Duration(float64(a) * b.(float64))
	}
	return finiteNumber(c.n, a.(float64)*b.(float64))
}

func divide(c invocation) any {
	c.divisor()
	return finiteNumber(c.n, c.number(0)/c.number(1))
}

func (c invocation) divisor() {
	if c.number(1) == 0 {
		panic(c.fail(1, "division by zero", "").of(OfValue))
	}
}

func modulo(c invocation) any {
	c.divisor()
	var integers [2]int
	for i, v := range c.args {
		var ok bool
		if integers[i], ok = integer(v); !ok {
			panic(c.fail(i, "\"%\" wants whole numbers, and got "+describe(v), ""))
		}
	}
	return float64(integers[0] % integers[1])
}

func power(c invocation) any { return finiteNumber(c.n, math.Pow(c.number(0), c.number(1))) }

// finiteNumber lets through what JSON can say.
func finiteNumber(n *Node, v float64) any {
	if math.IsNaN(v) {
		panic(failure(n, "the result isn't a number", "").of(OfValue))
	}
	if math.IsInf(v, 0) {
		panic(failure(n, "the result is too large for a number", "").of(OfText))
	}
	return v
}

func isIn(c invocation) any {
	if object, ok := c.args[1].(map[string]any); ok {
		_, has := object[c.text(0)]
		return has
	}
	list, _ := c.args[1].([]any)
	return slices.ContainsFunc(list, func(v any) bool { return c.m.equal(c.n, v, c.args[0], 0) })
}

// search is an operator that looks for a text in another; neither is in null, and null in neither.
func search(found func(c invocation, where, what string) bool) func(invocation) any {
	return func(c invocation) any {
		where, ok := c.args[0].(string)
		what, both := c.args[1].(string)
		c.work(len(where) / 16)
		return ok && both && found(c, where, what)
	}
}

func inside(found func(where, what string) bool) func(invocation, string, string) bool {
	return func(_ invocation, where, what string) bool { return found(where, what) }
}

// span is the list of the whole numbers from one to another.
func span(c invocation) any {
	from := c.integer(0, 0)
	size := max(0, c.integer(1, 0)-from+1)
	c.grow(listItem * size)
	out := make([]any, size)
	for i := range out {
		out[i] = float64(from + i)
	}
	return out
}

// numberText is a number as JSON writes it.
func numberText(v float64) string {
	if v == 0 {
		return "0" // also -0, which equals it
	}
	if a := math.Abs(v); a >= 1e-6 && a < 1e21 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	text, _ := json.Marshal(v) // fails if it isn't finite, which callers see to
	return string(text)
}

// textCopies is how often a text is written while it grows: what was written moves whenever it needs more space, and
// once more when it is done.
const textCopies = 4

// asJSON is a value as JSON, its keys in order; with indent also on lines of its own, and fit for a page, as the
// library writes it.
func (m *evaluation) asJSON(n *Node, value any, indent bool) string {
	return writeJSON(m.export(n, value, 0, textCopies), indent)
}

func writeJSON(value any, indent bool) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(indent)
	if indent {
		encoder.SetIndent("", "  ")
	}
	if err := encoder.Encode(value); err != nil {
		panic(err) // of plain data, and of a buffer
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// A Room is how many values, and how much text, a value may still have, which may hold one part in many places.
type Room struct{ Values, Text int }

// Takes takes a value of so many levels at most off the room, and reports whether that was enough.
func (r *Room) Takes(v any, levels int) bool {
	r.Values--
	switch v := v.(type) {
	case string:
		r.Text -= len(v)
	case []any:
		for _, item := range v {
			if !r.Takes(item, levels-1) {
				return false
			}
		}
	case map[string]any:
		for key, item := range v {
			if r.Text -= len(key); !r.Takes(item, levels-1) {
				return false
			}
		}
	}
	return r.Values >= 0 && r.Text >= 0 && levels >= 0
}
