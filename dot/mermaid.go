package dot

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Mermaid is the view as a Mermaid flowchart, top to bottom, with the same
// signs as [View.DOT]. Mermaid refuses large drawings: past 45,000 characters boxes have
// only their names, and what is larger still isn't drawn.
func (v View) Mermaid() string {
	if len(v.Nodes) <= mermaidNodes && len(v.Edges) <= mermaidEdges {
		for _, brief := range []bool{false, true} {
			if text := v.mermaid(brief); len(text) <= mermaidChars {
				return text
			}
		}
	}
	return fmt.Sprintf("flowchart TD\n  n0[\"%d nodes and %d edges are too many for Mermaid\"]\n",
		len(v.Nodes), len(v.Edges))
}

const mermaidNote = 88 // how wide notes are, in characters

// A flowchart is the work on a drawing for Mermaid.
type flowchart struct {
	*View
	brief  bool // names only
	styles []string
	strings.Builder
}

func (v View) mermaid(brief bool) string {
	b := &flowchart{View: &v, brief: brief}
	b.WriteString("---\nconfig:\n  flowchart:\n    wrappingWidth: 760\n---\nflowchart TD\n")
	b.framed(&b.Builder, b.box, func(number int, name string) string {
		return fmt.Sprintf("subgraph g%d [%s]", number, quoteMermaid(linesMermaid(rows(name, maxLabel))))
	}, "end")
	for i := range v.Edges {
		b.edge(i)
	}
	b.note()
	for i, style := range b.styles {
		fmt.Fprintf(b, "  classDef ob%d %s\n", i, style)
	}
	return b.String()
}

// note writes the notes about the whole above what nothing else leads to.
func (b *flowchart) note() {
	head := headMermaid.label(b.headRows(mermaidNote), true)
	if head == "" {
		return
	}
	// in the theme's colour
	fmt.Fprintf(b, "  note0[%s]:::obNote\n  classDef obNote fill:none,stroke:none\n",
		quoteMermaid("<small>"+head+"</small>"))
	for i, n := range b.Nodes {
		if !slices.ContainsFunc(b.Edges, func(e Edge) bool { return e.To == i }) {
			fmt.Fprintf(b, "  note0 ~~~ %s\n", n.ID)
			break
		}
	}
}

func linesMermaid(lines []string) string {
	for i := range lines {
		lines[i] = escapeMermaid(lines[i])
	}
	return strings.Join(lines, "<br/>")
}

// quoteMermaid makes a label of marked-up text, in an element inside which Mermaid doesn't
// read text as Markdown.
func quoteMermaid(s string) string { return `"<div>` + s + `</div>"` }

var shapes = map[Kind][2]string{
	Call: {"[", "]"}, Effect: {"[", "]"}, Latent: {"[", "]"}, Folded: {"[[", "]]"}, Missing: {"(", ")"},
	Input: {"([", "])"}, Initial: {"([", "])"}, Output: {"([", "])"},
}

// How the drawing, boxes and lines are labelled.
var (
	headMermaid = markup{linesMermaid, "<br/>", map[string]string{"title": "<b>%[1]s</b>"}}
	boxMermaid  = markup{linesMermaid, "<br/>", map[string]string{"name": "<b>%[1]s</b>",
		"detail": "<small>%[1]s</small>", "mark": "<b><font color='%[2]s'>%[1]s</font></b>"}}
	lineMermaid = markup{lines: linesMermaid, end: "<br/>"}
	dashes      = map[string]string{"dashed": ",stroke-dasharray:6 4", "dotted": ",stroke-dasharray:3 3"}
)

func (b *flowchart) box(n *Node) string {
	all := b.boxRows(n, maxLabel, maxDetail)
	if b.brief {
		all = []row{{lines: []string{shorten(all[0].lines[0], 24)}, kind: "name"}}
	}
	look := n.look()
	style := fmt.Sprintf("fill:%s,stroke:%s,color:%s,stroke-width:%.fpx%s", look.fill, look.line, look.text,
		math.Ceil(look.width), dashes[look.dash])
	class := slices.Index(b.styles, style)
	if class < 0 {
		class = len(b.styles)
		b.styles = append(b.styles, style)
	}
	shape := shapes[n.Kind]
	return fmt.Sprintf("%s%s%s%s:::ob%d", n.ID, shape[0], quoteMermaid(boxMermaid.label(all, n.Count > 0)), shape[1],
		class)
}

func (b *flowchart) edge(i int) {
	e, arrow, label := &b.Edges[i], "-->", ""
	look := b.edgeLook(e)
	if look.dash != "" {
		arrow = "-.->"
	}
	if label = lineMermaid.label(b.edgeRows(e), true); label != "" && !b.brief {
		arrow += "|" + quoteMermaid(label) + "|"
	}
	fmt.Fprintf(b, "  %s %s %s\n", b.Nodes[e.From].ID, arrow, b.Nodes[e.To].ID)
	if look.line != line || look.dash == "dotted" {
		fmt.Fprintf(b, "  linkStyle %d stroke:%s%s\n", i, look.line, dashes[look.dash])
	}
}
