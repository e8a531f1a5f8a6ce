package analyzer

import (
	"slices"

	"golang.org/x/text/unicode/norm"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// Names are the keys below a path at which something may stand.
type names struct {
	suggester *naming.Suggester
	known     map[string]bool
	spelt     map[string]string // by composed form
}

func (n *names) has(s expression.Segment) bool { return n.known[s.Key] }

// children are the keys below a path that some call writes, or that the
// document's values or schemas hold.
func (p *Pass) children(id compiler.PathID) *names {
	if n, ok := p.near[id]; ok {
		return n
	}
	paths := p.Plan.Paths
	n := &names{known: map[string]bool{}, spelt: map[string]string{}}
	var list []string
	add := func(key string) {
		if !n.known[key] {
			n.known[key] = true
			list = append(list, key)
			if form := norm.NFC.String(key); n.spelt[form] == "" {
				n.spelt[form] = key
			}
		}
	}
	for _, child := range p.writtenBelow()[id] {
		add(paths.Segment(child).Key)
	}
	value, s := p.initial(paths.Segments(id))
	for _, key := range sortedKeys(value) {
		add(key)
	}
	for _, key := range s.Properties() {
		add(key)
	}
	n.suggester = naming.NewSuggester(list)
	p.near[id] = n
	return n
}

// A declaration is what a schema names at one place.
type declaration struct {
	*naming.Suggester
	list string // the names, for a message; "" when there is none
}

func declarationOf(place schema.Place) *declaration {
	names := place.Known()
	return &declaration{naming.NewSuggester(names), listed(names)}
}

// tools suggests among the names that a call can use.
func (p *Pass) tools() *naming.Suggester {
	if p.toolNames == nil {
		var all []string
		for _, t := range p.Plan.Tools {
			all = append(all, t.Name)
		}
		for name := range p.Plan.Activities {
			all = append(all, name)
		}
		slices.Sort(all)
		p.toolNames = naming.NewSuggester(slices.Compact(all))
	}
	return p.toolNames
}

// A meant is a reference that was most likely meant by another.
type meant struct {
	expression.Reference
	respelt bool // both are one text, composed and decomposed
	sure    bool // nothing else can have been meant
}

// nearReference is the same path with one key spelt as something that is there,
// or the same path of another kind.
func (p *Pass) nearReference(r *compiler.Read) (near meant, ok bool) {
	ref := r.Ref
	id, at := compiler.RootPath, -1
	full := p.Plan.Paths.Segments(r.Path)
	offset := len(full) - len(ref.Path) // data kinds stand one level deeper in the table
	for i, s := range full {
		if i >= offset && !p.children(id).has(s) {
			at = i - offset
			break
		}
		id, _ = p.Plan.Paths.Lookup(id, s)
	}
	if at < 0 {
		return near, false
	}
	near.Reference = expression.Reference{Kind: ref.Kind, Path: append([]expression.Segment(nil), ref.Path...)}
	names, key := p.children(id), ref.Path[at].Key
	if ref.Kind == "advice" && at == 0 {
		if other, found := p.tools().Nearest(key); found {
			near.Path[at].Key, near.sure = other, p.tools().Sure(key)
			return near, true
		}
	}
	if !ref.Path[at].IsIndex {
		if other, same := names.spelt[norm.NFC.String(key)]; same && other != key {
			near.Path[at].Key, near.respelt, near.sure = other, true, true
			return near, true
		}
		if other, found := names.suggester.Nearest(key); found {
			near.Path[at].Key, near.sure = other, names.suggester.Sure(key)
			return near, true
		}
	}
	for _, kind := range []string{"state", "input"} {
		if near.Kind = kind; kind != ref.Kind && p.somethingAt(near.Reference) {
			return near, true
		}
	}
	return near, false
}
