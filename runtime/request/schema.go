package request

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

// solutionSchema is the schema of what a planner answers. Its properties are in
// the order in which a model is to write them, and therefore thinks.
//
// It never refuses what the machine would run: it names the parameters of a tool, and leaves what they hold, which
// may be written as references, to the tool's own message. Each call is checked as it arrives.
func (s Context) solutionSchema() Object {
	w := &bundler{plan: s.Plan}
	for _, shared := range sharedSchemas {
		w.defs = append(w.defs, Member{w.name(shared.Key), shared.Value})
	}

	properties, required := Object{}, []any{"calls"}
	if len(s.Advisors) > 0 {
		opinions := make([]any, len(s.Advisors))
		for i, advisor := range s.Advisors {
			opinions[i] = s.opinion(w, advisor, fmt.Sprintf("/properties/advisors/items/anyOf/%d", i))
		}
		properties = append(properties, Member{"advisors", listOf(opinions)})
		required = []any{"advisors", "calls"}
	}
	if slices.ContainsFunc(s.messages(), func(m *source.Node) bool { return compiler.MessageType(m) == "meta" }) {
		properties = append(properties, Member{"meta", Object{{"type", "object"}}})
	}
	properties = append(properties, Member{"calls", s.callsSchema(w)}, Member{"output", s.outputSchema()})
	return Object{{"type", "object"}, {"properties", properties}, {"required", required},
		{"additionalProperties", false}, {"$defs", w.defs}}
}

func listOf(kinds []any) Object {
	return Object{{"type", "array"}, {"items", Object{{"anyOf", kinds}}}}
}

// callsSchema admits calls of the tools that there are. Where no tool is declared
// they aren't judged.
func (s Context) callsSchema(w *bundler) Object {
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
		branches[i] = s.callSchema(w, tool, used, fmt.Sprintf("/properties/calls/items/anyOf/%d", i))
	}
	return listOf(branches)
}

func (s Context) outputSchema() any {
	n := s.Plan.OutputSchemaNode
	if s.Plan.OutputSchema == nil || n == nil {
		return Object{}
	}
	return Object{{"description", "null, or a value that may be written with references, and then has to fit " +
		JSON(s.alone(n, nil))}}
}

var anyText = Object{{"type", "string"}}

//go:embed calls.json
var callsText []byte

// Schemas of the meta-fields of calls: those to which others refer, those of the order of calls, and those of keys that
// a model may write where there is a reason to: its tool speaks of it, or the plan that is carried uses it, which a
// solution must be able to repeat.
var sharedSchemas, orderKeys, metaKeys = callSchemas("shared"), callSchemas("order"), callSchemas("meta")

func callSchemas(of string) Object {
	root, _ := source.Parse(source.NewFile("calls.json", callsText), source.DefaultLimits())
	return Of(root.Get(of)).(Object)
}

