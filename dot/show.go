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
	class string // "title", "legend", "name", "detail", "condition", the tone of a mark, or "" for paths
}

const repeats = "×n" // after the name of a call that runs several times

// signs are what a box shows before its name: what the call does, and of several calls how many do.
func (n *Node) signs() (text string) {
	for _, m := range n.Marks {
		if sign := m.Kind.sign().sign; sign != "" && n.Count > 1 {
			text += sign + strconv.Itoa(m.Count) + " "
		} else if sign != "" {
			text += sign + " "
		}
	}
	return text
}

// hides reports whether the details and effects of a node are shown on hover only.
func (v *View) hides(n *Node) bool { return !v.Detail && n.Call != "" }

// boxRows are what a box shows: signs and name, then the details, unless they are shown on hover, and what became of
// it, in lines of so many characters.
func (v *View) boxRows(n *Node, name, width int) []row {
	signs, label := n.signs(), n.Label
	if n.Repeats {
		label += " " + repeats
	}
	out := []row{{rows(cmp.Or(signs+label, " "), name+len(signs)), "name"}}
	if n.Detail != "" && !v.hides(n) {
		out = append(out, row{wrapped(n.Detail, width), "detail"})
	}
	for _, m := range n.Marks {
		if !slices.Contains(effectKinds, m.Kind) || v.Detail && n.Call != "" {
			out = append(out, m.row(width))
		}
	}
	if n.State != "" {
		out = append(out, row{wrapped(n.State, width), "detail"})
	}
	return out
}

func (m Mark) row(width int) row {
	return row{wrapped(m.words(), width), "tone-" + m.Kind.sign().tone.name}
}

// headRows are the title, the notes and the legend of the drawing, in lines of so many characters.
func (v *View) headRows(width int) (out []row) {
	if v.Name != "" {
		out = append(out, row{rows(v.Name, maxTitle), "title"})
	}
	for _, note := range v.Notes {
		out = append(out, row{wrapped(note, width), "detail"})
	}
	ofMarks, ofShapes := v.legend()
	for _, entry := range append(ofMarks, ofShapes...) {
		out = append(out, row{wrapped(entry, width), "legend"})
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
// it. What differs is seen by its colour, and said at its ends.
func (v *View) edgeRows(e *Edge) (out []row) {
	if v.Detail && e.Label != "" {
		out = append(out, row{rows(e.Label, maxLabel), ""})
	}
	condition := e.When
	if e.Kind == Failure {
		condition = strings.TrimSuffix("fails\n"+e.When, "\n")
	}
	if condition != "" {
		out = append(out, row{wrapped(condition, maxCondition), "condition"})
	}
	if len(e.Marks) > 0 && !has(e.Marks[:1], Added) {
		out = append(out, e.Marks[0].row(maxTip))
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
	if v.hides(n) {
		lines = wrapped(n.Detail, maxTip)
	}
	for _, m := range n.Marks {
		text := m.words()
		if m.Text != "" {
			text += ": " + diag.Escape(m.Text)
		}
		lines = append(lines, shorten(text, maxTip))
	}
	return strings.Join(lines, "\n")
}
