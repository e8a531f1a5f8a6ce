package main

import (
	"html"
	"regexp"
	"slices"
	"strings"
)

// drawings compares what "graph" draws in every format, read back into nodes, edges and marks; of text, the nodes.
// What boxes and edges say besides, and their colours, are the drawing's own. Where D1 finds that a plan's findings
// differ, their marks aren't compared again.
func drawings(old, changed program, m *material) (outcome, error) {
	formats := []string{"dot", "mermaid", "svg", "text", "html"}
	differ, err := findings(old, changed, m)
	if err != nil {
		return outcome{}, err
	}
	judgedOtherwise := casesOf(differ.differences)
	var names []string
	for i, plan := range slices.Concat(m.in(examples, workflows, pages), thin(m.in(cases), 2), thin(m.in(corpus, generated), 16)) {
		few := 1
		if group := strings.SplitN(plan, "/", 2)[0]; group == examples || group == workflows {
			few = len(formats)
		}
		for j := range few {
			names = append(names, plan+" "+formats[(i+j)%len(formats)])
		}
	}
	return overPlans(names, func(name string) []difference {
		plan, format, _ := strings.Cut(name, " ")
		args := []string{"graph", "--format", format, plan}
		before, after := old.read(args...), changed.read(args...)
		if before.status != after.status {
			return []difference{exits(name, before, after)}
		}
		differences := compareLines(name, drawn(format, before.out), drawn(format, after.out))
		if judgedOtherwise[plan] {
			isMark := func(d difference) bool { return strings.Contains(d.what, " mark ") }
			differences = slices.DeleteFunc(differences, isMark)
		}
		return differences
	}), nil
}

func drawn(format, out string) []line {
	switch format {
	case "dot":
		return drawnDot(out)
	case "mermaid":
		return drawnMermaid(out)
	case "text":
		return drawnText(out)
	}
	return drawnSVG(out)
}

// A sketch collects what a drawing shows.
type sketch struct {
	names map[string]string // of nodes, by how the format calls them
	lines []line
}

func (s *sketch) node(id, label string) {
	if s.names == nil {
		s.names = map[string]string{}
	}
	parts := strings.Split(label, "\n")
	parts[0] = strings.TrimSuffix(aSign.ReplaceAllString(parts[0], ""), " ×n")
	s.names[id] = parts[0]
	s.add("node "+parts[0], "")
	for _, part := range parts[1:] {
		if mark := aMark.FindString(part); mark != "" {
			s.add("mark "+parts[0]+" "+mark, "")
		}
	}
}

func (s *sketch) edge(from, to string) {
	one := line{"edge " + s.names[from] + " -> " + s.names[to], ""}
	if !slices.Contains(s.lines, one) { // edges of several kinds are one
		s.lines = append(s.lines, one)
	}
}

func (s *sketch) add(key, text string) { s.lines = append(s.lines, line{strings.TrimSpace(key), text}) }

var (
	aMark = regexp.MustCompile(`\b(error|warning|info) OB\d{3}\b`)
	aSign = regexp.MustCompile(`^([▲△↗✦?±+−]\d* )+`)
	aTag  = regexp.MustCompile(`<[^<>]*>`)
)

// plainLabel takes the markup out of a label.
func plainLabel(label string) string {
	label = regexp.MustCompile(`<(BR|br)[^<>]*>`).ReplaceAllString(label, "\n")
	label = html.UnescapeString(aTag.ReplaceAllString(label, ""))
	return strings.TrimSpace(label)
}

var (
	dotNode = regexp.MustCompile(`^\s*(\w+) \[label=<(.*?)>(?:, (.*))?\]$`)
	dotEdge = regexp.MustCompile(`^\s*(\w+) -> (\w+)(?: \[(.*)\])?$`)
)

func drawnDot(out string) []line {
	var s sketch
	for text := range strings.Lines(out) {
		text = strings.TrimRight(text, "\n")
		if m := dotEdge.FindStringSubmatch(text); m != nil {
			s.edge(m[1], m[2])
		} else if m := dotNode.FindStringSubmatch(text); m != nil && m[1] != "graph" {
			s.node(m[1], plainLabel(m[2]))
		} else if strings.Contains(text, "subgraph cluster") {
			s.add("frame", "")
		}
	}
	return s.lines
}

var (
	mermaidNode = regexp.MustCompile(`^\s*(\w+)([\[({>]+)"(.*)"[\])}]+(:::\w+)?`)
	mermaidEdge = regexp.MustCompile(`^\s*(\w+) ([-.=ox<>~]+)(?:\|"(.*)"\|)? (\w+)$`)
	mermaidChar = regexp.MustCompile(`#(\w+);`)
)

func drawnMermaid(out string) []line {
	var s sketch
	for text := range strings.Lines(out) {
		text = strings.TrimRight(text, "\n")
		if m := mermaidEdge.FindStringSubmatch(text); m != nil && m[2] != "~~~" {
			s.edge(m[1], m[4])
		} else if m := mermaidNode.FindStringSubmatch(text); m != nil && !strings.HasSuffix(m[4], "obNote") {
			s.node(m[1], plainLabel(mermaidChar.ReplaceAllString(m[3], "&#$1;")))
		} else if strings.Contains(text, "subgraph ") {
			s.add("frame", "")
		}
	}
	return s.lines
}

var (
	svgGroup = regexp.MustCompile(`(?s)<g class="(node|edge|frame)( [^"]*)?"([^>]*)>(.*?)</g>`)
	svgText  = regexp.MustCompile(`(?s)<text[^>]*>(.*?)</text>`)
	svgEnds  = regexp.MustCompile(`data-from="(\w+)" data-to="(\w+)"`)
	svgNode  = regexp.MustCompile(`data-node="(\w+)"`)
)

// drawnSVG reads an SVG, alone or in a page. Edges come before the nodes that they join.
func drawnSVG(out string) []line {
	if at := strings.Index(out, `<g class="legend"`); at >= 0 {
		out = out[:at]
	}
	var s sketch
	groups := svgGroup.FindAllStringSubmatch(out, -1)
	slices.SortStableFunc(
		groups, func(a, b []string) int { return strings.Compare(b[1], a[1]) },
	) // nodes, frames, edges
	for _, g := range groups {
		var texts []string
		for _, t := range svgText.FindAllStringSubmatch(g[4], -1) {
			texts = append(texts, html.UnescapeString(aTag.ReplaceAllString(t[1], "")))
		}
		label := strings.Join(texts, "\n")
		ends, node := svgEnds.FindStringSubmatch(g[3]), svgNode.FindStringSubmatch(g[3])
		switch {
		case g[1] == "edge" && ends != nil:
			s.edge(ends[1], ends[2])
		case g[1] == "node" && node != nil:
			s.node(node[1], label)
		case g[1] == "frame":
			s.add("frame", "")
		}
	}
	return s.lines
}

var textNode = regexp.MustCompile(`^(?:[│├└─ ↓]*[├└↓─]+ |[ \d]{4}  )([^ ←].*)$`)

// drawnText reads the nodes of a text: of a list of steps, or of a tree.
func drawnText(out string) []line {
	var s sketch
	for text := range strings.Lines(out) {
		m := textNode.FindStringSubmatch(strings.TrimRight(text, "\n"))
		if m == nil || strings.HasPrefix(m[1], "after ") {
			continue
		}
		label, details, _ := strings.Cut(m[1], " · ")
		s.node("", label)
		for _, mark := range aMark.FindAllString(details, -1) {
			s.add("mark "+label+" "+mark, "")
		}
	}
	return s.lines
}
