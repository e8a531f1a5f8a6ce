package analyzer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/analyzer/rules"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/bind"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/wording"
)

// Instances are judged as plans of their own, and equal findings are merged. Those that run the same calls on values of
// the same kinds are judged as one.

// A group is instances that are judged as one.
type group struct {
	members []plan.Instance // one without id stands for those that come with the run
	plan    *plan.Plan      // as they run it, with the values that the first of them begins with
	found   []diag.Diagnostic
}

// maxJudged bounds how many calls are judged in all groups; in six times as many more a policy's flows are.
// Dependencies and paths count as well, eight as one call.
const maxJudged = 30_000

// groupsOf are those of a plan, in the order of the text, those with few calls of their own first.
func groupsOf(p *plan.Plan) (all []*group) {
	known := map[[2]string]*group{} // by the id, or else by the kinds of the values
	add := func(one plan.Instance) {
		key, own := [2]string{one.ID}, bind.CallsOf(p, one.ID) > bind.CallsOf(p, "") || bind.IsParticular(p, &one)
		if !own {
			var b strings.Builder
			if !p.AwaitsInstances { // of one that comes with the run nobody knows what it begins with
				writeKinds(&b, p.Paths, pathtree.Root, map[string]any{"input": one.Input, "state": one.State})
			}
			key = [2]string{"", b.String()}
		}
		if known[key] == nil {
			known[key] = &group{}
			all = append(all, known[key])
		}
		known[key].members = append(known[key].members, one)
	}
	for _, one := range p.Instances {
		add(one)
	}
	for _, call := range p.Calls {
		if call.Instance != "" && known[[2]string{call.Instance}] == nil {
			add(plan.Instance{ID: call.Instance})
		}
	}
	if p.AwaitsInstances {
		add(plan.Instance{})
	}
	slices.SortStableFunc(all, func(a, b *group) int {
		return bind.CallsOf(p, a.members[0].ID) - bind.CallsOf(p, b.members[0].ID)
	})
	return all
}

// writeKinds writes of what kinds the parts of a value are that a plan names, and how long the lists are.
func writeKinds(b *strings.Builder, paths *pathtree.Tree, at pathtree.ID, value any) {
	b.WriteString(schema.KindOf(value).String())
	for child := range paths.Children(at) {
		step := paths.Segment(child)
		if list, isList := value.([]any); isList && step.IsIndex {
			fmt.Fprint(b, len(list))
		}
		if part, there := pathtree.Step(value, step); there {
			fmt.Fprintf(b, "{%d ", child)
			writeKinds(b, paths, child, part)
			b.WriteByte('}')
		}
	}
}

// planFor is the plan as some instances run it that are judged as one.
func planFor(p *plan.Plan, members []plan.Instance) *plan.Plan {
	first := &members[0]
	one := *bind.ForInstance(p, first.ID)
	if one.Instances, one.InstanceAt = members, nil; p.AwaitsInstances {
		return &one
	}
	if p.Input != nil || p.InputSchema != nil {
		one.Input = bind.Overlay(p.Input, first.Input)
	}
	one.State = bind.Overlay(p.State, first.State)
	return &one
}

// byGroup judges a plan for each of its groups; the first pass was over the whole.
func byGroup(p *plan.Plan, all []*group, found []diag.Diagnostic, first *Pass,
	c Config) []diag.Diagnostic {
	var inputs any // what the input of some instance holds
	for _, o := range all {
		inputs = bind.Overlay(inputs, o.members[0].Input)
	}
	schemas, judged, left := flow.NewSchemas(), 0, max(maxJudged, 2*len(p.Calls))
	for _, o := range all {
		left -= bind.CallsOf(p, o.members[0].ID)
		full := left >= 0
		if !full && len(p.Policies) == 0 || left < -6*maxJudged {
			break // its plan isn't made for nothing
		}
		o.plan = planFor(p, o.members)
		pass := analysis.NewPass(o.plan, analysis.UnknownFacts(o.plan, about(o.plan, found)))
		pass.Surroundings, pass.Flow.Schemas = first.Surroundings, schemas
		known := o.members[0].Node != nil && !p.AwaitsInstances
		pass.Flow.Lacks = func(path []expression.Segment) bool {
			return known && flow.Holds(inputs, path) && !pass.Flow.Begins("input", path)
		}
		c.apply(pass, func(r *Rule) bool { return full && r.ByInstance() || r.Code == "OB701" || r.Code == "OB702" })
		if full {
			judged++
		}
		left -= (o.plan.Graph.Edges()+o.plan.Paths.Len())/8 + pass.Flow.Spent() +
			int(*analysis.Kept[replayed](pass.Store))
		for _, pair := range pass.Ordered {
			first.Ordered = append(first.Ordered, [2]int{o.plan.Calls[pair[0]].Place, o.plan.Calls[pair[1]].Place})
		}
		o.found = pass.Found
	}
	merged := mergeFindings(p, all, judged, c.rules())
	if judged < len(all) {
		merged.Report(analysis.NotAnalysed, p.CallsNode.Span().Head(),
			"not all instances are analysed: their calls or values differ in %d ways, of which %d were judged",
			len(all), judged).Advise("split the plan into plans of fewer instances")
	}
	return merged
}

