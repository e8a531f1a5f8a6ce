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
	// Clusters are drawn around their nodes. The first is the drawing itself, which needs none.
	Clusters []Cluster
}

// A Node is a box.
type Node struct {
	Width, Height int
	Cluster       int // that it is in; 0 for none
}

// An Edge leads from one node, by its index, to another: within a cycle one of them leads upwards. One from a node to
// itself has no way.
type Edge struct {
	From, To    int
	LabelWidth  int // 0 for an edge without a label
	LabelHeight int
}

// A Cluster is a box around nodes, with a title at its top.
type Cluster struct{ TitleWidth, TitleHeight int }

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
	Label Box     // where its label stands, on its way
}

// Path is the curve in the language of SVG's attribute d.
func (r Route) Path() string {
	var b strings.Builder
	fmt.Fprintf(&b, "M%d %d", r.Curve[0].X, r.Curve[0].Y)
	for i := 1; i+2 < len(r.Curve); i += 3 {
		p, q, c, d := r.Curve[i-1], r.Curve[i], r.Curve[i+1], r.Curve[i+2]
		if p.X == d.X {
			fmt.Fprintf(&b, "V%d", d.Y)
		} else {
			fmt.Fprintf(&b, "C%d %d %d %d %d %d", q.X, q.Y, c.X, c.Y, d.X, d.Y)
		}
	}
	return b.String()
}

// How far things stand apart.
const (
	nodeGap  = 24   // beside each other
	edgeGap  = 14   // where one of them is the way of an edge
	layerGap = 34   // one above the other
	inset    = 12   // between a cluster and what is in it
	rowWidth = 1100 // of nodes that no edge joins
)

// How many steps each kind of work may take; it is far more than
// graphs of a thousand nodes need.
const (
	rankingWork  = 30_000_000
	crossingWork = 40_000_000
	placingWork  = 40_000_000
)
