package compiler

import (
	"maps"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/decode"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/kinds"
	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

// metaKeys are the keys of a call that aren't parameters, and of them those that a tool's schema may constrain.
var (
	metaKeys     = decode.KeysOf(callKeys{})
	toolMetaKeys = []string{"_tool", "_output", "_outputPath", "_outputMethod", "_activity", "_delegate", "_scopes",
		"_instance", "_mock", "_reasoningForCall"}
)

// collectTools notes the definitions of a "tools" mapping, or of a list in MCP's form.
func (c *definitionReader) collectTools(n *source.Node, dir string) {
	switch n.Kind {
	case source.Object:
		for _, f := range n.Fields {
			if f.Key.Text == "" {
				c.Report(diag.WrongType, f.Key.Span(), "a tool has no name")
				continue
			}
			c.toolDefs = append(c.toolDefs, definition{f.Key.Text, f.Key, f.Value, dir})
		}
	case source.Array:
		for _, item := range n.Items {
			name := item.Get("name")
			if name == nil {
				name = item.Get("function").Get("name") // see foreignTool
			}
			if name != nil && name.Kind == source.String {
				c.toolDefs = append(c.toolDefs, definition{name.Text, name, item, dir})
			} else {
				c.Report(diag.WrongType, item.Span(), "a tool in a list needs a \"name\"").
					Advise("or write the tools as a mapping from names to schemas")
			}
		}
	default:
		c.Expects(n, "\"tools\"", "a mapping from names to tools, or a list of tools with \"name\"")
	}
}

// defineTools makes the tools once all definitions are known, so that the last of each name wins.
func (c *definitionReader) defineTools() {
	for _, d := range c.toolDefs {
		tool := (&toolReader{c.compilation, d}).tool()
		if tool == nil {
			continue
		}
		if earlier := c.tools[d.name]; earlier != nil {
			c.plan.Shadowed = append(c.plan.Shadowed, earlier)
		}
		c.tools[d.name] = tool
	}
	advisorReader{c.compilation}.consultation()
	for _, name := range slices.Sorted(maps.Keys(c.tools)) {
		tool := c.tools[name]
		c.plan.Tools = append(c.plan.Tools, tool)
		c.resolve(tool)
	}
}

// A toolReader reads a tool.
type toolReader struct {
	*compilation
	definition
}

// tool reads one definition, in the protocol's form or MCP's.
func (c *toolReader) tool() *plan.Tool {
	if c.node.Kind != source.Object {
		c.Expects(c.node, "the tool \""+c.name+"\"", "a JSON Schema (a mapping)")
		return nil
	}
	t := &plan.Tool{Name: c.name, Node: c.node, NameNode: c.key, Origin: c.originOf(c.node.File)}
	if n := c.node.Get("x-simulate"); n != nil {
		c.Mapping(n, "\"x-simulate\"", &t.Simulate, nil)
	}
	if n := c.node.Get("description"); n != nil && n.Kind == source.String {
		t.Description = n.Text
	}
	what := "the tool \"" + c.name + "\""
	if n := c.node.Get("x-volatile"); n != nil {
		t.Volatile = c.Bool(n, "\"x-volatile\"")
	}
	if n := c.node.Get("annotations"); n != nil {
		foreign := map[string]func(source.Field){} // which servers have for others
		for _, f := range n.Fields {
			foreign[f.Key.Text] = nil
		}
		c.Mapping(n, "the \"annotations\" of "+what, &t.Hints, foreign)
	}
	parameters := c.node
	if in := c.node.Get("inputSchema"); in != nil {
		parameters = in
	}
	if c.foreignTool() {
		t.Open = true
	} else if parsed := c.mappingSchema(parameters, parameterSchema(parameters), what); !c.partial(parameters) &&
		!c.partial(c.key) {
		t.Parameters = parsed
	}
	if more := parameters.Get("additionalProperties"); more != nil {
		t.Open = more.Kind != source.Bool || more.Text == "true"
	}
	c.metaFields(c.node, what, "_meta") // "_meta" is MCP's
	c.metaFields(parameters.Get("properties"), what)
	field := func(key string) *source.Node {
		if n := parameters.Get("properties").Get(key); n != nil {
			return n
		}
		return c.node.Get(key)
	}
	output := field("_output")
	if output == nil {
		output = c.node.Get("outputSchema")
	}
	if output != nil && !(output.Kind == source.Object && len(output.Fields) == 0) {
		if parsed := c.schemaOf(output, withDefinitions(output.Value(), parameters),
			"the \"_output\" of "+what); !c.partial(output) && !c.partial(c.key) {
			t.Output = parsed
		}
		t.OutputNode = output
	}
	if n := field("_outputPath"); n != nil {
		at, raw := n, n.Value()
		if n.Kind == source.String { // a bare string is a constant
			at = &source.Node{File: n.File, Kind: source.Object, Start: n.Start, End: n.End}
			raw = map[string]any{"const": n.Text}
		}
		t.OutputPath = c.schemaOf(at, raw, "the \"_outputPath\" of "+what)
	}
	t.ActivityNode, t.DelegateNode = field("_activity"), field("_delegate")
	c.carriers(t)
	if n := field("_scopes"); n != nil {
		c.toolScopes(t, n, what)
	}
	t.Mocks = mocks(c.node, t.OutputNode)
	return t
}

// metaFields reports keys that begin with "_" and aren't the protocol's: they
// describe no parameter, so a misspelt one would go unseen.
func (c *toolReader) metaFields(n *source.Node, what string, more ...string) {
	if n == nil || n.Kind != source.Object {
		return
	}
	known := slices.Concat(toolMetaKeys, more)
	for _, f := range n.Fields {
		if strings.HasPrefix(f.Key.Text, "_") && !slices.Contains(known, f.Key.Text) &&
			!slices.Contains(metaKeys, f.Key.Text) {
			c.UnknownKey(n, f.Key, what, known)
		}
	}
}

// parameterSchema is the schema of a tool's parameters alone: its meta-fields
// taken out of the properties and of what is required.
func parameterSchema(n *source.Node) any {
	raw, ok := n.Value().(map[string]any)
	if !ok {
		return n.Value()
	}
	for _, key := range toolMetaKeys {
		delete(raw, key)
	}
	for _, key := range []string{"name", "annotations", "examples"} {
		delete(raw, key) // MCP's, and ours: not part of the schema
	}
	if properties, ok := raw["properties"].(map[string]any); ok {
		maps.DeleteFunc(properties, func(name string, _ any) bool { return strings.HasPrefix(name, "_") })
	}
	if required, ok := raw["required"].([]any); ok {
		raw["required"] = slices.DeleteFunc(required, func(name any) bool {
			s, ok := name.(string)
			return ok && strings.HasPrefix(s, "_")
		})
	}
	return raw
}

// withDefinitions lets a schema inside a tool's see the tool's own definitions, and its dialect.
func withDefinitions(raw any, around *source.Node) any {
	inner, ok := raw.(map[string]any)
	if !ok {
		return raw
	}
	for _, key := range []string{"$defs", "definitions", "$schema"} {
		if outer := around.Get(key); outer != nil && inner[key] == nil {
			inner[key] = outer.Value()
		}
	}
	return inner
}

// carriers reads what a tool says of who carries its calls out.
func (c *toolReader) carriers(t *plan.Tool) {
	fixed, choices := c.choice(t.ActivityNode, "\"_activity\"")
	t.Activity = fixed.AsText()
	for _, choice := range choices {
		t.Activities = append(t.Activities, c.Text(choice, "an activity that calls may choose"))
	}
	if fixed, choices = c.choice(t.DelegateNode, "\"_delegate\""); fixed != nil {
		t.Delegate = c.delegatePath(fixed, c.folderOf(c.definition))
	}
	for _, choice := range choices {
		if to := c.delegatePath(choice, c.folderOf(c.definition)); to != "" {
			if t.Delegates == nil {
				t.Delegates = map[string]string{}
			}
			t.Delegates[choice.Text] = to
		}
	}
}

// choice is the name that a tool fixes by a text or {const: …}, or those that its calls choose from, by {enum: […]}.
func (c *toolReader) choice(n *source.Node, what string) (fixed *source.Node, choices []*source.Node) {
	if fixed = n; n.IsMapping() {
		if enum := n.Get("enum"); enum != nil {
			return nil, enum.Items
		}
		fixed = n.Get("const")
	}
	if fixed != nil && fixed.Kind != source.String {
		c.Expects(fixed, what, "a name, {const: …} or {enum: […]}")
		return nil, nil
	}
	return fixed, nil
}

func mocks(tool, output *source.Node) []any {
	if mock := tool.Get("_mock"); mock != nil {
		return []any{mock.Value()}
	}
	for _, holder := range []*source.Node{tool, output} {
		if all, _ := holder.Get("examples").Value().([]any); len(all) > 0 {
			return all
		}
	}
	return nil
}

// resolve finds the activity of a tool that its calls get unless they name one themselves.
func (c *definitionReader) resolve(t *plan.Tool) {
	switch {
	case t.Activity != "" && t.Delegate != "":
		c.Report(diag.BadDelegate, t.DelegateNode.Span(),
			"the tool %q names both an activity and a plan to carry it out", t.Name).
			Advise("leave \"_activity\" or \"_delegate\" out")
	case t.Activity != "" && c.plan.Activities[t.Activity] == nil && c.plan.Form != plan.Definitions:
		c.noActivity(t.ActivityNode, t.Activity)
	case t.Activity == "" && t.Delegate == "" && c.plan.Activities[t.Name] != nil:
		t.Activity = t.Name
	}
	for i, name := range t.Activities {
		if c.plan.Activities[name] == nil && c.plan.Form != plan.Definitions {
			c.noActivity(t.ActivityNode.Get("enum").Items[i], name)
		}
	}
	t.Latent = t.Activity == "" && t.Delegate == ""
}

// HasParameter reports whether a tool has a parameter of a name, or says itself that it takes others than it names.
func HasParameter(t *plan.Tool, name string) bool {
	if t.Parameters == nil {
		return true
	}
	at := t.Parameters.Part(name)
	return at.Named || at.Possible && (t.Open || at.Open)
}

// CostOf is the declared cost of one attempt of a tool, if it is always the same.
func CostOf(t *plan.Tool) (cost float64, known bool) {
	if t == nil || t.Simulate.Cost == nil || t.Simulate.Cost.Most > 0 {
		return 0, false
	}
	return t.Simulate.Cost.Median, true
}

func (c *definitionReader) activities() *kinds.Reader {
	return &kinds.Reader{Reader: &c.Reader, Delegate: c.delegatePath}
}

// collectActivities reads an "activities" mapping.
func (c *definitionReader) collectActivities(n *source.Node, dir string) {
	for _, f := range c.Fields(n, "\"activities\"", "a mapping from names to activities") {
		if a := c.activityOf(definition{f.Key.Text, f.Key, f.Value, dir}); c.activities().Activity(a) {
			c.plan.Activities[a.Name] = a
		}
	}
}

// activityOf is an activity, or the program of a server, known only where it is defined.
func (c *definitionReader) activityOf(d definition) *plan.Activity {
	return &plan.Activity{Name: d.name, Node: d.node, NameNode: d.key, Dir: c.folderOf(d),
		Origin: c.originOf(d.node.File)}
}

// namesIn are the names in a mapping, for what may have meant one of them.
func namesIn[V any](all map[string]V) *naming.Suggester {
	return naming.NewSuggester(slices.Sorted(maps.Keys(all)))
}

func (c *compilation) noActivity(n *source.Node, name string) {
	f := c.Report(diag.NoActivity, n.Span(), "no activity %q is registered", name)
	c.closest(f, n, namesIn(c.plan.Activities), "define it under \"activities\", or add a file of activities")
}

// originOf is where a definition in a file comes from.
func (c *compilation) originOf(file *source.File) plan.Origin {
	switch {
	case slices.Contains(c.options.Catalogues, file):
		if c.options.Trusted {
			return plan.Workspace
		}
		return plan.Untrusted
	case slices.Contains(c.options.Activities, file):
		return plan.CommandLine
	}
	return plan.Document
}
