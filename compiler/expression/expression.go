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
	"strconv"
	"strings"
)

// Mark begins every reference.
const Mark = '†'

// A Segment is one step of a path: a key of an object, or an index of a list.
// [0] and .0 are indexes; ["0"] is a key.
type Segment struct {
	Key     string // the key, or the index in decimal
	Index   int
	IsIndex bool
}

// A Reference is one †kind.path in an expression's text.
type Reference struct {
	Kind string
	Path []Segment
	// Start and End are byte offsets in the decoded text of the scalar, † included.
	Start, End int
	// Required is false inside ||, ?? or ?., where the expression can do without
	// it. In a path that is written (ParseOutput) it is always true.
	Required bool
}

// An Error says what is wrong with a text, and where in it (bytes of the
// decoded scalar).
type Error struct {
	Start, End int
	Message    string // lower case, no full stop
	Help       string // what to do; may be ""
	Cause      Cause
}

// Cause is what an expression fails for.
type Cause uint8

const (
	// OfKind: a value has a kind that isn't wanted there, or the expression itself is wrong.
	OfKind Cause = iota
	// OfValue: the kinds are right and the values aren't: an index past the end, a division
	// by zero.
	OfValue
	// OfText: a text isn't written as a function reads it, or a number is too large: which
	// values do is for those who know them.
	OfText
)

func (e *Error) Error() string { return e.Message }

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

// IsExpression reports whether a string of a plan is an expression: its
// first character is †, and its second neither that nor the brace of an
// expression in a text ([IsText]).
func IsExpression(s string) bool {
	return strings.HasPrefix(s, mark) && !strings.HasPrefix(s[len(mark):], mark) && !strings.HasPrefix(s, opening)
}

const mark = string(Mark)

// IsBareKey reports whether a key can follow a dot in a reference without
// quotes: letters, digits, _, and - inside. A key of digits alone can't,
// because it would be an index.
func IsBareKey(key string) bool {
	return key != "" && readKey(key, 0) == len(key) && digits(key, 0) != len(key)
}

// String is the reference in canonical form: †state.items[0]["odd key"].
func (r Reference) String() string {
	var b strings.Builder
	b.WriteString(mark)
	b.WriteString(r.Kind)
	writePath(&b, r.Path)
	return b.String()
}

func writePath(b *strings.Builder, path []Segment) {
	for _, s := range path {
		switch {
		case s.IsIndex:
			b.WriteString("[" + s.Key + "]")
		case IsBareKey(s.Key):
			b.WriteString("." + s.Key)
		default:
			b.WriteString("[" + strconv.Quote(s.Key) + "]")
		}
	}
}

// Limits bound an expression and its evaluation. The zero value of a
// field is the default.
type Limits struct {
	// Nodes and Depth bound the expression itself. A chain of operators that
	// associate to the left, of members or of pipes is one level deep.
	Nodes, Depth int
	// Steps bounds the work of one evaluation. A step is about the work of looking at one value, so that the default
	// ends well within a second; it is counted, not timed, and therefore the same on every machine.
	Steps int
	// Memory bounds the bytes of the strings, lists and objects that one
	// evaluation makes.
	Memory int
}

// DefaultLimits are those.
func DefaultLimits() Limits {
	return Limits{Nodes: 1000, Depth: 50, Steps: 10_000_000, Memory: 64 << 20}
}

// shared is where expressions find the limits: nearly all have the same.
func (l Limits) shared() *Limits {
	if l == defaults {
		return &defaults
	}
	own := l
	return &own
}

var defaults = DefaultLimits()

func (l Limits) orDefault() Limits {
	or := func(have, otherwise int) int {
		if have <= 0 {
			return otherwise
		}
		return have
	}
	d := DefaultLimits()
	return Limits{or(l.Nodes, d.Nodes), or(l.Depth, d.Depth), or(l.Steps, d.Steps), or(l.Memory, d.Memory)}
}
