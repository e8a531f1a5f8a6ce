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
	badMocks(p)
	places, reported := analysis.SchemaPlaces(p), []source.Span(nil)
	left := emptyBudget
	for _, at := range slices.Backward(places) { // the inner before the outer
		n := at.Node
		if at.Root == nil || !restricts(n) || at.Root.Compile() != nil {
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

// badMocks reports what the plan's own text gives as results of tools that their schemas don't accept.
func badMocks(p *Pass) {
	for _, t := range p.Plan.Tools {
		if t.NameNode == nil || t.NameNode.File != p.Plan.File || t.Output == nil || t.Output.Compile() != nil {
			continue
		}
		for _, mock := range t.Mocks {
			if v := t.Output.Validate(mock); v != nil {
				p.Report(t.NameNode.Span(), "the tool %q can't give what its \"_mock\" or \"examples\" give: %s",
					t.Name, v.Error()).As(diag.Warning).
					Advise("correct it, or the tool's \"_output\"")
				break
			}
		}
	}
}

// restricts reports whether a schema has keywords that can contradict each other; what
// refuses everything in so many words is meant to.
func restricts(n *source.Node) bool {
	if not := n.Get("not"); not != nil && (len(not.Fields) == 0 || not.Text == "true") {
		return false
	}
	return slices.ContainsFunc(n.Fields, func(f source.Field) bool {
		return slices.Contains(contradictable, f.Key.Text)
	})
}

var contradictable = []string{
	"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "enum",
	"const", "allOf", "anyOf", "oneOf", "not", "if", "minItems", "maxItems", "contains", "minContains", "maxContains",
	"minProperties", "maxProperties", "required", "dependentRequired", "propertyNames",
}
