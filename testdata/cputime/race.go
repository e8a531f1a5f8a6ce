//go:build race

package cputime

// slower is how much more work the race detector makes of a program, about.
const slower = 10
