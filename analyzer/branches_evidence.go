package analyzer

import (
	"fmt"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/internal/logic"
	"github.com/obelus-dev/obelus/compiler"
)

// A BranchChoice is one thing that a branch of a plan hangs on. It holds a call and
// the alternative that it takes, or that it fails; or a reference and its value;
// or a condition and whether it holds.
type BranchChoice struct {
	Call      string `json:"call,omitempty"`
	Takes     string `json:"takes,omitempty"` // the alternative's paths, as in the plan
	Fails     bool   `json:"fails,omitempty"`
	Reference string `json:"reference,omitempty"`
	Value     *any   `json:"value,omitempty"`
	Condition string `json:"condition,omitempty"`
	Holds     *bool  `json:"holds,omitempty"`
}

// A Branch is the evidence that goes with a finding about branches (S7.2): the
// decisions that lead into it, in the order of the run. Where something is the
// other way on another branch, Instead leads there.
type Branch struct {
	Branch    []BranchChoice `json:"branch"`
	Instead   []BranchChoice `json:"instead,omitempty"`
	Schedules []Schedule     `json:"schedules,omitempty"` // two that end in different states
}

// decisions are what a goal hangs on in an assignment: what would change it is left
// out where it doesn't.
func (e *branchConditions) decisions(goal logic.Literal, a logic.Assignment) []BranchChoice {
	list := []BranchChoice{}
	told := map[any]bool{}
	var tell func(about any, v int32)
	tell = func(about any, v int32) {
		d, key, ok := e.decision(about, v, a)
		if !ok || told[key] {
			return
		}
		told[key] = true
		list = append(list, d)
		if s, ok := key.(*subject); ok { // of what it is compared with not every value will do
			for _, a := range s.atoms {
				for _, other := range a.subjects {
					tell(aboutSubject{of: other}, -1)
				}
			}
		}
	}
	for _, v := range e.circuit.Implicant(goal, a) {
		tell(e.circuit.About(v), v)
	}
	return list
}

// decision is what a variable, which is about something, says in an assignment.
func (e *branchConditions) decision(about any, v int32, a logic.Assignment) (d BranchChoice, key any, ok bool) {
	plan := e.pass.Plan
	switch about := about.(type) {
	case aboutOutcome:
		call := plan.Calls[about.call]
		taken := e.taking(about.call, a)
		return BranchChoice{Call: call.Name, Takes: e.pass.route(call, taken)}, about.call, true
	case aboutFailure:
		return BranchChoice{Call: plan.Calls[about.call].Name, Fails: true}, about.call, a.Flips(v)
	case aboutAtom:
		holds := e.circuit.Value(v, a)
		return BranchChoice{Condition: about.text, Holds: &holds}, about.text, true
	case aboutNull:
		var null any
		return BranchChoice{Reference: about.path, Value: &null}, about.path, e.circuit.Value(v, a)
	case aboutSubject:
		for i, in := range about.of.in {
			if c := about.of.cells[i]; !c.elsewhere && e.circuit.Holds(in, a) {
				return BranchChoice{Reference: about.of.name, Value: &c.value}, about.of, true
			}
		}
	}
	return d, nil, false
}

// route is one alternative of a call as text, as its activity may name it.
func (p *Pass) route(call *compiler.Call, alternative int) string {
	var paths []string
	for _, path := range call.Output[alternative] {
		paths = append(paths, p.path(path.ID))
	}
	return strings.Join(paths, " && ")
}

// taking is the alternative that a call takes in an assignment, if it runs.
func (e *branchConditions) taking(call int, a logic.Assignment) int {
	for i, taken := range e.outcomes[call] {
		if e.circuit.Holds(taken, a) {
			return i
		}
	}
	return 0
}

// ending is how the activity of a call ends in an assignment: the alternative that it
// takes, -1 for the one that S5.2 chooses, and whether it fails.
func (e *branchConditions) ending(call int, a logic.Assignment) (alternative int, fails bool) {
	switch taken := e.outcomes[call]; {
	case taken == nil:
		return -1, false
	case len(taken) == 1:
		return -1, !e.circuit.Holds(taken[0], a)
	}
	return e.taking(call, a), false
}

// maxTold bounds how many decisions a message tells.
const maxTold = 4

// told is a branch in words: "judge#1" takes "†state.bad" and "†input.size" is 11.
func told(branch []BranchChoice) string {
	var words []string
	for i, d := range branch {
		if i == maxTold && len(branch) > maxTold+1 {
			words = append(words, fmt.Sprintf("%d more things come together", len(branch)-i))
			break
		}
		switch {
		case d.Takes != "":
			words = append(words, quote(d.Call)+" takes "+quote(d.Takes))
		case d.Fails:
			words = append(words, quote(d.Call)+" fails")
		case d.Condition != "" && *d.Holds:
			words = append(words, quote(d.Condition)+" holds")
		case d.Condition != "":
			words = append(words, quote(d.Condition)+" doesn't hold")
		default:
			words = append(words, quote(d.Reference)+" is "+shortly(*d.Value))
		}
	}
	switch n := len(words); n {
	case 0:
		return ""
	case 1:
		return words[0]
	default:
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
}

func shortly(value any) string {
	if text, ok := value.(string); ok {
		return quote(text)
	}
	return brief(value)
}
