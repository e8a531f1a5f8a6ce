package layout

import "slices"

// draw says where everything stands.
func (d *layering) draw() Placed {
	placed := Placed{Nodes: make([]Box, len(d.Nodes)), Edges: make([]Route, len(d.Edges)),
		Clusters: make([]Box, len(d.Clusters))}
	heights := make([]int, len(d.layers))
	least, most := 1<<30, -1<<30
	for v, one := range d.vertices {
		heights[one.layer] = max(heights[one.layer], one.height)
		least, most = min(least, d.x[v]-one.left), max(most, d.x[v]+one.right)
	}
	for c := 1; c < len(d.Clusters); c++ {
		least, most = min(least, d.sides[2*c-2]), max(most, d.sides[2*c-1])
	}
	tops := make([]int, len(d.layers)+1)
	// what clusters take above and below each layer
	over, under := make([]int, len(d.layers)+1), make([]int, len(d.layers)+1)
	for c := 1; c < len(d.Clusters); c++ {
		over[d.first[c]] = max(over[d.first[c]], d.Clusters[c].TitleHeight+inset)
		under[d.last[c]] = inset
	}
	y := 0
	for i := range d.layers {
		y += over[i]
		tops[i] = y
		y += heights[i] + under[i] + layerGap
	}
	placed.Width, placed.Height = most-least, y-layerGap
	for v, one := range d.vertices {
		d.x[v] -= least
		if d.isNode(v) {
			n := d.Nodes[v]
			placed.Nodes[v] = Box{d.x[v] - one.left, tops[one.layer] + (heights[one.layer]-n.Height)/2,
				n.Width, n.Height}
		}
	}
	for c := 1; c < len(d.Clusters); c++ {
		left, right := d.sides[2*c-2]-least, d.sides[2*c-1]-least
		top := tops[d.first[c]] - d.Clusters[c].TitleHeight - inset
		bottom := tops[d.last[c]] + heights[d.last[c]] + inset
		placed.Clusters[c] = Box{left, top, right - left, bottom - top}
	}
	for i, way := range d.ways {
		if len(way) > 0 {
			placed.Edges[i] = d.route(i, tops, heights, over, &placed)
		}
	}
	return placed
}

// route is the way of an edge through its vertices: straight down within layers
// and where clusters have their titles, and in between in curves that begin and end upright, so that two of them cross
// only where their order changes, and then once.
func (d *layering) route(i int, tops, heights, over []int, placed *Placed) Route {
	way := d.ways[i]
	var r Route
	var knots []Point
	for at, v := range way {
		layer := d.vertices[v].layer
		x, top, bottom := d.x[v], tops[layer], tops[layer]+heights[layer]
		enter := top - over[layer]
		if at == 0 {
			enter = placed.Nodes[v].Y + placed.Nodes[v].Height
		} else if at == len(way)-1 {
			bottom = placed.Nodes[v].Y
		}
		knots = append(knots, Point{x, enter}, Point{x, bottom})
		if e := d.Edges[i]; e.LabelWidth > 0 && at == len(way)-2 { // above the lower end
			r.Label = Box{d.x[v] - e.LabelWidth/2, (top + bottom - e.LabelHeight) / 2, e.LabelWidth, e.LabelHeight}
		}
	}
	if d.upwards[i] {
		slices.Reverse(knots)
	}
	r.Curve = append(r.Curve, knots[0])
	for k := 1; k < len(knots); k++ {
		p, q := knots[k-1], knots[k]
		if p == q {
			continue
		}
		middle := (p.Y + q.Y) / 2
		r.Curve = append(r.Curve, Point{p.X, middle}, Point{q.X, middle}, q)
	}
	return r
}
