package facts

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/obelus-dev/obelus/compiler/reference"
)

// A tree is a value that is compared: a map[string]tree, a []tree, or a leaf, which is a *Value. nil is no value.
type tree any

// A side is how one of two plans names calls and places.
type side struct {
	folder string              // that the plan lies in
	name   func(string) string // the name in the new plan of a call
}

// alone is for what is compared with nothing.
var alone = side{name: func(call string) string { return call }}

// tree puts together values by their paths.
func (s side) tree(values ...Value) (root tree) {
	for _, v := range values {
		path, _, _, err := reference.ReadSegments(below("", v.Path), 0, 0)
		if err != nil {
			path = []reference.Segment{{Key: v.Path}}
		}
		if v.Path, v.means = "", string(v.Literal.Text); v.means == "" {
			v.means = v.Expression + "\x00" + s.sources(v.Sources)
		}
		root = with(root, path, &v)
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

// with is a tree with another one at a path in it; items come in their order.
func with(t tree, path []reference.Segment, other tree) tree {
	if len(path) == 0 {
		return other
	}
	if at := path[0]; at.IsIndex {
		items, _ := t.([]tree)
		if at.Index >= len(items) {
			items = append(items, nil)
		}
		last := len(items) - 1
		items[last] = with(items[last], path[1:], other)
		return items
	}
	fields, _ := t.(map[string]tree)
	if fields == nil {
		fields = map[string]tree{}
	}
	fields[path[0].Key] = with(fields[path[0].Key], path[1:], other)
	return fields
}

// leafOf is a JSON value, and nothing for "", which says nothing.
func leafOf(v any) tree {
	if v == "" {
		return nil
	}
	return literal(Literal{Text: Compact(v)})
}

func literal(l Literal) tree {
	if l.IsZero() {
		return nil
	}
	return &Value{Literal: l, means: string(l.Text)}
}

// meaning is a text, with what is compared of it.
func meaning(shown, means string) tree {
	return &Value{Literal: Literal{Text: Compact(shown)}, means: means}
}

// opened is a tree, or the fields or items that a literal has.
func opened(t tree) tree {
	v, _ := t.(*Value)
	if v == nil || v.Literal.IsZero() {
		return t
	}
	switch of := v.Literal.value().(type) {
	case map[string]any:
		all := map[string]tree{}
		for key, field := range of {
			all[key] = literal(Literal{Text: Compact(field)})
		}
		return all
	case []any:
		all := make([]tree, len(of))
		for i, item := range of {
			all[i] = literal(Literal{Text: Compact(item)})
		}
		return all
	}
	return t
}

// text has all of a tree.
func text(t tree) string {
	var b strings.Builder
	leavesOf("", t, func(at string, v *Value) { fmt.Fprintf(&b, "%q %q %s\n", at, v.means, v.Literal.secret) })
	return b.String()
}

// leavesOf visits all leaves of a tree with their paths below one.
func leavesOf(at string, t tree, visit func(at string, leaf *Value)) {
	switch t := t.(type) {
	case *Value:
		visit(at, t)
	case map[string]tree:
		for _, key := range keysOf(t, nil) {
			leavesOf(step(at, key), t[key], visit)
		}
	case []tree:
		for i, item := range t {
			leavesOf(at+"["+strconv.Itoa(i)+"]", item, visit)
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

// differ finds where two trees differ. Items with which both lists end are the same.
func differ(at string, a, b tree, found func(at string, old, new *Value)) {
	x, isX := a.(*Value)
	y, isY := b.(*Value)
	if a == nil && b == nil || isX && isY && x.means == y.means &&
		(x.Literal.secret == "" || y.Literal.secret == "" || x.Literal.secret == y.Literal.secret) {
		return
	}
	old, new := opened(a), opened(b)
	fields, areFields := old.(map[string]tree)
	newFields, bothFields := new.(map[string]tree)
	items, areItems := old.([]tree)
	further, bothItems := new.([]tree)
	switch {
	case isX && isY && string(x.Literal.Text) == string(y.Literal.Text): // expressions, or a secret
		found(at, x, y)
	case areFields && bothFields:
		for _, key := range keysOf(fields, newFields) {
			differ(step(at, key), fields[key], newFields[key], found)
		}
	case areItems && bothItems:
		for len(items) > 0 && len(further) > 0 && text(items[len(items)-1]) == text(further[len(further)-1]) {
			items, further = items[:len(items)-1], further[:len(further)-1]
		}
		for i := range max(len(items), len(further)) {
			var one, other tree
			if i < len(items) {
				one = items[i]
			}
			if i < len(further) {
				other = further[i]
			}
			differ(at+"["+strconv.Itoa(i)+"]", one, other, found)
		}
	case (isX || a == nil) && (isY || b == nil):
		found(at, x, y)
	default:
		leavesOf(at, a, func(at string, leaf *Value) { found(at, leaf, nil) })
		leavesOf(at, b, func(at string, leaf *Value) { found(at, nil, leaf) })
	}
}

// A part is one of those that calls and other items are compared by, and that people are shown of them.
type part struct {
	name string
	of   tree
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
	asks                        // the part has a person decide

	acts  = destroys | leaves // the part decides what the call does, to what, or how often
	acted = destroys | writes // something outside of the plan is another afterwards
)

func (w weight) risk() Risk {
	switch {
	case w&destroys != 0:
		return Destroys
	case w&leaves != 0:
		return Leaves
	case w&asks != 0:
		return Unasked
	}
	return ""
}

// parts are all parts of a call, in the order in which they are shown.
func (s side) parts(c *Call) []part {
	var when, list, context []Value
	var most tree
	if c.When != nil {
		when = []Value{*c.When}
	}
	if c.Each != nil {
		list, most = []Value{c.Each.List}, leafOf(c.Each.Most)
	}
	if len(c.Context) > 0 {
		context = []Value{{Sources: c.Context}}
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
		{"condition", s.tree(when...), acts | gives | limit | repeated},
		{"goes on when an item failed", flag(c.Each != nil && c.Each.Collect), 0},
		{"most items", most, acts | gives | limit},
		{"each of", s.tree(list...), acts | gives | repeated},
		{"context", s.tree(context...), acts | gives},
		{"writes", writesOf(c), 0},
		{"method", leafOf(c.Method), 0},
		{"after", s.after(c), acts | limit | repeated},
		{"tries", leafOf(max(1, c.Tries)), acts | limit},
		{"backoff", leafOf(c.Backoff), 0},
		{"timeout", leafOf(c.Timeout), 0},
		{"a person is asked", flag(c.Confirm), acts | asks | limit},
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

func flag(is bool) tree {
	if !is {
		return nil
	}
	return leafOf("yes")
}

// place is where something lies: places are the same if they are the same from the workspaces' roots,
// or from the folders of the plans.
func (s side) place(path string) tree {
	relative, err := filepath.Rel(filepath.FromSlash(s.folder), filepath.FromSlash(path))
	if path == "" || err != nil {
		return leafOf(path)
	}
	return meaning(path, filepath.ToSlash(relative))
}

// carrierOf is what carries a call out; a changed definition of its activity is another difference.
func carrierOf(e *Execution) tree {
	if e.Activity == "" || e.Kind == aPlan {
		return meaning(e.Kind, e.Activity+"\x00"+e.Kind)
	}
	return meaning(e.Activity+": "+e.Destination(), e.Activity+"\x00")
}

// writesOf is where results go: the order of alternatives counts, that of the paths of one doesn't.
func writesOf(c *Call) tree {
	var routes []string
	for _, route := range c.Writes {
		paths := slices.Sorted(slices.Values(route))
		routes = append(routes, strings.Join(slices.Compact(paths), " && "))
	}
	return leafOf(strings.Join(routes, " || "))
}

// after is the set of calls that another comes after without reading from them.
func (s side) after(c *Call) (set tree) {
	for _, a := range c.After {
		shown := a.String()
		a.Call = s.name(a.Call)
		set = with(set, []reference.Segment{{Key: "\x00" + a.String()}}, meaning(shown, a.String()))
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

func (b Bound) tree() tree {
	if b.Most == nil {
		return leafOf("unbounded")
	}
	return leafOf(*b.Most)
}
