package expression

import "strings"

// A KindSet is a set of kinds of JSON value.
type KindSet uint16

// The kinds of JSON value. A whole number is a Number like any other.
const (
	Null KindSet = 1 << iota
	Bool
	Number
	String
	Array
	Object

	date     // an intermediate value: it leaves an expression as a string
	duration // likewise

	// AnyKind is every kind that a value from outside may have.
	AnyKind = Null | Bool | Number | String | Array | Object

	anything = AnyKind | date | duration
)

var kindNames = []string{"null", "a boolean", "a number", "a string", "a list", "an object", "a date", "a duration"}

// String names the kinds for a message: "a number or a string".
func (k KindSet) String() string {
	if k&anything == AnyKind || k&anything == anything {
		return "any value"
	}
	var names []string
	for i, name := range kindNames {
		if k&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	switch len(names) {
	case 0:
		return "no value"
	case 1:
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// A Type is what is known of a value before there is one. A nil Type is a value
// of which nothing is known.
type Type struct {
	Kinds KindSet
	// Elem is the type of a list's items; nil is anything.
	Elem *Type
	// Fields are the types of an object's keys. A key that isn't among them may
	// be there when Open is set; otherwise there are no others.
	Fields map[string]*Type
	Open   bool
}
