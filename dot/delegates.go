package dot

import (
	"fmt"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
)

// smallDrawing is how many calls a drawing may have for its delegates to be unfolded.
const smallDrawing = 30

// unfolded is how many calls a plan has with those of all its delegates; past
// the most that is asked for the count isn't exact.
func unfolded(p *plan.Plan, most int) int {
	size := len(p.Calls)
	for _, c := range p.Calls {
		if size > most {
			break
		}
		if plan := p.Delegates[c.Delegate]; plan != nil {
			size += unfolded(plan, most-size)
		}
	}
	return size
}

// unfold draws in a frame of its own what a call delegates to. The call
// represents the input and what its scopes hand over, and whatever
// waits for its result waits for the output of the delegate.
func (v View) unfold(p *plan.Plan, o Options) View {
	calls := make(map[string]*plan.Call, len(p.Calls))
	for _, c := range p.Calls {
		calls[c.Name] = c
	}
	o.Focus, o.Between = "", [2]string{}
	b := newBuilder(v)
	enters, leaves := make([]int, len(v.Nodes)), make([]int, len(v.Nodes))
	for i, n := range v.Nodes {
		call := calls[n.Call]
		inner := (*plan.Plan)(nil)
		if call != nil {
			inner = p.Delegates[call.Delegate]
		}
		if inner != nil {
			n.Frames = append(slices.Clip(n.Frames), "delegate "+n.Label)
		}
		enters[i] = b.node(n)
		leaves[i] = enters[i]
		if inner == nil {
			continue
		}
		b.take(FromPlan(inner, inner.Findings(), o), func(_ int, m Node) int {
			own := len(m.Frames) == 0 // and not of a delegate further in
			if own && (m.Kind == Input || m.Kind == Initial && handsOver(call, m.Label)) {
				return enters[i]
			}
			if m.Call != "" {
				m.Call = n.Call + "/" + m.Call
			}
			m.Frames = slices.Concat(n.Frames, m.Frames)
			if !own || m.Kind != Output {
				return b.node(m)
			}
			m.Label += " of " + n.Label
			leaves[i] = b.node(m)
			return leaves[i]
		})
	}
	for _, e := range v.Edges {
		from := leaves[e.From]
		if e.Kind == Failure || e.From == e.To { // it doesn't come out of the delegate
			from = enters[e.From]
		}
		b.again(from, enters[e.To], e)
	}
	return b.view()
}

// handsOver reports whether the scopes of a call bring what a node of the delegate
// says is there from the start.
func handsOver(c *plan.Call, label string) bool {
	return slices.ContainsFunc(c.Scopes, func(s plan.Scope) bool {
		return label == "initial state" && s.Kind == "state" || label == diag.Escape(s.Kind) ||
			strings.HasPrefix(label, "†"+diag.Escape(s.Kind)+".")
	})
}

// advisorsNote names the advisors of the planning model, and when they are asked.
func advisorsNote(p *plan.Plan) string {
	when := map[string]string{"start": "at the start", "finish": "at the end", "request": "at every request",
		"": "when asked"}
	var words []string
	for _, a := range p.Advisors {
		words = append(words, fmt.Sprintf("%s (%s)", diag.Escape(a.ID), when[a.On]))
	}
	if len(words) == 0 {
		return ""
	}
	if n := len(words); n > 4 {
		words = append(words[:3], fmt.Sprintf("%d more", n-3))
	}
	return "advised by " + strings.Join(words, ", ")
}
