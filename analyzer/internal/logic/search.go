package logic

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

// solve answers what the defaults or constants answer. What is left is proven one way or the other by [Circuit.Prove].
func (c *Circuit) solve(goals []Literal, strict bool) []Answer {
	answers := make([]Answer, len(goals))
	if c.exhausted {
		return answers
	}
	for i, goal := range goals {
		switch {
		case c.holds(goal):
			answers[i].Possible = true
		case goal == False:
			answers[i].Impossible = true
		default:
			answers[i] = c.Prove(goal, strict)
		}
	}
	return answers
}

// SolveOne looks for an assignment in which one goal holds.
func (c *Circuit) SolveOne(goal Literal, strict bool) Answer {
	return c.Solve([]Literal{goal}, strict)[0]
}
