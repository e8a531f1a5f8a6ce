package logic

import "math/bits"

// An Answer to whether something is possible: it is, in an assignment; or it is
// impossible, proven; or neither, when the budget didn't last.
type Answer struct {
	Possible   bool
	Impossible bool
	Beyond     bool // neither, as it is possible with [Circuit.Untried] alone
	Assignment Assignment
}

// Solve looks for each of several goals for an assignment in which it holds; a strict question may only vary the
// choices. What is possible with [Circuit.Untried] alone is neither possible nor impossible.
func (c *Circuit) Solve(goals []Literal, strict bool) []Answer {
	if c.untried == True {
		return c.solve(goals, strict)
	}
	tried := make([]Literal, len(goals))
	for i, goal := range goals {
		tried[i] = c.And(goal, c.untried.Not())
	}
	answers := c.solve(tried, strict)
	var again []Literal
	var places []int
	for i, a := range answers {
		if a.Impossible {
			again, places = append(again, goals[i]), append(places, i)
		}
	}
	for i, a := range c.solve(again, strict) {
		if !a.Impossible {
			answers[places[i]] = Answer{Beyond: a.Possible, Assignment: a.Assignment}
		}
	}
	return answers
}

// solve answers by trying where it can: the defaults, then 64 other assignments at once. What is left is proven one way
// or the other by [Circuit.Prove].
func (c *Circuit) solve(goals []Literal, strict bool) []Answer {
	answers := make([]Answer, len(goals))
	if c.exhausted {
		return answers
	}
	var left []int
	for i, goal := range goals {
		switch {
		case c.holds(goal):
			answers[i].Possible = true
		case goal == False:
			answers[i].Impossible = true
		default:
			left = append(left, i)
		}
	}
	for _, i := range c.tryRandom(goals, answers, left, strict) {
		answers[i] = c.Prove(goals[i], strict)
	}
	return answers
}

// SolveOne looks for an assignment in which one goal holds.
func (c *Circuit) SolveOne(goal Literal, strict bool) Answer {
	return c.Solve([]Literal{goal}, strict)[0]
}

// strictPatterns is how many of the random assignments vary nothing but choices: the first of the 64.
const strictPatterns = 40

// evaluateRandom evaluates every gate in 64 assignments at once. In the first two every variable has its default and
// every choice the other value; in the others a variable is flipped with a chance between one half and one in 512. They
// are the same every time.
func (c *Circuit) evaluateRandom() {
	if len(c.random) == len(c.gates) {
		return
	}
	from := len(c.random)
	c.random = atLeast(c.random, len(c.gates))
	for g := from; g < len(c.gates); g++ {
		switch in := c.gates[g]; {
		case g == 0:
			c.random[g] = ^uint64(0)
		case in.a < 0:
			c.random[g] = c.pattern(int(in.b))
		default:
			c.random[g] = (c.random[in.a.gate()] ^ in.a.flip()) & (c.random[in.b.gate()] ^ in.b.flip())
		}
	}
}

// pattern is the values of a variable in the random assignments.
func (c *Circuit) pattern(v int) uint64 {
	seed := uint64(v)
	random := func() uint64 { // splitmix64
		seed += 0x9e3779b97f4a7c15
		z := seed * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		return z ^ z>>31
	}
	random()
	var pattern uint64
	all := ^uint64(0)
	for rarity := range 9 {
		all &= random()
		for bit := rarity + 2; bit < 64; bit += 9 {
			pattern |= all & (1 << bit)
		}
	}
	if c.vars[v].choice {
		pattern |= 1 << 1
	} else {
		pattern &^= 1<<strictPatterns - 1
	}
	if c.vars[v].byDefault {
		return ^pattern
	}
	return pattern
}

func (c *Circuit) tryRandom(goals []Literal, answers []Answer, left []int, strict bool) []int {
	if len(left) == 0 {
		return left
	}
	c.evaluateRandom()
	mask := ^uint64(0)
	if strict {
		mask = 1<<strictPatterns - 1
	}
	var missed []int
	for _, i := range left {
		hits := (c.random[goals[i].gate()] ^ goals[i].flip()) & mask
		if hits == 0 {
			missed = append(missed, i)
			continue
		}
		one := bits.TrailingZeros64(hits)
		holds := func(g int) bool { return c.random[g]>>one&1 == 1 }
		answers[i] = Answer{Possible: true, Assignment: c.flipped(c.implicant(goals[i], holds), holds)}
	}
	return missed
}
