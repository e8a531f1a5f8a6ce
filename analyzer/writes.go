package analyzer

import (
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// lostWrites reports values that are replaced before anything can read them: a
// later call, which waits for the earlier one, sets the same path or one above
// it, and every read that sees the earlier value sees the later one too.
func lostWrites(p *Pass) {
	if p.gaps.reads || p.gaps.order || p.Plan.Writes == compiler.Once {
		return
	}
	lost := map[int32]bool{}
	for _, later := range p.Plan.Calls {
		if len(later.Waits) == 0 || !sets(later) {
			continue
		}
		for _, i := range later.Waits[max(0, len(later.Waits)-nearWrites):] {
			earlier := p.Plan.Calls[i]
			if lost[i] || i > int32(later.Index) || !sets(earlier) || !p.replaces(later, earlier) || p.readBetween(earlier, later) || !p.alwaysWith(later, earlier) {
				continue
			}
			lost[i] = true
			path := earlier.Output[0][0]
			by := p.over(later, path)
			p.report(path.Span(), "the value that %q writes to %q is replaced by %q before anything reads it", earlier.Name, p.path(path.ID), later.Name).of(earlier).
				note(by.Span(), "%q writes %q here, after %q", later.Name, p.path(by.ID), earlier.Name).
				help("read the value in between, write one of the two to another path, or leave the first write out")
		}
	}
}

// nearWrites is how many of the writes that come before one are looked at, the
// nearest in the list: a value that survives those was meant to.
const nearWrites = 8

// sets tells whether a call's result, if it has one, is set at known paths.
func sets(c *compiler.Call) bool {
	return len(c.Output) == 1 && c.Method == compiler.Set && c.When == nil
}

// replaces tells whether everything that a call writes is overwritten by
// another one.
func (p *Pass) replaces(later, earlier *compiler.Call) bool {
	return !slices.ContainsFunc(earlier.Output[0], func(path compiler.Path) bool { return p.over(later, path).Node == nil })
}

// over is the path of a call's output that is, or stands above, another path;
// its Node is nil when there is none.
func (p *Pass) over(c *compiler.Call, lost compiler.Path) compiler.Path {
	for _, path := range c.Output[0] {
		if p.Plan.Paths.IsAbove(path.ID, lost.ID) {
			return path
		}
	}
	return compiler.Path{}
}

// readBetween tells whether a read sees what one call wrote but not what a later
// one did. Reads are bound by their place in the list, so those are the reads of
// calls listed between the two, the later one's own among them, and those
// listed before both that are bound to nothing earlier.
func (p *Pass) readBetween(earlier, later *compiler.Call) bool {
	found := false
	for _, path := range earlier.Output[0] {
		p.reading().overlapping(path.ID, func(calls []int32) bool {
			at, _ := slices.BinarySearch(calls, int32(earlier.Index)+1)
			found = at < len(calls) && calls[at] <= int32(later.Index)
			return !found
		})
	}
	return found
}

// rewrites reports, under once, calls that need a value at a path before they
// may write it: by then it is taken (S5.4, S5.5).
func rewrites(p *Pass) {
	if p.Plan.Writes != compiler.Once {
		return
	}
	for _, call := range p.Plan.Calls {
		failure := call.FailureRoute()
		for _, i := range call.Reads {
			r := &p.Plan.Reads[i]
			if !r.Ref.Required || len(r.Writers) == 0 && !r.Start {
				continue
			}
			if path, ok := p.claims(call, failure, r.Path); ok {
				p.report(r.Span(), "%q can't write %q: it first needs a value there, and under \"writes: once\" no path is written twice", call.Name, p.path(path.ID)).of(call).
					note(path.Span(), "it would write the path here").
					help("write the result to another path, or leave \"writes: once\" out")
				break
			}
		}
	}
}

// claims is the first path that a call writes, other than as its failure route,
// and that overlaps another.
func (p *Pass) claims(call *compiler.Call, failure int, id compiler.PathID) (compiler.Path, bool) {
	for i, route := range call.Output {
		for _, path := range route {
			if i != failure && p.Plan.Paths.Overlap(path.ID, id) {
				return path, true
			}
		}
	}
	return compiler.Path{}, false
}

// A holder is a call that sets a path to the result of a tool whose schema is
// known.
type holder struct {
	call        *compiler.Call
	alternative int
	path        compiler.Path
}

// maxHolders bounds how many differing schemas of one path are looked at.
const maxHolders = 8

// shapeConflicts reports writes for which there can be no place. One kind of them
// goes into a part that the whole can't have: one call sets a path to a value whose
// schema leaves no room for what another writes below it.
func shapeConflicts(p *Pass) {
	misplacedWrites(p)
	holders := p.holders()
	if len(holders) == 0 {
		return
	}
	paths := p.Plan.Paths
	for _, call := range p.Plan.Calls {
		for i, route := range call.Output {
			for _, path := range route {
				if i > 0 && slices.ContainsFunc(call.Output[:i], func(earlier compiler.Route) bool { return slices.Contains(earlier, path) }) {
					continue // one place of the text: a && (b || c) is a && b || a && c
				}
				for up := paths.Parent(path.ID); up > compiler.RootPath; up = paths.Parent(up) {
					p.shapeConflict(call, path, up, holders[up])
				}
			}
		}
	}
}

// holders are, for the paths below which something is written as well, the calls
// that set them.
func (p *Pass) holders() map[compiler.PathID][]holder {
	below := p.writtenBelow()
	holders := map[compiler.PathID][]holder{}
	for _, call := range p.Plan.Calls {
		if call.Method != compiler.Set || call.Tool == nil || call.Tool.Output == nil {
			continue
		}
		failure := call.FailureRoute()
		for i, route := range call.Output {
			if i == failure {
				continue
			}
			for _, path := range route {
				if len(below[path.ID]) == 0 {
					continue
				}
				list := holders[path.ID]
				if len(list) < maxHolders && !slices.ContainsFunc(list, func(h holder) bool { return h.call.Tool == call.Tool }) {
					holders[path.ID] = append(list, holder{call, i, path})
				}
			}
		}
	}
	return holders
}

func (p *Pass) shapeConflict(call *compiler.Call, part compiler.Path, whole compiler.PathID, holders []holder) {
	below := p.Plan.Paths.Segments(part.ID)[p.Plan.Paths.Depth(whole):]
	for _, h := range holders {
		place := h.call.Tool.Output.At(compiler.SchemaPath(below))
		if place.Possible || h.call == call || p.excludes(h, call) {
			continue
		}
		says := "the result of \"" + h.call.ToolName + "\" is " + h.call.Tool.Output.Kinds().String()
		if place.Depth > 0 || h.call.Tool.Output.Kinds()&(schema.Object|schema.Array) != 0 {
			says = "the result of \"" + h.call.ToolName + "\" has no " + quote(below[place.Depth].Key)
		}
		f := p.report(part.Span(), "%q writes %q into a value that can't hold it: %s", call.Name, p.path(part.ID), says).of(call).
			note(h.path.Span(), "%q sets %q to that result here", h.call.Name, p.path(whole))
		if n := h.call.Tool.OutputNode; n != nil {
			f.note(headOf(n.Span()), "the schema of the result is here")
		}
		f.help("write the part to a path of its own, or let the schema of the result name it")
		return
	}
}
