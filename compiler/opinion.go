package compiler

import (
	"fmt"
	"maps"
	"slices"

	"github.com/obelus-dev/obelus/compiler/decode"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/wording"
)

// badOpinion is why an opinion can't be taken.
func badOpinion(at *source.Node, help, format string, args ...any) *diag.Diagnostic {
	d := diag.New(diag.BadAdvisor, at.Span().Head(), fmt.Sprintf(format, args...))
	d.Help = help
	return &d
}

// OpinionOf reads what an advisor said: a mapping of its "id", an "_instance" if it speaks for each, "calls", a text
// that holds a JSON object of weights by tool, and the rest, which is for its schema to judge. The fault is nil when
// there is none.
func OpinionOf(a *plan.Advisor, n *source.Node) (plan.Opinion, *diag.Diagnostic) {
	o := plan.Opinion{Advisor: a.ID, Said: map[string]any{}}
	bad := func(at *source.Node, help, format string, args ...any) (plan.Opinion, *diag.Diagnostic) {
		return plan.Opinion{}, badOpinion(at, help, format, args...)
	}
	if n == nil || n.Kind != source.Object {
		return bad(n, "write {\"id\": …, \"calls\": …}", "an opinion must be a mapping")
	}
	if id := n.Get("id"); id == nil || id.Kind != source.String || id.Text != a.ID {
		return bad(n, "give it the \"id\" of its advisor", "the opinion isn't of the advisor %q", Shown(a.ID))
	}
	instance := n.Get("_instance")
	switch {
	case a.Instanced && (instance == nil || instance.Kind != source.String || instance.Text == ""):
		return bad(n, "give one opinion for each instance, with its id under \"_instance\"",
			"the opinion of %q doesn't say for which instance it is", Shown(a.ID))
	case !a.Instanced && instance != nil:
		return bad(instance, "leave \"_instance\" out, or say isInstanced: true of the advisor",
			"the advisor %q speaks for all instances at once", Shown(a.ID))
	case instance != nil:
		o.Instance = instance.Text
	}
	for _, f := range n.Fields {
		if key := f.Key.Text; key != "id" && key != "_instance" && key != "calls" {
			o.Said[key] = f.Value.Value()
		}
	}
	if a.Schema != nil && a.Schema.Compile() == nil {
		if v := a.Schema.Validate(o.Said); v != nil {
			return bad(n.Along(v.Path), "give what the advisor's \"schema\" asks for",
				"the opinion of %q isn't what its schema asks for: %s", Shown(a.ID), v.Error())
		}
	}
	votes, fault := votes(a, n.Get("calls"))
	if fault != nil {
		return plan.Opinion{}, fault
	}
	o.Votes = votes
	return o, nil
}

// votes reads weights by tool, from a text that holds JSON or from a mapping.
func votes(a *plan.Advisor, n *source.Node) (map[string]float64, *diag.Diagnostic) {
	const form = "write \"calls\" as text that holds a JSON object of weights: \"{\\\"tool\\\": 10}\""
	weights, problems := n, []source.Problem(nil)
	if n != nil && decode.IsText(n) {
		weights, problems = source.Parse(source.NewFile("calls.json", []byte(n.Text)), source.DefaultLimits())
	}
	if at := slices.IndexFunc(problems, func(p source.Problem) bool { return !p.Warning }); at >= 0 {
		return nil, badOpinion(n, form, "the votes of %q aren't JSON: %s", Shown(a.ID), problems[at].Message)
	}
	if weights == nil || weights.Kind == source.Null || weights.Kind == source.String && !decode.IsText(weights) {
		return nil, nil
	}
	if weights.Kind != source.Object {
		return nil, badOpinion(n, form, "the votes of %q are %s, not an object of weights by tool", Shown(a.ID),
			weights.Kind)
	}
	votes := make(map[string]float64, len(weights.Fields))
	for _, f := range weights.Fields {
		tool := f.Key.Text
		if f.Value.Kind != source.Number {
			return nil, badOpinion(n,
				"a weight is a number, the higher the better; leave out the tools that it says nothing of",
				"the vote of %q on %q is %s, not a number", Shown(a.ID), Shown(tool), f.Value.Kind)
		}
		if near, known := callable(a.Plan, tool); !known {
			help := "vote on the tools that there are"
			if near != "" {
				help = fmt.Sprintf("did you mean %q?", Shown(near, tool))
			}
			return nil, badOpinion(n, help, "%q votes on %q, and there is no such tool", Shown(a.ID), Shown(tool, near))
		}
		votes[tool] = f.Value.Float()
	}
	return votes, nil
}

// callable reports whether a call can use a tool: it is declared, an activity has its name, or tools aren't judged.
// Otherwise it names the nearest that there is, or "".
func callable(p *plan.Plan, tool string) (near string, ok bool) {
	if p == nil || !p.ToolsDeclared || p.Tool(tool) != nil || p.Activities[tool] != nil {
		return "", true
	}
	near, _ = naming.Nearest(tool, callableNames(p))
	return near, false
}

// callableNames are the names that calls can use: those of activities and tools.
func callableNames(p *plan.Plan) []string {
	names := slices.Sorted(maps.Keys(p.Activities))
	for _, tool := range p.Tools {
		names = append(names, tool.Name)
	}
	return names
}

// quotedList names the first of some things for a message.
func quotedList(names []string, most int) string {
	shown := make([]string, min(len(names), most+1))
	for i := range shown {
		shown[i] = Shown(names[i])
	}
	return wording.Names(shown, most)
}
