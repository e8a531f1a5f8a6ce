package rules

import (
	"slices"

	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

var _ = Register(Rule{Rule: diag.BadSchema, Scope: document, Run: emptySchemas})

// emptySteps bounds the search for a value of one schema, and emptyBudget that for values of all schemas of a document.
const (
	emptySteps  = 2_000
	emptyBudget = 100_000
)

// emptySchemas reports schemas that no value satisfies: the innermost ones, where they
// stand. That a schema isn't valid is found when the document is read.
func emptySchemas(p *Pass) {
	places, reported := analysis.SchemaPlaces(p), []source.Span(nil)
	left := emptyBudget
	for _, at := range slices.Backward(places) { // the inner before the outer
		n := at.Node
		not := n.Get("not") // what refuses everything in so many words is meant to
		if at.Root == nil || at.Root.Compile() != nil || not != nil && (len(not.Fields) == 0 || not.Text == "true") {
			continue
		}
		if slices.ContainsFunc(reported,
			func(s source.Span) bool { return s.File == n.File && n.Start <= s.Start && s.End <= n.End }) {
			continue
		}
		if !schema.Empty(at.Root.At(at.Steps).Schema, emptySteps, &left) {
			continue
		}
		reported = append(reported, n.Span())
		p.Report(n.Span(), "no value fits this schema, a part of %s", at.What).
			Advise("its keywords contradict each other: change one of them, or write false to allow no value")
	}
}
