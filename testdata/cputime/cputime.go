// Package cputime tells how much work the processors did for this process. Tests hold
// the bounds against it: a machine that is busy with something else makes
// the clock run on, but no more work.
package cputime

import (
	"runtime"
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
// with each try. What the work itself costs is there every time. Under the race detector
// the bound is ten times as high.
func Within(bound time.Duration, f func()) (least time.Duration, within bool) {
	bound *= slower
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
