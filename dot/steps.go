package dot

import "fmt"

// Steps draws the plans of a run with a planner as one view, one below the other: each in
// a frame of its own, between them the model that is asked again. The name of a call of
// step n begins with "n:". Of a single view it changes nothing but these names.
func Steps(views []View, detail func(step int) string) View {
	if len(views) == 0 {
		return View{}
	}
	b := newBuilder(View{Name: views[0].Name})
	var last []int // what the step before ends with
	for n, v := range views {
		step := n + 1
		asked := b.node(Node{Kind: Latent, Label: fmt.Sprintf("tick %d: a model plans", step), Detail: detail(step)})
		for _, end := range last {
			b.edge(end, asked, Order)
		}
		placed := b.take(v, func(_ int, node Node) int {
			if node.Call != "" {
				node.Call = fmt.Sprintf("%d:%s", step, node.Call)
			}
			node.Frames = append([]string{fmt.Sprintf("tick %d", step)}, node.Frames...)
			return b.node(node)
		})
		waits, waited := make([]bool, len(v.Nodes)), make([]bool, len(v.Nodes))
		for _, e := range v.Edges {
			waits[e.To], waited[e.From] = true, true
		}
		last = nil
		for i := range v.Nodes {
			if !waits[i] {
				b.edge(asked, placed[i], Order)
			}
			if !waited[i] {
				last = append(last, placed[i])
			}
		}
		if last == nil {
			last = []int{asked}
		}
		b.v.Notes, b.v.Detail = append(b.v.Notes, v.Notes...), b.v.Detail || v.Detail
	}
	return b.view()
}
