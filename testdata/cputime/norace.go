//go:build !race

package cputime

const slower = 1
