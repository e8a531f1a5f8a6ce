package dot

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Mermaid is the view as a Mermaid flowchart, top to bottom, with the same
// signs as [View.DOT]. Mermaid refuses large drawings: a view of more than 300
// nodes or 450 edges isn't drawn, and past 45,000 characters labels are cut
// short and then left out, beginning with those of edges.
func (v View) Mermaid() string {
	if len(v.Nodes) > mermaidNodes || len(v.Edges) > mermaidEdges {
		return fmt.Sprintf("flowchart TD\n  n0[\"%d nodes and %d edges are too many for Mermaid\"]\n",
			len(v.Nodes), len(v.Edges))
	}
	for _, s := range []sizes{fullSizes, {maxLabel, 24, 24}, {24, 12, 12}, {24, 0, 0}} {
		if text := v.mermaid(s); len(text) <= mermaidChars {
			return text
		}
	}
	return v.mermaid(sizes{8, 0, 0})
}

const (
	mermaidNote = 88   // how wide notes are, in characters
	each        = "×n" // after the name of what repeats
)

// A flowchart is the work on a drawing for Mermaid.
type flowchart struct {
	*View
	sizes
	strings.Builder
}

func (v View) mermaid(s sizes) string {
	b := &flowchart{View: &v, sizes: s}
	head, lines := "", []string{}
	if title := strings.Join(rows(v.Name, maxTitle), " "); title != "" {
		if strings.ContainsFunc(title, func(r rune) bool { return !harmless(r) }) {
			lines = append(lines, "<b>"+escapeMermaid(title)+"</b>") // Mermaid changes < and & in titles
		} else {
			head = fmt.Sprintf("title: \"%s\"\n", title)
		}
	}
	for _, note := range v.Notes {
		lines = append(lines, linesMermaid(wrapped(note, mermaidNote)))
	}
	for _, entry := range v.Legend() {
		if entry.Of == repeats { // it has no stacks
			entry.Look = each
		}
		if entry.Of != optional { // nor other arrows
			lines = append(lines, linesMermaid(wrapped(entry.String(), mermaidNote)))
		}
	}
	b.WriteString("---\n" + head + "config:\n  flowchart:\n    wrappingWidth: 760\n---\nflowchart TD\n")
	b.frame(v.frames(), "  ")
	for i := range v.Edges {
		b.edge(&v.Edges[i])
	}
	if len(lines) > 0 {
		b.note("<small>" + strings.Join(lines, "<br/>") + "</small>")
	}
	b.styles()
	return b.String()
}

// note writes what is said of the whole above what nothing else leads to.
func (b *flowchart) note(text string) {
	// in the theme's colour
	fmt.Fprintf(b, "  note0[%s]:::obNote\n  classDef obNote fill:none,stroke:none\n", quoteMermaid(text))
	waits := make([]bool, len(b.Nodes))
	for _, e := range b.Edges {
		waits[e.To] = waits[e.To] || e.From != e.To
	}
	room := mermaidEdges - len(b.Edges)
	for i, n := range b.Nodes {
		if !waits[i] && room > 0 {
			room--
			fmt.Fprintf(b, "  note0 ~~~ %s\n", n.ID)
		}
	}
}

// frame writes the nodes of a frame, and the frames inside it.
func (b *flowchart) frame(f *frame, indent string) {
	for _, i := range f.nodes {
		b.WriteString(indent + b.box(&b.Nodes[i]) + "\n")
	}
	for _, inner := range f.inside {
		fmt.Fprintf(b, "%ssubgraph g%d [%s]\n", indent, inner.number,
			quoteMermaid(linesMermaid(rows(inner.name, b.name))))
		b.frame(inner, indent+"  ")
		b.WriteString(indent + "end\n")
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

// How boxes and lines are labelled.
var (
	boxMermaid = markup{linesMermaid, "<br/>", map[string]string{"name": "<b>%[1]s</b>",
		"detail": "<small>%[1]s</small>", "mark": "<b><font color='%[2]s'>%[1]s</font></b>"}}
	lineMermaid = markup{lines: linesMermaid, end: "<br/>"}
)

func (b *flowchart) box(n *Node) string {
	all := b.boxRows(n, b.sizes)
	if n.Repeats && len(all) > 0 {
		all[0].text += " " + each
	}
	shape := shapes[n.Kind]
	return n.ID + shape[0] + quoteMermaid(boxMermaid.label(all, n.Count > 0)) + shape[1] + ":::" + n.class()
}

// class names a node's look. The names begin with ob, since call, click, end
// and others are words of Mermaid's language.
func (n *Node) class() string {
	name := "ob" + capital(string(n.Kind))
	if has(n.Marks, Destructive) {
		name += "Destroys"
	}
	for _, m := range outline(n.Marks) {
		name += capital(string(m.Kind))
	}
	return name
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func (b *flowchart) edge(e *Edge) {
	arrow := " --> "
	if b.edgeLook(e).dash != "" {
		arrow = " -.-> "
	}
	if label := lineMermaid.label(b.edgeRows(e, b.sizes), true); label != "" {
		arrow = strings.TrimRight(arrow, " ") + "|" + quoteMermaid(label) + "| "
	}
	b.WriteString("  " + b.Nodes[e.From].ID + arrow + b.Nodes[e.To].ID + "\n")
}

// styles writes the looks of the nodes and edges that there are.
func (b *flowchart) styles() {
	dashes := map[string]string{"dashed": ",stroke-dasharray:6 4", "dotted": ",stroke-dasharray:3 3"}
	var defined []string
	for i := range b.Nodes {
		n := &b.Nodes[i]
		if name := n.class(); !slices.Contains(defined, name) {
			defined = append(defined, name)
			look := n.look()
			fmt.Fprintf(b, "  classDef %s fill:%s,stroke:%s,color:%s,stroke-width:%.fpx%s\n", name, look.fill,
				look.line, look.text, math.Ceil(look.width), dashes[look.dash])
		}
	}
	var styles []string
	edges := map[string][]string{} // by style: their numbers
	for i := range b.Edges {
		look := b.edgeLook(&b.Edges[i])
		style := fmt.Sprintf("stroke-width:%.fpx%s", math.Ceil(look.width), dashes[look.dash])
		if look.line == caution {
			style += ",stroke:" + cautionLine
		} else if look.line != line {
			style += ",stroke:" + look.line
		}
		if look.width > 1 || look.dash != "" {
			if edges[style] == nil {
				styles = append(styles, style)
			}
			edges[style] = append(edges[style], fmt.Sprint(i))
		}
	}
	for _, style := range styles {
		fmt.Fprintf(b, "  linkStyle %s %s\n", strings.Join(edges[style], ","), style)
	}
}
