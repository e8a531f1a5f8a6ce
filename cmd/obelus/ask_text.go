package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/runtime"
	"golang.org/x/text/width"
)

// A page is text that is laid out in columns. What it is given is escaped
// already (S2.6).
type page struct {
	b     strings.Builder
	width int
}

// text adds lines that are indented and wrapped, each painted by itself.
func (p *page) text(indent int, paint func(string) string, text string) {
	for _, line := range fold(text, p.width-indent) {
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
		lines = append(lines, fold(diag.Escape(line), p.width-indent-2)...)
		if most > 0 && len(lines) > most {
			lines = append(lines[:most-1], shorten(lines[most-1]+" …", p.width-indent-2))
			break
		}
	}
	for _, line := range lines {
		p.line(indent, "│ "+line)
	}
}

func plainly(text string) string { return text }

func quoted(name string) string { return `"` + diag.Escape(name) + `"` }

// How much of a question is shown before somebody asks for more.
const (
	shownParams  = 12 // parameters
	shownSources = 3  // places that one of them comes from
	shownLines   = 3  // lines of a value, or of a model's reason
)

// summary is a question as it is first put: what to decide about and what it
// takes to decide, in a few lines.
func (d *dialogue) summary(q *runtime.Question) string { return d.lay(q, false) }

// everything is a question with all there is to know: values in full, and what
// the tool says of itself.
func (d *dialogue) everything(q *runtime.Question) string { return d.lay(q, true) }

func (d *dialogue) lay(q *runtime.Question, full bool) string {
	s := d.console.style
	p := &page{width: d.console.width()}
	if q.Problem != "" {
		p.text(2, s.red, "that can't be taken: "+diag.Escape(q.Problem))
	}
	d.headline(p, q)
	p.gap()
	d.params(p, q, full)
	p.gap()
	if words := account(q); words != "" {
		p.text(4, plainly, words)
	}
	d.advice(p, q, full)
	if q.Reason != "" {
		p.text(4, plainly, "the model's words, which nobody has checked:")
		most := shownLines
		if full {
			most = 0
		}
		p.quote(4, q.Reason, most)
	}
	if full {
		d.toolItself(p, q)
	}
	p.gap()
	return p.b.String()
}

// inFull is the name of the call in question, those above it before it.
func inFull(q *runtime.Question) string {
	if q.Under != "" {
		return q.Under + "/" + q.Call
	}
	return q.Call
}

// headline says what is to be decided and what hangs on it.
func (d *dialogue) headline(p *page, q *runtime.Question) {
	s := d.console.style
	ask := "may " + quoted(inFull(q)) + " run?"
	if q.InFlight {
		ask = quoted(inFull(q)) + " was at work when the run was killed; run it again?"
	}
	for i, line := range fold(ask, p.width-4) {
		mark := " "
		if i == 0 {
			mark = s.yellow("?")
		}
		p.line(2, mark+" "+s.bold(line))
	}
	words, paint := effectsInWords(q, s)
	p.text(4, paint, words)
	if q.Doubt != "" {
		p.text(4, s.yellow, diag.Escape(q.Doubt))
	}
	tool := "the tool " + quoted(q.Tool)
	switch q.Activity {
	case "":
		tool += ", whose result a model writes"
	case q.Tool:
	default:
		tool += ", carried out by " + quoted(q.Activity)
	}
	if q.Delegate != "" {
		tool += ", in the plan " + quoted(q.Delegate)
	}
	if q.Instance != "" {
		tool += ", for the instance " + quoted(q.Instance)
	}
	p.text(4, plainly, tool)
}

// effectsInWords says what a call may do to the world, and how worrying that is.
// What sounds harmless is only what the tool says of itself.
func effectsInWords(q *runtime.Question, s style) (words string, paint func(string) string) {
	switch q.Effects {
	case "read-only":
		words, paint = "its tool says that it only reads", s.green
	case "writes":
		words, paint = "its tool says that it adds things and destroys none", s.yellow
	case "destructive":
		words, paint = "it may change or delete things for good", s.red
	default:
		words, paint = "it may do anything: its tool doesn't say", s.yellow
	}
	if q.OpenWorld {
		words += "; it may reach beyond this machine"
	}
	if q.InFlight {
		words = "it may have happened already, and would then happen twice; " + words
	}
	return words, paint
}

// account says where the result goes and what a try costs.
func account(q *runtime.Question) string {
	var parts []string
	if len(q.Writes) > 0 {
		paths := make([]string, len(q.Writes))
		for i, path := range q.Writes {
			paths[i] = diag.Escape(path)
		}
		parts = append(parts, "it writes "+alternatives(paths))
	}
	if q.Cost != 0 {
		parts = append(parts, "a try costs "+strconv.FormatFloat(q.Cost, 'g', 6, 64)+", says its tool")
	}
	return strings.Join(parts, "; ")
}

// params lists the resolved parameters, each with where it comes from.
func (d *dialogue) params(p *page, q *runtime.Question, full bool) {
	names := slices.Sorted(maps.Keys(q.Params))
	if len(names) == 0 {
		p.text(4, d.console.style.faint, "without parameters")
	}
	left := 0
	if !full && len(names) > shownParams {
		left = len(names) - shownParams
		names = names[:shownParams]
	}
	column := nameColumn(p, names)
	for _, name := range names {
		d.param(p, column, name, q.Params[name], sourcesOf(q, name), full)
	}
	if left > 0 {
		p.text(4, d.console.style.faint, fmt.Sprintf("and %s; ? shows all", count(left, "more parameter")))
	}
}

