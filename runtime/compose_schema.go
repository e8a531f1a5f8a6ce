package runtime

import (
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/source"
)

// solutionSchema is the schema of what a planner answers. Its properties stand in
// the order in which a model is to write them, and therefore thinks.
//
// It never refuses what the machine would run: a value that the machine will
// find out only later may be written as a reference, also inside of another. What
// it lets pass is checked once more when it arrives, call by call.
func (s situation) solutionSchema() object {
	w := &scribe{plan: s.plan, composed: true}
	w.name("reference")
	w.defs = object{{"reference", object{{"type", "string"}, {"pattern", "^†"}, {"description", "an expression over what is there or what a call writes: †state.path"}}}}

	properties, required := object{}, []any{"calls"}
	if len(s.advisors) > 0 {
		opinions := make([]any, len(s.advisors))
		for i, advisor := range s.advisors {
			opinions[i] = s.opinion(w, advisor)
		}
		properties = append(properties, member{"advisors", listOf(opinions)})
		required = []any{"advisors", "calls"}
	}
	if slices.ContainsFunc(s.messages(), func(m *source.Node) bool { return messageType(m) == "meta" }) {
		properties = append(properties, member{"meta", object{{"type", "object"}}})
	}
	properties = append(properties, member{"calls", s.callsSchema(w)}, member{"output", s.outputSchema(w)})
	return object{{"type", "object"}, {"properties", properties}, {"required", required}, {"additionalProperties", false}, {"$defs", w.defs}}
}

// listOf is the schema of a list of any of several things.
func listOf(kinds []any) object {
	return object{{"type", "array"}, {"items", object{{"anyOf", kinds}}}}
}

// callsSchema admits calls of the tools that there are. Where no tool is declared
// they aren't judged (S1.10).
func (s situation) callsSchema(w *scribe) object {
	switch {
	case !s.plan.ToolsDeclared:
		return listOf([]any{object{{"type", "object"}, {"properties", object{{"_tool", anyText}}}, {"required", []any{"_tool"}}}})
	case len(s.plan.Tools) == 0:
		return object{{"type", "array"}, {"maxItems", 0}}
	}
	used := s.metaKeysInUse()
	branches := make([]any, len(s.plan.Tools))
	for i, tool := range s.plan.Tools {
		branches[i] = s.callSchema(w, tool, used)
	}
	return listOf(branches)
}

func (s situation) outputSchema(w *scribe) any {
	n := s.plan.Root.Get("outputSchema")
	if s.plan.Form != compiler.PlanFile || s.plan.OutputSchema == nil || n == nil {
		return object{}
	}
	return or(w.either(unit{root: n}, n, 0), object{{"type", "null"}})
}

var anyText = object{{"type", "string"}}

// metaKeys are the keys of a call that a model may write where there is a reason
// to: its tool speaks of it, or the plan that is carried uses it, which a solution
// must be able to repeat.
var metaKeys = object{
	{"_activity", anyText},
	{"_delegate", anyText},
	{"_scopes", object{{"type", "array"}, {"items", anyText}}},
	{"_id", anyText},
	{"_when", object{{"anyOf", []any{object{{"type", "boolean"}}, aReference}}}},
	{"_after", object{{"anyOf", []any{anyText, object{{"type", "array"}, {"items", anyText}}}}}},
	{"_retry", object{{"type", "object"}, {"properties", object{{"attempts", object{{"type", "integer"}}}, {"backoff", anyText}}}}},
	{"_timeout", anyText},
}

func (s situation) metaKeysInUse() map[string]bool {
	used := map[string]bool{}
	for _, one := range s.carried {
		for _, f := range one.call.Fields {
			used[f.Key.Text] = true
		}
	}
	return used
}

