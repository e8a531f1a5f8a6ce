package dot

import (
	"strconv"
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
)

// drawPath draws a read through a node for its path as the reader sees it:
// the same path under the same writers is one node.
func (d *drawing) drawPath(reader, read int) {
	r := &d.plan.Reads[read]
	var key strings.Builder
	key.WriteString("p" + strconv.Itoa(int(r.Path)))
	for _, w := range r.Writers {
		key.WriteString("," + strconv.Itoa(int(w)))
	}
	at, ok := d.paths[key.String()]
	if !ok {
		at = d.b.node(Node{Kind: Path, Label: d.pathName(r)})
		d.paths[key.String()] = at
		for _, w := range r.Writers {
			if from := d.shown[w]; from >= 0 {
				d.drawWrite(from, at, int(w), r.Path)
			}
		}
	}
	e := d.b.edge(at, reader, Data)
	e.takes(r)
	e.enters(d.entrances[read])
}

// drawWrite draws that a call writes a path, and says what it writes where
// that is above or below the path, or how where it doesn't just set it.
func (d *drawing) drawWrite(from, to, call int, path pathtree.ID) {
	e := d.b.edge(from, to, d.writes(call, path))
	e.conditional(d.condition(call, path))
	e.needed = true
	c := d.plan.Calls[call]
	if c.Method != plan.Set {
		e.read(c.Method.String())
	}
	for _, route := range c.Output {
		for _, p := range route {
			if p.ID != path && d.plan.Paths.Overlap(p.ID, path) {
				e.read("writes " + diag.Escape(d.plan.Paths.String(p.ID)))
			}
		}
	}
}

// drawUnread draws the paths that calls write and nothing in the drawing reads.
func (d *drawing) drawUnread() {
	read := map[[2]int]bool{} // call, path
	for i := range d.plan.Reads {
		r := &d.plan.Reads[i]
		if r.Call >= 0 && d.shown[r.Call] < 0 {
			continue
		}
		for _, w := range r.Writers {
			for _, route := range d.plan.Calls[w].Output {
				for _, p := range route {
					if d.plan.Paths.Overlap(p.ID, r.Path) {
						read[[2]int{int(w), int(p.ID)}] = true
					}
				}
			}
		}
	}
	for i, c := range d.plan.Calls {
		from := d.shown[i]
		if from < 0 {
			continue
		}
		for _, route := range c.Output {
			for _, p := range route {
				if read[[2]int{i, int(p.ID)}] {
					continue
				}
				key := "u" + strconv.Itoa(int(p.ID))
				at, ok := d.paths[key]
				if !ok {
					at = d.b.node(Node{Kind: Path, Label: diag.Escape(d.plan.Paths.String(p.ID))})
					d.paths[key] = at
				}
				d.drawWrite(from, at, i, p.ID)
			}
		}
	}
}

// writes is the kind of an edge from a call to a path that it writes.
func (d *drawing) writes(call int, path pathtree.ID) EdgeKind {
	if d.writeKind(call, path) == Failure {
		return Failure
	}
	return Write
}
