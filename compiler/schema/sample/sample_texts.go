package sample

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler/reference"
	"github.com/obelus-dev/obelus/compiler/schema/ast"
	"github.com/obelus-dev/obelus/compiler/schema/regex"
)

// formatted makes up a text of a format; "" for an unknown format.
func (m *sampler) formatted(format string) string {
	known := ast.Samples[format]
	if len(known) == 0 {
		return ""
	}
	return strings.Map(func(r rune) rune {
		if r == '7' {
			return '1' + m.r.Int32N(9)
		}
		return r
	}, known[len(known)-1])
}

// formed makes up a text of a format that fits lengths and patterns, too, if one is found
// soon.
func (m *sampler) formed(format string, patterns []*regex.Pattern, low, high int) (string, bool) {
	for try := range 12 {
		s := m.formatted(format)
		if short := ast.Samples[format]; try > 5 && len(short) > 0 {
			s = short[m.r.IntN(len(short))]
		}
		if try%2 == 1 && len(patterns) > 0 {
			s, _ = m.matching(patterns, low, high).(string)
		}
		n := utf8.RuneCountInString(s)
		if valid := ast.Formats[format]; s != "" && n >= low && n <= high && (valid == nil || valid(s)) &&
			m.affords(8) &&
			!slices.ContainsFunc(patterns, func(p *regex.Pattern) bool { return !m.matches(p, s) }) {
			return s, true
		}
	}
	return "", false
}

var sampleWords = []string{"amber", "birch", "cedar", "delta", "ember", "fjord",
	"grove", "heath", "inlet", "juniper", "karst", "lagoon"}

func (m *sampler) text(w want, name string) any {
	low, high := 0, ast.MaxCount
	var patterns []*regex.Pattern
	format := ""
	for _, n := range w.nodes {
		if r := n.Strings; r != nil {
			low, high = max(low, r.Min), min(high, r.Max)
			if r.Pattern != nil {
				patterns = append(patterns, r.Pattern)
			}
			if r.Format != "" {
				format = r.Format
			}
		}
	}
	if format != "" {
		if s, ok := m.formed(format, patterns, low, high); ok {
			return s
		}
	}
	aim := m.aim()
	if text, ok := aim.(string); ok && len(patterns) == 0 {
		return text
	}
	at, targeted := m.size(aim, low, high, maxTargetLetters)
	if targeted {
		low, high = at, at
	}
	if len(patterns) > 0 {
		return m.matching(patterns, low, high)
	}
	if targeted && m.r.IntN(6) == 0 {
		return strings.Repeat(" ", at)
	}
	s := sampleWords[m.r.IntN(len(sampleWords))]
	if name != "" && m.r.IntN(2) == 0 && reference.IsBareKey(name) {
		s = name + " " + s
	}
	if low > ast.Longest {
		return nil // too large to show; the caller finds it refused
	}
	if !m.affords(low / 8) {
		return nil
	}
	if len(s) < low {
		s += strings.Repeat(" "+sampleWords[m.r.IntN(len(sampleWords))], (low-len(s))/6+1)
	}
	if high < len(s) {
		s = strings.TrimRight(s[:max(low, high)], " ")
		s += strings.Repeat("x", max(0, low-len(s)))
	}
	return s
}
