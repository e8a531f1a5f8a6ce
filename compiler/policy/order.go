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

// A Step is one call as an example of an order rule has it.
type Step struct {
	Tool    string
	Effects Effects
	Label   Label // the join of all that it takes and gives
}

// IsMet reports whether a subject speaks of a step.
func (step Step) IsMet(s Subject) bool {
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

// Kind is what a check asks for.
type Kind uint8

// The kinds of checks.
const (
	OnlyAfter  Kind = iota // one of the others is done before
	NeverAfter             // none of the others has started before
	AtMost                 // no more than Most have started
)

// A Check is one thing that an order rule asks for.
type Check struct {
	Rule
	Kind    Kind
	Subject Subject
	Other   Subject // of AtMost the subject again
	Most    int
	Per     string // a parameter: each of its values by itself; "" for all calls together
}

// Checks are those of some policies.
func Checks(policies []*Policy) (all []*Check) {
	for _, p := range policies {
		for i := range p.Checks {
			all = append(all, &p.Checks[i])
		}
	}
	return all
}

// Counts are how many of the calls that checks depend on are done, or have started.
type Counts struct {
	checks []*Check
	of     []count // by check
}

type count struct {
	byKey  map[string]int // by the value of the check's parameter
	anyKey int            // those whose parameters aren't known
	all    int
}

// NewCounts begins with nothing counted.
func NewCounts(policies ...*Policy) Counts {
	checks := Checks(policies)
	l := Counts{checks, make([]count, len(checks))}
	for i := range l.of {
		l.of[i].byKey = map[string]int{}
	}
	return l
}

// Forbids is the first check that a call would break if it started now; nil when it may. IsMet reports whether a
// subject speaks of the call. Again says that it is one more attempt of a call that does no more than the first.
func (l *Counts) Forbids(isMet func(Subject) bool, params map[string]any, again bool) *Check {
	for i := range l.checks {
		c, count := l.checks[i], &l.of[i]
		if !isMet(c.Subject) || again && c.Kind == AtMost {
			continue
		}
		n := count.byKey[c.key(params)]
		if c.Kind != OnlyAfter || c.Per == "" {
			n += count.anyKey
		}
		if c.Kind == OnlyAfter && n == 0 || c.Kind == NeverAfter && n > 0 || c.Kind == AtMost && n >= c.Most {
			return c
		}
	}
	return nil
}

// Started counts a call that starts; its parameters are nil where they aren't known.
func (l *Counts) Started(isMet func(Subject) bool, params map[string]any, again bool) {
	l.count(isMet, params, func(c *Check) bool { return c.Kind == NeverAfter || c.Kind == AtMost && !again })
}

// Done counts a call that is done.
func (l *Counts) Done(isMet func(Subject) bool, params map[string]any) {
	l.count(isMet, params, func(c *Check) bool { return c.Kind == OnlyAfter })
}

func (l *Counts) count(isMet func(Subject) bool, params map[string]any, counts func(*Check) bool) {
	for i := range l.checks {
		c, count := l.checks[i], &l.of[i]
		if !counts(c) || !isMet(c.Other) {
			continue
		}
		if count.all++; params == nil {
			count.anyKey++
		} else {
			count.byKey[c.key(params)]++
		}
	}
}

// Totals are, by check, how many calls count.
func (l *Counts) Totals() []int {
	all := make([]int, len(l.of))
	for i := range l.of {
		all[i] = l.of[i].all
	}
	return all
}

// key is what a call with parameters counts under: the value of the check's parameter.
func (c *Check) key(params map[string]any) string {
	if c.Per == "" {
		return ""
	}
	text, err := json.Marshal(params[c.Per]) // objects by key
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
