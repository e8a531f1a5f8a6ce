package analyzer

import (
	"slices"

	"github.com/obelus-dev/obelus/compiler"
)

// certain tells for every call whether it runs in every run in which nothing
// fails: it has no condition, and what it can't do without is there from the
// start or written by such calls alone, at whichever alternative they take.
func (p *Pass) certain() []bool {
	t := p.flowing()
	if t.certain != nil {
		return t.certain
	}
	t.certain = make([]bool, len(p.Plan.Calls))
	for _, i := range p.Plan.Graph.Order() {
		call := p.Plan.Calls[i]
		t.certain[i] = call.When == nil && p.Plan.Writes != compiler.Once && !slices.ContainsFunc(call.Reads, func(r int) bool {
			return !p.surelyThere(&p.Plan.Reads[r])
		})
	}
	return t.certain
}

// surelyThere tells whether a read can be counted on in every run in which
// nothing fails.
func (p *Pass) surelyThere(r *compiler.Read) bool {
	if !r.Ref.Required || r.Start {
		return true
	}
	if len(r.Writers) == 0 {
		return true // the input, or what nobody says anything of
	}
	return slices.ContainsFunc(r.Writers, func(w int32) bool {
		return p.flows.certain[w] && !p.mayGoElsewhere(int(w), r.Path)
	})
}

// mayGoElsewhere tells whether a call has an alternative that doesn't write
// where a read looks.
func (p *Pass) mayGoElsewhere(call int, id compiler.PathID) bool {
	return slices.ContainsFunc(p.Plan.Calls[call].Output, func(route compiler.Route) bool {
		return !slices.ContainsFunc(route, func(path compiler.Path) bool { return p.Plan.Paths.Overlap(path.ID, id) })
	})
}

// canMeet tells whether, as far as is easily seen, a call may run in a run in
// which another one has written a path that it reads: nothing else that it needs
// might exclude the other.
func (p *Pass) canMeet(reader, writer *compiler.Call, id compiler.PathID) bool {
	certain := p.certain()
	if certain[writer.Index] {
		return true
	}
	return reader.When == nil && !slices.ContainsFunc(reader.Reads, func(i int) bool {
		r := &p.Plan.Reads[i]
		return r.Path != id && !p.surelyThere(r)
	})
}
