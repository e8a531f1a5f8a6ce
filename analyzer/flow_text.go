package analyzer

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/schema/regex"
)

// maxTextPattern bounds the pattern of what a text may be.
const maxTextPattern = 500

// maxTexts limits the possible texts of one expression.
const maxTexts = 64

// flowOfText is the flow of a text with expressions. If these have few values it lists the texts, some
// of them perhaps impossible. Otherwise it has the pattern and the length of the text.
func (p *Pass) flowOfText(t *plan.Template, part expression.Part) flow {
	out := flow{overApproximate: true, computed: true, operand: operand{t.Node, part.Start, part.End}}
	texts, pattern, length := []any{""}, "", 0
	for _, piece := range part.Parts {
		flows := p.flowsOfPart(nil, t, piece)
		if len(flows) == 0 {
			flows = unknown
		}
		var values []any
		var patterns []string
		longest := 0
		for _, f := range flows {
			if f.schema = p.guarded(&f, p.taker(t)); f.overApproximate || f.sample {
				f.schema = nil
			}
			few := p.fewValues(f.schema)
			if values = append(values, few...); few == nil {
				texts = nil
			}
			one, most := p.textsOf(f.schema, few)
			patterns, longest = append(patterns, one), max(longest, most)
		}
		pattern += "(?:" + strings.Join(patterns, "|") + ")"
		length = min(length+longest, anyLength)
		if texts = appended(texts, values); len(texts) > maxTexts {
			texts = nil
		}
	}
	if len(texts) == 0 {
		out.schema = schema.OfKinds(schema.String)
		if length < anyLength {
			out.schema = p.meet(out.schema, schema.New(map[string]any{"maxLength": float64(length)}, schema.Options{}))
		}
		if len(pattern) < maxTextPattern {
			out.schema = p.meet(out.schema, schema.New(map[string]any{"pattern": "^" + pattern + "$"}, schema.Options{}))
		}
		return out
	}
	all := make([]*schema.Schema, len(texts))
	for i, text := range texts {
		all[i] = p.literalSchema(text)
	}
	out.schema = schema.AnyOf(all...)
	return out
}

// taker is the call that takes what a template gives as a parameter, once its condition has
// come out as true; nil where there is none.
func (p *Pass) taker(t *plan.Template) *plan.Call {
	if len(t.Reads) == 0 {
		return nil
	}
	call := p.caller(&p.Plan.Reads[t.Reads[0]])
	if call == nil || t == call.When || call.Each != nil && !t.PerItem() {
		return nil
	}
	return call
}

// anyLength is the length of an unknown text.
const anyLength = 1 << 30

// textsOf returns a pattern and the maximum length for values of a schema as text. If the schema has
// few values they are given.
func (p *Pass) textsOf(s *schema.Schema, few []any) (pattern string, longest int) {
	if few != nil {
		var words []string
		for _, value := range few {
			if text, ok := expression.AsText(value); ok {
				words, longest = append(words, regexp.QuoteMeta(text)), max(longest, utf8.RuneCountInString(text))
			}
		}
		return strings.Join(words, "|"), longest
	}
	if pattern, longest = "[^]*", anyLength; s == nil || s.Kinds() != schema.String {
		return pattern, longest
	}
	within := func(keyword string, value any) bool {
		return p.contains(s, schema.New(map[string]any{keyword: value}, schema.Options{})).Relation == schema.Fits
	}
	marks := s.Landmarks()
	for _, known := range slices.Backward(marks.Patterns) { // a condition's are the last
		if full, ok := regex.FullMatch(known); ok && within("pattern", known) {
			pattern = full
			break
		}
	}
	slices.Sort(marks.Lengths)
	for _, length := range slices.Compact(marks.Lengths) {
		if length >= 0 && length < anyLength && within("maxLength", float64(length)) {
			longest = length
			break
		}
	}
	return pattern, longest
}

// appended appends every value to every text. Values without a text are skipped.
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

// fewValues are those that a schema accepts, where it is known to list them.
func (p *Pass) fewValues(s *schema.Schema) []any {
	if s == nil {
		return nil
	}
	if s.Kinds() == schema.Boolean {
		return []any{true, false}
	}
	values := s.Landmarks().Listed
	if len(values) == 0 || len(values) > maxTexts || p.contains(s, schema.New(map[string]any{"enum": values}, schema.Options{})).Relation != schema.Fits {
		return nil
	}
	return slices.DeleteFunc(values, func(v any) bool { return !s.Accepts(v) })
}
