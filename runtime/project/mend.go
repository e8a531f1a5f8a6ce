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
	return diag.Apply(d.File, found, d.Options.Limits, func(text []byte, edits []diag.Edit) bool {
		if left--; left < 0 {
			return false
		}
		return nothingNew(d.File, found, d.With(text).Compile().Judge().Findings, edits)
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

// nothingNew reports whether each error and warning about a text was there, at the
// same place, before the edits that led to it.
func nothingNew(file *source.File, before, after []diag.Diagnostic, edits []diag.Edit) bool {
	type place struct {
		code, file string
		row, start int
	}
	at := func(d diag.Diagnostic, start func(int) int) place {
		p := place{code: d.Rule.Code}
		if f := d.Span.File; f != nil {
			p.file, p.row, p.start = f.Name, f.Row, d.Span.Start
			if f.Name == file.Name && f.Row == file.Row {
				p.start = start(p.start)
			}
		}
		return p
	}
	known := map[place]diag.Severity{}
	for _, d := range before {
		p := at(d, func(offset int) int { return beforeEdits(edits, offset, false) })
		known[p] = max(known[p], d.Severity)
	}
	return !slices.ContainsFunc(after, func(d diag.Diagnostic) bool {
		worst, ok := known[at(d, func(offset int) int { return beforeEdits(edits, offset, true) })]
		return d.Severity > diag.Info && (!ok || worst < d.Severity)
	})
}

// beforeEdits is where an offset into an edited text stood before the edits, or, if
// it wasn't edited yet, where it stands; what lies inside an edit is where that begins.
func beforeEdits(edits []diag.Edit, offset int, edited bool) int {
	grown := 0
	for _, e := range edits {
		length := e.Span.End - e.Span.Start
		if edited {
			length = len(e.Text)
		}
		switch start := e.Span.Start + grown; {
		case offset < start:
			return offset - grown
		case offset < start+max(1, length):
			return e.Span.Start
		}
		if edited {
			grown += len(e.Text) - (e.Span.End - e.Span.Start)
		}
	}
	return offset - grown
}
