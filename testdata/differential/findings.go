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
	before, after := checked(old, m.documents), checked(changed, m.documents)
	result := outcome{cases: m.documents}
	for i := range before {
		if crashed(before[i]) || crashed(after[i]) {
			d := difference{name: m.documents[i*perCheck], what: "crash", old: before[i].err, changed: after[i].err}
			result.differences = append(result.differences, d)
			continue
		}
		result.differences = append(result.differences, compareFindings(before[i], after[i])...)
	}
	return result, nil
}

const perCheck = 100

// checked are the answers of "check" for some documents, so many at a time.
func checked(p program, documents []string) []answer {
	chunks := slices.Collect(slices.Chunk(documents, perCheck))
	answers := make([]answer, len(chunks))
	each(len(chunks), func(i int) {
		answers[i] = p.read(append([]string{"check", "--format", "json"}, chunks[i]...)...)
	})
	return answers
}

func crashed(a answer) bool { return a.status < 0 || a.status > 2 }

// sound keeps the plans in which the oracle finds no error: the others can't be compiled or run, and what is
// wrong with them D1 compares.
func (m *material) sound(old program, plans []string) []string {
	faulty := map[string]bool{}
	for _, a := range checked(old, m.everything) {
		for file, found := range byFile(a) {
			faulty[file] = faulty[file] ||
				slices.ContainsFunc(found, func(f finding) bool { return f.Severity == "error" })
		}
	}
	return slices.DeleteFunc(slices.Clone(plans), func(plan string) bool { return faulty[plan] })
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
		said := finding{Code: "error", Message: strings.TrimSpace(line)}
		files["standard error"] = append(files["standard error"], said)
	}
	return files
}

// compareFile pairs the findings of both sides: equal ones first, then those that differ in the line or
// the severity alone.
func compareFile(file string, old, changed []finding) []difference {
	key := func(f finding) string { return fmt.Sprintf("%s %s %s %d", f.Code, f.Severity, f.Call, f.Start.Line) }
	moved := func(f finding) string { return f.Code + " " + f.Severity + " " + f.Call }
	reweighed := func(f finding) string { return fmt.Sprintf("%s %s %d", f.Code, f.Call, f.Start.Line) }
	by := func(key func(finding) string) func(a, b finding) bool {
		return func(a, b finding) bool { return key(a) == key(b) }
	}
	var differences []difference
	old, changed = without(old, slices.Clone(changed), by(key), nil)
	tell := func(f finding, what string, with finding) {
		differences = append(differences, difference{name: file, what: what, old: f.shown(), changed: with.shown()})
	}
	old, changed = without(old, changed, by(reweighed), func(a, b finding) {
		tell(a, fmt.Sprintf("severity %s %s -> %s %s", a.Code, a.Severity, b.Severity, a.Call), b)
	})
	old, changed = without(old, changed, by(moved), func(a, b finding) {
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

func (f finding) shown() string {
	if f.Code == "" {
		return ""
	}
	return fmt.Sprintf("line %d %s %s %s: %s", f.Start.Line, f.Severity, f.Code, f.Call, f.Message)
}
