package rules

import (
	"slices"

	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

var _ = Register(Rule{Rule: diag.UndeclaredPath, Run: undeclaredPaths})

// pathVerdicts are by path: 0 not asked, 1 fine, -1 not possible.
type pathVerdicts []int8

// undeclaredPaths finds reads and writes of what a closed state schema leaves no room for.
func undeclaredPaths(p *Pass) {
	s := p.Plan.StateSchema
	if s == nil {
		return
	}
	verdicts := make(pathVerdicts, p.Plan.Paths.Len())
	undeclared := func(id pathtree.ID) bool {
		if verdicts[id] == 0 {
			verdicts[id] = 1
			if path := p.Plan.Paths.Segments(id); len(path) > 1 && path[0].Key == "state" &&
				!s.At(compiler.SchemaPath(path[1:])).Possible {
				verdicts[id] = -1
			}
		}
		return verdicts[id] < 0
	}
	for _, call := range p.Fresh() {
		for _, path := range call.Paths() {
			if undeclared(path.ID) {
				f := reportUndeclared(p, path.ID, path.Span(), "written").About(call.Label())
				node := path.Node
				if node == call.ToolNode { // the tool itself fixes the path
					node = nil
				}
				p.Suggested.Paths[path.ID] = true // that nothing reads it follows from it
				if suggested, ok := offerDeclared(p, f, path.ID, node, path.Start, path.End); ok {
					for i := range p.Plan.Reads {
						if r := &p.Plan.Reads[i]; len(r.Writers) == 0 && r.Ref.Kind == "state" &&
							r.Ref.String() == suggested.String() {
							analysis.Misreads(p, r.Call)
						}
					}
				}
			}
		}
	}
	for i := p.FromRead; i < len(p.Plan.Reads); i++ {
		if r := &p.Plan.Reads[i]; undeclared(r.Path) {
			f := reportUndeclared(p, r.Path, r.Span(), "read").About(p.Flow.Caller(r).Label())
			if suggested, ok := offerDeclared(p, f, r.Path, r.Node, r.Ref.Start, r.Ref.End); ok {
				analysis.NoteSuggestion(p, f, suggested)
			}
			analysis.Misreads(p, r.Call)
		}
	}
}

func reportUndeclared(p *Pass, id pathtree.ID, at source.Span, done string) *diag.Diagnostic {
	path := p.Plan.Paths.Segments(id)
	place := p.Plan.StateSchema.At(compiler.SchemaPath(path[1:]))
	step := path[1+place.Depth]
	above := expression.Reference{Kind: "state", Path: path[1 : 1+place.Depth]}
	f := p.Report(at, "%q can't be %s: the state schema allows no %q in %q", p.Path(id), done, step.Key, above.String())
	known := declared(p, id, place)
	if place.Depth > 0 && known.List == "" {
		f.Message = "\"" + p.Path(id) + "\" can't be " + done + ": the state schema says that \"" + above.String() +
			"\" has no parts"
	}
	if step.IsIndex && slices.Contains(place.Known(), step.Key) {
		return f.Advise("%q is an object: write [%q]", above.String(), step.Key)
	}
	return f.Advise("declare it in \"stateSchema\"")
}

// offerDeclared offers the path that the state schema names and that comes nearest to one that it doesn't, in the place
// of the bytes [from, to) of a string, if that is the plan's own.
func offerDeclared(p *Pass, f *diag.Diagnostic, id pathtree.ID, n *source.Node, from,
	to int) (suggested expression.Reference, ok bool) {
	path := p.Plan.Paths.Segments(id)
	place := p.Plan.StateSchema.At(compiler.SchemaPath(path[1:]))
	step := &path[1+place.Depth]
	known := declared(p, id, place)
	near, ok := known.Nearest(step.Key)
	if !ok || step.IsIndex {
		return suggested, false
	}
	key, sure := step.Key, compiler.Misspelt(p.Plan, step.Key, near, known.Suggester, true)
	step.Key = near
	suggested = expression.Reference{Kind: "state", Path: path[1:]}
	f.Advise("did you mean %q?", suggested.String())
	if n != nil {
		f.Rename(n, from, to, analysis.Respelt(n.Text[from:to], key, near, suggested), sure)
	}
	return suggested, true
}

// declared is what the state schema names where a path leaves it.
func declared(p *Pass, id pathtree.ID, place schema.Place) *analysis.Declaration {
	for range p.Plan.Paths.Depth(id) - 1 - place.Depth {
		id = p.Plan.Paths.Parent(id)
	}
	return analysis.Once(p.Store, id, func() *analysis.Declaration { return analysis.DeclarationOf(place) })
}
