package schema

import (
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// matching makes up a string for patterns: a random word of the first that
// fits the length and, with luck, the others.
func (m *sampler) matching(patterns []*pattern, low, high int) any {
	if low > longest {
		return nil
	}
	parsed := m.tree(patterns[0])
	for try := range 16 {
		var b strings.Builder
		m.budget += 500
		m.word(&b, parsed, try%4, 0)
		s := b.String()
		// What isn't anchored may be longer than the pattern.
		if !m.affords(max(b.Len(), low) / 8) {
			return nil
		}
		if n := utf8.RuneCountInString(s); n < low {
			s += strings.Repeat("a", low-n)
		}
		n := utf8.RuneCountInString(s)
		if n < low || n > high {
			continue
		}
		fits := true
		for _, p := range patterns {
			fits = fits && m.affords(p.effort(s)) && p.re.MatchString(s)
		}
		if fits {
			return s
		}
	}
	return nil
}

// word writes a word of a regular expression, its repetitions up to extra more
// often than they must be.
func (m *sampler) word(b *strings.Builder, re *syntax.Regexp, extra, depth int) {
	// Repetitions of what may be empty multiply without writing anything.
	if m.budget--; b.Len() > 1<<12 || depth > 200 || m.budget < 0 || !m.affords(2) {
		return
	}
	repeat := func(low, high int) {
		if high < 0 || high > low+extra {
			high = low + extra
		}
		for range low + m.r.IntN(high-low+1) {
			if m.budget < 0 {
				return
			}
			m.word(b, re.Sub[0], extra, depth+1)
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			b.WriteRune(r)
		}
	case syntax.OpCharClass:
		b.WriteRune(m.runeOf(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteRune(rune('a' + m.r.IntN(26)))
	case syntax.OpCapture:
		m.word(b, re.Sub[0], extra, depth+1)
	case syntax.OpStar:
		repeat(0, -1)
	case syntax.OpPlus:
		repeat(1, -1)
	case syntax.OpQuest:
		repeat(0, 1)
	case syntax.OpRepeat:
		repeat(re.Min, re.Max)
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			m.word(b, sub, extra, depth+1)
		}
	case syntax.OpAlternate:
		m.word(b, re.Sub[m.r.IntN(len(re.Sub))], extra, depth+1)
	}
}

// runeOf picks a character of a class, a printable ASCII one where there is any.
func (m *sampler) runeOf(pairs []rune) rune {
	var plain, all []rune
	for i := 0; i+1 < len(pairs); i += 2 {
		lo, hi := pairs[i], pairs[i+1]
		all = append(all, lo, hi)
		if lo, hi := max(lo, ' '), min(hi, '~'); lo <= hi {
			plain = append(plain, lo, hi)
		}
	}
	if plain != nil {
		all = plain
	}
	if all == nil {
		return 'a'
	}
	i := m.r.IntN(len(all)/2) * 2
	return all[i] + rune(m.r.IntN(int(min(all[i+1]-all[i], 1<<16))+1))
}
