package dot

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
)

// A row is a text in a box or on an edge, in every format the same.
type row struct {
	lines []string
	kind  string // "title", "legend", "name", "detail", "condition", "mark", or "" for paths
	tone  tone   // of a mark
}

// signs stand before the name of a call.
var signs = map[MarkKind]string{Added: "+", Removed: "−", Changed: "±", Destructive: "▲", UnknownEffect: "△",
	Leaves: "↗", Asks: "?", Answers: "✦"}

const repeats = "×n" // after the name of a call that runs several times

// signs are what a box shows before its name: what the call does, and of several calls how many do.
func (n *Node) signs() (text string) {
	for _, m := range n.Marks {
		if sign := signs[m.Kind]; sign != "" && n.Count > 1 {
			text += sign + strconv.Itoa(m.Count) + " "
		} else if sign != "" {
			text += sign + " "
		}
	}
	return text
}

// hidesDetail reports whether the details of a node are shown on hover only.
func (v *View) hidesDetail(n *Node) bool { return !v.Detail && n.Call != "" }

// boxRows are what a box shows: signs and name, then the details, unless they are shown on hover, and what became of
// it, in lines of so many characters.
func (v *View) boxRows(n *Node, name, width int) []row {
	signs, label := n.signs(), n.Label
	if n.Repeats {
		label += " " + repeats
	}
	out := []row{{lines: rows(cmp.Or(signs+label, " "), name+len(signs)), kind: "name"}}
	add := func(text, kind string, tone tone) {
		if text != "" {
			out = append(out, row{wrapped(text, width), kind, tone})
		}
	}
	if !v.hidesDetail(n) {
		add(n.Detail, "detail", tone{})
	}
	for _, m := range reported(n.Marks) {
		text := m.words()
		if !v.Detail || n.Call == "" {
			text = m.glance()
		}
		add(text, "mark", m.Kind.tone())
	}
	add(n.State, "detail", tone{})
	return out
}

// headRows are the title, the notes and the legend of the drawing, in lines of so many characters.
func (v *View) headRows(width int) (out []row) {
	if v.Name != "" {
		out = append(out, row{lines: rows(v.Name, maxTitle), kind: "title"})
	}
	for _, note := range v.Notes {
		out = append(out, row{lines: wrapped(note, width), kind: "detail"})
	}
	for _, entry := range v.Legend() {
		out = append(out, row{lines: wrapped(entry.String(), width), kind: "legend"})
	}
	return out
}

// linesOf are the lines of rows.
func linesOf(all []row) (lines []string) {
	for _, r := range all {
		lines = append(lines, r.lines...)
	}
	return lines
}

// edgeRows are the texts beside an edge: on which condition it is taken, and with View.Detail all that is known of
// it.
func (v *View) edgeRows(e *Edge) (out []row) {
	if v.Detail && e.Label != "" {
		out = append(out, row{lines: rows(e.Label, maxLabel)})
	}
	condition := e.When
	if e.Kind == Failure {
		condition = strings.TrimSuffix("fails\n"+e.When, "\n")
	}
	if condition != "" {
		out = append(out, row{lines: wrapped(condition, maxCondition), kind: "condition"})
	}
	for _, m := range first(e.Marks) {
		out = append(out, row{[]string{m.words()}, "mark", m.Kind.tone()})
	}
	return out
}

// edgeTip is what is shown of an edge on hover: what its rows leave out.
func (v *View) edgeTip(e *Edge) string {
	if v.Detail {
		return ""
	}
	return strings.Join(rows(e.Label, maxTip), "\n")
}

// tip is what is shown of a node on hover.
func (v *View) tip(n *Node) string {
	var lines []string
	if v.hidesDetail(n) {
		lines = wrapped(n.Detail, maxTip)
	}
	for _, m := range n.Marks {
		line := m.words()
		if m.Text != "" {
			line += ": " + diag.Escape(m.Text)
		}
		lines = append(lines, shorten(line, maxTip))
	}
	return strings.Join(lines, "\n")
}

// A look is how a box or a line is drawn, in the colours on white.
type look struct {
	fill, line, text string
	tone             string // the name of the tone of the line; "" for that of its kind
	dash             string // "dashed", "dotted" or ""
	width            float64
}

func (n *Node) look() look {
	paint := paints[n.Kind]
	l := look{fill: paint.fill, line: paint.border, text: paint.text, width: 1}
	if has(n.Marks, Destructive) {
		l.fill = dangerFill
	}
	if kind := outline(n.Marks); kind != "" {
		l.line, l.tone, l.width = kind.tone().colour, kind.tone().name, 1.8
	}
	if n.Kind == Missing || has(n.Marks, Removed) {
		l.dash = "dashed"
	}
	return l
}

func (v *View) edgeLook(e *Edge) look {
	l := look{line: line, text: muted, width: 1}
	switch e.Kind {
	case Failure:
		l.line, l.text, l.dash = caution, caution, "dashed"
	case After:
		l.dash, l.width = "dashed", 1.4
	case Order, Once:
		l.dash, l.width = "dotted", 1.4
	}
	if v.Nodes[e.From].Kind == Missing || has(e.Marks, Removed) {
		l.dash = "dashed"
	}
	if marks := reported(e.Marks); len(marks) > 0 {
		tone := marks[0].Kind.tone()
		l.tone, l.width, l.line, l.text = tone.name, 1.8, tone.colour, tone.colour
	}
	return l
}

// reported are the marks that a drawing shows in words; infos are left to tooltips.
func reported(marks []Mark) []Mark {
	return slices.DeleteFunc(slices.Clone(marks), func(m Mark) bool { return m.Kind == Info })
}

// effects are the marks that say what carrying a call out may do.
var effectMarks = []MarkKind{Destructive, UnknownEffect, Leaves, Asks, Answers, Writes}

// outline is what decides the outline of a node: what became of it, or else that it destroys, or may.
// Findings are words, so that they never take the outline of what destroys, nor give its colour to what only reads.
func outline(marks []Mark) MarkKind {
	for _, m := range marks {
		if !slices.Contains([]MarkKind{Error, Warning, Info, Writes, Leaves, Asks, Answers}, m.Kind) {
			return m.Kind
		}
	}
	return ""
}

// words says a mark in words, so that colour isn't all there is.
func (m Mark) words() string {
	s := string(m.Kind)
	switch m.Kind {
	case Leaves:
		s = "may leave the machine"
	case UnknownEffect:
		s = "effect unknown"
	case Asks:
		s = "a person is asked"
	case Answers:
		s = "a model answers"
	}
	if m.Code != "" && !strings.ContainsRune(";,:", rune(m.Code[0])) {
		s += " "
	}
	s += m.Code
	if m.Count > 1 {
		s += " ×" + strconv.Itoa(m.Count)
	}
	return s
}

// glance is what a box says of a mark that has no sign of its own.
func (m Mark) glance() string {
	if slices.Contains(effectMarks, m.Kind) {
		return ""
	}
	if m.Kind == Error || m.Kind == Warning {
		m.Code, _, _ = strings.Cut(m.Code, ":")
	}
	return m.words()
}

// first is what an edge says of its marks: the gravest of them. What differs is seen by its colour, and said at its
// ends.
func first(marks []Mark) []Mark {
	if marks = reported(marks); len(marks) > 0 && !has(marks[:1], Added, Changed, Removed) {
		return marks[:1]
	}
	return nil
}
