package subset

import (
	"math/rand/v2"
	"slices"

	"github.com/obelus-dev/obelus/compiler/schema/ast"
	"github.com/obelus-dev/obelus/compiler/schema/sample"
)

// A branch is what has been gathered of a value of one kind on one way through the alternatives.
type branch struct {
	p        *Prover
	kind     ast.Kinds
	asked    []literal // a value that fulfils them is an answer
	codes    []uint32  // of all literals that were added
	accepted []*ast.Node
	atoms    []*ast.Node // that refuse it, by one keyword each
	choices  []choice
	finite   []any  // the value is one of these
	pruned   int    // how many accepted when the choices were pruned
	opaque   string // the first keyword that was left out

	size      ast.Size // of a text, an array or an object
	low, high bound    // of a number
	has       []string // properties that have to be there
	lacks     []string // and some that mustn't
}

// A way is a set of literals. A value has to fulfil one way of each choice.
type way []literal

type choice struct {
	ways   []way
	origin *ast.Node // what has to refuse it; nil for any other choice
}

// clone lets a branch go its own way: every list is cut so that appending to it copies.
func (b *branch) clone() *branch {
	c := *b
	c.codes, c.accepted, c.atoms = slices.Clip(c.codes), slices.Clip(c.accepted), slices.Clip(c.atoms)
	c.choices, c.has, c.lacks = slices.Clip(c.choices), slices.Clip(c.has), slices.Clip(c.lacks)
	return &c
}

func (b *branch) leaveOut(keyword string) {
	if b.opaque == "" {
		b.opaque = keyword
	}
}

func (b *branch) choose(ways []way, origin *ast.Node) bool {
	switch len(ways) {
	case 0:
		return false
	case 1:
		return b.addAll(ways[0])
	}
	b.choices = append(b.choices, choice{ways, origin})
	return true
}

// addAll takes literals apart; false means that they contradict what is there.
func (b *branch) addAll(literals []literal) bool {
	return !slices.ContainsFunc(literals, func(l literal) bool { return !b.add(l) })
}

func (b *branch) add(l literal) bool {
	l.node = l.node.Plain()
	switch b.outlook(l) {
	case sure:
		return true
	case hopeless:
		return false
	}
	if !b.p.spend(1) {
		return true
	}
	b.codes = append(b.codes, b.p.code(l))
	if !l.deny {
		return b.accept(l.node)
	}
	if keyword, is := b.p.atoms[l.node]; is {
		b.leaveOut(keyword)
		b.atoms = append(b.atoms, l.node)
		return true
	}
	return b.choose(b.p.refusals(l.node, b.kind), l.node)
}

func (b *branch) accept(n *ast.Node) bool {
	b.accepted = append(b.accepted, n)
	if n.Values != nil && (b.finite == nil || len(n.Values) < len(b.finite)) {
		b.finite = n.Values
	}
	if b.finite != nil {
		return true // trying the values is all there is to do
	}
	possible := true
	switch {
	case b.kind&ast.Number != 0 && n.Numbers != nil:
		possible = b.acceptNumber(n.Numbers)
	case b.kind == ast.String && n.Strings != nil:
		possible = b.acceptText(n.Strings)
	case b.kind == ast.Array && n.Arrays != nil:
		possible = b.acceptParts(b.p.parts(n, b.kind)) && b.acceptItems(n.Arrays)
	case b.kind == ast.Object && n.Objects != nil:
		possible = b.acceptParts(n.Objects)
	}
	if !possible || n.Ref != nil && !b.add(literal{n.Ref, false}) || !b.addAll(all(n.AllOf, false)) {
		return false
	}
	if n.AnyOf != nil && !b.choose(each(n.AnyOf, false), nil) {
		return false
	}
	if n.OneOf != nil {
		ways := each(n.OneOf, false)
		for i := range ways {
			ways[i] = append(ways[i], all(slices.Delete(slices.Clone(n.OneOf), i, i+1), true)...)
		}
		if !b.choose(ways, nil) {
			return false
		}
	}
	if n.Not != nil && !b.add(literal{n.Not, true}) {
		return false
	}
	if n.Cond == nil || n.Then == nil && n.Other == nil {
		return true
	}
	then, other := way{{n.Cond, false}}, way{{n.Cond, true}}
	if n.Then != nil {
		then = append(then, literal{n.Then, false})
	}
	if n.Other != nil {
		other = append(other, literal{n.Other, false})
	}
	return b.choose([]way{then, other}, nil)
}

func all(nodes []*ast.Node, deny bool) way {
	var list way
	for _, x := range nodes {
		list = append(list, literal{x, deny})
	}
	return list
}

func each(nodes []*ast.Node, deny bool) []way {
	var list []way
	for _, x := range nodes {
		list = append(list, way{{x, deny}})
	}
	return list
}

