package schema

import "slices"

// An arrayGoal is what is asked of an array: its length, rules for all its
// items, goals for some, how many are of a sort, and whether they differ.
type arrayGoal struct {
	size
	rules     []*arrayRules
	here      []itemGoal // at their index
	somewhere []itemGoal // at their index or after it
	counts    []countGoal
	unique    bool // no two items are equal
	twins     bool // two items are equal
}

type itemGoal struct {
	index    int
	literals []literal
}

type countGoal struct {
	node *node
	size
}

func (g *arrayGoal) clip() {
	g.rules, g.here, g.somewhere, g.counts = slices.Clip(g.rules), slices.Clip(g.here), slices.Clip(g.somewhere), slices.Clip(g.counts)
}

func (g *arrayGoal) accept(s *state, r *arrayRules) bool {
	g.narrow(r.size)
	if r.rest != nil && r.rest.verdict == never {
		g.max = min(g.max, len(r.prefix))
	}
	for i, x := range r.prefix {
		if x.verdict == never {
			g.max = min(g.max, i)
		}
	}
	if r.prefix != nil || r.rest != nil {
		g.rules = append(g.rules, r)
	}
	if r.contains != nil && !(countOf{countGoal{r.contains, size{r.least, r.most}}}).apply(nil, s) {
		return false
	}
	if r.unique {
		g.unique = true
	}
	return g.min <= g.max && !(g.unique && g.twins)
}

type (
	itemAt     struct{ itemGoal }
	itemFrom   struct{ itemGoal }
	countOf    struct{ countGoal }
	equalItems struct{}
)

func (g itemAt) apply(p *prover, s *state) bool {
	s.array.here = append(s.array.here, g.itemGoal)
	return atLeast(g.index+1).apply(p, s)
}

func (g itemFrom) apply(p *prover, s *state) bool {
	s.array.somewhere = append(s.array.somewhere, g.itemGoal)
	return atLeast(g.index+1).apply(p, s)
}

func (g itemAt) foresee(s *state) outlook   { return s.array.foreseeItem(g.index) }
func (g itemFrom) foresee(s *state) outlook { return s.array.foreseeItem(g.index) }

func (g *arrayGoal) foreseeItem(i int) outlook {
	if i >= g.max {
		return hopeless
	}
	return open
}

func (g countOf) apply(_ *prover, s *state) bool {
	if g.size != anySize {
		s.array.counts = append(s.array.counts, g.countGoal)
	}
	return g.min <= g.max && s.array.narrow(size{g.min, maxCount})
}

func (equalItems) apply(p *prover, s *state) bool {
	s.array.twins = true
	return !s.array.unique && atLeast(2).apply(p, s)
}

func (equalItems) foresee(s *state) outlook {
	if s.array.unique {
		return hopeless
	}
	return s.array.foreseeItem(1)
}

func (r *arrayRules) refusals() []goal {
	options := r.size.refusals()
	for i, x := range r.prefix {
		if x.verdict != always {
			options = append(options, itemAt{itemGoal{i, []literal{{x, true}}}})
		}
	}
	if r.rest != nil && r.rest.verdict != always {
		options = append(options, itemFrom{itemGoal{len(r.prefix), []literal{{r.rest, true}}}})
	}
	if r.contains != nil {
		if r.least > 0 {
			options = append(options, countOf{countGoal{r.contains, size{0, r.least - 1}}})
		}
		if r.most < maxCount {
			options = append(options, countOf{countGoal{r.contains, size{r.most + 1, maxCount}}})
		}
	}
	if r.unique {
		options = append(options, equalItems{})
	}
	return options
}

func differsFromArray(v []any) goal {
	options := one{atMost(len(v) - 1), atLeast(len(v) + 1)}
	for i, x := range v {
		options = append(options, itemAt{itemGoal{i, []literal{{constant(x), true}}}})
	}
	return options
}

// constant is the node of some values.
func constant(values ...any) *node {
	return &node{unit: loose, kinds: kindsOf(values), values: values}
}

// literals are what the rules say of the item at an index.
func (g *arrayGoal) literals(i int) []literal {
	var list []literal
	for _, r := range g.rules {
		if x := r.item(i); x != nil {
			list = append(list, literal{x, false})
		}
	}
	return list
}

// An asker asks about parts of a value and keeps in mind what the answers
// depend on, for the case that nothing comes of it.
type asker struct {
	p    *prover
	low  int
	why  string
	none bool // some answer was unclear
}

func (a *asker) ask(literals []literal) finding {
	f := a.p.inside(literals)
	a.low = min(a.low, f.low)
	if f.status == unclear {
		a.doubt(f.why)
	}
	return f
}

