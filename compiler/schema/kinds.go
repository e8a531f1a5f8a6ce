package schema

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"reflect"
	"slices"

	"github.com/obelus-dev/obelus/compiler/wording"
)

// Kinds is a set of kinds of JSON value. Numbers are two kinds: those that are
// integers (1.0 is one) and those that aren't.
type Kinds uint8

// The kinds.
const (
	Null Kinds = 1 << iota
	Boolean
	Integer
	Fraction
	String
	Array
	Object

	Number   = Integer | Fraction
	Anything = Null | Boolean | Number | String | Array | Object
)

// String lists the kinds in words: "a string or null".
func (k Kinds) String() string {
	if k == Anything {
		return "anything"
	}
	var words []string
	add := func(bit Kinds, word string) {
		if k&bit == bit {
			words = append(words, word)
			k &^= bit
		}
	}
	add(Number, "a number")
	add(Integer, "an integer")
	add(Fraction, "a number with a fraction")
	add(String, "a string")
	add(Boolean, "a boolean")
	add(Array, "an array")
	add(Object, "an object")
	add(Null, "null")
	return cmp.Or(wording.Or(words), "nothing")
}

// KindOf is the kind of a value; 0 for what isn't a JSON value, such as an
// infinity.
func KindOf(v any) Kinds {
	switch v := v.(type) {
	case nil:
		return Null
	case bool:
		return Boolean
	case string:
		return String
	case []any:
		return Array
	case map[string]any:
		return Object
	case float64:
		return kindOfFloat(v)
	}
	if f, ok := number(v); ok {
		return kindOfFloat(f)
	}
	return 0
}

func kindsOf(values []any) (kinds Kinds) {
	for _, v := range values {
		kinds |= KindOf(v)
	}
	return kinds
}

func kindOfFloat(f float64) Kinds {
	switch {
	case f != f || f-f != 0:
		return 0
	case f == math.Trunc(f):
		return Integer
	}
	return Fraction
}

// number reads any of Go's numbers as the float64 that JSON would make of it.
func number(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case json.Number:
		if len(v) > maxNumber {
			return 0, false
		}
		f, err := v.Float64()
		return f, err == nil
	}
	switch n := reflect.ValueOf(v); {
	case n.CanFloat():
		return n.Float(), true
	case n.CanInt():
		return float64(n.Int()), true
	case n.CanUint():
		return float64(n.Uint()), true
	}
	return 0, false
}

// Equal reports whether two JSON values are the same value: 1 and 1.0 are, and
// the order of keys doesn't count. It looks at most maxDepth levels deep;
// deeper values are never equal.
func Equal(a, b any) bool { return equal(a, b, maxDepth) }

func equal(a, b any, depth int) bool {
	if depth < 0 {
		return false
	}
	switch a := a.(type) {
	case nil, bool, string:
		return a == b
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !equal(a[i], b[i], depth-1) {
				return false
			}
		}
		return true
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for k, x := range a {
			y, ok := b[k]
			if !ok || !equal(x, y, depth-1) {
				return false
			}
		}
		return true
	}
	x, ok := number(a)
	if !ok {
		return false
	}
	y, ok := number(b)
	return ok && x == y
}

// hash is the same for equal values.
func hash(v any, depth int) uint64 {
	const prime = 1099511628211
	h := uint64(14695981039346656037)
	mix := func(x uint64) { h = (h ^ x) * prime }
	if depth < 0 {
		return h
	}
	switch v := v.(type) {
	case nil:
		mix(1)
	case bool:
		mix(2)
		if v {
			mix(1)
		}
	case string:
		mix(3)
		for i := 0; i < len(v); i++ {
			mix(uint64(v[i]))
		}
	case []any:
		mix(4)
		for _, x := range v {
			mix(hash(x, depth-1))
		}
	case map[string]any:
		var sum uint64 // the same for every order of keys
		for k, x := range v {
			sum += hash(k, depth)*31 ^ hash(x, depth-1)
		}
		mix(5)
		mix(sum)
	default:
		f, _ := number(v)
		if f == 0 {
			f = 0 // minus zero is zero
		}
		mix(6)
		mix(math.Float64bits(f))
	}
	return h
}

// sortedKeys makes room for all keys at once, as there are many small objects.
func sortedKeys(m map[string]any) []string {
	keys := slices.AppendSeq(make([]string, 0, len(m)), maps.Keys(m))
	slices.Sort(keys)
	return keys
}
