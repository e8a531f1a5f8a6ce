package layout

// A token is what is in a layer from the left to the right: a vertex, or the left or right side of a cluster.
type token struct {
	variable    int // that is its x
	left, right int // how far it and the free space beside it reach from there
}

// side is the variable of the left edge of a cluster; that of the right one follows. The first ones are those of
// vertices.
func (d *layering) side(cluster int) int { return len(d.vertices) + 2*cluster - 2 }

// lineUp gives what an edge passes one variable, so that it is straight there, but where two of those cross.
func (d *layering) lineUp() {
	for i, layer := range d.layers {
		reached := -1
		for _, v := range layer {
			d.variable[v] = v
			if i == 0 || d.isNode(v) || len(d.up[v]) == 0 {
				continue
			}
			before := d.up[v][0]
			if !d.isNode(before) && d.at[before] > reached && d.vertices[before].cluster == d.vertices[v].cluster {
				reached, d.variable[v] = d.at[before], d.variable[before]
			}
		}
	}
}

// tokens are those of a layer.
func (d *layering) tokens(layer []int) []token {
	var out []token
	inside := 0
	enter := func(c int) {
		if inside != c && inside > 0 {
			out = append(out, token{variable: d.side(inside) + 1, right: nodeGap / 2})
		}
		if inside != c && c > 0 {
			out = append(out, token{variable: d.side(c), left: nodeGap / 2})
		}
		inside = c
	}
	for _, v := range layer {
		enter(d.vertices[v].cluster)
		free := nodeGap / 2
		if !d.isNode(v) {
			free = edgeGap / 2
		}
		out = append(out, token{d.variable[v], d.vertices[v].left + free, d.vertices[v].right + free})
	}
	enter(0)
	return out
}

// straighten gives every vertex and the sides of every cluster their x: edges are as short and as straight as the order
// allows. Straight lines through several layers and clusters may contradict each other; then none has to be straight.
func (d *layering) straighten() {
	d.x, d.variable = make([]int, len(d.vertices)), make([]int, len(d.vertices))
	if d.lineUp(); !d.solve() {
		for v := range d.variable {
			d.variable[v] = v
		}
		d.solve()
	}
}

// solve finds places for all variables, and reports whether there are any.
func (d *layering) solve() bool {
	var springs []spring
	var gaps []gap
	for _, layer := range d.layers {
		row := d.tokens(layer)
		for i := 1; i < len(row); i++ {
			gaps = append(gaps, gap{row[i-1].variable, row[i].variable, row[i-1].right + row[i].left})
		}
	}
	for c := 1; c < len(d.Clusters); c++ {
		width := d.Clusters[c].TitleWidth + 2*inset
		gaps = append(gaps, gap{d.side(c), d.side(c) + 1, width})
		springs = append(springs, spring{d.side(c), d.side(c) + 1, width, 4})
	}
	for i := range d.Edges {
		way := d.ways[i]
		for at := 1; at < len(way); at++ {
			from, to := way[at-1], way[at]
			// Where an edge enters a cluster at its top, its title stands to the left.
			if c := d.vertices[to].cluster; c > 0 && d.first[c] == d.vertices[to].layer {
				width := d.Clusters[c].TitleWidth + 2*inset
				gaps = append(gaps, gap{d.side(c), d.variable[to], width})
			}
			if d.variable[from] == d.variable[to] {
				continue
			}
			weight := 1
			for _, v := range []int{from, to} {
				if !d.isNode(v) {
					weight *= 2
				}
			}
			springs = append(springs, spring{d.variable[from], d.variable[to], 0, weight})
		}
	}
	s, solvable := newSolver(d.side(len(d.Clusters)), gaps, springs)
	if !solvable {
		return false
	}
	s.settle(placingWork)
	for v := range d.vertices {
		d.x[v] = s.pos[d.variable[v]]
	}
	d.sides = s.pos[len(d.vertices):]
	return true
}
