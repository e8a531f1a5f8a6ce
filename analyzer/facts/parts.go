package facts

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A node is something that is compared, or has parts that are.
type node struct {
	value  *Value           // of a leaf
	means  string           // what is compared of a leaf besides its literal
	fields map[string]*node // of an object, by key
	items  []*node          // of a list
	set    bool             // fields have no path: that they exist is all
}

// compare reports where two parts differ.
func (p *pair) compare(d Difference, of part, old, new *node, calls ...int) {
	walk(d.Path, old, new, func(path string, old, new *Value) {
		d.Path, d.Old, d.New = path, old, new
		p.report(d, of, calls...)
	})
}

// walk finds where two nodes differ, and reports whether they do. Of what exists on one side alone all leaves differ.
func walk(path string, a, b *node, found func(path string, old, new *Value)) (differ bool) {
	if a == nil && b == nil || a.equals(b) {
		return false
	}
	a, b = a.orEmpty(b), b.orEmpty(a)
	switch {
	case a.open("{") && b.open("{"):
		for _, key := range keysOf(a.fields, b.fields) {
			at := Step(path, key)
			if a.set {
				at = path
			}
			differ = walk(at, a.fields[key], b.fields[key], found) || differ
		}
	case a.open("[") && b.open("["):
		differ = walkItems(path, a.items, b.items, found)
	case a != nil && a.value == nil || b != nil && b.value == nil: // an expression took the place of others, or they its
		differ = walk(path, a, nil, found)
		return walk(path, nil, b, found) || differ
	}
	if !differ && (a == nil || a.value != nil) && (b == nil || b.value != nil) { // at least by a secret
		differ = true
		found(path, a.shown(), b.shown())
	}
	return differ
}

// orEmpty is the node, or if there is none an empty one with the structure of another.
func (n *node) orEmpty(o *node) *node {
	if n != nil || o == nil || o.value != nil {
		return n
	}
	if o.fields != nil {
		return &node{fields: map[string]*node{}, set: o.set}
	}
	return &node{items: []*node{}}
}

