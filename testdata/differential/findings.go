package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// A finding is what of one line of "check --format json" is compared.
type finding struct {
	Kind, Code, Severity, File, Call, Message string
	Start                                     struct{ Line int }
}

// findings compares what "check" finds, by code, severity, call and line.
func findings(old, changed program, m *material) (outcome, error) {
	chunks := slices.Collect(slices.Chunk(m.documents, 100))
	found := make([][]difference, len(chunks))
	each(len(chunks), func(i int) {
		args := append([]string{"check", "--format", "json"}, chunks[i]...)
		before, after := old.run(args...), changed.run(args...)
		for _, a := range []answer{before, after} {
			if a.status != 0 && a.status != 1 && a.status != 2 {
				found[i] = []difference{{name: chunks[i][0], what: "crash", old: before.err, changed: after.err}}
				return
			}
		}
		found[i] = compareFindings(before, after)
	})
	result := outcome{cases: m.documents}
	for _, some := range found {
		result.differences = append(result.differences, some...)
	}
	return result, nil
}

func compareFindings(before, after answer) []difference {
	old, changed := byFile(before), byFile(after)
	var files []string
	for _, side := range []map[string][]finding{old, changed} {
		for file := range side {
			files = append(files, file)
		}
	}
	slices.Sort(files)
	var differences []difference
	for _, file := range slices.Compact(files) {
		differences = append(differences, compareFile(file, old[file], changed[file])...)
	}
	return differences
}

func byFile(a answer) map[string][]finding {
	files := map[string][]finding{}
	for line := range strings.Lines(a.out) {
		var f finding
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			f = finding{Kind: "finding", Code: "not JSON", Message: line}
		}
		if f.Kind == "finding" || f.Kind == "" {
			files[f.File] = append(files[f.File], f)
		}
	}
	for line := range strings.Lines(a.err) {
		files["standard error"] = append(files["standard error"], finding{Code: "error", Message: strings.TrimSpace(line)})
	}
	return files
}

// compareFile pairs the findings of both sides: equal ones first, then those that differ in the line or
// the severity alone.
func compareFile(file string, old, changed []finding) []difference {
	key := func(f finding) string { return fmt.Sprintf("%s %s %s %d", f.Code, f.Severity, f.Call, f.Start.Line) }
	moved := func(f finding) string { return f.Code + " " + f.Severity + " " + f.Call }
	reweighed := func(f finding) string { return fmt.Sprintf("%s %s %d", f.Code, f.Call, f.Start.Line) }
	var differences []difference
	old, changed = unpaired(old, changed, key, nil)
	tell := func(f finding, what string, with finding) {
		differences = append(differences, difference{name: file, what: what, old: f.shown(), changed: with.shown()})
	}
	old, changed = unpaired(old, changed, reweighed, func(a, b finding) {
		tell(a, fmt.Sprintf("severity %s %s -> %s %s", a.Code, a.Severity, b.Severity, a.Call), b)
	})
	old, changed = unpaired(old, changed, moved, func(a, b finding) {
		tell(a, fmt.Sprintf("moved %s %d -> %d %s", a.Code, a.Start.Line, b.Start.Line, a.Call), b)
	})
	for _, f := range old {
		tell(f, strings.TrimSpace("lost "+moved(f)), finding{})
	}
	for _, f := range changed {
		tell(finding{}, strings.TrimSpace("new "+moved(f)), f)
	}
	return differences
}

// unpaired returns what is left of both lists once each of the first took one with the same key of the
// second.
func unpaired(old, changed []finding, key func(finding) string, pair func(a, b finding)) (left, right []finding) {
	right = slices.Clone(changed)
	for _, f := range old {
		at := slices.IndexFunc(right, func(g finding) bool { return key(f) == key(g) })
		if at < 0 {
			left = append(left, f)
			continue
		}
		if pair != nil {
			pair(f, right[at])
		}
		right = slices.Delete(right, at, at+1)
	}
	return left, right
}

func (f finding) shown() string {
	if f.Code == "" {
		return ""
	}
	return fmt.Sprintf("line %d %s %s %s: %s", f.Start.Line, f.Severity, f.Code, f.Call, f.Message)
}
