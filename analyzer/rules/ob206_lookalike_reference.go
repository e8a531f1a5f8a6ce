package rules

import (
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/reference"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

var _ = Register(Rule{Rule: diag.LookalikeRef, Scope: document, Run: Lookalikes})

// Lookalikes finds strings that were meant as references and don't begin with †:
// where the tool takes no string, and where a reference stands as others write it.
func Lookalikes(p *Pass) {
	for _, call := range p.Plan.Calls {
		for _, f := range call.Params.Fields {
			eachText(f.Value.Node, []schema.Step{schema.Key(f.Key)},
				func(n *source.Node, steps []schema.Step) { lookalike(p, call, n, steps) })
		}
		for _, path := range call.Paths() {
			written := path.Node.Text[path.Start:path.End]
			if !strings.HasPrefix(written, "state.") || p.Flow.Begins("state", []expression.Segment{{Key: "state"}}) {
				continue
			}
			p.ReportCall(call, path.Span(), "a path without † begins below the state: this writes %q",
				p.Plan.Paths.String(path.ID)).Advise("write %q", "†"+written)
		}
	}
	if p.Plan.Output != nil {
		eachText(p.Plan.Output.Node, []schema.Step{},
			func(n *source.Node, steps []schema.Step) { lookalike(p, nil, n, steps) })
	}
	carriedOut(p, func(known *parameters, a *plan.Activity, _ []*plan.Call) {
		for i, n := range []*source.Node{a.Node.Get("exec").Get("argv"), a.Node.Get("http"),
			a.Node.Get("exec").Get("env"), a.Node.Get("exec").Get("cwd")} {
			if n != nil {
				eachText(n, []schema.Step{}, func(n *source.Node, steps []schema.Step) {
					if steps != nil && !(a.HTTP != nil && reference.IsExpression(n.Text)) { // the parameter itself
						unboundPlaces(p, known, a, n, i < 2)
					}
				})
			}
		}
	})
}

// eachText visits the texts of a value, and the keys of its objects: these without steps.
func eachText(n *source.Node, steps []schema.Step, visit func(n *source.Node, steps []schema.Step)) {
	if n.Kind == source.String {
		visit(n, steps)
	}
	for i, item := range n.Items {
		eachText(item, append(slices.Clip(steps), schema.Index(i)), visit)
	}
	for _, f := range n.Fields {
		visit(f.Key, nil)
		eachText(f.Value, append(slices.Clip(steps), schema.Key(f.Key.Text)), visit)
	}
}

// lookalike checks a text, or a key, of what a call passes.
func lookalike(p *Pass, call *plan.Call, n *source.Node, steps []schema.Step) {
	if steps == nil {
		if reference.IsExpression(n.Text) || reference.IsText(n.Text) {
			p.ReportCall(call, n.Span(), "this key is used as text: a key can't be an expression").
				Advise("write an object with a computed key as an expression: †({(†input.key): †input.value})")
		}
		return
	}
	if reference.IsExpression(n.Text) && strings.Contains(strings.ReplaceAll(n.Text, "††{", ""), reference.Opening) {
		p.ReportCall(call, n.Span(), "a text inside an expression isn't evaluated: its †{ … } stays as it is").
			Advise("join the text and the value: \"… \" + string(†state.x)")
	}
	noText := takesNoText(p, call, steps)
	m, ok := expression.Lookalike(n.Text, func(ref expression.Reference) bool {
		return noText && slices.Contains(reference.Kinds, ref.Kind) || isNamed(p, ref) || inItem(p, call, ref)
	})
	if !ok {
		return
	}
	f := p.ReportCall(call, n.Within(m.Start, m.End), "this is text, but %q looks like a reference",
		n.Text[m.Start:m.End])
	form := "an expression begins with †: write %q"
	if !reference.IsExpression(m.Intended) {
		form = "inside a text write %q"
	}
	f.Advise(form, m.Intended).Offer("make it a reference", n, 0, len(n.Text), m.Intended, m.Sure || noText)
}

// takesNoText reports whether a place in the parameters of a call is for values of other kinds than text.
func takesNoText(p *Pass, call *plan.Call, steps []schema.Step) bool {
	if call == nil || call.Tool == nil || call.Tool.Parameters == nil {
		return false
	}
	kinds := call.Tool.Parameters.At(steps).Schema.Kinds()
	return kinds != 0 && kinds&schema.String == 0
}

// inItem reports whether a reference names a field that the items of a call's list have.
func inItem(p *Pass, call *plan.Call, ref expression.Reference) bool {
	if call == nil || call.Each == nil || ref.Kind != "item" && (ref.Kind != "index" || len(ref.Path) > 0) {
		return false
	}
	return len(ref.Path) == 0 || slices.ContainsFunc(p.Flow.Elements(call.Each.List), func(v flow.Variant) bool {
		return v.Schema != nil && v.Schema.At(ref.Path[:1]).Named
	})
}

// isNamed reports whether the first key of a reference is one that a call writes or another reference reads, or that
// the document holds or declares.
func isNamed(p *Pass, ref expression.Reference) bool {
	if len(ref.Path) == 0 || ref.Kind != "input" && ref.Kind != "state" && !p.Flow.IsKind(ref.Kind) {
		return false
	}
	path := []expression.Segment{{Key: ref.Kind}}
	if p.Flow.IsKind(ref.Kind) {
		path = append([]expression.Segment{{Key: "data"}}, path...)
	}
	path = append(path, ref.Path[0])
	id, used := analysis.Lookup(p, path)
	used = used && (ref.Kind == "input" || len(p.Plan.Writers(id)) > 0)
	_, s := analysis.Initial(p, path[:len(path)-1])
	return used || p.Flow.Begins(path[0].Key, path[1:]) || s != nil && s.At(ref.Path[:1]).Named
}
