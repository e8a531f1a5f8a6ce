package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// facts compares what plans may do ("approve --show") and how plans differ ("diff").
func facts(old, changed program, m *material) (outcome, error) {
	plans := slices.Concat(m.in(examples, workflows, pages), thin(m.in(cases), 2), thin(m.in(corpus, generated), 16))
	shown := overPlans(m.sound(old, plans), func(plan string) []difference {
		args := []string{"approve", "--show", "--format", "json", plan}
		before, after := old.read(args...), changed.read(args...)
		if before.status != after.status {
			return []difference{exits(plan, before, after)}
		}
		if before.status == 2 { // no plan: D1 compares why
			return nil
		}
		if a, b := factsOf(before.out), factsOf(after.out); a != b {
			return changes(plan, a, b)
		}
		return nil
	})
	pairs := m.twins()
	names := make([]string, len(pairs))
	for i, p := range pairs {
		names[i] = p[0] + " to " + p[1]
	}
	found := make([][]difference, len(pairs))
	each(len(pairs), func(i int) {
		args := []string{"diff", "--format", "json", pairs[i][0], pairs[i][1]}
		before, after := old.read(args...), changed.read(args...)
		if before.status != after.status {
			found[i] = []difference{exits(names[i], before, after)}
			return
		}
		found[i] = compareLines(names[i], linesOf(before.out, changeOf), linesOf(after.out, changeOf))
	})
	shown.cases = append(slices.Clone(shown.cases), names...)
	for _, some := range found {
		shown.differences = append(shown.differences, some...)
	}
	return shown, nil
}

// factsOf takes the facts of a plan out of what "approve --show" prints, without sentences.
func factsOf(out string) string {
	var shown struct{ Facts any }
	first, _, _ := strings.Cut(out, "\n")
	if err := json.Unmarshal([]byte(first), &shown); err != nil {
		return out
	}
	return compact(wordless(shown.Facts))
}

// changeOf is one line of "diff --format json": what changed, where, and both values.
func changeOf(line any) (key, text string) {
	fields, _ := line.(map[string]any)
	var words []string
	for _, name := range []string{"kind", "change", "of", "name", "what", "path", "risk"} {
		if word, ok := fields[name].(string); ok {
			words = append(words, word)
		}
	}
	return strings.Join(words, " "), compact(wordless(line))
}

// twins are pairs of plans that resemble each other: both plans of a page, neighbours among workflows, and
// generated plans with their changed copies.
func (m *material) twins() [][2]string {
	known := map[string]bool{}
	for _, name := range m.documents {
		known[name] = true
	}
	var pairs [][2]string
	add := func(a, b string) {
		if known[a] && known[b] {
			pairs = append(pairs, [2]string{a, b})
		}
	}
	for _, name := range m.in(pages) {
		add(name, strings.Replace(name, "-1/", "-2/", 1))
	}
	for _, name := range m.in(generated) {
		add(name, strings.Replace(name, ".json", "-changed.json", 1))
	}
	some := m.in(workflows)
	for i := range len(some) - 1 {
		add(some[i], some[i+1])
	}
	return slices.DeleteFunc(pairs, func(p [2]string) bool { return p[0] == p[1] })
}

// exits is the difference of two exit statuses.
func exits(name string, before, after answer) difference {
	return difference{
		name:    name,
		what:    fmt.Sprintf("exit status %d -> %d", before.status, after.status),
		old:     before.err + before.out,
		changed: after.err + after.out,
	}
}

// thin keeps one of so many.
func thin[T any](all []T, of int) []T {
	var some []T
	for i := 0; i < len(all); i += of {
		some = append(some, all[i])
	}
	return some
}
