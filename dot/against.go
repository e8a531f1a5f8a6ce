package dot

import (
	"slices"

	"github.com/obelus-dev/obelus/compiler/wording"
)

// Against draws what became of an older plan in its new one: what is new, changed or removed, and its neighbors.
// Was gives the name that a call had in the old plan, or "" for none.
func (v View) Against(old View, was func(call string) string, changed func(call string) bool) View {
	b, before := newBuilder(v), map[[2]string]*Node{}
	for i := range old.Nodes {
		before[identity(&old.Nodes[i])] = &old.Nodes[i]
	}
	now := map[[2]string]int{} // the nodes of what still exists, by their identities in the old view
	for _, n := range v.Nodes {
		id := identity(&n)
		if n.Call != "" {
			id[1] = was(n.Call)
		}
		o := before[id]
		if id[1] == "" || n.Call == "" && o == nil {
			n.Marks = addMark(slices.Clone(n.Marks), Mark{Kind: Added})
		} else if n.Call != "" && changed(n.Call) {
			n.Marks = addMark(slices.Clone(n.Marks), Mark{Kind: Changed, Code: otherEffects(o, &n)})
		}
		now[id] = b.node(n)
	}
	placed := make([]int, len(old.Nodes))
	for i, n := range old.Nodes {
		at, exists := now[identity(&n)]
		if !exists {
			n.Marks = []Mark{{Kind: Removed}}
			at = b.node(n)
		}
		placed[i] = at
	}
	had := map[edgeKey]bool{}
	for _, e := range old.Edges {
		had[edgeKey{placed[e.From], placed[e.To], e.Kind}] = true
	}
	for _, e := range v.Edges {
		if !had[edgeKey{e.From, e.To, e.Kind}] {
			e.Marks = addMark(slices.Clone(e.Marks), Mark{Kind: Added})
		}
		b.again(e.From, e.To, e)
	}
	for _, e := range old.Edges {
		if _, has := b.index[edgeKey{placed[e.From], placed[e.To], e.Kind}]; !has {
			e.Marks = []Mark{{Kind: Removed}}
			b.again(placed[e.From], placed[e.To], e)
		}
	}
	return b.view().differing()
}

// identity is what tells the nodes of a view apart: calls by their names, others by what
// they represent.
func identity(n *Node) [2]string {
	if n.Call != "" {
		return [2]string{"call", n.Call}
	}
	return [2]string{string(n.Kind), n.Label}
}

// otherEffects is what a call does now and didn't do, and the other way round.
func otherEffects(old, n *Node) (text string) {
	for _, kind := range effectMarks {
		if now, before := has(n.Marks, kind), old != nil && has(old.Marks, kind); now && !before {
			text += "; now: " + Mark{Kind: kind}.words()
		} else if before && !now {
			text += "; no longer: " + Mark{Kind: kind}.words()
		}
	}
	return text
}

// differing is a view without the nodes that neither differ nor are next to what does. One without differences is
// whole.
func (v View) differing() View {
	kept := make([]bool, len(v.Nodes))
	differs := func(marks []Mark) bool { return has(marks, Added, Changed, Removed) }
	for i, n := range v.Nodes {
		kept[i] = differs(n.Marks)
	}
	for _, e := range v.Edges {
		if differs(e.Marks) || differs(v.Nodes[e.From].Marks) || differs(v.Nodes[e.To].Marks) {
			kept[e.From], kept[e.To] = true, true
		}
	}
	more, b := 0, newBuilder(v)
	b.take(v, func(i int, n Node) int {
		if kept[i] {
			return b.node(n)
		}
		more++
		return -1
	})
	if more == 0 || more == len(v.Nodes) {
		return v
	}
	b.v.Notes = append(b.v.Notes, wording.Count(more, "node")+" without a difference not drawn")
	return b.view()
}
