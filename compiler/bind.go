package compiler

import (
	"cmp"
	"slices"

	"github.com/obelus-dev/obelus/compiler/dag"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// maxEdges bounds what the graph and the table of overlaps may hold: four bytes
// an entry, twice.
const maxEdges = 32_000_000

// A Writer is a call that may write a path.
type Writer struct {
	Call    int32
	Path    pathtree.ID
	Failure bool // only as its failure route
	Sets    bool // see [Call.SetsAt]
	Method  Method
}

func (c *Call) writer(id pathtree.ID, alternative int) Writer {
	return Writer{int32(c.Index), id, alternative == c.FailureRoute(), c.SetsAt(id), c.Method}
}

// writers indexes who may write what: for every path the calls that name it.
type writers struct {
	paths *pathtree.Tree
	slots map[pathtree.ID]int // the places of paths in what follows; nil: a path's is its number
	at    [][]Writer          // the calls that name a path, ascending
	over  [][]Writer          // those that overlap it, ascending by call; nil before it is asked
	calls [][]int32           // the same, each call once; nil before it is asked
	grows bool                // further calls may come
}

// fewCalls is how many times more paths than calls there are before an index
// keeps only those that its calls name: the paths of a view are those of the
// whole plan.
const fewCalls = 8

// indexWriters indexes the calls of a plan, or some of them, by the paths that
// they write.
func indexWriters(p *pathtree.Tree, all []*Call, some []int32) *writers {
	return indexBy(p, all, some, func(id pathtree.ID) pathtree.ID { return id })
}

// indexBy indexes what calls write under another path each, which stands at it
// or above.
func indexBy(p *pathtree.Tree, all []*Call, some []int32, under func(pathtree.ID) pathtree.ID) *writers {
	w := &writers{paths: p}
	n := len(all)
	if some != nil {
		n = len(some)
	}
	if size := p.Len(); fewCalls*n < size {
		w.slots = map[pathtree.ID]int{}
	} else {
		w.at, w.over, w.calls = make([][]Writer, size), make([][]Writer, size), make([][]int32, size)
	}
	for k := range n {
		c := all[k]
		if some != nil {
			c = all[some[k]]
		}
		for alternative, path := range c.Paths() {
			w.add(under(path.ID), c.writer(path.ID, alternative))
		}
	}
	return w
}

// slot is where a path is in the index. The table of paths may have grown
// since.
func (w *writers) slot(id pathtree.ID) (int, bool) {
	if w.slots == nil {
		return int(id), int(id) < len(w.at)
	}
	slot, ok := w.slots[id]
	return slot, ok
}

// add notes a writer; a path that a call names both in its failure route and
// elsewhere counts as elsewhere.
func (w *writers) add(under pathtree.ID, one Writer) {
	slot, ok := w.slot(under)
	if !ok {
		slot = w.newSlot(under)
	}
	at := w.at[slot]
	if last := len(at) - 1; last >= 0 && at[last].Call == one.Call && at[last].Path == one.Path {
		at[last].Failure = at[last].Failure && one.Failure
		return
	}
	w.at[slot] = append(at, one)
}

func (w *writers) newSlot(id pathtree.ID) int {
	slot := int(id)
	if w.slots != nil {
		slot = len(w.at)
		w.slots[id] = slot
	}
	for len(w.at) <= slot {
		w.at, w.over, w.calls = append(w.at, nil), append(w.over, nil), append(w.calls, nil)
	}
	return slot
}

// of lists who names a path.
func (w *writers) of(id pathtree.ID) []Writer {
	if slot, ok := w.slot(id); ok {
		return w.at[slot]
	}
	return nil
}

// overlapping lists who may write a path, what is above it, or what is below
// it. The slice is shared: readers take parts of it and nobody changes it.
func (w *writers) overlapping(id pathtree.ID) []Writer {
	slot, known := w.asked(id)
	if known && w.over[slot] != nil {
		return w.over[slot]
	}
	list := slices.Clip(w.of(id))
	if others := w.aboveAndBelow(id); len(others) > 0 || !slices.IsSortedFunc(list, byCallAndPath) {
		list = slices.Concat(list, others)
		slices.SortFunc(list, byCallAndPath)
	}
	if list == nil {
		list = []Writer{}
	}
	if known {
		w.over[slot] = list
	}
	return list
}

func byCallAndPath(a, b Writer) int {
	return cmp.Or(int(a.Call-b.Call), int(a.Path-b.Path))
}

func (w *writers) aboveAndBelow(id pathtree.ID) []Writer {
	var list []Writer
	for up := w.paths.Parent(id); up > pathtree.Root; up = w.paths.Parent(up) {
		list = append(list, w.of(up)...)
	}
	return w.below(list, id)
}

func (w *writers) below(list []Writer, id pathtree.ID) []Writer {
	for child := range w.paths.Children(id) {
		list = w.below(append(list, w.of(child)...), child)
	}
	return list
}

// callsOver is overlapping with each call once.
func (w *writers) callsOver(id pathtree.ID) []int32 {
	slot, known := w.asked(id)
	if known && w.calls[slot] != nil {
		return w.calls[slot]
	}
	over := w.overlapping(id)
	list := make([]int32, 0, len(over))
	for _, one := range over {
		if len(list) == 0 || list[len(list)-1] != one.Call {
			list = append(list, one.Call)
		}
	}
	if known {
		w.calls[slot] = list
	}
	return list
}

// bind finds for every read the calls that it sees, and from these the
// graph.
func (c *compilation) bind() {
	p := c.plan
	p.targets = targetsOf(p.Calls)
	c.start(p.Reads)
	if call := newBinder(p).bind(); call >= 0 {
		c.tooDense(p.Calls[call])
	}
}

// tooDense reports the call with which there are too many dependencies.
func (c *compilation) tooDense(call *Call) {
	c.report(diag.Limit, call.Node.Span(), "the plan has more than %d dependencies between calls", maxEdges).
		Advise("let fewer calls read and write one path, or read a narrower path")
}

// A binder binds the reads of a plan, of which it is known what is there from
// the start. In a plan with calls for several instances, which as a whole nobody
// runs, a call for one sees the calls for all and those for that one; a call for
// all sees every call.
type binder struct {
	plan   *Plan
	shared *writers            // the calls for all; nil unless there are calls for several instances
	own    map[string]*writers // those for one instance
	edges  int                 // of what has been bound
	dense  bool                // there are more than there may be: nothing is bound any more
	trace  dag.Trace           // of the writers that a call waits for
}

func newBinder(p *Plan) *binder {
	b := &binder{plan: p}
	if p.targets.several() {
		b.shared, b.own = indexWriters(p.Paths, p.Calls, p.targets.shared), map[string]*writers{}
		for id, calls := range p.targets.own {
			b.own[id] = indexWriters(p.Paths, p.Calls, calls)
		}
	}
	return b
}

// bind binds the reads and makes the graph. It gives the call at which there
// are too many dependencies, or -1.
func (b *binder) bind() (tooDense int) {
	p := b.plan
	p.writers = indexWriters(p.Paths, p.Calls, nil)
	p.places = p.writers
	if slices.ContainsFunc(p.Calls, func(call *Call) bool { // which may write an item of a list, or into one
		return slices.ContainsFunc(call.Output, func(route Route) bool {
			return slices.ContainsFunc(route, func(path Path) bool { return p.Paths.List(path.ID) != path.ID })
		})
	}) {
		p.places = indexBy(p.Paths, p.Calls, nil, p.Paths.List)
	}
	tooDense = -1
	alone := make([]bool, len(p.Calls)) // needs what only it writes, or waits for itself
	bound := len(p.Reads)               // the reads before it count
	for i := range p.Reads {
		r := &p.Reads[i]
		selfish := b.bindRead(r)
		if r.Call < 0 {
			continue
		}
		alone[r.Call] = alone[r.Call] || selfish
		b.edges += len(r.Writers)
		if b.edges > maxEdges {
			tooDense, bound = r.Call, i
			break
		}
	}
	deps := dag.NewBuilder(len(p.Calls), min(b.edges, maxEdges))
	for i, call := range p.Calls {
		for _, r := range call.Reads {
			if r < bound {
				deps.Add(p.Reads[r].Writers...)
			}
		}
		for _, a := range call.After {
			if a.Call == i {
				alone[i] = true
			} else {
				deps.Add(int32(a.Call))
			}
		}
		deps.Add(call.Ordered...)
		if p.Writes == Once && b.edges <= maxEdges {
			call.Choices = b.choices(call)
			if b.edges += len(call.Choices); b.edges > maxEdges {
				tooDense = i
			}
			deps.Add(call.Choices...)
		}
		deps.Next()
	}
	var self []int32
	for i, yes := range alone {
		if yes {
			self = append(self, int32(i))
		}
	}
	p.Graph = deps.Graph(self)
	if b.shared == nil {
		p.orderWrites()
		for _, call := range p.Calls { // whether or not they write what it writes
			if len(call.Ordered) > 0 {
				call.Waits = slices.Compact(slices.Sorted(slices.Values(slices.Concat(call.Waits, call.Ordered))))
			}
		}
	}
	return tooDense
}

// callsOver are the calls that may write what a reader reads, and that it may
// see.
func (b *binder) callsOver(r *Read) []int32 {
	if b.shared == nil || r.Call < 0 || b.plan.Calls[r.Call].Instance == "" {
		return b.plan.writers.callsOver(r.Path)
	}
	shared, own := b.shared.callsOver(r.Path), b.own[b.plan.Calls[r.Call].Instance].callsOver(r.Path)
	if len(own) == 0 {
		return shared
	}
	all := slices.Concat(shared, own)
	slices.Sort(all)
	return all
}

// bindRead binds one read, and reports whether its path is there only if the
// reader itself writes it, and is needed.
func (b *binder) bindRead(r *Read) (selfish bool) {
	if r.Path == pathtree.Root {
		return false
	}
	all := b.callsOver(r)
	at, mine := slices.BinarySearch(all, int32(r.Call))
	after := at
	if mine {
		after++
	}
	switch {
	case r.Call < 0:
		r.Bound, r.Writers = Earlier, all // the output counts as listed after all calls
	case b.plan.Writes == Once:
		r.Bound, r.Writers = All, all
		if mine {
			r.Writers = slices.Concat(all[:at], all[after:])
		}
	case at > 0:
		r.Bound, r.Writers = Earlier, all[:at]
	case r.Start:
		r.Bound = Initial
	default:
		r.Bound, r.Writers = Later, all[after:]
	}
	if len(r.Writers) == 0 {
		r.Bound = Initial
	}
	return mine && len(all) == 1 && !r.Start && r.Ref.Required
}

// choices are the calls listed before one that may write what it may write,
// failure route against failure route aside (once).
func (b *binder) choices(call *Call) []int32 {
	layers := []*writers{b.plan.writers}
	if b.shared != nil && call.Instance != "" {
		layers = []*writers{b.shared, b.own[call.Instance]}
	}
	var list []int32
	failure := call.FailureRoute()
	for alternative, path := range call.Paths() {
		for _, layer := range layers {
			for _, w := range layer.overlapping(path.ID) {
				if int(w.Call) >= call.Index {
					break
				}
				if !(w.Failure && alternative == failure) {
					list = append(list, w.Call)
				}
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Unordered is a pair of calls that may write overlapping paths although
// neither depends on the other: A is listed before B. At least one of the two
// writes by set, and they don't meet in failure routes alone.
type Unordered struct {
	A, B         int
	PathA, PathB Path
}

// MaxUnordered bounds how many such pairs are kept: by then a plan has been
// told often enough.
const MaxUnordered = 10_000

// orderWrites finds how the graph orders the calls that may write overlapping
// paths: of an ordered pair the later waits for the earlier, an unordered
// pair is kept for those who judge it. How long a list is decides where an item
// may go, so who writes into a list counts here as one that writes the list: both
// the one that waits and the one that is waited for, or else two calls could each
// wait for the other.
func (p *Plan) orderWrites() {
	var of []int32
	for _, call := range p.Calls {
		if p.sharesPlaces(call) {
			of = append(of, int32(call.Index))
		}
	}
	if len(of) == 0 {
		return
	}
	place := make([]int, len(p.Calls))
	for at, i := range of {
		place[i] = at
	}
	p.Graph.Reach(of, func(i int32, from int, set *dag.Set) {
		to := min(from+dag.Block, len(of))
		call, waits := p.Calls[i], len(p.Calls[i].Waits)
		follows := func(other int32) bool { return set.Has(from, place[other]) } // out here Has is inlined: most of the time goes there
		for alternative, path := range call.Paths() {
			p.orderWrite(call, alternative, path, writersBetween(p.Around(path.ID), of[from], of[to-1]), follows)
		}
		slices.Sort(call.Waits[waits:])
		call.Waits = slices.Compact(call.Waits)
	})
	slices.SortStableFunc(p.Unordered, func(a, b Unordered) int { return cmp.Or(cmp.Compare(a.B, b.B), cmp.Compare(a.A, b.A)) })
	p.Unordered = slices.CompactFunc(p.Unordered, func(a, b Unordered) bool { return a.A == b.A && a.B == b.B })
}

// orderWrite orders what a call writes to a path, on one of its alternatives, and what
// some others write.
func (p *Plan) orderWrite(call *Call, alternative int, path Path, others []Writer, follows func(int32) bool) {
	i, failure := int32(call.Index), alternative == call.FailureRoute()
	waits, sets, once := len(p.Graph.Deps(call.Index)) > 0, call.SetsAt(path.ID), p.Writes == Once
	for _, w := range others {
		switch {
		case w.Call == i:
		case waits && follows(w.Call):
			call.Waits = append(call.Waits, w.Call)
		case once, !sets && !w.Sets, w.Failure && failure, !p.Paths.Overlap(w.Path, path.ID):
		case p.Graph.Rank(int(w.Call)) < p.Graph.Rank(call.Index):
			p.noteUnordered(call, path, p.Calls[w.Call], w.Path)
		}
	}
}

// writersBetween is the part of a list, ascending by call, from one call to
// another, both included.
func writersBetween(list []Writer, first, last int32) []Writer {
	byCall := func(w Writer, call int32) int { return int(w.Call - call) }
	from, _ := slices.BinarySearchFunc(list, first, byCall)
	to, _ := slices.BinarySearchFunc(list[from:], last+1, byCall)
	return list[from : from+to]
}

func (p *Plan) noteUnordered(a *Call, pathA Path, b *Call, idB pathtree.ID) {
	if len(p.Unordered) >= MaxUnordered {
		return
	}
	var pathB Path
	for _, path := range b.Paths() {
		if path.ID == idB {
			pathB = path
		}
	}
	pair := Unordered{A: a.Index, B: b.Index, PathA: pathA, PathB: pathB}
	if pair.A > pair.B {
		pair = Unordered{A: pair.B, B: pair.A, PathA: pair.PathB, PathB: pair.PathA}
	}
	p.Unordered = append(p.Unordered, pair)
}

// sharesPlaces reports whether any other call may write what this one may write,
// or into the same list.
func (p *Plan) sharesPlaces(call *Call) bool {
	for _, path := range call.Paths() {
		if len(p.places.callsOver(p.Paths.List(path.ID))) > 1 {
			return true
		}
	}
	return false
}

// valueAt reports whether the document gives the path a value other than null.
func (p *Plan) valueAt(id pathtree.ID) bool {
	if id == pathtree.Root {
		return false
	}
	var value any
	switch p.Paths.Kind(id) {
	case "input":
		value = p.Input
	case "state":
		value = p.State
	case "data":
		value = p.Data
	}
	if value == nil {
		return false
	}
	value, ok := p.Paths.Walk(value, id)
	return ok && value != nil
}

// requiredAt reports whether a schema promises the path before any call has run.
// A run knows what it has, whatever a schema requires.
func (p *Plan) requiredAt(id pathtree.ID, state *schema.Schema) bool {
	s, kind := state, p.Paths.Kind(id)
	if kind == "input" {
		s = p.InputSchema
	}
	if p.Form == Replan || s == nil || kind != "input" && kind != "state" || p.Paths.Depth(id) < 2 {
		return false
	}
	return s.At(SchemaPath(p.Paths.Segments(id)[1:])).Required
}

// Written reports whether some call may write exactly this path.
func (p *Plan) Written(id pathtree.ID) bool { return len(p.writers.of(id)) > 0 }

// WritersAt lists who may write exactly this path, ascending by call. The slice is the
// plan's own.
func (p *Plan) WritersAt(id pathtree.ID) []Writer { return p.writers.of(id) }

// Writers lists who may write a path, what is above it, or what is below it,
// ascending by call. The slice is the plan's own.
func (p *Plan) Writers(id pathtree.ID) []Writer { return p.writers.overlapping(id) }

// Around lists who may write a path, what is above it or below it, or into the
// list that it leads into: all that decide its value. It is ascending by
// call, and the plan's own.
func (p *Plan) Around(id pathtree.ID) []Writer { return p.places.overlapping(p.Paths.List(id)) }

// Sees reports whether the read sees what a call writes to a path that overlaps
// its own.
func (r *Read) Sees(call int) bool {
	switch r.Bound {
	case Earlier:
		return r.Call < 0 || call < r.Call
	case Later:
		return call > r.Call
	case All:
		return call != r.Call
	}
	return false
}

// Offered is a call's alternatives as text, in order: what an activity may name.
func (p *Plan) Offered(call *Call) []string {
	offered := make([]string, len(call.Output))
	for i, route := range call.Output {
		for j, path := range route {
			if j > 0 {
				offered[i] += " && "
			}
			offered[i] += p.Paths.String(path.ID)
		}
	}
	return offered
}

// SchemaPath is a path's segments as the schema package counts them: without
// the kind.
func SchemaPath(segments []expression.Segment) []schema.Step {
	steps := make([]schema.Step, len(segments))
	for i, s := range segments {
		if s.IsIndex {
			steps[i] = schema.Index(s.Index)
		} else {
			steps[i] = schema.Key(s.Key)
		}
	}
	return steps
}
