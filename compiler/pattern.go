package compiler

import (
	"regexp"
	"sync"
)

// A pattern is a regular expression that is compiled when it is first asked: most plans start
// no program, and all that are known of programs take longer than a small plan.
type pattern struct{ compiled func() *regexp.Regexp }

func lazily(text string) pattern {
	return pattern{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
}

func (p pattern) MatchString(s string) bool  { return p.compiled().MatchString(s) }
func (p pattern) FindString(s string) string { return p.compiled().FindString(s) }
