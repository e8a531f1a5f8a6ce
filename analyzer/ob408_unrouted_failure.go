package analyzer

import (
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

var _ = register(Rule{
	Rule:  &diag.Rule{Code: "OB408", Name: "unrouted-failure", Default: diag.Warning, Optional: true},
	Needs: diag.Writes | diag.Reads | diag.Tools | diag.State,
	Run:   unroutedFailures,
})

// unroutedFailures reports calls whose tool may fail and whose failure nothing handles. It ignores
// expressions, plans that read †error, and calls that a model wrote, whose next request reports
// failures.
func unroutedFailures(p *Pass) {
	if p.Plan.Form != plan.PlanFile && p.Plan.Form != plan.CallList {
		return
	}
	if slices.ContainsFunc(p.Plan.Reads, func(r plan.Read) bool { return r.Ref.Kind == "error" }) {
		return
	}
	for _, call := range p.Plan.Calls {
		activity := p.Plan.Activities[call.Activity]
		if !unrouted(p.Plan, call) || activity != nil && activity.Kind == "expr" {
			continue
		}
		what := "the run fails with it"
		if route := call.FailureRoute(); route >= 0 {
			what += ", because the state schema doesn't allow its failure record at " + quote(compiler.Offered(p.Plan, call)[route])
		} else if len(call.Output) > 0 {
			what += ", and what reads " + quote(compiler.Offered(p.Plan, call)[0]) + " is skipped"
		}
		f := p.Report(call.ToolNode.Span(), "nothing handles a failure of %q: %s", call.Name, what).About(call.Label()).
			Advise("give it a failure route (\"… || %s\") that something reads, or let the plan's \"output\" read \"†error\"", failurePath)
		if p.takesFailures() {
			p.offerRoute(f, call)
		}
	}
}

// unrouted reports whether nothing of the call's own takes up a failure of its
// tool: an explicit one that has no failure route, or one where the state schema
// has no room for the record.
func unrouted(p *plan.Plan, call *plan.Call) bool {
	if call.Latent() {
		return false
	}
	route := call.FailureRoute()
	return route < 0 || slices.ContainsFunc(call.Output[route], func(path plan.Path) bool {
		return p.Paths.Kind(path.ID) == "state" && !admitsFailure(p, p.Paths.Segments(path.ID)[1:])
	})
}

// admitsFailure reports whether the state schema has room for the record of a
// failure at a path.
func admitsFailure(p *plan.Plan, path []expression.Segment) bool {
	if p.StateSchema == nil {
		return true
	}
	at := p.StateSchema.At(compiler.SchemaPath(path))
	return at.Possible && (at.Schema == nil || at.Schema.Accepts(map[string]any{"code": "error", "message": "it failed", "details": nil}))
}

// failurePath is where fixes send failures: calls that meet only there don't
// conflict.
const failurePath = "†state.error"

// takesFailures reports whether nothing but failures stands at failurePath, and
// the state schema has room for them.
func (p *Pass) takesFailures() bool {
	key := []expression.Segment{{Key: "error"}}
	if !admitsFailure(p.Plan, key) || p.flow.Begins("state", key) {
		return false
	}
	id, used := p.lookup(append([]expression.Segment{{Key: "state"}}, key...))
	return !used || !slices.ContainsFunc(p.Plan.Calls, func(c *plan.Call) bool {
		return slices.ContainsFunc(c.Output[:max(0, len(c.Output)-1)], func(route plan.Route) bool { return p.meets(route, id) }) ||
			len(c.Output) == 1 && p.meets(c.Output[0], id)
	})
}

// meets reports whether a route writes a path, or something above or below it.
func (p *Pass) meets(route plan.Route, id pathtree.ID) bool {
	return slices.ContainsFunc(route, func(path plan.Path) bool { return p.Plan.Paths.Overlap(path.ID, id) })
}

// offerRoute offers to send the failures of a call to failurePath. A call without
// an output gets a path for its result as well: only the last of several
// alternatives is a failure route.
func (p *Pass) offerRoute(f *diag.Diagnostic, call *plan.Call) {
	const words = "send failures to " + failurePath
	if n := call.OutputNode; n != nil && n != call.ToolNode { // else the tool itself fixes the path
		f.Offer(words, n, len(n.Text), len(n.Text), " || "+failurePath, false)
		return
	}
	result := expression.Segment{Key: strings.ReplaceAll(call.Name, "#", "_")}
	path := expression.Reference{Kind: "state", Path: []expression.Segment{result}}
	if _, used := p.lookup([]expression.Segment{{Key: "state"}, result}); used || call.OutputNode != nil || p.Plan.StateSchema != nil || !expression.IsBareKey(result.Key) {
		return
	}
	if edit, ok := addedKey(call.Node, call.ToolNode, "_outputPath", path.String()+" || "+failurePath); ok {
		f.Fixes = append(f.Fixes, diag.Fix{Message: words, Edits: []diag.Edit{edit}})
	}
}

// addedKey is the edit that gives a mapping one more key, behind the line or the
// item of one that it has.
func addedKey(mapping, after *source.Node, key, value string) (diag.Edit, bool) {
	if mapping.Alias || after.Alias || mapping.File != after.File {
		return diag.Edit{}, false
	}
	text, at := mapping.File.Text, after.Span().End
	added := quote(key) + ": " + quote(value)
	switch {
	case mapping.File.Format == source.JSON:
		added = ", " + added
	case text[mapping.Start] == '{':
		added = ", " + key + ": " + quote(value)
	default:
		for at < len(text) && text[at] != '\n' && text[at] != '\r' {
			at++
		}
		first := mapping.Fields[0].Key.Span().From()
		added = "\n" + strings.Repeat(" ", first.Column-1) + key + ": " + value
	}
	return diag.Edit{Span: source.Span{File: mapping.File, Start: at, End: at}, Text: added}, true
}
