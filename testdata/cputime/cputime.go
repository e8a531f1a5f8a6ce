// Package cputime tells how much work the processors did for this process. Tests hold
// the bounds of S18 against it: a machine that is busy with something else makes
// the clock run on, but no more work.
package cputime

import (
	"runtime"
	"slices"
	"strconv"
	"sync"
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

// Spent is what a function costs on the reference machine: a machine that needs twice as long for the reference work
// counts half of what it spends. A faster machine counts everything.
func Spent(f func()) time.Duration {
	slower := slowdown()
	before := Used()
	f()
	return time.Duration(float64(Used()-before) / slower)
}

// reference is how long the reference machine takes for the reference work.
const reference = 18 * time.Millisecond

// slowdown is how much longer this machine takes than the reference machine: at least 1, at most 3. Of several
// measurements the least counts.
var slowdown = sync.OnceValue(func() float64 {
	least := time.Duration(1<<63 - 1)
	for range 12 {
		before := Used()
		referenceWork()
		least = min(least, Used()-before)
	}
	return min(max(1, float64(least)/float64(reference)), 3)
})

// referenceWork is of the kind that the tests measure: maps, texts, allocation and sorting.
func referenceWork() int {
	counts := map[string]int{}
	var list []*[4]int
	for i := range 60_000 {
		counts[strconv.Itoa(i%7919)] += i
		list = append(list, &[4]int{i, i ^ 5, i * 3})
	}
	slices.SortFunc(list, func(a, b *[4]int) int { return a[0]*7919%65537 - b[0]*7919%65537 })
	return len(counts) + list[0][0]
}

// Within repeats a function until one time costs no more than a bound, at most
// twelve times, and gives the least that it cost. The collection of what other
// tests left behind comes and goes, and so do neighbours that share a core and its
// caches, by which the same work costs twice as much: they are given more time to go
// with each try. What the work itself costs is there every time.
func Within(bound time.Duration, f func()) (least time.Duration, within bool) {
	for try := range 12 {
		cost := Spent(f)
		if least == 0 || cost < least {
			least = cost
		}
		if least <= bound {
			return least, true
		}
		runtime.GC()
		time.Sleep(time.Duration(try) * 50 * time.Millisecond)
	}
	return least, false
}
