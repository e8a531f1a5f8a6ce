package compiler

import (
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/reference"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

// scope reads one scope: a kind (state, †state) or a reference.
func (c *callReader) scope(n *source.Node) (plan.Scope, bool) {
	text, bare := n.Text, !reference.IsExpression(n.Text)
	if bare {
		text = string(reference.Mark) + text
	}
	ref, err := reference.Parse(text)
	if err != nil || bare && len(ref.Path) > 0 {
		f := c.Report(diag.BadScope, n.Span(), "the scope %q is neither a kind nor a reference", n.Text)
		f.Advise("name a kind, such as state, or a path, such as †state.history")
		if err == nil {
			f.Advise("did you mean %q? a path begins with †", text).
				Offer("make it a reference", n, 0, 0, string(reference.Mark), true)
		}
		return plan.Scope{}, false
	}
	ref.Start, ref.End, ref.Required = 0, len(n.Text), false
	if !c.isKind(ref.Kind) {
		c.unknownKind(diag.BadScope, ref, n)
		return plan.Scope{}, false
	}
	return plan.Scope{Kind: ref.Kind, Read: -1, Ref: ref, Node: n}, true
}

// scopesOf reads a list of scopes, or a single one.
func (c *callReader) scopesOf(n *source.Node) []plan.Scope {
	if n.Kind != source.String && n.Kind != source.Array {
		c.Expects(n, "\"_scopes\"", "a list of kinds and references")
		return nil
	}
	scopes := []plan.Scope{}
	for _, item := range c.Texts(n, "a scope", "a kind such as state, or a reference such as †state.history") {
		if s, ok := c.scope(item); ok {
			scopes = append(scopes, s)
		}
	}
	return scopes
}

// lowerScopes makes the scopes of a call reads of its own: those that it says, or
// that its tool fixes. A scope without a value keeps nothing from running.
func (c *callReader) lowerScopes() {
	tool := c.Tool
	switch {
	case c.ScopesNode != nil:
		c.Scopes = c.scopesOf(c.ScopesNode)
		if tool != nil && tool.Scopes != nil {
			c.forbiddenScopes(tool)
		}
	case tool != nil && tool.Scopes != nil:
		fixed := tool.ScopesNode
		if fixed.Kind == source.Object {
			fixed = fixed.Get("const")
		}
		if fixed == nil {
			return // it is the call's to choose, and it chose none
		}
		c.Scopes = c.scopesOf(fixed)
	}
	for i := range c.Scopes {
		s := &c.Scopes[i]
		id, _ := c.pathOf(s.Ref)
		read := plan.Read{Call: c.Index, Ref: s.Ref, Path: id, Node: s.Node}
		if c.ScopesNode == nil { // the fault of a scope that doesn't fit is shown at the call
			read.Node, read.Ref.Start, read.Ref.End = c.ToolNode, 0, len(c.ToolNode.Text)
		}
		s.Read = len(c.plan.Reads)
		c.plan.Reads = append(c.plan.Reads, read)
	}
}

// forbiddenScopes reports scopes that the tool doesn't let a call choose.
func (c *callReader) forbiddenScopes(tool *plan.Tool) {
	n := c.ScopesNode
	chosen := n.Value()
	if n.Kind == source.String {
		chosen = []any{n.Text}
	}
	v := tool.Scopes.Validate(chosen)
	if v == nil {
		return
	}
	at := n.Along(v.Path)
	c.Report(diag.BadScope, at.Span(), "the tool %q doesn't allow the scope %s: %s", tool.Name, at.Span().Text(),
		v.Message).
		Note(tool.ScopesNode.Span().Head(), "what %q allows is here", tool.Name).
		Advise("choose among those that the tool allows; where it fixes them leave \"_scopes\" out")
}

// toolScopes reads what a tool's schema says of its calls' scopes: a list fixes
// them, as {const: …} does, and anything else is a schema of the list.
func (c *toolReader) toolScopes(t *plan.Tool, n *source.Node, what string) {
	t.ScopesNode = n
	switch n.Kind {
	case source.Array, source.String:
		t.Scopes = schema.New(map[string]any{"const": listed(n.Value())}, schema.Options{})
	default:
		raw := n.Value()
		if object, ok := raw.(map[string]any); ok && object["const"] != nil {
			object["const"] = listed(object["const"])
		}
		t.Scopes = c.schemaOf(n, raw, "the \"_scopes\" of "+what)
	}
}

// listed is a value, or the list of it alone.
func listed(v any) any {
	if _, list := v.([]any); list {
		return v
	}
	return []any{v}
}

// scopesOfAdvisors reads what advisors look at, once all kinds are known. What is written while a plan is made can't be
// foretold, so that no path is refused that the state may ever hold.
func (c advisorReader) scopesOfAdvisors() {
	for _, a := range c.plan.Advisors {
		n := a.Node.Get("scopes")
		if n == nil {
			continue
		}
		a.Scopes = (&callReader{compilation: c.compilation}).scopesOf(n)
	}
}

// isKind reports whether there is such a kind: advice comes from advisors, and
// where there are none from nobody. A solution alone doesn't know.
func (c *callReader) isKind(kind string) bool {
	switch {
	case c.items && IsItemKind(kind):
		return true
	case kind == "advice":
		return len(c.plan.Advisors) > 0 || c.plan.Form == plan.Solution
	}
	return slices.Contains(builtinKinds, kind) || slices.Contains(c.plan.Kinds, kind)
}

// kinds are those that a reference can name.
func (c *callReader) kinds() []string {
	kinds := []string{"input", "state", "error"}
	if c.items {
		kinds = append(kinds, itemKind, indexKind)
	}
	if c.isKind("advice") {
		kinds = append(kinds, "advice")
	}
	return slices.Concat(kinds, c.plan.Kinds)
}

// unknownKind reports a kind that there isn't, of a reference or of a scope.
func (c *callReader) unknownKind(rule *diag.Rule, ref reference.Reference, n *source.Node) {
	const mark = string(reference.Mark)
	if ref.Kind == "advice" {
		c.Report(rule, n.Within(ref.Start, ref.End), "there is no advice, because the plan has no advisors").
			Advise("declare advisors under \"advisors\": †advice.tool is the result of their votes on a tool")
		return
	}
	f := c.Report(rule, n.Within(ref.Start, ref.End), "there is no kind %q", mark+ref.Kind)
	if IsItemKind(ref.Kind) {
		f.Advise(
			"use †item and †index only in the parameters and the \"_when\" of a call with \"_each\"")
		return
	}
	kinds := c.kinds()
	names := naming.NewSuggester(kinds)
	near, ok := names.Nearest(ref.Kind)
	if !ok {
		f.Advise("kinds are †%s; †state.%s would be a path of the state", strings.Join(kinds, ", †"), ref.Kind)
		return
	}
	start := ref.Start
	if strings.HasPrefix(n.Text[start:], mark) {
		start += len(mark)
	}
	f.Advise("did you mean %q?", mark+near).
		Offer("change it to †"+near, n, start, start+len(ref.Kind), near, names.Sure(ref.Kind))
}
