package analyzer

import (
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// textual is what can stand in a text with expressions in it (S4.9).
var textual = schema.OfKinds(schema.String | schema.Number | schema.Boolean)

// maxTexts bounds how many texts are told apart that one expression may give.
const maxTexts = 64

// flowOfText is the flow out of a text with expressions in it: where few values come
// to them it is one of so many texts, of which some may never come, as values hang
// together; else it is any text.
func (p *Pass) flowOfText(t *compiler.Template, part expression.Part) flow {
	out := flow{schema: schema.OfKinds(schema.String), loose: true, computed: true, operand: operand{t.Node, part.Start, part.End}}
	texts := []any{""}
	for _, piece := range part.Parts {
		var pieces []any
		for _, f := range p.flowsOfPart(nil, t, piece) {
			values := fewValues(&f)
			if values == nil {
				return out
			}
			pieces = append(pieces, values...)
		}
		if texts = appended(texts, pieces); len(texts) == 0 || len(texts) > maxTexts {
			return out
		}
	}
	all := make([]*schema.Schema, len(texts))
	for i, text := range texts {
		all[i] = p.literalSchema(text)
	}
	out.schema = schema.AnyOf(all...)
	return out
}

// appended puts every one of some values behind every one of some texts. Values that
// can't stand in a text are for others to report.
func appended(texts, values []any) []any {
	var all []any
	for _, before := range texts {
		for _, value := range values {
			if text, ok := expression.AsText(value); ok && !slices.Contains(all, any(before.(string)+text)) {
				all = append(all, before.(string)+text)
			}
		}
		if len(all) > maxTexts {
			break
		}
	}
	return all
}

// fewValues are those that a flow may have, where its schema counts them.
func fewValues(f *flow) []any {
	if f.schema == nil || f.loose || f.sample {
		return nil
	}
	raw, _ := f.schema.Raw().(map[string]any)
	values, _ := raw["enum"].([]any)
	if fixed, ok := raw["const"]; ok {
		values = []any{fixed}
	} else if values == nil && f.schema.Kinds() == schema.Boolean {
		values = []any{true, false}
	}
	if len(values) > maxTexts {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(values), func(v any) bool { return !f.schema.Accepts(v) })
}

// judgeText looks for a text that may come and isn't accepted, where one expression
// alone decides which text it is.
func (p *Pass) judgeText(t *compiler.Template, to target) (j judgement, bad bool) {
	part := t.Expr.Outline()
	if part.Kind != expression.Text || to.schema == nil {
		return j, false
	}
	decides := slices.DeleteFunc(slices.Clone(part.Parts), func(piece expression.Part) bool { return piece.Kind == expression.Written })
	if len(decides) != 1 {
		return j, false
	}
	for _, f := range p.flowsOfPart(nil, t, decides[0]) {
		if f.rare {
			continue
		}
		for _, value := range fewValues(&f) {
			text := []any{""}
			for _, piece := range part.Parts {
				if piece.Kind == expression.Written {
					text = appended(text, []any{piece.Value})
				} else {
					text = appended(text, []any{value})
				}
			}
			if len(text) == 1 && !to.schema.Accepts(text[0]) && p.canCome(&f, value, &to) {
				whole := p.flowOfText(t, part)
				whole.from, whole.said = f.from, f.said
				return judgement{relation: schema.MayNotFit, flow: whole, witness: text[0], to: to}, true
			}
		}
	}
	return j, false
}

// textMismatches judges what comes to the expressions in texts: a value that may be
// null, a list or an object has no form there (S4.9). That it can't be anything else is
// for OB510 to say.
func (p *Pass) textMismatches() {
	p.calculations(func(call *compiler.Call, t *compiler.Template) {
		part := t.Expr.Outline()
		if part.Kind != expression.Text {
			return
		}
		for _, piece := range part.Parts {
			j, bad := p.judge(p.flowsOfPart(nil, t, piece), &target{call: call, schema: textual, node: t.Node})
			if !bad || j.relation != schema.MayNotFit {
				continue
			}
			f := p.Report(j.place(), "%s may have no form in a text: %s", j.called(), j.because()).About(call.Label()).
				Advise("write string(…) or toJSON(…) to say as which text it is meant, or … || \"none\" for what may be null")
			f.Witness = j.witness
			for _, said := range p.remarks(&j.flow) {
				if said.at.Known() {
					f.Note(said.at, "%s", said.says)
				}
			}
		}
	})
}
