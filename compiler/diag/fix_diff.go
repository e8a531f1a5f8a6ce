package diag

import (
	"fmt"
	"io"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// Diff writes what changes between two texts of one file as a unified diff, the
// form that patch and git apply read. Nothing is written when they are equal.
// For people, that is with a style that colours, hidden characters are spelt
// out; otherwise lines are as they are. The error is that of w.
func Diff(w io.Writer, name string, before, after []byte, o TextOptions) error {
	p := newPrinter(w, o)
	name = Escape(name)
	header := 2 // "---" and "+++" are no lines of the texts
	for line := range strings.Lines(udiff.Unified(name, name, string(before), string(after))) {
		line = strings.TrimSuffix(line, "\n")
		if bool(p.Style) || o.Terminal {
			line = Escape(strings.TrimSuffix(line, "\r"))
		}
		switch {
		case header > 0:
			header--
			line = p.Bold(line)
		case line[0] == '@':
			line = p.Cyan(line)
		case line[0] == '-':
			line = p.Red(line)
		case line[0] == '+':
			line = p.Green(line)
		}
		fmt.Fprintln(p.out, line)
	}
	return p.out.Flush()
}
