package schema

import (
	"slices"
	"strconv"

	"github.com/obelus-dev/obelus/compiler/schema/regex"
)

// Bounds on what is read. A schema within them costs bounded work.
const (
	maxKeywords = 10_000 // of a schema, with its references expanded
	maxNesting  = 100    // of a schema
	maxPattern  = 1_000  // characters of a pattern
	maxNumber   = 40     // characters of a number
	maxDepth    = 1_000  // of a value
	maxCount    = 1 << 53
)

// verdict is what a schema says without looking at the value.
type verdict uint8

const (
	depends verdict = iota
	always
	never
	unread // only on the way to what a reference means
)

// A node is one schema object (or boolean), read: every keyword in its place,
// every reference resolved. Absent rules are nil, absent kinds are Anything,
// and absent upper bounds are maxCount, so that no rule asks whether it is
// there. Nodes are immutable once their schema is built.
type node struct {
	unit    *unit
	parent  *node
	keyword string // under which it is in the parent
	key     string // and there under this name, or at this index
	raw     any    // nil for a combination of other nodes
	base    string // the URI that references in it are relative to
	form    string // see (*node).identity

	verdict verdict
	kinds   Kinds
	values  []any       // enum and const; nil when absent
	index   *valueIndex // of many values

	ref                 *node
	allOf, anyOf, oneOf []*node
	not                 *node
	cond, then, other   *node // if, then, else

	numbers *numberRules
	strings *stringRules
	arrays  *arrayRules
	objects *objectRules

	children []*node // every subschema, applied or only defined
}

// A valueIndex holds the strings among values, and the rest of them by hash.
type valueIndex struct {
	words map[string]bool
	rest  map[uint64][]any
}

type numberRules struct {
	min, max, above, below, multiple *float64 // inclusive, inclusive, exclusive, exclusive
}

type stringRules struct {
	size
	pattern *regex.Pattern
	format  string
	valid   func(any) bool // the format's check, when it is asserted
}

type arrayRules struct {
	prefix []*node
	rest   *node // of the items after the prefix
	size
	unique      bool
	contains    *node
	least, most int // of the items that contains accepts
	unevaluated *node
}

// item judges the item at an index; nil where nothing does.
func (r *arrayRules) item(i int) *node {
	if i < len(r.prefix) {
		return r.prefix[i]
	}
	return r.rest
}

// anyArray are the rules of all arrays.
func anyArray() *arrayRules { return &arrayRules{size: anySize, least: 1, most: maxCount} }

type objectRules struct {
	properties    map[string]*node
	names         []string // of properties, sorted
	patterns      []patternRule
	additional    *node
	propertyNames *node
	required      []string
	size
	needs       []dependency
	unevaluated *node
}

type patternRule struct {
	pattern *regex.Pattern
	node    *node
}

// A dependency holds where the property name is there: the other names must be
// there too, or the node must accept the whole object.
type dependency struct {
	name    string
	names   []string
	node    *node
	keyword string
}

// A unit is one schema text: the schema itself, or one of the named schemas.
type unit struct {
	name   string // of the named schema; ""
	root   *node
	ids    map[string]*node // by URI, and by URI and anchor; the root's is "" as well
	old    bool             // its $schema names draft 4, 6 or 7: nothing beside a $ref counts, and format asserts
	family *family
}

// detached is the unit of nodes that are in no text.
var detached = &unit{}

var everything = &node{unit: detached, verdict: always, kinds: Anything, raw: true}
var nothing = &node{unit: detached, verdict: never, raw: false}

// path leads from the unit's root to the node.
func (n *node) path() []string {
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
func (n *node) keyed() bool {
	switch n.keyword {
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies":
		return true
	}
	return false
}

// json is the schema as a JSON value; that of a combination is made up of the texts of its parts.
func (n *node) json() any {
	if n.raw != nil {
		return n.raw
	}
	return n.print((*node).json, nil)
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

// union is the node that accepts what any of the nodes accepts.
func union(nodes []*node) *node {
	return combined(nodes, everything, nothing, func(c *node, kept []*node) { c.anyOf = kept })
}

// both is the node that accepts what all of the nodes accept.
func both(nodes []*node) *node {
	return combined(nodes, nothing, everything, func(c *node, kept []*node) { c.allOf = kept })
}

// combined puts nodes together: one like the decisive node decides, and those like the
// neutral one don't count.
func combined(nodes []*node, decisive, neutral *node, put func(c *node, kept []*node)) *node {
	var kept []*node
	for _, n := range nodes {
		switch {
		case n.verdict == decisive.verdict:
			return decisive
		case n.verdict == neutral.verdict || slices.Contains(kept, n):
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
	c := &node{unit: detached, kinds: Anything}
	put(c, kept)
	return c
}

// limits reports whether there is a node that doesn't accept everything.
func (n *node) limits() bool { return n != nil && n.verdict != always }

// inPlace calls visit for every node that n applies to the value itself.
func (n *node) inPlace(visit func(*node)) {
	single := [...]*node{n.ref, n.not, n.cond, n.then, n.other}
	for _, list := range [...][]*node{single[:1], n.allOf, n.anyOf, n.oneOf, single[1:]} {
		visitAll(visit, list)
	}
	if n.objects != nil {
		for _, d := range n.objects.needs {
			if d.node != nil {
				visit(d.node)
			}
		}
	}
}

// below calls visit for every node that n applies to parts of the value.
func (n *node) below(visit func(*node)) {
	if a := n.arrays; a != nil {
		visitAll(visit, a.prefix)
		single := [...]*node{a.rest, a.contains, a.unevaluated}
		visitAll(visit, single[:])
	}
	if o := n.objects; o != nil {
		for _, name := range o.names {
			visit(o.properties[name])
		}
		for _, p := range o.patterns {
			visit(p.node)
		}
		single := [...]*node{o.additional, o.propertyNames, o.unevaluated}
		visitAll(visit, single[:])
	}
}

// visitAll calls visit for those that are there.
func visitAll(visit func(*node), nodes []*node) {
	for _, n := range nodes {
		if n != nil {
			visit(n)
		}
	}
}

func indexKey(i int) string { return strconv.Itoa(i) }
