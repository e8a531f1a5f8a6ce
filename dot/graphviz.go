package dot

import (
	"cmp"
	"fmt"
	"strings"
)

// DOT is the view in Graphviz's language, from top to bottom. Labels are cut to what
// people read; tooltips (in SVG) hold more.
func (v View) DOT() string {
	var b strings.Builder
	b.WriteString("digraph plan {\n")
	fmt.Fprintf(&b, "  graph [rankdir=TB, nodesep=0.4, ranksep=0.55, pad=0.25, "+fontDOT+
		", fontsize=11, fontcolor=%q", muted)
	if title := v.titleDOT(); title != "" {
		fmt.Fprintf(&b, ", labelloc=t, labeljust=l, label=<%s>", title)
	}
	b.WriteString("]\n")
	call := paints[Call]
	fmt.Fprintf(&b, "  node [shape=box, style=\"rounded,filled\", margin=\"0.16,0.09\", "+fontDOT+
		", fontsize=12, fillcolor=%q, color=%q, fontcolor=%q]\n",
		call.fill, call.border, call.text)
	fmt.Fprintf(&b, "  edge [arrowsize=0.7, "+fontDOT+", fontsize=10, color=%q, fontcolor=%q]\n", line, muted)
	v.frameDOT(&b, v.frames(), "  ")
	for i := range v.Edges {
		b.WriteString("  " + v.edgeDOT(&v.Edges[i]))
	}
	b.WriteString("}\n")
	return b.String()
}

const fontDOT = `fontname="Helvetica,Arial,sans-serif"`

// frameDOT writes the nodes of a frame, and the frames inside it.
func (v *View) frameDOT(b *strings.Builder, f *frame, indent string) {
	for _, i := range f.nodes {
		b.WriteString(indent + v.nodeDOT(&v.Nodes[i]))
	}
	for _, inner := range f.inside {
		fmt.Fprintf(b,
			"%ssubgraph cluster_%d {\n%s  graph [style=\"rounded\", color=%q, labelloc=t, labeljust=l, label=<%s>]\n",
			indent, inner.number, indent, frameLine, linesDOT(wrapped(inner.name, maxLabel)))
		v.frameDOT(b, inner, indent+"  ")
		b.WriteString(indent + "}\n")
	}
}

func (v *View) titleDOT() string {
	var lines []string
	if v.Name != "" {
		lines = append(lines, fmt.Sprintf(`<FONT POINT-SIZE="14" COLOR=%q><B>%s</B></FONT>`, ink,
			linesDOT(rows(v.Name, maxTitle))))
	}
	for _, note := range v.Notes {
		lines = append(lines, linesDOT(wrapped(note, maxNote)))
	}
	for _, entry := range v.Legend() {
		lines = append(lines, fmt.Sprintf("<I>%s</I>", linesDOT(rows(entry.String(), maxNote))))
	}
	if len(lines) == 0 {
		return ""
	}
	const left = `<BR ALIGN="LEFT"/>`
	return strings.Join(lines, left) + left + " "
}

func linesDOT(lines []string) string {
	for i := range lines {
		lines[i] = htmlEscaper.Replace(lines[i])
	}
	if joined := strings.Join(lines, "<BR/>"); joined != "" {
		return joined
	}
	return " "
}

var shapesDOT = map[Kind]string{
	Input: ovalDOT, Initial: ovalDOT, Output: ovalDOT, Folded: "peripheries=2",
}

// How boxes and lines are labelled.
var (
	boxDOT = markup{linesDOT, "<BR/>", map[string]string{"name": "<B>%[1]s</B>",
		"detail": `<FONT POINT-SIZE="10" COLOR="` + muted + `">%[1]s</FONT>`,
		"mark":   `<FONT POINT-SIZE="10" COLOR="%[2]s"><B>%[1]s</B></FONT>`}}
	lineDOT = markup{linesDOT, "<BR/>", map[string]string{"condition": "<I>%[1]s</I>", "mark": "<B>%[1]s</B>"}}
)

const ovalDOT = `shape=oval, style=filled, height=0.36, margin="0.1,0.03"`

func (v *View) nodeDOT(n *Node) string {
	label := boxDOT.label(v.boxRows(n, fullSizes), n.Count > 0)
	attributes := []string{"label=<" + cmp.Or(label, " ") + ">"}
	look, call := n.look(), paints[Call]
	for _, a := range []struct{ name, value, usual string }{{"fillcolor", look.fill, call.fill},
		{"color", look.line, call.border}, {"fontcolor", look.text, call.text}} {
		if a.value != a.usual {
			attributes = append(attributes, fmt.Sprintf("%s=%q", a.name, a.value))
		}
	}
	if look.width > 1 {
		attributes = append(attributes, fmt.Sprintf("penwidth=%.2g", look.width))
	}
	shape := shapesDOT[n.Kind]
	if n.Repeats {
		shape = `shape=box3d, style=filled`
	}
	if look.dash != "" {
		shape = `style="rounded,filled,dashed"`
	}
	if shape != "" {
		attributes = append(attributes, shape)
	}
	if tip := v.tip(n); tip != "" {
		attributes = append(attributes, "tooltip="+quoteDOT(tip))
	}
	return n.ID + " [" + strings.Join(attributes, ", ") + "]\n"
}

func (v *View) edgeDOT(e *Edge) string {
	var attributes []string
	look := v.edgeLook(e)
	if look.dash != "" {
		attributes = append(attributes, "style="+look.dash)
	}
	if look.width > 1 {
		attributes = append(attributes, fmt.Sprintf("penwidth=%.2g", look.width))
	}
	if e.Optional {
		attributes = append(attributes, "arrowhead=empty")
	}
	if label := lineDOT.label(v.edgeRows(e, fullSizes), true); label != "" {
		label = strings.ReplaceAll(label, "<BR/>", " <BR/> ") // a blank on either side keeps the words off the line
		attributes = append(attributes, "label=< "+label+" >")
	}
	if look.line != line {
		attributes = append(attributes, fmt.Sprintf("color=%q, fontcolor=%q", look.line, look.text))
	}
	if tip := v.edgeTip(e); tip != "" {
		attributes = append(attributes, "tooltip="+quoteDOT(tip))
	}
	s := v.Nodes[e.From].ID + " -> " + v.Nodes[e.To].ID
	if len(attributes) > 0 {
		s += " [" + strings.Join(attributes, ", ") + "]"
	}
	return s + "\n"
}
