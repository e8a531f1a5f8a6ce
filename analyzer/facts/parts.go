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

// walk finds where two nodes differ, and reports whether they do.
func walk(path string, a, b *node, found func(path string, old, new *Value)) (differ bool) {
	if a == nil && b == nil || a.equals(b) {
		return false
	}
	note := func(path string, old, new *Value) {
		differ = true
		found(path, old, new)
	}
	objects, lists := a.open("{") && b.open("{"), a.open("[") && b.open("[")
	switch {
	case objects:
		for _, key := range keysOf(a.fields, b.fields) {
			at := step(path, key)
			if a.set {
				at = path
			}
			differ = walk(at, a.fields[key], b.fields[key], found) || differ
		}
	case lists:
		differ = walkItems(path, a.items, b.items, found)
	case a != nil && b != nil && a.value != nil && b.value != nil:
		note(path, a.value, b.value)
	default:
		a.leaves(path, func(path string, v *Value) { note(path, v, nil) })
		b.leaves(path, func(path string, v *Value) { note(path, nil, v) })
	}
	if !differ && a != nil && b != nil && a.value != nil && b.value != nil { // by a secret
		note(path, a.value, b.value)
	}
	return differ
}

// walkItems compares the items of two lists, without those that both begin and end with.
func walkItems(path string, a, b []*node, found func(path string, old, new *Value)) (differ bool) {
	same := func(x, y *node) bool { return x.text() == y.text() }
	start := 0
	for start < len(a) && start < len(b) && same(a[start], b[start]) {
		start++
	}
	for len(a) > start && len(b) > start && same(a[len(a)-1], b[len(b)-1]) {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	for i := start; i < max(len(a), len(b)); i++ {
		var x, y *node
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		differ = walk(path+"["+strconv.Itoa(i)+"]", x, y, found) || differ
	}
	return differ
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

// leaves are the values of a node, each with its path.
func (n *node) leaves(path string, do func(path string, v *Value)) {
	switch {
	case n == nil:
	case n.value != nil:
		do(path, n.value)
	case n.fields != nil:
		for _, key := range keysOf(n.fields, nil) {
			at := step(path, key)
			if n.set {
				at = path
			}
			n.fields[key].leaves(at, do)
		}
	default:
		for i, item := range n.items {
			item.leaves(path+"["+strconv.Itoa(i)+"]", do)
		}
	}
}

// text is the same for nodes that are the same.
func (n *node) text() string {
	if n.value != nil {
		return string(n.value.Literal.Text) + "\x00" + n.means
	}
	var b strings.Builder
	for _, key := range keysOf(n.fields, nil) {
		b.WriteString(key + "\x00" + n.fields[key].text() + "\x01")
	}
	for _, item := range n.items {
		b.WriteString(item.text() + "\x01")
	}
	return b.String()
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

func leaf(v any) *node { return literalNode(Literal{Text: asJSON(v)}) }

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

func optional(v *Value) []Value {
	if v == nil {
		return nil
	}
	return []Value{*v}
}

func textOf(get func(*Call) string) func(*pair, int, *Call) *node {
	return func(_ *pair, _ int, c *Call) *node { return textNode(get(c)) }
}

func flagOf(get func(*Call) bool) func(*pair, int, *Call) *node {
	return textOf(func(c *Call) string { return map[bool]string{true: "yes"}[get(c)] })
}

func planOf(p *pair, side int, c *Call) *node { return p.place(side, c.Runs.Plan) }

// place is where something lies: places are the same if they are the same from the workspaces' roots,
// or from the folders of the plans.
func (p *pair) place(side int, path string) *node {
	n := textNode(path)
	if n != nil {
		relative, err := filepath.Rel(filepath.FromSlash(p.outer[side].Folder), filepath.FromSlash(path))
		if err == nil {
			n.means = filepath.ToSlash(relative)
		}
	}
	return n
}

// carrierOf is what carries a call out; a changed definition of its activity is another difference.
func carrierOf(_ *pair, _ int, c *Call) *node {
	e := &c.Runs
	if e.Activity == "" || e.Kind == aPlan {
		return &node{value: leaf(e.Kind).value, means: e.Activity + "\x00" + e.Kind}
	}
	return &node{value: leaf(e.Activity + ": " + e.Destination()).value, means: e.Activity + "\x00"}
}

func mostOf(_ *pair, _ int, c *Call) *node {
	if c.Each == nil {
		return nil
	}
	return leaf(c.Each.Most)
}

func eachOf(p *pair, side int, c *Call) *node {
	if c.Each == nil {
		return nil
	}
	return p.values(side, []Value{c.Each.List})
}

func contextOf(p *pair, side int, c *Call) *node {
	if len(c.Context) == 0 {
		return nil
	}
	return &node{value: &Value{Sources: c.Context}, means: p.sources(side, c.Context)}
}

// writesOf is where results go: the order of alternatives counts, that of the paths of one doesn't.
func writesOf(_ *pair, _ int, c *Call) *node {
	var routes []string
	for _, route := range c.Writes {
		paths := slices.Sorted(slices.Values(route))
		routes = append(routes, strings.Join(slices.Compact(paths), " && "))
	}
	return textNode(strings.Join(routes, " || "))
}

// afterOf is the calls that another comes after without reading from them.
func afterOf(p *pair, side int, c *Call) *node {
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
