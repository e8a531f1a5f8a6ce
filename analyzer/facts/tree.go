package facts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/obelus-dev/obelus/compiler/reference"
)

// A tree is a value that is compared: an object, a list, or a leaf, which is a literal or an expression. nil is no
// value.
type tree struct {
	leaf   *Value
	means  string // what is compared of a leaf besides a literal
	fields map[string]*tree
	items  []*tree
}

// A side is how one of two plans names calls and places.
type side struct {
	folder string              // that the plan lies in
	name   func(string) string // the name in the new plan of a call
}

// alone is for what is compared with nothing.
var alone = side{name: func(call string) string { return call }}

// tree puts together values by their paths.
func (s side) tree(values ...Value) (root *tree) {
	for _, v := range values {
		leaf := &tree{leaf: &v}
		if v.Literal.IsZero() {
			leaf.means = v.Expression + "\x00" + s.sources(v.Sources)
		}
		path, _, _, err := reference.ReadSegments(below("", v.Path), 0, 0)
		if err != nil {
			path = []reference.Segment{{Key: v.Path}}
		}
		v.Path = ""
		root = root.with(path, leaf)
	}
	return root
}

// sources is where values come from, with the names of the new plan.
func (s side) sources(all []Source) string {
	var b strings.Builder
	for _, one := range all {
		calls := slices.Clone(one.Calls)
		for i, name := range calls {
			calls[i] = s.name(name)
		}
		slices.Sort(calls)
		fmt.Fprintf(&b, "%s %v %d %q\n", one.Path, one.Start, one.More, calls)
	}
	return b.String()
}

// with is the tree with another one at a path in it; items come in their order.
func (t *tree) with(path []reference.Segment, other *tree) *tree {
	if len(path) == 0 {
		return other
	}
	if t == nil {
		t = &tree{}
	}
	switch at := path[0]; {
	case !at.IsIndex && t.fields == nil:
		t.fields = map[string]*tree{at.Key: (*tree)(nil).with(path[1:], other)}
	case !at.IsIndex:
		t.fields[at.Key] = t.fields[at.Key].with(path[1:], other)
	default:
		if at.Index >= len(t.items) {
			t.items = append(t.items, nil)
		}
		last := &t.items[len(t.items)-1]
		*last = (*last).with(path[1:], other)
	}
	return t
}

// leafOf is a JSON value, and nothing for "", which says nothing.
func leafOf(v any) *tree {
	if v == "" {
		return nil
	}
	return literal(Literal{Text: Compact(v)})
}

func literal(l Literal) *tree {
	if l.IsZero() {
		return nil
	}
	return &tree{leaf: &Value{Literal: l}}
}

// opened is the tree, with the fields or items that a literal has.
func (t *tree) opened() tree {
	switch {
	case t == nil:
		return tree{}
	case t.leaf == nil || t.leaf.Literal.IsZero():
		return *t
	}
	open := tree{leaf: t.leaf}
	switch text := t.leaf.Literal.Text; text[0] {
	case '{':
		var fields map[string]json.RawMessage
		_ = json.Unmarshal(text, &fields)
		open.fields = map[string]*tree{}
		for key, field := range fields {
			open.fields[key] = literal(Literal{Text: field})
		}
	case '[':
		var items []json.RawMessage
		_ = json.Unmarshal(text, &items)
		open.items = []*tree{}
		for _, item := range items {
			open.items = append(open.items, literal(Literal{Text: item}))
		}
	}
	return open
}

// isLeaf reports whether a tree has one value or none.
func (t *tree) isLeaf() bool { return t == nil || t.leaf != nil }

// text has all of a tree.
func (t *tree) text() string {
	var b strings.Builder
	t.leaves("", func(at string, leaf *tree) {
		fmt.Fprintf(&b, "%q %q %s %s\n", at, leaf.means, leaf.leaf.Literal.Text, leaf.leaf.Literal.secret)
	})
	return b.String()
}

