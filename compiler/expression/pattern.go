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
	parsed, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return nil, "the pattern can't be read: " + err.Error()
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, "the pattern can't be read: " + err.Error()
	}
	compiled, err := regexp.Compile(source)
	if err != nil {
		return nil, "the pattern can't be read: " + err.Error()
	}
	return &pattern{source, compiled, len(program.Inst)}, ""
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