// refusals are the ways in which a node can refuse a value of one kind: each of its keywords can be failed.
func (p *Prover) refusals(n *ast.Node, kind ast.Kinds) []way {
	key := uint64(p.id(n))<<8 | uint64(kind)
	if ways, known := p.ways[key]; known {
		return ways
	}
	var ways []way
	if n.Values != nil {
		same := slices.DeleteFunc(slices.Clone(n.Values), func(v any) bool { return ast.KindOf(v) != kind })
		if ways = append(ways, nil); len(same) > 0 {
			ways[0] = p.atom(*ast.Constant(same...))
		}
		if len(same) > 0 && kind&(ast.Array|ast.Object) != 0 {
			ways[0] = p.unmodelled("enum")
		}
	}
	switch {
	case kind&ast.Number != 0 && n.Numbers != nil:
		ways = append(ways, p.numberRefusals(n.Numbers)...)
	case kind == ast.String && n.Strings != nil:
		ways = append(ways, p.textRefusals(n.Strings)...)
	case kind == ast.Array && n.Arrays != nil:
		ways = append(ways, p.arrayRefusals(n.Arrays)...)
	case kind == ast.Object && n.Objects != nil:
		ways = append(ways, p.objectRefusals(n.Objects)...)
	}
	if n.Ref != nil {
		ways = append(ways, way{{n.Ref, true}})
	}
	ways = append(ways, each(n.AllOf, true)...)
	if n.AnyOf != nil {
		ways = append(ways, all(n.AnyOf, true))
	}
	if n.OneOf != nil {
		ways = append(ways, all(n.OneOf, true))
		for i, x := range n.OneOf {
			for _, y := range n.OneOf[i+1:] {
				ways = append(ways, way{{x, false}, {y, false}})
			}
		}
	}
	if n.Not != nil {
		ways = append(ways, way{{n.Not, false}})
	}
	if n.Cond != nil && n.Then != nil {
		ways = append(ways, way{{n.Cond, false}, {n.Then, true}})
	}
	if n.Cond != nil && n.Other != nil {
		ways = append(ways, way{{n.Cond, true}, {n.Other, true}})
	}
	p.ways[key] = ways
	return ways
}

// asks is the way of a node of our own.
func (p *Prover) asks(n ast.Node) way { return way{{p.made(n), false}} }

// atom is the way of refusing a keyword that isn't taken apart.
func (p *Prover) atom(n ast.Node) way {
	x := p.made(n)
	p.atoms[x] = ""
	return way{{x, true}}
}

// unmodelled is that of refusing a keyword that is left out.
func (p *Prover) unmodelled(keyword string) way {
	x := p.made(ast.Node{Not: ast.Nothing})
	p.atoms[x] = keyword
	return way{{x, true}}
}

// sizeRefusals are the sizes that it doesn't hold.
func sizeRefusals(z ast.Size, of func(ast.Size) way) (ways []way) {
	if z.Min > 0 {
		ways = append(ways, of(ast.Size{Max: z.Min - 1}))
	}
	if z.Max < ast.MaxCount {
		ways = append(ways, of(ast.Size{Min: z.Max + 1, Max: ast.MaxCount}))
	}
	return ways
}

// outlook is what can be seen of a literal without adding it.
type outlook uint8

const (
	open outlook = iota
	sure
	hopeless
)

func (b *branch) outlook(l literal) outlook {
	n := l.node.Plain()
	code := b.p.code(literal{n, false})
	is := open
	switch {
	case n.Verdict == ast.Always || slices.Contains(b.codes, code) || n.FullKinds()&b.kind != 0:
		is = sure
	case n.Verdict == ast.Never || b.p.possible(n)&b.kind == 0 || slices.Contains(b.codes, code|1) || b.clashes(n):
		is = hopeless
	}
	if l.deny {
		return [...]outlook{open: open, sure: hopeless, hopeless: sure}[is]
	}
	return is
}

// clashes reports whether a node wants other values for a property than what has been accepted, as the variants of a
// tagged union do.
func (b *branch) clashes(n *ast.Node) bool {
	if b.kind != ast.Object || n.Objects == nil {
		return false
	}
	tags, ok := b.p.tags[n]
	if !ok {
		for _, name := range n.Objects.Names {
			if x := n.Objects.Properties[name].Plain(); x.Values != nil && len(x.Values) <= 16 {
				tags = append(tags, name)
			}
		}
		b.p.tags[n] = tags
	}
	for _, name := range tags {
		if !slices.Contains(n.Objects.Required, name) && !slices.Contains(b.has, name) {
			continue
		}
		values := n.Objects.Properties[name].Plain().Values
		for _, o := range b.rules() {
			if x := o.Properties[name]; x != nil {
				if x = x.Plain(); x.Values != nil && !slices.ContainsFunc(values, x.Lists) {
					return true
				}
			}
		}
	}
	return false
}

// seenPerStep is how many literals and codes are looked at for a step.
const seenPerStep = 64

