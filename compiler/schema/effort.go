package schema

import (
	"regexp"
	"regexp/syntax"
	"strings"
)

// Work is counted in steps, so that the same question always has the same
// answer. A step of reasoning costs a few microseconds; validating and making up
// values go by smaller ones, of which that many make one of the others.
const checksPerStep = 32

// maxProgram bounds the programs of patterns that are reasoned about.
const maxProgram = 5_000

// parsed is a pattern as a tree and as a program. They are large and seldom
// needed, and so aren't kept.
func (p *pattern) parsed() (*syntax.Regexp, *syntax.Prog) {
	if tree, err := syntax.Parse(p.text, syntax.Perl); err == nil {
		tree = tree.Simplify()
		if prog, err := syntax.Compile(tree); err == nil {
			p.once.Do(func() { p.size = len(prog.Inst) })
			return tree, prog
		}
	}
	p.once.Do(func() { p.size = maxProgram }) // not of a pattern that regexp reads
	return &syntax.Regexp{Op: syntax.OpNoMatch}, &syntax.Prog{Inst: make([]syntax.Inst, maxProgram)}
}

// effort is what matching a text costs at most, in steps of a checker: the
// matcher may follow every instruction at every character.
func (p *pattern) effort(text string) int {
	p.once.Do(func() {
		p.size = maxProgram
		if tree, err := syntax.Parse(p.text, syntax.Perl); err == nil {
			if prog, err := syntax.Compile(tree.Simplify()); err == nil {
				p.size = len(prog.Inst)
			}
		}
	})
	return 1 + len(text)*p.size/8
}

// bounded is a checker that takes no more than so many steps.
func bounded(steps int) checker { return checker{most: max(steps, 1)} }

// affords takes steps for work that isn't counted one by one. A checker without
// a bound of its own doesn't count it.
func (c *checker) affords(steps int) bool {
	if c.most > 0 {
		if c.steps += steps; c.steps > c.most {
			c.spent = true
		}
	}
	return !c.spent
}

// matching takes what it may cost to judge a string.
func (c *checker) matching(r *stringRules, s string) bool {
	return r.pattern == nil || c.affords(r.pattern.effort(s))
}

// accepts asks a validator, whose work counts as reasoning. Where the steps don't
// last, there are none left.
func (p *prover) accepts(n *node, v any) bool {
	c := bounded((p.limit - p.steps) * checksPerStep)
	accepted := c.accepts(n, v)
	p.steps += c.steps / checksPerStep
	p.out = p.out || c.spent
	return accepted && !c.spent
}

// compilePattern compiles a regular expression. Of those that begin with ^ the
// library makes a program without alternatives where it can, which takes memory
// for every class at every place: where classes are repeated that is too much,
// and an alternative at the start keeps it from trying. The size is that of the
// program, where the pattern repeats something.
func compilePattern(text string) (re *regexp.Regexp, size int, err error) {
	const most = 20_000 // bounds of ranges in all classes
	if strings.Contains(text, "{") {
		if tree, err := syntax.Parse(text, syntax.Perl); err == nil {
			if prog, err := syntax.Compile(tree.Simplify()); err == nil {
				ranges := 0
				for i := range prog.Inst {
					ranges += len(prog.Inst[i].Rune)
				}
				if size = len(prog.Inst); ranges > most {
					text = `(?:\b|\B)(?:` + text + `)`
				}
			}
		}
	}
	re, err = regexp.Compile(text)
	return re, size, err
}
