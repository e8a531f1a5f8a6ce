package analysis

import (
	"maps"
	"slices"

	"github.com/obelus-dev/obelus/compiler/bind"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
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
	return bind.WithDelegates(p, with)
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