// settle takes the choices that are none any more; false is a contradiction.
func (b *branch) settle() bool {
	seen, pending := 0, b.choices
	b.choices = nil
	for _, c := range pending {
		if seen += len(c.ways) * (8 + len(b.codes)); seen > seenPerStep {
			b.p.spend(seen / seenPerStep)
			seen %= seenPerStep
		}
		if b.p.Out {
			return true
		}
		ways, done := make([]way, 0, len(c.ways)), false
		for _, w := range c.ways {
			left := 0 // what isn't sure
			for _, l := range w {
				switch b.outlook(l) {
				case open:
					left = max(left, 1)
				case hopeless:
					left = 2
				}
				if left == 2 {
					break
				}
			}
			if done = done || left == 0; left == 1 {
				ways = append(ways, w)
			}
		}
		if !done && !b.choose(ways, c.origin) {
			return false
		}
	}
	return true
}

// search branches over the choices until none is left, and then puts a value together.
func (b *branch) search() finding {
	if !b.p.spend(1+len(b.choices)/seenPerStep) || b.finite == nil && !b.settle() || b.p.Out {
		return none()
	}
	if b.finite != nil {
		return b.p.among(b.finite, b.asked)
	}
	if len(b.choices) > 1 && b.pruned != len(b.accepted) &&
		!slices.ContainsFunc(b.choices, func(c choice) bool { return c.origin == nil }) {
		b.pruned = len(b.accepted)
		if b.prune() {
			return none()
		}
	}
	if len(b.choices) == 0 {
		return b.solve()
	}
	best := 0
	for i, c := range b.choices { // refusals last
		if d := b.choices[best]; (c.origin != nil) == (d.origin != nil) && len(c.ways) < len(d.ways) ||
			d.origin != nil && c.origin == nil {
			best = i
		}
	}
	ways := b.choices[best].ways
	b.choices = slices.Delete(slices.Clone(b.choices), best, best+1)
	result := none()
	for _, w := range ways {
		if c := b.clone(); result.Status != Found && c.addAll(w) {
			result = result.or(c.search())
		}
	}
	return result
}

// prune looks at several refusals one by one before they multiply: a node that can't accept anyway needn't be refused,
// and one that can't be refused ends the search. Discriminated unions fall apart here.
func (b *branch) prune() (refuted bool) {
	context := []literal{{ofKind(b.kind), false}}
	for _, n := range b.accepted {
		if !applies(n) {
			context = append(context, literal{n, false})
		}
	}
	impossible := func(n *ast.Node, deny bool) bool { // whatever was assumed
		before := b.p.low
		b.p.low = closed
		f := b.p.find(append(slices.Clip(context), literal{n, deny}))
		sure := f.Status == Empty && b.p.low == closed
		b.p.low = min(b.p.low, before)
		return sure
	}
	b.choices = slices.DeleteFunc(slices.Clone(b.choices), func(c choice) bool { return impossible(c.origin, false) })
	return len(b.choices) > 1 &&
		slices.ContainsFunc(b.choices, func(c choice) bool { return impossible(c.origin, true) })
}

// ofKind is the node of all values of a kind.
func ofKind(kind ast.Kinds) *ast.Node { return &ast.Node{Unit: ast.Detached, Kinds: kind} }

// applies reports whether a node applies others to the value itself.
func applies(n *ast.Node) (yes bool) {
	n.InPlace(func(*ast.Node) { yes = true })
	return yes || n.Objects != nil && (n.Objects.Needs != nil || n.Objects.Unevaluated != nil) ||
		n.Arrays != nil && n.Arrays.Unevaluated != nil
}

// solve finds a value where no choices are left. A value decides what was left out, and where none can be
// put together samples are tried.
func (b *branch) solve() (f finding) {
	switch b.kind {
	case ast.Integer, ast.Fraction:
		f = b.number()
	case ast.String:
		f = b.text()
	default:
		f = b.assemble()
	}
	if f.Status == Found && b.opaque != "" && !b.p.holds(b.asked, f.Value) {
		f = unknown(b.opaque)
	}
	if f.Status == Unclear {
		f = f.or(b.p.among(b.samples(8), b.asked))
	}
	return f
}

// samples are values that the accepting nodes accept.
func (b *branch) samples(count int) (values []any) {
	r := rand.New(rand.NewPCG(1, 1))
	node := ast.Both(append(slices.Clip(b.accepted), ofKind(b.kind)))
	for try := range count {
		all := (b.p.limit - b.p.Steps) * ast.ChecksPerStep / 8
		left := all
		taste := []sample.Taste{sample.Usual, sample.Odd, sample.Full}[try%3]
		v, ok := sample.Value(node, r, &left, taste, nil)
		if !b.p.charge(all-left, false) || !b.p.spend(1) {
			break
		}
		if ok {
			values = append(values, v)
		}
	}
	return values
}
