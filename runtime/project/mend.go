package project

import (
	"slices"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
)

// Mended is the document's text with the safe fixes of its findings, and which of them
// these were. A fix that brings the document an error or a warning which it hadn't isn't made.
func (d Document) Mended(found []diag.Diagnostic) (text []byte, made []int) {
	left := max(1, min(40, 1<<18/(len(d.File.Text)+1))) // the larger it is, the less often it is judged
	return diag.Apply(d.File, found, d.Options.Limits, func(text []byte) bool {
		if left--; left < 0 {
			return false
		}
		return nothingNew(found, d.With(text).Compile().Judge().Findings)
	})
}

// Confirm marks those of a document's fixes that [Document.Mended] doesn't make as not safe.
func (d Document) Confirm(found []diag.Diagnostic) {
	safe := func(one diag.Diagnostic) bool {
		return slices.ContainsFunc(one.Fixes, func(f diag.Fix) bool { return f.Safe })
	}
	if !slices.ContainsFunc(found, safe) {
		return
	}
	_, made := d.Mended(found)
	for i := range found {
		if !slices.Contains(made, i) && safe(found[i]) {
			found[i].Fixes = slices.Clone(found[i].Fixes)
			for j := range found[i].Fixes {
				found[i].Fixes[j].Safe = false
			}
		}
	}
}

// With is the document with another text.
func (d Document) With(text []byte) Document {
	d.File = &source.File{Name: d.File.Name, Format: d.File.Format, Text: text, Row: d.File.Row, Base: d.File.Base}
	return d
}

// nothingNew reports whether no rule has more errors, nor more errors and warnings together, than before.
func nothingNew(before, after []diag.Diagnostic) bool {
	type kind struct {
		rule  *diag.Rule
		least diag.Severity
	}
	counts := map[kind]int{}
	count := func(found []diag.Diagnostic, by int) {
		for _, d := range found {
			for _, least := range []diag.Severity{diag.Warning, diag.Error} {
				if d.Severity >= least {
					counts[kind{d.Rule, least}] += by
				}
			}
		}
	}
	count(before, 1)
	count(after, -1)
	for _, n := range counts {
		if n < 0 {
			return false
		}
	}
	return true
}
