package dot

import "slices"

// Against draws what became of an older plan in its new one: what is new and what changed
// is marked, and what no longer exists drawn in addition. Was gives the name that a
// call had in the old plan, or "" for none.
func (v View) Against(old View, was func(call string) string, changed func(call string) bool) View {
	b := newBuilder(v.Name)
	stands := make(map[[2]string]int, len(v.Nodes)) // by what tells nodes of the old view apart
	for _, n := range v.Nodes {
		n.Marks = slices.Clone(n.Marks)
		before := identity(n)
		if n.Call != "" {
			before[1] = was(n.Call)
		}
		switch {
		case before[1] == "" || n.Call == "" && !slices.ContainsFunc(old.Nodes, func(o Node) bool { return identity(o) == before }):
			n.Marks = addMark(n.Marks, Mark{Kind: Added})
		case n.Call != "" && changed(n.Call):
			n.Marks = addMark(n.Marks, Mark{Kind: Changed})
		}
		stands[before] = b.node(n)
	}
	placed := make([]int, len(old.Nodes))
	for i, n := range old.Nodes {
		at, still := stands[identity(n)]
		if !still {
			n.Marks = addMark(nil, Mark{Kind: Removed})
			at = b.node(n)
		}
		placed[i] = at
	}
	type ends struct{ from, to int }
	had, has := map[ends]bool{}, map[ends]bool{}
	for _, e := range old.Edges {
		had[ends{placed[e.From], placed[e.To]}] = true
	}
	for _, e := range v.Edges {
		has[ends{e.From, e.To}] = true
		e.Marks = slices.Clone(e.Marks)
		if !had[ends{e.From, e.To}] {
			e.Marks = addMark(e.Marks, Mark{Kind: Added})
		}
		b.again(e.From, e.To, e)
	}
	for _, e := range old.Edges {
		if from, to := placed[e.From], placed[e.To]; !has[ends{from, to}] {
			e.Marks = []Mark{{Kind: Removed, Count: 1}}
			b.again(from, to, e)
		}
	}
	out := b.view()
	out.Notes, out.Detail = v.Notes, v.Detail
	return out
}

// identity is what tells the nodes of a view apart: calls by their names, others by what
// they represent.
func identity(n Node) [2]string {
	if n.Call != "" {
		return [2]string{"call", n.Call}
	}
	return [2]string{string(n.Kind), n.Label}
}
