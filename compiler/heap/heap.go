// Package heap is a binary heap in a slice: what comes before all others comes out first. It is that of container/heap,
// which boxes every item.
package heap

// Push puts an item into a heap.
func Push[T any](heap *[]T, item T, before func(a, b T) bool) {
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

// Pop takes the first item out of a heap, which must not be empty.
func Pop[T any](heap *[]T, before func(a, b T) bool) T {
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
