// Package layout places the nodes of a directed graph in layers, so that what
// comes first stands above what waits for it, few edges cross, and none passes
// through a node or a label. It is the method of Sugiyama, Tagawa and Toda
// (1981); its ordering follows Gansner, Koutsofios, North and Vo, A Technique
// for Drawing Directed Graphs (1993). It counts in whole units, and
// the same graph always gives the same places.
package layout

import (
	"fmt"
	"strings"
)

// A Graph is what is to be placed. Lengths are in the units of the drawing.
type Graph struct {
	Nodes []Node
	Edges []Edge
	// Clusters are drawn around their nodes. The first is the drawing itself,
	// which needs none; each stands after the one that it is inside of.
	Clusters []Cluster
}

// A Node is a box.
type Node struct {
	Width, Height int
	Cluster       int // the innermost cluster that it is in
}

// An Edge leads from one node, by its index, to another. From one to itself it is
// drawn as a loop, and against the order of a cycle upwards.
type Edge struct {
	From, To    int
	LabelWidth  int // 0 for an edge without a label
	LabelHeight int
}

// A Cluster is a box around nodes and other clusters, with a title at its top.
type Cluster struct {
	Inside                  int // the cluster that it is in
	TitleWidth, TitleHeight int
}

// Placed says where everything is: nodes, edges and clusters by their indexes in
// the Graph. x grows to the right and y downwards, both from 0.
type Placed struct {
	Width, Height int
	Nodes         []Box
	Edges         []Route
	Clusters      []Box
}

// A Box is a rectangle by its upper left corner and its size.
type Box struct{ X, Y, Width, Height int }

// A Point is a place of the drawing.
type Point struct{ X, Y int }

// A Route is the way of an edge, from the border of one node to that of another.
type Route struct {
	Curve []Point // of Bézier's: where it begins, then three points for each cubic piece
	Label Box     // where its label stands; on its way, or beside a loop
}

// Path is the curve in the language of SVG's attribute d.
func (r Route) Path() string {
	if len(r.Curve) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "M%d %d", r.Curve[0].X, r.Curve[0].Y)
	for i := 1; i+2 < len(r.Curve); i += 3 {
		p, q, c, d := r.Curve[i-1], r.Curve[i], r.Curve[i+1], r.Curve[i+2]
		if p.X == d.X && q.X == p.X && c.X == p.X {
			fmt.Fprintf(&b, "V%d", d.Y)
		} else {
			fmt.Fprintf(&b, "C%d %d %d %d %d %d", q.X, q.Y, c.X, c.Y, d.X, d.Y)
		}
	}
	return b.String()
}

// How far things stand apart.
const (
	nodeGap   = 24 // beside each other
	edgeGap   = 14 // where one of them is the way of an edge
	layerGap  = 28 // one above the other
	inset     = 12 // between a cluster and what is in it
	partGap   = 40 // between parts that no edge joins
	portGap   = 12 // between edges of one node
	loopWidth = 26
)

// How many steps each kind of work may take for a part; it is far more than
// graphs of a thousand nodes need.
const (
	rankingWork  = 30_000_000
	crossingWork = 40_000_000
	placingWork  = 40_000_000
)

// Place lays a graph out. Parts that nothing joins are laid out each by itself
// and then set side by side, in rows where there are many.
func Place(g Graph) Placed {
	if len(g.Clusters) == 0 {
		g.Clusters = []Cluster{{}}
	}
	placed := Placed{Nodes: make([]Box, len(g.Nodes)), Edges: make([]Route, len(g.Edges)), Clusters: make([]Box, len(g.Clusters))}
	parts := g.parts()
	places, sizes := make([]Placed, len(parts)), make([]Box, len(parts))
	for i, p := range parts {
		places[i] = p.place()
		sizes[i] = Box{Width: places[i].Width, Height: places[i].Height}
	}
	shelve(sizes)
	for i, p := range parts {
		at, size := places[i], sizes[i]
		for k, node := range p.nodes {
			placed.Nodes[node] = at.Nodes[k].moved(size)
		}
		for k, cluster := range p.clusters {
			placed.Clusters[cluster] = at.Clusters[k].moved(size)
		}
		for k, edge := range p.edges {
			r := at.Edges[k]
			r.Label = r.Label.moved(size)
			for c := range r.Curve {
				r.Curve[c].X, r.Curve[c].Y = r.Curve[c].X+size.X, r.Curve[c].Y+size.Y
			}
			placed.Edges[edge] = r
		}
		placed.Width, placed.Height = max(placed.Width, size.X+size.Width), max(placed.Height, size.Y+size.Height)
	}
	placed.Clusters[0] = Box{Width: placed.Width, Height: placed.Height}
	return placed
}