func (a *asker) doubt(why string) {
	if !a.none {
		a.none, a.why = true, why
	}
}

// failed is the finding when no way led anywhere.
func (a *asker) failed() finding {
	if a.none {
		return finding{status: unclear, why: a.why, low: a.low}
	}
	return finding{status: empty, low: a.low}
}

// An arraySearch places the goals of an array of some length: the first items
// have a place of their own each, those after them are alike but for what is
// placed there. Items are then sorted by which of the counted sorts they are
// of.
type arraySearch struct {
	asker
	goal   *arrayGoal
	length int
	slots  []slot // with a place or a goal of their own
	rest   int    // how many more items there are
	result []any
}

// A slot is one item, or several that are alike.
type slot struct {
	literals []literal
	index    int // of the item; -1 after the slots with a place
	times    int
}

const maxCounts = 4

func (g *arrayGoal) solve(p *prover) finding {
	places := 0
	for _, r := range g.rules {
		places = max(places, len(r.prefix))
	}
	for _, d := range slices.Concat(g.here, g.somewhere) {
		places = max(places, d.index+1)
	}
	a := arraySearch{asker: asker{p: p, low: unconditional}, goal: g}
	if len(g.counts) > maxCounts {
		return unknown("contains")
	}
	// Longer arrays than these have items that serve no goal and can go.
	longest := g.min
	extra := len(g.somewhere)
	for _, c := range g.counts {
		extra += c.min
	}
	if g.twins {
		extra += 2
	}
	if extra > 0 {
		longest = max(g.min, places) + extra
	}
	if g.min > longestArray {
		return unknown("minItems")
	}
	for n := g.min; n <= min(longest, g.max); n++ {
		if !p.spend(1) {
			break
		}
		a.length, a.slots = n, nil
		for i := range min(n, places) {
			literals := g.literals(i)
			for _, d := range g.here {
				if d.index == i {
					literals = append(literals, d.literals...)
				}
			}
			a.slots = append(a.slots, slot{literals, i, 1})
		}
		a.rest = n - len(a.slots)
		if a.place(0) {
			return some(a.result)
		}
	}
	return a.failed()
}

const longestArray = 1 << 16

// place puts the goals that may be fulfilled at several places.
func (a *arraySearch) place(i int) bool {
	if !a.p.spend(1) {
		return false
	}
	if i == len(a.goal.somewhere) {
		return a.sort(0)
	}
	d := a.goal.somewhere[i]
	for j := range a.slots {
		old := a.slots[j].literals
		if at := a.slots[j].index; at >= 0 && at < d.index {
			continue
		}
		a.slots[j].literals = append(slices.Clip(old), d.literals...)
		if a.ask(a.slots[j].literals).status != empty && a.place(i+1) {
			return true
		}
		a.slots[j].literals = old
	}
	if a.rest == 0 {
		return false
	}
	// The goals' indexes are all among the places, so what comes after suits each.
	literals := append(a.goal.literals(a.length), d.literals...)
	if a.ask(literals).status == empty {
		return false
	}
	a.slots = append(a.slots, slot{literals, -1, 1})
	a.rest--
	if a.place(i + 1) {
		return true
	}
	a.slots = a.slots[:len(a.slots)-1]
	a.rest++
	return false
}

// sort decides for every slot which of the counted sorts it is of.
func (a *arraySearch) sort(i int) bool {
	if !a.p.spend(1) {
		return false
	}
	if i == len(a.slots) {
		return a.sortRest(0, a.rest)
	}
	if len(a.goal.counts) == 0 {
		return a.ask(a.slots[i].literals).status != empty && a.sort(i+1)
	}
	old := a.slots[i].literals
	for signs := range 1 << len(a.goal.counts) {
		a.slots[i].literals = a.signed(old, signs)
		if a.ask(a.slots[i].literals).status != empty && a.sort(i+1) {
			return true
		}
	}
	a.slots[i].literals = old
	return false
}

// signed adds which sorts an item is of: the bits of signs that are 0 say yes.
func (a *arraySearch) signed(literals []literal, signs int) []literal {
	literals = slices.Clip(literals)
	for j, c := range a.goal.counts {
		literals = append(literals, literal{c.node, signs>>j&1 == 1})
	}
	return literals
}

