package analyzer

import (
	"fmt"

	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/analyzer/rules"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/label"
	"github.com/obelus-dev/obelus/compiler/policy"
)

var _ = rules.Register(Rule{
	Rule:  &diag.Rule{Code: "OB701", Name: "untrusted-to-sink", Default: diag.Error},
	Needs: diag.Reads | diag.Writes | diag.Order | diag.Tools,
	Run:   func(p *Pass) { forbiddenFlows(p, policy.Integrity) },
})

// labels are those of the plan; nil where it stands under no policy.
func labels(p *Pass) *label.Labels {
	known := analysis.Kept[*label.Labels](p.Store)
	if *known == nil {
		*known = label.Of(p.Plan)
	}
	return *known
}

// forbiddenFlows reports the flows that the policies forbid in a respect.
func forbiddenFlows(p *Pass, in policy.Respect) {
	if len(p.Plan.Policies) == 0 {
		return
	}
	labels := labels(p)
	if labels == nil || !p.Screens && !p.Plan.Graph.Acyclic() {
		return
	}
	for i := range labels.Flows {
		if f := &labels.Flows[i]; f.Respect == in {
			reportFlow(p, f)
		}
	}
}

// A Way is the evidence of a forbidden flow: how it goes from the source to the sink.
type Way struct {
	Way []label.Hop `json:"way"`
}

func reportFlow(p *Pass, f *label.Flow) {
	at, sink := f.At, fmt.Sprintf("%q of %q", f.Parameter, f.Call.Name)
	switch f.Parameter {
	case "":
		sink = fmt.Sprintf("%q", f.Call.Name)
	case label.Context:
		sink = fmt.Sprintf("what %q is shown", f.Call.Name)
	}
	if f.Of != f.Call {
		at = f.Of.ToolNode.Span()
		sink += " in the plan that " + fmt.Sprintf("%q", f.Of.Name) + " runs"
	}
	is, most := f.Respect.Word(f.Is), f.Respect.Word(f.Most)
	why := "nothing lets what is secret leave"
	if f.Rule != nil {
		why = fmt.Sprintf("the rule %q", f.Rule.Name)
	}
	var d *diag.Diagnostic
	if f.Control {
		d = p.Report(at, "something %s decides whether %s runs, which accepts at most %s data: %s", is, sink, most, why)
		if !f.Strict {
			d.As(diag.Warning)
		}
	} else {
		d = p.Report(at, "%s reaches %s, which accepts at most %s data: %s", is, sink, most, why)
	}
	d.About(f.Of.Label())
	if f.Respect == policy.Integrity {
		d.Advise(
			"take it from a trusted source, or endorse it in the policy: as a boolean, a bounded number or one " +
				"of some values, or by a person")
	} else {
		d.Advise("leave it out, or allow %s data for the parameter in a policy", is)
	}
	if f.Rule != nil {
		d.Note(f.Rule.Node.Span(), "the rule")
	}
	if f.Of != f.Call && f.At.Known() {
		d.Note(f.At, "it is used here")
	}
	for _, hop := range f.Way {
		if !hop.Span.Known() { // it stands there from the start
			hop.Span = at
		}
		d.Note(hop.Span, "%s", hop.Words)
	}
	d.Witness = Way{f.Way}
}
