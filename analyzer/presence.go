package analyzer

import (
	"slices"
)

// A lit is a gate of a circuit, or what it isn't: twice the gate's number, and
// one more when it is negated.
type lit int32

// What holds always and what never does.
const (
	yes lit = 0
	no  lit = 1
)

func (l lit) not() lit  { return l ^ 1 }
func (l lit) gate() int { return int(l >> 1) }

// flip is all ones for a negated literal, so that a word of worlds can be turned
// with it.
func (l lit) flip() uint64 { return -uint64(l & 1) }

// A gate holds when both of its inputs do. That of a variable has -1 and the
// variable's number.
type gate struct{ a, b lit }

// A circuit holds what decides which calls of a plan run, as formulas over
// variables: everything about a run that the plan itself leaves open. A formula
// is built in one step from those before it, so that the gates stand in an order
// in which they can be worked out one after the other.
//
// A world gives every variable a value. In the usual world each has its own
// usual one: nothing fails, first alternatives are taken, conditions hold.
// Variables come in two sorts. Those that are choices make the branches of a
// plan; the others stand for what isn't known (whether a result holds a field
// that its schema doesn't promise, whether a tool without a failure route
// fails). A strict question may only vary the choices.
type circuit struct {
	gates  []gate
	usual  []bool // by gate: whether it holds in the usual world
	vars   []variable
	recent []lit // gates by hash, the newest of each: what was built twice is one
	limit  int
	from   int32 // the place in the run of what is being built
	full   bool  // the limit was reached: nothing may be concluded any more

	sampled []uint64 // by gate: whether it holds in each of 64 worlds; see sample
	scratch []uint64 // by gate, see work
	turns   []uint64 // by variable, see work
	stamps  []int32
	stamp   int32
	todo    []lit   // what a walk over gates has still to look at
	coned   []int32 // see cone
	proofs  *proofs
}

// A variable of a circuit.
type variable struct {
	gate   int32
	choice bool
	usual  bool
	level  int64 // its place in diagrams: the later, the higher
	about  any   // what a person is told of it
}

func newCircuit(limit int) *circuit {
	c := &circuit{limit: limit, recent: make([]lit, 1<<12)}
	c.gates, c.usual = append(c.gates, gate{}), append(c.usual, true) // number 0 always holds
	return c
}

func (c *circuit) holds(l lit) bool { return c.usual[l.gate()] != (l&1 == 1) }

// open makes a variable.
func (c *circuit) open(choice, usual bool, about any) lit {
	if len(c.gates) >= c.limit {
		c.full = true
		return yes
	}
	level := int64(c.from)<<32 + int64(len(c.vars))
	c.vars = append(roomy(c.vars), variable{gate: int32(len(c.gates)), choice: choice, usual: usual, level: level, about: about})
	c.gates = append(roomy(c.gates), gate{-1, lit(len(c.vars) - 1)})
	c.usual = append(roomy(c.usual), usual)
	return lit(2 * (len(c.gates) - 1))
}

func (c *circuit) and(a, b lit) lit {
	if a > b {
		a, b = b, a
	}
	switch {
	case a == yes:
		return b
	case a == no, a == b.not():
		return no
	case a == b:
		return a
	}
	slot := (uint32(a)*0x9e3779b1 ^ uint32(b)*0x85ebca6b) >> 7 & uint32(len(c.recent)-1)
	if l := c.recent[slot]; l != 0 && c.gates[l.gate()] == (gate{a, b}) {
		return l
	}
	if len(c.gates) >= c.limit {
		c.full = true
		return no
	}
	l := lit(2 * len(c.gates))
	c.gates = append(roomy(c.gates), gate{a, b})
	c.usual = append(roomy(c.usual), c.holds(a) && c.holds(b))
	if len(c.gates) > len(c.recent) {
		c.recent = make([]lit, 4*len(c.recent))
	}
	slot = (uint32(a)*0x9e3779b1 ^ uint32(b)*0x85ebca6b) >> 7 & uint32(len(c.recent)-1)
	c.recent[slot] = l
	return l
}

func (c *circuit) or(a, b lit) lit { return c.and(a.not(), b.not()).not() }

// choose is a where the condition holds, and else b.
func (c *circuit) choose(condition, a, b lit) lit {
	return c.or(c.and(condition, a), c.and(condition.not(), b))
}

// A world is told by the variables that don't have their usual value, ascending.
type world []int32