// walkItems compares the items of two lists, without those that both begin and end with.
func walkItems(path string, a, b []*node, found func(path string, old, new *Value)) (differ bool) {
	same := func(x, y *node) bool { return !walk("", x, y, func(string, *Value, *Value) {}) }
	start := 0
	for start < len(a) && start < len(b) && same(a[start], b[start]) {
		start++
	}
	for len(a) > start && len(b) > start && same(a[len(a)-1], b[len(b)-1]) {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	for i := start; i < max(len(a), len(b)); i++ {
		differ = walk(path+"["+strconv.Itoa(i)+"]", itemOf(a, i), itemOf(b, i), found) || differ
	}
	return differ
}

func itemOf(items []*node, i int) *node {
	if i < len(items) {
		return items[i]
	}
	return nil
}

// equals reports whether two leaves are the same.
func (n *node) equals(o *node) bool {
	if n == nil || o == nil || n.value == nil || o.value == nil {
		return false
	}
	a, b := n.value.Literal, o.value.Literal
	return n.means != "" && n.means == o.means || !a.IsZero() && !b.IsZero() && a.Equal(b)
}

// open reports whether a node is an object ("{") or a list ("["), and takes a literal apart.
func (n *node) open(kind string) bool {
	if n == nil {
		return false
	}
	if n.fields == nil && n.items == nil && n.value != nil {
		literal := n.value.Literal.Text
		switch {
		case len(literal) == 0:
		case literal[0] == '{':
			var fields map[string]json.RawMessage
			_ = json.Unmarshal(literal, &fields)
			n.fields = make(map[string]*node, len(fields))
			for key, value := range fields {
				n.fields[key] = literalNode(Literal{Text: value})
			}
		case literal[0] == '[':
			var items []json.RawMessage
			_ = json.Unmarshal(literal, &items)
			n.items = make([]*node, len(items))
			for i, item := range items {
				n.items[i] = literalNode(Literal{Text: item})
			}
		}
	}
	return kind == "{" && n.fields != nil || kind == "[" && n.items != nil
}

// at is a part of a node, by a step of a path.
func (n *node) at(step string) *node {
	if step[0] == '[' && step[1] != '"' {
		at, _ := strconv.Atoi(step[1 : len(step)-1])
		if at >= len(n.items) {
			at = len(n.items)
			n.items = append(n.items, &node{})
		}
		return n.items[at]
	}
	key := strings.TrimPrefix(step, ".")
	if step[0] == '[' {
		key, _ = strconv.Unquote(step[1 : len(step)-1])
	}
	if n.fields == nil {
		n.fields = map[string]*node{}
	}
	if n.fields[key] == nil {
		n.fields[key] = &node{}
	}
	return n.fields[key]
}

var steps = regexp.MustCompile(`\[(?:"(?:[^"\\]|\\.)*"|\d+)\]|\.?[^.\[]+`)

func literalNode(l Literal) *node {
	if l.IsZero() {
		return nil
	}
	return &node{value: &Value{Literal: l}}
}

func leaf(v any) *node { return literalNode(Literal{Text: Compact(v)}) }

// textNode is nil for "".
func textNode(text string) *node {
	if text == "" {
		return nil
	}
	return leaf(text)
}

// values are the parts of values, as the new plan has them.
func (p *pair) values(side int, values []Value) *node {
	if len(values) == 0 {
		return nil
	}
	root := &node{}
	for i := range values {
		n, v := root, values[i]
		if v.Path != "" {
			for _, step := range steps.FindAllString(v.Path, -1) {
				n = n.at(step)
			}
		}
		if v.Path = ""; v.Literal.IsZero() {
			n.means = v.Expression + "\x00" + p.sources(side, v.Sources)
		}
		n.value = &v
	}
	return root
}

func (p *pair) optional(side int, v *Value) *node {
	if v == nil {
		return nil
	}
	return p.values(side, []Value{*v})
}

func flagNode(is bool) *node {
	if !is {
		return nil
	}
	return leaf("yes")
}

// place is where something lies: places are the same if they are the same from the workspaces' roots,
// or from the folders of the plans.
func (p *pair) place(side int, path string) *node {
	n := textNode(path)
	if n != nil {
		relative, err := filepath.Rel(filepath.FromSlash(p.sides[side].Folder), filepath.FromSlash(path))
		if err == nil {
			n.means = filepath.ToSlash(relative)
		}
	}
	return n
}

// carrierOf is what carries a call out; a changed definition of its activity is another difference.
func carrierOf(c *Call) *node {
	e := &c.Runs
	if e.Activity == "" || e.Kind == aPlan {
		return &node{value: leaf(e.Kind).value, means: e.Activity + "\x00" + e.Kind}
	}
	return &node{value: leaf(e.Activity + ": " + e.Destination()).value, means: e.Activity + "\x00"}
}

// writesOf is where results go: the order of alternatives counts, that of the paths of one doesn't.
func writesOf(c *Call) *node {
	var routes []string
	for _, route := range c.Writes {
		paths := slices.Sorted(slices.Values(route))
		routes = append(routes, strings.Join(slices.Compact(paths), " && "))
	}
	return textNode(strings.Join(routes, " || "))
}

// afterOf is the calls that another comes after without reading from them.
func (p *pair) afterOf(side int, c *Call) *node {
	if len(c.After) == 0 {
		return nil
	}
	n := &node{fields: map[string]*node{}, set: true}
	for _, a := range c.After {
		shown := leaf(a.String())
		if side == oldSide {
			a.Call = p.newName(a.Call)
		}
		shown.means = a.String()
		n.fields[a.String()] = shown
	}
	return n
}

// String is which call, and what of it.
func (a After) String() string {
	switch {
	case a.Listed:
		return a.Call + " as listed"
	case a.Settled:
		return a.Call + " has ended"
	}
	return a.Call
}

// A namedBound is one of the worst case.
type namedBound struct {
	name string
	Bound
}

func (w *Worst) bounds() []namedBound {
	return []namedBound{{"calls", w.Calls}, {"tries", w.Tries}, {"ticks", w.Ticks}, {"cost", w.Cost}, {"seconds", w.Time}}
}

// node is the bound as a leaf.
func (b Bound) node() *node {
	if b.Most == nil {
		return leaf("unbounded")
	}
	return leaf(*b.Most)
}

func (n *node) shown() *Value {
	if n == nil {
		return nil
	}
	return n.value
}
