package diag

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/wording"
)

// TextOptions say how findings look to people.
type TextOptions struct {
	Color bool // terminal colours
	Width int  // columns of a line; 0 is 100, and fewer than 40 count as 40

	// Fixed is text after a safe fix: who makes it; or "".
	Fixed string
	// Evidence shows the witness of each finding that has one.
	Evidence bool
	// Terminal says that a patch is for a person to look at, not for a program to
	// apply: what a terminal would act on is escaped in it.
	Terminal bool
}

// maxPlaces bounds the related places that a person is shown of one finding;
// the rest are counted. JSON has them all.
const maxPlaces = 8

// Text writes findings for people, each followed by an empty line: what and
// why, where (file:line:column), the line itself with the spot underlined,
// related places in the order of the text with words of their own, and what to
// do. Long lines are cut to a window around the spot, at a cost that doesn't
// depend on their length. All text from outside is escaped (see [Escape]). The
// findings are shown in the order given. The error is that of w.
func Text(w io.Writer, findings []Diagnostic, o TextOptions) error {
	p := newPrinter(w, o)
	for i := range findings {
		p.finding(&findings[i])
	}
	return p.out.Flush()
}

// A printer lays out findings. A failed write is remembered by out and told by
// its Flush.
type printer struct {
	out     *bufio.Writer
	explain bool // show evidence
	fixed   string
	Style
	width  int
	gutter int // columns of the line numbers of the finding at hand
}

func newPrinter(w io.Writer, o TextOptions) *printer {
	if o.Width == 0 {
		o.Width = 100
	}
	fixed := o.Fixed
	if fixed != "" {
		fixed = " (" + fixed + ")"
	}
	return &printer{out: bufio.NewWriter(w), explain: o.Evidence, fixed: fixed, Style: Style(o.Color),
		width: max(40, o.Width)}
}

// style is how findings of a severity are painted.
func (s Severity) style() func(Style, string) string {
	return [...]func(Style, string) string{Style.Cyan, Style.Yellow, Style.Red}[s]
}

func (p *printer) line(format string, args ...any) {
	fmt.Fprintf(p.out, format+"\n", args...)
}

// A label is one place that a finding shows.
type label struct {
	span    source.Span
	from    source.Position
	last    int // the line of its last character
	message string
	primary bool
}

func newLabel(span source.Span, message string, primary bool) label {
	from := span.From()
	last := from.Line
	if span.End > span.Start {
		last = span.File.Position(span.End - 1).Line
	}
	return label{span, from, last, Escape(message), primary}
}

func (p *printer) finding(d *Diagnostic) {
	p.line("%s%s", d.Severity.style()(p.Style, d.Severity.String()+"["+d.Rule.Code+"]"), p.Bold(": "+Escape(d.Message)))
	labels, notes, more := gather(d)
	p.gutter = 1
	for _, l := range labels {
		p.gutter = max(p.gutter, len(strconv.Itoa(l.from.Line)))
	}
	for i, group := range byFile(labels) {
		p.excerpt(group, i == 0, d.Severity)
	}
	for _, n := range notes {
		p.remark(Style.Cyan, "note", n)
	}
	if more > 0 {
		p.remark(Style.Cyan, "note", "and "+wording.Count(more, "more related place"))
	}
	if d.Help != "" {
		p.remark(Style.Green, "help", Escape(d.Help))
	}
	for _, f := range d.Fixes {
		if f.Safe {
			p.remark(Style.Green, "fix", Escape(f.Message)+p.fixed)
		} else {
			p.remark(Style.Green, "fix", Escape(f.Message))
		}
	}
	if p.explain {
		p.evidence(d.Witness)
	}
	p.line("")
}

// gather lists the places of a finding that are shown, the words of those that
// are nowhere, and how many are left out. Words about the primary place itself
// go beside its mark.
func gather(d *Diagnostic) (labels []label, notes []string, more int) {
	if d.Span.Known() {
		labels = append(labels, newLabel(d.Span, "", true))
	}
	for _, n := range d.Related {
		switch {
		case n.Span == d.Span && len(labels) > 0 && labels[0].message == "":
			labels[0].message = Escape(n.Message)
		case len(labels)+len(notes) > maxPlaces:
			more++
		case n.Span.Known():
			labels = append(labels, newLabel(n.Span, n.Message, false))
		default:
			notes = append(notes, Escape(n.Message))
		}
	}
	return labels, notes, more
}

