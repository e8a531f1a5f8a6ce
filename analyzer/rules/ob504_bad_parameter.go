package rules

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/kinds"
	"github.com/obelus-dev/obelus/compiler/pathtree"
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

// unfitArguments reports literals that can't be program arguments or parts of a request.
func unfitArguments(p *Pass, call *plan.Call) {
	a := p.Plan.Activities[call.Activity]
	if a == nil || a.HTTP == nil && len(a.Parameters) == 0 {
		return
	}
	given := map[string]any{}
	for _, f := range call.Params.Fields {
		if given[f.Key] = f.Value.Value; f.Value.Live {
			given[f.Key] = heldFor(p, f.Value)
			// it will be something, and fit: what is known of it is judged with the flows
			if given[f.Key] == nil && a.HTTP != nil {
				given[f.Key] = "x"
				if a.HTTP.IsForm(f.Key) {
					given[f.Key] = map[string]any{}
				}
			}
		}
	}
	var unfit *kinds.UnfitArgument
	known := analysis.ParametersOf(p, call.Single())
	// else the activity is at fault
	if err := kinds.CheckArguments(a, given); errors.As(err, &unfit) && unfit.Parameter != "" &&
		(known == nil || !known.Unknown(unfit.Parameter)) {
		at := slices.IndexFunc(call.Params.Fields, func(f plan.TemplateField) bool { return f.Key == unfit.Parameter })
		if at < 0 {
			p.ReportCall(call, call.ToolNode.Span(), "the activity %q can't accept this: %s", compiler.Shown(a.Name),
				unfit.Message).Advise("%s", unfit.Help)
			return
		}
		value := call.Params.Fields[at].Value
		f := p.ReportCall(call, value.Node.Span(), "the activity %q can't accept this: %s", compiler.Shown(a.Name),
			unfit.Message).Advise("%s", unfit.Help)
		if value.Live { // a run may be given another
			f.As(diag.Warning)
		}
	}
}

// heldFor is the value of a plain reference to what the document itself gives and nothing writes; else nil.
func heldFor(p *Pass, t *plan.Template) any {
	if t.Expr == nil || !t.Expr.Plain() {
		return nil
	}
	read := &p.Plan.Reads[t.Reads[0]]
	if len(read.Writers) > 0 {
		return nil
	}
	value, _ := p.Plan.Of(read.Ref.Kind)
	value, _ = pathtree.Walk(value, read.Ref.Path)
	return value
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
			Advise("check the parameters against the %s's schema", known.Which)
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
	var found *diag.Diagnostic
	l := analysis.Literals{
		Refused: func(at source.Span, below, why string) {
			found = p.ReportCall(call, at, "%s doesn't accept this for %s%s: %s", taker.Taker, quote(f.Key),
				below, why).
				Advise("pass a value that the %s's schema accepts", taker.Which).
				Note(taker.Node(f.Key).Span(), "%q is %s here", f.Key, taker.Verb())
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

// neverTogether reports parameters that are never accepted beside each other, whatever their expressions give.
func neverTogether(p *Pass, t *parameters, call *plan.Call) {
	if !t.Combines() {
		return
	}
	passed := map[string]any{}
	for _, f := range call.Params.Fields {
		passed[f.Key] = f.Value.Value
	}
	properties, names := map[string]any{}, []any{}
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
			Advise("check the parameters against the %s's schema", t.Which)
	}
}
