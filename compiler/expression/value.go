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

func bothNumbers(a, b any) (operands [2]float64, ok bool) {
	x, isNumber := a.(float64)
	y, areNumbers := b.(float64)
	return [2]float64{x, y}, isNumber && areNumbers
}

// arithmetic evaluates + - * / % and **; ok is false for values between which the operator has no meaning.
func (m *evaluation) arithmetic(n *Node, a, b any) (result any, ok bool) {
	if operands, ok := bothNumbers(a, b); ok {
		return m.calculate(n, operands[0], operands[1]), true
	}
	if s, isText := a.(string); isText && n.Op == OpAdd {
		t, ok := b.(string)
		m.grow(n, len(s)+len(t))
		return s + t, ok
	}
	return timeArithmetic(n.Op, a, b)
}

func (m *evaluation) calculate(n *Node, x, y float64) any {
	if y == 0 && (n.Op == OpDivide || n.Op == OpModulo) {
		panic(failure(n.Args[1], "division by zero", "").of(OfValue))
	}
	switch n.Op {
	case OpAdd:
		return m.finite(n, x+y)
	case OpSubtract:
		return m.finite(n, x-y)
	case OpMultiply:
		return m.finite(n, x*y)
	case OpPower:
		return m.finite(n, math.Pow(x, y))
	case OpDivide:
		return m.finite(n, x/y)
	}
	var whole [2]int
	for i, v := range [2]float64{x, y} {
		var ok bool
		if whole[i], ok = integer(v); !ok {
			panic(failure(n.Args[i], "\"%\" wants whole numbers, and got "+describe(v), ""))
		}
	}
	return float64(whole[0] % whole[1])
}

// finite lets through what JSON can say.
func (m *evaluation) finite(n *Node, v float64) any {
	if math.IsNaN(v) {
		panic(failure(n, "the result isn't a number", "").of(OfValue))
	}
	if math.IsInf(v, 0) {
		panic(failure(n, "the result is too large for a number", "").of(OfText))
	}
	return v
}

// timeArithmetic calculates with dates and durations.
func timeArithmetic(o Op, a, b any) (any, bool) {
	switch x := a.(type) {
	case time.Time:
		switch y := b.(type) {
		case time.Duration:
			switch o {
			case OpAdd:
				return x.Add(y), true
			case OpSubtract:
				return x.Add(-y), true
			}
		case time.Time:
			return x.Sub(y), o == OpSubtract
		}
	case time.Duration:
		switch y := b.(type) {
		case time.Time:
			return y.Add(x), o == OpAdd
		case time.Duration:
			switch o {
			case OpAdd:
				return x + y, true
			case OpSubtract:
				return x - y, true
			}
		case float64:
			return time.Duration(float64(x) * y), o == OpMultiply
		}
	case float64:
		if y, ok := b.(time.Duration); ok {
			return time.Duration(x * float64(y)), o == OpMultiply
		}
	}
	return nil, false
}

// appendNumber writes a number as JSON does.
func appendNumber(out []byte, v float64) []byte {
	if v == 0 {
		return append(out, '0') // also -0, which equals it
	}
	if a := math.Abs(v); a >= 1e-6 && a < 1e21 {
		return strconv.AppendFloat(out, v, 'f', -1, 64)
	}
	text, _ := json.Marshal(v) // fails if it isn't finite, which callers see to
	return append(out, text...)
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

// textCopies is how often a text is written while it grows: what was written moves whenever it needs more space, and once
// more when it is done.
const textCopies = 4

// asJSON is a value as JSON, its keys in order; with indent also on lines of its own, and fit for a page, as the library
// writes it.
func (m *evaluation) asJSON(n *Node, value any, indent bool) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(indent)
	if indent {
		encoder.SetIndent("", "  ")
	}
	if err := encoder.Encode(m.export(n, value, 0, textCopies)); err != nil {
		panic(err) // of plain data, and of a buffer
	}
	return strings.TrimSuffix(b.String(), "\n")
}
