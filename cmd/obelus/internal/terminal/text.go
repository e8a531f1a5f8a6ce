package terminal

import (
	"fmt"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/compiler/diag"
)

// A block is escaped text in lines of at most width columns.
type block struct {
	strings.Builder
	width int
}

// text adds indented and wrapped lines, each with its own colour.
func (p *block) text(indent int, paint func(string) string, text string) {
	for _, line := range wrap(text, p.width-indent) {
		p.row(indent, paint(line))
	}
}

func (p *block) row(indent int, painted string) {
	p.WriteString(strings.Repeat(" ", indent) + painted + "\n")
}

// gap ends a paragraph.
func (p *block) gap() {
	if p.Len() > 0 && !strings.HasSuffix(p.String(), "\n\n") {
		p.WriteString("\n")
	}
}

// quote adds text that others have written, with a bar before each line.
func (p *block) quote(indent int, text string) {
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		for _, one := range wrap(diag.Escape(line), p.width-indent-2) {
			p.row(indent, "│ "+one)
		}
	}
}

func unpainted(text string) string { return text }

// Quoted is an escaped name in quotes.
func Quoted(name string) string { return `"` + diag.Escape(name) + `"` }

// Cut shortens escaped text to at most so many columns.
func Cut(text string, columns int) string {
	if diag.Columns(text) <= columns {
		return text
	}
	at := 0
	for i, w := range diag.Characters(text) {
		if at += w; at > columns-1 {
			return text[:i] + "…"
		}
	}
	return text
}

// Pad is escaped text with exactly so many columns.
func Pad(text string, columns int) string {
	return Cut(text, columns) + strings.Repeat(" ", max(0, columns-diag.Columns(text)))
}

// Duration is a duration with about three digits.
func Duration(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}
