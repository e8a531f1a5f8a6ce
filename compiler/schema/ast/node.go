// Package ast holds JSON Schemas as nodes: each keyword in its place, each reference resolved. It reads them, prints
// them in draft 2020-12, and checks values against them within a number of steps. It never combines or compares
// schemas.
package ast

import (
	"slices"
	"strconv"

	"github.com/obelus-dev/obelus/compiler/reference"
	"github.com/obelus-dev/obelus/compiler/schema/regex"
)

// Bounds on what is read. A schema within them costs bounded work.
const (
	maxKeywords = 10_000 // of a schema, with its references expanded
	MaxNesting  = 100    // of a schema
	maxPattern  = 1_000  // characters of a pattern
	maxNumber   = 40     // characters of a number
	maxDepth    = 1_000  // of a value
	MaxCount    = 1 << 53
)

// verdict is what a schema says without looking at the value.
type verdict uint8

const (
	Depends verdict = iota
	Always
	Never
	unread // only on the way to what a reference means
)

// A Node is one schema object (or boolean), read: every keyword in its place,
// every reference resolved. Absent rules are nil, absent kinds are Anything,
// and absent upper bounds are MaxCount, so that no rule asks whether it is
// there. Nodes are immutable once their schema is built.
type Node struct {
	Unit    *unit
	parent  *Node
	keyword string // under which it is in the parent
	key     string // and there under this name, or at this index
	Raw     any    // nil for a combination of other nodes
	base    string // the URI that references in it are relative to
	form    string // see [Node.Identity]

	Verdict verdict
	Kinds   Kinds
	Values  []any        // enum and const; nil when absent
	index   map[any]bool // of many values, by their keys

	Ref                 *Node
	AllOf, AnyOf, OneOf []*Node
	Not                 *Node
	Cond, Then, Other   *Node // if, then, else

	Numbers *NumberRules
	Strings *StringRules
	Arrays  *ArrayRules
	Objects *ObjectRules

	Children []*Node // every subschema, applied or only defined
}

// NumberRules are the bounds of a number; nil for none.
type NumberRules struct {
	Min, Max, Above, Below, Multiple *float64 // inclusive, inclusive, exclusive, exclusive
}

// StringRules are what a string must be; its size counts code points.
type StringRules struct {
	Size
	Pattern *regex.Pattern
	Format  string
	Valid   func(any) bool // the format's check, when it is asserted
}

// ArrayRules are what an array must be.
type ArrayRules struct {
	Prefix []*Node
	Rest   *Node // of the items after the prefix
	Size
	Unique      bool
	Contains    *Node
	Least, Most int // of the items that contains accepts
	Unevaluated *Node
}

// Item judges the item at an index; nil where nothing does.
func (r *ArrayRules) Item(i int) *Node {
	if i < len(r.Prefix) {
		return r.Prefix[i]
	}
	return r.Rest
}

// AnyArray are the rules of all arrays.
func AnyArray() *ArrayRules { return &ArrayRules{Size: AnySize, Least: 1, Most: MaxCount} }

// ObjectRules are what an object must be; its size counts properties.
type ObjectRules struct {
	Properties    map[string]*Node
	Names         []string // of properties, sorted
	Patterns      []PatternRule
	Additional    *Node
	PropertyNames *Node
	Required      []string
	Size
	Needs       []dependency
	Unevaluated *Node
}

// A PatternRule is what a pattern of patternProperties asks of the values whose names match.
type PatternRule struct {
	Pattern *regex.Pattern
	Node    *Node
}

// A dependency holds where the property name is there: the other names must be
// there too, or the node must accept the whole object.
type dependency struct {
	Name    string
	Names   []string
	Node    *Node
	keyword string
}

// A unit is one schema text: the schema itself, or one of the named schemas.
type unit struct {
	name   string // of the named schema; ""
	root   *Node
	ids    map[string]*Node // by URI, and by URI and anchor; the root's is "" as well
	old    bool             // its $schema names draft 4, 6 or 7: nothing beside a $ref counts, and format asserts
	family *family
}

// Detached is the unit of nodes that are in no text.
var Detached = &unit{}

var Everything = &Node{Unit: Detached, Verdict: Always, Kinds: Anything, Raw: true}
var Nothing = &Node{Unit: Detached, Verdict: Never, Raw: false}

// path leads from the unit's root to the node.
func (n *Node) path() []string {
	var back []string
	for ; n.parent != nil; n = n.parent {
		if n.key != "" || n.keyed() {
			back = append(back, n.key)
		}
		back = append(back, n.keyword)
	}
	slices.Reverse(back)
	return back
}

