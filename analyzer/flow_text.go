package analyzer

import (
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/schema"
)

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