func (w world) changes(v int32) bool {
	_, found := slices.BinarySearch(w, v)
	return found
}

// An answer to whether something holds in some world: one in which it does; or
// never, proven; or neither, when the budget didn't last.
type answer struct {
	found bool
	never bool
	world world
}

// worlds looks for worlds in which each of several goals holds. Most are found
// by trying: the usual world, then 64 others at once, then for each goal the
// usual one with what stands against the goal turned round. What is left is
// proven one way or the other, see proofs.
func (c *circuit) worlds(goals []lit, strict bool) []answer {
	answers := make([]answer, len(goals))
	if c.full {
		return answers
	}
	var left []int
	for i, goal := range goals {
		switch {
		case c.holds(goal):
			answers[i].found = true
		case goal == no:
			answers[i].never = true
		default:
			left = append(left, i)
		}
	}
	left = c.trySamples(goals, answers, left, strict)
	for _, second := range []bool{false, true} {
		left = c.tryAims(goals, answers, left, strict, second)
	}
	for _, i := range left {
		answers[i] = c.prove(goals[i], strict)
	}
	return answers
}

// strictSamples is how many of the sampled worlds vary nothing but choices: the
// first of the 64.
const strictSamples = 40

// sample works every gate out in 64 worlds at once. In the first two everything
// is usual and every choice the other way; in the others a variable is turned
// round with a chance between one half and one in 512. The worlds are the same
// every time.
func (c *circuit) sample() {
	if len(c.sampled) == len(c.gates) {
		return
	}
	from := len(c.sampled)
	c.sampled = atLeast(c.sampled, len(c.gates))
	for g := from; g < len(c.gates); g++ {
		switch in := c.gates[g]; {
		case g == 0:
			c.sampled[g] = ^uint64(0)
		case in.a < 0:
			c.sampled[g] = c.turned(int(in.b))
		default:
			c.sampled[g] = (c.sampled[in.a.gate()] ^ in.a.flip()) & (c.sampled[in.b.gate()] ^ in.b.flip())
		}
	}
}

func (c *circuit) turned(v int) uint64 {
	seed := uint64(v)
	random := func() uint64 { // splitmix64
		seed += 0x9e3779b97f4a7c15
		z := seed * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		return z ^ z>>31
	}
	random()
	var turned uint64
	all := ^uint64(0)
	for rarity := range 9 {
		all &= random()
		for world := rarity + 2; world < 64; world += 9 {
			turned |= all & (1 << world)
		}
	}
	if c.vars[v].choice {
		turned |= 1 << 1
	} else {
		turned &^= 1<<strictSamples - 1
	}
	if c.vars[v].usual {
		return ^turned
	}
	return turned
}

func (c *circuit) trySamples(goals []lit, answers []answer, left []int, strict bool) []int {
	if len(left) == 0 {
		return left
	}
	c.sample()
	mask := ^uint64(0)
	if strict {
		mask = 1<<strictSamples - 1
	}
	var missed []int
	for _, i := range left {
		hits := (c.sampled[goals[i].gate()] ^ goals[i].flip()) & mask
		if hits == 0 {
			missed = append(missed, i)
			continue
		}
		one := 0
		for hits&1 == 0 {
			hits, one = hits>>1, one+1
		}
		answers[i] = answer{found: true, world: c.unusual(c.reasons(goals[i], func(g int) bool { return c.sampled[g]>>one&1 == 1 }), func(g int) bool { return c.sampled[g]>>one&1 == 1 })}
	}
	return missed
}

// unusual are those of some variables that don't have their usual value.
func (c *circuit) unusual(vars []int32, holds func(gate int) bool) world {
	var w world
	for _, v := range vars {
		if holds(int(c.vars[v].gate)) != c.vars[v].usual {
			w = append(w, v)
		}
	}
	return w
}

// reasons are variables that make a goal hold in a world, whatever the others
// are, ascending.
func (c *circuit) reasons(goal lit, holds func(gate int) bool) []int32 {
	c.visit()
	var vars []int32
	stack := append(c.todo[:0], goal)
	for len(stack) > 0 {
		g := stack[len(stack)-1].gate()
		stack = stack[:len(stack)-1]
		if c.seen(int32(g)) {
			continue
		}
		in := c.gates[g]
		switch {
		case g == 0:
		case in.a < 0:
			vars = append(vars, int32(in.b))
		case holds(g):
			stack = append(stack, in.a, in.b)
		case holds(in.a.gate()) == (in.a&1 == 1): // the first input doesn't hold, and that is reason enough
			stack = append(stack, in.a)
		default:
			stack = append(stack, in.b)
		}
	}
	c.todo = stack
	slices.Sort(vars)
	return vars
}

