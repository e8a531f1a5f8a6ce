// Package bind finds which calls each read of a plan sees, and from that the graph: of the whole plan, of what one
// instance runs, and of a plan that grows. It reads no documents and reports nothing.
package bind

import (
	"cmp"
	"iter"
	"slices"

	"github.com/obelus-dev/obelus/compiler/dag"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
)

// MaxEdges bounds what the graph and the table of overlaps may hold: four bytes an entry, twice.
const MaxEdges = 32_000_000

// some are those of a plan's calls that have numbers.
func some(p *plan.Plan, numbers []int32) iter.Seq[*plan.Call] {
	return func(yield func(*plan.Call) bool) {
		for _, i := range numbers {
			if !yield(p.Calls[i]) {
				return
			}
		}
	}
}

// itself is the path under which most indexes have what is written to it.
func itself(id pathtree.ID) pathtree.ID { return id }

// Plan binds the reads of a plan, of which it is known what is there from the start, and makes its graph. It gives the
// call at which there are too many dependencies, or -1.
func Plan(p *plan.Plan) (tooDense int) {
	p.Targets = targetsOf(p.Calls)
	return newBinder(p).bind()
}

// A binder binds the reads of a plan, of which it is known what is there from the start. In a plan with calls for
// several instances, which as a whole nobody runs, a call for one sees the calls for all and those for that one; a call
// for all sees every call.
type binder struct {
	plan   *plan.Plan
	shared *plan.Writers            // the calls for all; nil unless there are calls for several instances
	own    map[string]*plan.Writers // those for one instance
	edges  int                      // of what has been bound
}

func newBinder(p *plan.Plan) *binder {
	b := &binder{plan: p}
	if p.Targets.Several() {
		b.shared = plan.NewWriters(p.Paths, some(p, p.Targets.Shared), itself)
		b.own = map[string]*plan.Writers{}
		for id, calls := range p.Targets.Own {
			b.own[id] = plan.NewWriters(p.Paths, some(p, calls), itself)
		}
	}
	return b
}

// bind binds the reads and makes the graph. It gives the call at which there are too many dependencies, or -1.
func (b *binder) bind() (tooDense int) {
	p := b.plan
	p.Index = plan.NewWriters(p.Paths, slices.Values(p.Calls), itself)
	p.PlaceIndex = p.Index
	if slices.ContainsFunc(p.Calls, func(call *plan.Call) bool { // which may write an item of a list, or into one
		return slices.ContainsFunc(call.Output, func(route plan.Route) bool {
			return slices.ContainsFunc(route, func(path plan.Path) bool { return p.Paths.List(path.ID) != path.ID })
		})
	}) {
		p.PlaceIndex = plan.NewWriters(p.Paths, slices.Values(p.Calls), p.Paths.List)
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
		if b.edges > MaxEdges {
			tooDense, bound = r.Call, i
			break
		}
	}
	deps := dag.NewBuilder(len(p.Calls), min(b.edges, MaxEdges))
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
		if p.Writes == plan.Once && b.edges <= MaxEdges {
			call.Choices = b.choices(call)
			if b.edges += len(call.Choices); b.edges > MaxEdges {
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
		orderWrites(p)
		for _, call := range p.Calls { // whether or not they write what it writes
			if len(call.Ordered) > 0 {
				call.Waits = slices.Compact(slices.Sorted(slices.Values(slices.Concat(call.Waits, call.Ordered))))
			}
		}
	}
	return tooDense
}

// callsOver are the calls that may write what a reader reads, and that it may see.
func (b *binder) callsOver(r *plan.Read) []int32 {
	if b.shared == nil || r.Call < 0 || b.plan.Calls[r.Call].Instance == "" {
		return b.plan.Index.CallsOver(r.Path)
	}
	shared, own := b.shared.CallsOver(r.Path), b.own[b.plan.Calls[r.Call].Instance].CallsOver(r.Path)
	if len(own) == 0 {
		return shared
	}
	all := slices.Concat(shared, own)
	slices.Sort(all)
	return all
}

// bindRead binds one read, and reports whether its path is there only if the reader itself writes it, and is needed.
func (b *binder) bindRead(r *plan.Read) (selfish bool) {
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
		r.Bound, r.Writers = plan.Earlier, all // the output counts as listed after all calls
	case b.plan.Writes == plan.Once:
		r.Bound, r.Writers = plan.All, all
		if mine {
			r.Writers = slices.Concat(all[:at], all[after:])
		}
	case at > 0:
		r.Bound, r.Writers = plan.Earlier, all[:at]
	case r.Start:
		r.Bound = plan.Initial
	default:
		r.Bound, r.Writers = plan.Later, all[after:]
	}
	if len(r.Writers) == 0 {
		r.Bound = plan.Initial
	}
	return mine && len(all) == 1 && !r.Start && r.Ref.Required
}

