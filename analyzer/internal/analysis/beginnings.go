package analysis

import (
	"github.com/obelus-dev/obelus/compiler/bind"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/plan"
)

// A Beginning is the state with which an instance begins.
type Beginning struct {
	instance *plan.Instance // nil where the plan has none
	State    any
}

// maxBeginnings bounds in how many instances, times the calls of the plan, every write is followed.
const maxBeginnings = MaxViewed

// InEveryInstance looks for faults that depend on the initial state, in each instance. A finding that
// only some instances have names them.
func InEveryInstance(p *Pass, look func(Beginning)) {
	all := p.Plan.Instances
	if len(all) == 0 {
		look(Beginning{State: p.Plan.State})
		return
	}
	if p.Plan.AwaitsInstances || p.Plan.Form == plan.Replan {
		return // nobody knows yet what they begin with
	}
	before := len(p.Found)
	var found []diag.Diagnostic
	in := map[FindingKey][]string{}
	looked := min(len(all), 1+maxBeginnings/max(1, len(p.Plan.Calls)))
	for i := range all[:looked] {
		look(Beginning{&all[i], bind.Overlay(p.Plan.State, all[i].State)})
		for _, d := range p.Found[before:] {
			at := KeyOf(&d)
			ids := in[at]
			if ids == nil {
				found = append(found, d)
			}
			if ids == nil || ids[len(ids)-1] != all[i].ID {
				in[at] = append(ids, all[i].ID)
			}
		}
		p.Found = p.Found[:before]
	}
	for _, d := range found {
		if ids := in[KeyOf(&d)]; len(ids) < len(all) {
			if p.View != nil {
				p.View.Some[KeyOf(&d)] = ids // the other views add instances
			} else {
				d.Message += " (" + InInstances(ids) + ")"
			}
		}
		p.Found = append(p.Found, d)
	}
	p.Unread = max(p.Unread, len(all)-looked)
}

// Said is where the document says what stands at a path of the state then.
func (b Beginning) Said(p *Pass, path []expression.Segment) []Remark {
	if b.instance != nil {
		below := append([]expression.Segment{{Key: b.instance.ID}, {Key: "state"}}, path...)
		if said := DocumentPlace(p, "instances", below); said != nil {
			return said
		}
	}
	return DocumentPlace(p, "state", path)
}
