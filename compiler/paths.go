package compiler

import "github.com/obelus-dev/obelus/compiler/expression"

// PathID is a path's place in the plan's table.
type PathID int32

// A PathTable interns paths as a tree: a path's parent is the path without its
// last segment. ID 0 is the root above all kinds; below it stand the kinds
// (input, state, data, error, advice), and below these the segments.
type PathTable struct {
	parent  []PathID
	segment []expression.Segment
	depth   []int32
	child   map[step]PathID
}

type step struct {
	parent  PathID
	segment expression.Segment
}
