package terminal

import (
	"fmt"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/compiler/diag"
)

// A page is text that is laid out in columns. What it is given is escaped
// already.
type page struct {
	b     strings.Builder
	width int
}

// text adds lines that are indented and wrapped, each painted by itself.
func (p *page) text(indent int, paint func(string) string, text string) {
	for _, line := range Fold(text, p.width-indent) {
		p.line(indent, paint(line))
	}
}

func (p *page) line(indent int, painted string) {
	p.b.WriteString(strings.Repeat(" ", indent) + painted + "\n")
}

// gap sets what follows apart.
func (p *page) gap() {
	if !strings.HasSuffix(p.b.String(), "\n\n") {
		p.b.WriteString("\n")
	}
}

// quote adds somebody else's words, however many lines they have. Behind their
// bar they can't pass for ours.
func (p *page) quote(indent int, words string, most int) {
	var lines []string
	for line := range strings.SplitSeq(strings.TrimRight(words, "\n"), "\n") {
		lines = append(lines, Fold(diag.Escape(line), p.width-indent-2)...)
		if most > 0 && len(lines) > most {
			lines = append(lines[:most-1], Cut(lines[most-1]+" …", p.width-indent-2))
			break
		}
	}
	for _, line := range lines {
		p.line(indent, "│ "+line)
	}
}

func plainly(text string) string { return text }

// Quoted is a name in quotes, which stays in its line and acts on nothing.
func Quoted(name string) string { return `"` + diag.Escape(name) + `"` }

// Fold breaks escaped text into lines of so many columns: between words, and
// inside of those that are too long.
func Fold(text string, columns int) []string {
	columns = max(8, columns)
	var lines []string
	line, at, blank := 0, 0, -1 // where the line began, its columns so far, its last blank
	for i, w := range diag.Characters(text) {
		space := text[i] == ' '
		if at+w > columns {
			end, next := i, i
			switch {
			case space:
				next = i + 1
			case blank > line:
				end, next = blank, blank+1
			}
			lines = append(lines, text[line:end])
			line, blank = next, -1
			at = diag.Columns(text[line:max(line, i)])
			if space && next > i {
				continue
			}
		}
		if space {
			blank = i
		}
		at += w
	}
	return append(lines, text[min(line, len(text)):])
}

// Cut shortens escaped text to so many columns.
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

// Pad is escaped text that fills so many columns.
func Pad(text string, columns int) string {
	return Cut(text, columns) + strings.Repeat(" ", max(0, columns-diag.Columns(text)))
}

// Duration is a duration in three digits or so.
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
