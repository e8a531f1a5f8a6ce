package label

import (
	"fmt"
	"slices"

	"github.com/obelus-dev/obelus/compiler/effects"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/kinds"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/policy"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

// Rules answer what policies say of calls.
type rules []*policy.Policy

func (r rules) strict() bool {
	return slices.ContainsFunc(r, func(one *policy.Policy) bool { return one.Strict })
}

// A limit is the worst label that a parameter accepts, and which rules say so: nil for the default.
type limit struct {
	policy.Label
	by [respects]*policy.Rule
}

// effects are those of a call as the policies of its plan see them. A policy lowers them only if it counts.
func (r rules) effects(p *plan.Plan, c *plan.Call) (e policy.Effects) {
	switch {
	case c.Latent(): // what a model is asked leaves the machine
		e = policy.Read | policy.External
	case !isPure(p, c):
		effect := effects.Of(p, c, nil) // policies have their say in it
		switch effect.Kind {
		case effects.ReadOnly:
			e = policy.Read
		case effects.Writes:
			e = policy.Write
		default:
			e = policy.Write | policy.Destructive
		}
		if effect.OpenWorld {
			e |= policy.External
		}
		return e
	}
	var said policy.Effects
	for _, one := range r {
		for _, t := range one.Tools {
			if t.Effects != nil && Carries(c, t.Name) {
				said |= *t.Effects
				if one.Counts {
					e = 0
				}
			}
		}
	}
	return e | said
}

// isPure reports whether a call itself does nothing and brings nothing in: of a plan its
// calls do.
func isPure(p *plan.Plan, c *plan.Call) bool {
	return c.Delegate != "" || kinds.IsPure(p.Activities[c.Activity])
}

// Carries reports whether a policy that names a tool speaks of a call: of its tool, or of
// what carries it out.
func Carries(c *plan.Call, tool string) bool {
	return tool != "" && (c.ToolName == tool || c.Activity == tool)
}

// vouched reports whether a policy that names a tool may lower the effects of a call.
func vouched(p *plan.Plan, c *plan.Call, tool string) bool {
	if c.Activity == "" {
		return c.ToolName == tool
	}
	a := p.Activities[c.Activity]
	if a == nil || !effects.Vouches(plan.SourceOf(a)) && !kinds.IsPure(a) {
		return false
	}
	return c.Activity == tool || c.Tool != nil && c.Tool.Name == tool && effects.Vouches(c.Tool.Origin) &&
		effects.MayRun(c.Tool, c.Activity)
}

// output is the label that a call adds to its result, and its source.
func (r rules) output(p *plan.Plan, c *plan.Call) (l policy.Label, says string) {
	standard, says := policy.Label{}, "nothing says otherwise"
	if !c.Latent() && !isPure(p, c) && effects.Of(p, c, nil).OpenWorld {
		standard[policy.Integrity] = policy.Untrusted
	}
	var said policy.Label
	var counts [respects]bool
	declared, trusted := false, false
	for _, one := range r {
		for _, t := range one.Tools {
			if !Carries(c, t.Name) || t.Output == (policy.Said{}) {
				continue
			}
			declared, trusted = true, trusted || one.Counts
			said, says = said.Join(t.Output.Over(policy.Label{})), one.Title()+" says so"
			for k, level := range t.Output {
				counts[k] = counts[k] || level != nil && one.Counts && vouched(p, c, t.Name)
			}
		}
	}
	l = said.Join(standard)
	for k := range counts {
		if counts[k] {
			l[k] = said[k]
		}
	}
	if declared && said[policy.Integrity] < l[policy.Integrity] {
		says = "a policy can't say otherwise of an activity that the plan defines"
		if !trusted {
			says = "the policy that says otherwise isn't trusted: run \"obelus trust\", or name it with --policy"
		}
	}
	return l, says
}

// limit is what a parameter of a call takes. In each policy a rule that names the tool counts before one that names
// an effect, and one that names the parameter before one about any; of several policies the strictest. What is secret
// mustn't leave unless a policy that counts says that it may.
func (r rules) limit(c *plan.Call, effects policy.Effects, parameter string) limit {
	all, cleared := limit{Label: policy.Worst}, false
	for _, one := range r {
		own, best := limit{Label: policy.Worst}, [respects]int{}
		for i := range one.Requires {
			rule := &one.Requires[i]
			rank := r.speaks(rule, c, effects)
			said, ok := rule.Of(parameter)
			if rank == 0 || !ok {
				continue
			}
			if _, named := rule.Parameters[parameter]; named {
				rank++
			}
			for k, level := range said {
				if level != nil && (rank > best[k] || rank == best[k] && *level < own.Label[k]) {
					best[k], own.Label[k], own.by[k] = rank, *level, &rule.Rule
				}
			}
		}
		cleared = cleared || one.Counts && own.by[policy.Confidentiality] != nil
		for k, by := range own.by {
			if by != nil && own.Label[k] <= all.Label[k] {
				all.Label[k], all.by[k] = own.Label[k], by
			}
		}
	}
	if most := &all.Label[policy.Confidentiality]; !cleared && effects&policy.External != 0 && *most == policy.Secret {
		*most, all.by[policy.Confidentiality] = policy.Private, nil
	}
	return all
}

// speaks ranks how closely a rule speaks of a call: 0 for not at all.
func (r rules) speaks(rule *policy.Requires, c *plan.Call, effects policy.Effects) (rank int) {
	for _, s := range rule.Tools {
		switch {
		case s.Tool != "" && Carries(c, s.Tool):
			return 3
		case s.Tool == "" && policy.Step{Effects: effects}.IsMet(s):
			rank = 1
		}
	}
	return rank
}

// endorsed reports whether a policy that counts endorses a call in some way.
func (r rules) endorsed(c *plan.Call, is func(*policy.Endorse) bool) bool {
	return slices.ContainsFunc(r, func(one *policy.Policy) bool {
		return one.Counts &&
			slices.ContainsFunc(one.Endorse, func(e policy.Endorse) bool { return Carries(c, e.Tool) && is(&e) })
	})
}

// Shown reports whether a person must be asked about a call because a policy trusts parameters that a
// person approved. The plan's own text was approved with it, unless a model wrote it.
func Shown(p *plan.Plan, c *plan.Call) bool {
	return len(p.Policies) > 0 && rules(p.Policies).endorsed(c, func(e *policy.Endorse) bool {
		return e.Person && slices.ContainsFunc(c.Params.Fields, func(f plan.TemplateField) bool {
			return f.Key == e.Parameter && (f.Value.Live || p.Form == plan.Replan)
		})
	})
}

// Unendorsed says why a result, or what a call is given, isn't what the policies take for trusted of it, "" where it
// is: such a result is none.
func Unendorsed(p *plan.Plan, c *plan.Call, value any, isResult bool, a *schema.Allowance) string {
	for _, one := range p.Policies {
		for i := range one.Endorse {
			e := &one.Endorse[i]
			if e.As == nil || !Carries(c, e.Tool) || isResult != (e.Parameter == "") {
				continue
			}
			path := e.Output
			if !isResult {
				path = []expression.Segment{{Key: e.Parameter}}
			}
			if part, there := pathtree.Walk(value, path); there {
				if v := e.As.ValidateWithin(part, a); v != nil {
					return fmt.Sprintf("the rule %q refuses it: %s", e.Name, v.Error())
				}
			}
		}
	}
	return ""
}

// judge finds what a call takes that it mustn't.
func (l *Labels) judge(c *plan.Call, is *ofCall) {
	if is.takes == nothing && is.control == nothing {
		return
	}
	effects := l.rules.effects(l.Plan, c)
	strictest := limit{Label: policy.Worst} // the condition must be as trusted as the parameters
	take := func(name string, v value, at *source.Node) {
		most := l.rules.limit(c, effects, name)
		is := func(person bool) func(*policy.Endorse) bool {
			return func(e *policy.Endorse) bool { return e.Parameter == name && e.Person == person }
		}
		if l.rules.endorsed(c, is(true)) {
			most = limit{Label: policy.Worst}
		}
		for k, level := range most.Label {
			if level < strictest.Label[k] {
				strictest.Label[k], strictest.by[k] = level, most.by[k]
			}
		}
		if l.rules.endorsed(c, is(false)) {
			// one of a few values; whether the call runs is another matter
			most.Label[policy.Integrity] = policy.Untrusted
		}
		l.forbid(Flow{Call: c, Parameter: name, At: at.Span()}, v.data(), most)
	}
	for i, f := range c.Params.Fields {
		take(f.Key, is.parameters[i], f.Value.Node)
	}
	if is.context != nothing {
		take(Context, is.context, c.ToolNode)
	}
	if len(c.Params.Fields) == 0 {
		take(policy.AnyParameter, nothing, c.ToolNode)
	}
	if effects&(policy.Destructive|policy.External) != 0 {
		l.forbid(Flow{Call: c, At: c.ToolNode.Span(), Control: true, Strict: l.rules.strict()}, is.control, strictest)
	}
}

// forbid notes what is worse than it may be: one flow for each of the two respects.
func (l *Labels) forbid(f Flow, is value, most limit) {
	for r := range respects {
		if worst := is.of(r); worst != nil && worst.level > most.Label[r] {
			f.Of, f.Respect, f.Is, f.Most = f.Call, r, worst.level, most.Label[r]
			f.Rule, f.Way = most.by[r], worst.way()
			l.Flows = append(l.Flows, f)
		}
	}
}

// Beginning is what a run of a plan begins with: what a model that writes its first calls
// is shown. Of what calls of earlier runs did, which a process record holds, nothing is
// known but that it happened, so that it is as bad as a value can be. It is nil for a plan
// that stands under no policy.
func Beginning(p *plan.Plan) *policy.Live {
	l := begin(p)
	if l == nil {
		return nil
	}
	live := &policy.Live{Values: map[string]policy.LiveValue{}}
	live.See(l.start.all.data().label(), "what stood there from the start")
	for _, all := range p.History {
		for _, w := range all {
			from := fmt.Sprintf("%q of the record", w.Tool)
			live.See(policy.Worst, from)
			if w.Path != pathtree.Root {
				live.Write(p.Paths.Segments(w.Path), policy.Worst, from)
			}
		}
	}
	return live
}

// Unknown is what may stand anywhere where nothing is known of it.
func Unknown() *policy.Live {
	live := &policy.Live{Values: map[string]policy.LiveValue{}}
	for _, kind := range []string{"input", "state", "data", "error", "advice"} {
		live.Write([]expression.Segment{{Key: kind}}, policy.Worst, "it isn't known what it was made of")
	}
	return live
}

// Leave records the labels that calls leave for later ticks: at the paths that they write, and in what
// a model is shown. Happened reports whether a call has run.
func (l *Labels) Leave(live *policy.Live, happened func(call int) bool) {
	for i, c := range l.Plan.Calls {
		live.See(l.calls[i].control.label(), fmt.Sprintf("what became of %q", c.Name))
		if !happened(i) {
			continue
		}
		result, from := l.Result(i), fmt.Sprintf("%q", c.Name)
		live.See(result.Join(l.Sees(i)), from)
		live.Write([]expression.Segment{{Key: "error"}}, result.Join(l.Sees(i)), from)
		for _, path := range c.Paths() {
			live.Write(l.Plan.Paths.Segments(path.ID), result, from)
		}
	}
}
