package schema

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler/schema/regex"
)

// Sample generates a value that the schema accepts: by its default, const, enum or examples if it has them, realistic
// otherwise. The same state of r gives the same value. False doesn't mean that there is none.
func (s *Schema) Sample(r *rand.Rand) (any, bool) {
	steps := SampleSteps
	return s.SampleWithin(r, &steps)
}

// SampleWithin is Sample with a budget of steps like that of [Contains], from which it subtracts the cost of the value.
func (s *Schema) SampleWithin(r *rand.Rand, steps *int) (any, bool) {
	return s.sampleWithin(r, steps, usual, nil)
}

// FullWithin is SampleWithin that looks for values with every property that the schema names, and with no null where
// another value is possible. Where it finds none by guessing it takes whatever [Inhabit] finds.
func (s *Schema) FullWithin(r *rand.Rand, steps *int) (any, bool) {
	v, ok := s.sampleWithin(r, steps, full, nil)
	if most := min(*steps, defaultSteps); !ok && most > 0 {
		*steps -= most
		v, ok, _ = Inhabit([]*Schema{s}, nil, Budget{Steps: most})
	}
	return v, ok
}

// OddWithin is SampleWithin that looks for unusual values: a null, a zero or a fraction where there may be one, a list
// of several, a target (a number, which is a size too, or a text) or what is as near to it as the schema lets it come.
func (s *Schema) OddWithin(r *rand.Rand, steps *int, targets ...any) (any, bool) {
	return s.sampleWithin(r, steps, odd, targets)
}

// AlikeWithin is OddWithin that looks for values whose numbers and sizes, or texts, are mostly one target.
func (s *Schema) AlikeWithin(r *rand.Rand, steps *int, aim any) (any, bool) {
	return s.sampleWithin(r, steps, alike, []any{aim})
}

// A taste is what values are looked for.
type taste uint8

const (
	usual taste = iota
	odd         // see [Schema.OddWithin]
	alike       // see [Schema.AlikeWithin]
	full        // see [Schema.FullWithin]
)

func (s *Schema) sampleWithin(r *rand.Rand, steps *int, of taste, targets []any) (any, bool) {
	left := *steps * checksPerStep
	v, ok := sample(s.ready(), r, &left, of, targets)
	*steps = left / checksPerStep
	return v, ok
}

// SampleSteps is the default budget of one value.
const SampleSteps = 10_000

func sample(n *node, r *rand.Rand, left *int, of taste, targets []any) (any, bool) {
	writers := map[*regex.Pattern]*regex.Writer{}
	for try := 0; try < 24 && *left > 0; try++ {
		m := sampler{r: r, budget: 2_000, left: *left, writers: writers, frugal: try > 7, odd: (of == odd || of == alike) && try < 4}
		if m.odd {
			m.targets, m.alike = targets, of == alike
		}
		if of == full && try < len(fullDepths) {
			m.full = fullDepths[try]
		}
		v := m.value([]*node{n}, 0, "")
		ok := m.left > 0 && KindOf(v) != 0 && m.accepts(n, v)
		if *left = m.left; ok {
			return v, true
		}
	}
	return nil, false
}

// A sampler makes a guess at a value of a conjunction of nodes; the caller validates it.
type sampler struct {
	r       *rand.Rand
	budget  int                              // of values and letters in one guess
	left    int                              // of all work, in steps of a checker
	writers map[*regex.Pattern]*regex.Writer // that words were made by
	frugal  bool                             // say as little as possible
	odd     bool                             // see [Schema.OddWithin]
	targets []any                            // numbers, sizes and texts, see [Schema.OddWithin]
	alike   bool                             // see [Schema.AlikeWithin]
	full    int                              // how deep objects have all properties and lists an item; see [Schema.FullWithin]
}

// fullDepths are the depths to which the first guesses are full: a schema that holds
// itself has no values that are so all the way.
var fullDepths = []int{9, 7, 5, 4, 3, 2, 1}

// affords takes work off what is left; false means that the guess is given up.
func (m *sampler) affords(steps int) bool {
	m.left -= steps
	return m.left > 0
}

// matching makes up a string for patterns: a random word of the first that
// fits the length and, with luck, the others.
func (m *sampler) matching(patterns []*regex.Pattern, low, high int) any {
	if low > longest {
		return nil
	}
	writer := m.writers[patterns[0]]
	if writer == nil {
		writer = patterns[0].Writer()
		m.writers[patterns[0]] = writer
		m.affords(4 * writer.Size)
	}
	for try := range 16 {
		m.budget += 500
		s, steps := writer.Word(m.r, try%4, min(m.budget, m.left/2))
		m.budget -= steps
		// What isn't anchored may be longer than the pattern.
		if !m.affords(2*steps + max(len(s), low)/8) {
			return nil
		}
		if n := utf8.RuneCountInString(s); n < low {
			s += strings.Repeat("a", low-n)
		}
		n := utf8.RuneCountInString(s)
		if n < low || n > high {
			continue
		}
		if !slices.ContainsFunc(patterns, func(p *regex.Pattern) bool { return !m.matches(p, s) }) {
			return s
		}
	}
	return nil
}