func (s Context) callSchema(w *bundler, tool *plan.Tool, used map[string]bool, at string) Object {
	in := parametersOf(tool)
	properties := Object{{"_tool", Object{{"const", tool.Name}}},
		{"_reasoningForCall", w.metaField(tool, "_reasoningForCall", anyText, at)}}
	if len(s.Instances) > 0 {
		properties = append(properties, Member{"_instance", w.metaField(tool, "_instance", s.instanceID(w), at)})
	}
	for _, m := range orderKeys {
		properties = append(properties, Member{m.Key, w.metaField(tool, m.Key, m.Value, at)})
	}
	for _, f := range parameterFields(in) {
		properties = append(properties, Member{f.Key.Text, Object{}})
	}
	for _, m := range metaKeys {
		if chosen := w.metaField(tool, m.Key, nil, at); chosen != nil || used[m.Key] {
			properties = append(properties, Member{m.Key, w.metaField(tool, m.Key, m.Value, at)})
		}
	}
	methods := Object{{"enum", []any{"set", "merge", "assign", "push", "concat"}}}
	properties = append(properties, Member{"_outputPath", w.metaField(tool, "_outputPath", anyText, at)},
		Member{"_outputMethod", w.metaField(tool, "_outputMethod", methods, at)})
	if tool.Latent && !s.lazy() {
		properties = append(properties, Member{"_output", w.outputOf(tool, at+"/properties/_output")})
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
	return append(out, Member{"additionalProperties", false})
}

// elsewhere are keywords under which a tool may describe parameters besides its "properties". Those of such a tool are
// left to the check of each call.
var combining = []string{"$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "if", "dependentSchemas",
	"dependencies", "patternProperties"}

// instanceID is the schema of what names an instance. The ids are among the definitions.
func (s Context) instanceID(w *bundler) Object {
	if len(s.Instances) == 0 {
		return anyText
	}
	if w.instances == "" {
		w.instances = w.name("instance")
		ids := make([]any, len(s.Instances))
		for i, one := range s.Instances {
			ids[i] = one.ID
		}
		w.defs = append(w.defs, Member{w.instances, Object{{"enum", ids}}})
	}
	return Object{{"$ref", "#/$defs/" + w.instances}}
}

func (s Context) opinion(w *bundler, advisor *plan.Advisor, at string) Object {
	properties, required := Object{{"id", Object{{"const", advisor.ID}}}}, []any{"id"}
	if advisor.Instanced {
		properties, required = append(properties, Member{"_instance", s.instanceID(w)}), append(required, "_instance")
	}
	own := advisor.Node.Get("schema")
	if name, ok := strings.CutPrefix(own.Get("$ref").AsText(), "#/schemas/"); ok {
		own = s.Plan.NamedSchemas[unescaped(name)]
	}
	for _, p := range parameterFields(own) {
		if !properties.Has(p.Key.Text) && p.Key.Text != "calls" {
			properties = append(properties, Member{p.Key.Text, w.schema(p.Value, nil, at)})
		}
	}
	for _, name := range requiredBy(own) {
		if properties.Has(name) && !slices.Contains(required, any(name)) {
			required = append(required, name)
		}
	}
	properties = append(properties, Member{"calls",
		Object{{"type", "string"}, {"description", "JSON: {tool: weight}; a tool without a weight is left to others"}}})
	return Object{{"type", "object"}, {"properties", properties}, {"required", append(required, "calls")}}
}

// toolShown is a tool's definition as a model sees it, in the protocol's
// own form whatever it was written in.
func (s Context) toolShown(tool *plan.Tool) Object {
	in := parametersOf(tool)
	w := &bundler{plan: s.Plan, root: in}
	var out Object
	if tool.Description != "" {
		out = Object{{"description", tool.Description}}
	}
	properties := s.propertiesShown(w, tool)
	for _, f := range in.Fields {
		switch key := f.Key.Text; {
		case strings.HasPrefix(key, "_"), key == "description" && tool.Description != "",
			slices.Contains([]string{"name", "annotations", "examples", "inputSchema", "outputSchema"}, key):
		case key == "properties":
			out = append(out, Member{key, properties})
		case key == "required":
			required := []any{}
			for _, name := range requiredBy(in) {
				if !strings.HasPrefix(name, "_") || properties.Has(name) {
					required = append(required, name)
				}
			}
			if len(required) > 0 {
				out = append(out, Member{key, required})
			}
		default:
			out = append(out, w.keyword(f, "")...)
		}
	}
	if !out.Has("properties") {
		out = append(out, Member{"properties", properties})
	}
	if hints := tool.Node.Get("annotations"); hints != nil {
		out = append(out, Member{"annotations", Of(hints)})
	}
	return w.closed(out).(Object)
}

func (s Context) propertiesShown(w *bundler, tool *plan.Tool) Object {
	in := parametersOf(tool)
	properties := Object{{"_reasoningForCall", w.metaField(tool, "_reasoningForCall", anyText, "")}}
	for _, f := range parameterFields(in) {
		properties = append(properties, Member{f.Key.Text, w.schema(f.Value, nil, "")})
	}
	for _, key := range []string{"_instance", "_activity", "_delegate", "_scopes", "_outputPath", "_outputMethod"} {
		if fixed := w.metaField(tool, key, nil, ""); fixed != nil {
			properties = append(properties, Member{key, fixed})
		}
	}
	if tool.Latent && tool.OutputNode != nil {
		properties = append(properties, Member{"_output", w.outputOf(tool, "/properties/_output")})
	}
	return properties
}

// parametersOf is where a tool describes its parameters: MCP's form has a place
// of its own for that.
func parametersOf(tool *plan.Tool) *source.Node {
	if in := tool.Node.Get("inputSchema"); in != nil {
		return in
	}
	return tool.Node
}

func parameterFields(in *source.Node) []source.Field {
	properties := in.Get("properties")
	if properties == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(properties.Fields), func(f source.Field) bool {
		return strings.HasPrefix(f.Key.Text, "_") || strings.HasPrefix(f.Key.Text, "x-")
	})
}

func requiredBy(n *source.Node) []string {
	var names []string
	if list := n.Get("required"); list != nil {
		for _, name := range list.Items {
			names = append(names, name.Text)
		}
	}
	return names
}

// metaField is what a tool says of one of a call's meta-fields, among its
// properties or beside them; or else what otherwise holds. Which activity or
// delegate carries a tool out, if the tool fixes it, is no matter of a model's. The schema of the tool is at a place.
func (w *bundler) metaField(tool *plan.Tool, key string, otherwise any, at string) any {
	in := parametersOf(tool)
	n := in.Get("properties").Get(key)
	if n == nil {
		n = tool.Node.Get(key)
	}
	switch {
	case n == nil:
		return otherwise
	case (key == "_activity" || key == "_delegate") && (n.Kind == source.String || n.Get("const") != nil):
		return otherwise
	case n.Kind == source.String:
		return Object{{"const", n.Text}}
	case n.Kind == source.Object:
		return w.schema(n, nil, at+"/properties/"+key)
	}
	return otherwise
}

// outputOf is what a tool says of its result, copied to a place. It may refer to the definitions of the tool.
func (w *bundler) outputOf(tool *plan.Tool, at string) any {
	if tool.OutputNode == nil {
		return Object{}
	}
	return w.schema(tool.OutputNode, parametersOf(tool), at)
}
