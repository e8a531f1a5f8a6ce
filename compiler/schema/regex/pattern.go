// Package regex is the regular expressions of JSON Schema, which are those of
// ECMA-262: matching them and making up words of them.
//
// A pattern is written anew for Go's regexp, with what the two read differently
// spelled out (\s, \u, ., [], [^], \p{Script=…}). As the standard advises, it is
// read in Unicode mode; what that mode forbids and the older one takes literally
// (an escaped comma, a brace that closes nothing) is taken literally. Look-ahead,
// look-behind and back-references, which Go's regexp doesn't have, are refused.
package regex

import (
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
	"sync/atomic"
)

// A Pattern is a regular expression that was read. It is safe for concurrent use.
type Pattern struct {
	Source string // as it was written

	text string // as Go reads it
	re   *regexp.Regexp

	once        sync.Once
	size        int // of its program, see Effort
	least, most int // see Lengths

	writer atomic.Pointer[Writer]
}

// Compile reads a regular expression. The size is that of its program, where the
// pattern repeats something.
func Compile(source string) (p *Pattern, size int, err error) {
	text, err := translate(source)
	if err != nil {
		return nil, 0, err
	}
	p = &Pattern{Source: source, text: text}
	if p.re, size, err = compile(p.text); err != nil {
		why := strings.ReplaceAll(strings.TrimPrefix(err.Error(), "error parsing regexp: "), "`", `"`)
		err = fmt.Errorf("%.100s", why)
	}
	return p, size, err
}

// compile compiles a regular expression. Of those that begin with ^ the library
// makes a program without alternatives where it can, which takes time and memory for
// every range of a class at every place: of Unicode's classes that is too much, and an
// alternative at the start keeps it from trying.
func compile(text string) (re *regexp.Regexp, size int, err error) {
	const most = 500 // bounds of ranges in all classes
	if strings.Contains(text, "{") {
		if tree, err := syntax.Parse(text, syntax.Perl); err == nil {
			if prog, err := syntax.Compile(tree.Simplify()); err == nil {
				if size = len(prog.Inst); weight(prog)-size > most {
					text = `(?:\b|\B)(?:` + text + `)`
				}
			}
		}
	}
	re, err = regexp.Compile(text)
	return re, size, err
}

// Text is the pattern as Go reads it.
func (p *Pattern) Text() string { return p.re.String() }

// Same reports whether two patterns were written alike.
func (p *Pattern) Same(q *Pattern) bool { return p == q || p.Source == q.Source }

// Match reports whether the pattern matches somewhere in a text.
func (p *Pattern) Match(text string) bool { return p.re.MatchString(text) }

// MatchWithin is Match within a number of steps, off which it takes its own. It is undecided when they don't last.
func (p *Pattern) MatchWithin(text string, steps *int) (matched, decided bool) {
	if *steps -= p.Effort(text); *steps < 0 {
		return false, false
	}
	return p.Match(text), true
}

// parsed is the pattern as a tree and as a program. They are large and seldom needed, and so aren't kept.
func (p *Pattern) parsed() (*syntax.Regexp, *syntax.Prog) {
	tree, _ := syntax.Parse(p.text, syntax.Perl) // as it was read before
	tree = tree.Simplify()
	prog, _ := syntax.Compile(tree)
	return tree, prog
}

// Effort is what matching a text costs at most, in steps of a validator: the matcher
// may follow every instruction at every character.
func (p *Pattern) Effort(text string) int {
	p.measure()
	return 1 + len(text)*p.size/6
}

// Lengths returns bounds of the number of characters of the texts in which the pattern
// matches. Without ^ and $ around all of it there is no upper one: most is math.MaxInt.
func (p *Pattern) Lengths() (least, most int) {
	p.measure()
	return p.least, p.most
}

func (p *Pattern) measure() {
	p.once.Do(func() {
		tree, prog := p.parsed()
		p.size = len(prog.Inst)
		p.least, p.most = lengths(tree)
		if last := len(tree.Sub) - 1; tree.Op != syntax.OpConcat || tree.Sub[0].Op != syntax.OpBeginText ||
			tree.Sub[last].Op != syntax.OpEndText {
			p.most = math.MaxInt
		}
	})
}

// lengths returns how many characters an expression takes, its assertions left aside.
func lengths(re *syntax.Regexp) (least, most int) {
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune), len(re.Rune)
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 1, 1
	case syntax.OpStar:
		return 0, math.MaxInt
	case syntax.OpPlus:
		least, _ = lengths(re.Sub[0])
		return least, math.MaxInt
	case syntax.OpQuest:
		_, most = lengths(re.Sub[0])
		return 0, most
	case syntax.OpAlternate:
		least = math.MaxInt
	}
	for _, sub := range re.Sub {
		low, high := lengths(sub)
		if re.Op == syntax.OpAlternate {
			least, most = min(least, low), max(most, high)
		} else if least += low; most > math.MaxInt-high {
			most = math.MaxInt
		} else {
			most += high
		}
	}
	return least, most
}
