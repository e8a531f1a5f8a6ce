package state

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"

	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
)

// A part is the state below one path as the messages up to one of them have made it: it moves to where a write is
// judged, so that this costs what was written in between.
type part struct {
	fold
	order    []int32 // the messages at and below its path, in the order in which they count
	applied  []int   // by message of the order, up to the applied ones: how many changes there were before it
	sure     int     // changes of what is applied: what comes after them is tried
	standing records
}

// part is the part of the state that a path leads into: below a key of its kind, unless the kind as a whole is written.
func (l *Log) part(path pathtree.ID) *part {
	root, kind := path, path
	for l.layout.Paths.Depth(kind) > 1 {
		root, kind = kind, l.layout.Paths.Parent(kind)
	}
	if l.IsWritten(kind) {
		root = kind
	}
	p := l.parts[root]
	if p == nil {
		p = &part{fold: fold{root: root, undo: &[]func(){}}, standing: records{}}
		p.value, _ = l.Initial(root)
		for at := range l.Over(root) {
			p.order = append(p.order, at)
		}
		slices.SortFunc(p.order, l.order)
		l.parts[root] = p
	}
	p.paths = l.layout.Paths
	return p
}

// keepParts takes a new message into the parts that it belongs to.
func (l *Log) keepParts(at int32) {
	path := l.messages[at].Path
	if len(l.parts) == 0 {
		return
	}
	for id := path; id > pathtree.Root; id = l.layout.Paths.Parent(id) {
		if p := l.parts[id]; p != nil {
			place := sort.Search(len(p.order), func(i int) bool { return l.order(p.order[i], at) > 0 })
			l.move(p, min(place, len(p.applied)))
			p.order = slices.Insert(p.order, place, at)
		}
	}
	if l.layout.Paths.Depth(path) == 1 { // from now on it is a part as a whole
		maps.DeleteFunc(l.parts, func(id pathtree.ID, _ *part) bool { return id != path })
	}
}

// move lets so many messages of a part be applied.
func (l *Log) move(p *part, n int) {
	if n < len(p.applied) {
		p.back(p.applied[n])
		p.applied = p.applied[:n]
	}
	for len(p.applied) < n {
		m := &l.messages[p.order[len(p.applied)]]
		p.applied = append(p.applied, len(*p.undo))
		if m.Failure {
			was := p.standing[m.Path]
			*p.undo = append(*p.undo, func() { p.standing[m.Path] = was })
		}
		if !p.standing.yields(m) && p.apply(m) != nil {
			l.homeless(m)
		}
	}
	p.sure = len(*p.undo)
}

func (l *Log) homeless(m *Message) {
	*l.layout.Inconsistency = fmt.Sprintf("what was written to %s has no place in the state any more",
		l.layout.Paths.String(m.Path))
}

// A Draft is the state as it would be after the writes of a call: on all that counts before them.
type Draft struct {
	log   *Log
	call  int32
	parts []*part // that are written
}

// Draft begins a draft for a call of the tick. It has to be discarded before anything else is done with the log.
func (l *Log) Draft(call int32) Draft { return Draft{log: l, call: call} }

// Write writes to the draft, and gives what stands at the path then.
func (d *Draft) Write(path pathtree.ID, method plan.Method, value any) (any, error) {
	on := d.log.part(path)
	if !slices.Contains(d.parts, on) {
		d.log.move(on, d.log.before(on, d.call))
		d.parts = append(d.parts, on)
	}
	if err := on.apply(&Message{Path: path, Method: method, Value: value}); err != nil {
		return nil, err
	}
	written, _ := d.log.walk(on.value, on.root, path)
	return written, nil
}

// Discard takes back what was written to the draft.
func (d *Draft) Discard() {
	for _, p := range d.parts {
		p.back(p.sure)
	}
}

// before is how many messages of a part count before those of a call of the tick.
func (l *Log) before(p *part, call int32) int {
	if l.layout.ByTime {
		return len(p.order)
	}
	own := Message{Tick: l.layout.Tick, Call: int(call)}
	place := l.place(&own)
	return sort.Search(len(p.order), func(i int) bool {
		m := &l.messages[p.order[i]]
		return cmp.Or(m.Tick-own.Tick, int(l.place(m)-place)) >= 0
	})
}