// callSchema is the schema of a call of one tool.
func (s situation) callSchema(w *scribe, tool *compiler.Tool, used map[string]bool) object {
	in := parametersOf(tool)
	u := unit{root: in}
	properties := object{{"_tool", object{{"const", tool.Name}}}, {"_reasoningForCall", w.metaField(tool, "_reasoningForCall", anyText)}}
	if len(s.instances) > 0 {
		properties = append(properties, member{"_instance", w.metaField(tool, "_instance", s.instanceID(w))})
	}
	for _, f := range parameterFields(in) {
		properties = append(properties, member{f.Key.Text, w.parameter(u, f.Value)})
	}
	for _, m := range metaKeys {
		if chosen := w.metaField(tool, m.key, nil); chosen != nil || used[m.key] {
			properties = append(properties, member{m.key, w.metaField(tool, m.key, m.value)})
		}
	}
	methods := object{{"enum", []any{"set", "merge", "assign", "push", "concat"}}}
	properties = append(properties, member{"_outputPath", w.metaField(tool, "_outputPath", anyText)}, member{"_outputMethod", w.metaField(tool, "_outputMethod", methods)})
	if tool.Latent && !s.lazy() {
		properties = append(properties, member{"_output", w.outputOf(tool)})
	}

	required := []any{"_tool"}
	for _, name := range requiredBy(in) {
		if name != "_tool" && properties.has(name) {
			required = append(required, name)
		}
	}
	out := object{{"type", "object"}, {"properties", properties}, {"required", required}}
	return w.furtherParameters(out, u, tool)
}

