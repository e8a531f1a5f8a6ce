package request

import (
	_ "embed"
	"maps"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

// solutionSchema is the schema of what a planner answers. Its properties are in
// the order in which a model is to write them, and therefore thinks.
//
// It never refuses what the machine would run: it names the parameters of a tool and the fields of an opinion, and
// leaves what they hold to the messages. Each call is checked as it arrives.
func (s Context) solutionSchema() Object {
	properties, required, defs := Object{}, []any{"calls"}, sharedSchemas
	if len(s.Instances) > 0 {
		ids := make([]any, len(s.Instances))
		for i, one := range s.Instances {
			ids[i] = one.ID
		}
		defs = slices.Clip(defs).With("instance", Object{{"enum", ids}})
	}
	if len(s.Advisors) > 0 {
		opinions := make([]any, len(s.Advisors))
		for i, advisor := range s.Advisors {
			opinions[i] = s.opinion(advisor)
		}
		properties, required = properties.With("advisors", listOf(opinions)), []any{"advisors", "calls"}
	}
	if slices.ContainsFunc(s.messages(), func(m *source.Node) bool { return compiler.MessageType(m) == "meta" }) {
		properties = properties.With("meta", Object{{"type", "object"}})
	}
	output := Object{}
	if n := s.Plan.OutputSchemaNode; n != nil && s.Plan.OutputSchema != nil {
		output = Object{{"description", "null, or a value that may be written with references, and then has to fit " +
			JSON(plain(n))}}
	}
	properties = properties.With("calls", s.callsSchema()).With("output", output)
	return Object{{"type", "object"}, {"properties", properties}, {"required", required},
		{"additionalProperties", false}, {"$defs", defs}}
}

func listOf(kinds []any) Object {
	return Object{{"type", "array"}, {"items", Object{{"anyOf", kinds}}}}
}

// callsSchema accepts calls of the tools that there are. Where no tool is declared they aren't judged.
func (s Context) callsSchema() Object {
	switch {
	case !s.Plan.ToolsDeclared:
		return listOf([]any{Object{{"type", "object"}, {"properties", Object{{"_tool", anyText}}},
			{"required", []any{"_tool"}}}})
	case len(s.Plan.Tools) == 0:
		return Object{{"type", "array"}, {"maxItems", 0}}
	}
	used := map[string]bool{}
	for _, one := range s.Carried {
		for _, f := range one.Call.Fields {
			used[f.Key.Text] = true
		}
	}
	branches := make([]any, len(s.Plan.Tools))
	for i, tool := range s.Plan.Tools {
		branches[i] = s.callSchema(tool, used)
	}
	return listOf(branches)
}

var anyText = Object{{"type", "string"}}

//go:embed calls.json
var callsText []byte

// Schemas of the meta-fields of calls: those to which others refer, those of the order of calls, those of keys that
// a model may write where there is a reason to (its tool speaks of it, or the plan that is carried uses it, which a
// solution must be able to repeat), and those of what a call writes.
var sharedSchemas, orderKeys, metaKeys, writeKeys = callSchemas("shared"), callSchemas("order"), callSchemas("meta"),
	callSchemas("write")

func callSchemas(of string) Object {
	root, _ := source.Parse(source.NewFile("calls.json", callsText), source.DefaultLimits())
	return Of(root.Get(of)).(Object)
}

func (s Context) callSchema(tool *plan.Tool, used map[string]bool) Object {
	in := parametersOf(tool)
	properties := Object{{"_tool", Object{{"const", tool.Name}}}, {"_reasoningForCall", anyText}}
	if len(s.Instances) > 0 {
		properties = properties.With("_instance", instanceID)
	}
	properties = append(properties, orderKeys...)
	for _, name := range parameterNames(in) {
		properties = properties.With(name, Object{})
	}
	for _, m := range metaKeys {
		speaks := tool.Node.Get(m.Key) != nil || in.Get("properties").Get(m.Key) != nil
		if used[m.Key] || speaks && !isFixed(tool, m.Key) {
			properties = append(properties, m)
		}
	}
	properties = append(properties, writeKeys...)
	if tool.Latent && !s.lazy() {
		properties = properties.With("_output", Object{})
	}
	required := []any{"_tool"}
	for _, name := range requiredBy(in) {
		if name != "_tool" && properties.Has(name) {
			required = append(required, name)
		}
	}
	out := Object{{"type", "object"}, {"properties", properties}, {"required", required}}
	if tool.Open || slices.ContainsFunc(combining, func(key string) bool { return in.Get(key) != nil }) {
		return out
	}
	return out.With("additionalProperties", false)
}

// combining are keywords under which a tool may describe parameters besides its "properties". Those of such a tool are
// left to the check of each call.
var combining = []string{"$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "if", "dependentSchemas",
	"dependencies", "patternProperties"}

var instanceID = Object{{"$ref", "#/$defs/instance"}}

func (s Context) opinion(advisor *plan.Advisor) Object {
	properties, required := Object{{"id", Object{{"const", advisor.ID}}}}, []any{"id"}
	if advisor.Instanced && len(s.Instances) > 0 {
		properties, required = properties.With("_instance", instanceID), append(required, "_instance")
	}
	own := advisor.Node.Get("schema")
	if name, ok := strings.CutPrefix(own.Get("$ref").AsText(), "#/schemas/"); ok {
		own = s.Plan.NamedSchemas[name]
	}
	for _, name := range parameterNames(own) {
		if !properties.Has(name) && name != "calls" {
			properties = properties.With(name, Object{})
		}
	}
	for _, name := range requiredBy(own) {
		if properties.Has(name) && !slices.Contains(required, any(name)) {
			required = append(required, name)
		}
	}
	properties = properties.With("calls",
		Object{{"type", "string"}, {"description", "JSON: {tool: weight}; a tool without a weight is left to others"}})
	return Object{{"type", "object"}, {"properties", properties}, {"required", append(required, "calls")}}
}

// toolMessage is what a model sees of tools, and of the schemas to which they and other messages refer.
func (s Context) toolMessage(tools ...*plan.Tool) Object {
	all, schemas := make(Object, len(tools)), Object{}
	for i, tool := range tools {
		all[i] = Member{tool.Name, shownTool(tool)}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Plan.NamedSchemas)) {
		schemas = schemas.With(name, plain(s.Plan.NamedSchemas[name]))
	}
	out := Object{{"type", "tool"}, {"tool", all}}
	if len(schemas) > 0 {
		out = out.With("schemas", schemas)
	}
	return out
}

