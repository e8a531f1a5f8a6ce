package facts

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A leaf is a value that is compared with the one at the same place of another call, or another item.
type leaf struct {
	*Value
	at    string // the path of the value, or after a NUL what else tells it from others
	means string // what is compared besides a literal
}

// compare reports where the leaves of two parts differ.
func (p *pair) compare(d Difference, of part, old, new []leaf, calls ...int) {
	found := func(at string, a, b *Value) {
		d.Path, _, _ = strings.Cut(at, "\x00")
		d.Old, d.New = a, b
		p.report(d, of, calls...)
	}
	was := map[string]leaf{}
	before, now := withoutEnds(apart(old, new), apart(new, old))
	for _, x := range before {
		was[x.at] = x
	}
	for _, y := range now {
		x, both := was[y.at]
		delete(was, y.at)
		switch {
		case !both:
			found(y.at, nil, y.Value)
		case x.means != "" && x.means == y.means || !x.Literal.IsZero() && x.Literal.Equal(y.Literal):
		// at least by a secret
		case x.Literal.IsZero() || y.Literal.IsZero() || bytes.Equal(x.Literal.Text, y.Literal.Text):
			found(y.at, x.Value, y.Value)
		default:
			literals(y.at, x.Literal.Text, y.Literal.Text, found)
		}
	}
	for _, x := range before {
		if _, isGone := was[x.at]; isGone {
			found(x.at, x.Value, nil)
		}
	}
}

// literals finds where two JSON values differ. Items with which both lists end are the same.
func literals(path string, a, b json.RawMessage, found func(path string, old, new *Value)) {
	both := func(kind byte) bool { return a != nil && b != nil && a[0] == kind && b[0] == kind }
	switch {
	case bytes.Equal(a, b):
	case both('{'):
		x, y := partsOf(a), partsOf(b)
		for _, key := range keysOf(x, y) {
			literals(Step(path, key), x[key], y[key], found)
		}
	case both('['):
		x, y := itemsOf(a), itemsOf(b)
		for len(x) > 0 && len(y) > 0 && bytes.Equal(x[len(x)-1], y[len(y)-1]) {
			x, y = x[:len(x)-1], y[:len(y)-1]
		}
		more := make([]json.RawMessage, max(len(x), len(y)))
		x, y = append(x, more[len(x):]...), append(y, more[len(y):]...)
		for i := range x {
			literals(path+"["+strconv.Itoa(i)+"]", x[i], y[i], found)
		}
	default:
		found(path, literal(a), literal(b))
	}
}

func literal(text json.RawMessage) *Value {
	if text == nil {
		return nil
	}
	return &Value{Literal: Literal{Text: text}}
}

func partsOf(object json.RawMessage) (fields map[string]json.RawMessage) {
	_ = json.Unmarshal(object, &fields)
	return fields
}

func itemsOf(list json.RawMessage) (items []json.RawMessage) {
	_ = json.Unmarshal(list, &items)
	return items
}

// apart are leaves; a literal is split into its parts where the facing leaves are below it.
func apart(all, facing []leaf) (leaves []leaf) {
	for _, one := range all {
		text := one.Literal.Text
		isBelow := func(o leaf) bool {
			return o.at != one.at && (one.at == "" || overlaps(o.at, one.at) && len(o.at) > len(one.at))
		}
		if text == nil || text[0] != '{' && text[0] != '[' || len(text) == 2 || !slices.ContainsFunc(facing, isBelow) {
			leaves = append(leaves, one)
			continue
		}
		var parts []leaf
		fields := partsOf(text)
		for _, key := range keysOf(fields, nil) {
			parts = append(parts, leaf{literal(fields[key]), Step(one.at, key), ""})
		}
		for i, item := range itemsOf(text) {
			parts = append(parts, leaf{literal(item), one.at + "[" + strconv.Itoa(i) + "]", ""})
		}
		leaves = append(leaves, apart(parts, facing)...)
	}
	return leaves
}

