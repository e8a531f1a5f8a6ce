package diag

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
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
	if p.explain && d.Witness != nil {
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
	for _, row := range Wrap(words, p.room()-start, "") {
		p.bar(strings.Repeat(" ", start) + paint(p.Style, row))
	}
}

// remark is a line about the finding as a whole.
func (p *printer) remark(paint func(Style, string) string, kind, words string) {
	p.line("%*s %s %s %s", p.gutter, "", p.Blue("="), paint(p.Style, kind+":"), words)
}

// evidence shows the witness of a finding, as JSON: on one line if it fits.
func (p *printer) evidence(witness any) {
	p.line("%*s %s %s", p.gutter, "", p.Blue("="), p.Cyan("evidence:"))
	margin := strings.Repeat(" ", p.gutter+3)
	text, err := Encode(witness, "")
	if err == nil && Columns(margin+string(text)) > p.width {
		text, _ = Encode(witness, "  ")
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		p.line("%s%s", margin, Escape(line))
	}
}

// A window is the part of a line that is shown.
type window struct {
	file       *source.File
	start, end int // the bytes that it shows
	hidden     func(at int) (start, end int)
}

const tabWidth = 4

// shrouded replaces what is hidden.
const shrouded = "[hidden]"

// newWindow takes as much of the line at a span's start as fits into room
// columns, so that the span's start, and as much of the span as possible, is
// in it. It looks at no more of the line than that.
func newWindow(span source.Span, room int) window {
	text, most := span.File.Text, utf8.UTFMax*room
	spot := min(max(span.Start, 0), len(text))
	w := window{span.File, spot, spot, span.File.HiddenAt(spot-most, spot+most)}
	for w.start > max(0, spot-most) && w.cutLeft() {
		_, size := utf8.DecodeLastRune(text[:w.start])
		w.start -= size
	}
	for w.end < min(len(text), spot+most) && w.cutEnd() {
		_, size := utf8.DecodeRune(text[w.end:])
		w.end += size
	}
	if !w.cutLeft() && !w.cutEnd() && w.columns(w.start, w.end) <= room {
		return w
	}
	// One column at each cut end is for the ellipsis.
	_, size := utf8.DecodeRune(text[spot:])
	left := w.columns(w.start, spot)
	if marked := max(1, w.columns(spot, max(span.End, spot+size))); left+marked+1 > room {
		keep := max(room/3, room-2-min(marked+room/4, w.columns(spot, w.end)))
		for ; w.start < spot && (left > keep || w.columns(w.start, spot) > keep); w.start += size {
			_, size = utf8.DecodeRune(text[w.start:])
			left -= w.columns(w.start, w.start+size)
		}
	}
	limit := room - 1
	if w.cutLeft() {
		limit--
	}
	for all := w.columns(w.start, w.end); w.end > spot &&
		(all > limit || w.columns(w.start, w.end) > limit); w.end -= size {
		_, size = utf8.DecodeLastRune(text[:w.end])
		all -= w.columns(w.end-size, w.end)
	}
	return w
}

func (w *window) cutLeft() bool { return w.start > 0 && !lineEnd(w.file.Text[w.start-1]) }

func (w *window) cutEnd() bool { return w.end < len(w.file.Text) && !lineEnd(w.file.Text[w.end]) }

func lineEnd(b byte) bool { return b == '\n' || b == '\r' }

// holds reports whether a place of the same line is in the window.
func (w *window) holds(offset int) bool {
	return w.start <= offset && (offset < w.end || offset == w.end && !w.cutEnd())
}

// between is what the window shows of some bytes.
func (w *window) between(from, to int) string {
	var b strings.Builder
	before, _ := utf8.DecodeLastRune(w.file.Text[:from])
	for at := from; at < min(to, w.end); {
		r, size := utf8.DecodeRune(w.file.Text[at:])
		switch start, end := w.hidden(at); {
		case end > 0 && start == at:
			b.WriteString(shrouded)
		case end > 0:
		case r == '\t':
			b.WriteString(strings.Repeat(" ", tabWidth))
		default:
			b.WriteString(shown(r, before, string(w.file.Text[at:at+size])))
		}
		before, at = r, at+size
	}
	return b.String()
}

func (w *window) columns(from, to int) int { return Columns(w.between(from, to)) }

// text is the window as it is printed.
func (w *window) text() string {
	line := w.between(w.start, w.end)
	if w.cutLeft() {
		line = "…" + line
	}
	if w.cutEnd() {
		line += "…"
	}
	return strings.TrimRight(line, " ")
}

// place is where a span begins in the window, in columns from its left edge,
// and how many of them it takes: at least one, and none outside the window.
func (w *window) place(span source.Span) (start, length int) {
	from := min(max(span.Start, w.start), w.end)
	if w.cutLeft() {
		start++
	}
	return start + w.columns(w.start, from), max(1, w.columns(from, span.End))
}

// A Style colours text for a terminal, or doesn't.
type Style bool

func (s Style) paint(code, text string) string {
	if !s || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Red and the others paint a text.
func (s Style) Red(text string) string    { return s.paint("1;31", text) }
func (s Style) Green(text string) string  { return s.paint("1;32", text) }
func (s Style) Yellow(text string) string { return s.paint("1;33", text) }
func (s Style) Blue(text string) string   { return s.paint("1;34", text) }
func (s Style) Cyan(text string) string   { return s.paint("1;36", text) }
func (s Style) Bold(text string) string   { return s.paint("1", text) }
func (s Style) Faint(text string) string  { return s.paint("2", text) }
