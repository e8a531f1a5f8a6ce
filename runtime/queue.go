package runtime

import "github.com/obelus-dev/obelus/compiler/heap"

type queue []ready

// A ready call and its position in the order of EXECUTION.md#order-of-calls: by its place in the plan, then by its
// instance; a delegate's calls have the position of the delegate. So of delegates within delegates the first is carried
// through before the next begins, and no more of them are at work than keep every place busy.
type ready struct {
	frame        *frame
	call         int32
	place, order int32
}

func (a ready) before(b ready) bool {
	switch {
	case a.place != b.place:
		return a.place < b.place
	case a.order != b.order:
		return a.order < b.order
	case a.frame != b.frame:
		return a.isListedBefore(b)
	}
	return a.call < b.call
}

func (a ready) isListedBefore(b ready) bool {
	x, y, i, j := a.frame, b.frame, a.call, b.call
	for x.depth > y.depth {
		x, i = x.parent, x.under
	}
	for y.depth > x.depth {
		y, j = y.parent, y.under
	}
	if x == y {
		return i < j || i == j && a.frame.depth < b.frame.depth
	}
	for x.parent != y.parent {
		x, y = x.parent, y.parent
	}
	if x.under != y.under {
		return x.under < y.under
	}
	return x.number < y.number // a try of a delegate, and one before it
}

func (q *queue) push(r ready) { heap.Push((*[]ready)(q), r, ready.before) }
func (q *queue) pop() ready   { return heap.Pop((*[]ready)(q), ready.before) }
