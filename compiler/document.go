package compiler

import (
	"cmp"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/decode"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

// lower takes a document of any shape apart: values, definitions and the
// list of calls end up in the plan and the compilation, whatever the shape was.
func (c *compilation) lower(root *source.Node) {
	switch {
	case root.Kind == source.Array && (len(root.Items) == 0 || slices.ContainsFunc(root.Items, isCall)):
		c.plan.Form = plan.CallList
		c.plan.CallsNode = root
	case root.Kind == source.Array && slices.ContainsFunc(root.Items, isMessage):
		c.plan.Form = plan.Context
		contextReader{c}.lowerContext(root)
	case root.Kind == source.Object && root.Get("context") != nil:
		c.plan.Form = plan.ProcessRecord
		c.lowerRecord(root)
	case root.Kind == source.Object && isSolution(root):
		c.plan.Form = plan.Solution
		c.lowerSolution(root, "a solution")
	case root.Kind == source.Object && root.Get("_tool") == nil:
		c.lowerPlanFile(root)
	default:
		c.Report(diag.Syntax, root.Span(), "a document is a mapping with \"calls\" or a list of calls").
			Advise("begin with \"calls:\" and a list of mappings that each have \"_tool\"")
	}
}

func isCall(n *source.Node) bool { return n.Get("_tool") != nil }

func isMessage(n *source.Node) bool { return n.Get("type") != nil || n.Get("kind") != nil }

// isSolution tells what a model returned from a plan file: nothing but the four keys of a solution, and among them one
// that a plan file doesn't have or wouldn't bother to write, or calls for instances, which only the run that it is for
// can have.
func isSolution(n *source.Node) bool {
	calls, output, advisors := n.Get("calls"), n.Get("output"), n.Get("advisors")
	has := func(list *source.Node, key string) bool {
		return slices.ContainsFunc(list.Several(), func(one *source.Node) bool { return one.Get(key) != nil })
	}
	return calls != nil && !slices.ContainsFunc(n.Fields, func(f source.Field) bool {
		return !slices.Contains(solutionKeys, f.Key.Text) && !strings.HasPrefix(f.Key.Text, "x-")
	}) && (n.Get("meta") != nil || output != nil && output.Kind == source.Null || has(calls, "_instance") ||
		advisors != nil && advisors.Kind == source.Array && !has(advisors, "role"))
}

var solutionKeys = []string{"calls", "output", "advisors", "meta"}

func (c *compilation) lowerPlanFile(root *source.Node) {
	p := c.plan
	// Schemas that others refer to come first, whatever the order of the text.
	defs := c.definitions()
	defs.all(root, path.Dir(c.options.Name))
	c.Mapping(root, "a plan file", p, map[string]func(source.Field){
		"output":     func(f source.Field) { c.outputNode = f.Value },
		"tools":      nil,
		"schemas":    nil,
		"activities": nil,
		"import":     nil,
		"servers":    func(f source.Field) { defs.servers(f.Value, p.Folder) },
		"advisors":   func(f source.Field) { advisorReader{c}.advisors(f.Value) },
		"instances":  func(f source.Field) { c.instances(f.Value) },
	})
	p.Advice.HasThreshold = root.Get("advice").Get("threshold") != nil
	p.Input, p.State = c.values(p.InputNode, "\"input\""), c.values(p.StateNode, "\"state\"")
	p.InputSchema, p.StateSchema = c.mappingSchema(p.InputSchemaNode, nil, "\"inputSchema\""),
		c.mappingSchema(p.StateSchemaNode, nil, "\"stateSchema\"")
	if n := p.OutputSchemaNode; n != nil {
		p.OutputSchema = c.schemaOf(n, n.Value(), "\"outputSchema\"")
	}
	misspelt := slices.ContainsFunc(root.Fields, func(f source.Field) bool {
		near, _ := decode.Meant(f.Key.Text, []string{"calls"})
		return near != ""
	})
	if p.CallsNode == nil && !misspelt {
		f := c.Report(diag.Syntax, root.Span(), "a plan file needs \"calls\"")
		f.Span.End = min(f.Span.End, f.Span.Start+1)
		f.Advise("add \"calls:\" with a list of calls; an empty list is fine")
	}
}

// overlay adds a file of activities that was named on the command line.
func (c *definitionReader) overlay(file *source.File) {
	root := c.parse(file)
	if root == nil {
		return
	}
	c.onlyDefines(root, "a file of activities", "activities", "servers")
	if activities := root.Get("activities"); activities != nil {
		c.collectActivities(activities, path.Dir(file.Name))
	}
}

// values reads input or state: a mapping of plain values, never expressions.
func (c *compilation) values(n *source.Node, what string) any {
	if n == nil || n.Kind == source.Null {
		return nil
	}
	if n.Kind != source.Object {
		c.Expects(n, what, "a mapping")
		return nil
	}
	return n.Value()
}

func (c *compilation) lowerSolution(root *source.Node, what string) {
	c.Keys(root, what, map[string]func(source.Field){
		"calls":    func(f source.Field) { c.plan.CallsNode = f.Value },
		"output":   func(f source.Field) { c.outputNode = f.Value },
		"advisors": func(f source.Field) { c.plan.Opinions = f.Value },
		"meta":     nil,
	})
}

func (c *compilation) lowerRecord(root *source.Node) {
	p := c.plan
	c.Keys(root, "a process record", map[string]func(source.Field){
		"context":      func(f source.Field) { contextReader{c}.lowerContext(f.Value) },
		"schema":       nil,
		"outputSchema": nil,
		"tick":         func(f source.Field) { c.Value(f.Value, "\"tick\"", &p.Tick, `from:"1"`) },
		"workspace": func(f source.Field) {
			if p.Workspace = filepath.ToSlash(c.Text(f.Value, "\"workspace\"")); !filepath.IsAbs(p.Workspace) {
				p.Workspace = path.Join(path.Dir(c.options.Name), p.Workspace)
			}
			c.delegation.workspace = p.Workspace
		},
		"solution": nil,
		"calls":    nil,
	})
	if s := root.Get("outputSchema"); s != nil {
		p.OutputSchema, p.OutputSchemaNode = c.schemaOf(s, s.Value(), "\"outputSchema\""), s
	} else if s := root.Get("schema").Get("properties").Get("output"); s != nil &&
		(s.Kind != source.Object || len(s.Fields) > 0) {
		p.OutputSchema, p.OutputSchemaNode = c.schemaOf(s, withDefinitions(s.Value(), root.Get("schema")),
			"the schema of \"output\""), s
	}
	if calls := root.Get("calls"); calls != nil || p.Tick > 0 {
		p.CallsNode = calls // what a tick carried on isn't what it runs
	}
	if solution := root.Get("solution"); solution != nil {
		p.Solution = solution
		if calls := root.Get("calls"); calls != nil {
			c.Report(diag.WrongType, calls.Span(), "a process record holds a solution or calls, not both").
				Note(solution.Span(), "the solution is here").Advise("keep one of the two")
		}
		c.lowerSolution(solution, "a solution")
	}
}

// A contextReader reads the messages of a context.
type contextReader struct{ *compilation }

// lowerContext reads a list of messages: those of one kind are patches of one object, the later over the earlier.
func (c contextReader) lowerContext(n *source.Node) {
	messages := c.Items(n, "a context", "a list of messages")
	for _, m := range messages {
		if isMessage(m) && MessageType(m) == "tool" {
			c.definitions().nameSchemas(m)
		}
	}
	c.definitions().takeCatalogues()
	var plan *source.Node
	for _, m := range messages {
		if !isMessage(m) {
			c.Report(diag.WrongType, m.Span(), "a message of a context needs a \"type\"").
				Advise("types are %s", strings.Join(messageTypes, ", "))
			continue
		}
		kind := MessageType(m)
		if t := m.Get("type"); t != nil {
			if kind = c.OneOf(t, "a message's \"type\"", messageTypes...); kind == "" {
				continue
			}
		}
		if kind == "plan" {
			if plan != nil {
				c.Report(diag.WrongType, m.Span(), "a context holds at most one plan message").
					Note(plan.Span(), "the first is here")
				continue
			}
			plan = m
		}
		if id := m.Get("_instance"); id != nil && !slices.Contains([]string{"input", "state", "data", "error"}, kind) {
			c.Report(diag.WrongType, id.Span(), "a message of type %s is for all instances", kind).
				Advise("messages of type input, state, data and error may be for one")
		}
		c.lowerMessage(m, kind)
	}
}

// MessageType is the type of a message; a kind may represent it, and one that is the name of a type is that type.
func MessageType(m *source.Node) string {
	if kind := m.Get("type"); kind != nil {
		return kind.AsText()
	}
	if kind := m.Get("kind").AsText(); slices.Contains(messageTypes, kind) {
		return kind
	}
	return "data"
}

var messageTypes = []string{"tool", "input", "state", "data", "plan", "advisor", "error", "meta", "text"}

func (c contextReader) lowerMessage(m *source.Node, kind string) {
	p := c.plan
	switch kind {
	case "tool":
		c.toolMessage(m)
	case "plan":
		c.Mapping(m, "a message of type plan", &p.Settings, messageKeys(m, "plan", "confirm"))
		p.Advice.HasThreshold = m.Get("advice").Get("threshold") != nil
		p.PlanMessage = m
		if p.CallsNode = m.Get("plan"); p.CallsNode == nil && len(m.Fields) == 1 {
			c.Report(diag.WrongType, m.Span(), "a message of type plan needs its calls under \"plan\", or a setting")
		}
		c.Items(m.Get("confirm"), "\"confirm\"", "a list of names of tools")
	case "input", "state", "data":
		c.valueMessage(m, kind)
	case "error":
		_, to := c.valuesOf(m)
		if data := m.Get("data"); data != nil {
			to.Errors = append(to.Errors, data.Value())
		}
	case "advisor":
		advisorReader(c).advisor(m, "a message of type advisor", messageKeys(m))
	}
}

// valueMessage reads the payload of an input, state or data message, under the
// key of its own type or inline, and its schema.
func (c contextReader) valueMessage(m *source.Node, kind string) {
	p := c.plan
	payload, name, under := m.Get(kind), kind, kind
	if k := m.Get("kind"); k != nil && kind == "data" && (k.Text != kind || m.Get("type") != nil) {
		name = c.Text(k, "\"kind\"")
		if slices.Contains(builtinKinds, name) {
			c.Report(diag.WrongType, k.Span(), "the kind %q is built in", name).
				Advise("choose another name, or use a message of type %q", name)
			return
		}
		if !slices.Contains(p.Kinds, name) {
			p.Kinds = append(p.Kinds, name)
			slices.Sort(p.Kinds)
		}
		if payload == nil {
			payload, under = m.Get(name), name
		}
	}
	if m.Get("_call").Get("_tool") != nil {
		c.written(m, payload)
		return
	}
	var value any
	if payload != nil {
		value = c.values(payload, "the payload of a message of type "+kind)
		c.Keys(m, "a message with its payload under \""+under+"\"",
			messageKeys(m, append([]string{under}, reservedInMessage...)...))
	} else if inline, _ := m.Value().(map[string]any); len(inline) > 0 {
		for _, key := range slices.Concat(reservedInMessage, notedInMessage) {
			delete(inline, key)
		}
		if value = inline; len(inline) == 0 {
			value = nil
		}
	}
	own, to := c.valuesOf(m)
	if s := m.Get("schema"); s != nil {
		compiled := c.schemaOf(s, s.Value(), "the schema of a message of type "+kind)
		switch {
		case kind == "state":
			to.StateSchema, to.StateSchemaNode = compiled, s
		case kind == "input":
			to.InputSchema, to.InputSchemaNode = compiled, s
		case name != kind && compiled != nil:
			if to.DataSchemas == nil {
				to.DataSchemas = map[string]*schema.Schema{}
			}
			if to.DataSchemas[name] = compiled; own == nil {
				c.judgeObject(value, cmp.Or(payload, m), compiled, name)
			}
		}
	}
	at := m
	if kind == "data" {
		kind, at = name, cmp.Or(payload, m)
	}
	if own != nil {
		c.give(own, kind, value, at)
		return
	}
	switch lay(to, kind, value); kind {
	case "input":
		to.InputNode = m
	case "state":
		to.StateNode = m
	}
}

var (
	builtinKinds      = []string{"input", "state", "data", "error", "advice"}
	reservedInMessage = []string{"type", "kind", "schema", "description", "_instance"}
	// what a run adds to a message that a call wrote
	notedInMessage = []string{"_call", "_date", "_outputMethod", "_outputPath"}
)

// MetaForeign is the key of a call that other systems call by the name of a parameter.
func MetaForeign(parameter string) (string, bool) {
	meta, ok := decode.Foreign(parameter, metaKeys)
	return meta, ok && meta != "_tool"
}

// foreignTool reports a tool that is written as a model's interface wants it: nothing is known of its parameters.
func (c *toolReader) foreignTool() bool {
	inner := cmp.Or(c.node.Get("function"), c.node)
	if c.node.Get("properties") != nil || inner.Get("properties") != nil || inner.Get("inputSchema") != nil {
		return false
	}
	for _, f := range inner.Fields {
		wrong := []string{"parameters", "input_schema", "input", "args", "arguments", "params", "schema"}
		if slices.Contains(wrong, f.Key.Text) && f.Value.IsMapping() {
			c.Report(diag.WrongType, f.Key.Span(),
				"a tool has its parameters under \"inputSchema\" or \"properties\", and %q has them under %q", c.name,
				f.Key.Text).Advise("write inputSchema: {type: object, properties: {…}} beside the name")
			return true
		}
	}
	return false
}
