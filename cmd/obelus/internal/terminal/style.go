package terminal

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/compiler/diag"
	"golang.org/x/term"
)

// fileOf is the file that a stream is, if it is one.
func fileOf(stream any) (*os.File, bool) {
	if s, ok := stream.(*Screen); ok {
		stream = s.to
	}
	file, ok := stream.(*os.File)
	return file, ok
}

// Seen reports whether a stream is a terminal, of whatever kind.
var Seen = isTerminal

func isTerminal(stream any) bool {
	file, isFile := fileOf(stream)
	return isFile && term.IsTerminal(int(file.Fd()))
}

// draws reports whether a stream is a terminal that can be written on with more than plain lines.
func draws(stream any) bool { return os.Getenv("TERM") != "dumb" && isTerminal(stream) }

// colorful reports whether a stream gets colours.
func colorful(stream any) bool {
	if s, ok := stream.(*Screen); ok && s.Color != "" && s.Color != "auto" {
		return s.Color == "always"
	}
	return draws(stream) && os.Getenv("NO_COLOR") == ""
}

// TextOptions fit findings to the stream that they are shown on.
func TextOptions(stream any) diag.TextOptions {
	return diag.TextOptions{Color: colorful(stream), Terminal: Seen(stream), Width: columns(stream, 140, 0)}
}

// columns is how many columns a stream's terminal has, at most so many; or another number where that is unknown.
func columns(stream any, most, unknown int) int {
	if file, _ := fileOf(stream); draws(stream) {
		if n, _, err := term.GetSize(int(file.Fd())); err == nil && n > 0 {
			return min(n, most)
		}
	}
	return unknown
}

// Columns is how many columns a question may have on a stream.
func Columns(stream any) int { return max(12, columns(stream, 100, 80)-1) }

// A Style colours text, or doesn't.
type Style = diag.Style

// StyleFor is the style of what is written to a stream.
func StyleFor(stream any) Style { return Style(colorful(stream)) }

// A block is escaped text in lines of at most width columns.
type block struct {
	strings.Builder
	Style
	width int
}

// text adds indented and wrapped lines, each with its own colour.
func (p *block) text(indent int, paint func(string) string, text string) {
	for _, line := range diag.Wrap(text, p.width-indent, continued) {
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
func (p *block) quote(title, text string) {
	if text == "" {
		return
	}
	p.text(4, p.Bold, title)
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		for _, one := range diag.Wrap(diag.Escape(line), p.width-6, continued) {
			p.row(4, "│ "+one)
		}
	}
}

func unpainted(text string) string { return text }

// Quoted is an escaped name in quotes.
func Quoted(name string) string { return `"` + diag.Escape(name) + `"` }

// Cut shortens escaped text to at most so many columns, between words if possible.
func Cut(text string, columns int) string { return diag.Wrap(text, columns, "…")[0] }

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
