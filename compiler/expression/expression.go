// Package expression reads what follows a †: references, fallbacks, gates, and expressions over them. It knows nothing
// of plans: who writes a path, and whether it has a value, are inputs.
//
// The grammar is that of github.com/expr-lang/expr, whose parser reads
// everything that is more than one reference. References are cut out first
// (see scan.go), and what the parser gives is lowered into a tree of our own
// (lower.go), with exact places. That tree, and not the library's virtual
// machine, is checked (check.go) and evaluated (eval.go), for three reasons
// that each would be enough: a fallback's operand may be pending or absent,
// which a stack of values can't say; every step and byte is counted, so that
// the same expression over the same values is refused everywhere or nowhere;
// and numbers are JSON's, whole numbers not being a type of their own.
// Differential tests hold the results against the library's.
//
// Where the library leaves something to chance or to the machine, this package
// decides: keys, values and pairs of an object come in the order of the keys;
// sortBy is stable; strings are indexed and sliced by characters; an object or
// list turned into a string is compact JSON; groupBy's keys are strings; dates
// without a zone are in UTC; arithmetic that leaves the finite numbers is an
// error. now, timezone, and date with a zone's name read the clock or the zone
// files of the machine, and don't exist.
package expression

import (
	"github.com/obelus-dev/obelus/compiler/reference"
	"github.com/obelus-dev/obelus/compiler/wording"
)

// References are read by package reference.
type (
	Segment   = reference.Segment
	Reference = reference.Reference
	Error     = reference.Error
	Cause     = reference.Cause
)

// The causes of an [Error].
const (
	OfKind  = reference.OfKind
	OfValue = reference.OfValue
	OfText  = reference.OfText
)

// Mark begins every reference.
const Mark = reference.Mark

// Presence is what is known of a reference's or an expression's value at some
// moment of a run.
type Presence uint8

// Pending: not yet settled, ask again. Absent: settled, and has no value.
// There: it has a value (which may be null).
const (
	Pending Presence = iota
	Absent
	There
)

const mark = string(Mark)

// What bounds an expression and its evaluation.
const (
	// A chain of operators that associate to the left, of members or of pipes is one level deep.
	maxNodes, maxDepth = 1000, 50
	// A step is about the work of looking at one value, so that they end well within a second; it is counted, not
	// timed, and therefore the same on every machine.
	maxSteps  = 10_000_000
	maxMemory = 64 << 20 // bytes of the strings, lists and objects that one evaluation makes
)

func fail(start, end int, message, help string) *Error {
	return reference.Fault(start, end, message, help)
}

func quote(s string) string { return wording.Quote(s) }