func (m *sampler) accepts(n *node, v any) bool {
	c := bounded(m.left)
	accepted := c.accepts(n, v)
	return m.affords(c.steps) && accepted && !c.spent
}

func (m *sampler) matches(p *regex.Pattern, s string) bool {
	c := bounded(m.left)
	matched := c.matches(p, s)
	return m.affords(c.steps) && matched && !c.spent
}

// A want is what a conjunction asks for directly, its parts gathered.
type want struct {
	nodes []*node
	kinds Kinds
	fixed []any // values that some part offers: const, enum, default, examples
	sure  bool  // the fixed values are all that there are
}

// gather flattens references and allOf, and picks one of every alternative.
func (m *sampler) gather(nodes []*node) want {
	w := want{kinds: Anything}
	var add func(n *node, depth int)
	add = func(n *node, depth int) {
		if n == nil || depth > maxNesting || !m.affords(1+len(w.nodes)/16) || slices.Contains(w.nodes, n) {
			return
		}
		w.nodes = append(w.nodes, n)
		w.kinds &= n.kinds
		if n.not != nil {
			w.kinds &^= n.not.fullKinds()
		}
		if n.verdict == never {
			w.kinds = 0
		}
		if n.values != nil {
			w.fixed, w.sure = n.values, true
		}
		if raw, ok := n.raw.(map[string]any); ok && !w.sure && w.fixed == nil {
			if v, ok := raw["default"]; ok && !m.odd && m.r.IntN(3) > 0 {
				w.fixed = []any{v}
			} else if list, ok := raw["examples"].([]any); ok && len(list) > 0 && !m.odd && m.r.IntN(4) > 0 {
				w.fixed = list
			}
		}
		add(n.ref, depth+1)
		for _, x := range n.allOf {
			add(x, depth+1)
		}
		for _, list := range [][]*node{n.anyOf, n.oneOf} {
			if list = slices.DeleteFunc(slices.Clone(list), func(x *node) bool { return x.possible()&w.kinds == 0 }); len(list) > 0 {
				add(list[m.r.IntN(len(list))], depth+1)
			}
		}
		if n.cond != nil {
			if n.then != nil && m.r.IntN(2) == 0 {
				add(n.cond, depth+1)
				add(n.then, depth+1)
			} else if n.other != nil {
				add(n.other, depth+1)
			}
		}
	}
	for _, n := range nodes {
		add(n, 0)
	}
	return w
}

func (m *sampler) value(nodes []*node, depth int, name string) any {
	if m.budget--; m.budget < 0 {
		return nil
	}
	w := m.gather(nodes)
	if !m.affords(16 + 4*len(w.nodes)) {
		return nil
	}
	if len(w.fixed) > 0 {
		v := w.fixed[m.r.IntN(len(w.fixed))]
		if w.sure || !slices.ContainsFunc(nodes, func(n *node) bool { return !m.accepts(n, v) }) {
			return v
		}
	}
	kind := m.kind(w, depth)
	switch kind {
	case Null:
		return nil
	case Boolean:
		return m.r.IntN(2) == 0
	case Integer, Fraction:
		return m.number(w, kind)
	case String:
		return m.text(w, name)
	case Array:
		return m.array(w, depth, name)
	case Object:
		return m.object(w, depth)
	}
	return nil
}

// kind picks one of the possible kinds: those that the keywords speak of
// first, and null only where little else is left or it is looked for.
func (m *sampler) kind(w want, depth int) Kinds {
	var mentioned Kinds
	for _, n := range w.nodes {
		if n.objects != nil {
			mentioned |= Object
		}
		if n.arrays != nil {
			mentioned |= Array
		}
		if n.strings != nil {
			mentioned |= String
		}
		if n.numbers != nil {
			mentioned |= Number
		}
	}
	candidates := w.kinds
	switch {
	case w.kinds&mentioned != 0 && w.kinds == Anything:
		candidates = w.kinds & mentioned
	case w.kinds == Anything:
		candidates = String | Integer | Boolean
	case depth > 6 && depth >= m.full && candidates&^(Array|Object) != 0:
		candidates &^= Array | Object
	}
	if candidates&Null != 0 && candidates != Null {
		if m.odd && m.r.IntN(3) == 0 {
			return Null
		}
		if depth < m.full || m.r.IntN(5) > 0 && !(depth > 6) {
			candidates &^= Null
		}
	}
	if candidates&Number == Number && m.r.IntN(2) == 0 {
		if candidates &^= Fraction; m.odd {
			candidates = candidates&^Integer | Fraction
		}
	}
	var bits []Kinds
	for k := Null; k <= Object; k <<= 1 {
		if candidates&k != 0 {
			bits = append(bits, k)
		}
	}
	if len(bits) == 0 {
		return 0
	}
	return bits[m.r.IntN(len(bits))]
}

