package planner

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"

	"github.com/obelus-dev/obelus/compiler/source"
)

// wide are the limits for JSON of our own making, which was bounded where it
// came from.
var wide = source.Limits{Bytes: 1 << 30, Scalar: 1 << 30, Depth: 1_000}

// tree reads JSON of our own making. what names it in the error.
func tree(what string, text []byte) (*source.Node, error) {
	root, problems := source.Parse(&source.File{Name: what, Format: source.JSON, Text: text}, wide)
	for _, p := range problems {
		if !p.Warning {
			return nil, fmt.Errorf("the %s of a request can't be read: %s", what, p.Message)
		}
	}
	return root, nil
}

// jsonNumber is how JSON writes a number; YAML knows more ways.
var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// appendJSON writes a value as JSON on one line, its keys in the order in which
// they stand.
func appendJSON(b []byte, n *source.Node) []byte {
	if n == nil {
		return append(b, "null"...)
	}
	switch n.Kind {
	case source.Bool:
		return append(b, n.Text...)
	case source.Number:
		if jsonNumber.MatchString(n.Text) {
			return append(b, n.Text...)
		}
		return strconv.AppendFloat(b, n.Float(), 'g', -1, 64)
	case source.String:
		return appendQuoted(b, n.Text)
	case source.Array:
		b = append(b, '[')
		for i, item := range n.Items {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendJSON(b, item)
		}
		return append(b, ']')
	case source.Object:
		b = append(b, '{')
		for i, f := range n.Fields {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendQuoted(b, f.Key.Text), ':')
			b = appendJSON(b, f.Value)
		}
		return append(b, '}')
	}
	return append(b, "null"...)
}

// appendQuoted writes a string as JSON that is one line to everybody: also what
// only some take for the end of a line is escaped.
func appendQuoted(b []byte, s string) []byte {
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

func quoted(s string) string { return string(appendQuoted(nil, s)) }

func compact(n *source.Node) string { return string(appendJSON(nil, n)) }

// jsonOf is what encoding/json makes of values that can't fail.
func jsonOf(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

func object(fields ...source.Field) *source.Node {
	return &source.Node{Kind: source.Object, Fields: fields}
}

func list(items ...*source.Node) *source.Node { return &source.Node{Kind: source.Array, Items: items} }

func text(s string) *source.Node {
	return &source.Node{Kind: source.String, Style: source.DoubleQuoted, Text: s}
}

func truth(b bool) *source.Node {
	return &source.Node{Kind: source.Bool, Text: strconv.FormatBool(b)}
}

func field(key string, value *source.Node) source.Field {
	return source.Field{Key: text(key), Value: value}
}