// shownTool is a tool's definition as it was written, without what serves simulations, and without who carries it out.
func shownTool(tool *plan.Tool) Object {
	shown := func(of any) Object {
		fields, _ := of.(Object)
		return slices.DeleteFunc(fields, func(m Member) bool {
			switch m.Key {
			case "_output", "outputSchema":
				return !tool.Latent
			case "_activity", "_delegate":
				return isFixed(tool, m.Key)
			}
			return strings.HasPrefix(m.Key, "_") && !writeKeys.Has(m.Key) && !metaKeys.Has(m.Key) &&
				m.Key != "_instance" && m.Key != "_reasoningForCall"
		})
	}
	out := shown(plain(tool.Node))
	for i, m := range out {
		if m.Key == "properties" {
			out[i].Value = shown(m.Value)
		}
	}
	if tool.Description != "" && !out.Has("description") {
		out = append(Object{{"description", tool.Description}}, out...)
	}
	return out
}

// isFixed reports whether a tool says itself which activity or delegate carries it out: that is no matter of a model's.
func isFixed(tool *plan.Tool, key string) bool {
	n := parametersOf(tool).Get("properties").Get(key)
	if n == nil {
		n = tool.Node.Get(key)
	}
	return (key == "_activity" || key == "_delegate") && n != nil && (n.Kind == source.String || n.Get("const") != nil)
}

// parametersOf is where a tool describes its parameters: MCP's form has a place of its own for that.
func parametersOf(tool *plan.Tool) *source.Node {
	if in := tool.Node.Get("inputSchema"); in != nil {
		return in
	}
	return tool.Node
}

func parameterNames(in *source.Node) (names []string) {
	if properties := in.Get("properties"); properties != nil {
		for _, f := range properties.Fields {
			if !strings.HasPrefix(f.Key.Text, "_") && !strings.HasPrefix(f.Key.Text, "x-") {
				names = append(names, f.Key.Text)
			}
		}
	}
	return names
}

func requiredBy(n *source.Node) (names []string) {
	if list := n.Get("required"); list != nil {
		for _, name := range list.Items {
			names = append(names, name.Text)
		}
	}
	return names
}