// about leaves out the findings about calls that an instance doesn't run, but not about one that nobody runs.
func about(one *plan.Plan, found []diag.Diagnostic) []diag.Diagnostic {
	entirePlan := one.Full()
	if entirePlan == one || len(found) == 0 {
		return found
	}
	return slices.DeleteFunc(slices.Clone(found), func(d diag.Diagnostic) bool {
		return d.Rule != diag.BadInstance && d.Span.File == entirePlan.File &&
			analysis.CallAt(one, d.Span.Start) == nil && analysis.CallAt(entirePlan, d.Span.Start) != nil
	})
}

// mergeFindings joins the findings of the groups. Where their messages differ the first is kept.
func mergeFindings(p *plan.Plan, all []*group, judged int, rules []*Rule) (merged diag.Findings) {
	type key struct {
		rule     *diag.Rule
		severity diag.Severity
		at       source.Span
		call     string
		idle     string // of what serves no purpose: why
		nth      int    // of those with all else the same
	}
	targeted, idle := map[string]bool{}, map[*diag.Rule]bool{}
	for _, call := range p.Calls {
		targeted[call.Name] = call.Instance != ""
	}
	for _, r := range rules {
		idle[r.Rule] = r.Scope == Idle
	}
	var keys []key
	in, findings := map[key][]*group{}, map[key]diag.Diagnostic{}
	for _, o := range all {
		count := map[key]int{}
		for _, d := range o.found {
			k := key{rule: d.Rule, severity: d.Severity, at: d.Span, call: d.Call}
			if idle[d.Rule] {
				k.idle = d.Message
			}
			count[k]++
			k.nth = count[k]
			if in[k] == nil {
				keys, findings[k] = append(keys, k), d
			}
			in[k] = append(in[k], o)
		}
	}
	for _, k := range keys {
		d, of := findings[k], in[k]
		missing := d.Rule == diag.DanglingReference || d.Rule == diag.BadScope
		switch {
		case targeted[d.Call] || len(of) == len(all) || len(of) >= judged && !idle[d.Rule] && !missing:
			merged = append(merged, d)
		case idle[d.Rule]: // it may serve a purpose elsewhere
		case d.Severity == diag.Error && missing:
			merged = append(merged, lacking(p, d, of)...)
		case d.Rule != diag.DanglingReference:
			d.Message += " (in " + named(p, of) + ")"
			d.Fixes = slices.Clone(d.Fixes)
			for i := range d.Fixes { // other instances may need the text as it is
				d.Fixes[i].Safe = false
			}
			merged = append(merged, d)
		}
	}
	return merged
}

// lacking reports a reference that some instances can't satisfy. It is no finding where the expression says that it may
// be missing, nor where the call has a condition, which may see to that.
func lacking(p *plan.Plan, d diag.Diagnostic, of []*group) (found diag.Findings) {
	at := slices.IndexFunc(p.Reads, func(r plan.Read) bool { return r.Span() == d.Span })
	if at < 0 || strings.Contains(d.Span.Text(), "?.") ||
		p.Reads[at].Call >= 0 && compiler.Condition(p.Calls[p.Reads[at].Call]) != nil {
		return nil
	}
	ref := &p.Reads[at].Ref
	found.Report(rules.MaybeMissing.Rule, d.Span, "%q has a value in some instances only: it is missing in %s",
		ref.String(), named(p, of)).
		Advise("set it in every instance or in the shared %s, or add a fallback", ref.Kind).About(d.Call)
	return found
}

// named are the instances of some groups.
func named(p *plan.Plan, of []*group) string {
	var ids []string
	for _, o := range of {
		for _, one := range o.members {
			ids = append(ids, one.ID)
		}
	}
	slices.SortStableFunc(ids, func(a, b string) int { return p.InstanceAt[a] - p.InstanceAt[b] })
	var some, parts []string
	for _, id := range ids {
		if id != "" {
			some = append(some, compiler.Shown(id))
		}
	}
	if len(some) > 0 {
		parts = append(parts, map[bool]string{true: "the instance ", false: "the instances "}[len(some) == 1]+
			analysis.QuotedNames(some))
	}
	if len(some) < len(ids) {
		parts = append(parts, "instances that no call names")
	}
	return wording.And(parts)
}
