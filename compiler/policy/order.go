package policy

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/source"
)

// A Subject is which calls something is said of: those of a tool, those with one of some
// effects, those that deal with values of a label or a worse one, or all.
type Subject struct {
	Node    *source.Node
	Text    string
	Tool    string // "" where it isn't about one tool
	Effects Effects
	Label   Label // what a call must at least deal with; the zero Label where it isn't about labels
	Any     bool
}

// subject reads one; the schema knows that it is a string.
func subject(n *source.Node) (Subject, bool) {
	s := Subject{Node: n, Text: n.Text}
	kind, word, found := strings.Cut(n.Text, ":")
	switch {
	case n.Text == "*":
		s.Any = true
	case found && kind == "effect":
		s.Effects = effectOf(word)
		return s, s.Effects != 0
	case found && kind == "label":
		s.Label = Label{
			Integrity(max(0, slices.Index(integrities, word))), Confidentiality(max(0, slices.Index(confidentialities, word))),
		}
		return s, s.Label != Label{}
	default:
		s.Tool = n.Text
	}
	return s, true
}

// A Step is one call as orders see it.
type Step struct {
	Tool       string
	Effects    Effects
	Label      Label // the join of all that it takes and gives
	Parameters map[string]any
}

// Meets reports whether a subject speaks of a step.
func (s Subject) Meets(step Step) bool {
	switch {
	case s.Any:
		return true
	case s.Tool != "":
		return s.Tool == step.Tool
	case s.Effects != 0:
		return step.Effects&s.Effects != 0
	}
	return s.Label.Within(step.Label)
}

// An Order says what may come after what (S17.6).
type Order struct {
	Rule
	Subject    Subject
	OnlyAfter  []Subject // each must have been done before
	NeverAfter []Subject // none may have been begun before
	AtMost     int       // how often it may be begun; -1 for any number
	Per        string    // a parameter: each of its values by itself; "" for all calls together
}

// value is what a step counts under: the value of the order's parameter.
func (o *Order) value(step Step) string {
	if o.Per == "" {
		return ""
	}
	text, _ := json.Marshal(step.Parameters[o.Per])
	return string(text)
}

// Refuses is the first of some calls, each of which is done before the next begins, that
// mustn't come where it comes; -1 when all may.
func (o *Order) Refuses(steps []Step) int {
	for i, step := range steps {
		if !o.Subject.Meets(step) {
			continue
		}
		before := slices.DeleteFunc(slices.Clone(steps[:i]), func(other Step) bool { return o.value(other) != o.value(step) })
		met := func(s Subject) bool { return slices.ContainsFunc(before, s.Meets) }
		count := 1
		for _, other := range before {
			if o.Subject.Meets(other) {
				count++
			}
		}
		if o.AtMost >= 0 && count > o.AtMost || slices.ContainsFunc(o.NeverAfter, met) ||
			slices.ContainsFunc(o.OnlyAfter, func(s Subject) bool { return !met(s) }) {
			return i
		}
	}
	return -1
}
