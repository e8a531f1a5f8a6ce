package runtime

import "slices"

// links are lists of numbers, one for every call, that grow as calls arrive. All
// of them share one slice.
type links struct {
	first []int32 // by call: the place of its newest link, from 1; 0 ends a list
	next  []int32
	to    []int32
}

// reach makes room for n calls.
func (l *links) reach(n int) {
	l.first = slices.Grow(l.first, n-len(l.first))[:n]
}

// grow makes room for n more links, where that is known.
func (l *links) grow(n int) {
	l.next, l.to = slices.Grow(l.next, n), slices.Grow(l.to, n)
}

func (l *links) add(from, to int32) {
	l.next, l.to = append(l.next, l.first[from]), append(l.to, to)
	l.first[from] = int32(len(l.to))
}
