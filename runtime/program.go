package runtime

import (
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// A program is a plan with what all who run it share: many instances run one
// plan, and each keeps only its own state (S12.4).
type program struct {
	plan          *compiler.Plan
	paths         *pathtree.Tree
	schemas       map[pathtree.ID]*schema.Schema // what the state schema says of a path; nil for nothing
	written       []PathSet                      // by path, made when first asked for: the written paths that overlap it
	before        *marks                         // the paths that earlier ticks may have written; nil without a planner
	tick          int
	settled       bool // the plan is whole, so that its graph gives every call its place
	inconsistency *string
	byTime        bool // messages count in the order of their writing: a rehearsal of a plan whose writes conflict
}

// PathSet is the written paths that overlap a path.
type PathSet struct {
	known        bool
	above, below []pathtree.ID // above: from the kind down, the path itself last; below: in order of id
}

func (p *program) isWritten(id pathtree.ID) bool {
	return p.plan.Written(id) || p.before.has(id)
}

// marks are a set of paths that only grows.
type marks []bool

func (m *marks) add(id pathtree.ID) {
	if missing := int(id) + 1 - len(*m); missing > 0 {
		*m = append(*m, make(marks, missing)...)
	}
	(*m)[id] = true
}

func (m *marks) has(id pathtree.ID) bool { return m != nil && int(id) < len(*m) && (*m)[id] }

// overlapping is which paths that the plan may write overlap a path.
func (p *program) overlapping(id pathtree.ID) *PathSet {
	if n := p.paths.Len(); len(p.written) < n {
		p.written = slices.Grow(p.written, n-len(p.written))[:n]
	}
	set := &p.written[id]
	if set.known {
		return set
	}
	set.known = true
	for up := id; up > pathtree.Root; up = p.paths.Parent(up) {
		if p.isWritten(up) {
			set.above = append(set.above, up)
		}
	}
	slices.Reverse(set.above)
	p.paths.Below(id, func(below pathtree.ID) bool {
		if below != id && p.isWritten(below) {
			set.below = append(set.below, below)
		}
		return true
	})
	slices.Sort(set.below)
	return set
}

// schemaAt is what the state schema says of a path below †state; nil is
// nothing.
func (p *program) schemaAt(id pathtree.ID) *schema.Schema {
	if p.plan.StateSchema == nil || p.paths.Kind(id) != "state" {
		return nil
	}
	s, known := p.schemas[id]
	if !known {
		s = p.plan.StateSchema.At(compiler.SchemaPath(p.paths.Segments(id)[1:])).Schema
		if p.schemas == nil {
			p.schemas = map[pathtree.ID]*schema.Schema{}
		}
		p.schemas[id] = s
	}
	return s
}
