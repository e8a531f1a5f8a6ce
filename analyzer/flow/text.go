package flow

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

const (
	maxTextPattern = 500     // of the pattern of what a text may be
	maxTexts       = 64      // the possible texts of one expression
	anyLength      = 1 << 30 // of an unknown text
)

// text is the schema of a text with expressions. If these have few values it lists the texts, some of them perhaps
// impossible. Otherwise it has the pattern and the length of the text.
func (f *Facts) text(t *plan.Template, part *expression.Node) *schema.Schema {
	texts, pattern, length := []any{""}, "", 0
	for _, piece := range part.Args {
		variants := f.part(nil, t, piece)
		if len(variants) == 0 {
			variants = unknown()
		}
		var values []any
		var patterns []string
		longest := 0
		for _, v := range variants {
			if v.Schema = f.Guarded(&v, f.taker(t)); v.Wide || v.Sample {
				v.Schema = nil
			}
			few := f.fewValues(v.Schema)
			if values = append(values, few...); few == nil {
				texts = nil
			}
			one, most := f.textsOf(v.Schema, few)
			patterns, longest = append(patterns, one), max(longest, most)
		}
		pattern += "(?:" + strings.Join(patterns, "|") + ")"
		length = min(length+longest, anyLength)
		if texts = appended(texts, values); len(texts) > maxTexts {
			texts = nil
		}
	}
	if len(texts) == 0 {
		s := schema.OfKinds(schema.String)
		if length < anyLength {
			s = f.Meet(s, schema.New(map[string]any{"maxLength": float64(length)}, schema.Options{}))
		}
		if len(pattern) < maxTextPattern {
			s = f.Meet(s, schema.New(map[string]any{"pattern": "^" + pattern + "$"}, schema.Options{}))
		}
		return s
	}
	all := make([]*schema.Schema, len(texts))
	for i, text := range texts {
		all[i] = f.literal(text)
	}
	return schema.AnyOf(all...)
}

// textsOf returns a pattern and the maximum length for values of a schema as text. If the schema has
// few values they are given.
func (t *Schemas) textsOf(s *schema.Schema, few []any) (pattern string, longest int) {
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
		limit := schema.New(map[string]any{keyword: value}, schema.Options{})
		return t.Contains(s, limit).Relation == schema.Fits
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
func (t *Schemas) fewValues(s *schema.Schema) []any {
	if s == nil {
		return nil
	}
	if s.Kinds() == schema.Boolean {
		return []any{true, false}
	}
	values := s.Landmarks().Listed
	if len(values) == 0 || len(values) > maxTexts {
		return nil
	}
	if t.Contains(s, schema.New(map[string]any{"enum": values}, schema.Options{})).Relation != schema.Fits {
		return nil
	}
	return slices.DeleteFunc(values, func(v any) bool { return !s.Accepts(v) })
}
