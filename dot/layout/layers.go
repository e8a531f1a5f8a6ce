package layout

import (
	"slices"

	"github.com/obelus-dev/obelus/compiler/dag"
)

// A vertex is in one layer: a node, or where an edge passes by.
type vertex struct {
	layer       int
	left, right int // how far it reaches from its x
	height      int
	cluster     int
}

// A layering is the work on a graph. The vertices of its nodes are the first
// ones, and have the same indexes.
type layering struct {
	Graph
	vertices []vertex
	layers   [][]int // the vertices of each layer, from the left
	at       []int   // by vertex: its place in its layer
	up, down [][]int // by vertex: those that it is joined to in the layers beside its own, once for each edge
	ways     [][]int // by edge: its vertices downwards; nil from a node to itself
	upwards  []bool  // by edge: it leads from the lower end to the upper one
	first    []int   // by cluster: its layers
	last     []int
	x        []int // by vertex
	variable []int // by vertex: one that has the same x
	sides    []int // by cluster: where its left and right sides are, at 2c and 2c+1
}

// Place lays a graph out.
func Place(g Graph) Placed {
	if len(g.Nodes) == 0 {
		return Placed{}
	}
	d := &layering{Graph: g, ways: make([][]int, len(g.Edges)), upwards: make([]bool, len(g.Edges))}
	for _, n := range g.Nodes {
		d.add(vertex{left: n.Width / 2, right: n.Width - n.Width/2, height: n.Height, cluster: n.Cluster})
	}
	d.rank()
	d.lead()
	d.arrange()
	d.straighten()
	return d.draw()
}

// isNode reports whether a vertex is a node, and not where an edge or a cluster passes.
func (d *layering) isNode(v int) bool { return v < len(d.Nodes) }

func (d *layering) add(v vertex) int {
	d.vertices = append(d.vertices, v)
	return len(d.vertices) - 1
}

// ends are the upper and the lower vertex of an edge.
func (d *layering) ends(i int) (from, to int) {
	from, to = d.Edges[i].From, d.Edges[i].To
	if d.upwards[i] {
		from, to = to, from
	}
	return from, to
}

// rank gives every node its layer, so that edges are short. An edge with a label
// passes at least one layer, for the label. Edges that close a cycle are turned round.
func (d *layering) rank() {
	waits := make([][]int32, len(d.vertices))
	for _, e := range d.Edges {
		if e.From != e.To {
			waits[e.To] = append(waits[e.To], int32(e.From))
		}
	}
	graph := dag.Of(waits)
	var gaps []gap
	var springs []spring
	for i, e := range d.Edges {
		length := 1
		if e.LabelWidth > 0 {
			length = 2
		}
		d.upwards[i] = graph.Rank(e.From) > graph.Rank(e.To)
		if from, to := d.ends(i); from != to {
			gaps, springs = append(gaps, gap{from, to, length}), append(springs, spring{from, to, length, 1})
		}
	}
	s, _ := newSolver(len(d.vertices), gaps, springs)
	s.settle(rankingWork)
	pos := s.pos
	least, deepest, row, width := slices.Min(pos), 0, 0, 0
	for v := range d.vertices {
		layer := pos[v] - least
		if len(s.springs[v]) == 0 { // these are set in rows
			if width += d.Nodes[v].Width + nodeGap; width > rowWidth {
				row, width = row+1, d.Nodes[v].Width+nodeGap
			}
			layer = row
		}
		d.vertices[v].layer, deepest = layer, max(deepest, layer)
	}
	d.layers = make([][]int, deepest+1)
	n := len(d.Clusters)
	d.first, d.last = slices.Repeat([]int{len(d.layers)}, n), slices.Repeat([]int{-1}, n)
	for _, v := range d.vertices {
		d.first[v.cluster], d.last[v.cluster] = min(d.first[v.cluster], v.layer), max(d.last[v.cluster], v.layer)
	}
}

// lead gives every edge a vertex in each layer that it passes, which is in the
// cluster of one of its ends as long as that reaches, and every cluster at
// least one vertex in each of its layers.
func (d *layering) lead() {
	for i := range d.Edges {
		from, to := d.ends(i)
		if from == to {
			continue
		}
		way := []int{from}
		high, low := d.vertices[from], d.vertices[to]
		for layer := high.layer + 1; layer < low.layer; layer++ {
			v := vertex{layer: layer}
			if high.cluster > 0 && d.last[high.cluster] >= layer {
				v.cluster = high.cluster
			} else if d.first[low.cluster] <= layer {
				v.cluster = low.cluster
			}
			if e := d.Edges[i]; e.LabelWidth > 0 && layer == low.layer-1 {
				v.left, v.right, v.height = e.LabelWidth/2, e.LabelWidth-e.LabelWidth/2, e.LabelHeight
			}
			way = append(way, d.add(v))
		}
		d.ways[i] = append(way, to)
	}
	held := map[[2]int]bool{} // cluster and layer: there is a vertex
	for _, v := range d.vertices {
		held[[2]int{v.cluster, v.layer}] = true
	}
	for c := 1; c < len(d.Clusters); c++ {
		for layer := d.first[c]; layer <= d.last[c]; layer++ {
			if !held[[2]int{c, layer}] {
				d.add(vertex{layer: layer, cluster: c})
			}
		}
	}
	d.up, d.down = make([][]int, len(d.vertices)), make([][]int, len(d.vertices))
	for i := range d.Edges {
		for at := 1; at < len(d.ways[i]); at++ {
			from, to := d.ways[i][at-1], d.ways[i][at]
			d.down[from], d.up[to] = append(d.down[from], to), append(d.up[to], from)
		}
	}
}
