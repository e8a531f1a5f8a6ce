// Package logic answers whether formulas over a few thousand yes-or-no questions can hold. Formulas are built as an
// and-inverter graph; what has no quick answer is decided by binary decision diagrams. It knows nothing of plans.
package logic

import "slices"

// A Literal is a gate of a [Circuit] or its negation: twice the gate's number, and one more when it is negated.
type Literal int32

// The constants.
const (
	True  Literal = 0
	False Literal = 1
)

// Constant is the literal that always holds, or never.
func Constant(holds bool) Literal {
	if holds {
		return True
	}
	return False
}

// Not is the negation.
func (l Literal) Not() Literal { return l ^ 1 }

func (l Literal) gate() int { return int(l >> 1) }

// A gate holds when both of its inputs do. That of a variable has -1 and the variable's number.
type gate struct{ a, b Literal }

// A Circuit is an and-inverter graph: formulas over variables. Each formula is built from earlier ones,
// so the gates can be evaluated in order.
//
// Each variable has a default value. A strict question may only vary the variables that are choices.
//
// A circuit has a limit of gates. Past it no conclusion is valid: see [Circuit.Exhausted].
type Circuit struct {
	// Level is that of the variables to come: those that are made at a higher level stand above the others in decision
	// diagrams, which are smallest where the variables that formulas share stand below.
	Level int32

	gates     []gate
	byDefault []bool // by gate: whether it holds where all variables have their defaults
	vars      []variable
	recent    []Literal // gates by hash, the newest of each: what was built twice is one
	limit     int
	exhausted bool
	untried   Literal // True where it wasn't asked for

	last     Assignment // that was asked about, and by gate what it is there
	held     []bool
	diagrams *diagrams
}

type variable struct {
	gate      int32
	choice    bool
	byDefault bool
	level     int64 // its place in diagrams: the later, the higher
	about     any
}

// New makes a circuit of at most so many gates.
func New(limit int) *Circuit {
	c := &Circuit{limit: limit, recent: make([]Literal, 1<<12), held: []bool{true}}
	c.gates, c.byDefault = append(c.gates, gate{}), append(c.byDefault, true) // number 0 always holds
	return c
}

// Allow raises the limit by so many gates.
func (c *Circuit) Allow(gates int) { c.limit += gates }

// Exhausted reports whether the limit was reached: nothing may be concluded any more.
func (c *Circuit) Exhausted() bool { return c.exhausted }

// Exhaust makes the circuit one from which nothing may be concluded, as what it would
// have to hold is more than is looked at.
func (c *Circuit) Exhaust() { c.exhausted = true }

// holds reports whether a literal holds where all variables have their defaults.
func (c *Circuit) holds(l Literal) bool { return c.byDefault[l.gate()] != (l&1 == 1) }

// Variable makes a variable. What it is about is for the caller, see [Circuit.About].
func (c *Circuit) Variable(choice, byDefault bool, about any) Literal {
	if len(c.gates) >= c.limit {
		c.exhausted = true
		return True
	}
	level := int64(c.Level)<<32 + int64(len(c.vars))
	c.vars = append(c.vars,
		variable{gate: int32(len(c.gates)), choice: choice, byDefault: byDefault, level: level, about: about})
	c.gates = append(c.gates, gate{-1, Literal(len(c.vars) - 1)})
	c.byDefault = append(c.byDefault, byDefault)
	return Literal(2 * (len(c.gates) - 1))
}

// About is what was said of a variable when it was made.
func (c *Circuit) About(v int32) any { return c.vars[v].about }

// And is the conjunction of two literals.
func (c *Circuit) And(a, b Literal) Literal {
	if a > b {
		a, b = b, a
	}
	switch {
	case a == True:
		return b
	case a == False, a == b.Not():
		return False
	case a == b:
		return a
	}
	one := gate{a, b}
	if l := *c.slot(one); l != 0 && c.gates[l.gate()] == one {
		return l
	}
	if len(c.gates) >= c.limit {
		c.exhausted = true
		return False
	}
	l := Literal(2 * len(c.gates))
	c.gates = append(c.gates, one)
	c.byDefault = append(c.byDefault, c.holds(a) && c.holds(b))
	if len(c.gates) > len(c.recent) {
		c.recent = make([]Literal, 4*len(c.recent))
	}
	*c.slot(one) = l
	return l
}

