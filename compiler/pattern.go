package compiler

import (
	"regexp"
	"sync"
)

// lazily is a regular expression that is compiled when it is first asked: most plans start
// no program, and all that are known of programs take longer than a small plan.
func lazily(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
