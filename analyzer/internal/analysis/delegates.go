package analysis

import (
	"maps"
	"slices"
	"sort"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/policy"
	"github.com/obelus-dev/obelus/compiler/source"
)

// Delegates are the plans below a plan, each checked once, without the settings of a workspace.
type Delegates struct {
	Judge func(*plan.Plan) DelegateJudgement
	Store Store // what rules keep of them
}

// A DelegateJudgement is what was found in a delegate, as [Judgement] has it.
type DelegateJudgement struct {
	Plan             *plan.Plan
	Sound            bool
	Errors, Findings []diag.Diagnostic
}

// WithOrder is a plan with the order that findings about its delegates speak of.
func (d *Delegates) WithOrder(p *plan.Plan) *plan.Plan {
	if p.Form == plan.Replan {
		return p
	}
	var with map[string]*plan.Plan
	for path, one := range p.Delegates {
		if judged := d.Judge(one).Plan; judged != one {
			if with == nil {
				with = maps.Clone(p.Delegates)
			}
			with[path] = judged
		}
	}
	if with == nil {
		return p
	}
	one := *p
	one.Delegates = with
	return &one
}

// A delegate has a state of its own: what its plan gives it, what its calls write, and what
// the scopes of the call hand over, and nothing else is there.

// neededState returns the reads of a plan's state that only its caller can provide and that calls require.
func neededState(d *plan.Plan) (needed []*plan.Read) {
	scopes := map[int]bool{} // missing values are left out
	for _, call := range d.Calls {
		for _, s := range call.Scopes {
			scopes[s.Read] = true
		}
	}
	for i := range d.Reads {
		r := &d.Reads[i]
		if scopes[i] || len(r.Writers) > 0 || !r.Ref.Required || r.Path == pathtree.Root || d.Paths.Depth(r.Path) < 2 ||
			d.Paths.Kind(r.Path) != "state" {
			continue
		}
		if _, own := d.Paths.Walk(d.State, r.Path); !own {
			needed = append(needed, r)
		}
	}
	return needed
}

// MissingState are the needed reads that a call doesn't provide.
func MissingState(p *Pass, call *plan.Call) (missing []*plan.Read) {
	d := p.Plan.Delegates[call.Delegate]
	if d == nil || p.Delegates == nil {
		return nil
	}
	for _, r := range Once(p.Delegates.Store, d, func() []*plan.Read { return neededState(d) }) {
		path := d.Paths.Segments(r.Path)
		if !slices.ContainsFunc(call.Scopes, func(s plan.Scope) bool {
			n := min(len(s.Ref.Path), len(path)-1)
			return s.Kind == "state" && slices.Equal(s.Ref.Path[:n], path[1:1+n])
		}) {
			missing = append(missing, r)
		}
	}
	return missing
}

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
		call := CallAt(p, d.Span.Start)
		if d.Rule.Hides&diag.Reads != 0 && (call == nil || Within(call.OutputNode, d.Span.Start)) {
			return d.Rule.Hides | diag.Writes // an output that can't be read may write anything
		}
		return d.Rule.Hides
	}
	return hiddenInDocument(p, d.Span.Start)
}

func Within(n *source.Node, offset int) bool {
	return n != nil && n.Start <= offset && offset < n.End
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
		if hides, known := hiddenBy[f.Key.Text]; known && Within(f.Value, offset) {
			if f.Key.Text == "tools" && f.Value.Kind == source.Object { // by name they are known, see Defines
				return 0
			}
			return hides
		}
	}
	return diag.Everything // an unknown key may be a misspelt one
}

// hiddenBy is what errors in a field of a document leave unknown.
var hiddenBy = map[string]diag.Facts{
	"input": diag.Input, "inputSchema": diag.Input, "state": diag.State, "stateSchema": diag.State,
	"output": diag.Reads, "activities": diag.Tools, "import": diag.Tools, "tools": diag.Tools,
	"plan": 0, "version": 0, "description": 0, "outputSchema": 0, "mode": 0, "terminate": 0, "limits": 0,
	"servers": 0, "advisors": 0, "advice": 0,
}
