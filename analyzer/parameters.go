package analyzer

import (
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/wording"
)

// Parameters are what a tool's schema says of its parameters, or a delegate's of
// its input, worked out once for all calls.
type parameters struct {
	taker    string // what to call it
	which    string // "tool" or "delegate"
	tool     *plan.Tool
	schema   *schema.Schema
	required []string
	ignored  []string // that no call can give: keys that begin with "x-"
	open     bool     // it allows parameters that it doesn't name, and says so
	places   map[string]schema.Place
	list     []*parameters           // see alone
	declared *declaration            // see names
	bounds   map[string]*source.Node // of what a policy says of a tool: where it does, by parameter
}

// parametersOf is nil for a tool whose parameters aren't known.
func parametersOf(p *Pass, tool *plan.Tool) *parameters {
	if tool == nil || tool.Parameters == nil || tool.Parameters.Compile() != nil {
		return nil
	}
	return once(p.shared, tool, func() *parameters {
		return &parameters{
			taker: quote(tool.Name), which: "tool", tool: tool,
			schema: tool.Parameters, open: tool.Open, places: map[string]schema.Place{},
			ignored:  slices.DeleteFunc(tool.Parameters.Properties(), func(name string) bool { return !strings.HasPrefix(name, "x-") }),
			required: slices.DeleteFunc(tool.Parameters.Required(), func(name string) bool { return tool.Given[name] != nil }),
		}
	})
}

// takers are what takes the parameters of a call: its tool, and the plan that is run as the call. Where that plan is
// all that is known of the tool, it speaks for both.
func takers(p *Pass, call *plan.Call) []*parameters {
	known := parametersOf(p, call.Tool)
	if call.Plan() == "" {
		return known.alone()
	}
	var takers []*parameters
	face := compiler.Interface(p.Plan.Delegates[call.Plan()])
	if known != nil && (face == nil || call.Tool.Parameters != face.Parameters) {
		takers = append(takers, known)
	}
	if known := parametersOf(p, face); known != nil {
		known.taker, known.which = "the delegate "+quote(face.Name), "delegate"
		takers = append(takers, known)
	}
	return takers
}

// alone is a list of nothing else; it is made once.
func (t *parameters) alone() []*parameters {
	if t == nil {
		return nil
	}
	if t.list == nil {
		t.list = []*parameters{t}
	}
	return t.list
}

func (t *parameters) place(name string) schema.Place {
	return flow.Once(t.places, name, func() schema.Place { return t.schema.At([]schema.Step{schema.Key(name)}) })
}

// combining are the keywords by which a schema judges parameters beside each other.
var combining = []string{
	"if", "allOf", "anyOf", "oneOf", "not", "$ref", "const", "enum", "dependencies", "dependentRequired",
	"dependentSchemas", "minProperties", "maxProperties", "propertyNames", "unevaluatedProperties",
}

// combines reports whether the schema judges parameters beside each other.
func (t *parameters) combines() bool {
	raw, _ := t.schema.Raw().(map[string]any)
	return slices.ContainsFunc(combining, func(keyword string) bool { return raw[keyword] != nil })
}

// names suggests among the tool's parameters.
func (t *parameters) names() *declaration {
	if t.declared == nil {
		names := t.schema.Properties()
		t.declared = &declaration{naming.NewSuggester(names), wording.Names(names, maxNamed)}
	}
	return t.declared
}

// unknown reports whether the schema neither names a parameter nor says itself that there may be others.
func (t *parameters) unknown(name string) bool {
	at := t.place(name)
	return !at.Named && !(at.Possible && (t.open || at.Open))
}

// declares reports whether the schema names a parameter.
func (t *parameters) declares(name string) bool { return slices.Contains(t.schema.Properties(), name) }

func passes(call *plan.Call, name string) bool {
	return slices.ContainsFunc(call.Params.Fields, func(f plan.TemplateField) bool { return f.Key == name })
}

// node is where a parameter is declared, or a policy says what it may be.
func (t *parameters) node(name string) *source.Node {
	if n := t.bounds[name]; n != nil || t.tool == nil {
		return n
	}
	return parameterNode(t.tool, name)
}

// verb says what is done with a parameter there.
func (t *parameters) verb() string {
	if t.bounds != nil {
		return "bounded"
	}
	return "declared"
}

// parameterNode is where a tool's own text declares a parameter.
func parameterNode(tool *plan.Tool, name string) *source.Node {
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