func (b Box) moved(by Box) Box {
	b.X, b.Y = b.X+by.X, b.Y+by.Y
	return b
}

// A part is the nodes that edges or clusters join, as a graph of its own, and
// the indexes that those and its edges and clusters have in the whole.
type part struct {
	Graph
	nodes, edges, clusters []int
}

// parts divides the graph, in the order of the parts' first nodes.
func (g *Graph) parts() []*part {
	// The nodes are followed by the outermost clusters, which join what they hold.
	root := make([]int, len(g.Nodes)+len(g.Clusters))
	for i := range root {
		root[i] = i
	}
	find := func(i int) int {
		for root[i] != i {
			root[i] = root[root[i]]
			i = root[i]
		}
		return i
	}
	for i, n := range g.Nodes {
		if n.Cluster > 0 {
			root[find(i)] = find(len(g.Nodes) + n.Cluster)
		}
	}
	for i, c := range g.Clusters {
		if c.Inside > 0 {
			root[find(len(g.Nodes)+i)] = find(len(g.Nodes) + c.Inside)
		}
	}
	for _, e := range g.Edges {
		root[find(e.From)] = find(e.To)
	}
	var parts []*part
	of := map[int]*part{}
	node, cluster := make([]int, len(g.Nodes)), make([]int, len(g.Clusters)) // their indexes in their parts
	for i := range g.Nodes {
		if of[find(i)] == nil {
			parts = append(parts, &part{Graph: Graph{Clusters: make([]Cluster, 1)}, clusters: make([]int, 1)})
			of[find(i)] = parts[len(parts)-1]
		}
	}
	for i := 1; i < len(g.Clusters); i++ {
		if p := of[find(len(g.Nodes)+i)]; p != nil { // a cluster without nodes isn't drawn
			cluster[i] = len(p.Clusters)
			c := g.Clusters[i]
			c.Inside = cluster[c.Inside]
			p.Clusters, p.clusters = append(p.Clusters, c), append(p.clusters, i)
		}
	}
	for i, n := range g.Nodes {
		p := of[find(i)]
		node[i] = len(p.Nodes)
		n.Cluster = cluster[n.Cluster]
		p.Nodes, p.nodes = append(p.Nodes, n), append(p.nodes, i)
	}
	for i, e := range g.Edges {
		p := of[find(e.From)]
		e.From, e.To = node[e.From], node[e.To]
		p.Edges, p.edges = append(p.Edges, e), append(p.edges, i)
	}
	return parts
}

// shelve gives each box its place: all in one row if that is no wider than it
// is good to read, and else in rows.
func shelve(boxes []Box) {
	area, widest := 0, 1200
	for _, b := range boxes {
		area += (b.Width + partGap) * (b.Height + partGap)
		widest = max(widest, b.Width)
	}
	for widest*widest < 2*area { // twice as wide as high
		widest += widest / 8
	}
	x, y, row := 0, 0, 0
	for i := range boxes {
		if x > 0 && x+boxes[i].Width > widest {
			x, y, row = 0, y+row+partGap, 0
		}
		boxes[i].X, boxes[i].Y = x, y
		x += boxes[i].Width + partGap
		row = max(row, boxes[i].Height)
	}
}
