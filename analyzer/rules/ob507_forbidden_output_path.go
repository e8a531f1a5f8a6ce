package rules

import (
	"strings"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

var _ = Register(Rule{Call: forbiddenOutputPath}.As("OB507", "forbidden-output-path", diag.Error))

// forbiddenOutputPath reports output paths that the tool's own schema doesn't allow, however they are spelt.
func forbiddenOutputPath(p *Pass, call *plan.Call) {
	if call.Tool == nil || call.Tool.OutputPath == nil || call.Tool.OutputPath.Compile() != nil {
		return
	}
	n := call.Node.Get("_outputPath")
	if n == nil || n.Kind != source.String || len(call.Output) == 0 || allowsPath(p, call, n.Text) {
		return
	}
	why := "its schema refuses it"
	if v := call.Tool.OutputPath.Validate(n.Text); v != nil {
		why = v.Message
	}
	p.ReportCall(call, n.Span(), "%q doesn't let its result go to %q: %s", call.ToolName, n.Text, why).
		Advise(
			"write it where the tool's \"_outputPath\" allows, or leave \"_outputPath\" out where the tool fixes one").
		Note(call.Tool.NameNode.Span(), "%q is declared here", call.ToolName)
}

// allowsPath reports whether a tool's schema accepts an output path, as it is
// written, in its canonical form, or each of its paths by itself.
func allowsPath(p *Pass, call *plan.Call, text string) bool {
	s := call.Tool.OutputPath
	accepts := func(text string) bool {
		bare := strings.ReplaceAll(text, string(expression.Mark), "")
		return s.Accepts(text) || s.Accepts(bare) || s.Accepts(strings.ReplaceAll(bare, "state.", ""))
	}
	if accepts(text) || accepts(strings.Join(compiler.Offered(p.Plan, call), " || ")) {
		return true
	}
	for _, path := range call.Paths() {
		if !accepts(p.Path(path.ID)) {
			return false
		}
	}
	return true
}
