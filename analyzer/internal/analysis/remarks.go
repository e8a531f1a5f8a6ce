package analysis

import (
	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

// A Remark is a related place with words of its own.
type Remark struct {
	At   source.Span
	Says string
}

// ShowAll adds related places to a finding.
func ShowAll(f *diag.Diagnostic, all []Remark) {
	for _, one := range all {
		f.Note(one.At, "%s", one.Says)
	}
}

// Remarks are the places where the plan says what a variant is.
func Remarks(p *Pass, v *flow.Variant) []Remark {
	var all []Remark
	if v.Read != nil {
		all = append(all, ItemPlace(p, v.Read)...)
	}
	if v.Read != nil && v.Said != "" {
		all = append(all, DocumentPlace(p, v.Said, p.Plan.Paths.Segments(v.Read.Path)[1:])...)
	}
	if call := v.From.Call; call != nil {
		switch {
		case v.From.Failure:
		case call.Produced != nil:
			all = append(all, Remark{call.Produced.Span().Head(), "the result is given here"})
		case call.Tool != nil && call.Tool.Output != nil:
			all = append(all, OutputPlace(call.Tool, v.From.Rest)...)
		}
		all = append(all, Remark{v.From.Path.Span(), Quote(call.Name) + " writes it here"})
	}
	for _, o := range v.Parts[:min(len(v.Parts), 3)] {
		all = append(all, Remark{o.Path.Span(), Quote(o.Call.Name) + " writes a part of it here"})
	}
	return all
}

// ItemPlace is where the list of an item is.
func ItemPlace(p *Pass, r *plan.Read) []Remark {
	call := p.Flow.Caller(r)
	if call == nil || call.Each == nil || !compiler.ReadsItem(p.Plan, r) {
		return nil
	}
	return []Remark{{call.Each.List.Node.Span().Head(), "the items are of this list"}}
}

// DocumentPlace is where the document describes a path, or gives its value.
func DocumentPlace(p *Pass, key string, path []expression.Segment) []Remark {
	if p.Plan.Root.Kind != source.Object {
		return nil
	}
	n, words := p.Plan.Root.Get(key), "the value is given here"
	if ofSchema := describes[key]; ofSchema != "" {
		n, words = describing(n, path), ofSchema
	} else {
		for _, s := range path {
			n = stepNode(n, s)
		}
	}
	if n == nil {
		return nil
	}
	return []Remark{{n.Span().Head(), words}}
}

// InitialPlace is where the document gives what stands at a path of the state when the instances of the plan begin.
func InitialPlace(p *Pass, path []expression.Segment) []Remark {
	for i := range p.Plan.Instances {
		below := append([]expression.Segment{{Key: p.Plan.Instances[i].ID}, {Key: "state"}}, path...)
		if said := DocumentPlace(p, "instances", below); said != nil {
			return said
		}
	}
	return DocumentPlace(p, "state", path)
}

var describes = map[string]string{
	"inputSchema": "the input's schema describes it here",
	"stateSchema": "the state's schema describes it here",
}

// describing is the part of a schema's text that describes a path; properties and items are followed.
func describing(n *source.Node, path []expression.Segment) *source.Node {
	for _, s := range path {
		next := n.Get("properties").Get(s.Key)
		if s.IsIndex {
			next = n.Get("items")
		}
		if next == nil || next.Kind != source.Object {
			break
		}
		n = next
	}
	return n
}

func stepNode(n *source.Node, s expression.Segment) *source.Node {
	if n == nil || !s.IsIndex {
		return n.Get(s.Key)
	}
	if s.Index < len(n.Items) {
		return n.Items[s.Index]
	}
	return nil
}

// OutputPlace is where a tool's _output describes a part of its result.
func OutputPlace(tool *plan.Tool, rest []expression.Segment) []Remark {
	if tool.OutputNode == nil {
		return nil
	}
	return []Remark{{describing(tool.OutputNode, rest).Span().Head(),
		"the result of " + Quote(tool.Name) + " is described here"}}
}
