package ast

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"

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
		return KindOfFloat(v)
	}
	if f, ok := Float(v); ok {
		return KindOfFloat(f)
	}
	return 0
}

func kindsOf(values []any) (kinds Kinds) {
	for _, v := range values {
		kinds |= KindOf(v)
	}
	return kinds
}

// KindOfFloat is Integer or Fraction, and 0 for what JSON can't write.
func KindOfFloat(f float64) Kinds {
	switch {
	case f != f || f-f != 0:
		return 0
	case f == math.Trunc(f):
		return Integer
	}
	return Fraction
}

// Float reads any of Go's numbers as the float64 that JSON would make of it.
func Float(v any) (float64, bool) {
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
// the order of keys doesn't count. Values of more than maxDepth levels are never equal.
func Equal(a, b any) bool {
	x, ok := key(a, maxDepth)
	y, both := key(b, maxDepth)
	return ok && both && x == y
}

// Distinct removes the values that equal an earlier one.
func Distinct(values []any) []any {
	seen := map[any]bool{}
	return slices.DeleteFunc(values, func(v any) bool {
		k, ok := key(v, maxDepth)
		again := ok && seen[k]
		seen[k] = true
		return again
	})
}

// key is the same for equal values, and for no others, and can be the key of a map. It is none for values that are too
// deep to be equal to any.
func key(v any, depth int) (any, bool) {
	switch v := v.(type) {
	case nil, bool, string:
		return v, true
	case []any, map[string]any:
		text, ok := appendKey(nil, v, depth)
		return composite(text), ok
	}
	f, ok := Float(v)
	return f + 0, ok // minus zero is zero
}

// A composite is the text of a list or an object.
type composite string

func appendKey(text []byte, v any, depth int) (_ []byte, ok bool) {
	if depth < 0 {
		return nil, false
	}
	switch v := v.(type) {
	case []any:
		text, ok = append(text, '['), true
		for i := 0; i < len(v) && ok; i++ {
			text, ok = appendKey(text, v[i], depth-1)
			text = append(text, ',')
		}
		return append(text, ']'), ok
	case map[string]any:
		text, ok = append(text, '{'), true
		for _, name := range sortedKeys(v) {
			if text, ok = appendKey(append(strconv.AppendQuote(text, name), ':'), v[name], depth-1); !ok {
				break
			}
			text = append(text, ',')
		}
		return append(text, '}'), ok
	}
	k, ok := key(v, depth)
	return fmt.Appendf(text, "%#v", k), ok
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
