package ast

import (
	"cmp"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Read turns a schema's JSON into nodes: the schema itself and whatever it
// refers to. Nothing is read twice, and nothing that no reference reaches.
func Read(raw any, o Options) (*Node, *SchemaError) {
	f := &family{options: o, units: map[string]*unit{}}
	r := &reader{family: f}
	if o.Keywords != nil {
		if *o.Keywords <= 0 {
			return nil, &SchemaError{Message: together, Help: lessTogether}
		}
		defer func() { *o.Keywords -= r.keywords + r.besides }()
	}
	u := r.unit("", raw)
	for i := 0; r.err == nil && i < len(r.refs); i++ {
		r.resolve(r.refs[i])
	}
	if r.err == nil {
		r.checkLoops(u.root)
	}
	if r.err != nil {
		return nil, r.err
	}
	return u.root, nil
}

// A family is a schema with the named schemas that it can refer to.
type family struct {
	options  Options
	units    map[string]*unit // by the name of the named schema
	identify sync.Once        // the nodes, see [Node.Identity]
}

// A reader builds nodes. Of several faults it keeps the one whose place comes
// first. Keywords and names are read in their order, so that the order of a map never shows.
type reader struct {
	family   *family
	err      *SchemaError
	full     bool // the error is a limit, and reading stops
	keywords int
	besides  int // what costs besides, in keywords: each schema one more, and patterns
	refs     []pendingRef
}

type pendingRef struct {
	node *Node
	ref  string
}

const (
	together = "the schemas of the document have too many keywords together, " +
		"with their references and repetitions expanded"
	lessTogether = "let fewer schemas refer to large ones, let patterns repeat less, or split the document"
)

func (r *reader) fail(n *Node, tail []string, help, format string, args ...any) {
	e := &SchemaError{Path: append(n.path(), tail...), Def: n.Unit.name,
		Message: fmt.Sprintf(format, args...), Help: help}
	if r.full {
		return
	}
	if r.err == nil || cmp.Or(cmp.Compare(e.Def, r.err.Def), slices.Compare(e.Path, r.err.Path),
		cmp.Compare(e.Message, r.err.Message)) < 0 {
		r.err = e
	}
}

// stop reports a limit, which comes before every other fault.
func (r *reader) stop(n *Node, message, help string) {
	if !r.full {
		r.full = true
		r.err = &SchemaError{Def: n.Unit.name, Message: message, Help: help, Limit: true}
	}
}

// metaschemas are the URLs of the standard metaschemas that are understood.
var metaschemas = regexp.MustCompile(`^https?://json-schema\.org/(draft-0[467]/|draft/(2019-09|2020-12)/)?schema[#/]?$`)

func (r *reader) unit(name string, raw any) *unit {
	u := &unit{name: name, family: r.family, ids: map[string]*Node{}}
	r.family.units[name] = u
	if m, ok := raw.(map[string]any); ok {
		url, named := m["$schema"]
		u.old = strings.Contains(fmt.Sprint(url), "/draft-0")
		if named && !metaschemas.MatchString(fmt.Sprint(url)) {
			r.fail(&Node{Unit: u}, []string{"$schema"}, "leave it out for draft 2020-12, "+
				`or name draft 4, 6, 7, 2019-09 or 2020-12, such as "http://json-schema.org/draft-07/schema#"`,
				"%s isn't a JSON Schema dialect that is understood", quote(url))
		}
	}
	u.root = r.node(u, nil, "", "", raw, "", 0)
	if u.root == nil {
		u.root = Everything
	}
	u.ids[""] = u.root
	return u
}

// node reads one schema. It is nil when the value is none at all.
func (r *reader) node(u *unit, parent *Node, keyword, key string, raw any, base string, depth int) *Node {
	n := &Node{Unit: u, parent: parent, keyword: keyword, key: key, Raw: raw, Kinds: Anything, base: base}
	if depth > MaxNesting {
		r.stop(n, fmt.Sprintf("a schema can be nested %d deep, and this one is deeper", MaxNesting),
			"name its parts under $defs and refer to them")
	}
	if r.full {
		return nil
	}
	if parent != nil {
		parent.Children = append(parent.Children, n)
	}
	r.keywords, r.besides = r.keywords+1, r.besides+1
	switch v := raw.(type) {
	case bool:
		if v {
			n.Verdict = Always
		} else {
			n.Verdict, n.Kinds = Never, 0
		}
		return n
	case map[string]any:
		r.keywords += len(v)
		if r.keywords > maxKeywords {
			r.stop(n, fmt.Sprintf("a schema can have %d keywords, and this one has more", maxKeywords),
				"split it, or say less of its parts")
			return nil
		}
		if len(v) == 0 {
			n.Verdict = Always
			return n
		}
		_, overruled := v["$ref"]
		if overruled = overruled && u.old; !overruled {
			r.identify(n, v)
		}
		p := parser{reader: r, node: n, depth: depth, all: v, overruled: overruled}
		p.parse()
		if overruled { // what it defines can be referred to
			*n = Node{Unit: u, parent: parent, keyword: keyword, key: key, Raw: raw, Kinds: Anything, base: n.base,
				Children: n.Children}
		}
		return n
	}
	r.fail(n, nil, "write {type: string}, or so", "a schema is an object, true or false; here is %s", describe(raw))
	return nil
}

// identify enters the names of a node, by which references find it.
func (r *reader) identify(n *Node, m map[string]any) {
	enter := func(id string) {
		other := n.Unit.ids[id]
		if other != nil && reflect.ValueOf(other.Raw).Pointer() != reflect.ValueOf(m).Pointer() { // read once more
			for _, x := range []*Node{n, other} { // the first is reported
				r.fail(x, nil, "give each schema an id of its own", "two schemas have the id %s", quote(id))
			}
		}
		n.Unit.ids[id] = n
	}
	id, _ := m["$id"].(string)
	uri, fragment, _ := strings.Cut(id, "#")
	if uri != "" {
		n.base = resolveURI(n.base, uri)
		enter(n.base)
	}
	anchor, _ := m["$anchor"].(string)
	for _, name := range []string{fragment, anchor} {
		if name != "" {
			enter(n.base + "#" + name)
		}
	}
}

// Options say how a schema is to be read.
type Options struct {
	// Defs are the document's named schemas (its schemas:), reached by
	// "#/schemas/Name". They must not be changed afterwards.
	Defs map[string]any
	// AssertFormat makes format an assertion in every draft.
	AssertFormat bool
	// Keywords, unless it is nil, is how many keywords the schemas that share it
	// may still have together, their references expanded. Each takes off its own
	// when it is compiled; these then must not be compiled at once.
	Keywords *int
}

// A SchemaError says what makes a schema invalid.
type SchemaError struct {
	// Path leads to the place: the keys and indexes of a JSON pointer into the
	// schema's raw value, or into Defs[Def] when Def isn't "".
	Path    []string
	Def     string
	Message string // lower case, no full stop
	Help    string // what to do; may be ""
	Limit   bool   // all of it is larger than a schema may be
}

func (e *SchemaError) Error() string { return e.Message }
