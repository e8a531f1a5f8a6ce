package expression

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"
)

// kindOf is the kind of one value.
func kindOf(v any) KindSet {
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
		return string(appendNumber(nil, n))
	}
	return kindOf(v).String()
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
func (m *evaluation) equal(n *node, a, b any, depth int) bool {
	m.step(n, 1)
	if depth > maxValueDepth {
		panic(m.fail(n, "the values are nested too deeply to be compared", ""))
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

// less compares two numbers, strings, dates or durations.
func (m *evaluation) less(o op, left, right *node, a, b any) bool {
	order, comparable := 0, false
	switch x := a.(type) {
	case float64:
		var y float64
		y, comparable = b.(float64)
		order = cmp.Compare(x, y)
	case string:
		var y string
		y, comparable = b.(string)
		m.step(right, min(len(x), len(y))/64)
		order = cmp.Compare(x, y)
	case time.Time:
		var y time.Time
		y, comparable = b.(time.Time)
		order = x.Compare(y)
	case time.Duration:
		var y time.Duration
		y, comparable = b.(time.Duration)
		order = cmp.Compare(x, y)
	default:
		panic(m.fail(left, kindOf(a).String()+" can't be compared by size", helpNull(a)))
	}
	if !comparable {
		panic(m.fail(right, kindOf(a).String()+" can't be compared with "+kindOf(b).String(), helpNull(b)))
	}
	switch o {
	case opLess:
		return order < 0
	case opLessEqual:
		return order <= 0
	case opMore:
		return order > 0
	}
	return order >= 0
}

func helpNull(v any) string {
	if v == nil {
		return "write … || 0, or … || \"\", to have a value in its place"
	}
	return ""
}

// arithmetic evaluates + - * / % and **.
func (m *evaluation) arithmetic(n *node, a, b any) any {
	x, isNumber := a.(float64)
	y, bothNumbers := b.(float64)
	if isNumber && bothNumbers {
		return m.calculate(n, x, y)
	}
	if s, ok := a.(string); ok && n.op == opAdd {
		t, ok := b.(string)
		if !ok {
			panic(m.fail(n.args[1], "a string is joined with a string, and this is "+kindOf(b).String(), cmp.Or(helpNull(b), helpJoin(b))))
		}
		m.grow(n, len(s)+len(t))
		return s + t
	}
	if v, ok := timeArithmetic(n.op, a, b); ok {
		return v
	}
	expected := "a number"
	if n.op == opAdd {
		expected = "a number or a string"
	}
	if isNumber {
		panic(m.fail(n.args[1], quote(binaryNames[n.op])+" wants a number here, and got "+kindOf(b).String(), helpJoin(b)))
	}
	if kindOf(a)&(date|duration) != 0 {
		panic(m.fail(n, quote(binaryNames[n.op])+" has no meaning between "+kindOf(a).String()+" and "+kindOf(b).String(), ""))
	}
	help := helpNull(a)
	if _, ok := a.([]any); ok && n.op == opAdd {
		help = "lists are joined by concat(…, …)"
	}
	panic(m.fail(n.args[0], quote(binaryNames[n.op])+" wants "+expected+", and got "+kindOf(a).String(), help))
}

func helpJoin(v any) string {
	switch v.(type) {
	case float64, bool:
		return "write string(…) to join it"
	case string:
		return "write float(…) to read it as a number, or string(…) around the other"
	}
	return helpNull(v)
}

func (m *evaluation) calculate(n *node, x, y float64) any {
	var out float64
	switch n.op {
	case opAdd:
		out = x + y
	case opSubtract:
		out = x - y
	case opMultiply:
		out = x * y
	case opPower:
		out = math.Pow(x, y)
	case opDivide:
		if y == 0 {
			panic(m.fail(n.args[1], "division by zero", "").of(OfValue))
		}
		out = x / y
	case opModulo:
		a, ok := integer(x)
		if !ok {
			panic(m.fail(n.args[0], "\"%\" wants whole numbers, and got "+describe(x), ""))
		}
		b, ok := integer(y)
		if !ok {
			panic(m.fail(n.args[1], "\"%\" wants whole numbers, and got "+describe(y), ""))
		}
		if b == 0 {
			panic(m.fail(n.args[1], "division by zero", "").of(OfValue))
		}
		out = float64(a % b)
	}
	return m.finite(n, out)
}

// finite lets through what JSON can say.
func (m *evaluation) finite(n *node, v float64) any {
	if math.IsNaN(v) {
		panic(m.fail(n, "the result isn't a number", "").of(OfValue))
	}
	if math.IsInf(v, 0) {
		panic(m.fail(n, "the result is too large for a number", "").of(OfText))
	}
	return v
}

// timeArithmetic calculates with dates and durations.
func timeArithmetic(o op, a, b any) (any, bool) {
	switch x := a.(type) {
	case time.Time:
		switch y := b.(type) {
		case time.Duration:
			switch o {
			case opAdd:
				return x.Add(y), true
			case opSubtract:
				return x.Add(-y), true
			}
		case time.Time:
			return x.Sub(y), o == opSubtract
		}
	case time.Duration:
		switch y := b.(type) {
		case time.Time:
			return y.Add(x), o == opAdd
		case time.Duration:
			switch o {
			case opAdd:
				return x + y, true
			case opSubtract:
				return x - y, true
			}
		case float64:
			return time.Duration(float64(x) * y), o == opMultiply
		}
	case float64:
		if y, ok := b.(time.Duration); ok {
			return time.Duration(x * float64(y)), o == opMultiply
		}
	}
	return nil, false
}

// appendNumber writes a number as JSON does.
func appendNumber(out []byte, v float64) []byte {
	if v == 0 {
		return append(out, '0') // also -0, which equals it
	}
	format := byte('f')
	if a := math.Abs(v); a < 1e-6 || a >= 1e21 {
		format = 'e'
	}
	start := len(out)
	out = strconv.AppendFloat(out, v, format, -1, 64)
	if end := len(out); format == 'e' && end-start >= 4 && out[end-4] == 'e' && out[end-3] == '-' && out[end-2] == '0' {
		out[end-2] = out[end-1] // e-09 is e-9
		out = out[:end-1]
	}
	return out
}

// appendText writes a string as JSON does. What could end a script or a tag in
// a page is escaped where html is set.
func appendText(out []byte, s string, html bool) []byte {
	if !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' || strings.ContainsRune(`"\<>&`, r) }) {
		return append(append(append(out, '"'), s...), '"')
	}
	b := bytes.NewBuffer(out)
	encoder := json.NewEncoder(b)
	encoder.SetEscapeHTML(html)
	if err := encoder.Encode(s); err != nil {
		panic(err) // of a string, and of a buffer
	}
	return b.Bytes()[:b.Len()-1] // without the end of the line
}

// textCopies is how often a text is written while it grows: what was written
// moves whenever it needs more room, and once more when it is done.
const textCopies = 4

// appendJSON writes a value as JSON, its keys in order; with indent also on
// lines of its own, and fit for a page, as the library does.
func (m *evaluation) appendJSON(n *node, out []byte, value any, indent bool, depth int) []byte {
	if depth > maxValueDepth {
		panic(m.fail(n, "the value is nested too deeply to be written", ""))
	}
	before := len(out)
	newline := func(depth int) {
		if indent {
			out = append(out, '\n')
			for range depth {
				out = append(out, "  "...)
			}
		}
	}
	switch v := value.(type) {
	case nil:
		out = append(out, "null"...)
	case bool:
		out = strconv.AppendBool(out, v)
	case float64:
		out = appendNumber(out, v)
	case string:
		m.grow(n, textCopies*len(v))
		out = appendText(out, v, indent)
	case []any:
		if len(v) == 0 {
			m.step(n, 1)
			return append(out, "[]"...)
		}
		out = append(out, '[')
		for i, item := range v {
			if i > 0 {
				out = append(out, ',')
			}
			newline(depth + 1)
			out = m.appendJSON(n, out, item, indent, depth+1)
			m.grow(n, textCopies*(2*depth+4))
		}
		newline(depth)
		return append(out, ']')
	case map[string]any:
		if len(v) == 0 {
			m.step(n, 1)
			return append(out, "{}"...)
		}
		out = append(out, '{')
		for i, key := range sortedKeys(v) {
			if i > 0 {
				out = append(out, ',')
			}
			newline(depth + 1)
			out = append(appendText(out, key, indent), ':')
			if indent {
				out = append(out, ' ')
			}
			out = m.appendJSON(n, out, v[key], indent, depth+1)
			m.grow(n, textCopies*(len(key)+2*depth+6))
		}
		newline(depth)
		return append(out, '}')
	default:
		text, ok := timeText(value)
		if !ok {
			panic(m.fail(n, "the value isn't plain data", ""))
		}
		out = appendText(out, text, indent)
	}
	m.grow(n, textCopies*(len(out)-before))
	return out
}
