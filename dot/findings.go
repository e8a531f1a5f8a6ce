package dot

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/obelus-dev/obelus/compiler/diag"
)

// A place is a range of bytes of the plan's file.
type place struct{ start, end int }

// indexFindings collects, by call, the places of references that find nothing.
func (d *drawing) indexFindings() {
	d.missing = map[string][]place{}
	for _, f := range d.findings {
		if f.Rule == diag.DanglingReference || f.Rule == diag.UndeclaredPath || f.Rule == diag.UnknownKind {
			d.missing[f.Call] = append(d.missing[f.Call], place{f.Span.Start, f.Span.End})
		}
	}
	for _, places := range d.missing {
		slices.SortFunc(places, func(a, b place) int { return cmp.Compare(a.start, b.start) })
	}
}

// overlaps reports whether one of the sorted places overlaps a range.
func overlaps(places []place, start, end int) bool {
	at, _ := slices.BinarySearchFunc(places, start+1,
		func(p place, start int) int { return cmp.Compare(p.start, start) })
	return at > 0 && places[at-1].end > start || at < len(places) && places[at].start < end
}

// drawFindings marks the calls that findings are about.
func (d *drawing) drawFindings() {
	byName := make(map[string]int, len(d.plan.Calls))
	for i, c := range d.plan.Calls {
		if _, ok := byName[c.Name]; !ok {
			byName[c.Name] = i
		}
	}
	for _, f := range d.findings {
		if i, ok := byName[f.Call]; ok && f.Call != "" {
			if at := d.shown[i]; at >= 0 {
				d.b.mark(at, markOf(f))
			}
		} else if d.output >= 0 && d.ofOutput(f) {
			d.b.mark(d.output, markOf(f))
		}
	}
}

func markOf(f diag.Diagnostic) Mark {
	return Mark{Kind: MarkKind(f.Severity.String()), Code: f.Rule.Code + meanings[f.Rule.Code],
		Text: diag.Escape(f.Message)}
}

// meanings are those of findings that say what a call may do to the world, by their codes: a
// number alone tells it to nobody.
var meanings = map[string]string{
	"OB607": ": may be done twice: repeated after a failure, and not declared idempotent",
}

// ofOutput reports whether a finding that is about no call is in the plan's output.
func (d *drawing) ofOutput(f diag.Diagnostic) bool {
	if f.Call != "" || f.Span.File == nil || f.Span.File != d.plan.File || d.plan.Output == nil {
		return false
	}
	at := d.plan.Output.Node.Span()
	return at.File == f.Span.File && f.Span.Start < at.End && at.Start < f.Span.End
}

// unplaced counts the errors and warnings that are about no call.
func (d *drawing) unplaced() string {
	var rest []diag.Diagnostic
	for _, f := range d.findings {
		if f.Call == "" && f.Severity > diag.Info && !d.ofOutput(f) {
			rest = append(rest, f)
		}
	}
	switch len(rest) {
	case 0:
		return ""
	case 1:
		return rest[0].Severity.String() + " " + rest[0].Rule.Code + ": " + diag.Escape(rest[0].Message)
	}
	return fmt.Sprintf("%d findings about no call in particular: obelus check shows them", len(rest))
}
