package runtime

import "slices"

// links say who waits for which call. Everybody waits for one call at a time: of those that must have settled the last,
// and when that has settled, the next of them that hasn't.
type links struct {
	first []int32 // by call: who waits for it and came last, from 1; 0 for nobody
	next  []int32 // by who waits: who came before and waits for the same call
}

// reach makes room for so many calls, and for so many who wait.
func (l *links) reach(calls, waiting int) {
	l.first = slices.Grow(l.first, calls-len(l.first))[:calls]
	l.next = slices.Grow(l.next, waiting-len(l.next))[:waiting]
}

func (l *links) add(call, who int32) {
	l.next[who] = l.first[call]
	l.first[call] = who + 1
}

// take gives who waits for a call, one after the other: each may wait for another then.
func (l *links) take(call int32) (who int32, ok bool) {
	who = l.first[call] - 1
	if who < 0 {
		return 0, false
	}
	l.first[call] = l.next[who]
	return who, true
}
