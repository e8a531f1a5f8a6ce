package source

import (
	"strconv"

	"github.com/obelus-dev/obelus/compiler/reference"
)

// Kind is what sort of value a node is: JSON's six kinds.
type Kind uint8

// The kinds of value.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

func (k Kind) String() string {
	return [...]string{"null", "a boolean", "a number", "a string", "a list", "a mapping"}[k]
}

// Style is how a scalar is written; it decides how its text maps back to bytes
// of the file.
type Style uint8

// The styles of scalar.
const (
	Plain        Style = iota // YAML without quotes, and JSON's numbers, true, false, null
	SingleQuoted              // YAML 'x'
	DoubleQuoted              // YAML "x" and JSON strings
	Literal                   // YAML |
	Folded                    // YAML >
)

// A Node is one value of a document and its place. A tree is immutable once
// parsed. Under a YAML alias, Start and End are those of the alias, Alias is
// set, and what is below is shared with the anchored node.
type Node struct {
	File       *File
	Kind       Kind
	Style      Style
	Alias      bool
	parent     int32   // of a block scalar: the column of what it belongs to
	Start, End int     // the bytes of its text: quotes, brackets and block indicators included
	Text       string  // String: the decoded value; Number: as written; Bool: "true" or "false"
	Items      []*Node // Array
	Fields     []Field // Object, in the order of the text
}

// A Field is one key of an object, a String node, with its value.
type Field struct{ Key, Value *Node }

// Span is the node's place.
func (n *Node) Span() Span {
	if n == nil {
		return Span{}
	}
	return Span{n.File, n.Start, n.End}
}

// Get is the value of a key, or nil.
func (n *Node) Get(key string) *Node {
	if f := n.Field(key); f != nil {
		return f.Value
	}
	return nil
}

// Several are the items of a list; anything else is the one that there is.
func (n *Node) Several() []*Node {
	if n != nil && n.Kind == Array {
		return n.Items
	}
	return []*Node{n}
}

// Follow goes down the keys and indexes of a JSON pointer. Where a token
// leads nowhere, the node before it is the answer.
func (n *Node) Follow(pointer []string) *Node {
	for _, token := range pointer {
		next := n.Get(token)
		if next == nil && n != nil && n.Kind == Array {
			if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(n.Items) {
				next = n.Items[i]
			}
		}
		if next == nil {
			break
		}
		n = next
	}
	return n
}

// Field is the field with a key, or nil. It takes time linear in the number of fields.
func (n *Node) Field(key string) *Field {
	if n != nil && n.Kind == Object {
		for i := range n.Fields {
			if n.Fields[i].Key.Text == key {
				return &n.Fields[i]
			}
		}
	}
	return nil
}

// Step is the value of a key, or an item of a list, or nil.
func (n *Node) Step(s reference.Segment) *Node {
	switch {
	case !s.IsIndex:
		return n.Get(s.Key)
	case n == nil || n.Kind != Array || s.Index >= len(n.Items):
		return nil
	}
	return n.Items[s.Index]
}

// Along goes down a path, as far as the tree goes along.
func (n *Node) Along(path []reference.Segment) *Node {
	for _, s := range path {
		next := n.Step(s)
		if next == nil {
			break
		}
		n = next
	}
	return n
}
