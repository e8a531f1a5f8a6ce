package analyzer

import (
	"slices"
	"sort"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
)

// Gaps say which knowledge of a plan is incomplete because a part of it
// couldn't be understood. The fault itself has its finding; what follows from it
// alone would only hide it, so rules look here before they conclude something
// from what isn't there.
type gaps struct {
	writes bool // some call may write more than is known
	reads  bool // some call may read more than is known
	order  bool // some call may wait for more than is known
	input  bool // what the document says of its input
	state  bool // what the document says of its state
	tools  bool // there may be more tools and activities than are known
}

func (g *gaps) everything() { *g = gaps{true, true, true, true, true, true} }

// gapsOf finds for every error of the compiler the part of the document that it
// stands in.
func gapsOf(p *compiler.Plan, found []diag.Diagnostic) gaps {
	var g, all gaps
	all.everything()
	for i := range found {
		if d := &found[i]; d.Severity == diag.Error {
			if g.add(p, d); g == all {
				break
			}
		}
	}
	return g
}

func (g *gaps) add(p *compiler.Plan, d *diag.Diagnostic) {
	switch d.Rule {
	case diag.ConfusableName, diag.DuplicateID, diag.NoActivity, diag.BadDelegate, diag.BadAdvisor:
		return // all that is named is known all the same
	case diag.Syntax, diag.Limit:
		g.everything()
		return
	}
	if d.Span.File != p.File {
		g.tools = true
		return
	}
	if within(p.CallsNode, d.Span.Start) {
		g.inCall(p, d)
		return
	}
	g.inDocument(p, d.Span.Start)
}

func within(n *source.Node, offset int) bool {
	return n != nil && n.Start <= offset && offset < n.End
}

func (g *gaps) inCall(p *compiler.Plan, d *diag.Diagnostic) {
	call := callAt(p, d.Span.Start)
	switch {
	case d.Rule == diag.UnknownCall:
		g.order = true
	case d.Rule == diag.ReadOnlyPath:
		g.writes = true
	case call != nil && (d.Rule == diag.BadExpression || d.Rule == diag.UnknownKind || d.Rule == diag.BadScope) && !within(call.OutputNode, d.Span.Start):
		g.reads, g.order = true, true
	default:
		// A misspelt or repeated key may be any of a call's.
		g.writes, g.reads, g.order = true, true, true
	}
}

// callAt is the call whose text an offset falls into, or nil. Calls stand in
// the order of the text unless aliases repeat them.
func callAt(p *compiler.Plan, offset int) *compiler.Call {
	at := sort.Search(len(p.Calls), func(i int) bool { return p.Calls[i].Node.Start > offset }) - 1
	if at >= 0 && within(p.Calls[at].Node, offset) {
		return p.Calls[at]
	}
	return nil
}

func (g *gaps) inDocument(p *compiler.Plan, offset int) {
	if p.Root.Kind == source.Object && p.Form != compiler.ProcessRecord {
		for _, f := range p.Root.Fields {
			if !within(f.Value, offset) {
				continue
			}
			switch f.Key.Text {
			case "input", "inputSchema":
				g.input = true
			case "state", "stateSchema":
				g.state = true
			case "output":
				g.reads = true
			case "activities", "import":
				g.tools = true
			case "tools":
				g.tools = f.Value.Kind != source.Object // by name they are known, see defines
			case "plan", "version", "description", "outputSchema", "mode", "terminate", "limits", "servers", "advisors", "advice":
			default:
				g.everything()
			}
			return
		}
	}
	g.everything() // an unknown key may stand for any of the document's
}

// defines tells whether the document's own text defines a tool of some name,
// understood or not.
func (p *Pass) defines(tool string) bool {
	n := p.Plan.Root.Get("tools")
	if n == nil {
		return false
	}
	return n.Get(tool) != nil || slices.ContainsFunc(n.Items, func(item *source.Node) bool {
		name := item.Get("name")
		return name != nil && name.Text == tool
	})
}
