package state

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
)

// A part is the state below one path as the messages so far have made it, up to one of them: it moves to where a write
// is judged, so that this costs what was written in between, and not all that was written.
type part struct {
	fold
	order    []int32 // the messages at and below its path, in the order in which they count
	applied  []step  // by message of the order, up to the applied ones
	sure     int     // changes of what is applied: what comes after them is tried
	standing records
}

type step struct {
	changes int      // that were there before it
	record  bool     // it is a failure record that stands
	before  *Message // the one on its path that stood until then
}

// part is the part of the state below a path above which nothing is written.
func (l *Log) part(root pathtree.ID) *part {
	if p := l.parts[root]; p != nil {
		p.paths = l.layout.Paths
		return p
	}
	p := &part{fold: fold{paths: l.layout.Paths, root: root, undoing: true}, standing: records{}}
	p.value, p.there = l.Initial(root)
	for at := range l.Over(root) {
		p.order = append(p.order, at)
	}
	slices.SortFunc(p.order, l.order)
	if l.parts == nil {
		l.parts = map[pathtree.ID]*part{}
	}
	l.parts[root] = p
	return p
}

// keepParts takes a new message into the parts that it belongs to.
func (l *Log) keepParts(at int32) {
	if len(l.parts) == 0 {
		return
	}
	path := l.messages[at].Path
	for id := path; id > pathtree.Root; id = l.layout.Paths.Parent(id) {
		if p := l.parts[id]; p != nil {
			place := sort.Search(len(p.order), func(i int) bool { return l.order(p.order[i], at) > 0 })
			l.move(p, min(place, len(p.applied)))
			p.order = slices.Insert(p.order, place, at)
		}
	}
	if l.layout.Paths.Depth(path) == 1 { // from now on it is a part as a whole
		existing := l.parts[path]
		if l.parts = nil; existing != nil {
			l.parts = map[pathtree.ID]*part{path: existing}
		}
	}
}

// move lets so many messages of a part be applied.
func (l *Log) move(p *part, n int) {
	for len(p.applied) > n {
		last := len(p.applied) - 1
		s := p.applied[last]
		p.back(s.changes)
		if s.record {
			p.standing[l.messages[p.order[last]].Path] = s.before
		}
		p.applied[last] = step{}
		p.applied = p.applied[:last]
	}
	for len(p.applied) < n {
		m := &l.messages[p.order[len(p.applied)]]
		s := step{changes: len(p.changes), record: m.Failure && !p.standing.yields(m), before: p.standing[m.Path]}
		if s.record {
			p.standing[m.Path] = m
		}
		if !m.Failure || s.record {
			if p.apply(m) != nil {
				l.homeless(m)
			}
		}
		p.applied = append(p.applied, s)
	}
	p.sure = len(p.changes)
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
	on := d.part(path)
	if err := on.apply(&Message{Path: path, Method: method, Value: value}); err != nil {
		return nil, err
	}
	written, _ := d.log.walk(on.value, on.root, path)
	return written, nil
}

// part is the part of the state that a path leads into: that below a key of its
// kind, unless the kind as a whole may be written.
func (d *Draft) part(path pathtree.ID) *part {
	l := d.log
	root, kind := path, path
	for l.layout.Paths.Depth(kind) > 1 {
		root, kind = kind, l.layout.Paths.Parent(kind)
	}
	if l.layout.IsWritten(kind) {
		root = kind
	}
	p := l.part(root)
	if !slices.Contains(d.parts, p) {
		l.move(p, l.before(p, d.call))
		d.parts = append(d.parts, p)
	}
	return p
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

// Discard takes back what was written to the draft.
func (d *Draft) Discard() {
	for _, p := range d.parts {
		p.back(p.sure)
	}
}
