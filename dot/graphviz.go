package dot

import (
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
		", fontsize=11, fontcolor=%q, labelloc=t, labeljust=l, label=%s]\n", muted,
		quoteDOT(linesOf(v.headRows(maxNote)), `\l`))
	b.WriteString("  node [shape=box, style=\"rounded,filled\", margin=\"0.16,0.09\", " + fontDOT + ", fontsize=12]\n")
	fmt.Fprintf(&b, "  edge [arrowsize=0.7, "+fontDOT+", fontsize=10, color=%q, fontcolor=%q]\n", line, muted)
	v.framed(&b, v.nodeDOT, func(number int, name string) string {
		return fmt.Sprintf(
			"subgraph cluster_%d { graph [style=\"rounded\", color=%q, labelloc=t, labeljust=l, label=%s]",
			number, frameLine, quoteDOT(wrapped(name, maxLabel), `\l`))
	}, "}")
	for i := range v.Edges {
		b.WriteString("  " + v.edgeDOT(&v.Edges[i]) + "\n")
	}
	b.WriteString("}\n")
	return b.String()
}

const fontDOT = `fontname="Helvetica,Arial,sans-serif"`

// quoteDOT makes a label of lines, each with an end.
func quoteDOT(lines []string, end string) string {
	text := ""
	for _, line := range lines {
		text += labelDOT.Replace(line) + end
	}
	return `"` + text + `"`
}

var shapesDOT = map[Kind]string{
	Input: ovalDOT, Initial: ovalDOT, Output: ovalDOT, Folded: "peripheries=2",
}

const ovalDOT = `shape=oval, style=filled, height=0.36, margin="0.1,0.03"`

func (v *View) nodeDOT(n *Node) string {
	look, shape := n.look(), shapesDOT[n.Kind]
	if look.dash != "" {
		shape = `style="rounded,filled,dashed"`
	}
	return n.ID + attributesDOT(
		"label="+quoteDOT(linesOf(v.boxRows(n, maxLabel, maxDetail)), `\n`),
		fmt.Sprintf("fillcolor=%q, color=%q, fontcolor=%q", look.fill, look.line, look.text),
		look.penDOT(), shape, tooltipDOT(v.tip(n)))
}

func (v *View) edgeDOT(e *Edge) string {
	look := v.edgeLook(e)
	var dash, label, colour string
	if look.dash != "" {
		dash = "style=" + look.dash
	}
	if lines := linesOf(v.edgeRows(e)); len(lines) > 0 {
		label = "label=" + quoteDOT(lines, `\n`)
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
	return `tooltip="` + tipDOT.Replace(tip) + `"`
}
