package dot

import (
	"fmt"
	"strings"
)

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