// withoutEnds are leaves without the items with which both of two lists of different length end.
func withoutEnds(old, new []leaf) (a, b []leaf) {
	item := func(l leaf) (list string, at int, text string) {
		list, rest, _ := strings.Cut(l.at, "[")
		index, below, _ := strings.Cut(rest, "]")
		if at, err := strconv.Atoi(index); err == nil {
			return list, at, below + "\x00" + l.means + string(l.Literal.Text) + l.Literal.secret + "\x00"
		}
		return "", -1, ""
	}
	sides := [2]map[string][]string{{}, {}}
	for side, leaves := range [][]leaf{old, new} {
		for _, l := range leaves {
			if list, at, text := item(l); at >= 0 {
				items := sides[side][list]
				if at >= len(items) {
					items = append(items, "")
				}
				items[len(items)-1] += text
				sides[side][list] = items
			}
		}
	}
	ends := map[string]int{}
	for list, x := range sides[oldSide] {
		y, n := sides[newSide][list], 0
		for len(x) != len(y) && n < min(len(x), len(y)) && x[len(x)-1-n] == y[len(y)-1-n] {
			n++
		}
		ends[list] = n
	}
	isCommon := func(side int) func(leaf) bool {
		return func(l leaf) bool {
			list, at, _ := item(l)
			return at >= len(sides[side][list])-ends[list] && ends[list] > 0
		}
	}
	return slices.DeleteFunc(old, isCommon(oldSide)), slices.DeleteFunc(new, isCommon(newSide))
}

// leafOf is a single leaf of a JSON value, and none of "", which says nothing.
func leafOf(v any) []leaf {
	if v == "" {
		return nil
	}
	return leafLiteral(Literal{Text: Compact(v)})
}

func leafLiteral(l Literal) []leaf {
	if l.IsZero() {
		return nil
	}
	return []leaf{{Value: &Value{Literal: l}}}
}

// values are the leaves of values, as the new plan has them.
func (p *pair) values(side int, values ...Value) (all []leaf) {
	for _, v := range values {
		one := leaf{&v, v.Path, ""}
		if v.Path = ""; v.Literal.IsZero() {
			one.means = v.Expression + "\x00" + p.sources(side, v.Sources)
		}
		all = append(all, one)
	}
	return all
}

func (p *pair) optional(side int, v *Value) []leaf {
	if v == nil {
		return nil
	}
	return p.values(side, *v)
}

func flag(is bool) []leaf {
	if !is {
		return nil
	}
	return leafOf("yes")
}

// place is where something lies: places are the same if they are the same from the workspaces' roots,
// or from the folders of the plans.
func (p *pair) place(side int, path string) []leaf {
	all := leafOf(path)
	relative, err := filepath.Rel(filepath.FromSlash(p.sides[side].Folder), filepath.FromSlash(path))
	if err == nil && all != nil {
		all[0].means = filepath.ToSlash(relative)
	}
	return all
}

// carrierOf is what carries a call out; a changed definition of its activity is another difference.
func carrierOf(e *Execution) []leaf {
	shown, means := e.Kind, e.Activity+"\x00"+e.Kind
	if e.Activity != "" && e.Kind != aPlan {
		shown, means = e.Activity+": "+e.Destination(), e.Activity+"\x00"
	}
	return []leaf{{literal(Compact(shown)), "", means}}
}

// writesOf is where results go: the order of alternatives counts, that of the paths of one doesn't.
func writesOf(c *Call) []leaf {
	var routes []string
	for _, route := range c.Writes {
		paths := slices.Sorted(slices.Values(route))
		routes = append(routes, strings.Join(slices.Compact(paths), " && "))
	}
	return leafOf(strings.Join(routes, " || "))
}

// afterOf is the calls that another comes after without reading from them.
func (p *pair) afterOf(side int, c *Call) (all []leaf) {
	for _, a := range c.After {
		shown := literal(Compact(a.String()))
		if side == oldSide {
			a.Call = p.newName(a.Call)
		}
		all = append(all, leaf{shown, "\x00" + a.String(), a.String()})
	}
	return all
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

// shown is the bound as a leaf.
func (b Bound) shown() []leaf {
	if b.Most == nil {
		return leafOf("unbounded")
	}
	return leafOf(*b.Most)
}
