package analysis

import (
	"slices"
	"sort"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/policy"
	"github.com/obelus-dev/obelus/compiler/source"
)

// UnknownFacts returns the facts that errors of the compiler hide, by the parts of the document with errors. Rules
// don't conclude anything from hidden facts, since the finding would only repeat the fault.
func UnknownFacts(p *plan.Plan, found []diag.Diagnostic) diag.Facts {
	var unknown diag.Facts
	for i := range found {
		if d := &found[i]; d.Severity == diag.Error {
			if unknown |= hidden(p, d); unknown == diag.Everything {
				break
			}
		}
	}
	return unknown
}

// hidden is what one error leaves unknown.
func hidden(p *plan.Plan, d *diag.Diagnostic) diag.Facts {
	switch {
	case d.Rule.Hides == 0, d.Rule.Hides == diag.Everything:
		return d.Rule.Hides
	case slices.ContainsFunc(p.Policies, func(policy *policy.Policy) bool { return policy.File == d.Span.File }):
		return 0
	case d.Span.File != p.File:
		return diag.Tools
	case Within(p.CallsNode, d.Span.Start):
		return hiddenInCall(p, d)
	}
	return hiddenInDocument(p, d.Span.Start)
}

func Within(n *source.Node, offset int) bool {
	return n != nil && n.Start <= offset && offset < n.End
}

func hiddenInCall(p *plan.Plan, d *diag.Diagnostic) diag.Facts {
	hides := d.Rule.Hides
	if hides&diag.Reads != 0 { // an output that can't be read may write anything
		if call := CallAt(p, d.Span.Start); call == nil || Within(call.OutputNode, d.Span.Start) {
			hides |= diag.Writes
		}
	}
	return hides
}

// CallAt is the call whose text contains an offset, or nil. Calls are in the order of the text unless
// aliases repeat them.
func CallAt(p *plan.Plan, offset int) *plan.Call {
	at := sort.Search(len(p.Calls), func(i int) bool { return p.Calls[i].Node.Start > offset }) - 1
	if at >= 0 && Within(p.Calls[at].Node, offset) {
		return p.Calls[at]
	}
	return nil
}

func hiddenInDocument(p *plan.Plan, offset int) diag.Facts {
	if p.Root.Kind != source.Object || p.Form == plan.ProcessRecord {
		return diag.Everything
	}
	for _, f := range p.Root.Fields {
		if Within(f.Value, offset) {
			return hiddenInField(f)
		}
	}
	return diag.Everything // an unknown key may be a misspelt one
}

func hiddenInField(f source.Field) diag.Facts {
	switch f.Key.Text {
	case "input", "inputSchema":
		return diag.Input
	case "state", "stateSchema":
		return diag.State
	case "output":
		return diag.Reads
	case "activities", "import":
		return diag.Tools
	case "tools":
		if f.Value.Kind != source.Object { // by name they are known, see defines
			return diag.Tools
		}
		return 0
	case "plan", "version", "description", "outputSchema", "mode", "terminate", "limits", "servers", "advisors", "advice":
		return 0
	}
	return diag.Everything
}
