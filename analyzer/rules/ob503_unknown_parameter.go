package rules

import (
	"slices"

	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/decode"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

var _ = Register(Rule{Call: unknownParameters}.As("OB503", "unknown-parameter", diag.Error))

// unknownParameters reports parameters that the tool doesn't name, unless it
// says itself that it takes others (additionalProperties).
func unknownParameters(p *Pass, call *plan.Call) {
	unknown := map[*source.Node]bool{}
	for _, known := range analysis.Takers(p, call) {
		for _, f := range call.Params.Fields {
			if !unknown[f.Node] && known.Unknown(f.Key) {
				unknown[f.Node] = true
				unknownParameter(p, call, known, f)
			}
		}
		for _, key := range known.Ignored {
			if f := call.Node.Field(key); f != nil && !unknown[f.Key] {
				unknown[f.Key] = true
				p.ReportCall(call, f.Key.Span(),
					"%s has a parameter %q, and doesn't receive it: keys that begin with \"x-\" are ignored",
					known.Taker, key).
					Advise("give the parameter another name")
			}
		}
	}
}

func unknownParameter(p *Pass, call *plan.Call, known *parameters, f plan.TemplateField) {
	found := p.ReportCall(call, f.Node.Span(), "%s has no parameter %q", known.Taker, f.Key)
	if near, ok := known.Names().Nearest(f.Key); ok && !analysis.Passes(call, near) {
		found.Advise("did you mean %q?", near)
		rival := slices.ContainsFunc(call.Params.Fields, func(other plan.TemplateField) bool {
			suggested, _ := known.Names().Nearest(other.Key)
			return other.Node != f.Node && known.Unknown(other.Key) && suggested == near
		})
		found.Rename(f.Node, 0, len(f.Key), near, !rival &&
			compiler.Misspelt(p.Plan, f.Key, near, known.Names().Suggester, true))
	} else if known.Which == "tool" && known.Tool.Node.Get(f.Key).IsMapping() {
		found.Advise("declare parameters under \"properties\" of the tool: put %q there", f.Key)
	} else if _, ok := decode.Foreign(f.Key, []string{"input"}); ok && call.Node.Get(f.Key).IsMapping() {
		found.Advise("write the parameters beside \"_tool\"")
	} else if meta, ok := compiler.MetaForeign(f.Key); ok {
		found.Advise("did you mean %q? a call's own keys begin with _", meta)
	} else if list := known.Names().List; list != "" {
		found.Advise("its parameters are %s", list)
	} else {
		found.Advise("it has no parameters: declare them as \"properties\", or additionalProperties: true")
	}
	found.Note(known.Tool.NameNode.Span(), "%q is declared here", call.ToolName)
}
