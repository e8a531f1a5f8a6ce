package analyzer

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

var badParameter = register(Rule{
	Rule: &diag.Rule{Code: "OB504", Name: "bad-parameter", Default: diag.Error},
	Call: badParameters,
})

// badParameters reports literals that the tool's schema rejects, at the value
// that is wrong, and the results that a solution already holds where the tool's
// _output rejects them. What an expression will give isn't judged here.
func badParameters(p *Pass, call *compiler.Call) {
	p.produced(call)
	for _, known := range p.takers(call) {
		if p.badParametersOf(call, known) {
			break // what takes them next would say the same of most
		}
	}
}

// badParametersOf judges the literals of a call, and reports whether it found a
// fault.
func (p *Pass) badParametersOf(call *compiler.Call, known *parameters) bool {
	before := len(p.found)
	complete := true
	for _, f := range call.Params.Fields {
		complete = complete && !f.Value.Live() && !known.unknown(f.Key)
		if at := known.place(f.Key); at.Possible {
			p.literal(value{call, known, f.Key, f.Node, ""}, f.Value, at.Schema)
		}
	}
	// What holds between parameters can be judged only when all are known.
	if !complete || len(p.found) > before || slices.ContainsFunc(known.required, func(name string) bool { return !passes(call, name) }) {
		return len(p.found) > before
	}
	if v := known.schema.Validate(known.completed(call.Params.Value)); v != nil {
		p.Report(call.ToolNode.Span(), "%s doesn't accept these parameters together: %s", known.taker, v.Error()).About(call.Label()).
			Advise("see what the %s's schema asks of its parameters", known.which)
	}
	return len(p.found) > before
}

// completed is what a call passes, laid over what is there anyway.
func (t *parameters) completed(passed any) any {
	own, ok := passed.(map[string]any)
	if !ok || len(t.given) == 0 {
		return passed
	}
	all := maps.Clone(t.given)
	maps.Copy(all, own)
	return all
}

func (p *Pass) produced(call *compiler.Call) {
	if call.Produced == nil || call.Tool == nil || call.Tool.Output == nil {
		return
	}
	if v := call.Tool.Output.Validate(call.Produced.Value()); v != nil {
		f := p.Report(placeAt(nil, call.Produced, v.Path), "the result of %q isn't what the tool gives: %s", call.Name, v.Error()).About(call.Label()).
			Advise("give a result that the tool's \"_output\" accepts")
		if n := call.Tool.OutputNode; n != nil {
			f.Note(headOf(n.Span()), "the schema of the result is here")
		}
	}
}

// A value is a part of what a call passes, and how to speak of it.
type value struct {
	call      *compiler.Call
	taker     *parameters
	parameter string
	key       *source.Node // of the mapping that the value stands in; nil in a list
	below     string       // where in the parameter it stands: .x[0]
}

// literal judges a value, or the parts of it that hold no expression.
func (p *Pass) literal(v value, t *compiler.Template, s *schema.Schema) {
	switch {
	case s == nil || t.Opaque():
	case !t.Live():
		if bad := s.Validate(t.Value); bad != nil {
			v.below += bad.Where()
			f := p.rejected(v, placeAt(v.key, t.Node, bad.Path), bad.Message)
			requote(f, t.Node.Along(bad.Path), s.At(stepsOf(bad.Path)).Schema)
		}
	case t.Items != nil:
		p.literalList(v, t, s)
	default:
		p.literalObject(v, t, s)
	}
}

func (p *Pass) literalList(v value, t *compiler.Template, s *schema.Schema) {
	if s.Kinds()&schema.Array == 0 {
		p.rejected(v, placeAt(v.key, t.Node, nil), "expected "+s.Kinds().String()+", got a list")
		return
	}
	for i, item := range t.Items {
		if at := s.At([]schema.Step{schema.Index(i)}); at.Possible {
			p.literal(value{v.call, v.taker, v.parameter, nil, fmt.Sprintf("%s[%d]", v.below, i)}, item, at.Schema)
		}
	}
}

func (p *Pass) literalObject(v value, t *compiler.Template, s *schema.Schema) {
	if s.Kinds()&schema.Object == 0 {
		p.rejected(v, placeAt(v.key, t.Node, nil), "expected "+s.Kinds().String()+", got a mapping")
		return
	}
	for _, required := range s.Required() {
		if !slices.ContainsFunc(t.Fields, func(f compiler.TemplateField) bool { return f.Key == required }) {
			p.rejected(v, placeAt(v.key, t.Node, nil), "the property "+quote(required)+" is missing")
		}
	}
	for _, f := range t.Fields {
		if at := s.At([]schema.Step{schema.Key(f.Key)}); at.Possible {
			p.literal(value{v.call, v.taker, v.parameter, f.Node, v.below + "." + f.Key}, f.Value, at.Schema)
		} else {
			p.rejected(v, f.Node.Span(), "the property "+quote(f.Key)+" isn't allowed")
		}
	}
}

func (p *Pass) rejected(v value, at source.Span, why string) *diag.Diagnostic {
	f := p.Report(at, "%s doesn't accept this for %s%s: %s", v.taker.taker, quote(v.parameter), v.below, why).About(v.call.Label()).
		Advise("pass a value that the %s's schema accepts", v.taker.which)
	if n := parameterNode(v.taker.tool, v.parameter); n != nil {
		f.Note(n.Span(), "%q is declared here", v.parameter)
	}
	return f
}

// requote offers to take the quotes off a number or boolean that was written as
// text, or to put them round a text that wasn't.
func requote(f *diag.Diagnostic, n *source.Node, s *schema.Schema) {
	text := n.Span().Text()
	switch {
	case n.Kind == source.String && n.Style != source.Plain && s.Accepts(unquoted(n.Text)):
		f.Advise("write it without quotes: %s", n.Text)
		f.Fixes = append(f.Fixes, diag.Fix{Message: "take the quotes off", Edits: []diag.Edit{{Span: n.Span(), Text: n.Text}}})
	case (n.Kind == source.Number || n.Kind == source.Bool) && s.Accepts(text):
		f.Advise("write it in quotes: %q", text)
		f.Fixes = append(f.Fixes, diag.Fix{Message: "put it in quotes", Edits: []diag.Edit{{Span: n.Span(), Text: quote(text)}}})
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
