package facts

import (
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
)

// Rows are what people are shown of facts and of differences, for every format. Texts of the plan in them are escaped.
type Rows []Row

// A Row is a line, with rows below it. Its sign says what it is about: ▲ destroys, or may; ↗ leaves the machine;
// ✎ writes; ✦ a model; ✋ a person is asked; ⚠ a warning; ! is left half done.
type Row struct {
	Sign string `json:"sign,omitempty"`
	Text string `json:"text"`
	Rows Rows   `json:"rows,omitempty"`

	section bool // an empty line comes before it
	more    int  // rows that were cut
}

// Section is a title with some lines below it, which are escaped.
func Section(title string, lines []string) Rows {
	section := Row{Text: diag.Escape(title), section: true}
	for _, line := range lines {
		section.Rows = append(section.Rows, Row{Text: diag.Escape(line)})
	}
	return Rows{section}
}

// Text is the rows for a terminal.
func (r Rows) Text(style diag.Style) string {
	var b strings.Builder
	r.write(&b, style, 0)
	return b.String()
}

func (r Rows) write(b *strings.Builder, style diag.Style, depth int) {
	for _, row := range r {
		line := strings.TrimSpace(row.Sign + " " + row.Text)
		switch row.Sign {
		case "▲", "!":
			line = style.Red(line)
		case "↗", "⚠":
			line = style.Yellow(line)
		}
		if row.section && b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(strings.Repeat("  ", depth) + line + "\n")
		row.Rows.write(b, style, max(2, depth+1))
	}
}

// Markdown is the rows for a pull request: a block of code, which nothing in the plan ends.
func (r Rows) Markdown() string {
	fence, text := "```", r.Text(false)
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + text + fence + "\n"
}
