package dot

import (
	"fmt"

	"github.com/obelus-dev/obelus/compiler/diag"
)

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

// unplaced counts the errors and warnings that are about no call.
func (d *drawing) unplaced() string {
	var rest []diag.Diagnostic
	for _, f := range d.findings {
		if f.Call == "" && f.Severity > diag.Info {
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