// sortRest decides how many of the other items are of each combination of
// sorts.
func (a *arraySearch) sortRest(signs, left int) bool {
	if !a.p.spend(1) {
		return false
	}
	combinations := 1 << len(a.goal.counts)
	if left == 0 {
		return a.counted() && a.finish()
	}
	if signs == combinations {
		return false
	}
	literals := a.signed(a.goal.literals(a.length), signs)
	most := left
	if a.ask(literals).status == empty {
		most = 0
	}
	least := 0
	if signs == combinations-1 {
		least = left
	}
	if len(a.goal.counts) == 1 && signs == 0 {
		// Of two sorts the number of one follows from the count.
		c, already := a.goal.counts[0], a.countOf(0)
		least, most = max(least, c.min-already), min(most, c.max-already)
	}
	for times := least; times <= most; times++ {
		if times > 0 {
			a.slots = append(a.slots, slot{literals, -1, times})
		}
		ok := a.sortRest(signs+1, left-times)
		if ok {
			return true
		}
		if times > 0 {
			a.slots = a.slots[:len(a.slots)-1]
		}
	}
	return false
}

func (a *arraySearch) countOf(j int) int {
	total := 0
	for _, s := range a.slots {
		// signed puts the counted literals last.
		l := s.literals[len(s.literals)-len(a.goal.counts)+j]
		if !l.deny {
			total += s.times
		}
	}
	return total
}

func (a *arraySearch) counted() bool {
	for j, c := range a.goal.counts {
		if !c.holds(a.countOf(j)) {
			return false
		}
	}
	return true
}

// finish makes up the items.
func (a *arraySearch) finish() bool {
	g := a.goal
	if !a.p.spend(a.length / 64) {
		return false
	}
	switch {
	case g.unique:
		return a.differing()
	case g.twins:
		return a.twin()
	}
	a.result = make([]any, 0, a.length)
	for _, s := range a.slots {
		f := a.ask(s.literals)
		if f.status != found {
			return false
		}
		for range s.times {
			a.result = append(a.result, f.value)
		}
	}
	return true
}

// twin gives two items one value.
func (a *arraySearch) twin() bool {
	values := make([]finding, len(a.slots))
	for i, s := range a.slots {
		if values[i] = a.ask(s.literals); values[i].status != found {
			return false
		}
	}
	emit := func(i, j int, shared any) bool {
		a.result = make([]any, 0, a.length)
		for k, s := range a.slots {
			v := values[k].value
			if k == i || k == j {
				v = shared
			}
			for range s.times {
				a.result = append(a.result, v)
			}
		}
		return true
	}
	for i, s := range a.slots {
		if s.times > 1 {
			return emit(i, i, values[i].value)
		}
		for j := range i {
			if f := a.ask(slices.Concat(s.literals, a.slots[j].literals)); f.status == found {
				return emit(i, j, f.value)
			}
		}
	}
	return false
}

// differing gives all items different values: as many candidates for each as
// there are items, and then a matching.
func (a *arraySearch) differing() bool {
	if a.length > 64 {
		a.doubt("uniqueItems")
		return false
	}
	var candidates [][]any
	for _, s := range a.slots {
		values, ok := a.several(s.literals, a.length)
		if !ok {
			return false
		}
		for range s.times {
			candidates = append(candidates, values)
		}
	}
	result, ok := a.p.distinct(candidates)
	a.result = result
	return ok
}

// distinct chooses a value for each of several, no two of them equal: a matching
// in the graph of who may take which.
func (p *prover) distinct(candidates [][]any) (chosen []any, ok bool) {
	var pool []any
	owner := map[int]int{} // value by number → who takes it
	numbers := make([][]int, len(candidates))
	for i, values := range candidates {
		for _, v := range values {
			k := slices.IndexFunc(pool, func(x any) bool { return Equal(x, v) })
			if k < 0 {
				k, pool = len(pool), append(pool, v)
			}
			numbers[i] = append(numbers[i], k)
		}
	}
	var assign func(i int, tried map[int]bool) bool
	assign = func(i int, tried map[int]bool) bool {
		for _, k := range numbers[i] {
			if tried[k] {
				continue
			}
			tried[k] = true
			if other, taken := owner[k]; !taken || assign(other, tried) {
				owner[k] = i
				return true
			}
		}
		return false
	}
	for i := range candidates {
		if !p.spend(len(candidates)) || !assign(i, map[int]bool{}) {
			return nil, false
		}
	}
	chosen = make([]any, len(candidates))
	for k, i := range owner {
		chosen[i] = pool[k]
	}
	return chosen, true
}

// several finds up to n different values; fewer only when there are no more.
func (a *asker) several(literals []literal, n int) ([]any, bool) {
	var values []any
	for len(values) < n {
		wanted := literals
		if len(values) > 0 {
			wanted = append(slices.Clip(literals), literal{constant(slices.Clone(values)...), true})
		}
		f := a.ask(wanted)
		if f.status != found {
			return values, f.status == empty
		}
		values = append(values, f.value)
	}
	return values, true
}