// furtherParameters says which parameters a call may have besides those that are
// listed. A tool that describes parameters elsewhere than under its "properties"
// is left to the check of each call.
func (w *scribe) furtherParameters(out object, u unit, tool *compiler.Tool) object {
	elsewhere := []string{"$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "if", "dependentSchemas", "dependencies", "patternProperties"}
	more := u.root.Get("additionalProperties")
	switch {
	case slices.ContainsFunc(elsewhere, func(key string) bool { return u.root.Get(key) != nil }):
		return out
	case !tool.Open:
		return append(out, member{"additionalProperties", false})
	case more.Kind == source.Object:
		return append(out, member{"additionalProperties", w.either(u, more, 0)})
	}
	return out
}

// fewInstances is how many ids are written out wherever an instance is named; more
// of them stand once, among the definitions.
const fewInstances = 20

// instanceID is the schema of what names an instance.
func (s situation) instanceID(w *scribe) object {
	if len(s.instances) == 0 {
		return anyText
	}
	if w.instances == nil {
		ids := make([]any, len(s.instances))
		for i, one := range s.instances {
			ids[i] = one.id
		}
		w.instances = object{{"enum", ids}}
		if len(ids) > fewInstances {
			name := w.name("instance")
			w.defs = append(w.defs, member{name, w.instances})
			w.instances = object{{"$ref", "#/$defs/" + name}}
		}
	}
	return w.instances
}

// opinion is the schema of what one advisor says (S13.2).
func (s situation) opinion(w *scribe, advisor *compiler.Advisor) object {
	properties, required := object{{"id", object{{"const", advisor.ID}}}}, []any{"id"}
	if advisor.Instanced {
		properties, required = append(properties, member{"_instance", s.instanceID(w)}), append(required, "_instance")
	}
	out := object{{"type", "object"}}
	own := advisor.Node.Get("schema")
	u := unit{root: own}
	if to, ok := w.target(u, textOf(own.Get("$ref"))); ok {
		own, u = to.node, to.unit
	}
	if own != nil {
		for _, f := range own.Fields {
			switch key := f.Key.Text; key {
			case "properties":
				for _, p := range f.Value.Fields {
					if !properties.has(p.Key.Text) && p.Key.Text != "calls" {
						properties = append(properties, member{p.Key.Text, w.schema(u, p.Value, false, 0)})
					}
				}
			case "required":
				for _, name := range requiredBy(own) {
					if name != "calls" && !slices.Contains(required, any(name)) {
						required = append(required, name)
					}
				}
			case "type", "additionalProperties", "unevaluatedProperties", "propertyNames", "minProperties", "maxProperties", "$ref":
				// the opinion has members that the schema doesn't speak of
			default:
				out = w.keyword(out, u, own, f, false, 0)
			}
		}
	}
	properties = append(properties, member{"calls", object{{"type", "string"}, {"description", "JSON: {tool: weight}; a tool without a weight is left to others"}}})
	return append(out, member{"properties", properties}, member{"required", append(required, "calls")})
}

// toolShown is a tool's definition as a model sees it (S2.7), in the protocol's
// own form whatever it was written in.
func (s situation) toolShown(tool *compiler.Tool) object {
	w := &scribe{plan: s.plan}
	in := parametersOf(tool)
	u := unit{root: in}
	var out object
	if tool.Description != "" {
		out = object{{"description", tool.Description}}
	}
	properties := s.propertiesShown(w, tool)
	for _, f := range in.Fields {
		switch key := f.Key.Text; {
		case strings.HasPrefix(key, "_"), key == "description" && tool.Description != "", slices.Contains([]string{"name", "annotations", "examples", "inputSchema", "outputSchema"}, key):
		case key == "properties":
			out = append(out, member{key, properties})
		case key == "required":
			required := []any{}
			for _, name := range requiredBy(in) {
				if !strings.HasPrefix(name, "_") || properties.has(name) {
					required = append(required, name)
				}
			}
			if len(required) > 0 {
				out = append(out, member{key, required})
			}
		default:
			out = w.keyword(out, u, in, f, false, 0)
		}
	}
	if !out.has("properties") {
		out = append(out, member{"properties", properties})
	}
	if hints := tool.Node.Get("annotations"); hints != nil {
		out = append(out, member{"annotations", written(hints)})
	}
	if len(w.defs) > 0 {
		out = append(out, member{"$defs", w.defs})
	}
	return out
}

func (s situation) propertiesShown(w *scribe, tool *compiler.Tool) object {
	in := parametersOf(tool)
	properties := object{{"_reasoningForCall", w.metaField(tool, "_reasoningForCall", anyText)}}
	for _, f := range parameterFields(in) {
		properties = append(properties, member{f.Key.Text, w.schema(unit{root: in}, f.Value, false, 0)})
	}
	for _, key := range []string{"_instance", "_activity", "_delegate", "_scopes", "_outputPath", "_outputMethod"} {
		if fixed := w.metaField(tool, key, nil); fixed != nil {
			properties = append(properties, member{key, fixed})
		}
	}
	if tool.Latent && tool.OutputNode != nil {
		properties = append(properties, member{"_output", w.outputOf(tool)})
	}
	return properties
}

// parametersOf is where a tool describes its parameters: MCP's form has a place
// of its own for that.
func parametersOf(tool *compiler.Tool) *source.Node {
	if in := tool.Node.Get("inputSchema"); in != nil {
		return in
	}
	return tool.Node
}

// parameterFields are the parameters that a tool lists, in its order.
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

func (o object) has(key string) bool {
	return slices.ContainsFunc(o, func(m member) bool { return m.key == key })
}

// metaField is what a tool says of one of a call's meta-fields (S2.1), among its
// properties or beside them; or else what otherwise holds. Which activity or
// delegate carries a tool out, if the tool fixes it, is no matter of a model's.
func (w *scribe) metaField(tool *compiler.Tool, key string, otherwise any) any {
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
		return object{{"const", n.Text}}
	case n.Kind == source.Object:
		return w.schema(unit{root: in}, n, false, 0)
	}
	return otherwise
}

// outputOf is the schema of what a latent call gives.
func (w *scribe) outputOf(tool *compiler.Tool) any {
	if tool.OutputNode == nil {
		return object{}
	}
	return w.schema(outputUnit(tool), tool.OutputNode, false, 0)
}

// outputUnit is what references in a tool's "_output" are relative to: itself,
// with the definitions of the tool around it.
func outputUnit(tool *compiler.Tool) unit {
	return unit{root: tool.OutputNode, around: parametersOf(tool)}
}
