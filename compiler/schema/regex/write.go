package regex

import (
	"math/rand/v2"
	"regexp/syntax"
	"slices"
	"strings"
)

// A Writer writes random words of a pattern.
type Writer struct {
	Size int // of the pattern's program
	tree *syntax.Regexp
}

// Writer takes the pattern apart, which is worth keeping for several words: the
// pattern itself keeps a small one.
func (p *Pattern) Writer() *Writer {
	if w := p.writer.Load(); w != nil {
		return w
	}
	tree, prog := p.parsed()
	w := &Writer{len(prog.Inst), tree}
	if weight(prog) < 5_000 {
		p.writer.Store(w)
	}
	return w
}

// weight is how many instructions a program has, and how many bounds of ranges are
// in its classes.
func weight(prog *syntax.Prog) int {
	n := len(prog.Inst)
	for i := range prog.Inst {
		n += len(prog.Inst[i].Rune)
	}
	return n
}

// Word writes a word, its repetitions up to extra more often than they must be, and returns how many steps it took. The
// word ends where these are more than most.
func (w *Writer) Word(r *rand.Rand, extra, most int) (word string, steps int) {
	p := pen{r: r, extra: extra, left: most}
	p.word(w.tree, 0)
	return p.String(), most - p.left
}

type pen struct {
	strings.Builder
	r     *rand.Rand
	extra int
	left  int // steps, below 0 when there are no more
}

func (p *pen) word(re *syntax.Regexp, depth int) {
	// Repetitions of what may be empty multiply without writing anything.
	if p.left--; p.left < 0 || p.Len() > 1<<12 || depth > 200 {
		return
	}
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			p.WriteRune(r)
		}
	case syntax.OpCharClass:
		p.WriteRune(p.runeOf(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		p.WriteRune(p.letter())
	case syntax.OpCapture:
		p.word(re.Sub[0], depth+1)
	case syntax.OpStar:
		p.repeat(re, 0, -1, depth)
	case syntax.OpPlus:
		p.repeat(re, 1, -1, depth)
	case syntax.OpQuest:
		p.repeat(re, 0, 1, depth)
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			p.word(sub, depth+1)
		}
	case syntax.OpAlternate:
		p.word(re.Sub[p.r.IntN(len(re.Sub))], depth+1)
	}
}

func (p *pen) repeat(re *syntax.Regexp, low, high, depth int) {
	if high < 0 || high > low+p.extra {
		high = low + p.extra
	}
	for range low + p.r.IntN(high-low+1) {
		if p.left < 0 {
			return
		}
		p.word(re.Sub[0], depth+1)
	}
}

func (p *pen) letter() rune { return rune('a' + p.r.IntN(26)) }

// dot is the class of the dot.
var dot = func() []rune {
	tree, err := syntax.Parse(notEnds, syntax.Perl)
	if err != nil {
		panic(err)
	}
	return tree.Rune
}()

// runeOf picks a character of a class, a printable ASCII one where there is any.
func (p *pen) runeOf(pairs []rune) rune {
	if slices.Equal(pairs, dot) {
		return p.letter()
	}
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
	i := p.r.IntN(len(all)/2) * 2
	return all[i] + rune(p.r.IntN(int(min(all[i+1]-all[i], 1<<16))+1))
}