// byFile splits labels into one group a file, the primary one's first, each in
// the order of the text.
func byFile(labels []label) [][]label {
	var groups [][]label
	for _, l := range labels {
		at := slices.IndexFunc(groups, func(g []label) bool { return g[0].span.File == l.span.File })
		if at < 0 {
			groups = append(groups, []label{l})
		} else {
			groups[at] = append(groups[at], l)
		}
	}
	return groups
}

// excerpt shows the lines of one file that labels stand on.
func (p *printer) excerpt(labels []label, first bool, severity Severity) {
	arrow := ":::"
	if first {
		arrow = "-->"
	}
	at := labels[0]
	p.line("%*s%s %s:%d:%d", p.gutter, "", p.Blue(arrow), Escape(at.span.File.Name), at.from.Line, at.from.Column)
	p.bar("")
	slices.SortStableFunc(labels, func(a, b label) int {
		return cmp.Or(cmp.Compare(a.from.Line, b.from.Line), cmp.Compare(a.span.Start, b.span.Start))
	})
	before := 0
	var shown window
	for _, l := range labels {
		if before > 0 && l.from.Line > before+1 {
			p.line("%s", p.Blue("..."))
		}
		if l.from.Line != before || !shown.holds(l.span.Start) {
			shown = newWindow(l.span, p.room())
			p.row(strconv.Itoa(l.from.Line), shown.text())
		}
		p.underline(l, shown, severity)
		before = l.from.Line
	}
}

// room is how many columns of source fit behind the gutter.
func (p *printer) room() int { return p.width - p.gutter - len(" | ") }

// bar is a line of an excerpt that has no number.
func (p *printer) bar(text string) { p.row("", text) }

// row is a line of an excerpt.
func (p *printer) row(margin, text string) {
	p.line("%s", strings.TrimRight(p.Blue(fmt.Sprintf("%*s |", p.gutter, margin))+" "+text, " "))
}

// underline marks a label's place below its line and says its words, beside
// the mark where there is room and else below it.
func (p *printer) underline(l label, shown window, severity Severity) {
	paint, mark := Style.Blue, "-"
	if l.primary {
		paint, mark = severity.style(), "^"
	}
	words := l.message
	if l.last > l.from.Line {
		words = strings.TrimLeft(fmt.Sprintf("%s (down to line %d)", words, l.last), " ")
	}
	start, length := shown.place(l.span)
	indent := strings.Repeat(" ", start)
	marks := strings.Repeat(mark, length)
	if start+length+1+Columns(words) <= p.room() {
		p.bar(indent + paint(p.Style, strings.TrimRight(marks+" "+words, " ")))
		return
	}
	p.bar(indent + paint(p.Style, marks))
	start = min(start, max(p.room()/2, p.room()-Columns(words)))
	for _, row := range wrap(words, p.room()-start) {
		p.bar(strings.Repeat(" ", start) + paint(p.Style, row))
	}
}

// remark is a line about the finding as a whole.
func (p *printer) remark(paint func(Style, string) string, kind, words string) {
	p.line("%*s %s %s %s", p.gutter, "", p.Blue("="), paint(p.Style, kind+":"), words)
}

// wrap breaks words into rows of at most so many columns, a word that is
// longer by itself aside.
func wrap(s string, width int) []string {
	var rows []string
	row := ""
	for _, word := range strings.Fields(s) {
		switch {
		case row == "":
			row = word
		case Columns(row)+1+Columns(word) <= width:
			row += " " + word
		default:
			rows = append(rows, row)
			row = word
		}
	}
	if row != "" {
		rows = append(rows, row)
	}
	return rows
}

// A window is the part of a line that is shown.
type window struct {
	cells           []cell
	start, end      int // the bytes of the file that it shows
	cutLeft, cutEnd bool
}

// A cell is one character as it is printed.
type cell struct {
	at    int // its byte offset in the file
	text  string
	width int
}

const tabWidth = 4

// shrouded replaces what is hidden.
const shrouded = "[hidden]"

