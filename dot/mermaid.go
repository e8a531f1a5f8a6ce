package dot

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Mermaid is the view as a Mermaid flowchart, top to bottom, with the same
// signs as [View.DOT]. Mermaid refuses large drawings: a view of more than 300
// nodes or 450 edges is folded first, and past 45,000 characters labels are cut
// short and then left out, beginning with those of edges.
func (v View) Mermaid() string {
	v = v.Fold(mermaidNodes, mermaidEdges)
	if len(v.Nodes) > mermaidNodes || len(v.Edges) > mermaidEdges {
		return tooLarge(len(v.Nodes), len(v.Edges))
	}
	full := labelSizes{maxLabel, maxDetail, maxLabel}
	for _, sizes := range []labelSizes{full, {maxLabel, 24, 24}, {24, 12, 12}, {24, 0, 0}} {
		if s := v.mermaid(sizes); len(s) <= mermaidChars {
			return s
		}
	}
	return v.mermaid(labelSizes{8, 0, 0})
}

const (
	mermaidNote = 88   // how wide notes are, in characters
	each        = "×n" // after the name of what repeats
)

// labelSizes bounds labels, in characters; 0 leaves them out.
type labelSizes struct{ node, detail, edge int }

// tooLarge is the drawing of what can't be drawn.
func tooLarge(nodes, edges int) string {
	return fmt.Sprintf("flowchart TD\n  n0[\"%d nodes and %d edges are too many for a drawing\"]\n", nodes, edges)
}

func (v View) mermaid(sizes labelSizes) string {
	var b strings.Builder
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
		if entry.Repeats { // it has no stacks
			entry.Look = each
		}
		if !entry.Optional { // nor other arrows, and labels say so in words
			lines = append(lines, linesMermaid(wrapped(entry.String(), mermaidNote)))
		}
	}
	head += "config:\n  flowchart:\n    wrappingWidth: 760\n"
	b.WriteString("---\n" + head + "---\nflowchart TD\n")
	v.frames().mermaid(&b, v.Nodes, sizes, "  ")
	for _, e := range v.Edges {
		b.WriteString("  " + e.mermaid(v.Nodes, sizes) + "\n")
	}
	if len(lines) > 0 {
		fmt.Fprintf(&b, "  note0[%s]:::obNote\n", quoteMermaid("<small>"+strings.Join(lines, "<br/>")+"</small>"))
		waits := make([]bool, len(v.Nodes))
		for _, e := range v.Edges {
			waits[e.To] = waits[e.To] || e.From != e.To
		}
		room := mermaidEdges - len(v.Edges)
		for i, n := range v.Nodes { // what nothing else leads to stands below the note
			if !waits[i] && room > 0 {
				room--
				fmt.Fprintf(&b, "  note0 ~~~ %s\n", n.ID)
			}
		}
	}
	v.classes(&b, len(lines) > 0)
	return b.String()
}

// mermaid writes the nodes of a frame, and the frames inside it.
func (f *frame) mermaid(b *strings.Builder, nodes []Node, sizes labelSizes, indent string) {
	for _, i := range f.nodes {
		b.WriteString(indent + nodes[i].mermaid(sizes) + "\n")
	}
	for _, inner := range f.inside {
		fmt.Fprintf(b, "%ssubgraph g%d [%s]\n", indent, inner.number, quoteMermaid(textMermaid(inner.name, sizes.node)))
		inner.mermaid(b, nodes, sizes, indent+"  ")
		b.WriteString(indent + "end\n")
	}
}

// textMermaid is text for a label, its lines broken.
func textMermaid(s string, limit int) string { return linesMermaid(rows(s, limit)) }

func linesMermaid(lines []string) string {
	for i := range lines {
		lines[i] = escapeMermaid(lines[i])
	}
	return strings.Join(lines, "<br/>")
}

// quoteMermaid makes a label of marked-up text, in an element inside which Mermaid doesn't
// read text as Markdown.
func quoteMermaid(s string) string { return `"<div>` + s + `</div>"` }

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

var shapes = map[Kind][2]string{
	Call: {"[", "]"}, Effect: {"[", "]"}, Latent: {"[", "]"}, Folded: {"[[", "]]"}, Missing: {"(", ")"},
	Path: {"(", ")"}, Input: {"([", "])"}, Initial: {"([", "])"}, Output: {"([", "])"},
}

