package dot

import (
	"github.com/obelus-dev/obelus/compiler/plan"
)

// FromDiff draws what became of an older plan in its new one: what is new, changed or removed, and its neighbors.
// Was gives the name that a call had in the old plan, or "" for none.
func FromDiff(p, older *plan.Plan, was func(call string) string, changed map[string]bool) View {
	now, near, old := map[string]string{}, map[string]bool{}, map[string]Node{}
	for _, c := range p.Calls {
		name := was(c.Name)
		now[name], near[c.Name] = c.Name, name == "" || changed[c.Name]
	}
	o, past := Options{}, Options{Depth: -1}
	for i, c := range older.Calls {
		name := now[c.Name]
		if name == "" {
			for _, before := range older.Graph.Deps(i) {
				near[now[older.Calls[before].Name]] = true
			}
		}
		if name == "" || changed[name] {
			past.Focus = append(past.Focus, c.Name)
		}
	}
	for _, c := range p.Calls {
		if near[c.Name] {
			o.Focus = append(o.Focus, c.Name)
		}
	}
	v, before := FromPlan(p, nil, o), FromPlan(older, nil, past)
	for _, n := range before.Nodes {
		old[n.Call] = n
	}
	for i := range v.Nodes {
		n := &v.Nodes[i]
		for _, name := range n.Calls {
			if was(name) == "" {
				n.Mark(Mark{Kind: Added})
			} else if changed[name] {
				n.Mark(Mark{Kind: Changed, Code: otherEffects(old[was(n.Call)], n)})
			}
		}
	}
	for i, e := range v.Edges {
		if has(v.Nodes[e.From].Marks, Added) || has(v.Nodes[e.To].Marks, Added) {
			v.Edges[i].Marks = addMark(e.Marks, Mark{Kind: Added})
		}
	}
	for _, n := range before.Nodes {
		for _, name := range n.Calls {
			if now[name] == "" {
				n.Mark(Mark{Kind: Removed})
			}
		}
		if has(n.Marks, Removed) {
			v.add(n)
		}
	}
	return v
}

// otherEffects is what a call does now and didn't do, and the other way round.
func otherEffects(old Node, n *Node) (text string) {
	if n.Call == "" || old.Call == "" { // of several calls
		return ""
	}
	for _, kind := range effectKinds {
		if now, before := has(n.Marks, kind), has(old.Marks, kind); now && !before {
			text += "; now: " + kind.sign().words
		} else if before && !now {
			text += "; no longer: " + kind.sign().words
		}
	}
	return text
}
