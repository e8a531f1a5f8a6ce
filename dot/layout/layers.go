package layout

import "slices"

// A vertex stands in one layer: a node, or where an edge passes by.
type vertex struct {
	layer       int
	left, right int // how far it reaches from its x
	height      int
	cluster     int
	node        int // its node, or -1
}

// A layering is the work on one part.
type layering struct {
	*Graph
	part     *part
	vertices []vertex
	of       []int   // by node: its vertex
	layers   [][]int // the vertices of each layer, from the left
	at       []int   // by vertex: its place in its layer
	up, down [][]int // by vertex: those that it is joined to in the layers beside its own, once for each edge
	ways     [][]int // by edge: its vertices downwards; nil for a loop
	upwards  []bool  // by edge: it leads from the lower end to the upper one
	label    []int   // by edge: the vertex of its label, or -1
	first    []int   // by cluster: its layers, and those of what is in it
	last     []int
	depth    []int          // by cluster: how many it is in
	x        []int          // by vertex
	sides    []int          // by cluster: where its left and right edges are, at 2c and 2c+1
	ports    map[[2]int]int // by vertex, and twice the edge, plus 1 at its lower end: how far from the x it ends
}

// place lays the part out from 0, 0 on, and returns its size.
func (p *part) place(placed *Placed) Box {
	d := &layering{Graph: p.graph, part: p, of: make([]int, len(p.graph.Nodes))}
	d.ways, d.upwards, d.label = make([][]int, len(d.Edges)), make([]bool, len(d.Edges)), make([]int, len(d.Edges))
	d.first, d.last, d.depth = make([]int, len(d.Clusters)), make([]int, len(d.Clusters)), make([]int, len(d.Clusters))
	for c := 1; c < len(d.Clusters); c++ {
		d.depth[c] = d.depth[d.Clusters[c].Inside] + 1
	}
	for _, i := range p.nodes {
		n := d.Nodes[i]
		d.of[i] = d.add(vertex{left: n.Width / 2, right: n.Width - n.Width/2, height: n.Height, cluster: n.Cluster, node: i})
	}
	d.orient()
	d.rank()
	d.lead()
	d.arrange()
	d.findPorts()
	d.straighten()
	return d.draw(placed)
}

func (d *layering) add(v vertex) int {
	d.vertices = append(d.vertices, v)
	return len(d.vertices) - 1
}

// orient turns round the edges that close a cycle, going through the graph depth
// first, beginning where nothing leads to.
func (d *layering) orient() {
	out, in := make([][]int, len(d.vertices)), make([]int, len(d.vertices))
	for _, i := range d.part.edges {
		if e := d.Edges[i]; e.From != e.To {
			out[d.of[e.From]] = append(out[d.of[e.From]], i)
			in[d.of[e.To]]++
		}
	}
	const open, done = 1, 2
	state := make([]int, len(d.vertices))
	type visit struct{ v, edge int }
	search := func(root int) {
		if state[root] != 0 {
			return
		}
		stack := []visit{{root, 0}}
		state[root] = open
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if top.edge == len(out[top.v]) {
				state[top.v] = done
				stack = stack[:len(stack)-1]
				continue
			}
			i := out[top.v][top.edge]
			top.edge++
			switch to := d.of[d.Edges[i].To]; state[to] {
			case open:
				d.upwards[i] = true
			case 0:
				state[to] = open
				stack = append(stack, visit{to, 0})
			}
		}
	}
	for v := range d.vertices {
		if in[v] == 0 {
			search(v)
		}
	}
	for v := range d.vertices {
		search(v)
	}
}

// ends are the upper and the lower vertex of an edge.
func (d *layering) ends(i int) (from, to int) {
	from, to = d.of[d.Edges[i].From], d.of[d.Edges[i].To]
	if d.upwards[i] {
		from, to = to, from
	}
	return from, to
}

// rank gives every node its layer, so that edges are short. Where edges have
// labels, there is a layer for those between two of nodes.
func (d *layering) rank() {
	length := 1
	for _, i := range d.part.edges {
		if d.Edges[i].LabelWidth > 0 && d.Edges[i].From != d.Edges[i].To {
			length = 2
		}
	}
	var constraints []constraint
	for _, i := range d.part.edges {
		if from, to := d.ends(i); from != to {
			constraints = append(constraints, constraint{from, to, length, 1})
		}
	}
	pos, _ := solve(len(d.vertices), constraints, rankingWork)
	least := slices.Min(pos)
	for v := range d.vertices {
		d.vertices[v].layer = pos[v] - least
	}
	d.layers = make([][]int, slices.Max(pos)-least+1)
	for _, c := range d.part.clusters {
		d.first[c], d.last[c] = len(d.layers), -1
	}
	for _, v := range d.vertices {
		for c := v.cluster; c > 0; c = d.Clusters[c].Inside {
			d.first[c], d.last[c] = min(d.first[c], v.layer), max(d.last[c], v.layer)
		}
	}
}

// lead gives every edge a vertex in each layer that it passes, which is in the
// cluster of one of its ends as long as that reaches, and every cluster at
// least one vertex in each of its layers.
func (d *layering) lead() {
	for _, i := range d.part.edges {
		from, to := d.ends(i)
		d.label[i] = -1
		if from == to {
			v, e := &d.vertices[from], d.Edges[i]
			v.right += loopWidth
			if e.LabelWidth > 0 {
				v.right += e.LabelWidth + edgeGap/2
			}
			continue
		}
		way := []int{from}
		high, low := d.vertices[from], d.vertices[to]
		for layer := high.layer + 1; layer < low.layer; layer++ {
			v := vertex{layer: layer, node: -1, cluster: d.passing(high.cluster, low.cluster, layer)}
			if e := d.Edges[i]; e.LabelWidth > 0 && layer == high.layer+((low.layer-high.layer)/2|1) {
				v.left, v.right, v.height = e.LabelWidth/2, e.LabelWidth-e.LabelWidth/2, e.LabelHeight
				d.label[i] = len(d.vertices)
			}
			way = append(way, d.add(v))
		}
		d.ways[i] = append(way, to)
	}
	held := map[[2]int]bool{} // cluster and layer: there is a vertex
	for _, v := range d.vertices {
		for c := v.cluster; c > 0; c = d.Clusters[c].Inside {
			held[[2]int{c, v.layer}] = true
		}
	}
	for _, c := range slices.Backward(d.part.clusters) {
		for layer := d.first[c]; layer <= d.last[c]; layer++ {
			if !held[[2]int{c, layer}] {
				d.add(vertex{layer: layer, node: -1, cluster: c})
				for c := c; c > 0; c = d.Clusters[c].Inside {
					held[[2]int{c, layer}] = true
				}
			}
		}
	}
	d.up, d.down = make([][]int, len(d.vertices)), make([][]int, len(d.vertices))
	for _, i := range d.part.edges {
		for at := 1; at < len(d.ways[i]); at++ {
			from, to := d.ways[i][at-1], d.ways[i][at]
			d.down[from], d.up[to] = append(d.down[from], to), append(d.up[to], from)
		}
	}
}

// passing is the cluster that an edge is in where it passes a layer.
func (d *layering) passing(from, to, layer int) int {
	a, b := from, to
	for a != b {
		if d.depth[a] >= d.depth[b] {
			if d.last[a] >= layer {
				return a
			}
			a = d.Clusters[a].Inside
		} else {
			if d.first[b] <= layer {
				return b
			}
			b = d.Clusters[b].Inside
		}
	}
	return a
}