// leaves visits all leaves with their paths below one.
func (t *tree) leaves(at string, visit func(at string, leaf *tree)) {
	switch {
	case t == nil:
	case t.leaf != nil:
		visit(at, t)
	default:
		for _, key := range keysOf(t.fields, nil) {
			t.fields[key].leaves(step(at, key), visit)
		}
		for i, item := range t.items {
			item.leaves(at+"["+strconv.Itoa(i)+"]", visit)
		}
	}
}

// step is the path of a field. The members of a set have none: their keys begin with a NUL.
func step(at, key string) string {
	if strings.HasPrefix(key, "\x00") {
		return at
	}
	return Step(at, key)
}

// isSame reports whether two leaves are the same, or neither tree has a value.
func (t *tree) isSame(o *tree) bool {
	switch {
	case t == nil || o == nil:
		return t == o
	case t.leaf == nil || o.leaf == nil:
		return false
	}
	return t.means != "" && t.means == o.means || !t.leaf.Literal.IsZero() && t.leaf.Literal.Equal(o.leaf.Literal)
}

// differ finds where two trees differ. Items with which both lists end are the same.
func differ(at string, a, b *tree, found func(at string, old, new *Value)) {
	if a.isSame(b) {
		return
	}
	x, y := a.opened(), b.opened()
	switch {
	case x.leaf != nil && y.leaf != nil && bytes.Equal(x.leaf.Literal.Text, y.leaf.Literal.Text):
		found(at, x.leaf, y.leaf) // expressions, or a secret
	case x.fields != nil && y.fields != nil:
		for _, key := range keysOf(x.fields, y.fields) {
			differ(step(at, key), x.fields[key], y.fields[key], found)
		}
	case x.items != nil && y.items != nil:
		before, now := x.items, y.items
		for len(before) > 0 && len(now) > 0 && before[len(before)-1].text() == now[len(now)-1].text() {
			before, now = before[:len(before)-1], now[:len(now)-1]
		}
		none := make([]*tree, max(len(before), len(now)))
		before, now = slices.Concat(before, none[len(before):]), slices.Concat(now, none[len(now):])
		for i := range none {
			differ(at+"["+strconv.Itoa(i)+"]", before[i], now[i], found)
		}
	case a.isLeaf() && b.isLeaf():
		found(at, x.leaf, y.leaf)
	default:
		a.leaves(at, func(at string, leaf *tree) { found(at, leaf.leaf, nil) })
		b.leaves(at, func(at string, leaf *tree) { found(at, nil, leaf.leaf) })
	}
}

// A part is one of those that calls and other items are compared by, and that people are shown of them.
type part struct {
	name string
	of   *tree
	weight
}

// A weight is what a call may do, what a change of a part has it do otherwise, and what such a change means.
type weight uint8

const (
	destroys weight = 1 << iota // something is destroyed, or may be
	leaves                      // what the call receives leaves the machine
	writes                      // something outside of the plan is written
	gives                       // the part decides what the call gives
	limit                       // to add the part, or to lower it, has the call do less
	grant                       // to remove the part has the call do less
	repeated                    // [Call.Conditions] has the part, too

	acts  = destroys | leaves // the part decides what the call does, to what, or how often
	acted = destroys | writes // something outside of the plan is another afterwards
)

func (w weight) risk() Risk {
	switch {
	case w&destroys != 0:
		return Destroys
	case w&leaves != 0:
		return Leaves
	}
	return ""
}

