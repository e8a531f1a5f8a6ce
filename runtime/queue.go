package runtime

// A callHeap is calls to look at again: the earliest-listed comes out first.
type callHeap []int32

func (h *callHeap) push(call int32) {
	push((*[]int32)(h), call, func(a, b int32) bool { return a < b })
}

func (h *callHeap) pop() int32 {
	return pop((*[]int32)(h), func(a, b int32) bool { return a < b })
}

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

func (q *queue) push(r ready) { push((*[]ready)(q), r, ready.before) }
func (q *queue) pop() ready   { return pop((*[]ready)(q), ready.before) }

// push and pop are those of a binary heap; container/heap would box every item.
func push[T any](heap *[]T, item T, before func(a, b T) bool) {
	h := append(*heap, item)
	for at := len(h) - 1; at > 0; {
		up := (at - 1) / 2
		if !before(h[at], h[up]) {
			break
		}
		h[at], h[up] = h[up], h[at]
		at = up
	}
	*heap = h
}

func pop[T any](heap *[]T, before func(a, b T) bool) T {
	h := *heap
	top, last := h[0], len(h)-1
	h[0] = h[last]
	clear(h[last:])
	h = h[:last]
	for at := 0; ; {
		down := 2*at + 1
		if down >= len(h) {
			break
		}
		if right := down + 1; right < len(h) && before(h[right], h[down]) {
			down = right
		}
		if !before(h[down], h[at]) {
			break
		}
		h[at], h[down] = h[down], h[at]
		at = down
	}
	*heap = h
	return top
}