func newCell(file *source.File, at, size int, before rune, hidden func(at int) (start, end int)) cell {
	text := string(file.Text[at : at+size])
	if start, end := hidden(at); end > 0 {
		if start < at {
			return cell{at, "", 0}
		}
		return cell{at, shrouded, len(shrouded)}
	}
	r, _ := utf8.DecodeRuneInString(text)
	if r == '\t' {
		return cell{at, strings.Repeat(" ", tabWidth), tabWidth}
	}
	s := shown(r, before, text)
	if s == text {
		columns := runeColumns(r, before)
		if columns == 0 && !drawnOver(file.Text[:at]) {
			columns = 1
		}
		return cell{at, s, columns}
	}
	return cell{at, s, Columns(s)}
}

// drawnOver reports whether a mark behind a text is drawn over its last character: not at
// the start of a line, behind a blank, or where there are as many marks as there may be.
func drawnOver(text []byte) bool {
	for range maxMarks {
		last, size := utf8.DecodeLastRune(text)
		if size == 0 || unicode.IsSpace(last) {
			return false
		}
		if text = text[:len(text)-size]; runeColumns(last, ' ') > 0 {
			return true
		}
	}
	return false
}

// newWindow takes as much of the line at a span's start as fits into room
// columns, so that the span's start, and as much of the span as possible, is
// in it. It looks at no more of the line than that.
func newWindow(span source.Span, room int) window {
	text := span.File.Text
	spot := min(max(span.Start, 0), len(text))
	hidden := span.File.HiddenAt(spot-4*room, spot+4*room)

	var left []cell // from the spot to the line's start
	leftWidth, start := 0, spot
	for start > 0 && leftWidth <= room && !lineEnd(text[start-1]) {
		_, size := utf8.DecodeLastRune(text[:start])
		before, _ := utf8.DecodeLastRune(text[:start-size])
		start -= size
		left = append(left, newCell(span.File, start, size, before, hidden))
		leftWidth += left[len(left)-1].width
	}
	slices.Reverse(left)

	var right []cell
	rightWidth, spanWidth, end := 0, 1, spot
	for end < len(text) && rightWidth <= room && !lineEnd(text[end]) {
		_, size := utf8.DecodeRune(text[end:])
		before, _ := utf8.DecodeLastRune(text[:end])
		right = append(right, newCell(span.File, end, size, before, hidden))
		end += size
		rightWidth += right[len(right)-1].width
		if end <= span.End || len(right) == 1 {
			spanWidth = rightWidth
		}
	}

	w := window{cells: append(left, right...), start: start, end: end}
	if leftWidth+rightWidth <= room {
		return w
	}
	// One column at each cut end is for the ellipsis.
	if leftWidth+spanWidth+1 > room {
		keep := max(room/3, room-2-min(spanWidth+room/4, rightWidth))
		for leftWidth > keep && len(left) > 0 {
			leftWidth -= left[0].width
			left = left[1:]
			w.cutLeft = true
		}
	}
	w.cells = append(slices.Clip(left), right...)
	if len(left) > 0 {
		w.start = left[0].at
	} else {
		w.start = spot
	}
	limit, total := room-1, leftWidth+rightWidth
	if w.cutLeft {
		limit--
	}
	for total > limit && len(w.cells) > 0 {
		last := w.cells[len(w.cells)-1]
		w.cells, w.end, w.cutEnd = w.cells[:len(w.cells)-1], last.at, true
		total -= last.width
	}
	return w
}

func lineEnd(b byte) bool { return b == '\n' || b == '\r' }

// holds reports whether a place of the same line is in the window.
func (w *window) holds(offset int) bool {
	return w.start <= offset && (offset < w.end || offset == w.end && !w.cutEnd)
}

func (w *window) text() string {
	var b strings.Builder
	if w.cutLeft {
		b.WriteString("…")
	}
	for _, c := range w.cells {
		b.WriteString(c.text)
	}
	if w.cutEnd {
		b.WriteString("…")
	}
	return strings.TrimRight(b.String(), " ")
}

// place is where a span begins in the window, in columns from its left edge,
// and how many of them it takes: at least one, and none outside the window.
func (w *window) place(span source.Span) (start, length int) {
	if w.cutLeft {
		start++
	}
	for i, c := range w.cells {
		next := w.end
		if i+1 < len(w.cells) {
			next = w.cells[i+1].at
		}
		switch {
		case next <= span.Start:
			start += c.width
		case c.at < span.End:
			length += c.width
		}
	}
	return start, max(1, length)
}
