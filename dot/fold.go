package dot

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
)

// What Mermaid draws with its default settings: it refuses more than 500
// edges, and in place of more than 50,000 characters it draws an error. Beyond
// some 300 nodes nobody reads a drawing anyway.
const (
	mermaidNodes = 300
	mermaidEdges = 450
	mermaidChars = 45_000
)

// How coarse a drawing is: each step folds more calls into one node.
const (
	byCall     = iota // every call by itself
	byTool            // those of one tool and one layer
	byLayer           // those of one layer
	byBand            // those of neighbouring layers
	byWideBand        // the same, where each of those waits for each other
	coarsest   = byWideBand
)

// How many nodes a drawing of neighbouring layers has.
const (
	bands     = 24
	wideBands = 8
)

// A network is the edges from calls to those that wait for them, each as often as there are reasons. Its
// slices are not to be changed.
type network interface {
	Len() int
	Deps(i int) []int32  // whom i waits for
	Users(i int) []int32 // who waits for i
}

// lists is a network as plain lists.
type lists struct{ deps, users [][]int32 }

func newLists(n int) *lists { return &lists{make([][]int32, n), make([][]int32, n)} }

func (l *lists) Len() int            { return len(l.deps) }
func (l *lists) Deps(i int) []int32  { return l.deps[i] }
func (l *lists) Users(i int) []int32 { return l.users[i] }

func (l *lists) add(from, to int32) {
	l.deps[to] = append(l.deps[to], from)
	l.users[from] = append(l.users[from], to)
}

// layers is how many others stand before each node on the longest way to it.
// Where a cycle leaves nobody ready the earliest of those who wait goes first.
func layers(net network) []int32 {
	n := net.Len()
	layer, waiting, placed := make([]int32, n), make([]int32, n), make([]bool, n)
	var queue []int32
	for i := range n {
		if waiting[i] = int32(len(net.Deps(i))); waiting[i] == 0 {
			queue = append(queue, int32(i))
		}
	}
	for earliest := 0; ; {
		for len(queue) > 0 {
			i := queue[0]
			queue = queue[1:]
			if placed[i] {
				continue
			}
			placed[i] = true
			for _, u := range net.Users(int(i)) {
				if !placed[u] {
					layer[u] = max(layer[u], layer[i]+1)
				}
				if waiting[u]--; waiting[u] == 0 {
					queue = append(queue, u)
				}
			}
		}
		for earliest < n && placed[earliest] {
			earliest++
		}
		if earliest == n {
			return layer
		}
		queue = append(queue, int32(earliest))
	}
}

// maxPassed bounds how many layers the edges of a drawing pass, all together: that is what
// laying it out takes.
const maxPassed = 200_000

// passed is how many layers the edges of a view pass.
func (v View) passed() (n int) {
	layer := layers(v.network())
	for _, e := range v.Edges {
		n += int(max(layer[e.From], layer[e.To]) - min(layer[e.From], layer[e.To]))
	}
	return n
}

// A grouping puts calls together: group of[i] has call i.
type grouping struct {
	of     []int32
	groups []group
}

// A group is calls that are drawn as one.
type group struct {
	calls     int
	low, high int32 // the layers that they are in
	tools     map[string]int
}

// group groups the calls at one level of coarseness.
func (d *drawing) group(level int) grouping {
	type key struct {
		tool  string
		layer int32
	}
	var deepest int32
	for _, l := range d.layer {
		deepest = max(deepest, l)
	}
	g := grouping{of: make([]int32, len(d.plan.Calls))}
	known := map[key]int32{}
	for i, c := range d.plan.Calls {
		tool, k := diag.Escape(c.ToolName), key{layer: d.layer[i]}
		if n := [...]int{byBand: bands, byWideBand: wideBands}[level]; n > 0 {
			k.layer = int32(int(k.layer) * n / int(deepest+1))
		} else if level == byTool {
			k.tool = tool
		}
		id, ok := known[k]
		if level == byCall || !ok {
			id = int32(len(g.groups))
			g.groups = append(g.groups, group{low: d.layer[i], high: d.layer[i], tools: map[string]int{}})
			known[k] = id
		}
		g.of[i] = id
		one := &g.groups[id]
		one.calls++
		one.tools[tool]++
		one.low, one.high = min(one.low, d.layer[i]), max(one.high, d.layer[i])
	}
	return g
}

// node is the node that represents a group of several.
func (g *group) node() Node {
	names := slices.SortedFunc(maps.Keys(g.tools), func(a, b string) int {
		return cmp.Or(cmp.Compare(g.tools[b], g.tools[a]), cmp.Compare(a, b))
	})
	n := Node{Kind: Folded, Count: g.calls}
	if len(names) == 1 {
		n.Tool = names[0]
		n.Label = names[0] + " ×" + strconv.Itoa(g.calls)
	} else {
		n.Label = strconv.Itoa(g.calls) + " calls"
		var most []string
		for _, name := range names[:min(3, len(names))] {
			most = append(most, fmt.Sprintf("%s ×%d", name, g.tools[name]))
		}
		if more := len(names) - len(most); more > 0 {
			most = append(most, "+"+strconv.Itoa(more)+" more tools")
		}
		n.Detail = strings.Join(most, "\n") + "\n"
	}
	if g.low == g.high {
		n.Detail += "layer " + strconv.Itoa(int(g.low)+1)
	} else {
		n.Detail += fmt.Sprintf("layers %d to %d", g.low+1, g.high+1)
	}
	return n
}

