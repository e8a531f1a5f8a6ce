// Package expression reads what follows a †: references, fallbacks, gates,
// and expressions over them (S4, S5.1). It knows nothing of plans: who writes
// a path, and whether it is there, is told to it.
package expression

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
	// Required is false inside ||, ?? or ?., where the expression can do without it.
	Required bool
}

// An Error says what is wrong with a text, and where in it (bytes of the
// decoded scalar).
type Error struct {
	Start, End int
	Message    string // lower case, no full stop
	Help       string // what to do; may be ""
}

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
