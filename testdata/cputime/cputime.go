// Package cputime tells how much work the processors did for this process. Tests hold
// the bounds against it: a machine that is busy with something else makes
// the clock run on, but no more work.
package cputime

import (
	"maps"
	"runtime"
	"slices"
	"strconv"
	"time"
)

var begun = time.Now()

// Used is the time that all processors together have spent on this process so
// far, the collection of garbage included. Where the system doesn't tell, it is
// the time since the process began.
func Used() time.Duration {
	if d, known := used(); known {
		return d
	}
	return time.Since(begun)
}

// Spent is what a function costs.
func Spent(f func()) time.Duration {
	before := Used()
	f()
	return Used() - before
}

// Within repeats a function until one time costs no more than a bound, at most
// twelve times, and gives the least that it cost. The collection of what other
// tests left behind comes and goes, and so do neighbours that share a core and its
// caches, by which the same work costs twice as much: they are given more time to go
// with each try. What the work itself costs is there every time. A bound holds for the
// machine on which it was set: on a slower one it is as much higher as that takes longer
// for the same work, and under the race detector ten times.
func Within(bound time.Duration, f func()) (least time.Duration, within bool) {
	bound *= slower
	quickest := 4.0 // of the paces that were measured, and the most that is given
	for try := range 12 {
		cost := Spent(f)
		if least == 0 || cost < least {
			least = cost
		}
		if least <= bound {
			return least, true
		}
		if quickest = min(quickest, pace()); float64(least) <= float64(bound)*quickest {
			return least, true
		}
		runtime.GC()
		time.Sleep(time.Duration(try) * 50 * time.Millisecond)
	}
	return least, false
}

// reference is what known costs on the machine on which the bounds were set.
const reference = 50 * time.Millisecond

// pace is how many times as much as there known costs here and now, at least 1.
func pace() float64 {
	return max(1, float64(Spent(known))/float64(reference*slower))
}

// known is work as programs do it: memory is taken, looked up and put in order.
func known() {
	numbers := map[string]int{}
	for i := range 100_000 {
		numbers[strconv.Itoa(i*7919)] = i
	}
	_ = slices.Sorted(maps.Keys(numbers))
}
