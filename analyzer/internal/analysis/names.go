package analysis

import (
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

// Names are what may stand at one place.
type Names struct {
	*naming.Suggester
	All []string
}

func newNames(all []string) *Names { return &Names{naming.NewSuggester(all), all} }

// List is the names for a message; "" when there is none.
func (n *Names) List() string { return wording.Names(n.All, MaxNamed) }

// Children are the keys below a path that some call writes, or that the document's values or schemas hold.
func Children(p *Pass, id pathtree.ID) *Names {
	return Once(p.Store, id, func() *Names {
		paths, known := p.Plan.Paths, map[string]bool{}
		for child := range paths.Children(id) {
			if len(p.Plan.Writers(child)) > 0 {
				known[paths.Segment(child).Key] = true
			}
		}
		add := func(value any) {
			object, _ := value.(map[string]any)
			for key := range object {
				known[key] = true
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
			known[key] = true
		}
		return newNames(slices.Sorted(maps.Keys(known)))
	})
}

// DeclarationOf is what a schema names where a path leaves it.
func DeclarationOf(p *Pass, s *schema.Schema, path []reference.Segment, left schema.Place) *Names {
	in := p.Flow.At(s, path[:left.Depth]).Schema
	return Once(p.Shared, in, func() *Names { return newNames(left.Known()) })
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

// OfferKey offers the nearest known name for one key of a path, in the place of its text in a node, if there is one.
// Names that are declared needn't be in the text twice to be right.
func OfferKey(p *Pass, f *diag.Diagnostic, n *source.Node, of reference.Reference, at int,
	known *naming.Suggester, declared bool) bool {
	key := of.Path[at].Key
	near, ok := known.Nearest(key)
	if !ok || of.Path[at].IsIndex {
		return false
	}
	suggested := of
	suggested.Path = slices.Clone(of.Path)
	suggested.Path[at].Key = near
	if f.Advise("did you mean %q?", suggested.String()); n == nil {
		return true
	}
	instead := suggested.String()
	if text := n.Text[of.Start:of.End]; strings.Count(text, key) == 1 && strings.Contains(instead, "."+near) {
		instead = strings.Replace(text, key, near, 1) // as it is written there
	}
	f.Rename(n, of.Start, of.End, instead, compiler.Misspelt(p.Plan, key, near, known, declared))
	return true
}

// offerReference offers the same path with one key spelt as something that is there, or the same path of another kind.
func offerReference(p *Pass, f *diag.Diagnostic, r *plan.Read) bool {
	id, full := pathtree.Root, p.Plan.Paths.Segments(r.Path)
	offset := len(full) - len(r.Ref.Path) // data kinds stand one level deeper in the table
	for i, s := range full {
		if i >= offset && !slices.Contains(Children(p, id).All, s.Key) {
			names, isTool := Children(p, id).Suggester, r.Ref.Kind == "advice" && i == offset
			if isTool {
				names = ToolSuggester(p)
			}
			if OfferKey(p, f, r.Node, r.Ref, i-offset, names, isTool) {
				return true
			}
			break
		}
		id, _ = p.Plan.Paths.Lookup(id, s)
	}
	for _, kind := range []string{"state", "input"} {
		other := r.Ref
		if other.Kind = kind; kind != r.Ref.Kind && isAt(p, other) {
			f.Advise("did you mean %q?", other.String()).
				Rename(r.Node, r.Ref.Start, r.Ref.End, other.String(), false)
			return true
		}
	}
	return false
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
	if last := len(r.Ref.Path) - 1; !offerReference(p, f, r) && last > 0 {
		of := expression.Reference{Kind: r.Ref.Kind, Path: r.Ref.Path[:last]}
		if name, ok := expression.FunctionFor(r.Ref.Path[last].Key); ok && isAt(p, of) {
			f.Advise("a function stands before what it is of: †(%s(%s))", name, of.String())
		}
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

// isAt reports whether a call writes exactly a path, or the document holds or declares it.
func isAt(p *Pass, r expression.Reference) bool {
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
