package logic

import (
	"math/bits"
	"slices"
)

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

// solve answers by trying where it can: the defaults, then 64 other assignments at once, then for each goal the
// defaults repaired where they stand against it. What is left is proven one way or the other by [Circuit.Prove].
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
	left = c.tryRandom(goals, answers, left, strict)
	for _, second := range []bool{false, true} {
		left = c.tryRepairs(goals, answers, left, strict, second)
	}
	for _, i := range left {
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

// repair finds variables whose defaults stand against a goal. Of several ways to get
// a gate right it takes the first, or the second.
func (c *Circuit) repair(goal Literal, strict, second bool) (Assignment, bool) {
	c.visit()
	var w Assignment
	stack := append(c.todo[:0], goal) // what has to hold
	defer func() { c.todo = stack }()
	for steps := 0; len(stack) > 0; steps++ {
		if steps == 20_000 {
			return nil, false
		}
		l := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		g := int32(l.gate())
		if c.holds(l) || c.seen(g) {
			continue
		}
		in := c.gates[g]
		switch {
		case g == 0:
			return nil, false
		case in.a < 0:
			if strict && !c.vars[in.b].choice {
				return nil, false
			}
			w = append(w, int32(in.b))
		case l&1 == 0:
			stack = append(stack, in.b, in.a)
		case second:
			stack = append(stack, in.b.Not())
		default:
			stack = append(stack, in.a.Not())
		}
	}
	slices.Sort(w)
	return w, true
}

// tryRepairs flips what stands against each goal, and looks whether the goal then holds: 64 goals at once, and no
// further than between the first variable that is flipped and the last goal.
func (c *Circuit) tryRepairs(goals []Literal, answers []Answer, left []int, strict, second bool) []int {
	if len(left) == 0 {
		return left
	}
	var missed []int
	slices.SortFunc(left, func(a, b int) int { return int(goals[a] - goals[b]) })
	for len(left) > 0 {
		var batch []int
		var tried []Assignment
		for len(left) > 0 && len(batch) < 64 {
			if w, ok := c.repair(goals[left[0]], strict, second); ok {
				batch, tried = append(batch, left[0]), append(tried, w)
			} else {
				missed = append(missed, left[0])
			}
			left = left[1:]
		}
		if len(batch) == 0 {
			continue
		}
		tries := make([]Literal, len(batch))
		for n, i := range batch {
			tries[n] = goals[i]
		}
		words := c.simulate(tried, tries)
		for n, i := range batch {
			if words(goals[i].gate())>>n&1 == 1 != (goals[i]&1 == 1) {
				answers[i] = Answer{Possible: true, Assignment: tried[n]}
			} else {
				missed = append(missed, i)
			}
		}
	}
	slices.Sort(missed)
	return missed
}

// nearby is how many gates are evaluated without asking which of them matter.
const nearby = 1024

// simulate evaluates goals in several assignments, a bit for each: the gates of the goals after the
// first variable without its default.
func (c *Circuit) simulate(assignments []Assignment, goals []Literal) func(gate int) uint64 {
	c.scratch, c.flips = atLeast(c.scratch, len(c.gates)), atLeast(c.flips, len(c.vars))
	first, last := len(c.gates), 0
	for n, w := range assignments {
		for _, v := range w {
			c.flips[v] |= 1 << n
			first = min(first, int(c.vars[v].gate))
		}
	}
	for _, goal := range goals {
		last = max(last, goal.gate())
	}
	words := func(g int) uint64 {
		switch {
		case g >= first:
			return c.scratch[g]
		case c.byDefault[g]:
			return ^uint64(0)
		}
		return 0
	}
	evaluate := func(g int) {
		in := c.gates[g]
		switch {
		case in.a >= 0:
			c.scratch[g] = (words(in.a.gate()) ^ in.a.flip()) & (words(in.b.gate()) ^ in.b.flip())
		case c.byDefault[g]:
			c.scratch[g] = ^c.flips[in.b]
		default:
			c.scratch[g] = c.flips[in.b]
		}
	}
	if last-first < nearby {
		for g := first; g <= last; g++ {
			evaluate(g)
		}
	} else {
		for _, g := range c.cone(goals, first) {
			evaluate(int(g))
		}
	}
	for _, w := range assignments {
		for _, v := range w {
			c.flips[v] = 0
		}
	}
	return words
}

// cone is the goals' cone of influence: the gates that they depend on from a first one on, ascending.
// The next cone replaces it.
func (c *Circuit) cone(goals []Literal, first int) []int32 {
	c.visit()
	cone, stack, last := c.coned[:0], append(c.todo[:0], goals...), 0
	for len(stack) > 0 {
		g := stack[len(stack)-1].gate()
		stack = stack[:len(stack)-1]
		if g < first || c.seen(int32(g)) {
			continue
		}
		cone, last = append(cone, int32(g)), max(last, g)
		if in := c.gates[g]; in.a >= 0 {
			stack = append(stack, in.a, in.b)
		}
	}
	if len(cone) < (last-first)/16 {
		slices.Sort(cone)
	} else { // so many that to go over all gates is the shorter way to their order
		cone = cone[:0]
		for g := first; g <= last; g++ {
			if c.stamps[g] == c.stamp {
				cone = append(cone, int32(g))
			}
		}
	}
	c.coned, c.todo = cone, stack
	return cone
}
