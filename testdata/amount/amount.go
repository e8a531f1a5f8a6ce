// Package amount says how much of what they could try tests do try. Importing it
// gives a package's tests the flags -thorough and -long.
package amount

import (
	"flag"
	"testing"
)

var (
	thorough = flag.Bool("thorough", false, "try as many cases as CI does")
	long     = flag.Bool("long", false, "try as many cases as somebody has time for")
)

// Of is how many cases a test tries: a sample where nothing is said, more in CI
// (make thorough), most by hand.
func Of(sample, inCI, byHand int) int {
	switch {
	case testing.Short():
		return sample
	case *long:
		return byHand
	case *thorough:
		return inCI
	}
	return sample
}

// Long reports whether somebody has time for all that can be tried.
func Long() bool { return *long }
