package ast

import "github.com/obelus-dev/obelus/compiler/schema/regex"

// Work is counted in steps, so that the same question always has the same answer. A step of reasoning costs a few
// microseconds; validating and making up values count smaller steps, and this many make one step of reasoning.
const ChecksPerStep = 32

// Bounded is a checker that takes no more than so many steps.
func Bounded(steps int) Checker { return Checker{most: max(steps, 1)} }

// What the patterns of one validation may cost at most together, besides what
// small ones cost on long texts: a second or less.
const (
	maxEffort     = 12_000_000
	effortsOfByte = 8
)

// An Allowance is what the patterns of several validations may still cost together. Where there
// is none left, they have that of a few short texts each.
type Allowance struct {
	Left int
	Used int // with what each validation has of its own
}

// effortsOfEach is what every validation has of its own.
const effortsOfEach = 1_000

// NewAllowance is that of a run before anything has come from outside.
func NewAllowance() Allowance { return Allowance{Left: maxEffort} }

// draw takes off what a validation has cost beyond its own.
func (a *Allowance) draw(effort int) {
	if a != nil {
		a.Left -= max(0, effort-effortsOfEach)
		a.Used += effort
	}
}

// Refill adds what it may take to match a value that has come from outside several times: a run that reads many
// documents may spend time on their patterns as well.
func (a *Allowance) Refill(v any) { a.Left += 8 * effortsOfByte * textOf(v) }

// textOf is how many bytes of text there are in a value.
func textOf(v any) int {
	n := 0
	switch v := v.(type) {
	case string:
		n = len(v)
	case []any:
		for _, x := range v {
			n += textOf(x)
		}
	case map[string]any:
		for name, x := range v {
			n += len(name) + textOf(x)
		}
	}
	return n
}

// Matches asks a pattern. What that costs is taken off the steps of a checker that has a
// bound of its own; else it is counted by itself.
func (c *Checker) Matches(p *regex.Pattern, text string) bool {
	counted, most := &c.effort, maxEffort+effortsOfByte*len(text)
	if c.most > 0 {
		counted, most = &c.Steps, c.most
	} else if c.allowance != nil {
		most = min(most, max(0, c.allowance.Left)+effortsOfEach)
	}
	left := most - *counted
	matched, decided := p.MatchWithin(text, &left)
	*counted, c.Spent = most-left, c.Spent || !decided
	return matched && decided
}
