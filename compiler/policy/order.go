package policy

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/source"
)

// A Subject selects calls: those of a tool, those with one of some effects, those with a label at least
// as bad, or all.
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
		for r := range levels {
			s.Label[r] = Level(max(0, slices.Index(levels[r], word)))
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

// An Order says what may come after what.
type Order struct {
	Rule
	Subject    Subject
	OnlyAfter  []Subject // each must have been done before
	NeverAfter []Subject // none may have started before
	AtMost     int       // how often it may start; -1 for any number
	Per        string    // a parameter: each of its values by itself; "" for all calls together
}

// Kind is what a check asks for.
type Kind uint8

// The kinds of checks.
const (
	OnlyAfter  Kind = iota // one of the others is done before
	NeverAfter             // none of the others has started before
	AtMost                 // no more than Most have started
)

// A Check is one thing that one order of a policy asks for.
type Check struct {
	*Order
	Kind  Kind
	Other Subject // of AtMost the subject again
	Most  int
}

// Checks are what an order asks for.
func (o *Order) Checks() (all []Check) {
	for _, other := range o.OnlyAfter {
		all = append(all, Check{o, OnlyAfter, other, 0})
	}
	for _, other := range o.NeverAfter {
		all = append(all, Check{o, NeverAfter, other, 0})
	}
	if o.AtMost >= 0 {
		all = append(all, Check{o, AtMost, o.Subject, o.AtMost})
	}
	return all
}

// Checks are those of all orders of some policies.
func Checks(policies []*Policy) (all []Check) {
	for _, p := range policies {
		for i := range p.Orders {
			all = append(all, p.Orders[i].Checks()...)
		}
	}
	return all
}

// Forbids reports whether a subject mustn't begin when so many of the others have come
// under its value: been done, for OnlyAfter, or else begun.
func (c *Check) Forbids(came int) bool {
	switch c.Kind {
	case OnlyAfter:
		return came == 0
	case NeverAfter:
		return came > 0
	}
	return came >= c.Most
}

// Key is what a call with parameters counts under: the value of the order's parameter.
func (o *Order) Key(params map[string]any) string {
	if o.Per == "" {
		return ""
	}
	text, err := json.Marshal(params[o.Per]) // objects by key
	if err != nil {
		panic("a parameter that isn't JSON: " + err.Error())
	}
	return string(text)
}

// Says is what a check asks for, in words.
func (c *Check) Says() string {
	per := ""
	if c.Per != "" {
		per = fmt.Sprintf(" for one value of %q", c.Per)
	}
	switch c.Kind {
	case OnlyAfter:
		return fmt.Sprintf("%q may only come after %q is done%s", c.Subject.Text, c.Other.Text, per)
	case NeverAfter:
		return fmt.Sprintf("%q may never come after %q%s", c.Subject.Text, c.Other.Text, per)
	}
	times := fmt.Sprintf("at most %d times", c.Most)
	switch c.Most {
	case 0:
		times = "never"
	case 1:
		times = "at most once"
	}
	return fmt.Sprintf("%q may come %s%s", c.Subject.Text, times, per)
}

// Refuses returns the first of some consecutive calls that isn't allowed at its position; -1 when all
// are.
func (o *Order) Refuses(steps []Step) int {
	checks := o.Checks()
	came := make([]map[string]int, len(checks))
	for i, step := range steps {
		key := o.Key(step.Parameters)
		for k := range checks {
			if o.Subject.Meets(step) && checks[k].Forbids(came[k][key]) {
				return i
			}
		}
		for k := range checks {
			if checks[k].Other.Meets(step) {
				if came[k] == nil {
					came[k] = map[string]int{}
				}
				came[k][key]++
			}
		}
	}
	return -1
}
