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
	upTo          int  // the calls before it are in what is known of written paths
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

// takeUp puts what the plan's latest calls may write to what is known of written paths:
// a plan that arrives gets further ones.
func (p *program) takeUp() {
	if p.settled {
		return
	}
	for ; p.upTo < len(p.plan.Calls); p.upTo++ {
		for _, route := range p.plan.Calls[p.upTo].Output {
			for _, path := range route {
				p.takeUpPath(path.ID)
			}
		}
	}
}

func (p *program) takeUpPath(id pathtree.ID) {
	known := func(at pathtree.ID) *PathSet {
		if int(at) < len(p.written) && p.written[at].known {
			return &p.written[at]
		}
		return nil
	}
	for up := p.paths.Parent(id); up > pathtree.Root; up = p.paths.Parent(up) {
		if set := known(up); set != nil {
			if at, there := slices.BinarySearch(set.below, id); !there {
				set.below = slices.Insert(set.below, at, id)
			}
		}
	}
	depth := p.paths.Depth(id)
	p.paths.Below(id, func(below pathtree.ID) bool {
		if set := known(below); set != nil && !slices.Contains(set.above, id) {
			at, _ := slices.BinarySearchFunc(set.above, depth, func(above pathtree.ID, depth int) int { return p.paths.Depth(above) - depth })
			set.above = slices.Insert(set.above, at, id)
		}
		return true
	})
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
