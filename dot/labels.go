package dot

import (
	"strings"

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
	at := func(call int) (node int, ok bool) {
		node, ok = nodes[p.Calls[call].Name]
		return node, ok
	}
	for i := range p.Calls {
		node, ok := at(i)
		if gives := labels.Result(i); ok && gives != (policy.Label{}) {
			v.Nodes[node].Detail = strings.TrimPrefix(v.Nodes[node].Detail+"\ngives "+gives.String(), "\n")
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
			from, known := at(way[k-1])
			to, also := at(way[k])
			for e := range v.Edges {
				if known && also && v.Edges[e].From == from && v.Edges[e].To == to {
					v.Edges[e].Marks = addMark(v.Edges[e].Marks, mark)
				}
			}
		}
	}
}