func (c *circuit) visit() {
	c.stamps = atLeast(c.stamps, len(c.gates))
	c.stamp++
}

// roomy gives a list that is full room for as much again: plans grow large, and
// so do their circuits.
func roomy[T any](list []T) []T {
	if len(list) < cap(list) {
		return list
	}
	return slices.Grow(list, max(len(list), 64))
}

// atLeast gives a list a length, if it is shorter.
func atLeast[T any](list []T, length int) []T {
	if len(list) >= length {
		return list
	}
	return slices.Grow(list, length-len(list))[:length]
}

// seen tells whether a gate was come upon since the last visit began, and notes
// that it was.
func (c *circuit) seen(g int32) bool {
	was := c.stamps[g] == c.stamp
	c.stamps[g] = c.stamp
	return was
}

// aim finds what stands against a goal in the usual world. Of several ways to
// get a gate right it takes the first, or the second.
func (c *circuit) aim(goal lit, strict, second bool) (world, bool) {
	c.visit()
	var w world
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
			stack = append(stack, in.b.not())
		default:
			stack = append(stack, in.a.not())
		}
	}
	slices.Sort(w)
	return w, true
}

// tryAims turns round what stands against each goal, and looks whether the goal
// then holds: 64 goals at once, and no further than between the first variable
// that is turned round and the last goal.
func (c *circuit) tryAims(goals []lit, answers []answer, left []int, strict, second bool) []int {
	if len(left) == 0 {
		return left
	}
	var missed []int
	slices.SortFunc(left, func(a, b int) int { return int(goals[a] - goals[b]) })
	for len(left) > 0 {
		var batch []int
		var tried []world
		for len(left) > 0 && len(batch) < 64 {
			if w, ok := c.aim(goals[left[0]], strict, second); ok {
				batch, tried = append(batch, left[0]), append(tried, w)
			} else {
				missed = append(missed, left[0])
			}
			left = left[1:]
		}
		if len(batch) == 0 {
			continue
		}
		aims := make([]lit, len(batch))
		for n, i := range batch {
			aims[n] = goals[i]
		}
		words := c.work(tried, aims)
		for n, i := range batch {
			if words(goals[i].gate())>>n&1 == 1 != (goals[i]&1 == 1) {
				answers[i] = answer{found: true, world: tried[n]}
			} else {
				missed = append(missed, i)
			}
		}
	}
	slices.Sort(missed)
	return missed
}

// nearby is how many gates are worked out without asking which of them matter.
const nearby = 1024

// work works out goals in several worlds, a bit for each: the gates that the
// goals hang on, as far as they come after the first variable that doesn't have
// its usual value.
func (c *circuit) work(worlds []world, goals []lit) func(gate int) uint64 {
	c.scratch, c.turns = atLeast(c.scratch, len(c.gates)), atLeast(c.turns, len(c.vars))
	first, last := len(c.gates), 0
	for n, w := range worlds {
		for _, v := range w {
			c.turns[v] |= 1 << n
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
		case c.usual[g]:
			return ^uint64(0)
		}
		return 0
	}
	evaluate := func(g int) {
		in := c.gates[g]
		switch {
		case in.a >= 0:
			c.scratch[g] = (words(in.a.gate()) ^ in.a.flip()) & (words(in.b.gate()) ^ in.b.flip())
		case c.usual[g]:
			c.scratch[g] = ^c.turns[in.b]
		default:
			c.scratch[g] = c.turns[in.b]
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
	for _, w := range worlds {
		for _, v := range w {
			c.turns[v] = 0
		}
	}
	return words
}

// cone is the gates from a first one on that some goals hang on, ascending. The
// next cone takes its place.
func (c *circuit) cone(goals []lit, first int) []int32 {
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

// because are the variables that make a goal hold in a world, ascending, and
// whether each of the circuit's variables has its usual value there.
func (c *circuit) because(goal lit, w world) []int32 {
	words := c.work([]world{w}, []lit{goal})
	return c.reasons(goal, func(g int) bool { return words(g)&1 == 1 })
}
