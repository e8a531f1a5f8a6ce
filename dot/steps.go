package dot

import "fmt"

// Steps draws the plans of a run with a planner as one view, one below the other: each in
// a frame of its own, between them the model that is asked again. The name of a call of
// step n begins with "n:". Of a single view it changes nothing but these names.
func Steps(views []View, detail func(step int) string) View {
	if len(views) == 0 {
		return View{}
	}
	b := newBuilder(views[0].Name)
	var last []int // what the step before ends with
	for n, v := range views {
		step := n + 1
		asked := b.node(Node{Kind: Latent, Label: fmt.Sprintf("step %d: a model plans", step), Detail: detail(step)})
		for _, end := range last {
			b.edge(end, asked, Order)
		}
		placed, waits, waited := b.take(v, step, fmt.Sprintf("step %d", step)), make([]bool, len(v.Nodes)), make([]bool, len(v.Nodes))
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
	}
	out := b.view()
	for _, v := range views {
		out.Notes, out.Detail = append(out.Notes, v.Notes...), out.Detail || v.Detail
	}
	return out
}

// take draws all of a view in a frame, and tells which nodes its own are now. The names of
// its calls begin with a number.
func (b *builder) take(v View, number int, frame string) (placed []int) {
	for _, node := range v.Nodes {
		if node.Call != "" {
			node.Call = fmt.Sprintf("%d:%s", number, node.Call)
		}
		node.Frames = append([]string{frame}, node.Frames...)
		placed = append(placed, b.node(node))
	}
	for _, e := range v.Edges {
		b.again(placed[e.From], placed[e.To], e)
	}
	return placed
}
