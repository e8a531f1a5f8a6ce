package dot

import (
	"fmt"
	"strings"
)

// The colours are quiet ones that keep their contrast on white and in print;
// what matters is always said in words, or by dashes, too.
const (
	ink     = "#24292f"
	muted   = "#59636e"
	line    = "#8c959f"
	danger  = "#b42318"
	caution = "#9a6700"
	fine    = "#1a7f37"
	working = "#0969da"
	paper   = "#ffffff"
	alarm   = "#d73a49" // danger, for lines that are seen on white and on black
)

// A paint is how a kind of node looks.
type paint struct{ fill, border, text string }

var paints = map[Kind]paint{
	Call:    {"#f6f8fa", "#8c959f", ink},
	Effect:  {"#eaf7f5", "#5a9f97", ink},
	Latent:  {"#f7f2fd", "#9a7fd1", ink},
	Folded:  {"#eaeef2", "#6e7781", ink},
	Path:    {"#ffffff", "#afb8c1", ink},
	Input:   {"#eaf4ff", "#6ea8dc", ink},
	Initial: {"#eaf4ff", "#6ea8dc", ink},
	Missing: {"#ffffff", "#8c959f", muted},
	Output:  {"#ebf8ee", "#68b37c", ink},
}

// darker are the colours that represent others on black.
var darker = map[string]string{
	paper: "#0d1117", ink: "#e6edf3", muted: "#9aa4af", line: "#768390", danger: "#ff7b72", caution: "#d8a02a", fine: "#4cc465", working: "#6cb2ff",
	"#f6f8fa": "#161b22", "#eaf7f5": "#10292a", "#5a9f97": "#4a938d", "#f7f2fd": "#221a33", "#9a7fd1": "#a98ee0", "#eaeef2": "#262c35", "#6e7781": "#8b949e",
	"#afb8c1": "#6e7681", "#eaf4ff": "#0f2238", "#6ea8dc": "#4b8fd1", "#ebf8ee": "#12261a", "#68b37c": "#3f9a58",
}

// A tone is a colour that says how grave something is.
type tone struct{ name, colour string }

var tones = []tone{{"danger", danger}, {"caution", caution}, {"fine", fine}, {"working", working}, {"quiet", muted}}

// tone is the colour of a mark.
func (k MarkKind) tone() tone {
	switch k {
	case Error, Failed, Rejected, Removed, Destructive:
		return tones[0]
	case Warning, Changed, Writes, Leaves, UnknownEffect:
		return tones[1]
	case Done, Added:
		return tones[2]
	case Running, Critical:
		return tones[3]
	}
	return tones[4]
}

// DOT is the view in Graphviz's language: top to bottom, calls as boxes, what
// is there from the start and the output as rounded ones, missing paths dashed,
// failure routes dashed and red, what only has to be done dashed, order alone dotted. Labels are cut to what
// people read; tooltips (in SVG) hold more.
func (v View) DOT() string {
	var b strings.Builder
	b.WriteString("digraph plan {\n")
	fmt.Fprintf(&b, "  graph [rankdir=TB, nodesep=0.4, ranksep=0.55, pad=0.25, fontname=\"Helvetica,Arial,sans-serif\", fontsize=11, fontcolor=\"%s\"", muted)
	if title := v.titleDOT(); title != "" {
		fmt.Fprintf(&b, ", labelloc=t, labeljust=l, label=<%s>", title)
	}
	b.WriteString("]\n")
	fmt.Fprintf(&b, "  node [shape=box, style=\"rounded,filled\", margin=\"0.16,0.09\", fontname=\"Helvetica,Arial,sans-serif\", fontsize=12, fillcolor=\"%s\", color=\"%s\", fontcolor=\"%s\"]\n",
		paints[Call].fill, paints[Call].border, paints[Call].text)
	fmt.Fprintf(&b, "  edge [arrowsize=0.7, fontname=\"Helvetica,Arial,sans-serif\", fontsize=10, color=\"%s\", fontcolor=\"%s\"]\n", line, muted)
	v.frames().dot(&b, v.Nodes, "  ")
	for i := range v.Edges {
		b.WriteString("  ")
		b.WriteString(v.Edges[i].dot(v.Nodes))
	}
	b.WriteString("}\n")
	return b.String()
}

// dot writes the nodes of a frame, and the frames inside it.
func (f *frame) dot(b *strings.Builder, nodes []Node, indent string) {
	for _, i := range f.nodes {
		b.WriteString(indent)
		b.WriteString(nodes[i].dot())
	}
	for _, inner := range f.inside {
		fmt.Fprintf(b, "%ssubgraph cluster_%d {\n%s  graph [style=\"rounded\", color=\"%s\", labelloc=t, labeljust=l, label=<%s>]\n", indent, inner.number, indent, paints[Path].border, linesDOT(wrapped(inner.name, maxLabel)))
		inner.dot(b, nodes, indent+"  ")
		b.WriteString(indent + "}\n")
	}
}

