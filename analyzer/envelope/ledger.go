package envelope

import "slices"

// A ledger says what of the allowances is used up. Where several cover a call it isn't
// fixed which of them is charged for it: charges move from one to another as long as there
// is room for all (a flow, augmented as by Ford and Fulkerson, 1956).
type ledger struct {
	used   []int // of each allowance
	groups []*group
}

// A group is all calls that the same allowances cover, and how often each is charged.
type group struct{ fits, charged []int }

// place charges a call that runs so many times to the allowances that cover it. Where
// there isn't room for all of them it charges none, and says for how many there is.
func (l *ledger) place(e *Envelope, fits []int, times int) (room int, ok bool) {
	g := l.group(fits)
	for room < times {
		got := 0
		seen := make([]bool, len(l.used))
		for k := 0; k < len(fits) && got == 0; k++ {
			got = l.free(e, fits[k], times-room, seen)
			l.used[fits[k]] += got
			g.charged[k] += got
		}
		if got == 0 {
			l.giveBack(fits, room)
			return room, false
		}
		room += got
	}
	return room, true
}

// giveBack takes back as many charges of calls that these allowances cover.
func (l *ledger) giveBack(fits []int, times int) {
	g := l.group(fits)
	for k, at := range fits {
		n := min(times, g.charged[k])
		l.used[at] -= n
		g.charged[k] -= n
		times -= n
	}
}

// free makes room in an allowance for so many charges, or fewer, and says for how many:
// what is charged to it moves to others.
func (l *ledger) free(e *Envelope, at, want int, seen []bool) int {
	if left := e.Calls[at].Times - l.used[at]; left > 0 {
		return min(left, want)
	}
	seen[at] = true
	for _, g := range l.groups {
		k := slices.Index(g.fits, at)
		if k < 0 || g.charged[k] == 0 {
			continue
		}
		for m, other := range g.fits {
			if seen[other] {
				continue
			}
			if n := l.free(e, other, min(want, g.charged[k]), seen); n > 0 {
				l.used[at] -= n
				g.charged[k] -= n
				l.used[other] += n
				g.charged[m] += n
				return n
			}
		}
	}
	return 0
}

func (l *ledger) group(fits []int) *group {
	for _, g := range l.groups {
		if slices.Equal(g.fits, fits) {
			return g
		}
	}
	l.groups = append(l.groups, &group{fits, make([]int, len(fits))})
	return l.groups[len(l.groups)-1]
}
