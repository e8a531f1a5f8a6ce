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

// restricts reports whether a schema has keywords that can contradict each other; what
// refuses everything in so many words is meant to.
func restricts(n *source.Node) bool {
	if not := n.Get("not"); not != nil && (len(not.Fields) == 0 || not.Text == "true") {
		return false
	}
	return slices.ContainsFunc(n.Fields, func(f source.Field) bool {
		return slices.Contains(contradictable, f.Key.Text) && !(f.Key.Text == "required" && requiresOnly(n))
	})
}

// requiresOnly reports whether nothing can contradict what a schema requires but the schema of
// one of these properties by itself, which is looked at on its own.
func requiresOnly(n *source.Node) bool {
	for _, f := range n.Fields {
		switch f.Key.Text {
		case "type", "required", "title", "description", "default", "examples", "_output":
		case "properties":
			for _, p := range f.Value.Fields {
				if p.Value.Kind != source.Object || p.Value.Get("$ref") != nil || p.Value.Get("$dynamicRef") != nil ||
					p.Value.Get("not") != nil {
					return false
				}
			}
		default:
			return false
		}
	}
	return true
}

var contradictable = []string{
	"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "enum",
	"const", "allOf", "anyOf", "oneOf", "not", "if", "minItems", "maxItems", "contains", "minContains", "maxContains",
	"minProperties", "maxProperties", "required", "dependentRequired", "propertyNames",
}
