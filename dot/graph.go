package dot

import (
	"cmp"
	"fmt"
	"maps"
	"strings"

	"github.com/dominikbraun/graph"
	"github.com/obelus-dev/obelus/compiler/dag"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/wording"
)

// Graph is the view as a graph for algorithms of one's own: vertices are the nodes by their IDs,
// and every pair of nodes with an edge has one. A node that waits for itself has an edge to itself.
func (v View) Graph() graph.Graph[string, Node] {
	g := graph.New(func(n Node) string { return n.ID }, graph.Directed())
	for _, n := range v.Nodes {
		g.AddVertex(n) // fails only for an ID that exists
	}
	for _, e := range v.Edges {
		g.AddEdge(v.Nodes[e.From].ID, v.Nodes[e.To].ID) // fails only for a second edge between the same nodes
	}
	return g
}

// Up to how many nodes and edges implied edges of order are looked for: the time grows with the square of the edges.
const reducedNodes, reducedEdges = 400, 1000

// withoutImplied drops the given edges of order that follow from longer ways
// through the drawing. In a drawing with a cycle all stay: what follows from
// what isn't one answer there.
func (v View) withoutImplied(droppable map[int]bool) View {
	if len(droppable) == 0 || len(v.Nodes) > reducedNodes || len(v.Edges) > reducedEdges {
		return v
	}
	reduced, err := graph.TransitiveReduction(v.Graph())
	if err != nil { // it has a cycle
		return v
	}
	edges := v.Edges
	v.Edges = nil
	for i, e := range edges {
		if _, missing := reduced.Edge(v.Nodes[e.From].ID, v.Nodes[e.To].ID); !droppable[i] || missing == nil {
			v.Edges = append(v.Edges, e)
		}
	}
	return v
}

// cycleMark is on every edge between calls that wait for each other.
var cycleMark = Mark{Kind: Error, Code: diag.Cycle.Code, Text: "part of a cycle"}

// frameCycles draws a frame around the nodes of each cycle, and marks the edges between them.
func (v View) frameCycles() View {
	waits, size, names := v.waits(), map[int]int{}, map[int]string{} // by component: its nodes, and its frame
	for i := range v.Nodes {
		size[waits.Component(i)]++
	}
	for i, n := range v.Nodes {
		if in := waits.Component(i); size[in] > 1 {
			names[in] = cmp.Or(names[in], "cycle: "+n.Label+" waits for itself")
			v.Nodes[i].Frame = names[in]
		}
	}
	for i, e := range v.Edges {
		if e.From != e.To && waits.Component(e.From) == waits.Component(e.To) {
			v.Edges[i].Marks = addMark(e.Marks, cycleMark)
		}
	}
	return v
}

// within is the calls at most so many steps from some, along edges of the plan's graph.
func within(from []int, steps int, edges ...func(call int) []int32) map[int]bool {
	near := map[int]bool{}
	for _, call := range from {
		near[call] = true
	}
	for ; steps > 0 && len(from) > 0; steps-- {
		var next []int
		for _, call := range from {
			for _, way := range edges {
				for _, other := range way(call) {
					if !near[int(other)] {
						near[int(other)] = true
						next = append(next, int(other))
					}
				}
			}
		}
		from = next
	}
	return near
}

// selectCalls finds which calls are near those that are asked for, or between two of them.
func (d *drawing) selectCalls() {
	names := d.options.Focus
	if d.options.Between[0] != "" {
		names = d.options.Between[:]
	}
	var at []int
	for _, name := range names {
		i, ok := d.byName[name]
		if !ok { // then all are drawn
			return
		}
		at = append(at, i)
	}
	if len(names) == 0 {
		return
	}
	all := len(d.plan.Calls)
	near, where := within(at, cmp.Or(d.options.Depth, 1), d.graph.Users, d.graph.Deps), "near "+wording.Names(names, 3)
	if d.options.Between[0] != "" {
		where = fmt.Sprintf("between %q and %q", names[0], names[1])
		near = within(at[:1], all, d.graph.Users)
		before := within(at[1:], all, d.graph.Deps)
		maps.DeleteFunc(near, func(call int, _ bool) bool { return !before[call] })
	}
	if d.near = near; len(near) == 0 {
		d.notes = append(d.notes, fmt.Sprintf("%q doesn't wait for %q", names[1], names[0]))
	} else if len(near) < all {
		d.notes = append(d.notes, fmt.Sprintf("%d of %d calls: those %s", len(near), all, where))
	}
}

// waits is who waits for whom in the view.
func (v View) waits() *dag.Graph {
	waits := make([][]int32, len(v.Nodes))
	for _, e := range v.Edges {
		if e.From != e.To {
			waits[e.To] = append(waits[e.To], int32(e.From))
		}
	}
	g := dag.Of(waits)
	return &g
}

// Steps draws the plans of a run with a planner as one view, one below the other: each in
// frames of its own, between them the model that is asked again. The name of a call of
// step n begins with "n:".
func Steps(views []View, details map[int]string) (all View) {
	var last []int // what the step before ends with
	for step, v := range views {
		step++
		tick := fmt.Sprintf("tick %d", step)
		asked := all.add(Node{Kind: Latent, Label: tick + ": a model plans", Detail: details[step],
			Marks: []Mark{{Kind: Answers}}})
		for _, end := range last {
			all.Edges = append(all.Edges, Edge{From: end, To: asked, Kind: Order})
		}
		first, waits, waited := len(all.Nodes), make([]bool, len(v.Nodes)), make([]bool, len(v.Nodes))
		for _, node := range v.Nodes {
			var calls []string
			for _, name := range node.Calls {
				calls = append(calls, fmt.Sprintf("%d:%s", step, name))
			}
			if node.Calls = calls; node.Call != "" {
				node.Call = calls[0]
			}
			node.Frame = strings.TrimSuffix(tick+", "+node.Frame, ", ")
			all.add(node)
		}
		for _, e := range v.Edges {
			waits[e.To], waited[e.From] = true, true
			e.From, e.To = first+e.From, first+e.To
			all.Edges = append(all.Edges, e)
		}
		last = nil
		for i := range v.Nodes {
			if !waits[i] {
				all.Edges = append(all.Edges, Edge{From: asked, To: first + i, Kind: Order})
			}
			if !waited[i] {
				last = append(last, first+i)
			}
		}
		if last == nil {
			last = []int{asked}
		}
		all.Notes, all.Detail = append(all.Notes, v.Notes...), all.Detail || v.Detail
	}
	return all
}
