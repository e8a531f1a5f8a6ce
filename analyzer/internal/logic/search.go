package logic

// An Answer to whether something is possible: it is, in an assignment; or it is
// impossible, proven; or neither, when the budget didn't last.
type Answer struct {
	Possible   bool
	Impossible bool
	Beyond     bool // neither, as it is possible with [Circuit.Untried] alone
	Assignment Assignment
}

// Solve looks for an assignment in which a goal holds; a strict question may only vary the choices. What is possible
// with [Circuit.Untried] alone is neither possible nor impossible.
func (c *Circuit) Solve(goal Literal, strict bool) Answer {
	if c.untried == True {
		return c.solve(goal, strict)
	}
	a := c.solve(c.And(goal, c.untried.Not()), strict)
	if a.Impossible {
		if any := c.solve(goal, strict); !any.Impossible {
			return Answer{Beyond: any.Possible, Assignment: any.Assignment}
		}
	}
	return a
}

// solve is Solve without regard to what is untried: the defaults, or a proof.
func (c *Circuit) solve(goal Literal, strict bool) Answer {
	switch {
	case c.exhausted:
		return Answer{}
	case c.holds(goal):
		return Answer{Possible: true}
	}
	return c.prove(goal, strict)
}
