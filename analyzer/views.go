package analyzer

import (
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/analyzer/rules"
	"github.com/obelus-dev/obelus/compiler/bind"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

// A viewResult is what was found in one view.
type viewResult struct {
	*analysis.ViewData
	ids     []string // the instances that have it
	unnamed bool     // so have those that come with the run and have no calls of their own
	found   []diag.Diagnostic
}

// A sharedPass is what the passes over all views of a plan work out together.
type sharedPass struct {
	entirePlan *plan.Plan
	schemas    *flow.Schemas
	inputs     map[pathtree.ID]bool // some instance's input holds the path
	first      *Pass                // the whole plan's, which knows the tools
}

// within begins the pass over the view that an instance has.
func (c *sharedPass) within(view *plan.Plan, id string, found []diag.Diagnostic) *Pass {
	found = about(view, found)
	if view == c.entirePlan { // not all of its instances need run all of its calls
		one := *view
		one.Instances = slices.DeleteFunc(slices.Clone(view.Instances), func(i plan.Instance) bool {
			return bind.IsParticular(c.entirePlan, &i) || view.Targeted() && i.ID != id
		})
		view = &one
	}
	p := analysis.NewPass(view, analysis.UnknownFacts(view, found))
	p.Surroundings, p.Flow.Schemas = c.first.Surroundings, c.schemas
	p.View = analysis.NewView(c.first)
	p.Flow.Lacks = func(id pathtree.ID, path []expression.Segment) bool { return c.lacksInput(view, p.Plan, id, path) }
	return p
}

// lacksInput reports whether the input of no instance with this view holds what
// that of another does: no parameter of the plan, then, but something forgotten.
func (c *sharedPass) lacksInput(view, one *plan.Plan, id pathtree.ID, path []expression.Segment) bool {
	if one.AwaitsInstances {
		return false
	}
	// an unknown instance may have it
	given := func(i plan.Instance) bool { return i.Node == nil || flow.Holds(i.Input, path) }
	somewhere, asked := c.inputs[id]
	if !asked {
		somewhere = slices.ContainsFunc(c.entirePlan.Instances, given)
		c.inputs[id] = somewhere
	}
	return somewhere && !slices.ContainsFunc(view.Instances, given)
}

// byView judges a plan view by view.
func byView(entirePlan *plan.Plan, found []diag.Diagnostic, first *Pass, config Config) []diag.Diagnostic {
	c := &sharedPass{entirePlan, flow.NewSchemas(), map[pathtree.ID]bool{}, first}
	var all []*viewResult
	known := map[*plan.Plan]*viewResult{}
	ids, own := instancesOf(entirePlan)
	order := map[string]int{}
	for i, id := range ids {
		order[id] = i
	}
	// Those with few calls of their own come first, as more of them are judged within
	// the budget; those with none share one view.
	slices.SortStableFunc(ids, func(a, b string) int { return own[a] - own[b] })
	budget, skipped := max(analysis.MaxViewed, 2*len(entirePlan.Calls)), 0
	look := func(id string) *viewResult {
		if budget < 0 && own[id] > 0 {
			return nil // its view isn't made for nothing
		}
		view := bind.ForInstance(entirePlan, id)
		if v := known[view]; v != nil {
			return v
		}
		if budget -= len(view.Calls) + (view.Graph.Edges()+view.Paths.Len())/8; budget < 0 && len(all) > 0 {
			return nil
		}
		pass := c.within(view, id, found)
		config.apply(pass, (*Rule).ByView)
		budget -= int(*analysis.Kept[replayed](pass.Store)) + pass.Flow.Spent()
		for _, pair := range pass.Ordered {
			first.Ordered = append(first.Ordered, [2]int{view.Calls[pair[0]].Place, view.Calls[pair[1]].Place})
		}
		v := &viewResult{ViewData: pass.View, found: pass.Found}
		if all = append(all, v); view == entirePlan || len(view.Instances) != 1 { // else nobody else has it
			known[view] = v
		}
		return v
	}
	for _, id := range ids {
		if v := look(id); v != nil {
			v.ids = append(v.ids, id)
		} else {
			skipped++
		}
	}
	if entirePlan.AwaitsInstances {
		if v := look(""); v != nil {
			v.unnamed = true
		}
	}
	m := viewMerger{plan: entirePlan, views: all, order: order, targeted: map[string]bool{}, rules: config.rules()}
	for _, call := range entirePlan.Calls {
		m.targeted[call.Name] = call.Instance != ""
	}
	merged := m.merge()
	if skipped > 0 {
		merged.Report(analysis.NotAnalysed, entirePlan.CallsNode.Span().Head(),
			"the plan was judged for %d of its instances and not fully analysed for %d, whose calls differ",
			len(ids)-skipped, skipped).
			Advise("split it into plans of fewer instances")
	}
	return merged
}

// instancesOf lists the instances that are known of: those of the plan, and those
// that calls name, in the order of the text. It counts the calls of each.
func instancesOf(p *plan.Plan) (ids []string, own map[string]int) {
	own = map[string]int{}
	known := map[string]bool{"": true}
	add := func(id string) {
		if !known[id] {
			known[id] = true
			ids = append(ids, id)
		}
	}
	for i := range p.Instances {
		add(p.Instances[i].ID)
	}
	for _, call := range p.Calls {
		add(call.Instance)
		own[call.Instance]++
	}
	return ids, own
}

// about leaves out the findings about calls that a view doesn't have, but not about one that no view has.
func about(view *plan.Plan, found []diag.Diagnostic) []diag.Diagnostic {
	entirePlan := view.Full()
	if entirePlan == view || len(found) == 0 {
		return found
	}
	return slices.DeleteFunc(slices.Clone(found), func(d diag.Diagnostic) bool {
		return d.Rule != diag.BadInstance && d.Span.File == entirePlan.File &&
			analysis.CallAt(view, d.Span.Start) == nil && analysis.CallAt(entirePlan, d.Span.Start) != nil
	})
}

// A viewMerger joins the findings of several views.
type viewMerger struct {
	plan     *plan.Plan
	views    []*viewResult
	order    map[string]int  // of instances in the text
	targeted map[string]bool // the names of the calls of one instance
	rules    []*Rule
}

// A sharedFinding is a finding, and the views that have it in ascending order. Messages may
// differ between views; the first is kept.
type sharedFinding struct {
	diag.Diagnostic
	views []int
}

func (m *viewMerger) merge() (merged diag.Findings) {
	reported := map[source.Span]bool{}
	for _, s := range m.shared() {
		key, views := analysis.KeyOf(&s.Diagnostic), m.having(&s.Diagnostic)
		only := func(v *viewResult) []string { return v.Some[key] }
		switch {
		case len(s.views) < views &&
			slices.ContainsFunc(m.rules, func(r *Rule) bool { return r.Rule == s.Rule && r.Scope == Idle }):
		case m.isMissing(s, views):
			if !reported[s.Span] {
				reported[s.Span] = true
				merged = append(merged, m.missing(s))
			}
		case len(s.views) < views || slices.ContainsFunc(s.views, func(i int) bool { return only(m.views[i]) != nil }):
			d := s.Diagnostic
			var where []string
			ids, unnamed := m.instances(s.views, only)
			if len(ids) > 0 {
				where = append(where, analysis.InInstances(ids))
			}
			if unnamed {
				where = append(where, "in instances that no call names")
			}
			d.Message += " (" + strings.Join(where, " and ") + ")"
			d.Fixes = slices.Clone(d.Fixes)
			for i := range d.Fixes { // other instances may need the text as it is
				d.Fixes[i].Safe = false
			}
			merged = append(merged, d)
		default:
			merged = append(merged, s.Diagnostic)
		}
	}
	return merged
}

// shared collects the findings of all views. Of several with one key in a view, the first is
// the same as the first in other views, and so on.
func (m *viewMerger) shared() (all []*sharedFinding) {
	type numbered struct {
		analysis.FindingKey
		n int
	}
	known := map[numbered]*sharedFinding{}
	for i, v := range m.views {
		count := map[analysis.FindingKey]int{}
		for _, d := range v.found {
			key := numbered{analysis.KeyOf(&d), count[analysis.KeyOf(&d)]}
			count[key.FindingKey]++
			if known[key] == nil {
				known[key] = &sharedFinding{Diagnostic: d}
				all = append(all, known[key])
			}
			known[key].views = append(known[key].views, i)
		}
	}
	return all
}

// having counts the views that have the call of a finding.
func (m *viewMerger) having(d *diag.Diagnostic) int {
	if m.targeted[d.Call] {
		return 1
	}
	if d.Call == "" && d.Span.File == m.plan.File {
		if call := analysis.CallAt(m.plan, d.Span.Start); call != nil && call.Instance != "" {
			return 1
		}
	}
	return len(m.views)
}

// instances are those that some views are of, in the order of the text, or only some of each.
func (m *viewMerger) instances(views []int, only func(*viewResult) []string) (ids []string, unnamed bool) {
	for _, i := range views {
		v := m.views[i]
		if some := only(v); some != nil {
			ids = append(ids, some...)
		} else {
			ids, unnamed = append(ids, v.ids...), unnamed || v.unnamed
		}
	}
	slices.SortFunc(ids, func(a, b string) int { return m.order[a] - m.order[b] })
	return ids, unnamed
}

// isMissing reports whether a finding is about a reference that some instances satisfy and others don't.
func (m *viewMerger) isMissing(s *sharedFinding, views int) bool {
	reference, known := m.views[s.views[0]].Missing[s.Span]
	if !known || s.Rule == rules.MaybeMissing.Rule {
		return known && reference.Ids != nil
	}
	return (s.Rule == diag.DanglingReference || s.Rule == diag.BadScope) && len(s.views) < views
}

// missing reports which instances can't satisfy a reference.
func (m *viewMerger) missing(s *sharedFinding) diag.Diagnostic {
	var views []int
	for i, v := range m.views {
		if _, known := v.Missing[s.Span]; known {
			views = append(views, i)
		}
	}
	without, unnamed := m.instances(views, func(v *viewResult) []string { return v.Missing[s.Span].Ids })
	p := analysis.NewPass(m.plan, 0)
	p.Rule = rules.MaybeMissing.Rule
	f := rules.InSomeOnly(p, m.views[s.views[0]].Missing[s.Span].Read, without, unnamed)
	f.Call, f.Severity = s.Call, min(s.Severity, f.Severity)
	return *f
}