func (c *Circuit) slot(g gate) *Literal {
	return &c.recent[(uint32(g.a)*0x9e3779b1^uint32(g.b)*0x85ebca6b)>>7&uint32(len(c.recent)-1)]
}

// Or is the disjunction of two literals.
func (c *Circuit) Or(a, b Literal) Literal { return c.And(a.Not(), b.Not()).Not() }

// IfThenElse is a where the condition holds, and else b.
func (c *Circuit) IfThenElse(condition, a, b Literal) Literal {
	return c.Or(c.And(condition, a), c.And(condition.Not(), b))
}

// ExactlyOne makes exactly one of several literals hold where a condition does, and none
// elsewhere. By default it is the first.
func (c *Circuit) ExactlyOne(each []Literal, condition Literal, choice bool, about any) {
	if len(each) == 1 {
		each[0] = condition
		return
	}
	middle := (len(each) + 1) / 2
	first := c.Variable(choice, true, about)
	c.ExactlyOne(each[:middle], c.And(condition, first), choice, about)
	c.ExactlyOne(each[middle:], c.And(condition, first.Not()), choice, about)
}

// Untried is a variable for what isn't known well enough. A question is first asked without it, see
// [Circuit.Solve].
func (c *Circuit) Untried() Literal {
	if c.untried == True {
		c.untried = c.Variable(true, false, nil)
	}
	return c.untried
}

// An Assignment gives every variable a value: it lists those that don't have their default, ascending.
type Assignment []int32

// Flips reports whether a variable doesn't have its default.
func (a Assignment) Flips(v int32) bool {
	_, found := slices.BinarySearch(a, v)
	return found
}

// Value is a variable's value in an assignment.
func (c *Circuit) Value(v int32, a Assignment) bool { return c.vars[v].byDefault != a.Flips(v) }

// Holds reports whether a literal is true in an assignment.
func (c *Circuit) Holds(l Literal, a Assignment) bool {
	if !slices.Equal(a, c.last) {
		first := len(c.held) // those before the first variable without its default are as by default
		for _, v := range slices.Concat(a[:min(1, len(a))], c.last[:min(1, len(c.last))]) {
			first = min(first, int(c.vars[v].gate))
		}
		c.last, c.held = a, c.held[:first]
	}
	for g := len(c.held); g <= l.gate(); g++ {
		in := c.gates[g]
		if in.a < 0 {
			c.held = append(c.held, c.Value(int32(in.b), a))
		} else {
			c.held = append(c.held, c.held[in.a.gate()] != (in.a&1 == 1) && c.held[in.b.gate()] != (in.b&1 == 1))
		}
	}
	return c.held[l.gate()] != (l&1 == 1)
}

// Implicant is variables that make a goal hold in an assignment in which it does, whatever the others are, ascending.
func (c *Circuit) Implicant(goal Literal, w Assignment) []int32 {
	var vars []int32
	seen := map[int]bool{0: true}
	for todo := []Literal{goal}; len(todo) > 0; {
		g := todo[len(todo)-1].gate()
		if todo = todo[:len(todo)-1]; seen[g] {
			continue
		}
		seen[g] = true
		switch in := c.gates[g]; {
		case in.a < 0:
			vars = append(vars, int32(in.b))
		case c.Holds(Literal(2*g), w):
			todo = append(todo, in.a, in.b)
		case !c.Holds(in.a, w) && (in.a != c.untried || c.Holds(in.b, w)):
			todo = append(todo, in.a) // false, which is enough; untried is about nothing, so the other is preferred
		default:
			todo = append(todo, in.b)
		}
	}
	slices.Sort(vars)
	return vars
}
