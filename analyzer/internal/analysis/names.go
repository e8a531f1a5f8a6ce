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
)

// Names are the keys that may exist below a path.
type Names struct {
	*naming.Suggester
	known map[string]bool
}

func (n *Names) Has(s reference.Segment) bool { return n.known[s.Key] }

// Children are the keys below a path that some call writes, or that the document's values or schemas hold.
func Children(p *Pass, id pathtree.ID) *Names {
	return Once(p.Store, id, func() *Names {
		paths, n := p.Plan.Paths, &Names{known: map[string]bool{}}
		for _, child := range writtenBelow(p)[id] {
			n.known[paths.Segment(child).Key] = true
		}
		add := func(value any) {
			object, _ := value.(map[string]any)
			for key := range object {
				n.known[key] = true
			}
		}
		value, s := Initial(p, paths.Segments(id))
		add(value)
		for _, instance := range p.Plan.Instances {
			own, _ := instance.Of(paths.Kind(id))
			own, _ = paths.Walk(own, id)
			add(own)
		}
		for _, key := range s.Properties() {
			n.known[key] = true
		}
		n.Suggester = naming.NewSuggester(slices.Sorted(maps.Keys(n.known)))
		return n
	})
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
	return Once(p.Shared, "tools", func() *naming.Suggester {
		all := slices.Collect(maps.Keys(p.Plan.Activities))
		for _, t := range p.Plan.Tools {
			all = append(all, t.Name)
		}
		slices.Sort(all)
		return naming.NewSuggester(slices.Compact(all))
	})
}

// requiredSteps makes the optional steps of a path required.
var requiredSteps = strings.NewReplacer("?.[", "[", "?.", ".")

// respelt is the text of a path with one key spelt otherwise and all else as it stands, its † or none among it, where
// that says what is meant, and else the usual spelling of it.
func respelt(text, key, other string, suggested reference.Reference) string {
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
// Names that are declared needn't be in the text twice to be right.
func OfferKey(p *Pass, f *diag.Diagnostic, n *source.Node, of reference.Reference, at int,
	known *naming.Suggester, declared bool) (suggested reference.Reference, ok bool) {
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
		f.Rename(n, of.Start, of.End, respelt(n.Text[of.Start:of.End], key, near, suggested),
			compiler.Misspelt(p.Plan, key, near, known, declared))
	}
	return suggested, true
}

// offerReference offers the same path with one key spelt as something that is there, or the same path of another kind.
func offerReference(p *Pass, f *diag.Diagnostic, r *plan.Read) (suggested reference.Reference, ok bool) {
	id, full := pathtree.Root, p.Plan.Paths.Segments(r.Path)
	offset := len(full) - len(r.Ref.Path) // data kinds stand one level deeper in the table
	for i, s := range full {
		if i >= offset && !Children(p, id).Has(s) {
			names, isTool := Children(p, id).Suggester, r.Ref.Kind == "advice" && i == offset
			if isTool {
				names = ToolSuggester(p)
			}
			if suggested, ok = OfferKey(p, f, r.Node, r.Ref, i-offset, names, isTool); ok {
				return suggested, true
			}
			break
		}
		id, _ = p.Plan.Paths.Lookup(id, s)
	}
	for _, kind := range []string{"state", "input"} {
		if suggested = r.Ref; kind != r.Ref.Kind {
			if suggested.Kind = kind; somethingAt(p, suggested) {
				f.Advise("did you mean %q?", suggested.String()).
					Rename(r.Node, r.Ref.Start, r.Ref.End, suggested.String(), false)
				return suggested, true
			}
		}
	}
	return r.Ref, false
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
	if suggested, ok := offerReference(p, f, r); ok {
		NoteSuggestion(p, f, suggested)
	} else if last := len(r.Ref.Path) - 1; last > 0 {
		of := expression.Reference{Kind: r.Ref.Kind, Path: r.Ref.Path[:last]}
		if name, ok := expression.FunctionFor(r.Ref.Path[last].Key); ok && somethingAt(p, of) {
			f.Advise("a function stands before what it is of: †(%s(%s))", name, of.String())
		}
	}
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
	if id, ok := Lookup(p, path); ok && len(p.Plan.WritersAt(id)) > 0 {
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

// maxBound bounds how many pairs of a call and a read are listed.
const maxBound = 4_000_000

// Bound lists, by call, the reads that may see what it writes; nil where there are too many of them.
func Bound(p *Pass) [][]int32 {
	return Once(p.Store, "bound", func() [][]int32 {
		reads, pairs := make([][]int32, len(p.Plan.Calls)), 0
		for i := range p.Plan.Reads {
			if pairs += len(p.Plan.Reads[i].Writers); pairs > maxBound {
				p.Found.Report(NotAnalysed, p.Plan.CallsNode.Span().Head(),
					"what reads the values that calls write is not analysed: calls and reads of one value make "+
						"%d pairs", pairs).
					Advise("split the plan, or write to more paths")
				return nil
			}
			for _, w := range p.Plan.Reads[i].Writers {
				reads[w] = append(reads[w], int32(i))
			}
		}
		return reads
	})
}

// writtenBelow lists, by path, the paths one segment down at which, or below which, some call writes.
func writtenBelow(p *Pass) [][]pathtree.ID {
	return Once(p.Store, "written", func() [][]pathtree.ID {
		paths := p.Plan.Paths
		below, noted := make([][]pathtree.ID, paths.Len()), make([]bool, paths.Len())
		for _, call := range p.Plan.Calls {
			for _, path := range call.Paths() {
				for id := path.ID; id > pathtree.Root && !noted[id]; id = paths.Parent(id) {
					noted[id] = true
					below[paths.Parent(id)] = append(below[paths.Parent(id)], id)
				}
			}
		}
		return below
	})
}
