package compiler

import (
	"slices"

	"github.com/obelus-dev/obelus/compiler/decode"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

// after reads which calls must be done, or have settled, before one starts.
func (c *callReader) after(n *source.Node) {
	for _, item := range n.Several() {
		switch {
		case item.Kind == source.String:
			c.comesAfter(item, false)
		case item.Kind == source.Object && item.Get("settled") != nil:
			c.Keys(item, "\"_after\"", map[string]func(source.Field){"settled": nil})
			const expected = "the \"_id\" of a call, or a list of such"
			for _, name := range c.Texts(item.Get("settled"), "\"settled\"", expected) {
				c.comesAfter(name, true)
			}
		default:
			c.Expects(item, "\"_after\"", "the \"_id\" of a call, {settled: [ids]}, or a list of these")
		}
	}
}

// comesAfter finds the call that is named by its id, or by its tool where no other call has that.
func (c *callReader) comesAfter(n *source.Node, settled bool) {
	if other := c.ids[n.Text]; other != nil {
		c.After = append(c.After, plan.After{Call: other.Index, Settled: settled, Node: n})
		return
	}
	of := c.callsOf(n.Text)
	if len(of) == 1 {
		c.After = append(c.After, plan.After{Call: int(of[0]), Settled: settled, ByTool: true, Node: n})
		return
	}
	f := c.Report(diag.UnknownCall, n.Span(), "no call has the id %q, and there isn't just one of such a tool", n.Text)
	if at := slices.IndexFunc(c.plan.Calls,
		func(o *plan.Call) bool { return o.Name == n.Text || o.ToolName == n.Text }); at >= 0 {
		f.Note(c.plan.Calls[at].ToolNode.Span(), "this call may be meant").
			Advise("give the call that must come first an \"_id\", and name that")
		return
	}
	if c.idNames == nil {
		c.idNames = namesIn(c.ids)
	}
	if near, ok := c.idNames.Nearest(n.Text); ok {
		decode.Intended(f, n, near, Misspelt(c.plan, n.Text, near, c.idNames, false))
	} else if near, ok := namesIn(c.byTool).Nearest(n.Text); ok && len(c.byTool[near]) == 1 {
		decode.Intended(f, n, near, false)
	} else {
		f.Advise("give the call that must come first an \"_id\"")
	}
}

// callsOf are the calls of a tool.
func (c *compilation) callsOf(tool string) []int32 {
	if c.byTool == nil {
		c.byTool = map[string][]int32{}
		for i, call := range c.plan.Calls {
			c.byTool[call.ToolName] = append(c.byTool[call.ToolName], int32(i))
		}
	}
	return c.byTool[tool]
}
