package dot

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/dag"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/wording"
)

// What Mermaid draws with its default settings: it refuses more than 500
// edges, and in place of more than 50,000 characters it draws an error. Beyond
// some 300 nodes nobody reads a drawing anyway.
const (
	mermaidNodes = 300
	mermaidEdges = 450
	mermaidChars = 45_000
)

// A level is how coarse a drawing is: each draws more calls as one than the one before.
type level struct {
	byTool bool
	bands  int    // how many groups of neighbouring layers there are; 0 is one for each layer
	whose  string // whose calls are drawn as one; "" where each is drawn by itself
}

var levels = []level{
	{}, {byTool: true, whose: "one tool and layer"}, {whose: "one layer"},
	{bands: 24, whose: "neighbouring layers"}, {bands: 8, whose: "neighbouring layers"},
}

// layers is how many others stand before each node on the longest way to it. On a cycle those that rank first stand
// first.
func layers(g *dag.Graph) []int32 {
	layer, ranked := make([]int32, g.Len()), make([]int, g.Len())
	for i := range ranked {
		ranked[g.Rank(i)] = i
	}
	for _, i := range ranked {
		for _, before := range g.Deps(i) {
			if g.Rank(int(before)) < g.Rank(i) {
				layer[i] = max(layer[i], layer[before]+1)
			}
		}
	}
	return layer
}

// maxPassed bounds how many layers the edges of a drawing pass, all together: that is what
// laying it out takes.
const maxPassed = 200_000

// passed is how many layers the edges of a view pass.
func (v View) passed() (n int) {
	layer := layers(v.waits())
	for _, e := range v.Edges {
		n += int(max(layer[e.From], layer[e.To]) - min(layer[e.From], layer[e.To]))
	}
	return n
}

// groups are the calls that are drawn as one, of those that are drawn. What destroys is never drawn with what doesn't.
func (d *drawing) groups(l level) (groups [][]int) {
	type key struct {
		tool     string
		layer    int
		destroys bool
	}
	known, deepest := map[key]int{}, 0
	for _, layer := range d.layer {
		deepest = max(deepest, int(layer))
	}
	for i, c := range d.plan.Calls {
		if d.near != nil && !d.near[i] {
			continue
		}
		k := key{layer: int(d.layer[i])}
		if l.byTool {
			k.tool = c.ToolName
		}
		if l.bands > 0 {
			k.layer = k.layer * l.bands / (deepest + 1)
		}
		if l.whose != "" {
			k.destroys = has(d.marks(c, d.facts(c)), Destructive)
		}
		at, exists := known[k]
		if l.whose == "" || !exists {
			at = len(groups)
			known[k], groups = at, append(groups, nil)
		}
		groups[at] = append(groups[at], i)
	}
	return groups
}

// groupNode is the node that represents several calls.
func (d *drawing) groupNode(calls []int) Node {
	n, tools := Node{Kind: Folded, Count: len(calls)}, map[string]bool{}
	for _, i := range calls {
		c := d.plan.Calls[i]
		n.Calls = append(n.Calls, c.Name)
		n.Repeats = n.Repeats || d.repeats(c)
		tools[diag.Escape(c.ToolName)] = true
		for _, m := range d.marks(c, d.facts(c)) {
			n.Mark(Mark{Kind: m.Kind})
		}
	}
	names := slices.Sorted(maps.Keys(tools))
	if n.Label = fmt.Sprintf("%s ×%d", names[0], len(calls)); len(names) > 1 {
		n.Label, n.Detail = fmt.Sprintf("%d calls", len(calls)), "of "+wording.Names(names, 3)
	}
	return n
}

// A builder collects a view and merges edges of one kind between two nodes.
type builder struct {
	v     View
	index map[edgeKey]int // of edges
}

type edgeKey struct {
	from, to int
	kind     EdgeKind
}

// maxLabels is how many paths an edge names; further ones are counted, so that an edge for a million reads stays small.
const maxLabels = 3

// newBuilder begins a view that has the name, the notes and the amount of detail of another.
func newBuilder(v View) *builder { return &builder{v: v, index: map[edgeKey]int{}} }

// edge is the one edge of a kind between two nodes. It is good until the next
// call of edge.
func (b *builder) edge(from, to int, kind EdgeKind) *Edge {
	key := edgeKey{from, to, kind}
	at, ok := b.index[key]
	if !ok {
		at = len(b.v.Edges)
		b.index[key] = at
		b.v.Edges = append(b.v.Edges, Edge{From: from, To: to, Kind: kind})
	}
	return &b.v.Edges[at]
}

// read adds one label to an edge.
func (e *Edge) read(label string) {
	switch {
	case label == "" || hasLine(e.Label, label):
	case e.Label == "":
		e.Label = label
	case strings.Count(e.Label, "\n")+1 < maxLabels:
		e.Label += "\n" + label
	default:
		e.further++
	}
}

// enters adds the condition on which the branch runs that this edge leads into.
func (e *Edge) enters(when string) {
	if when != "" && !hasLine(e.When, when) {
		e.When = strings.TrimPrefix(e.When+"\n"+when, "\n")
	}
}

func hasLine(text, line string) bool { return strings.Contains("\n"+text+"\n", "\n"+line+"\n") }

// view is what was built, its edges in the order in which they were begun.
func (b *builder) view() View {
	for i := range b.v.Edges {
		e := &b.v.Edges[i]
		if b.v.Nodes[e.From].Count > 1 || b.v.Nodes[e.To].Count > 1 { // such edges represent many
			e.Label, e.When, e.further = "", "", 0
		}
		if e.further > 0 {
			e.Label += fmt.Sprintf("\n+%d more", e.further)
		}
	}
	return b.v
}
