// Package sample makes up values that a node of a schema accepts: realistic ones, full ones, and those at the bounds of
// what accepts them. The same random source gives the same value. It guesses and checks, and never proves.
package sample

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler/schema/ast"
	"github.com/obelus-dev/obelus/compiler/schema/regex"
)

// A Taste is what values are looked for.
type Taste uint8

const (
	Usual Taste = iota
	Odd         // see [Schema.OddWithin]
	Full        // see [Schema.FullWithin]
)

// Value guesses at a value that a node accepts, by so many steps of a validation.
func Value(n *ast.Node, r *rand.Rand, left *int, of Taste, targets []any) (any, bool) {
	writers := map[*regex.Pattern]*regex.Writer{}
	for try := 0; try < 24 && *left > 0; try++ {
		m := sampler{r: r, budget: 2_000, left: *left, writers: writers, frugal: try > 7,
			odd: of == Odd && try < 4}
		if m.odd {
			m.targets = targets
		}
		if of == Full && try < len(fullDepths) {
			m.full = fullDepths[try]
		}
		v := m.value([]*ast.Node{n}, 0, "")
		ok := m.left > 0 && ast.KindOf(v) != 0 && m.accepts(n, v)
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
	full    int                              // how deep objects have all properties and lists an item; see Full
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
	if low > ast.Longest {
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
		extra := try % 4
		if try >= 8 { // as long as is asked, where the pattern repeats something
			extra = max(extra, low)
		}
		s, steps := writer.Word(m.r, extra, min(m.budget, m.left/2))
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

func (m *sampler) accepts(n *ast.Node, v any) bool {
	c := ast.Bounded(m.left)
	accepted := c.Accepts(n, v)
	return m.affords(c.Steps) && accepted && !c.Spent
}

func (m *sampler) matches(p *regex.Pattern, s string) bool {
	c := ast.Bounded(m.left)
	matched := c.Matches(p, s)
	return m.affords(c.Steps) && matched && !c.Spent
}

// A want is what a conjunction asks for directly, its parts gathered.
type want struct {
	nodes []*ast.Node
	kinds ast.Kinds
	fixed []any // values that some part offers: const, enum, default, examples
	sure  bool  // the fixed values are all that there are
}

// gather flattens references and allOf, and picks one of every alternative.
func (m *sampler) gather(nodes []*ast.Node) want {
	w := want{kinds: ast.Anything}
	var add func(n *ast.Node, depth int)
	add = func(n *ast.Node, depth int) {
		if n == nil || depth > ast.MaxNesting || !m.affords(1+len(w.nodes)/16) || slices.Contains(w.nodes, n) {
			return
		}
		w.nodes = append(w.nodes, n)
		w.kinds &= n.Kinds
		if n.Not != nil {
			w.kinds &^= n.Not.FullKinds()
		}
		if n.Verdict == ast.Never {
			w.kinds = 0
		}
		if n.Values != nil {
			w.fixed, w.sure = n.Values, true
		}
		if raw, ok := n.Raw.(map[string]any); ok && !w.sure && w.fixed == nil {
			if v, ok := raw["default"]; ok && !m.odd && m.r.IntN(3) > 0 {
				w.fixed = []any{v}
			} else if list, ok := raw["examples"].([]any); ok && len(list) > 0 && !m.odd && m.r.IntN(4) > 0 {
				w.fixed = list
			}
		}
		add(n.Ref, depth+1)
		for _, x := range n.AllOf {
			add(x, depth+1)
		}
		for _, list := range [][]*ast.Node{n.AnyOf, n.OneOf} {
			if !m.affords(len(list) / 8) {
				return
			}
			if list = slices.DeleteFunc(slices.Clone(list),
				func(x *ast.Node) bool { return x.Possible()&w.kinds == 0 }); len(list) > 0 {
				add(list[m.r.IntN(len(list))], depth+1)
			}
		}
		if n.Cond != nil {
			if n.Then != nil && m.r.IntN(2) == 0 {
				add(n.Cond, depth+1)
				add(n.Then, depth+1)
			} else if n.Other != nil {
				add(n.Other, depth+1)
			}
		}
	}
	for _, n := range nodes {
		add(n, 0)
	}
	return w
}

func (m *sampler) value(nodes []*ast.Node, depth int, name string) any {
	if m.budget--; m.budget < 0 {
		return nil
	}
	w := m.gather(nodes)
	if !m.affords(16 + 4*len(w.nodes)) {
		return nil
	}
	if len(w.fixed) > 0 {
		v := w.fixed[m.r.IntN(len(w.fixed))]
		if w.sure || !slices.ContainsFunc(nodes, func(n *ast.Node) bool { return !m.accepts(n, v) }) {
			return v
		}
	}
	kind := m.kind(w, depth)
	switch kind {
	case ast.Null:
		return nil
	case ast.Boolean:
		return m.r.IntN(2) == 0
	case ast.Integer, ast.Fraction:
		return m.number(w, kind)
	case ast.String:
		return m.text(w, name)
	case ast.Array:
		return m.array(w, depth, name)
	case ast.Object:
		return m.object(w, depth)
	}
	return nil
}

// kind picks one of the possible kinds: those that the keywords speak of
// first, and null only where little else is left or it is looked for.
func (m *sampler) kind(w want, depth int) ast.Kinds {
	var mentioned ast.Kinds
	for _, n := range w.nodes {
		if n.Objects != nil {
			mentioned |= ast.Object
		}
		if n.Arrays != nil {
			mentioned |= ast.Array
		}
		if n.Strings != nil {
			mentioned |= ast.String
		}
		if n.Numbers != nil {
			mentioned |= ast.Number
		}
	}
	candidates := w.kinds
	switch {
	case w.kinds&mentioned != 0 && w.kinds == ast.Anything:
		candidates = w.kinds & mentioned
	case w.kinds == ast.Anything:
		candidates = ast.String | ast.Integer | ast.Boolean
	case depth > 6 && depth >= m.full && candidates&^(ast.Array|ast.Object) != 0:
		candidates &^= ast.Array | ast.Object
	}
	if candidates&ast.Null != 0 && candidates != ast.Null {
		if m.odd && m.r.IntN(3) == 0 {
			return ast.Null
		}
		if depth < m.full || m.r.IntN(5) > 0 && !(depth > 6) {
			candidates &^= ast.Null
		}
	}
	if candidates&ast.Number == ast.Number && m.r.IntN(2) == 0 {
		if candidates &^= ast.Fraction; m.odd {
			candidates = candidates&^ast.Integer | ast.Fraction
		}
	}
	var bits []ast.Kinds
	for k := ast.Null; k <= ast.Object; k <<= 1 {
		if candidates&k != 0 {
			bits = append(bits, k)
		}
	}
	if len(bits) == 0 {
		return 0
	}
	return bits[m.r.IntN(len(bits))]
}

func (m *sampler) number(w want, kind ast.Kinds) any {
	low, high, step := math.Inf(-1), math.Inf(1), 0.0
	for _, n := range w.nodes {
		if r := n.Numbers; r != nil {
			for _, p := range []*float64{r.Min, r.Above} {
				if p != nil {
					low = max(low, *p)
				}
			}
			for _, p := range []*float64{r.Max, r.Below} {
				if p != nil {
					high = min(high, *p)
				}
			}
			if r.Multiple != nil {
				step = max(step, *r.Multiple)
			}
		}
	}
	if at, ok := m.aim().(float64); ok || m.odd && m.r.IntN(6) == 0 { // else zero, or what is nearest to it
		if m.r.IntN(4) == 0 && math.Abs(at) < ast.MaxCount/1000 {
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
		if step = 1; kind == ast.Fraction && high-low > 0 {
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

// aim is a number or text that is aimed at, at times; more often than not where there is one alone.
func (m *sampler) aim() any {
	if len(m.targets) == 0 || (m.r.IntN(3) == 0) == (len(m.targets) == 1) {
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
	low, high := 0, ast.MaxCount
	var contains []*ast.Node
	unique := false
	for _, n := range w.nodes {
		if r := n.Arrays; r != nil {
			low, high = max(low, r.Min), min(high, r.Max)
			unique = unique || r.Unique
			if r.Contains != nil && r.Least > 0 {
				for range min(r.Least, 16) {
					contains = append(contains, r.Contains)
				}
			}
			if r.Rest != nil && r.Rest.Verdict == ast.Never {
				high = min(high, len(r.Prefix))
			}
			if !m.frugal && low == 0 {
				low = min(len(r.Prefix), high)
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
		for try := 0; unique && try < 12 &&
			slices.ContainsFunc(items, func(y any) bool { return ast.Equal(x, y) }); try++ {
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
func itemNodes(nodes []*ast.Node, i int) []*ast.Node {
	var list []*ast.Node
	for _, n := range nodes {
		if r := n.Arrays; r != nil && r.Item(i) != nil {
			list = append(list, r.Item(i))
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
	low, high := 0, ast.MaxCount
	of := properties{required: map[string]bool{}}
	for _, n := range w.nodes {
		if r := n.Objects; r != nil {
			low, high = max(low, r.Min), min(high, r.Max)
			for _, name := range r.Required {
				of.add(name, true)
			}
			for _, name := range r.Names {
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
	if low > ast.MaxProperties {
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
		if r := n.Objects; r != nil {
			for _, d := range r.Needs {
				if _, ok := v[d.Name]; ok {
					for _, name := range d.Names {
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
		if _, ok := v[name]; !ok && len(v) < high &&
			(len(v) < low || !m.frugal && (m.r.Float64() < share || depth < m.full)) {
			put(name)
		}
	}
	for i := 0; len(v) < low && i < low+64 && m.left > 0 && m.budget > 0; i++ {
		name := sampleWords[(first+i)%len(sampleWords)]
		if i >= len(sampleWords) {
			name += ast.IndexKey(i)
		}
		if p := firstPattern(w.nodes); p != nil {
			if s, ok := m.matching([]*regex.Pattern{p}, 0, ast.MaxCount).(string); ok {
				name = s
			}
		}
		put(name)
	}
	return v
}

func firstPattern(nodes []*ast.Node) *regex.Pattern {
	for _, n := range nodes {
		if r := n.Objects; r != nil {
			if len(r.Patterns) > 0 {
				return r.Patterns[0].Pattern
			}
			if r.PropertyNames != nil && r.PropertyNames.Strings != nil {
				return r.PropertyNames.Strings.Pattern
			}
		}
	}
	return nil
}

// propertyNodes are the nodes that judge a property; false when it mustn't be
// there.
func (m *sampler) propertyNodes(nodes []*ast.Node, name string) ([]*ast.Node, bool) {
	var list []*ast.Node
	for _, n := range nodes {
		if r := n.Objects; r != nil {
			list = append(list,
				r.Judges(r.Properties[name], func(p *regex.Pattern) bool { return m.matches(p, name) })...)
		}
	}
	return list, !slices.ContainsFunc(list, func(n *ast.Node) bool { return n.Verdict == ast.Never })
}
