package analyzer

import (
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

var _ = register(Rule{Rule: diag.LookalikeRef, Scope: Document, Run: lookalikes})

// lookalikes finds strings that were meant as references and don't begin with †: where
// the tool takes no string (S4.7), and where what they name is there in other systems'
// writing. The usual ones among those are found when the document is read.
func lookalikes(p *Pass) {
	for _, call := range p.Plan.Calls {
		bareReferences(p, call)
		for _, f := range call.Params.Fields {
			p.foreignReferences(call, f.Value.Node)
		}
	}
	if p.Plan.Output != nil {
		p.foreignReferences(nil, p.Plan.Output.Node)
	}
}

// bareReferences finds strings that read like a reference without its † where
// the tool takes no string (S4.7).
func bareReferences(p *Pass, call *compiler.Call) {
	takers := p.takers(call)
	if len(takers) == 0 {
		return
	}
	for _, f := range call.Params.Fields {
		if n := f.Value.Node; n.Kind >= source.Array || isBareReference(n) {
			p.bareReference(call, takers[0].schema, n, []schema.Step{schema.Key(f.Key)})
		}
	}
}

func isBareReference(n *source.Node) bool {
	return n.Kind == source.String && expression.BareReference(n.Text)
}

// bareReference looks through a value; the steps lead to it in the schema.
func (p *Pass) bareReference(call *compiler.Call, s *schema.Schema, n *source.Node, steps []schema.Step) {
	for i, item := range n.Items {
		p.bareReference(call, s, item, append(steps, schema.Index(i)))
	}
	for _, f := range n.Fields {
		p.bareReference(call, s, f.Value, append(steps, schema.Key(f.Key.Text)))
	}
	if !isBareReference(n) {
		return
	}
	at := s.At(steps)
	kinds := at.Schema.Kinds()
	if !at.Possible || kinds == 0 || kinds&schema.String != 0 {
		return
	}
	meant := "†" + n.Text
	f := p.Report(n.Span(), "this is the text %q, where %q wants %s", n.Text, call.ToolName, kinds).About(call.Label()).
		Advise("a reference begins with †: write %q", meant)
	f.Offer("make it a reference", n, 0, 0, string(expression.Mark), true)
}
