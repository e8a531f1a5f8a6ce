package source

import (
	"math"
	"strconv"
	"strings"
)

// Within is the place of the bytes [from, to) of a scalar's value (Text): in
// plain, quoted, folded and literal scalars, behind escapes and line breaks. A
// range outside of the value is moved into it. An empty range is the place
// before its character. Where the value has no text of its own, which is so
// under an alias and in lists and mappings, the place is that of the node.
func (n *Node) Within(from, to int) Span {
	full := n.Span()
	if n == nil || n.File == nil || n.Alias || n.Kind >= Array || n.Style == Plain && n.Kind != String ||
		n.Text == "" {
		return full
	}
	from = max(0, min(from, len(n.Text)))
	to = max(from, min(to, len(n.Text)))
	var b *builder
	read(n.File, Limits{Scalar: math.MaxInt}, func(made *builder) *Node {
		b = made
		b.text, b.mapping = string(n.File.Text[n.Start:n.End]), true
		y := yamlScanner{builder: b}
		switch {
		case n.File.Format >= JSON:
			return (&jsonReader{builder: b}).str()
		case n.Style == Plain:
			b.text += "\x00" // so that a colon at its end ends no key
			defer func() { b.out = b.out[:max(1, len(b.out))-1] }()
			return y.plain(-1, false, false)
		case n.Style == Literal || n.Style == Folded:
			b.block(0, int(n.parent))
			return nil
		}
		return y.quoted(-1)
	})
	// The line breaks that end a block scalar lie behind its last line.
	length := len(b.out)
	if length == 0 || !strings.HasPrefix(n.Text, string(b.out)) {
		return full
	}
	start, end := b.place(min(from, length), min(to, length))
	return Span{n.File, n.Start + start, n.Start + end}
}

// Value is the node as plain Go: nil, bool, float64, string, []any or
// map[string]any. Each call makes a new value, aliases written out.
func (n *Node) Value() any {
	if n == nil {
		return nil
	}
	switch n.Kind {
	case Bool:
		return n.Text == "true"
	case Number:
		return n.Float()
	case String:
		return n.Text
	case Array:
		list := make([]any, len(n.Items))
		for i, item := range n.Items {
			list[i] = item.Value()
		}
		return list
	case Object:
		object := make(map[string]any, len(n.Fields))
		for _, f := range n.Fields {
			object[f.Key.Text] = f.Value.Value()
		}
		return object
	}
	return nil
}

// AsText is the text of a string; "" for anything else.
func (n *Node) AsText() string {
	if n == nil || n.Kind != String {
		return ""
	}
	return n.Text
}

// IsMapping reports whether the node is there and is a mapping.
func (n *Node) IsMapping() bool { return n != nil && n.Kind == Object }

// IsTrue reports whether a value is the boolean true.
func (n *Node) IsTrue() bool { return n != nil && n.Kind == Bool && n.Text == "true" }

// Float is the value of a number, however it is written; 0 for anything else.
func (n *Node) Float() float64 {
	if n == nil || n.Kind != Number {
		return 0
	}
	_, digits, integer, _ := resolve(n.Text)
	if integer {
		v, err := strconv.ParseInt(digits, 0, 64)
		if err == nil && (v != 0 || digits[0] != '-') {
			return float64(v)
		}
	}
	v, _ := strconv.ParseFloat(digits, 64)
	return v
}
