package rules

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/kinds"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

var _ = Register(Rule{Call: badParameters}.As("OB504", "bad-parameter", diag.Error))

// badParameters reports literals that the tool's schema rejects, at the value that is wrong, and the results that a
// solution already holds where the tool's _output rejects them. What an expression will give isn't judged here.
func badParameters(p *Pass, call *plan.Call) {
	produced(p, call)
	unfitArguments(p, call)
	for _, known := range analysis.Takers(p, call) {
		if badParametersOf(p, call, known) {
			break // what takes them next would say the same of most
		}
	}
}

// unfitArguments reports values that can't be program arguments or parts of a request.
func unfitArguments(p *Pass, call *plan.Call) {
	a := p.Plan.Activities[call.Activity]
	if a == nil || a.HTTP == nil && len(a.Parameters) == 0 {
		return
	}
	passed, places := map[string]any{}, map[string]plan.TemplateField{}
	for _, f := range call.Params.Fields {
		places[f.Key] = f
		if passed[f.Key] = f.Value.Value; f.Value.Live { // what is known of it is judged with the flows
			if passed[f.Key] = any("x"); a.HTTP != nil && a.HTTP.IsForm(f.Key) {
				passed[f.Key] = map[string]any{}
			}
		}
	}
	var unfit *kinds.UnfitArgument
	if err := kinds.CheckArguments(a, passed); !errors.As(err, &unfit) || unfit.Parameter == "" {
		return
	}
	if known := analysis.ParametersOf(p, call.Single()); known != nil && known.Unknown(unfit.Parameter) {
		return // the activity is at fault
	}
	at, isPassed := places[unfit.Parameter]
	span := call.ToolNode.Span()
	if isPassed {
		span = at.Value.Node.Span()
	}
	p.ReportCall(call, span, "the activity %q can't accept this: %s", compiler.Shown(a.Name), unfit.Message).
		Advise("%s", unfit.Help)
}

// badParametersOf judges the literals of a call, and reports whether it found a fault.
func badParametersOf(p *Pass, call *plan.Call, known *parameters) bool {
	before := len(p.Found)
	complete := true
	for _, f := range call.Params.Fields {
		complete = complete && !f.Value.Live && !known.Unknown(f.Key)
		if at := known.Place(f.Key); at.Possible {
			BadLiteral(p, call, known, f, at.Schema)
		}
	}
	if len(p.Found) > before ||
		slices.ContainsFunc(known.Required, func(name string) bool { return !analysis.Passes(call, name) }) {
		return len(p.Found) > before
	}
	if !complete {
		neverTogether(p, known, call)
	} else if v := known.Schema.Validate(known.Completed(call.Params.Value)); v != nil {
		p.ReportCall(call, call.ToolNode.Span(), "%s doesn't accept these parameters together: %s",
			known.Taker, v.Error()).
			Advise("check the parameters against its schema")
	}
	return len(p.Found) > before
}

func produced(p *Pass, call *plan.Call) {
	if call.Produced == nil || call.Each != nil || call.Tool == nil || call.Tool.Output == nil {
		return
	}
	if v := call.Tool.Output.Validate(call.Produced.Value()); v != nil {
		p.ReportCall(call, analysis.PlaceAt(nil, call.Produced, v.Path),
			"the result of %q doesn't match the tool's \"_output\": %s", call.Name, v.Error()).
			Advise("give a result that the tool's \"_output\" accepts").
			Note(call.Tool.OutputNode.Span().Head(), "the schema of the result is here")
	}
}

// BadLiteral reports what a taker of a call refuses of one of its parameters.
func BadLiteral(p *Pass, call *plan.Call, taker *parameters, f plan.TemplateField, s *schema.Schema) {
	analysis.JudgeLiterals(f.Value, f.Node, s,
		func(at source.Span, below, why string, n *source.Node, s *schema.Schema) {
			found := p.ReportCall(call, at, "%s doesn't accept this for %s%s: %s", taker.Taker, quote(f.Key), below,
				why).
				Advise("pass a value that its schema accepts").
				Note(taker.Node(f.Key).Span(), "%q is %s here", f.Key, taker.Verb())
			if n != nil && taker.Bounds == nil {
				requote(found, n, s)
			}
		})
}

// requote offers to take the quotes off a number or boolean that was written as
// text, or to put them round a text that wasn't.
func requote(f *diag.Diagnostic, n *source.Node, s *schema.Schema) {
	text, value := n.Span().Text(), any(nil)
	offer := func(help, fix, text string) {
		f.Advise("%s", help).Fixes = append(f.Fixes,
			diag.Fix{Message: fix, Edits: []diag.Edit{{Span: n.Span(), Text: text}}})
	}
	switch {
	case n.Kind == source.String && n.Style != source.Plain:
		if json.Unmarshal([]byte(n.Text), &value) == nil && s.Accepts(value) {
			offer("write it without quotes: "+n.Text, "remove the quotes", n.Text)
		}
	case (n.Kind == source.Number || n.Kind == source.Bool) && s.Accepts(text):
		offer("write it in quotes: "+quote(text), "put it in quotes", quote(text))
	}
}

// neverTogether reports parameters that are never accepted beside each other, whatever their expressions give.
func neverTogether(p *Pass, t *parameters, call *plan.Call) {
	if !t.Combines() {
		return
	}
	passed, properties, names := map[string]any{}, map[string]any{}, []any{}
	for _, f := range call.Params.Fields {
		passed[f.Key] = f.Value.Value
	}
	for name, value := range t.Completed(passed).(map[string]any) {
		properties[name] = map[string]any{"const": value}
		names = append(names, name)
	}
	for _, f := range call.Params.Fields {
		if f.Value.Live {
			properties[f.Key] = true
		}
	}
	shape := schema.New(map[string]any{
		"type": "object", "properties": properties, "required": names, "additionalProperties": false,
	}, schema.Options{})
	if p.Flow.Contains(shape, t.Schema).Relation == schema.Never {
		p.ReportCall(call, call.ToolNode.Span(), "%s never accepts these parameters together", t.Taker).
			Advise("check the parameters against its schema")
	}
}
