package analyzer

import (
	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

// A remark is a related place with words of its own.
type remark struct {
	at   source.Span
	says string
}

// showAll adds related places to a finding.
func showAll(f *diag.Diagnostic, all []remark) {
	for _, one := range all {
		f.Note(one.at, "%s", one.says)
	}
}

// remarks are the places where the plan says what a variant is.
func remarks(p *Pass, v *flow.Variant) []remark {
	var all []remark
	if v.Read != nil {
		all = append(all, itemPlace(p, v.Read)...)
	}
	if v.Read != nil && v.Said != "" {
		all = append(all, documentPlace(p, v.Said, p.Plan.Paths.Segments(v.Read.Path)[1:])...)
	}
	if call := v.From.Call; call != nil {
		if call.Each != nil {
			if list := p.flow.Listing(call); list.Hole != nil {
				says := "an item such as " + brief(list.Item) + " hasn't got it: it is skipped, and has null in the list"
				all = append(all, remark{list.Hole.Span(), says})
			}
		}
		switch {
		case v.From.Failure:
		case call.Produced != nil:
			all = append(all, remark{headOf(call.Produced.Span()), "the result is given here"})
		case call.Tool != nil && call.Tool.Output != nil:
			all = append(all, outputPlace(call.Tool, v.From.Rest)...)
		}
		all = append(all, remark{v.From.Path.Span(), quote(call.Name) + " writes it here"})
	}
	for _, o := range v.Parts[:min(len(v.Parts), 3)] {
		all = append(all, remark{o.Path.Span(), quote(o.Call.Name) + " writes a part of it here"})
	}
	return all
}

// itemPlace is where the list of an item is.
func itemPlace(p *Pass, r *plan.Read) []remark {
	call := p.flow.Caller(r)
	if call == nil || call.Each == nil || !compiler.ReadsItem(p.Plan, r) {
		return nil
	}
	return []remark{{headOf(call.Each.List.Node.Span()), "the items are of this list"}}
}

// documentPlace is where the document describes a path, or gives its value.
func documentPlace(p *Pass, key string, path []expression.Segment) []remark {
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
	return []remark{{headOf(n.Span()), words}}
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

// outputPlace is where a tool's _output describes a part of its result.
func outputPlace(tool *plan.Tool, rest []expression.Segment) []remark {
	if tool.OutputNode == nil {
		return nil
	}
	return []remark{{headOf(describing(tool.OutputNode, rest).Span()), "the result of " + quote(tool.Name) + " is described here"}}
}
