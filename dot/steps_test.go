package dot

import (
	"slices"
	"strings"
	"testing"
)

// EXECUTION.md#events: the plans of a run with a planner are drawn one below the other, with the model
// that is asked again between them.
func TestSteps(t *testing.T) {
	one := View{Name: "trip", Nodes: []Node{{ID: "n0", Kind: Call, Call: "flight", Label: "flight", Count: 1}, {ID: "n1", Kind: Call, Call: "hotel", Label: "hotel", Count: 1}}, Edges: []Edge{{From: 0, To: 1, Kind: Data, Label: "†state.day"}}}
	v := Steps([]View{one, {}, one}, func(step int) string { return strings.Repeat("!", step) })
	var nodes, edges []string
	for _, n := range v.Nodes {
		nodes = append(nodes, strings.Join(n.Frames, "/")+" "+n.Label+" "+n.Detail+" "+n.Call)
	}
	for _, e := range v.Edges {
		edges = append(edges, v.Nodes[e.From].Label+" → "+v.Nodes[e.To].Label+" "+string(e.Kind))
	}
	wantNodes := []string{
		" tick 1: a model plans ! ", "tick 1 flight  1:flight", "tick 1 hotel  1:hotel", " tick 2: a model plans !! ",
		" tick 3: a model plans !!! ", "tick 3 flight  3:flight", "tick 3 hotel  3:hotel",
	}
	if !slices.Equal(nodes, wantNodes) {
		t.Errorf("the nodes are\n%s\nwant\n%s", strings.Join(nodes, "\n"), strings.Join(wantNodes, "\n"))
	}
	wantEdges := []string{
		"flight → hotel data", "tick 1: a model plans → flight order", "hotel → tick 2: a model plans order", "tick 2: a model plans → tick 3: a model plans order",
		"flight → hotel data", "tick 3: a model plans → flight order",
	}
	slices.Sort(edges)
	slices.Sort(wantEdges)
	if !slices.Equal(edges, wantEdges) {
		t.Errorf("the edges are\n%s\nwant\n%s", strings.Join(edges, "\n"), strings.Join(wantEdges, "\n"))
	}
}
