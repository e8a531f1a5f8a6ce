package dot

import (
	"github.com/obelus-dev/obelus/compiler/plan"
)

// FromDiff draws what became of an older plan in its new one: what is new, changed or removed, and its neighbors.
// Was gives the name that a call had in the old plan, or "" for none.
func FromDiff(p, older *plan.Plan, was func(call string) string, changed map[string]bool) View {
	gone, old := map[string]bool{}, map[string]*Node{} // by name
	for _, c := range older.Calls {
		gone[c.Name] = true
	}
	var o Options
	for _, c := range p.Calls {
		name := was(c.Name)
		delete(gone, name)
		if name == "" || changed[c.Name] {
			o.Focus = append(o.Focus, c.Name)
		}
	}
	v, before := FromPlan(p, nil, o), FromPlan(older, nil, Options{})
	for i := range before.Nodes {
		old[before.Nodes[i].Call] = &before.Nodes[i]
	}
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if name := was(n.Call); n.Call != "" && name == "" {
			n.Marks = addMark(n.Marks, Mark{Kind: Added})
		} else if changed[n.Call] {
			n.Marks = addMark(n.Marks, Mark{Kind: Changed, Code: otherEffects(old[name], n)})
		}
	}
	for i, e := range v.Edges {
		if has(v.Nodes[e.From].Marks, Added) || has(v.Nodes[e.To].Marks, Added) {
			v.Edges[i].Marks = addMark(e.Marks, Mark{Kind: Added})
		}
	}
	for _, n := range before.Nodes {
		if gone[n.Call] {
			n.Marks = []Mark{{Kind: Removed}}
			v.add(n)
		}
	}
	return v
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
