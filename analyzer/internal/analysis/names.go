package analysis

import (
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/reference"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/wording"
	"golang.org/x/text/unicode/norm"
)

// names are the keys that may exist below a path.
type names struct {
	suggester *naming.Suggester
	known     map[string]bool
	spelt     map[string]string // by composed form
}

func (n *names) Has(s reference.Segment) bool { return n.known[s.Key] }

// Children are the keys below a path that some call writes, or that the document's values or schemas hold.
func Children(p *Pass, id pathtree.ID) *names {
	written := writtenBelow(p)
	near := Table[pathtree.ID, *names](p.Store)
	if n, ok := near[id]; ok {
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
	for _, child := range written[id] {
		add(paths.Segment(child).Key)
	}
	value, s := Initial(p, paths.Segments(id))
	for _, key := range SortedKeys(value) {
		add(key)
	}
	for _, one := range p.Plan.Instances {
		own, _ := one.Of(paths.Kind(id))
		own, _ = paths.Walk(own, id)
		for _, key := range SortedKeys(own) {
			add(key)
		}
	}
	for _, key := range s.Properties() {
		add(key)
	}
	n.suggester = naming.NewSuggester(list)
	near[id] = n
	return n
}

// A Declaration is what a schema names at one place.
type Declaration struct {
	*naming.Suggester
	List string // the names, for a message; "" when there is none
}

// DeclarationOf is what a schema names where a path leaves it.
func DeclarationOf(p *Pass, s *schema.Schema, path []reference.Segment, left schema.Place) *Declaration {
	in := p.Flow.At(s, path[:left.Depth]).Schema
	return Once(p.Shared, in, func() *Declaration { return newDeclaration(left.Known()) })
}

func newDeclaration(names []string) *Declaration {
	return &Declaration{naming.NewSuggester(names), wording.Names(names, MaxNamed)}
}

// ToolSuggester suggests among the names that a call can use.
func ToolSuggester(p *Pass) *naming.Suggester {
	known := Kept[*naming.Suggester](p.Shared)
	if *known == nil {
		var all []string
		for _, t := range p.Plan.Tools {
			all = append(all, t.Name)
		}
		for name := range p.Plan.Activities {
			all = append(all, name)
		}
		slices.Sort(all)
		*known = naming.NewSuggester(slices.Compact(all))
	}
	return *known
}

// A suggestion is a reference that was most likely intended instead of another.
type suggestion struct {
	reference.Reference
	text    string // the text that replaces it
	respelt bool   // both are one text, composed and decomposed
	sure    bool   // nothing else can have been meant
}

// requiredSteps makes the optional steps of a path required.
var requiredSteps = strings.NewReplacer("?.[", "[", "?.", ".")

// Respelt is the text of a path with one key spelt otherwise and all else as it stands, its † or none among it, where
// that says what is meant, and else the usual spelling of it.
func Respelt(text, key, other string, suggested reference.Reference) string {
	for at := strings.LastIndex(text, key); at >= 0; at = strings.LastIndex(text[:at], key) {
		instead := text[:at] + other + text[at+len(key):]
		required := requiredSteps.Replace(instead)
		for _, marked := range []string{required, string(reference.Mark) + required} {
			paths, err := reference.ParseOutput(marked)
			if err == nil && len(paths) == 1 && len(paths[0]) == 1 && paths[0][0].String() == suggested.String() {
				return instead
			}
		}
	}
	return suggested.String()
}

// OfferKey offers the nearest known name for one key of a path, in the place of its text in a node, if there is one.
func OfferKey(p *Pass, f *diag.Diagnostic, n *source.Node, of reference.Reference, at int,
	known *naming.Suggester) (suggested reference.Reference, ok bool) {
	key := of.Path[at].Key
	near, ok := known.Nearest(key)
	if !ok || of.Path[at].IsIndex {
		return of, false
	}
	suggested = of
	suggested.Path = slices.Clone(of.Path)
	suggested.Path[at].Key = near
	f.Advise("did you mean %q?", suggested.String())
	if n != nil {
		f.Rename(n, of.Start, of.End, Respelt(n.Text[of.Start:of.End], key, near, suggested),
			compiler.Misspelt(p.Plan, key, near, known, true))
	}
	return suggested, true
}

// nearReference is the same path with one key spelt as something that is there, or the same path of another kind.
func nearReference(p *Pass, r *plan.Read) (near suggestion, ok bool) {
	ref := r.Ref
	id, at := pathtree.Root, -1
	full := p.Plan.Paths.Segments(r.Path)
	offset := len(full) - len(ref.Path) // data kinds stand one level deeper in the table
	for i, s := range full {
		if i >= offset && !Children(p, id).Has(s) {
			at = i - offset
			break
		}
		id, _ = p.Plan.Paths.Lookup(id, s)
	}
	if at < 0 {
		return near, false
	}
	near.Reference = reference.Reference{Kind: ref.Kind, Path: append([]reference.Segment(nil), ref.Path...)}
	names, key := Children(p, id), ref.Path[at].Key
	spell := func(other string, sure bool) (suggestion, bool) {
		near.Path[at].Key, near.sure = other, sure
		near.text = Respelt(r.Node.Text[ref.Start:ref.End], key, other, near.Reference)
		return near, true
	}
	if ref.Kind == "advice" && at == 0 {
		if other, found := ToolSuggester(p).Nearest(key); found {
			return spell(other, compiler.Misspelt(p.Plan, key, other, ToolSuggester(p), true))
		}
	}
	if !ref.Path[at].IsIndex {
		if other, same := names.spelt[norm.NFC.String(key)]; same && other != key {
			near.respelt = true
			return spell(other, true)
		}
		if other, found := names.suggester.Nearest(key); found {
			return spell(other, compiler.Misspelt(p.Plan, key, other, names.suggester, false))
		}
	}
	for _, kind := range []string{"state", "input"} {
		if near.Kind = kind; kind != ref.Kind && somethingAt(p, near.Reference) {
			near.text = near.String()
			return near, true
		}
	}
	return near, false
}
