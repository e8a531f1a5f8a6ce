package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// digests compares the canonical bytes of every plan that compiles, and with them its digest and the parts
// that the digest covers.
func digests(old, changed program, m *material) (outcome, error) {
	plans := slices.Concat(m.in(examples, workflows, pages), thin(m.in(cases), 2), thin(m.in(corpus, generated), 8))
	return overPlans(m.sound(old, plans), func(plan string) []difference {
		before, after := old.read("compile", plan), changed.read("compile", plan)
		if before.status != after.status {
			return []difference{exits(plan, before, after)}
		}
		if before.out == after.out || before.status != 0 { // without a plan there are findings, which D1 compares
			return nil
		}
		return changes(plan, before.out, after.out)
	}), nil
}

// changes names the places at which two JSON documents differ: at most twelve.
func changes(plan, old, changed string) []difference {
	var before, after any
	if json.Unmarshal([]byte(old), &before) != nil || json.Unmarshal([]byte(changed), &after) != nil {
		return []difference{{name: plan, what: "not JSON", old: old, changed: changed}}
	}
	var differences []difference
	walk("", before, after, func(path string, a, b any) {
		if len(differences) < 12 {
			d := difference{name: plan, what: path, old: compact(a), changed: compact(b)}
			differences = append(differences, d)
		}
	})
	if len(differences) == 0 {
		differences = append(differences, difference{name: plan, what: "bytes", old: old, changed: changed})
	}
	return differences
}

// walk goes through two documents and reports what differs by its path. What isn't there is absent.
func walk(path string, a, b any, report func(path string, a, b any)) {
	if reflect.DeepEqual(a, b) {
		return
	}
	if x, y, ok := both[map[string]any](a, b); ok {
		keys := slices.Collect(maps.Keys(x))
		for key := range y {
			if _, known := x[key]; !known {
				keys = append(keys, key)
			}
		}
		slices.Sort(keys)
		for _, key := range keys {
			walk(path+"/"+key, valueOf(x, key), valueOf(y, key), report)
		}
		return
	}
	if x, y, ok := both[[]any](a, b); ok && len(x) == len(y) {
		for i := range x {
			walk(fmt.Sprintf("%s/%d", path, i), x[i], y[i], report)
		}
		return
	}
	report(path, a, b)
}

type absent struct{}

func valueOf(object map[string]any, key string) any {
	if value, ok := object[key]; ok {
		return value
	}
	return absent{}
}

func both[T any](a, b any) (x, y T, ok bool) {
	x, okX := a.(T)
	y, okY := b.(T)
	return x, y, okX && okY
}

func compact(v any) string {
	if v == (any)(absent{}) {
		return "(absent)"
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(text))
}
