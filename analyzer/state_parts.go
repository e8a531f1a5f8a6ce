package analyzer

import (
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
)

// missingParts reports writes of a part of an object in which the state schema
// requires another part that nothing ever writes: the state doesn't fit its
// schema from then on. Of the state as a whole that is said where a run begins.
func (p *Pass) missingParts() {
	if p.gaps.writes {
		return
	}
	paths, told := p.Plan.Paths, map[compiler.PathID]bool{}
	for _, call := range p.Plan.Calls {
		for _, route := range call.Output {
			for _, path := range route {
				for whole := paths.Parent(path.ID); paths.Depth(whole) > 1 && !told[whole]; whole = paths.Parent(whole) {
					told[whole] = true
					s := p.stateAt(whole).Schema
					if s == nil {
						continue
					}
					for _, name := range s.Required() {
						if part := (expression.Segment{Key: name}); !p.comesInto(whole, part) {
							p.report(path.Span(), "this writes a part of %q, in which the state schema requires %q as well, and nothing writes that", p.path(whole), name).of(call).as(diag.Warning).
								help("write the whole of it, let a call write %q, or don't require it", name)
							break
						}
					}
				}
			}
		}
	}
}

// comesInto tells whether a part of an object in the state is there from the
// start, or some call writes it, more or less of it.
func (p *Pass) comesInto(whole compiler.PathID, part expression.Segment) bool {
	path := append(p.Plan.Paths.Segments(whole), part)[1:]
	if p.begins("state", path) {
		return true
	}
	if id, known := p.Plan.Paths.Lookup(whole, part); known {
		return len(p.Plan.Writers(id)) > 0
	}
	return slices.ContainsFunc(p.Plan.Writers(whole), func(w compiler.Writer) bool { return p.Plan.Paths.IsAbove(w.Path, whole) })
}