func (m *sampler) number(w want, kind Kinds) any {
	low, high, step := math.Inf(-1), math.Inf(1), 0.0
	for _, n := range w.nodes {
		if r := n.numbers; r != nil {
			for _, p := range []*float64{r.min, r.above} {
				if p != nil {
					low = max(low, *p)
				}
			}
			for _, p := range []*float64{r.max, r.below} {
				if p != nil {
					high = min(high, *p)
				}
			}
			if r.multiple != nil {
				step = max(step, *r.multiple)
			}
		}
	}
	if at, ok := m.aim().(float64); ok || m.odd && m.r.IntN(6) == 0 { // else zero, or what is nearest to it
		if m.r.IntN(4) == 0 && math.Abs(at) < maxCount/1000 {
			at *= 1000
		}
		if at = min(max(at, low), high); step > 0 {
			at = math.Floor(at/step) * step
		}
		return at
	}
	switch {
	case math.IsInf(low, -1) && math.IsInf(high, 1):
		low, high = 0, 100
	case math.IsInf(low, -1):
		low = high - 100
	case math.IsInf(high, 1):
		high = low + 100
	}
	if step == 0 {
		if step = 1; kind == Fraction && high-low > 0 {
			step = math.Pow(10, math.Floor(math.Log10(high-low))-2)
			if m.odd { // a half, or what doesn't become whole by a factor
				step = min(step, [...]float64{0.5, 0.001}[m.r.IntN(2)])
			}
		}
	}
	first, last := math.Ceil(low/step), math.Floor(high/step)
	if last < first {
		return (low + high) / 2
	}
	k := first + math.Floor(m.r.Float64()*(last-first+1))
	if step < 1 {
		// Dividing by a whole number gives 0.3 where multiplying by 0.1 gives 0.30000000000000004.
		return k / math.Round(1/step)
	}
	return k * step
}

// aim is a number or text that is aimed at, at times; more often than not where all go for one.
func (m *sampler) aim() any {
	if len(m.targets) == 0 || (m.r.IntN(3) == 0) == m.alike {
		return nil
	}
	return m.targets[m.r.IntN(len(m.targets))]
}

// size is a size within bounds that is aimed at, if it is a number; past the bounds of all that take
// a value more often than not.
func (m *sampler) size(aim any, low, high, most int) (int, bool) {
	at, ok := aim.(float64)
	if ok && m.r.IntN(3) == 0 {
		for _, v := range m.targets {
			if v, ok := v.(float64); ok && v > at && v <= float64(most) {
				at = v
			}
		}
	}
	if !ok || at < 0 || at > float64(most) {
		return 0, false
	}
	n := min(max(int(at), low), high)
	return n, n <= most
}

// Bounds on what is aimed at.
const (
	maxTargetItems   = 1_000
	maxTargetLetters = 20_000
	maxTargetNames   = 50
)

func (m *sampler) array(w want, depth int, name string) any {
	low, high := 0, maxCount
	var contains []*node
	unique := false
	for _, n := range w.nodes {
		if r := n.arrays; r != nil {
			low, high = max(low, r.min), min(high, r.max)
			unique = unique || r.unique
			if r.contains != nil && r.least > 0 {
				for range min(r.least, 16) {
					contains = append(contains, r.contains)
				}
			}
			if r.rest != nil && r.rest.verdict == never {
				high = min(high, len(r.prefix))
			}
			if !m.frugal && low == 0 {
				low = min(len(r.prefix), high)
			}
		}
	}
	length := max(low, len(contains))
	if !m.frugal && depth < 5 {
		if length += m.r.IntN(3); m.odd || length == 0 && depth < m.full {
			length++
		}
	}
	length = min(length, high)
	targeted := false
	if at, ok := m.size(m.aim(), max(low, len(contains)), high, maxTargetItems); ok {
		length, targeted = at, true
	}
	if length > 1000 {
		return nil
	}
	items := make([]any, 0, length)
	for i := 0; i < length; i++ {
		nodes := itemNodes(w.nodes, i)
		if j := i - (length - len(contains)); j >= 0 {
			nodes = append(nodes, contains[j])
		}
		if targeted && i >= 32 && !unique && len(contains) == 0 {
			items = append(items, items[i%32]) // of many the last are like the first
			continue
		}
		x := m.value(nodes, depth+1, name)
		for try := 0; unique && try < 12 && slices.ContainsFunc(items, func(y any) bool { return Equal(x, y) }); try++ {
			x = m.value(nodes, depth+1, name)
		}
		items = append(items, x)
		if !m.affords(4+len(nodes)) || unique && !m.affords(i) {
			break
		}
	}
	return items
}

