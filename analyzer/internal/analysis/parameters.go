package analysis

import (
	"maps"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

// Parameters are what a tool's schema says of its parameters, or a delegate's of
// its input, worked out once for all calls.
type Parameters struct {
	Taker    string // what to call it
	Which    string // "tool" or "delegate"
	Tool     *plan.Tool
	Schema   *schema.Schema
	Required []string
	Ignored  []string // that no call can give: keys that begin with "x-"
	Open     bool     // it allows parameters that it doesn't name, and says so
	Places   map[string]schema.Place
	declared *Declaration            // see Names
	Bounds   map[string]*source.Node // of what a policy says of a tool: where it does, by parameter
}

// ParametersOf is nil for a tool whose parameters aren't known.
func ParametersOf(p *Pass, tool *plan.Tool) *Parameters {
	if tool == nil || tool.Parameters == nil || tool.Parameters.Compile() != nil {
		return nil
	}
	return Once(p.Shared, tool, func() *Parameters {
		return &Parameters{
			Taker: Quote(tool.Name), Which: "tool", Tool: tool,
			Schema: tool.Parameters, Open: tool.Open, Places: map[string]schema.Place{},
			Ignored: slices.DeleteFunc(tool.Parameters.Properties(),
				func(name string) bool { return !strings.HasPrefix(name, "x-") }),
			Required: slices.DeleteFunc(tool.Parameters.Required(),
				func(name string) bool { return tool.Given[name] != nil }),
		}
	})
}

// Takers are what takes the parameters of a call: its tool, and the plan that is run as the call. Where that plan is
// all that is known of the tool, it speaks for both.
func Takers(p *Pass, call *plan.Call) []*Parameters {
	known := ParametersOf(p, call.Tool)
	var takers []*Parameters
	face := compiler.Interface(p.Plan.Delegates[call.Delegate])
	if known != nil && (face == nil || call.Tool.Parameters != face.Parameters) {
		takers = append(takers, known)
	}
	if known := ParametersOf(p, face); known != nil {
		known.Taker, known.Which = "the delegate "+Quote(face.Name), "delegate"
		takers = append(takers, known)
	}
	return takers
}

func (t *Parameters) Place(name string) schema.Place {
	return flow.Once(t.Places, name, func() schema.Place { return t.Schema.Part(name) })
}

// combining are the keywords by which a schema judges parameters beside each other.
var combining = []string{
	"if", "allOf", "anyOf", "oneOf", "not", "$ref", "const", "enum", "dependencies", "dependentRequired",
	"dependentSchemas", "minProperties", "maxProperties", "propertyNames", "unevaluatedProperties",
}

// Combines reports whether the schema judges parameters beside each other.
func (t *Parameters) Combines() bool {
	raw, _ := t.Schema.Raw().(map[string]any)
	return slices.ContainsFunc(combining, func(keyword string) bool { return raw[keyword] != nil })
}

// Names suggests among the tool's parameters.
func (t *Parameters) Names() *Declaration {
	if t.declared == nil {
		t.declared = newDeclaration(t.Schema.Properties())
	}
	return t.declared
}

// Unknown reports whether the schema neither names a parameter nor says itself that there may be others.
func (t *Parameters) Unknown(name string) bool {
	at := t.Place(name)
	return !at.Named && !(at.Possible && (t.Open || at.Open))
}

// Declares reports whether the schema names a parameter.
func (t *Parameters) Declares(name string) bool { return slices.Contains(t.Schema.Properties(), name) }

func Passes(call *plan.Call, name string) bool {
	return slices.ContainsFunc(call.Params.Fields, func(f plan.TemplateField) bool { return f.Key == name })
}

// Node is where a parameter is declared, or a policy says what it may be.
func (t *Parameters) Node(name string) *source.Node {
	if n := t.Bounds[name]; n != nil || t.Tool == nil {
		return n
	}
	return ParameterNode(t.Tool, name)
}

// Verb says what is done with a parameter there.
func (t *Parameters) Verb() string {
	if t.Bounds != nil {
		return "bounded"
	}
	return "declared"
}

// ParameterNode is where a tool's own text declares a parameter.
func ParameterNode(tool *plan.Tool, name string) *source.Node {
	if tool.Builtin {
		return nil
	}
	n := tool.Node
	if in := n.Get("inputSchema"); in != nil {
		n = in
	}
	if properties := n.Get("properties"); properties != nil {
		for _, f := range properties.Fields {
			if f.Key.Text == name {
				return f.Key
			}
		}
	}
	return nil
}

// Completed is what a call passes, laid over what is there anyway.
func (t *Parameters) Completed(passed any) any {
	own, ok := passed.(map[string]any)
	if !ok || len(t.Tool.Given) == 0 {
		return passed
	}
	all := maps.Clone(t.Tool.Given)
	maps.Copy(all, own)
	return all
}