// parts are all parts of a call, in the order in which they are shown.
func (s side) parts(c *Call) []part {
	var list, context *Value
	var most *tree
	if c.Each != nil {
		list, most = &c.Each.List, leafOf(c.Each.Most)
	}
	if len(c.Context) > 0 {
		context = &Value{Sources: c.Context}
	}
	return []part{
		{"tool", leafOf(c.Tool), acts | gives},
		{"instance", leafOf(c.Instance), acts | repeated},
		{"effect", leafOf(c.Effect.Kind), destroys},
		{"effect that only the plan claims", leafOf(c.Effect.Claimed), 0},
		{"may reach beyond the machine", flag(c.Effect.OpenWorld || c.Runs.Kind == Model), leaves | grant},
		{"a second time does no more", flag(c.Effect.Idempotent), 0},
		{"runs the plan", s.place(c.Runs.Plan), acts | gives},
		{"carried out by", carrierOf(&c.Runs), acts | gives},
		{"value", s.tree(c.Values...), acts | gives},
		{"condition", s.optional(c.When), acts | gives | limit | repeated},
		{"goes on when an item failed", flag(c.Each != nil && c.Each.Collect), 0},
		{"most items", most, acts | gives | limit},
		{"each of", s.optional(list), acts | gives | repeated},
		{"context", s.optional(context), acts | gives},
		{"writes", writesOf(c), 0},
		{"method", leafOf(c.Method), 0},
		{"after", s.after(c), acts | limit | repeated},
		{"tries", leafOf(max(1, c.Tries)), acts | limit},
		{"backoff", leafOf(c.Backoff), 0},
		{"timeout", leafOf(c.Timeout), 0},
		{"a person is asked", flag(c.Confirm), acts | limit},
		{"result", literal(c.Produced), acts | gives},
		{"reasoning", leafOf(c.Reason), 0},
	}
}

// carrier are the parts of an activity.
func (s side) carrier(e *Execution) []part {
	return []part{{"definition", literal(e.Definition), acts | gives}, {"folder", s.place(e.Folder), acts | gives}}
}

// parts are those of a tool; one without a name doesn't exist.
func (t Tool) parts() []part {
	if t.Name == "" {
		return nil
	}
	return []part{{"description", leafOf(t.Description), 0}, {"parameters", literal(t.Parameters), 0},
		{"output", literal(t.Output), 0}, {"definition", literal(t.Definition), 0}}
}

func (s side) optional(v *Value) *tree {
	if v == nil {
		return nil
	}
	return s.tree(*v)
}

func flag(is bool) *tree {
	if !is {
		return nil
	}
	return leafOf("yes")
}

// place is where something lies: places are the same if they are the same from the workspaces' roots,
// or from the folders of the plans.
func (s side) place(path string) *tree {
	relative, err := filepath.Rel(filepath.FromSlash(s.folder), filepath.FromSlash(path))
	if path == "" || err != nil {
		return leafOf(path)
	}
	return meaning(path, filepath.ToSlash(relative))
}

// carrierOf is what carries a call out; a changed definition of its activity is another difference.
func carrierOf(e *Execution) *tree {
	if e.Activity == "" || e.Kind == aPlan {
		return meaning(e.Kind, e.Activity+"\x00"+e.Kind)
	}
	return meaning(e.Activity+": "+e.Destination(), e.Activity+"\x00")
}

// meaning is a text, with what is compared of it.
func meaning(shown, means string) *tree {
	return &tree{leaf: &Value{Literal: Literal{Text: Compact(shown)}}, means: means}
}

// writesOf is where results go: the order of alternatives counts, that of the paths of one doesn't.
func writesOf(c *Call) *tree {
	var routes []string
	for _, route := range c.Writes {
		paths := slices.Sorted(slices.Values(route))
		routes = append(routes, strings.Join(slices.Compact(paths), " && "))
	}
	return leafOf(strings.Join(routes, " || "))
}

// after is the set of calls that another comes after without reading from them.
func (s side) after(c *Call) (set *tree) {
	for _, a := range c.After {
		shown := a.String()
		a.Call = s.name(a.Call)
		set = set.with([]reference.Segment{{Key: "\x00" + a.String()}}, meaning(shown, a.String()))
	}
	return set
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
	return []namedBound{{"calls", w.Calls}, {"tries", w.Tries}, {"ticks", w.Ticks}, {"cost", w.Cost},
		{"seconds", w.Time}}
}

func (b Bound) tree() *tree {
	if b.Most == nil {
		return leafOf("unbounded")
	}
	return leafOf(*b.Most)
}
