package dot

import (
	"slices"
	"strings"
)

// The colours are quiet ones that keep their contrast on white and in print;
// what matters is always said in words, by signs, or by dashes, too.
const (
	ink        = "#24292f"
	muted      = "#59636e"
	line       = "#8c959f"
	dangerFill = "#fbdad5"
	frameLine  = "#afb8c1"
)

// A look is how a box or a line is drawn, in the colours on white.
type look struct {
	fill, line, text string
	tone             string // the name of the tone of the line; "" for that of its kind
	dash             string // "dashed", "dotted" or ""
	width            float64
}

var looks = map[Kind]look{
	Call:    {fill: "#f6f8fa", line: line, text: ink},
	Effect:  {fill: "#eaf7f5", line: "#5a9f97", text: ink},
	Latent:  {fill: "#f7f2fd", line: "#9a7fd1", text: ink},
	Folded:  {fill: "#eaeef2", line: "#6e7781", text: ink},
	Input:   {fill: "#eaf4ff", line: "#6ea8dc", text: ink},
	Initial: {fill: "#eaf4ff", line: "#6ea8dc", text: ink},
	Missing: {fill: "#ffffff", line: line, text: muted},
	Output:  {fill: "#ebf8ee", line: "#68b37c", text: ink},
}

// round is how round the corners of a kind of node are.
var round = map[Kind]int{Call: 5, Latent: 12, Folded: 5, Input: 15, Initial: 15, Missing: 5, Output: 15}

func (n *Node) look() look {
	l := looks[n.Kind]
	l.width = 1
	if has(n.Marks, Destructive) {
		l.fill = dangerFill
	}
	for _, m := range n.Marks {
		if s := m.Kind.sign(); s.outline {
			l.line, l.tone, l.width = s.tone.colour, s.tone.name, 1.8
			break
		}
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
		l.line, l.text, l.dash = caution.colour, caution.colour, "dashed"
	case After:
		l.dash, l.width = "dashed", 1.4
	case Order, Once:
		l.dash, l.width = "dotted", 1.4
	}
	if v.Nodes[e.From].Kind == Missing || has(e.Marks, Removed) {
		l.dash = "dashed"
	}
	if len(e.Marks) > 0 {
		tone := e.Marks[0].Kind.sign().tone
		l.tone, l.width, l.line, l.text = tone.name, 1.8, tone.colour, tone.colour
	}
	return l
}

// frames are the names of the frames of the view, and by node which is its own; the first has no name and isn't drawn.
func (v *View) frames() (names []string, of []int) {
	names = []string{""}
	for _, n := range v.Nodes {
		at := slices.Index(names, n.Frame)
		if at < 0 {
			at = len(names)
			names = append(names, n.Frame)
		}
		of = append(of, at)
	}
	return names, of
}

// framed writes the nodes of the view, a line each, within their frames.
func (v *View) framed(b *strings.Builder, box func(*Node) string, begin func(number int, name string) string,
	end string) {
	names, of := v.frames()
	for number, name := range names {
		indent := "  "
		if number > 0 {
			b.WriteString(indent + begin(number, name) + "\n")
			indent = "    "
		}
		for i := range v.Nodes {
			if of[i] == number {
				b.WriteString(indent + box(&v.Nodes[i]) + "\n")
			}
		}
		if number > 0 {
			b.WriteString("  " + end + "\n")
		}
	}
}
