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

var _ = Register(Rule{
	Rule: &diag.Rule{Code: "OB504", Name: "bad-parameter", Default: diag.Error},
	Call: badParameters,
})

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

// unfitArguments reports literals that can't be program arguments or parts of a request.
func unfitArguments(p *Pass, call *plan.Call) {
	a := p.Plan.Activities[call.Activity]
	if a == nil || a.HTTP == nil && len(a.Parameters) == 0 {
		return
	}
	given := map[string]any{}
	for _, f := range call.Params.Fields {
		if given[f.Key] = f.Value.Value; f.Value.Live() {
			// it will be something, and fit: what is known of it is judged with the flows
			switch {
			case a.HTTP == nil:
				given[f.Key] = nil
			case a.HTTP.IsForm(f.Key):
				given[f.Key] = map[string]any{}
			default:
				given[f.Key] = "x"
			}
		}
	}
	var unfit *kinds.UnfitArgument
	known := analysis.ParametersOf(p, call.Single())
	// else the activity is at fault
	if err := kinds.CheckArguments(a, given); errors.As(err, &unfit) && unfit.Parameter != "" &&
		(known == nil || !known.Unknown(unfit.Parameter)) {
		at := call.ToolNode.Span()
		for _, f := range call.Params.Fields {
			if f.Key == unfit.Parameter {
				at = f.Value.Node.Span()
			}
		}
		p.Report(at, "the activity %q can't accept this: %s", compiler.Shown(a.Name), unfit.Message).
			About(call.Label()).Advise("%s", unfit.Help)
	}
}

// badParametersOf judges the literals of a call, and reports whether it found a fault.
func badParametersOf(p *Pass, call *plan.Call, known *parameters) bool {
	before := len(p.Found)
	complete := true // sample runs show what is passed by expressions
	for _, f := range call.Params.Fields {
		complete = complete && !f.Value.Live() && !known.Unknown(f.Key)
		if at := known.Place(f.Key); at.Possible {
			BadLiteral(p, call, known, f, at.Schema)
		}
	}
	if len(p.Found) > before ||
		slices.ContainsFunc(known.Required, func(name string) bool { return !analysis.Passes(call, name) }) {
		return len(p.Found) > before
	}
	if complete {
		if v := known.Schema.Validate(known.Completed(call.Params.Value)); v != nil {
			p.Report(call.ToolNode.Span(), "%s doesn't accept these parameters together: %s", known.Taker, v.Error()).
				About(call.Label()).
				Advise("check the parameters against the %s's schema", known.Which)
		}
	}
	return len(p.Found) > before
}

func produced(p *Pass, call *plan.Call) {
	if call.Produced == nil || call.Each != nil || call.Tool == nil || call.Tool.Output == nil {
		return
	}
	if v := call.Tool.Output.Validate(call.Produced.Value()); v != nil {
		p.Report(analysis.PlaceAt(nil, call.Produced, v.Path),
			"the result of %q doesn't match the tool's \"_output\": %s", call.Name, v.Error()).About(call.Label()).
			Advise("give a result that the tool's \"_output\" accepts").
			Show(call.Tool.OutputNode.Span().Head(), "the schema of the result is here")
	}
}

// BadLiteral reports what a taker of a call refuses of one of its parameters.
func BadLiteral(p *Pass, call *plan.Call, taker *parameters, f plan.TemplateField, s *schema.Schema) {
	var found *diag.Diagnostic
	l := analysis.Literals{
		Refused: func(at source.Span, below, why string) {
			found = p.Report(at, "%s doesn't accept this for %s%s: %s", taker.Taker, quote(f.Key), below, why).
				About(call.Label()).
				Advise("pass a value that the %s's schema accepts", taker.Which).
				Show(taker.Node(f.Key).Span(), "%q is %s here", f.Key, taker.Verb())
		},
	}
	if taker.Bounds == nil {
		l.Value = func(n *source.Node, s *schema.Schema) { requote(found, n, s) }
	}
	l.Judge(f.Value, f.Node, s, "")
}

// requote offers to take the quotes off a number or boolean that was written as
// text, or to put them round a text that wasn't.
func requote(f *diag.Diagnostic, n *source.Node, s *schema.Schema) {
	text := n.Span().Text()
	switch {
	case n.Kind == source.String && n.Style != source.Plain && s.Accepts(unquoted(n.Text)):
		f.Advise("write it without quotes: %s", n.Text)
		f.Fixes = append(f.Fixes,
			diag.Fix{Message: "remove the quotes", Edits: []diag.Edit{{Span: n.Span(), Text: n.Text}}})
	case (n.Kind == source.Number || n.Kind == source.Bool) && s.Accepts(text):
		f.Advise("write it in quotes: %q", text)
		f.Fixes = append(f.Fixes,
			diag.Fix{Message: "put it in quotes", Edits: []diag.Edit{{Span: n.Span(), Text: quote(text)}}})
	}
}

// unquoted is what a text would be as a number or boolean, or the text itself.
func unquoted(text string) any {
	var v any
	if json.Unmarshal([]byte(text), &v) == nil {
		switch v.(type) {
		case float64, bool:
			return v
		}
	}
	return text
}
