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
		return fmt.Sprintf("subgraph g%d [%s]", number, quoteMermaid(rows(name, maxLabel)))
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
	head := linesOf(b.headRows(mermaidNote))
	if len(head) == 0 {
		return
	}
	// in the theme's colour
	fmt.Fprintf(b, "  note0[%s]:::obNote\n  classDef obNote fill:none,stroke:none\n",
		quoteMermaid(head))
	for i, n := range b.Nodes {
		if !slices.ContainsFunc(b.Edges, func(e Edge) bool { return e.To == i }) {
			fmt.Fprintf(b, "  note0 ~~~ %s\n", n.ID)
			break
		}
	}
}

// quoteMermaid makes a label of lines, in an element inside which Mermaid doesn't read text as Markdown.
func quoteMermaid(lines []string) string {
	var escaped []string
	for _, line := range lines {
		escaped = append(escaped, escapeMermaid(line))
	}
	return `"<div>` + strings.Join(escaped, "<br/>") + `</div>"`
}

var brackets = map[Kind][2]string{
	Call: {"[", "]"}, Effect: {"[", "]"}, Latent: {"[", "]"}, Folded: {"[[", "]]"}, Missing: {"(", ")"},
	Input: {"([", "])"}, Initial: {"([", "])"}, Output: {"([", "])"},
}

var dashes = map[string]string{"dashed": ",stroke-dasharray:6 4", "dotted": ",stroke-dasharray:3 3"}

func (b *flowchart) box(n *Node) string {
	all := b.boxRows(n, maxLabel, maxDetail)
	if b.brief {
		all = []row{{lines: []string{shorten(all[0].lines[0], 24)}}}
	}
	look := n.look()
	style := fmt.Sprintf("fill:%s,stroke:%s,color:%s,stroke-width:%.fpx%s", look.fill, look.line, look.text,
		math.Ceil(look.width), dashes[look.dash])
	class := slices.Index(b.styles, style)
	if class < 0 {
		class = len(b.styles)
		b.styles = append(b.styles, style)
	}
	shape := brackets[n.Kind]
	return fmt.Sprintf("%s%s%s%s:::ob%d", n.ID, shape[0], quoteMermaid(linesOf(all)), shape[1],
		class)
}

func (b *flowchart) edge(i int) {
	e, arrow := &b.Edges[i], "-->"
	look := b.edgeLook(e)
	if look.dash != "" {
		arrow = "-.->"
	}
	if lines := linesOf(b.edgeRows(e)); len(lines) > 0 && !b.brief {
		arrow += "|" + quoteMermaid(lines) + "|"
	}
	fmt.Fprintf(b, "  %s %s %s\n", b.Nodes[e.From].ID, arrow, b.Nodes[e.To].ID)
	if look.line != line || look.dash == "dotted" {
		fmt.Fprintf(b, "  linkStyle %d stroke:%s%s\n", i, look.line, dashes[look.dash])
	}
}
