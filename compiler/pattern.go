package compiler

import (
	"regexp"
	"sync"
)

// lazily returns a regular expression that is compiled when it is first used: most plans start no program, and
// compiling all expressions about programs takes longer than checking a small plan.
func lazily(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