func (v View) titleDOT() string {
	var lines []string
	if v.Name != "" {
		lines = append(lines, fmt.Sprintf(`<FONT POINT-SIZE="14" COLOR="%s"><B>%s</B></FONT>`, ink, textDOT(v.Name, maxTitle)))
	}
	for _, note := range v.Notes {
		lines = append(lines, linesDOT(wrapped(note, maxNote)))
	}
	for _, entry := range v.Legend() {
		lines = append(lines, fmt.Sprintf("<I>%s</I>", textDOT(entry.String(), maxNote)))
	}
	if len(lines) == 0 {
		return ""
	}
	const left = `<BR ALIGN="LEFT"/>`
	return strings.Join(lines, left) + left + " "
}

// textDOT is text for an HTML-like label, its lines broken.
func textDOT(s string, limit int) string { return linesDOT(rows(s, limit)) }

func linesDOT(lines []string) string {
	for i := range lines {
		lines[i] = escapeHTML(lines[i])
	}
	if joined := strings.Join(lines, "<BR/>"); joined != "" {
		return joined
	}
	return " "
}

func (n *Node) dot() string {
	look := paints[n.Kind]
	label := textDOT(n.Label, maxLabel)
	if n.Count > 0 {
		label = "<B>" + label + "</B>"
	}
	if n.Detail != "" {
		label += fmt.Sprintf(`<BR/><FONT POINT-SIZE="10" COLOR="%s">%s</FONT>`, muted, linesDOT(wrapped(n.Detail, maxDetail)))
	}
	border := look.border
	marks := said(n.Marks)
	for _, m := range marks {
		label += fmt.Sprintf(`<BR/><FONT POINT-SIZE="10" COLOR="%s"><B>%s</B></FONT>`, m.Kind.tone().colour, escapeHTML(m.words()))
	}
	attributes := []string{"label=<" + label + ">"}
	for _, m := range outline(n.Marks, false) {
		border = m.Kind.tone().colour
		attributes = append(attributes, "penwidth=1.8")
	}
	if look.fill != paints[Call].fill {
		attributes = append(attributes, fmt.Sprintf("fillcolor=%q", look.fill))
	}
	if border != paints[Call].border {
		attributes = append(attributes, fmt.Sprintf("color=%q", border))
	}
	if look.text != paints[Call].text {
		attributes = append(attributes, fmt.Sprintf("fontcolor=%q", look.text))
	}
	switch n.Kind {
	case Missing:
		attributes = append(attributes, `style="rounded,filled,dashed"`)
	case Folded:
		attributes = append(attributes, "peripheries=2")
	case Input, Initial, Output:
		attributes = append(attributes, "shape=oval", "style=filled", "height=0.36", `margin="0.1,0.03"`)
	case Path:
		attributes = append(attributes, "shape=note", "style=filled")
	}
	if n.Repeats {
		attributes = append(attributes, "shape=box3d", "style=filled")
	}
	if tip := tips(n); tip != "" {
		attributes = append(attributes, "tooltip="+quoteDOT(tip))
	}
	return n.ID + " [" + strings.Join(attributes, ", ") + "]\n"
}

func (e *Edge) dot(nodes []Node) string {
	var attributes []string
	label := ""
	if e.Label != "" {
		label = textDOT(e.Label, maxLabel)
	}
	if e.Condition != "" {
		label = strings.TrimPrefix(label+"<BR/><I>"+textDOT(e.Condition, maxLabel)+"</I>", "<BR/>")
	}
	color := ""
	switch e.Kind {
	case Failure:
		color = danger
		attributes = append(attributes, "style=dashed")
	case After:
		attributes = append(attributes, "style=dashed", "penwidth=1.4")
	case Order, Once:
		attributes = append(attributes, "style=dotted", "penwidth=1.4")
	case Write:
		attributes = append(attributes, "penwidth=2.4")
	}
	if nodes[e.From].Kind == Missing {
		attributes = append(attributes, "style=dashed")
	}
	if e.Optional {
		attributes = append(attributes, "arrowhead=empty")
	}
	for _, m := range first(e.Marks) {
		label = strings.TrimPrefix(label+"<BR/>", "<BR/>") + "<B>" + escapeHTML(m.words()) + "</B>"
	}
	if marks := said(e.Marks); len(marks) > 0 {
		color = marks[0].Kind.tone().colour
		attributes = append(attributes, "penwidth=1.8")
	}
	if label != "" {
		// A blank on either side keeps the words off the line.
		attributes = append(attributes, "label=< "+strings.ReplaceAll(label, "<BR/>", " <BR/> ")+" >")
	}
	if color != "" {
		attributes = append(attributes, fmt.Sprintf("color=%q, fontcolor=%q", color, color))
	}
	s := nodes[e.From].ID + " -> " + nodes[e.To].ID
	if len(attributes) > 0 {
		s += " [" + strings.Join(attributes, ", ") + "]"
	}
	return s + "\n"
}