// explain says how a drawing of so many calls was folded.
func explain(level, calls int) string {
	how := [...]string{"", "one tool and layer", "one layer", "neighbouring layers", "neighbouring layers"}[level]
	return fmt.Sprintf("%d calls: those of %s are drawn as one", calls, how)
}

// A builder collects a view and merges edges of one kind between two nodes.
type builder struct {
	v     View
	index map[edgeKey]int
	edges []bundle
}

type edgeKey struct {
	from, to int
	kind     EdgeKind
}

// A bundle is an edge in the making. It remembers a few labels and counts
// further ones, so that an edge for a million reads stays small.
type bundle struct {
	edgeKey
	labels    []string
	further   int
	marks     []Mark
	whens     []string // the conditions of those that it leads to
	condition string   // of all that goes this way; see conditional
	free      bool     // something goes this way without a condition
	needed    bool     // something that goes this way can't be done without
}

// conditional says what must be so for something to go this way. Where several
// things do, on several conditions, the edge has none.
func (e *bundle) conditional(condition string) {
	if e.free = e.free || condition == "" || e.condition != "" && e.condition != condition; e.free {
		condition = ""
	}
	e.condition = condition
}

// maxLabels is how many paths an edge names.
const maxLabels = 3

func newBuilder(name string) *builder {
	return &builder{v: View{Name: name}, index: map[edgeKey]int{}}
}

// node adds a node, gives it its id and tells its index.
func (b *builder) node(n Node) int {
	n.ID = "n" + strconv.Itoa(len(b.v.Nodes))
	b.v.Nodes = append(b.v.Nodes, n)
	return len(b.v.Nodes) - 1
}

func (b *builder) mark(node int, m Mark) {
	b.v.Nodes[node].Marks = addMark(b.v.Nodes[node].Marks, m)
}

// edge is the one edge of a kind between two nodes. It is good until the next
// call of edge.
func (b *builder) edge(from, to int, kind EdgeKind) *bundle {
	k := edgeKey{from, to, kind}
	at, ok := b.index[k]
	if !ok {
		at = len(b.edges)
		b.index[k] = at
		b.edges = append(b.edges, bundle{edgeKey: k})
	}
	return &b.edges[at]
}

// again draws an edge of another view between two nodes.
func (b *builder) again(from, to int, e Edge) {
	edge := b.edge(from, to, e.Kind)
	labels := strings.Split(e.Label, "\n")
	if e.further > 0 { // the last line says so
		labels = labels[:len(labels)-1]
		edge.further += e.further
	}
	for _, label := range labels {
		edge.read(label)
	}
	edge.enters(e.When)
	edge.conditional(e.Condition)
	edge.needed = edge.needed || !e.Optional
	for _, m := range e.Marks {
		edge.marks = addMark(edge.marks, m)
	}
}

// takes notes whether a read that goes this way can be done without.
func (e *bundle) takes(r *plan.Read) { e.needed = e.needed || r.Ref.Required }

// read adds one label to an edge.
func (e *bundle) read(label string) {
	switch {
	case label == "" || slices.Contains(e.labels, label):
	case len(e.labels) < maxLabels:
		e.labels = append(e.labels, label)
	default:
		e.further++
	}
}

// enters adds the condition on which the branch runs that this edge leads into.
func (e *bundle) enters(when string) {
	if when != "" && !slices.Contains(e.whens, when) {
		e.whens = append(e.whens, when)
	}
}

// keep names no more than so many labels and counts the others.
func (e *bundle) keep(n int) {
	if len(e.labels) > n {
		e.further += len(e.labels) - n
		e.labels = e.labels[:n]
	}
}

// view is what was built, its edges in the order in which they were begun.
func (b *builder) view() View {
	b.v.Edges = make([]Edge, len(b.edges))
	for i, e := range b.edges {
		if b.v.Nodes[e.from].Count > 1 || b.v.Nodes[e.to].Count > 1 {
			e.keep(1) // one path as an example: such edges represent many
			e.whens = nil
		}
		label := strings.Join(e.labels, "\n")
		if e.further > 0 {
			label += fmt.Sprintf("\n+%d more", e.further)
		}
		b.v.Edges[i] = Edge{
			From: e.from, To: e.to, Label: label, When: strings.Join(e.whens, "\n"), Condition: e.condition,
			Optional: !e.needed && (e.kind == Data || e.kind == Failure), Kind: e.kind, Marks: e.marks, further: e.further,
		}
	}
	return b.v
}