// keyed reports whether the node is in a map or a list of schemas: then even an empty key is a step of its path.
func (n *Node) keyed() bool {
	switch n.keyword {
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies":
		return true
	}
	return false
}

// JSON is the schema as a JSON value; that of a combination is made up of the texts of its parts.
func (n *Node) JSON() any {
	if n.Raw != nil {
		return n.Raw
	}
	return n.Print((*Node).JSON, nil)
}

// names are the kinds as the keyword type names them.
func (k Kinds) names() []any {
	var names []any
	for _, pair := range typeNames {
		if pair.kinds&k == pair.kinds {
			names = append(names, pair.name)
			k &^= pair.kinds
		}
	}
	return names
}

var typeNames = []struct {
	name  string
	kinds Kinds
}{
	{"null", Null}, {"boolean", Boolean}, {"number", Number}, {"integer", Integer},
	{"string", String}, {"array", Array}, {"object", Object},
}

// Union is the node that accepts what any of the nodes accepts.
func Union(nodes []*Node) *Node {
	return combined(nodes, Everything, Nothing, func(c *Node, kept []*Node) { c.AnyOf = kept })
}

// Both is the node that accepts what all of the nodes accept.
func Both(nodes []*Node) *Node {
	return combined(nodes, Nothing, Everything, func(c *Node, kept []*Node) { c.AllOf = kept })
}

// combined puts nodes together: one like the decisive node decides, and those like the
// neutral one don't count.
func combined(nodes []*Node, decisive, neutral *Node, put func(c *Node, kept []*Node)) *Node {
	var kept []*Node
	for _, n := range nodes {
		switch {
		case n.Verdict == decisive.Verdict:
			return decisive
		case n.Verdict == neutral.Verdict || slices.Contains(kept, n):
		default:
			kept = append(kept, n)
		}
	}
	switch len(kept) {
	case 0:
		return neutral
	case 1:
		return kept[0]
	}
	c := &Node{Unit: Detached, Kinds: Anything}
	put(c, kept)
	return c
}

// Limits reports whether there is a node that doesn't accept everything.
func (n *Node) Limits() bool { return n != nil && n.Verdict != Always }

// InPlace calls visit for every node that n applies to the value itself.
func (n *Node) InPlace(visit func(*Node)) {
	single := [...]*Node{n.Ref, n.Not, n.Cond, n.Then, n.Other}
	for _, list := range [...][]*Node{single[:1], n.AllOf, n.AnyOf, n.OneOf, single[1:]} {
		visitAll(visit, list)
	}
	if n.Objects != nil {
		for _, d := range n.Objects.Needs {
			if d.Node != nil {
				visit(d.Node)
			}
		}
	}
}

// Below calls visit for every node that n applies to parts of the value.
func (n *Node) Below(visit func(*Node)) {
	if a := n.Arrays; a != nil {
		visitAll(visit, a.Prefix)
		single := [...]*Node{a.Rest, a.Contains, a.Unevaluated}
		visitAll(visit, single[:])
	}
	if o := n.Objects; o != nil {
		for _, name := range o.Names {
			visit(o.Properties[name])
		}
		for _, p := range o.Patterns {
			visit(p.Node)
		}
		single := [...]*Node{o.Additional, o.PropertyNames, o.Unevaluated}
		visitAll(visit, single[:])
	}
}

// visitAll calls visit for those that are there.
func visitAll(visit func(*Node), nodes []*Node) {
	for _, n := range nodes {
		if n != nil {
			visit(n)
		}
	}
}

// IndexKey is the step of an index in a path of keys.
func IndexKey(i int) string { return strconv.Itoa(i) }

// A Step is one step of a path into a value: a key of an object, or an index
// of an array.
type Step = reference.Segment

// Key is a step to a property.
func Key(name string) Step { return Step{Key: name} }

// Index is a step to an item.
func Index(i int) Step { return Step{Key: IndexKey(i), Index: i, IsIndex: true} }

// Bounds on what is made up.
const (
	Longest       = 1 << 16 // characters of a text
	MaxProperties = 2_000
)

// Judges are the nodes that judge a property: the one that is declared for it, those of the patterns that match its
// name, and where there is none of these that of all others.
func (r *ObjectRules) Judges(declared *Node, matches func(*regex.Pattern) bool) []*Node {
	var list []*Node
	if declared != nil {
		list = append(list, declared)
	}
	for _, p := range r.Patterns {
		if matches(p.Pattern) {
			list = append(list, p.Node)
		}
	}
	if list == nil && r.Additional != nil {
		list = append(list, r.Additional)
	}
	return list
}
