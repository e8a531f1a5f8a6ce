package analyzer

import (
	"fmt"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/analyzer/internal/branch"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/wording"
)

// A Turn is a value on which conditions of a plan turn.
type Turn = branch.Turn

// Turns are the values that conditions of a plan, or of one of its delegates, are about, with samples
// for which conditions hold and don't hold, if the schemas allow both.
func Turns(p *plan.Plan) []Turn { return branch.Turns(p, newPass(p, 0).flow) }

// A BranchChoice is one decision of a branch.
type BranchChoice = branch.Choice

// A Branch is the evidence that goes with a finding about branches: the decisions that lead into it, in the order of
// the run. Where something is the other way on another branch, Instead leads there.
type Branch struct {
	Branch    []branch.Choice `json:"branch"`
	Instead   []branch.Choice `json:"instead,omitempty"`
	Schedules []Schedule      `json:"schedules,omitempty"` // two that end in different states
}

// noteWriters shows where alternatives write what some expressions read; nil is none.
func noteWriters(p *Pass, f *diag.Diagnostic, templates ...*plan.Template) {
	noted := map[source.Span]bool{}
	for _, t := range templates {
		if t == nil {
			continue
		}
		for _, r := range t.Reads {
			read := &p.Plan.Reads[r]
			for _, w := range read.Writers {
				call := p.Plan.Calls[w]
				if path, ok := flow.OutputOver(p.Plan, call, read.Path); ok && len(noted) < maxShown && !noted[path.Span()] {
					noted[path.Span()] = true
					f.Note(path.Span(), "%q may write %q here", call.Name, p.path(path.ID))
				}
			}
		}
	}
}

// maxChoices limits the decisions in a message.
const maxChoices = 4

// told is a branch in words: "judge#1" takes "†state.bad" and "†input.size" is 11.
func describeBranch(branch []branch.Choice) string {
	var words []string
	for i, d := range branch {
		if i == maxChoices && len(branch) > maxChoices+1 {
			words = append(words, fmt.Sprintf("%d more conditions", len(branch)-i))
			break
		}
		words = append(words, InWords(d))
	}
	return wording.And(words)
}

// InWords is a decision as text.
func InWords(d BranchChoice) string {
	switch {
	case d.Takes != "":
		return quote(d.Call) + " chooses " + quote(d.Takes)
	case d.Fails:
		return quote(d.Call) + " fails"
	case d.Approved != nil && *d.Approved:
		return quote(d.Call) + " is approved"
	case d.Approved != nil:
		return quote(d.Call) + " is rejected"
	case d.Condition != "" && *d.Holds:
		return quote(d.Condition) + " holds"
	case d.Condition != "":
		return quote(d.Condition) + " doesn't hold"
	case d.Reference != "":
		who := quote(d.Reference)
		if d.Call != "" {
			who += " of " + quote(d.Call)
		}
		if d.Absent {
			return who + " has no value"
		}
		return who + " is " + brief(*d.Value) + d.Apart
	}
	return quote(d.Call) + " ends well"
}
