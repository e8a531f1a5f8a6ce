package rules

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/effects"
	"github.com/obelus-dev/obelus/compiler/plan"
)

var _ = Register(Rule{Scope: idle, Needs: diag.Order | diag.Writes, Run: redundantCalls}.
	As("OB304", "redundant-call", diag.Info))

// redundantCalls reports calls that ask a read-only tool again for what another call has already asked it: the same
// parameters, of reads with the same bindings.
func redundantCalls(p *Pass) {
	first := map[string]*plan.Call{}
	for _, call := range p.Plan.Calls {
		tool := call.Tool
		if tool == nil || tool.Volatile || tool.Hints.ReadOnly == nil ||
			effects.Declared(p.Plan, call).Kind != effects.ReadOnly || call.Produced != nil || call.Method != plan.Set {
			continue
		}
		var b strings.Builder
		fmt.Fprintf(&b, "%q %q %q ", call.ToolName, call.Activity, call.Delegate)
		for _, f := range slices.SortedStableFunc(slices.Values(call.Params.Fields),
			func(x, y plan.TemplateField) int { return strings.Compare(x.Key, y.Key) }) {
			b.WriteString(strconv.Quote(f.Key))
			Fingerprint(p, &b, f.Value)
		}
		for _, s := range call.Scopes { // what context it is handed
			fmt.Fprint(&b, " ", p.Plan.Reads[s.Read].Path, p.Plan.Reads[s.Read].Writers)
		}
		if call.When != nil {
			Fingerprint(p, &b, call.When)
		}
		if call.Each != nil {
			Fingerprint(p, &b, call.Each.List)
		}
		key := b.String()
		earlier, again := first[key]
		if !again {
			first[key] = call
			continue
		}
		f := p.ReportCall(call, call.ToolNode.Span(), "%q calls %q with the same parameters as %q", call.Name,
			call.ToolName, earlier.Name).
			Note(earlier.ToolNode.Span(), "%q is here", earlier.Name)
		if len(earlier.Output) > 0 {
			f.Advise("read %q instead; if the tool's answers change, declare x-volatile: true",
				p.Path(earlier.Output[0][0].ID))
		} else {
			f.Advise(
				"give the first an \"_outputPath\" and read that; if the tool's answers change, declare " +
					"x-volatile: true")
		}
	}
}

// Fingerprint writes what a template passes: two with the same fingerprint get the same value.
func Fingerprint(p *Pass, b *strings.Builder, t *plan.Template) {
	text, err := json.Marshal(t.Node.Value())
	if err != nil {
		text = fmt.Append(nil, t.Node.Start) // like no other
	}
	b.Write(text)
	var reads []string // in one order, whatever the order of the keys is
	for one := range t.Expressions() {
		for _, i := range one.Reads {
			reads = append(reads, fmt.Sprint(p.Plan.Reads[i].Path, p.Plan.Reads[i].Writers))
		}
	}
	slices.Sort(reads)
	fmt.Fprint(b, reads)
}
