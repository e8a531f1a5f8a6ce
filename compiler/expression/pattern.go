package expression

import (
	"regexp"
	"regexp/syntax"
)

// maxPattern bounds a pattern's characters.
const maxPattern = 1000

// A pattern is a compiled regular expression and what matching it costs.
type pattern struct {
	source  string
	regexp  *regexp.Regexp
	program int // instructions; matching takes at most one step of each per byte
}

// compilePattern compiles a pattern, or says what is wrong with it.
func compilePattern(source string) (*pattern, string) {
	if len(source) > maxPattern {
		return nil, "a pattern is at most " + itoa(maxPattern) + " characters long"
	}
	compiled, err := regexp.Compile(source)
	if err != nil {
		return nil, "the pattern can't be read: " + err.Error()
	}
	size := 0
	if parsed, err := syntax.Parse(source, syntax.Perl); err == nil {
		if program, err := syntax.Compile(parsed.Simplify()); err == nil {
			size = len(program.Inst)
		}
	}
	return &pattern{source, compiled, size}, ""
}

func matches(c invocation, where, what string) bool {
	p, m := c.n.pattern, c.m
	if p == nil {
		if p = m.lastPattern; p == nil || p.source != what {
			c.work(100 * (len(what) + 10))
			var problem string
			if p, problem = compilePattern(what); problem != "" {
				panic(c.fail(1, problem, "").of(OfText))
			}
			c.work(10 * p.program)
			m.lastPattern = p
		}
	}
	c.work((len(where) + 1) * (p.program/4 + 1) / 4)
	return p.regexp.MatchString(where)
}
