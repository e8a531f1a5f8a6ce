package main

import (
	"encoding/json"
	"slices"
	"strings"
)

// A line is one of an output of JSON lines, or one node or edge of a drawing: two outputs are equal if they
// have the same lines in any order. The key names it where the rest of it differs.
type line struct{ key, text string }

// linesOf reads JSON lines. What isn't JSON is a line that says so.
func linesOf(out string, of func(any) (key, text string)) []line {
	var all []line
	for text := range strings.Lines(out) {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			all = append(all, line{"text", "text"})
			continue
		}
		key, rest := of(v)
		if key != "" {
			all = append(all, line{key, rest})
		}
	}
	return all
}

// compareLines pairs equal lines, then those that have the same key, and names what is left.
func compareLines(name string, old, changed []line) []difference {
	old, changed = slices.Clone(old), slices.Clone(changed)
	old, changed = without(old, changed, func(a, b line) bool { return a == b }, nil)
	var differences []difference
	old, changed = without(old, changed, func(a, b line) bool { return a.key == b.key }, func(a, b line) {
		differences = append(
			differences, difference{name: name, what: "changed " + a.key, old: a.text, changed: b.text},
		)
	})
	for _, l := range old {
		differences = append(differences, difference{name: name, what: "lost " + l.key, old: l.text})
	}
	for _, l := range changed {
		differences = append(differences, difference{name: name, what: "new " + l.key, changed: l.text})
	}
	return differences
}

// without pairs each of the first list with one of the second, and returns what is left of both.
func without[T any](old, changed []T, same func(a, b T) bool, pair func(a, b T)) (left, right []T) {
	right = changed
	for _, x := range old {
		at := slices.IndexFunc(right, func(y T) bool { return same(x, y) })
		if at < 0 {
			left = append(left, x)
			continue
		}
		if pair != nil {
			pair(x, right[at])
		}
		right = slices.Delete(right, at, at+1)
	}
	return left, right
}

// sentences are the keys whose values are written for people: their wording may change.
var sentences = []string{
	"message", "help", "reason", "words", "more", "because", "by", "question", "description", "signed",
}

// wordless is a JSON value without sentences.
func wordless(v any) any {
	switch v := v.(type) {
	case map[string]any:
		rest := map[string]any{}
		for key, value := range v {
			if !slices.Contains(sentences, key) {
				rest[key] = wordless(value)
			}
		}
		return rest
	case []any:
		rest := make([]any, len(v))
		for i := range v {
			rest[i] = wordless(v[i])
		}
		return rest
	}
	return v
}