func (n *Node) mermaid(sizes labelSizes) string {
	label := textMermaid(n.Label, sizes.node)
	if n.Count > 0 && label != "" {
		label = "<b>" + label + "</b>"
	}
	if n.Repeats {
		label += " " + each
	}
	if n.Detail != "" && sizes.detail > 0 {
		lines := rows(n.Detail, sizes.detail)
		if sizes.detail == maxDetail { // there is room for all
			lines = wrapped(n.Detail, maxDetail)
		}
		label += "<br/><small>" + linesMermaid(lines) + "</small>"
	}
	marks := said(n.Marks)
	for i, m := range marks {
		if sizes.detail > 0 || i == 0 {
			label += "<br/>" + m.mermaid()
		}
	}
	shape := shapes[n.Kind]
	return n.ID + shape[0] + quoteMermaid(label) + shape[1] + ":::" + n.class()
}

// mermaid is a mark in the colour of its tone.
func (m Mark) mermaid() string {
	return fmt.Sprintf("<b><font color='%s'>%s</font></b>", m.Kind.tone().colour, escapeMermaid(m.words()))
}

// class names a node's look. The names begin with ob, since call, click, end
// and others are words of Mermaid's language.
func (n *Node) class() string {
	name := "ob" + capital(string(n.Kind))
	for _, m := range outline(n.Marks, false) {
		name += capital(string(m.Kind))
	}
	return name
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func (e *Edge) mermaid(nodes []Node, sizes labelSizes) string {
	label := ""
	if sizes.edge > 0 {
		label = textMermaid(e.Label, sizes.edge)
		if e.Condition != "" {
			label = strings.TrimPrefix(label+"<br/>"+textMermaid(e.Condition, sizes.edge), "<br/>")
		}
		for _, m := range first(e.Marks) {
			label = strings.TrimPrefix(label+"<br/>", "<br/>") + escapeMermaid(m.words())
		}
	}
	arrow := " --> "
	switch e.Kind {
	case After, Order, Once, Failure:
		arrow = " -.-> "
	case Write:
		arrow = " ==> "
	}
	if label != "" {
		arrow = strings.TrimRight(arrow, " ") + "|" + quoteMermaid(label) + "| "
	}
	return nodes[e.From].ID + arrow + nodes[e.To].ID
}

// classes writes the looks of the nodes and edges that there are.
func (v View) classes(b *strings.Builder, notes bool) {
	var defined []string
	for i := range v.Nodes {
		n := &v.Nodes[i]
		name := n.class()
		if slices.Contains(defined, name) {
			continue
		}
		defined = append(defined, name)
		look := paints[n.Kind]
		border, extra := look.border, ""
		for _, m := range outline(n.Marks, false) {
			border, extra = m.Kind.tone().colour, ",stroke-width:2px"
		}
		if n.Kind == Missing {
			extra += ",stroke-dasharray:5 4"
		}
		fmt.Fprintf(b, "  classDef %s fill:%s,stroke:%s,color:%s%s\n", name, look.fill, border, look.text, extra)
	}
	if notes {
		b.WriteString("  classDef obNote fill:none,stroke:none\n") // in the theme's colour, light or dark
	}
	var failures, afters, orders, faults, added, critical []string
	for i, e := range v.Edges {
		switch {
		case has(e.Marks, Added):
			added = append(added, strconv.Itoa(i))
		case has(e.Marks, Error, Failed, Removed):
			faults = append(faults, strconv.Itoa(i))
		case has(e.Marks, Critical):
			critical = append(critical, strconv.Itoa(i))
		case e.Kind == Failure:
			failures = append(failures, strconv.Itoa(i))
		case e.Kind == After:
			afters = append(afters, strconv.Itoa(i))
		case e.Kind == Order, e.Kind == Once:
			orders = append(orders, strconv.Itoa(i))
		}
	}
	for _, style := range []struct {
		edges []string
		look  string
	}{
		{faults, "stroke:" + alarm + ",stroke-width:2px"},
		{added, "stroke:" + fine + ",stroke-width:2px"},
		{critical, "stroke:" + working + ",stroke-width:2px"},
		{failures, "stroke:" + alarm + ",stroke-width:2px,stroke-dasharray:6 4"},
		{afters, "stroke-width:2px,stroke-dasharray:6 4"},
		{orders, "stroke-width:3px,stroke-dasharray:3 3"},
	} {
		if len(style.edges) > 0 {
			fmt.Fprintf(b, "  linkStyle %s %s\n", strings.Join(style.edges, ","), style.look)
		}
	}
}
