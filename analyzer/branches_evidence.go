package analyzer

import (
	"fmt"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/internal/logic"
	"github.com/obelus-dev/obelus/compiler"
)

// A Decision is one thing that a branch of a plan hangs on. It holds a call and
// the alternative that it takes, or that it fails; or a reference and its value;
// or a condition and whether it holds.
type Decision struct {
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
	Branch    []Decision `json:"branch"`
	Instead   []Decision `json:"instead,omitempty"`
	Schedules []Schedule `json:"schedules,omitempty"` // two that end in different states
}

// decisions are what a goal hangs on in an assignment: what would change it is left
// out where it doesn't.
func (e *branchConditions) decisions(goal logic.Literal, a logic.Assignment) []Decision {
	list := []Decision{}
	told := map[any]bool{}
	for _, v := range e.circuit.Implicant(goal, a) {
		d, key, ok := e.decision(v, a)
		if ok && !told[key] {
			told[key] = true
			list = append(list, d)
		}
	}
	return list
}

func (e *branchConditions) decision(v int32, a logic.Assignment) (d Decision, key any, ok bool) {
	plan := e.pass.Plan
	switch about := e.circuit.About(v).(type) {
	case aboutOutcome:
		call := plan.Calls[about.call]
		taken := e.taking(about.call, a)
		return Decision{Call: call.Name, Takes: e.pass.route(call, taken)}, about.call, true
	case aboutFailure:
		return Decision{Call: plan.Calls[about.call].Name, Fails: true}, about.call, a.Flips(v)
	case aboutAtom:
		holds := e.circuit.Value(v, a)
		return Decision{Condition: about.text, Holds: &holds}, about.text, true
	case aboutSubject:
		for i, in := range about.of.in {
			if e.circuit.Holds(in, a) {
				value, _ := about.of.sample(about.of.cells[i])
				return Decision{Reference: about.of.name, Value: &value}, about.of, true
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

// maxTold bounds how many decisions a message tells.
const maxTold = 4

// told is a branch in words: "judge#1" takes "†state.bad" and "†input.size" is 11.
func told(branch []Decision) string {
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
	switch v := value.(type) {
	case string:
		return quote(v)
	case map[string]any:
		return "an object"
	}
	return fmt.Sprint(value)
}

// sample is a value in a cell; there is none where nothing lies between two
// constants.
func (s *subject) sample(c cell) (value any, ok bool) {
	i := c.at / 2
	switch {
	case c.kind == cellTrue || c.kind == cellFalse:
		return c.kind == cellTrue, true
	case c.kind == cellOther:
		return map[string]any{}, true
	case c.kind == cellNumber && c.at%2 == 1:
		return s.numbers[i], true
	case c.kind == cellText && c.at%2 == 1:
		return s.texts[i], true
	case c.kind == cellNumber:
		return between(s.numbers, i)
	}
	switch {
	case len(s.texts) == 0:
		return "text", true
	case i == 0:
		return "", s.texts[0] != ""
	case i == len(s.texts):
		return s.texts[i-1] + "x", true
	}
	for _, more := range []string{" and so on", "!", "\x01", "\x00"} {
		if text := s.texts[i-1] + more; text < s.texts[i] {
			return text, true
		}
	}
	return nil, false
}

// between is a number before the constant i and after the one before it.
func between(numbers []float64, i int) (value any, ok bool) {
	switch {
	case len(numbers) == 0:
		return 1.0, true
	case i == 0:
		v := numbers[0] - max(1, -numbers[0])
		return v, v < numbers[0]
	case i == len(numbers):
		v := numbers[i-1] + max(1, numbers[i-1])
		return v, v > numbers[i-1]
	}
	low, high := numbers[i-1], numbers[i]
	v := low/2 + high/2
	if low+1 < high {
		v = low + 1
	}
	return v, low < v && v < high
}
