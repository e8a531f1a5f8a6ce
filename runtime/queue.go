package runtime

import (
	"cmp"
	"slices"
)

// A ready call and its position in the order of EXECUTION.md#order-of-calls: by its place in the plan, then by its
// instance; a delegate's calls have the position of the delegate. So of delegates within delegates the first is carried
// through before the next begins, and no more of them are at work than keep every place busy.
type ready struct {
	frame        *frame
	call         int32
	place, order int32
}

func (a ready) before(b ready) bool { return a.compare(b) < 0 }

func (a ready) compare(b ready) int {
	if a.place != b.place || a.order != b.order {
		return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.order, b.order))
	}
	x, y := a.frame.path, b.frame.path
	n, i, j := min(len(x), len(y)), a.call, b.call
	if len(x) > n {
		i = x[n]
	}
	if len(y) > n {
		j = y[n]
	}
	return cmp.Or(slices.Compare(x[:n], y[:n]), cmp.Compare(i, j), len(x)-len(y))
}
