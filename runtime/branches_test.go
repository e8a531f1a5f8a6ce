package runtime_test

import (
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/runtime"
)

// What the analyzer says of branches is held against runs: a plan is run with
// every way in which its activities may end, or many of them, and whatever is
// said must be so in each.

// An ending is how the activity of one call ends.
type ending struct {
	alternative int // -1: none named
	fails       bool
	value       any
}

// meets reports whether two calls wrote paths of which one is in the other, not
// both as failure records, and at least one by set.
func meets(p *plan.Plan, log []runtime.Message, a, b int) bool {
	for _, x := range log {
		for _, y := range log {
			if x.Call == a && y.Call == b && p.Paths.Overlap(x.Path, y.Path) && !(x.Failure && y.Failure) && (x.Method == plan.Set || y.Method == plan.Set) {
				return true
			}
		}
	}
	return false
}

// without is the plan with an operand of a fallback, or all after it, taken out.
func without(text string, d diag.Diagnostic) (string, bool) {
	at := d.Span.Start
	from := strings.LastIndexByte(text[:at], '"') + 1
	to := at + strings.IndexByte(text[at:], '"')
	operands := strings.Split(text[from:to], " || ")
	offset := from
	for i, o := range operands {
		if offset == at {
			if strings.Contains(d.Message, "operands after it") {
				operands = operands[:i+1]
			} else {
				operands = slices.Delete(operands, i, i+1)
			}
			break
		}
		offset += len(o) + len(" || ")
	}
	changed := strings.Join(operands, " || ")
	if len(operands) == 1 && !strings.Contains(changed, "&&") && strings.HasPrefix(changed, "†") {
		changed += " && " + changed // a plain reference would let null pass
	}
	if !strings.HasPrefix(changed, "†") {
		if strings.Contains(changed, "†") {
			changed = "†(" + changed + ")"
		} else {
			changed = strings.Trim(changed, "'")
		}
	}
	return text[:from] + changed + text[to:], len(operands) > 0
}
