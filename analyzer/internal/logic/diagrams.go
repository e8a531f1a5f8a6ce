package logic

import "slices"

// diagrams are formulas as reduced ordered binary decision diagrams with complemented edges
// (Bryant, IEEE Trans. Comput. C-35, 1986; Brace, Rudell and Bryant, DAC 1990). The variables of the highest level are
// on top. Formulas that are built level by level, with few variables of their own, grow by about one node a level.
//
// Work is counted in steps, not timed. Past the budget there is no answer.
type diagrams struct {
	circuit *Circuit
	nodes   []node
	unique  map[node]diagram
	cache   []conjunction
	known   [2][]diagram // by gate, cut where it isn't yet; apart for strict questions, in which only choices vary
	steps   int          // left in all
	query   int          // left for the question at hand
}

// A diagram is a node of diagrams, negated when odd; 0 holds always and 1 never.
type diagram int32

const (
	always diagram = 0
	never  diagram = 1
	cut    diagram = -1 // the budget didn't last
)

type node struct {
	v         int32
	high, low diagram // high is never negated
}

type conjunction struct{ a, b, result diagram }

const (
	proofSteps  = 4_000_000 // about a second, for all questions about one circuit
	querySteps  = 1_000_000 // for one of them
	proofNodes  = 1_000_000
	gateSteps   = 5 // of looking at one gate: a question has at most 200,000
	cacheLength = 1 << 17
)

// Spent is roughly the work that gates and proofs have taken, in calls that are looked at.
func (c *Circuit) Spent() int {
	spent := len(c.gates) / 8
	if c.diagrams != nil {
		spent += (proofSteps - c.diagrams.steps) / 20
	}
	return spent
}

// prove decides whether a goal holds in some assignment.
func (c *Circuit) prove(goal Literal, strict bool) Answer {
	if c.diagrams == nil {
		c.diagrams = &diagrams{circuit: c, nodes: make([]node, 1), unique: map[node]diagram{},
			cache: make([]conjunction, cacheLength), steps: proofSteps}
	}
	p := c.diagrams
	p.query = min(p.steps, querySteps)
	granted := p.query
	at := &p.known[0]
	if strict {
		at = &p.known[1]
	}
	for len(*at) < len(c.gates) {
		*at = append(*at, cut)
	}
	(*at)[0] = always
	d := p.of(goal, *at, strict)
	p.steps -= granted - p.query
	switch d {
	case cut:
		return Answer{}
	case never:
		return Answer{Impossible: true}
	}
	var w Assignment
	for d != always {
		n := p.nodes[d>>1]
		high, low := n.high^d&1, n.low^d&1
		byDefault := c.vars[n.v].byDefault
		if d = low; byDefault {
			d = high
		}
		if d == never {
			w = append(w, n.v)
			if d = high; byDefault {
				d = low
			}
		}
	}
	slices.Sort(w)
	return Answer{Possible: true, Assignment: w}
}

// of is the diagram of a literal, built from the diagrams of its gates.
func (p *diagrams) of(goal Literal, known []diagram, strict bool) diagram {
	g, negated := goal.gate(), diagram(goal&1)
	if known[g] != cut {
		return known[g] ^ negated
	}
	if p.query -= gateSteps; p.query < 0 {
		return cut
	}
	in, d := p.circuit.gates[g], always
	switch {
	case in.a >= 0:
		d = p.of(in.a, known, strict)
		if d != cut && d != never {
			d = p.and(d, p.of(in.b, known, strict))
		}
	case !strict || p.circuit.vars[in.b].choice:
		d = p.node(int32(in.b), always, never)
	case !p.circuit.vars[in.b].byDefault:
		d = never
	}
	if d == cut {
		return cut
	}
	known[g] = d
	return d ^ negated
}

func (p *diagrams) node(v int32, high, low diagram) diagram {
	switch {
	case high == low:
		return high
	case high&1 == 1:
		d := p.node(v, high^1, low^1)
		if d == cut {
			return cut
		}
		return d ^ 1
	}
	one := node{v, high, low}
	if d, known := p.unique[one]; known {
		return d
	}
	if len(p.nodes) >= proofNodes {
		return cut
	}
	d := diagram(2 * len(p.nodes))
	p.unique[one], p.nodes = d, append(p.nodes, one)
	return d
}

// and is the conjunction of two diagrams.
func (p *diagrams) and(a, b diagram) diagram {
	if a > b {
		a, b = b, a
	}
	switch {
	case a == cut: // the least
		return cut
	case a == always:
		return b
	case a == never, a == b^1:
		return never
	case a == b:
		return a
	}
	slot := &p.cache[(uint32(a)*0x9e3779b1^uint32(b)*0x85ebca6b)>>9&(cacheLength-1)]
	if slot.a == a && slot.b == b && slot.b != 0 {
		return slot.result
	}
	if p.query--; p.query < 0 {
		return cut
	}
	x, y := p.nodes[a>>1], p.nodes[b>>1]
	v := x.v
	if p.circuit.vars[y.v].level > p.circuit.vars[v].level {
		v = y.v
	}
	highA, lowA, highB, lowB := a, a, b, b
	if x.v == v {
		highA, lowA = x.high^a&1, x.low^a&1
	}
	if y.v == v {
		highB, lowB = y.high^b&1, y.low^b&1
	}
	high := p.and(highA, highB)
	if high == cut {
		return cut
	}
	low := p.and(lowA, lowB)
	if low == cut {
		return cut
	}
	d := p.node(v, high, low)
	if d != cut {
		*slot = conjunction{a, b, d}
	}
	return d
}

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
