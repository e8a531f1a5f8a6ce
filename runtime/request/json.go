package request

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"

	"github.com/obelus-dev/obelus/compiler/source"
)

// An Object is a JSON object whose members keep their order. Values inside are
// nil, bool, float64, [Number], string, []any, map[string]any and Object.
type Object []Member

// A Member is a key of an object, and its value.
type Member struct {
	Key   string
	Value any
}

// Get is the value under a key; nil where there is none.
func (o Object) Get(key string) any {
	for _, m := range o {
		if m.Key == key {
			return m.Value
		}
	}
	return nil
}

// Has reports whether an object has a key.
func (o Object) Has(key string) bool {
	return slices.ContainsFunc(o, func(m Member) bool { return m.Key == key })
}

// With is the object and one member more.
func (o Object) With(key string, value any) Object { return append(o, Member{key, value}) }

// A Number is a number as JSON writes it, digit by digit as its text had it.
type Number string

// jsonNumber is how JSON writes a number; YAML knows more ways.
var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// Of is a value as its text has it: the members of objects in their order,
// numbers with their digits.
func Of(n *source.Node) any {
	switch {
	case n == nil:
		return nil
	case n.Kind == source.Array:
		list := make([]any, len(n.Items))
		for i, item := range n.Items {
			list[i] = Of(item)
		}
		return list
	case n.Kind == source.Object:
		out := make(Object, len(n.Fields))
		for i, f := range n.Fields {
			out[i] = Member{f.Key.Text, Of(f.Value)}
		}
		return out
	case n.Kind == source.Number && jsonNumber.MatchString(n.Text):
		return Number(n.Text)
	}
	return n.Value()
}

// JSON is a value on one line, an Object in its own order, a map in that of its
// keys.
func JSON(v any) string { return string(Append(nil, v)) }

// Append writes a value as JSON on one line.
func Append(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case bool:
		return strconv.AppendBool(b, v)
	case string:
		return AppendString(b, v)
	case Number:
		return append(b, v...)
	case float64:
		if full := int64(v); float64(full) == v && full > -1<<53 && full < 1<<53 {
			return strconv.AppendInt(b, full, 10)
		}
	case Object:
		b = append(b, '{')
		for i, m := range v {
			b = Append(append(AppendString(separated(b, i), m.Key), ':'), m.Value)
		}
		return append(b, '}')
	case map[string]any:
		b = append(b, '{')
		for i, key := range keys(v) {
			b = Append(append(AppendString(separated(b, i), key), ':'), v[key])
		}
		return append(b, '}')
	case []any:
		b = append(b, '[')
		for i, item := range v {
			b = Append(separated(b, i), item)
		}
		return append(b, ']')
	}
	return appendOther(b, v)
}

// separated puts a comma before all but the first of several.
func separated(b []byte, i int) []byte {
	if i > 0 {
		return append(b, ',')
	}
	return b
}

// appendOther writes what Go's own encoder makes of a value, in our own form.
func appendOther(b []byte, v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic("a value that isn't JSON: " + err.Error())
	}
	if _, number := v.(float64); number {
		return append(b, text...)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var plain any
	if err := d.Decode(&plain); err != nil {
		panic("a value that isn't JSON: " + err.Error())
	}
	if n, ok := plain.(json.Number); ok {
		return append(b, n...)
	}
	return Append(b, plain)
}

// AppendString writes a string as JSON that is one line to everybody: also what
// only some take for the end of a line is escaped.
func AppendString(b []byte, s string) []byte {
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, '\\', 'n')
		case r == '\r':
			b = append(b, '\\', 'r')
		case r == '\t':
			b = append(b, '\\', 't')
		case r < ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029:
			b = fmt.Appendf(b, `\u%04x`, r)
		default:
			b = append(b, string(r)...)
		}
	}
	return append(b, '"')
}

// Quoted is a string as JSON.
func Quoted(s string) string { return string(AppendString(nil, s)) }

func keys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
