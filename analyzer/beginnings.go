package analyzer

import (
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/plan"
)

// A beginning is the state with which an instance begins.
type beginning struct {
	instance *plan.Instance // nil where the plan has none
	state    any
}

// maxBeginnings bounds in how many instances, times the calls of the plan, every write is followed.
const maxBeginnings = maxViewed

// inEveryInstance looks for faults that depend on the initial state, in each instance. A finding that
// only some instances have names them.
func inEveryInstance(p *Pass, look func(beginning)) {
	all := p.Plan.Instances
	if len(all) == 0 {
		look(beginning{state: p.Plan.State})
		return
	}
	if p.Plan.AwaitsInstances || p.Plan.Form == plan.Replan {
		return // nobody knows yet what they begin with
	}
	before := len(p.found)
	var found []diag.Diagnostic
	in := map[findingKey][]string{}
	looked := min(len(all), 1+maxBeginnings/max(1, len(p.Plan.Calls)))
	for i := range all[:looked] {
		look(beginning{&all[i], compiler.Overlay(p.Plan.State, all[i].State)})
		for _, d := range p.found[before:] {
			at := keyOf(&d)
			ids := in[at]
			if ids == nil {
				found = append(found, d)
			}
			if ids == nil || ids[len(ids)-1] != all[i].ID {
				in[at] = append(ids, all[i].ID)
			}
		}
		p.found = p.found[:before]
	}
	for _, d := range found {
		if ids := in[keyOf(&d)]; len(ids) < len(all) {
			if p.view != nil {
				p.view.some[keyOf(&d)] = ids // the other views add instances
			} else {
				d.Message += " (" + inInstances(ids) + ")"
			}
		}
		p.found = append(p.found, d)
	}
	p.unread = max(p.unread, len(all)-looked)
}

// said is where the document says what stands at a path of the state then.
func (b beginning) said(p *Pass, path []expression.Segment) []remark {
	if b.instance != nil {
		below := append([]expression.Segment{{Key: b.instance.ID}, {Key: "state"}}, path...)
		if said := documentPlace(p, "instances", below); said != nil {
			return said
		}
	}
	return documentPlace(p, "state", path)
}
