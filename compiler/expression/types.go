package expression

import (
	"cmp"
	"maps"

	"github.com/obelus-dev/obelus/compiler/wording"
)

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
		if k == 1<<i { // as it mostly is
			return name
		}
		if k&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return cmp.Or(wording.Or(names), "no value")
}

// A Type is what is known of a value before there is one. A nil Type is a value about which nothing is known. A Type
// isn't changed once it is in use.
type Type struct {
	// Kinds are the kinds that the value may have; 0 is any.
	Kinds KindSet
	// Elem is the type of a list's items; nil is anything.
	Elem *Type
	// Fields are the types of an object's keys. A key that isn't among them may
	// be there when Open is set; otherwise there are no others.
	Fields map[string]*Type
	Open   bool
	// Rest is the type of what any other key has that is there; nil is anything.
	Rest *Type
}

// kinds are the kinds that a value of the type may have.
func (t *Type) kinds() KindSet {
	if t == nil || t.Kinds == 0 {
		return anything
	}
	return t.Kinds
}

// elem is the type of the items, if the value is a list.
func (t *Type) elem() *Type {
	if t == nil {
		return nil
	}
	return t.Elem
}

// without is the type less some kinds. A type without kinds left is nil.
func (t *Type) without(kinds KindSet) *Type {
	if t == nil || t.Kinds&kinds == 0 {
		return t
	}
	less := *t
	if less.Kinds &^= kinds; less.Kinds == 0 {
		return nil
	}
	return &less
}

// with is the type and some more kinds.
func (t *Type) with(kinds KindSet) *Type {
	if t == nil || t.Kinds == 0 || t.Kinds&kinds == kinds {
		return t
	}
	more := *t
	more.Kinds |= kinds
	return &more
}

// never is the type of the items of an empty list. By itself it says no more
// than nil does; joined with another type it adds nothing.
var never = &Type{}

// maxUnionDepth bounds how deep two types are joined; below it nothing is known.
const maxUnionDepth = 8

// either is the type of a value that has one of two types.
func either(a, b *Type, depth int) *Type {
	switch {
	case a == b || b == never:
		return a
	case a == never:
		return b
	case a == nil || b == nil || a.Kinds == 0 || b.Kinds == 0 || depth > maxUnionDepth:
		return nil
	}
	if b.Kinds&Object == 0 {
		a, b = b, a
	}
	out := &Type{Kinds: a.Kinds | b.Kinds, Fields: b.Fields, Open: b.Open, Rest: b.Rest}
	switch {
	case a.Kinds&Array == 0:
		out.Elem = b.Elem
	case b.Kinds&Array == 0:
		out.Elem = a.Elem
	default:
		out.Elem = either(a.Elem, b.Elem, depth+1)
	}
	if a.Kinds&Object == 0 {
		return out
	}
	out.Open, out.Rest, out.Fields = a.open() || b.open(), nil, maps.Clone(a.Fields)
	for name, field := range b.Fields {
		if other, both := a.Fields[name]; both {
			field = either(field, other, depth+1)
		} else if a.open() {
			field = nil
		}
		if out.Fields == nil {
			out.Fields = map[string]*Type{}
		}
		out.Fields[name] = field
	}
	for name := range a.Fields {
		if _, both := b.Fields[name]; !both && b.open() {
			out.Fields[name] = nil
		}
	}
	return out
}

// open reports whether an object may have keys that the type doesn't name.
func (t *Type) open() bool { return t.Open || t.Fields == nil }

// outside is the type of what leaves an expression: dates and durations do so
// as strings.
func (t *Type) outside(depth int) *Type {
	if t == nil || depth > maxUnionDepth {
		return nil
	}
	out := *t
	if out.Kinds&(date|duration) != 0 {
		out.Kinds = out.Kinds&^(date|duration) | String
	}
	out.Elem, out.Rest = t.Elem.outside(depth+1), t.Rest.outside(depth+1)
	if t.Fields != nil {
		out.Fields = make(map[string]*Type, len(t.Fields))
		for name, field := range t.Fields {
			out.Fields[name] = field.outside(depth + 1)
		}
	}
	return &out
}

var (
	aBool    = &Type{Kinds: Bool}
	aNumber  = &Type{Kinds: Number}
	aString  = &Type{Kinds: String}
	anObject = &Type{Kinds: Object, Open: true}
	numbers  = &Type{Kinds: Array, Elem: aNumber}
)
