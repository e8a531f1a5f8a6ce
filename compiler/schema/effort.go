package schema

import "github.com/obelus-dev/obelus/compiler/schema/regex"

// Work is counted in steps, so that the same question always has the same
// answer. A step of reasoning costs a few microseconds; validating and making up
// values go by smaller ones, of which that many make one of the others.
const checksPerStep = 32

// bounded is a checker that takes no more than so many steps.
func bounded(steps int) checker { return checker{most: max(steps, 1)} }

// affords takes steps for work that isn't counted one by one. A checker without
// a bound of its own doesn't count it.
func (c *checker) affords(steps int) bool {
	if c.most > 0 {
		if c.steps += steps; c.steps > c.most {
			c.spent = true
		}
	}
	return !c.spent
}

// What all regular patterns of one validation may cost at most together, besides what
// small ones cost on long texts: a second or less.
const (
	maxEffort     = 12_000_000
	effortsOfByte = 8
)

// matches asks a pattern. What one costs counts that isn't regular, and of others what
// they may cost at most: among the steps where a checker has a bound of its own, else
// by itself, since most cost far less.
func (c *checker) matches(p *regex.Pattern, text string) bool {
	if p.Regular() {
		if c.most > 0 {
			return c.affords(p.Effort(text)) && p.Match(text)
		}
		c.effort += p.Effort(text)
		c.spent = c.spent || c.effort > maxEffort+effortsOfByte*len(text)
		return !c.spent && p.Match(text)
	}
	most := maxSteps
	if c.most > 0 {
		most = c.most
	}
	left := most - c.steps
	matched, decided := p.MatchWithin(text, &left)
	c.steps, c.spent = most-left, c.spent || !decided
	return matched && decided
}

// checker is one whose work counts as reasoning, by charge.
func (p *prover) checker() checker { return bounded((p.limit - p.steps) * checksPerStep) }

// charge takes off what a checker has done. Where the steps didn't last, there are
// none left, and its answer doesn't count.
func (p *prover) charge(c *checker) (counts bool) {
	p.steps += c.steps / checksPerStep
	p.out = p.out || c.spent
	return !c.spent
}

func (p *prover) accepts(n *node, v any) bool {
	c := p.checker()
	accepted := c.accepts(n, v)
	return p.charge(&c) && accepted
}

func (p *prover) matches(x *regex.Pattern, text string) bool {
	c := p.checker()
	matched := c.matches(x, text)
	return p.charge(&c) && matched
}
