package dot

import (
	"github.com/obelus-dev/obelus/compiler/label"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/policy"
)

// Labels writes beside each call what it gives, where that isn't trusted and public, and
// marks the ways of the flows that the policies forbid. A plan that stands under
// no policy has none.
func (v *View) Labels(p *plan.Plan) {
	labels := label.Of(p)
	if labels == nil {
		return
	}
	nodes := map[string]int{}
	for i := range v.Nodes {
		nodes[v.Nodes[i].Call] = i
	}
	for i, call := range p.Calls {
		if gives := labels.Result(i); gives != (policy.Label{}) {
			if node, drawn := nodes[call.Name]; drawn {
				v.Nodes[node].Label += "\ngives " + gives.String()
			}
		}
	}
	for i := range labels.Flows {
		f := &labels.Flows[i]
		mark := Mark{Kind: Error, Code: "OB702", Text: "a way that a policy forbids"}
		if f.Integrity {
			mark.Code = "OB701"
		}
		if f.Control && !f.Strict {
			mark.Kind = Warning
		}
		way := f.Nodes(p)
		for k := 1; k < len(way); k++ {
			from, known := nodes[p.Calls[way[k-1]].Name]
			to, also := nodes[p.Calls[way[k]].Name]
			for e := range v.Edges {
				if known && also && v.Edges[e].From == from && v.Edges[e].To == to {
					v.Edges[e].Marks = addMark(v.Edges[e].Marks, mark)
				}
			}
		}
	}
}
