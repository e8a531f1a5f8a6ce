package samples

import (
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// A hole represents a value that the plan doesn't describe. An object whose keys it doesn't describe completely has a
// mark beside those that it has. Values with holes are written to the state of a sample run like others, so that what
// is made of them has holes as well.

// mark is a key that no object of a plan has: alone with true it makes a hole.
const mark = "\x00"

// Hole is an unknown value.
func Hole() any { return map[string]any{mark: true} }

// IsHole reports whether nothing is known of a value.
func IsHole(v any) bool {
	object, is := v.(map[string]any)
	return is && len(object) == 1 && object[mark] == true
}

// mostParts bounds a value of a sample run, which may hold others several times.
const mostParts = 20_000

// IsLarge reports whether a value has more parts than are worked with.
func IsLarge(v any) bool { return Size(v) > mostParts }

// Size is how many parts a value has, or more than are worked with.
func Size(v any) int { return size(v, mostParts) }

// size is how many parts a value has, or more than most.
func size(v any, most int) (n int) {
	n = 1
	switch v := v.(type) {
	case []any:
		for i := 0; i < len(v) && n <= most; i++ {
			n += size(v[i], most-n)
		}
	case map[string]any:
		for _, field := range v {
			if n <= most {
				n += size(field, most-n)
			}
		}
	}
	return n
}

// IsOpen reports whether a value may have any other key, or be anything.
func IsOpen(v any) bool {
	object, _ := v.(map[string]any)
	_, open := object[mark]
	return open
}

// A Certainty is how much of a value is known.
type Certainty uint8

const (
	Described Certainty = iota // all of it
	Open                       // all but keys that some object may have besides
	Unknown                    // some part is a hole
)

// Clear is a value without its marks, and what they say. A hole is null.
func Clear(v any) (_ any, how Certainty) {
	part := func(v any) any {
		cleared, certainty := Clear(v)
		how = max(how, certainty)
		return cleared
	}
	switch v := v.(type) {
	case []any:
		all := make([]any, len(v))
		for i := range v {
			all[i] = part(v[i])
		}
		return all, how
	case map[string]any:
		if IsHole(v) {
			return nil, Unknown
		}
		all := make(map[string]any, len(v))
		for key, field := range v {
			if key == mark {
				how = max(how, Open)
			} else {
				all[key] = part(field)
			}
		}
		return all, how
	}
	return v, Described
}

// IsCertain reports whether a schema refuses a value whatever is in its holes.
func IsCertain(v any, why *schema.Violation) bool {
	if _, how := Clear(v); how == Described {
		return true
	}
	v, there := pathtree.Walk(v, why.Path)
	if !there {
		return false
	}
	_, how := Clear(v)
	return how == Described || !IsHole(v) && (why.Keyword == "type" || why.Keyword == "minProperties")
}

// Marked is a value that a schema accepts, with holes where the schema describes nothing.
func Marked(s *schema.Schema, v any) any {
	left := mostParts
	if all := marked(s, v, &left); left >= 0 {
		return all
	}
	return Hole()
}

func marked(s *schema.Schema, v any, left *int) any {
	object, _ := v.(map[string]any) // a schema may describe its parts, and not that it is an object
	if *left--; *left < 0 || saysNothing(s) && (object == nil || len(s.Properties()) == 0) {
		return Hole()
	}
	part := func(step schema.Step, of any) any {
		if at := s.AtIn(v, []schema.Step{step}); at.Possible {
			return marked(at.Schema, of, left)
		}
		return Hole()
	}
	switch v := v.(type) {
	case []any:
		all := make([]any, len(v))
		for i := range v {
			all[i] = part(schema.Index(i), v[i])
		}
		return all
	case map[string]any:
		all := make(map[string]any, len(v)+1)
		for key, field := range v {
			all[key] = part(schema.Key(key), field)
		}
		// Where a schema names some keys and doesn't say that there may be others there are none.
		rest := s.Part(mark)
		if rest.Possible && saysNothing(rest.Schema) && (rest.Open || len(s.Properties()) == 0) {
			all[mark] = false
		}
		return all
	}
	return v
}

func saysNothing(s *schema.Schema) bool {
	return s == nil || s.Kinds()&^schema.Null == schema.Anything&^schema.Null
}
