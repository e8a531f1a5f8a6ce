package dot

import (
	"fmt"
	"slices"
	"strings"
)

// Text is the view as a list for the terminal, step by step: what a step lists waits only for what is
// above it, so its calls may run at the same time. Below each node are those that it waits for.
func (v View) Text() string {
	var out strings.Builder
	for _, line := range append(rows(v.Name, maxTitle), v.Notes...) {
		out.WriteString(inOne(line) + "\n")
	}
	gives := func(i int) bool { return slices.Contains([]Kind{Input, Initial, Missing}, v.Nodes[i].Kind) }
	order, into, waits := []int{}, make([][]int, len(v.Nodes)), View{Nodes: v.Nodes}
	for i := range v.Nodes {
		if !gives(i) {
			order = append(order, i)
		}
	}
	for i, e := range v.Edges {
		if into[e.To] = append(into[e.To], i); !gives(e.From) {
			waits.Edges = append(waits.Edges, e)
		}
	}
	layer := layers(waits.waits())
	slices.SortStableFunc(order, func(a, b int) int { return int(layer[a] - layer[b]) })
	step, before := 0, int32(-1)
	for _, i := range order {
		number := ""
		if layer[i] != before {
			step, before = step+1, layer[i]
			number = fmt.Sprint(step)
		}
		fmt.Fprintf(&out, "%4s  %s\n", number, v.line(&v.Nodes[i]))
		for _, at := range into[i] {
			out.WriteString("        " + v.cause(&v.Edges[at]) + "\n")
		}
	}
	legend, _ := v.legend()
	for _, entry := range legend {
		out.WriteString(entry + "\n")
	}
	return out.String()
}

// line is a node in one line.
func (v *View) line(n *Node) string {
	words := linesOf(v.boxRows(n, maxTip, maxTip))
	if n.Frame != "" {
		words = append(words, inOne(n.Frame))
	}
	return strings.Join(words, " · ")
}

// cause is what a node waits for, in words.
func (v *View) cause(e *Edge) string {
	from, arrow, colon := &v.Nodes[e.From], "← ", ": "
	if e.Kind == After || e.Kind == Order || e.Kind == Once {
		arrow, colon = "after ", ", "
	}
	words := arrow + inOne(from.Label)
	if e.Label != "" {
		words += colon + strings.Join(rows(e.Label, maxTip), ", ")
	}
	rest := []string{e.When}
	if e.Kind == Failure {
		rest = append(rest, "if it fails, is rejected, or chooses this")
	}
	if from.Kind == Missing {
		rest = append(rest, from.Detail)
	}
	for _, text := range rest {
		if text != "" {
			words += ", " + inOne(text)
		}
	}
	if len(e.Marks) > 0 && !has(e.Marks[:1], Added) {
		words += " · " + e.Marks[0].words()
	}
	return words
}

// inOne is a text in one line.
func inOne(s string) string { return strings.Join(rows(s, maxTip), " ") }