// nameColumn is how wide names are shown, their colon included.
func nameColumn(p *page, names []string) int {
	widest := 0
	for _, name := range names {
		widest = max(widest, cells(diag.Escape(name)))
	}
	return 1 + min(widest, max(8, p.width/4))
}

// param shows one value and where it comes from. Text is in quotes, so that "5"
// isn't 5.
func (d *dialogue) param(p *page, column int, name string, value any, from []runtime.Source, full bool) {
	s := d.console.style
	name = diag.Escape(name)
	indent := 4 + column + 1
	room := p.width - indent
	if full {
		text, blocks := value.(string)
		if blocks = blocks && strings.Contains(text, "\n"); !blocks {
			text = asJSON(value, "  ")
		}
		if strings.Contains(text, "\n") || cells(diag.Escape(text)) > room || cells(name) >= column {
			p.text(4, s.bold, name+":")
			p.quote(4, text, 0)
			d.origins(p, 6, from, full)
			return
		}
	}
	whole := asJSON(value, "")
	some := upTo(whole, room*(shownLines+1))
	lines, short := fold(diag.Escape(some), room), len(some) == len(whole)
	if len(lines) > shownLines {
		lines, short = append(lines[:shownLines-1], shorten(lines[shownLines-1]+" …", room)), false
	}
	if len(from) == 1 && from[0].Param == "" && len(lines) == 1 {
		if words := "  " + inWords(from[0]); cells(lines[0]+words) <= room {
			lines[0] += s.faint(words)
			from = nil
		}
	}
	label := shorten(name, column-1) + ":"
	for i, line := range lines {
		if i == 0 {
			p.line(4, s.bold(label)+strings.Repeat(" ", column-cells(label)+1)+line)
		} else {
			p.line(indent, line)
		}
	}
	if !short {
		p.text(indent, s.faint, count(utf8.RuneCountInString(whole), "character")+" in all; ? shows them")
	}
	d.origins(p, indent, from, full)
}

// sourcesOf lists where a parameter and what is in it come from.
func sourcesOf(q *runtime.Question, name string) []runtime.Source {
	var there []runtime.Source
	for _, source := range q.Sources {
		if inside, ok := strings.CutPrefix(source.Param, name); ok && (inside == "" || inside[0] == '.' || inside[0] == '[') {
			source.Param = strings.TrimPrefix(inside, ".")
			there = append(there, source)
		}
	}
	return there
}

// origins says where a parameter comes from.
func (d *dialogue) origins(p *page, indent int, from []runtime.Source, full bool) {
	for i, source := range from {
		if !full && i == shownSources {
			p.text(indent, d.console.style.faint, fmt.Sprintf("← and %s; ? shows all", count(len(from)-i, "more place")))
			return
		}
		p.text(indent, d.console.style.faint, inWords(source))
	}
}

func inWords(source runtime.Source) string {
	words := "← "
	if source.Param != "" {
		words += diag.Escape(source.Param) + " is "
	}
	return words + diag.Escape(source.Reference) + fromWhom(source)
}

// fromWhom says who wrote what a reference read.
func fromWhom(source runtime.Source) string {
	var calls []string
	for _, from := range source.From {
		if !strings.Contains(source.Reference, "†"+from) { // else it was there from the start, and the reference says where
			calls = append(calls, quoted(from))
		}
	}
	if len(calls) == 0 {
		return ", there from the start"
	}
	if len(calls) > 1 {
		calls = append(calls[:len(calls)-2], calls[len(calls)-2]+" and "+calls[len(calls)-1])
	}
	return ", written by " + strings.Join(calls, ", ")
}

// toolItself adds what is known of the tool.
func (d *dialogue) toolItself(p *page, q *runtime.Question) {
	if d.tools == nil {
		return
	}
	tool := d.tools(q)
	if tool == nil {
		return
	}
	s := d.console.style
	if tool.Description != "" {
		p.gap()
		p.text(4, s.bold, "the tool says of itself:")
		p.quote(4, tool.Description, 0)
	}
	if tool.Parameters != nil {
		p.gap()
		p.text(4, s.bold, "the schema of its parameters:")
		p.quote(4, asJSON(tool.Parameters.Raw(), "  "), 0)
	}
}

// fold breaks escaped text into lines of so many columns: between words, and
// inside of those that are too long.
func fold(text string, columns int) []string {
	columns = max(8, columns)
	var lines []string
	line, at, blank := 0, 0, -1 // where the line began, its columns so far, its last blank
	for i, r := range text {
		w := cellsOf(r)
		if at+w > columns {
			end, next := i, i
			switch {
			case r == ' ':
				next = i + 1
			case blank > line:
				end, next = blank, blank+1
			}
			lines = append(lines, text[line:end])
			line, blank = next, -1
			at = cells(text[line:max(line, i)])
			if r == ' ' && next > i {
				continue
			}
		}
		if r == ' ' {
			blank = i
		}
		at += w
	}
	return append(lines, text[min(line, len(text)):])
}

// shorten cuts escaped text to so many columns.
func shorten(text string, columns int) string {
	if cells(text) <= columns {
		return text
	}
	at := 0
	for i, r := range text {
		if at += cellsOf(r); at > columns-1 {
			return text[:i] + "…"
		}
	}
	return text
}

// upTo is the beginning of a text, of so many characters.
func upTo(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for i := range text {
		if most--; most < 0 {
			return text[:i]
		}
	}
	return text
}

// cells is how many columns a terminal needs at most for escaped text.
func cells(text string) int {
	total := 0
	for _, r := range text {
		total += cellsOf(r)
	}
	return total
}

func cellsOf(r rune) int {
	if r < 0x1100 {
		return 1
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}
