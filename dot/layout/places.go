package layout

import (
	"cmp"
	"slices"
)

// A token is what is in a layer from the left to the right: a vertex, or the
// left or right edge of a cluster.
type token struct {
	vertex  int // -1 for the edge of a cluster
	cluster int
	right   bool
}

// tokens are those of a layer.
func (d *layering) tokens(layer []int) []token {
	var out []token
	inside := 0
	enter := func(c int) { // and leave the clusters that don't hold it
		var entered []int
		for inside != c {
			if d.depth[inside] >= d.depth[c] {
				out = append(out, token{-1, inside, true})
				inside = d.Clusters[inside].Inside
			} else {
				entered = append(entered, c)
				c = d.Clusters[c].Inside
			}
		}
		for _, inside = range slices.Backward(entered) {
			out = append(out, token{-1, inside, false})
		}
	}
	for _, v := range layer {
		enter(d.vertices[v].cluster)
		out = append(out, token{v, inside, false})
	}
	enter(0)
	return out
}

// straighten gives every vertex its x: edges are as short and as straight as the
// order allows. What an edge passes between its ends is one variable, so that it
// runs straight there, but where two of those cross.
func (d *layering) straighten() {
	rows := make([][]token, len(d.layers))
	for i, layer := range d.layers {
		rows[i] = d.tokens(layer)
	}
	d.x = make([]int, len(d.vertices))
	for _, straight := range []bool{true, false} {
		if d.placeBlocks(rows, d.blocks(straight)) {
			return
		}
	}
}

// blocks number the variables: vertices that share one have the same x.
func (d *layering) blocks(straight bool) []int {
	block := make([]int, len(d.vertices))
	for v := range block {
		block[v] = -1
	}
	passes := make([]bool, len(d.vertices))
	for i := range d.Edges {
		for at := 1; at+1 < len(d.ways[i]); at++ {
			passes[d.ways[i][at]] = true
		}
	}
	n := 0
	for i, layer := range d.layers {
		// Of the edges that pass both layers in one cluster, those go straight that cross none to their left that does.
		reached := -1
		for _, v := range layer {
			if straight && i > 0 && passes[v] {
				before := d.up[v][0]
				if passes[before] && d.at[before] > reached && d.vertices[before].cluster == d.vertices[v].cluster {
					reached = d.at[before]
					block[v] = block[before]
				}
			}
			if block[v] < 0 {
				block[v] = n
				n++
			}
		}
	}
	return append(block, n)
}

// placeBlocks solves for the places of blocks and of the clusters' edges; the
// last of block is how many there are. It reports whether there is a solution.
func (d *layering) placeBlocks(rows [][]token, block []int) bool {
	n := block[len(block)-1]
	border := n
	var gaps []gap
	var springs []spring
	for _, c := range d.Clusters[1:] {
		gaps = append(gaps, gap{n, n + 1, c.TitleWidth + 2*inset})
		springs = append(springs, spring{n, n + 1, c.TitleWidth + 2*inset, 4})
		n += 2
	}
	known := map[[2]int]int{}
	for _, row := range rows {
		for i := 1; i < len(row); i++ {
			a, b := row[i-1], row[i]
			apart := edgeGap
			switch {
			case a.vertex < 0 && b.vertex < 0 && a.right == b.right, a.vertex < 0 && !a.right, b.vertex < 0 && b.right:
				apart = inset
			case a.vertex < 0 || b.vertex < 0 || d.isNode(a.vertex) && d.isNode(b.vertex):
				apart = nodeGap
			}
			var ends [2]int
			for k, t := range []token{a, b} {
				if t.vertex < 0 {
					ends[k] = border + 2*(t.cluster-1)
					if t.right {
						ends[k]++
					}
					continue
				}
				ends[k] = block[t.vertex]
				if k == 0 {
					apart += d.vertices[t.vertex].right
				} else {
					apart += d.vertices[t.vertex].left
				}
			}
			at, ok := known[ends]
			if !ok {
				at = len(gaps)
				known[ends], gaps = at, append(gaps, gap{ends[0], ends[1], apart})
			}
			gaps[at].length = max(gaps[at].length, apart)
		}
	}
	for i := range d.Edges {
		way := d.ways[i]
		for at := 1; at < len(way); at++ {
			from, to := way[at-1], way[at]
			// Where an edge enters a cluster at its top, its title stands to the left.
			for c := d.vertices[to].cluster; c > 0 && d.first[c] == d.vertices[to].layer; c = d.Clusters[c].Inside {
				if title := d.Clusters[c].TitleWidth; title > 0 {
					gaps = append(gaps, gap{border + 2*(c-1), block[to], max(0, title+2*inset-d.port(i, at))})
				}
			}
			if block[from] == block[to] {
				continue
			}
			weight := 1
			for _, v := range []int{from, to} {
				if !d.isNode(v) {
					weight *= 2
				}
			}
			springs = append(springs, spring{block[from], block[to], d.port(i, at-1) - d.port(i, at), weight})
		}
	}
	s, ok := newSolver(n, gaps, springs)
	if !ok {
		return false
	}
	s.spread(placingWork / 2)
	s.settle(placingWork / 2)
	pos := s.pos
	for v := range d.vertices {
		d.x[v] = pos[block[v]]
	}
	d.sides = pos[border : border+2*len(d.Clusters)-2]
	return true
}

// port is how far from the x of its vertex an edge passes there: edges of one
// node end beside each other in the order in which they leave.
func (d *layering) port(i, at int) int {
	v := d.ways[i][at]
	if !d.isNode(v) {
		return 0
	}
	return d.ports[[2]int{v, 2*i + min(at, 1)}]
}

// findPorts spreads the edges of each node along its upper and its lower side.
func (d *layering) findPorts() {
	d.ports = map[[2]int]int{}
	type end struct{ edge, at, next int }
	out := make([][2][]end, len(d.Nodes))
	for i := range d.Edges {
		if way := d.ways[i]; len(way) > 0 {
			from, to := way[0], way[len(way)-1]
			out[from][0] = append(out[from][0], end{i, 0, d.at[way[1]]})
			out[to][1] = append(out[to][1], end{i, 1, d.at[way[len(way)-2]]})
		}
	}
	for v := range out {
		for _, side := range out[v] {
			slices.SortStableFunc(side, func(a, b end) int { return cmp.Compare(a.next, b.next) })
			room := max(0, d.Nodes[v].Width-24)
			for k, e := range side {
				step := min(portGap*max(1, len(side)-1), room)
				d.ports[[2]int{v, 2*e.edge + e.at}] = (2*k - len(side) + 1) * step / (2 * max(1, len(side)-1))
			}
		}
	}
}
