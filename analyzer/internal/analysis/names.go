package analysis

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
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
	suggester, isTool := names.suggester, ref.Kind == "advice" && at == 0
	if isTool {
		suggester = ToolSuggester(p)
	}
	if !ref.Path[at].IsIndex {
		if other, same := names.spelt[norm.NFC.String(key)]; same && other != key {
			near.respelt = true
			return spell(other, true)
		}
		if other, found := suggester.Nearest(key); found {
			return spell(other, compiler.Misspelt(p.Plan, key, other, suggester, isTool))
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

// NeverThere reports whether an expression can have no value once the reads that
// are never there are absent, whatever the others give.
func NeverThere(t *plan.Template, never func(read int) bool) bool {
	_, presence, err := t.Expr.Eval(func(i int) (any, expression.Presence) {
		if never(t.Reads[i]) {
			return nil, expression.Absent
		}
		return nil, expression.Pending
	}, nil)
	return err == nil && presence == expression.Absent
}

// ExplainNever adds to a finding about a reference that is never there what was most likely meant by it.
func ExplainNever(p *Pass, f *diag.Diagnostic, r *plan.Read, call *plan.Call) {
	if call != nil {
		if own, yes := flow.OutputOver(p.Plan, call, r.Path); yes {
			f.Note(own.Span(), "only the call itself writes it, and a call doesn't see its own result")
			return
		}
	}
	near, ok := nearReference(p, r)
	if !ok {
		if last := len(r.Ref.Path) - 1; last > 0 {
			of := expression.Reference{Kind: r.Ref.Kind, Path: r.Ref.Path[:last]}
			if name, ok := expression.FunctionFor(r.Ref.Path[last].Key); ok && somethingAt(p, of) {
				f.Advise("a function stands before what it is of: †(%s(%s))", name, of.String())
			}
		}
		return
	}
	f.Advise("did you mean %q?", near.String())
	if near.respelt {
		f.Advise(
			"did you mean %q? the two are one text in two spellings: composed characters in one, combining ones "+
				"in the other", near.String())
	}
	f.Rename(r.Node, r.Ref.Start, r.Ref.End, near.text, near.sure)
	NoteSuggestion(p, f, near.Reference)
}

// PastEnd says that a list in a schema ends before a step of a path; it is "" where none does.
func PastEnd(s *schema.Schema, path []expression.Segment) string {
	for i, step := range path {
		_, most := s.At(path[:i]).Schema.Lengths()
		if step.IsIndex && most >= 0 && step.Index >= most {
			return fmt.Sprintf("the list has at most %d items (maxItems)", most)
		}
	}
	return ""
}

// NoteSuggestion notes where the suggested reference is written.
func NoteSuggestion(p *Pass, f *diag.Diagnostic, suggested expression.Reference) {
	if at, ok := writtenAt(p, suggested); ok {
		f.Note(at.Span(), "%q is written here", p.Path(at.ID))
	}
}

// IsAstray reports whether an error is about something that is missing, most likely a misspelt name: nobody
// knows then what the calls wait for, or what is used. One instance may lack what others have.
func IsAstray(p *Pass) bool {
	return p.Flow.Lacks == nil && slices.ContainsFunc(p.Found, func(f diag.Diagnostic) bool {
		return f.Severity == diag.Error &&
			(f.Rule == diag.DanglingReference || f.Rule == diag.UndeclaredPath || f.Rule.Code == "OB501")
	})
}

var (
	WhyNever = map[string]string{
		"input": "the input doesn't contain it",
		"state": "no call writes it, and the initial state doesn't contain it",
		"data":  "no call writes it, and no message contains it",

		"advice": "advisors vote on tools, and there is no such tool",
		"error":  "without a planner calls see no errors, and only calls make some",
	}
	WhereFrom = map[string]string{
		"input": "declare it under \"input\" or \"inputSchema\"",
		"state": "let a call write it with \"_outputPath\", or give it under \"state\"",
		"data":  "let a call write it with \"_outputPath\", or give it in a message of its kind",

		"advice": "name a tool: †advice.tool is a number, the result of the votes on it",
		"error":  "read it in \"output\", or give the call that may fail a failure route",
	}
)

// Initial is what the document gives and declares at a path.
func Initial(p *Pass, path []expression.Segment) (any, *schema.Schema) {
	if len(path) == 0 {
		return nil, nil
	}
	value, s := p.Plan.Of(path[0].Key)
	value, _ = pathtree.Walk(value, path[1:])
	if s != nil {
		s = s.At(path[1:]).Schema
	}
	return value, s
}

// somethingAt reports whether a call writes exactly a path, or the document holds or declares it.
func somethingAt(p *Pass, r expression.Reference) bool {
	path := append([]expression.Segment{{Key: r.Kind}}, r.Path...)
	if id, ok := Lookup(p, path); ok && p.Plan.Written(id) {
		return true
	}
	value, s := Initial(p, path[:len(path)-1])
	last := path[len(path)-1]
	if _, ok := pathtree.Step(value, last); ok {
		return true
	}
	return s != nil && s.At([]expression.Segment{last}).Named
}

func Lookup(p *Pass, path []expression.Segment) (pathtree.ID, bool) {
	id, ok := pathtree.Root, true
	for _, s := range path {
		if id, ok = p.Plan.Paths.Lookup(id, s); !ok {
			return 0, false
		}
	}
	return id, true
}

// writtenAt is where a call first writes a path, or something above or below it.
func writtenAt(p *Pass, r expression.Reference) (plan.Path, bool) {
	path := append([]expression.Segment{{Key: r.Kind}}, r.Path...)
	if p.Flow.IsKind(r.Kind) {
		path = append([]expression.Segment{{Key: "data"}}, path...)
	}
	id := pathtree.Root
	for _, s := range path {
		next, ok := p.Plan.Paths.Lookup(id, s)
		if !ok {
			break // what is written above it counts as well
		}
		id = next
	}
	if p.Plan.Paths.Depth(id) < 2 {
		return plan.Path{}, false
	}
	for _, w := range p.Plan.Writers(id) {
		if at, ok := flow.OutputOver(p.Plan, p.Plan.Calls[w.Call], id); ok {
			return at, true
		}
	}
	return plan.Path{}, false
}

// A binding lists, by call, the reads that may see what it writes.
type binding struct {
	reads [][]int32
	known bool
}

// maxBound bounds how many pairs of a call and a read are listed.
const maxBound = 4_000_000

// Bound lists, by call, the reads that may see what it writes; nil where there are too many of them.
func Bound(p *Pass) [][]int32 {
	b := Kept[binding](p.Store)
	if b.known {
		return b.reads
	}
	b.known = true
	pairs := 0
	for i := range p.Plan.Reads {
		pairs += len(p.Plan.Reads[i].Writers)
	}
	if pairs > maxBound {
		p.Found.Report(NotAnalysed, p.Plan.CallsNode.Span().Head(), "what reads the values that calls write is not "+
			"analysed: calls and reads of one value make %d pairs", pairs).
			Advise("split the plan, or write to more paths")
		return nil
	}
	b.reads = make([][]int32, len(p.Plan.Calls))
	for i := range p.Plan.Reads {
		for _, w := range p.Plan.Reads[i].Writers {
			b.reads[w] = append(b.reads[w], int32(i))
		}
	}
	return b.reads
}

// writtenBelow lists, by path, the paths one segment down at which, or below which, some call writes.
func writtenBelow(p *Pass) [][]pathtree.ID {
	below, paths := Kept[writtenPaths](p.Store), p.Plan.Paths
	if *below != nil {
		return *below
	}
	*below = make(writtenPaths, paths.Len())
	noted := make([]bool, paths.Len())
	for _, call := range p.Plan.Calls {
		for _, path := range call.Paths() {
			for id := path.ID; id > pathtree.Root && !noted[id]; id = paths.Parent(id) {
				noted[id] = true
				up := paths.Parent(id)
				(*below)[up] = append((*below)[up], id)
			}
		}
	}
	return *below
}

type writtenPaths [][]pathtree.ID // by path

// SortedKeys are the keys of an object; none of any other value.
func SortedKeys(value any) []string {
	m, _ := value.(map[string]any)
	return slices.Sorted(maps.Keys(m))
}
