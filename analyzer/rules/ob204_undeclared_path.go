package rules

import (
	"fmt"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

var _ = Register(Rule{Rule: diag.UndeclaredPath, Run: undeclaredPaths})

// undeclaredPaths finds reads and writes of what a closed state schema leaves no room for.
func undeclaredPaths(p *Pass) {
	s := p.Plan.StateSchema
	if s == nil {
		return
	}
	known := map[pathtree.ID]bool{}
	isUndeclared := func(id pathtree.ID) bool {
		return flow.Once(known, id, func() bool {
			path := p.Plan.Paths.Segments(id)
			return len(path) > 1 && path[0].Key == "state" && !s.At(path[1:]).Possible
		})
	}
	for _, call := range p.Plan.Calls {
		for _, path := range call.Paths() {
			if !isUndeclared(path.ID) {
				continue
			}
			node := path.Node
			if node == call.ToolNode { // the tool itself fixes the path
				node = nil
			}
			of := expression.Reference{
				Kind: "state", Path: p.Plan.Paths.Segments(path.ID)[1:], Start: path.Start, End: path.End}
			undeclaredPath(p, call, path.Span(), "written", node, of)
		}
	}
	for i := range p.Plan.Reads {
		if r := &p.Plan.Reads[i]; isUndeclared(r.Path) {
			undeclaredPath(p, p.Flow.Caller(r), r.Span(), "read", r.Node, r.Ref)
		}
	}
}

// undeclaredPath reports a path, and offers the one that the schema names and that comes nearest to it, in the place of
// its text in a node, if that is the plan's own.
func undeclaredPath(p *Pass, call *plan.Call, at source.Span, done string, n *source.Node,
	of expression.Reference) {
	place := p.Plan.StateSchema.At(of.Path)
	step, above := of.Path[place.Depth], expression.Reference{Kind: "state", Path: of.Path[:place.Depth]}
	known := analysis.DeclarationOf(p, p.Plan.StateSchema, of.Path, place)
	says := fmt.Sprintf("allows no %q in %q", step.Key, above.String())
	if place.Depth > 0 && len(known.All) == 0 {
		says = fmt.Sprintf("says that %q has no parts", above.String())
	}
	f := p.ReportCall(call, at, "%q can't be %s: the state schema %s", of.String(), done, says).
		Advise("declare it in \"stateSchema\"")
	analysis.OfferKey(p, f, n, of, place.Depth, known.Suggester, true)
}
