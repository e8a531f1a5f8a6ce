package dot

import (
	"fmt"
	"maps"
	"slices"

	"github.com/dominikbraun/graph"
	"github.com/obelus-dev/obelus/compiler/dag"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
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
	components, err := graph.StronglyConnectedComponents(v.Graph())
	if err != nil {
		return v
	}
	cycle := map[string]int{} // by node: which one it is on, from 1
	for number, nodes := range components {
		for _, id := range nodes {
			if len(nodes) > 1 {
				cycle[id] = number + 1
			}
		}
	}
	names := map[int]string{} // by cycle
	for i, n := range v.Nodes {
		if number := cycle[n.ID]; number > 0 {
			if names[number] == "" {
				names[number] = "cycle: " + n.Label + " waits for itself"
			}
			v.Nodes[i].Frames = append(slices.Clip(n.Frames), names[number])
		}
	}
	for i, e := range v.Edges {
		if number := cycle[v.Nodes[e.From].ID]; e.From != e.To && number > 0 && number == cycle[v.Nodes[e.To].ID] {
			v.Edges[i].Marks = addMark(e.Marks, cycleMark)
		}
	}
	return v
}

// mostPairs bounds the pairs of calls, one waiting for the other, among which calls are looked for.
const mostPairs = 50_000

// callGraph is the graph of the plan's calls, with edges from those that are waited for. A plan in which too many calls
// wait for each other has none.
func (d *drawing) callGraph() graph.Graph[int, int] {
	g, pairs := graph.New(graph.IntHash, graph.Directed()), 0
	for i := range d.plan.Calls {
		g.AddVertex(i)
		pairs += len(d.graph.Users(i))
	}
	if pairs > mostPairs {
		return nil
	}
	for i := range d.plan.Calls {
		for _, user := range d.graph.Users(i) {
			g.AddEdge(i, int(user)) // fails only for a pair that waits for two reasons
		}
	}
	return g
}

// within is the calls at most so many steps from one, along the edges of some maps.
func within(from, steps int, edges ...map[int]map[int]graph.Edge[int]) map[int]bool {
	near := map[int]bool{from: true}
	for before := 0; steps > 0 && len(near) > before; steps-- {
		before = len(near)
		for _, call := range slices.Collect(maps.Keys(near)) {
			for _, way := range edges {
				for other := range way[call] {
					near[other] = true
				}
			}
		}
	}
	return near
}

// selectCalls finds which calls are near the one that is asked for, or between two of them.
func (d *drawing) selectCalls() {
	o := d.options
	if o.Focus == "" && o.Between[0] == "" {
		return
	}
	var at [3]int
	for i, name := range []string{o.Focus, o.Between[0], o.Between[1]} {
		at[i] = slices.IndexFunc(d.plan.Calls, func(c *plan.Call) bool { return c.Name == name })
		if name != "" && at[i] < 0 {
			d.notes = append(d.notes, fmt.Sprintf("no call is named %q: all are drawn", name))
			return
		}
	}
	g, where := d.callGraph(), fmt.Sprintf("near %q", o.Focus)
	if o.Focus == "" {
		where = fmt.Sprintf("between %q and %q", o.Between[0], o.Between[1])
	}
	if g == nil {
		d.notes = append(d.notes, "too many calls wait for each other to find those "+where+": all are drawn")
		return
	}
	next, _ := g.AdjacencyMap() // fails for no graph in memory
	previous, _ := g.PredecessorMap()
	var near map[int]bool
	if o.Focus != "" {
		near = within(at[0], max(1, o.Depth), next, previous)
	} else {
		near = within(at[1], len(next), next)
		before := within(at[2], len(next), previous)
		maps.DeleteFunc(near, func(call int, _ bool) bool { return !before[call] })
	}
	d.near = make([]bool, len(d.plan.Calls))
	for call := range near {
		d.near[call] = true
	}
	if len(near) == 0 {
		d.notes = append(d.notes, fmt.Sprintf("%q doesn't wait for %q", o.Between[1], o.Between[0]))
	} else if len(near) < len(d.near) {
		d.notes = append(d.notes, fmt.Sprintf("%d of %d calls: those %s", len(near), len(d.near), where))
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
	return graphOf(waits)
}
