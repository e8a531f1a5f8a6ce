package dot

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
)

// A row is a line of text in a box or on an edge, in every format the same.
type row struct {
	text string
	kind string // "name", "detail", "condition", "mark", or "" for a path
	tone tone   // of a mark
}

// sizes bound texts, in characters; 0 leaves them out.
type sizes struct{ name, detail, edge int }

var fullSizes = sizes{maxLabel, maxDetail, maxLabel}

// signs stand before the name of a call, in this order.
var signs = []struct {
	mark MarkKind
	sign string
}{{Added, "+"}, {Removed, "−"}, {Changed, "±"}, {Destructive, "▲"}, {UnknownEffect, "△"}, {Leaves, "↗"}, {Asks, "?"}}

// modelSign stands before the name of a call whose result a model makes up.
const modelSign = "✦"

// signs are what a box shows before its name: what the call does, and of several calls how many do.
func (n *Node) signs() string {
	var out []string
	for _, s := range signs {
		for _, m := range n.Marks {
			if m.Kind == s.mark && n.Count > 1 {
				out = append(out, s.sign+strconv.Itoa(m.Count))
			} else if m.Kind == s.mark {
				out = append(out, s.sign)
			}
		}
	}
	if n.Kind == Latent {
		out = append(out, modelSign)
	}
	return strings.Join(out, " ")
}

// hidesDetail reports whether the details of a node are shown on hover only.
func (v *View) hidesDetail(n *Node) bool { return !v.Detail && n.Call != "" }

// boxRows are what a box shows: signs and name, then the details, unless they are shown on hover, and what became of
// it.
func (v *View) boxRows(n *Node, s sizes) (out []row) {
	signs := n.signs()
	if signs != "" {
		signs += " "
	}
	for _, text := range rows(signs+n.Label, s.name+len(signs)) {
		out = append(out, row{text: text, kind: "name"})
	}
	if !v.hidesDetail(n) {
		for _, text := range fitted(n.Detail, s.detail) {
			out = append(out, row{text: text, kind: "detail"})
		}
	}
	for i, m := range said(n.Marks) {
		text := m.words()
		if v.hidesDetail(n) || n.Count > 1 {
			if text = m.glance(); text == "" {
				continue
			}
		}
		if s.detail > 0 || i == 0 {
			for _, text := range fitted(text, max(s.detail, maxDetail)) {
				out = append(out, row{text, "mark", m.Kind.tone()})
			}
		}
	}
	for _, text := range fitted(n.State, s.detail) {
		out = append(out, row{text: text, kind: "detail"})
	}
	return out
}

// blocks are rows as a format writes them: those of one kind and tone that follow each other are one block, with
// what the format makes of their lines.
func blocks(all []row, lines func([]string) string) (out []row) {
	for start := 0; start < len(all); {
		one, texts := all[start], []string(nil)
		for ; start < len(all) && all[start].kind == one.kind && all[start].tone == one.tone; start++ {
			texts = append(texts, all[start].text)
		}
		one.text = lines(texts)
		out = append(out, one)
	}
	return out
}

// A markup is how a format writes labels.
type markup struct {
	lines func([]string) string // makes a text of lines
	end   string                // between two blocks
	kinds map[string]string     // by kind of row: a format of its text and the colour of its tone
}

// label writes rows. The name of what isn't calls is plain.
func (m markup) label(all []row, isCall bool) string {
	var out []string
	for _, r := range blocks(all, m.lines) {
		if format := m.kinds[r.kind]; format != "" && r.text != "" && (isCall || r.kind != "name") {
			r.text = fmt.Sprintf(format, r.text, r.tone.colour)
		}
		out = append(out, r.text)
	}
	return strings.Join(out, m.end)
}

// edgeRows are what stands beside an edge: on which condition it is taken, and with View.Detail all that is known of
// it.
func (v *View) edgeRows(e *Edge, s sizes) (out []row) {
	if s.edge == 0 {
		return nil
	}
	if v.Detail {
		for _, text := range rows(e.Label, s.edge) {
			out = append(out, row{text: text})
		}
	}
	condition := e.When
	if e.Kind == Failure {
		condition = strings.TrimSuffix("fails\n"+e.When, "\n")
	}
	for _, text := range fitted(condition, min(s.edge, maxCondition)) {
		out = append(out, row{text: text, kind: "condition"})
	}
	for _, m := range first(e.Marks) {
		out = append(out, row{m.words(), "mark", m.Kind.tone()})
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
	lines = append(lines, rows(n.Tooltip, maxTip)...)
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
	for _, m := range outline(n.Marks) {
		l.line, l.tone, l.width = m.Kind.tone().colour, m.Kind.tone().name, 1.8
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
	if marks := said(e.Marks); len(marks) > 0 {
		l.tone, l.width = marks[0].Kind.tone().name, 1.8
		l.line, l.text = marks[0].Kind.tone().colour, marks[0].Kind.tone().colour
	}
	return l
}

// said lists what a node's marks say in the drawing; infos are left to
// tooltips.
func said(marks []Mark) []Mark {
	var out []Mark
	for _, m := range marks {
		if m.Kind != Info && (len(out) < 6 || slices.Contains(effectMarks, m.Kind)) {
			out = append(out, m)
		}
	}
	return out
}

// effects are the marks that say what carrying a call out may do.
var effectMarks = []MarkKind{Destructive, UnknownEffect, Leaves, Asks, Writes}

// outline is what decides the outline of a node: what became of it, or else its effect.
// Findings are words, so that they
// never take the outline of what destroys, nor give its colour to what only reads.
func outline(marks []Mark) []Mark {
	marks = slices.DeleteFunc(said(marks), func(m Mark) bool {
		return slices.Contains([]MarkKind{Error, Warning, Writes, Leaves, Asks}, m.Kind)
	})
	return marks[:min(1, len(marks))]
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
	if marks = said(marks); len(marks) > 0 && !has(marks[:1], Added, Changed, Removed) {
		return marks[:1]
	}
	return nil
}