// choices are the calls listed before one that may write what it may write,
// failure route against failure route aside (once).
func (b *binder) choices(call *plan.Call) []int32 {
	layers := []*plan.Writers{b.plan.Index}
	if b.shared != nil && call.Instance != "" {
		layers = []*plan.Writers{b.shared, b.own[call.Instance]}
	}
	var list []int32
	failure := call.FailureRoute()
	for alternative, path := range call.Paths() {
		for _, layer := range layers {
			for _, w := range layer.Overlapping(path.ID) {
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

// MaxUnordered bounds how many such pairs are kept: by then a plan has been told often enough.
const MaxUnordered = 10_000

// orderWrites finds how the graph orders the calls that may write overlapping paths: of an ordered pair the later waits
// for the earlier, an unordered pair is kept for those who judge it. How long a list is decides where an item may go,
// so who writes into a list counts here as one that writes the list: both the one that waits and the one that is waited
// for, or else two calls could each wait for the other.
func orderWrites(p *plan.Plan) {
	var of []int32
	for _, call := range p.Calls {
		if sharesPlaces(p, call) {
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
		// out here Has is inlined: most of the time goes there
		follows := func(other int32) bool { return set.Has(from, place[other]) }
		for alternative, path := range call.Paths() {
			byCall := func(w plan.Writer, call int32) int { return int(w.Call - call) }
			around := p.Around(path.ID) // ascending by call
			first, _ := slices.BinarySearchFunc(around, of[from], byCall)
			last, _ := slices.BinarySearchFunc(around, of[to-1]+1, byCall)
			orderWrite(p, call, alternative, path, around[first:last], follows)
		}
		slices.Sort(call.Waits[waits:])
		call.Waits = slices.Compact(call.Waits)
	})
	slices.SortStableFunc(p.Unordered,
		func(a, b plan.Unordered) int { return cmp.Or(cmp.Compare(a.B, b.B), cmp.Compare(a.A, b.A)) })
	p.Unordered = slices.CompactFunc(p.Unordered, func(a, b plan.Unordered) bool { return a.A == b.A && a.B == b.B })
}

// orderWrite orders what a call writes to a path, on one of its alternatives, and what some others write.
func orderWrite(p *plan.Plan, call *plan.Call, alternative int, path plan.Path, rest []plan.Writer,
	follows func(int32) bool) {
	i, failure := int32(call.Index), alternative == call.FailureRoute()
	waits, sets, once := len(p.Graph.Deps(call.Index)) > 0, call.SetsAt(path.ID), p.Writes == plan.Once
	for _, w := range rest {
		switch {
		case w.Call == i:
		case waits && follows(w.Call):
			call.Waits = append(call.Waits, w.Call)
		case once, !sets && !w.Sets, w.Failure && failure, !p.Paths.Overlap(w.Path, path.ID):
		case p.Graph.Rank(int(w.Call)) < p.Graph.Rank(call.Index):
			noteUnordered(p, call, path, p.Calls[w.Call], w.Path)
		}
	}
}

func noteUnordered(p *plan.Plan, a *plan.Call, pathA plan.Path, b *plan.Call, idB pathtree.ID) {
	if len(p.Unordered) >= MaxUnordered {
		return
	}
	var pathB plan.Path
	for _, path := range b.Paths() {
		if path.ID == idB {
			pathB = path
		}
	}
	pair := plan.Unordered{A: a.Index, B: b.Index, PathA: pathA, PathB: pathB}
	if pair.A > pair.B {
		pair = plan.Unordered{A: pair.B, B: pair.A, PathA: pair.PathB, PathB: pair.PathA}
	}
	p.Unordered = append(p.Unordered, pair)
}

// sharesPlaces reports whether any other call may write what this one may write, or into the same list.
func sharesPlaces(p *plan.Plan, call *plan.Call) bool {
	for _, path := range call.Paths() {
		if len(p.PlaceIndex.CallsOver(p.Paths.List(path.ID))) > 1 {
			return true
		}
	}
	return false
}

// WithOrder is the plan with more order: of each pair of calls, by index, the second waits for the first. It is for
// calls of which it isn't known whether it matters which comes first. The graph may have cycles then. The plan itself
// stays as it is.
func WithOrder(p *plan.Plan, pairs [][2]int) *plan.Plan {
	one := *p
	one.Calls, one.Reads = make([]*plan.Call, len(p.Calls)), slices.Clone(p.Reads)
	for i, of := range p.Calls {
		call := *of
		call.Choices, call.Waits = nil, nil
		one.Calls[i] = &call
	}
	for _, pair := range pairs {
		call := one.Calls[pair[1]]
		call.Ordered = append(slices.Clip(call.Ordered), int32(pair[0]))
	}
	for _, pair := range pairs {
		call := one.Calls[pair[1]]
		slices.Sort(call.Ordered)
		call.Ordered = slices.Compact(call.Ordered)
	}
	one.Unordered, one.Graph, one.Index, one.PlaceIndex = nil, dag.Graph{}, nil, nil
	Plan(&one)
	return &one
}
