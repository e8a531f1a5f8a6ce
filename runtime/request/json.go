package request

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
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

// WithText is the object and one member more, unless its text is "".
func (o Object) WithText(key, text string) Object {
	if text == "" {
		return o
	}
	return o.With(key, text)
}

// WithAll is the object and the members of a map more, in the order of their keys.
func (o Object) WithAll(members map[string]any) Object {
	for _, key := range slices.Sorted(maps.Keys(members)) {
		o = o.With(key, members[key])
	}
	return o
}

// A Number is a number as JSON writes it, digit by digit as its text had it.
type Number string

// jsonNumber is how JSON writes a number; YAML knows more ways.
var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// Of is a value as its text has it: the members of objects in their order, numbers with their digits.
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

// JSON is a value on one line, an Object in its own order, a map in that of its keys.
func JSON(v any) string { return string(Append(nil, v)) }

// Append writes a value as JSON on one line to everybody: also what only some take for the end of a line is escaped.
func Append(b []byte, v any) []byte {
	text, err := json.Marshal(v, json.Deterministic(true), jsontext.EscapeForJS(true), jsontext.AllowInvalidUTF8(true),
		jsontext.AllowDuplicateNames(true), unsigned)
	if err != nil {
		panic("a value that isn't JSON: " + err.Error())
	}
	return append(b, unbroken.Replace(string(text))...)
}

// unbroken escapes what the encoder leaves; in JSON it can only be within a string.
var unbroken = strings.NewReplacer("\x7f", `\u007f`, "\u0085", `\u0085`)

// unsigned writes no negative zero, which some readers take for another value.
var unsigned = json.WithMarshalers(json.MarshalToFunc(func(to *jsontext.Encoder, v float64) error {
	if v == 0 {
		return to.WriteToken(jsontext.Int(0))
	}
	return errors.ErrUnsupported
}))

// MarshalJSONTo writes the members in their order.
func (o Object) MarshalJSONTo(to *jsontext.Encoder) error {
	err := to.WriteToken(jsontext.BeginObject)
	for _, m := range o {
		err = errors.Join(err, to.WriteToken(jsontext.String(m.Key)), json.MarshalEncode(to, m.Value))
	}
	return errors.Join(err, to.WriteToken(jsontext.EndObject))
}

// MarshalJSONTo writes the digits.
func (n Number) MarshalJSONTo(to *jsontext.Encoder) error { return to.WriteValue(jsontext.Value(n)) }
