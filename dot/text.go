package dot

import "strings"

// Text is the view as a tree for the terminal: what nothing comes before stands at
// the left, and everything else below the last of those that it waits for, with
// all that it waits for beside arrows. What stands below one node side by side may
// run at the same time.
func (v View) Text() string {
	t := textTree{View: v, into: make([][]int, len(v.Nodes)), below: make([][]int, len(v.Nodes))}
	for _, line := range append(rows(v.Name, maxTitle), v.Notes...) {
		t.out.WriteString(inOne(line) + "\n")
	}
	for i, e := range v.Edges {
		t.into[e.To] = append(t.into[e.To], i)
	}
	layer := layers(v.network())
	var roots []int
	for i, n := range v.Nodes {
		last := -1
		for _, at := range t.into[i] {
			from := v.Edges[at].From
			if !v.Nodes[from].source() && layer[from] < layer[i] && (last < 0 || layer[from] > layer[last]) {
				last = from
			}
		}
		switch {
		case n.source():
		case last < 0 || n.Kind == Output && len(n.Frames) == 0:
			roots = append(roots, i)
		default:
			t.below[last] = append(t.below[last], i)
		}
	}
	for at, root := range roots {
		t.write(root, at == len(roots)-1)
	}
	return t.out.String()
}

// source reports whether a node is only where values come from.
func (n *Node) source() bool { return n.Kind == Input || n.Kind == Initial || n.Kind == Missing }

// A textTree is the work on a tree for the terminal.
type textTree struct {
	View
	into  [][]int // by node: the edges that lead to it
	below [][]int // by node: those that stand below it
	out   strings.Builder
}

// write writes a node and what stands below it. Chains are as long as the plan, and
// so go straight down: only several that stand below one step in.
func (t *textTree) write(root int, last bool) {
	type line struct {
		node           int
		branch, indent string
	}
	beside := func(node int, indent string, last bool) line {
		if last {
			return line{node, indent + "└─ ", indent + "   "}
		}
		return line{node, indent + "├─ ", indent + "│  "}
	}
	stack := []line{beside(root, "", last)}
	for len(stack) > 0 {
		one := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		below := t.below[one.node]
		if len(below) == 1 {
			t.node(one.node, one.branch, one.indent+"   ")
			stack = append(stack, line{below[0], one.indent + "↓ ", one.indent})
			continue
		}
		detail := one.indent + "   "
		if len(below) > 0 {
			detail = one.indent + "│  "
		}
		t.node(one.node, one.branch, detail)
		for at := len(below) - 1; at >= 0; at-- {
			stack = append(stack, beside(below[at], one.indent, at == len(below)-1))
		}
	}
}

func (t *textTree) node(i int, branch, indent string) {
	n := &t.Nodes[i]
	head := append(rows(n.Label, maxTip), wrapped(n.Detail, maxTip)...)
	for _, m := range said(n.Marks) {
		head = append(head, m.words())
	}
	for _, frame := range n.Frames {
		head = append(head, inOne(frame))
	}
	t.out.WriteString(branch + strings.Join(head, " · ") + "\n")
	for _, at := range t.into[i] {
		t.out.WriteString(indent + t.edge(&t.View.Edges[at]) + "\n")
	}
}

// edge is what a node waits for, in words.
func (t *textTree) edge(e *Edge) string {
	from := &t.Nodes[e.From]
	words := inOne(from.Label)
	label := strings.Join(rows(e.Label, maxTip), ", ")
	switch {
	case label == "after":
		words = "after " + words
	case e.Kind == After, e.Kind == Order, e.Kind == Once:
		words = "after " + words + ", " + label
	case label != "":
		words = "← " + words + ": " + label
	default:
		words = "← " + words
	}
	if from.Kind == Missing {
		words += ", " + inOne(from.Detail)
	}
	if e.Condition != "" {
		words += ", " + inOne(e.Condition)
	}
	for _, m := range first(e.Marks) {
		words += " · " + m.words()
	}
	return words
}

// inOne is a text in one line.
func inOne(s string) string { return strings.Join(rows(s, maxTip), " ") }