// itemNodes are the nodes that judge the item at an index.
func itemNodes(nodes []*node, i int) []*node {
	var list []*node
	for _, n := range nodes {
		if r := n.arrays; r != nil && r.item(i) != nil {
			list = append(list, r.item(i))
		}
	}
	return list
}

// properties are the names that objects have, and whether each has to be there.
type properties struct {
	names    []string
	required map[string]bool
}

func (p *properties) add(name string, must bool) {
	was, known := p.required[name]
	if !known {
		p.names = append(p.names, name)
	}
	p.required[name] = was || must
}

func (m *sampler) object(w want, depth int) any {
	low, high := 0, maxCount
	of := properties{required: map[string]bool{}}
	for _, n := range w.nodes {
		if r := n.objects; r != nil {
			low, high = max(low, r.min), min(high, r.max)
			for _, name := range r.required {
				of.add(name, true)
			}
			for _, name := range r.names {
				of.add(name, false)
			}
		}
	}
	first := 0 // of the words that are names where there have to be more
	if len(of.names) == 0 && !m.frugal && depth < 4 {
		for range m.r.IntN(3) {
			of.add(sampleWords[m.r.IntN(len(sampleWords))], false)
		}
		if m.odd {
			if n, ok := m.size(m.aim(), low, high, maxTargetNames); ok {
				low, first = n, m.r.IntN(len(sampleWords))
			}
			if len(of.names) > 0 && m.r.IntN(8) == 0 && firstPattern(w.nodes) == nil {
				of.add(strings.ToUpper(of.names[0])+" 1", false)
			}
		}
	}
	if low > maxProperties {
		return nil // too large to show; the caller finds it refused
	}
	v := map[string]any{}
	put := func(name string) {
		if _, there := v[name]; there || !m.affords(4+len(w.nodes)) {
			return
		}
		if nodes, ok := m.propertyNodes(w.nodes, name); ok {
			v[name] = m.value(nodes, depth+1, name)
		}
	}
	for _, name := range of.names {
		if of.required[name] {
			put(name)
		}
	}
	for _, n := range w.nodes { // what is there may need more
		if r := n.objects; r != nil {
			for _, d := range r.needs {
				if _, ok := v[d.name]; ok {
					for _, name := range d.names {
						put(name)
					}
				}
			}
		}
	}
	share := 0.7
	if depth > 3 {
		share = 0.15
	}
	for _, name := range of.names {
		if _, ok := v[name]; !ok && len(v) < high && (len(v) < low || !m.frugal && (m.r.Float64() < share || depth < m.full)) {
			put(name)
		}
	}
	for i := 0; len(v) < low && i < low+64 && m.left > 0 && m.budget > 0; i++ {
		name := sampleWords[(first+i)%len(sampleWords)]
		if i >= len(sampleWords) {
			name += indexKey(i)
		}
		if p := firstPattern(w.nodes); p != nil {
			if s, ok := m.matching([]*regex.Pattern{p}, 0, maxCount).(string); ok {
				name = s
			}
		}
		put(name)
	}
	return v
}

func firstPattern(nodes []*node) *regex.Pattern {
	for _, n := range nodes {
		if r := n.objects; r != nil {
			if len(r.patterns) > 0 {
				return r.patterns[0].pattern
			}
			if r.propertyNames != nil && r.propertyNames.strings != nil {
				return r.propertyNames.strings.pattern
			}
		}
	}
	return nil
}

// propertyNodes are the nodes that judge a property; false when it mustn't be
// there.
func (m *sampler) propertyNodes(nodes []*node, name string) ([]*node, bool) {
	var list []*node
	for _, n := range nodes {
		r := n.objects
		if r == nil {
			continue
		}
		matched := false
		if p := r.properties[name]; p != nil {
			list, matched = append(list, p), true
		}
		for _, p := range r.patterns {
			if m.matches(p.pattern, name) {
				list, matched = append(list, p.node), true
			}
		}
		if !matched && r.additional != nil {
			list = append(list, r.additional)
		}
	}
	return list, !slices.ContainsFunc(list, func(n *node) bool { return n.verdict == never })
}
