package state

import (
	"slices"

	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// A Layout is what a log has to know of the plan whose calls write: which paths they
// may write, and where their messages count.
type Layout struct {
	Plan          *plan.Plan
	Paths         *pathtree.Tree // the plan's, and perhaps more
	Before        *Marks         // the paths that earlier ticks may have written; nil without a planner
	Tick          int
	Settled       bool    // the plan is whole, so that its graph gives every call its place
	ByTime        bool    // messages count in the order of their writing: a simulation of a plan whose writes conflict
	Inconsistency *string // set where the log can't be what calls wrote

	written []PathSet // by path, made when first asked for: the written paths that overlap it
}

// A PathSet is the written paths that overlap a path.
type PathSet struct {
	known        int           // with so many calls of the plan, and one; a plan that arrives gets further ones
	Above, Below []pathtree.ID // Above: from the kind down, the path itself last; Below: in order of id
}

// IsWritten reports whether a message may be written to exactly a path.
func (p *Layout) IsWritten(id pathtree.ID) bool {
	return len(p.Plan.WritersAt(id)) > 0 || p.Before.has(id)
}

// Marks are a set of paths that only grows.
type Marks []bool

// Add puts a path into the set.
func (m *Marks) Add(id pathtree.ID) {
	if missing := int(id) + 1 - len(*m); missing > 0 {
		*m = append(*m, make(Marks, missing)...)
	}
	(*m)[id] = true
}

func (m *Marks) has(id pathtree.ID) bool { return m != nil && int(id) < len(*m) && (*m)[id] }

// Overlapping is which paths that the plan may write overlap a path.
func (p *Layout) Overlapping(id pathtree.ID) *PathSet {
	if n := p.Paths.Len(); len(p.written) < n {
		p.written = slices.Grow(p.written, n-len(p.written))[:n]
	}
	set := &p.written[id]
	known := len(p.Plan.Calls) + 1
	if set.known == known {
		return set
	}
	*set = PathSet{known: known}
	for up := id; up > pathtree.Root; up = p.Paths.Parent(up) {
		if p.IsWritten(up) {
			set.Above = append(set.Above, up)
		}
	}
	slices.Reverse(set.Above)
	p.Paths.Below(id, func(below pathtree.ID) bool {
		if below != id && p.IsWritten(below) {
			set.Below = append(set.Below, below)
		}
		return true
	})
	slices.Sort(set.Below)
	return set
}

// Samples make up and judge the values of a sample run; a plan may describe only a part of them.
type Samples interface {
	// Read is the value of a read, by what it sees at a path.
	Read(p *plan.Plan, r *plan.Read, at func(pathtree.ID) (any, bool)) (value any, there bool)
	// Below is what is at a path in a value.
	Below(value any, path []expression.Segment) (any, bool)
	// Evaluate evaluates an expression of a plan by the values of its reads.
	Evaluate(p *plan.Plan, t *plan.Template, read expression.Lookup) (any, expression.Presence, *Failure)
	// Invalid says why a call can't start with some parameters, or nil.
	Invalid(call *plan.Call, params map[string]any) *Failure
	// Refuses says why a schema rejects a value whatever its unknown parts are, or nil.
	Refuses(s *schema.Schema, v any) *schema.Violation
	// Ends makes up how the activity of a call ends, and the alternative that its result takes, or -1.
	Ends(call *plan.Call, params map[string]any) (value any, route int, failure *Failure)
	// Unfit takes note of a value that a call can't write to a path.
	Unfit(call *plan.Call, path plan.Path, value any, why error, log *Log)
	// Settled takes note of how a call has ended; without a failure it is done or was skipped.
	Settled(call *plan.Call, done bool, failure *Failure)
}
