package dot

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// DOT is the view in Graphviz's language, from top to bottom. Labels are cut to what
// people read; tooltips (in SVG) hold more.
func (v View) DOT() string {
	var b strings.Builder
	b.WriteString("digraph plan {\n")
	fmt.Fprintf(&b, "  graph [rankdir=TB, nodesep=0.4, ranksep=0.55, pad=0.25, "+fontDOT+
		", fontsize=11, fontcolor=%q", muted)
	if head := v.headRows(maxNote); len(head) > 0 {
		fmt.Fprintf(&b, ", labelloc=t, labeljust=l, label=<%s%s >", headDOT.label(head, true), headDOT.end)
	}
	b.WriteString("]\n")
	b.WriteString("  node [shape=box, style=\"rounded,filled\", margin=\"0.16,0.09\", " + fontDOT + ", fontsize=12]\n")
	fmt.Fprintf(&b, "  edge [arrowsize=0.7, "+fontDOT+", fontsize=10, color=%q, fontcolor=%q]\n", line, muted)
	v.framed(&b, v.nodeDOT, func(number int, name string) string {
		return fmt.Sprintf(
			"subgraph cluster_%d { graph [style=\"rounded\", color=%q, labelloc=t, labeljust=l, label=<%s>]",
			number, frameLine, linesDOT(wrapped(name, maxLabel)))
	}, "}")
	for i := range v.Edges {
		b.WriteString("  " + v.edgeDOT(&v.Edges[i]) + "\n")
	}
	b.WriteString("}\n")
	return b.String()
}

const fontDOT = `fontname="Helvetica,Arial,sans-serif"`

// linesDOT makes a label of lines, which can't be empty.
func linesDOT(lines []string) string {
	return cmp.Or(strings.ReplaceAll(htmlEscaper.Replace(strings.Join(lines, "\n")), "\n", "<BR/>"), " ")
}

var shapesDOT = map[Kind]string{
	Input: ovalDOT, Initial: ovalDOT, Output: ovalDOT, Folded: "peripheries=2",
}

// How the drawing, boxes and lines are labelled.
var (
	headDOT = markup{linesDOT, `<BR ALIGN="LEFT"/>`, map[string]string{"legend": "<I>%[1]s</I>",
		"title": `<FONT POINT-SIZE="14" COLOR="` + ink + `"><B>%[1]s</B></FONT>`}}
	boxDOT = markup{linesDOT, "<BR/>", map[string]string{"name": "<B>%[1]s</B>",
		"detail": `<FONT POINT-SIZE="10" COLOR="` + muted + `">%[1]s</FONT>`,
		"mark":   `<FONT POINT-SIZE="10" COLOR="%[2]s"><B>%[1]s</B></FONT>`}}
	lineDOT = markup{linesDOT, "<BR/>", map[string]string{"condition": "<I>%[1]s</I>", "mark": "<B>%[1]s</B>"}}
)

const ovalDOT = `shape=oval, style=filled, height=0.36, margin="0.1,0.03"`

func (v *View) nodeDOT(n *Node) string {
	look, shape := n.look(), shapesDOT[n.Kind]
	if look.dash != "" {
		shape = `style="rounded,filled,dashed"`
	}
	return n.ID + attributesDOT(
		"label=<"+boxDOT.label(v.boxRows(n, maxLabel, maxDetail), n.Count > 0)+">",
		fmt.Sprintf("fillcolor=%q, color=%q, fontcolor=%q", look.fill, look.line, look.text),
		look.penDOT(), shape, tooltipDOT(v.tip(n)))
}

func (v *View) edgeDOT(e *Edge) string {
	look := v.edgeLook(e)
	var dash, label, colour string
	if look.dash != "" {
		dash = "style=" + look.dash
	}
	if label = lineDOT.label(v.edgeRows(e), true); label != "" {
		label = "label=< " + strings.ReplaceAll(label, "<BR/>", " <BR/> ") + " >" // blanks keep the words off the line
	}
	if look.line != line {
		colour = fmt.Sprintf("color=%q, fontcolor=%q", look.line, look.text)
	}
	return v.Nodes[e.From].ID + " -> " + v.Nodes[e.To].ID +
		attributesDOT(dash, look.penDOT(), label, colour, tooltipDOT(v.edgeTip(e)))
}

// attributesDOT writes attributes behind a node or an edge, without those that aren't set.
func attributesDOT(all ...string) string {
	all = slices.DeleteFunc(all, func(one string) bool { return one == "" })
	return " [" + strings.Join(all, ", ") + "]"
}

func (l look) penDOT() string {
	if l.width == 1 {
		return ""
	}
	return fmt.Sprintf("penwidth=%.2g", l.width)
}

func tooltipDOT(tip string) string {
	if tip == "" {
		return ""
	}
	return `tooltip="` + dotEscaper.Replace(tip) + `"`
}
