package subset

import (
	"slices"

	"github.com/obelus-dev/obelus/compiler/schema/ast"
)

// A goal is something that a value of one kind is to fulfil. Applying it
// records it in the state; false means that it contradicts what is there.
type goal interface {
	apply(p *Prover, s *state) bool
}

// A state is what has been gathered of a value of one kind on one branch.
type state struct {
	kind     ast.Kinds
	literals []literal // what the search was asked for; a value that fulfils them is an answer
	accepted []known   // by these
	refused  []known
	choices  []choice
	finite   []any  // the value is one of these
	pruned   int    // how many accepted when the choices were pruned
	opaque   string // the first keyword that was left out

	number numberGoal
	text   textGoal
	array  arrayGoal
	object objectGoal
}

// A choice is a set of goals. A value has to fulfil one.
type choice struct {
	options []goal
	origin  *ast.Node // what has to refuse it; nil for any other choice
}

func newState(kind ast.Kinds, literals []literal) *state {
	return &state{kind: kind, literals: literals, text: textGoal{Size: ast.AnySize},
		array: arrayGoal{Size: ast.AnySize}, object: objectGoal{Size: ast.AnySize}}
}

// clone lets a branch go its own way: every list is cut so that appending to
// it copies.
func (s *state) clone() *state {
	c := *s
	c.choices, c.accepted, c.refused = slices.Clip(c.choices), slices.Clip(c.accepted), slices.Clip(c.refused)
	c.number.clip()
	c.text.clip()
	c.array.clip()
	c.object.clip()
	return &c
}

func (s *state) leaveOut(keyword string) {
	if s.opaque == "" {
		s.opaque = keyword
	}
}

type (
	accept struct{ node *ast.Node } // the node accepts the value
	refuse struct{ node *ast.Node } // the node refuses it
	every  []goal                   // all of them

	// A demand is a goal for values of one kind.
	demand func(s *state) bool
)

func (g demand) apply(_ *Prover, s *state) bool { return g(s) }

// skip is true for all that is known: a keyword that isn't modelled.
func skip(keyword string) goal {
	return demand(func(s *state) bool { s.leaveOut(keyword); return true })
}

func (g every) apply(p *Prover, s *state) bool {
	for _, x := range g {
		if !x.apply(p, s) {
			return false
		}
	}
	return true
}

func (s *state) choose(p *Prover, c choice) bool {
	switch len(c.options) {
	case 0:
		return false
	case 1:
		return c.options[0].apply(p, s)
	}
	s.choices = append(s.choices, c)
	return true
}

func (g accept) apply(p *Prover, s *state) bool {
	n := g.node.Plain()
	switch p.outlook(s, g) {
	case sure:
		return true
	case hopeless:
		return false
	}
	if !p.spend(1) {
		return true
	}
	s.accepted = append(s.accepted, known{n, p.id(n)})
	if n.Values != nil && (s.finite == nil || len(n.Values) < len(s.finite)) {
		s.finite = n.Values
	}
	if s.finite != nil {
		return true // trying the values is all there is to do
	}
	switch s.kind {
	case ast.Integer, ast.Fraction:
		if n.Numbers != nil && !s.number.accept(n.Numbers) {
			return false
		}
	case ast.String:
		if n.Strings != nil && !s.text.accept(n.Strings) {
			return false
		}
	case ast.Array:
		if n.Arrays != nil && !s.array.accept(s, n.Arrays) {
			return false
		}
	case ast.Object:
		if n.Objects != nil && !s.object.accept(p, s, n.Objects) {
			return false
		}
	}
	if n.Ref != nil && !(accept{n.Ref}).apply(p, s) {
		return false
	}
	for _, x := range n.AllOf {
		if !(accept{x}).apply(p, s) {
			return false
		}
	}
	if n.AnyOf != nil {
		options := make([]goal, len(n.AnyOf))
		for i, x := range n.AnyOf {
			options[i] = accept{x}
		}
		if !s.choose(p, choice{options: options}) {
			return false
		}
	}
	if n.OneOf != nil && !s.choose(p, choice{options: exactlyOne(n.OneOf)}) {
		return false
	}
	if n.Not != nil && !(refuse{n.Not}).apply(p, s) {
		return false
	}
	if n.Cond != nil && (n.Then != nil || n.Other != nil) {
		then, other := every{accept{n.Cond}}, every{refuse{n.Cond}}
		if n.Then != nil {
			then = append(then, accept{n.Then})
		}
		if n.Other != nil {
			other = append(other, accept{n.Other})
		}
		return s.choose(p, choice{options: []goal{then, other}})
	}
	return true
}

func exactlyOne(list []*ast.Node) []goal {
	options := make([]goal, len(list))
	for i, x := range list {
		options[i] = every{accept{x}, refuseAll(slices.Delete(slices.Clone(list), i, i+1))}
	}
	return options
}

func (g refuse) apply(p *Prover, s *state) bool {
	n := g.node.Plain()
	switch p.outlook(s, g) {
	case sure:
		return true
	case hopeless:
		return false
	}
	if !p.spend(1) {
		return true
	}
	s.refused = append(s.refused, known{n, p.id(n)})
	return s.choose(p, choice{refusals(n, s.kind), n})
}

// refusals are the ways in which a node can refuse a value of one kind: each
// of its keywords can be failed.
func refusals(n *ast.Node, kind ast.Kinds) []goal {
	var options []goal
	if n.Values != nil {
		differ := every{}
		for _, v := range n.Values {
			if ast.KindOf(v) == kind {
				differ = append(differ, differsFrom(v))
			}
		}
		options = append(options, differ)
	}
	switch kind {
	case ast.Integer, ast.Fraction:
		if n.Numbers != nil {
			options = append(options, numberRefusals(n.Numbers)...)
		}
	case ast.String:
		if n.Strings != nil {
			options = append(options, textRefusals(n.Strings)...)
		}
	case ast.Array:
		if n.Arrays != nil {
			options = append(options, arrayRefusals(n.Arrays)...)
		}
	case ast.Object:
		if n.Objects != nil {
			options = append(options, objectRefusals(n.Objects)...)
		}
	}
	if n.Ref != nil {
		options = append(options, refuse{n.Ref})
	}
	for _, x := range n.AllOf {
		options = append(options, refuse{x})
	}
	if n.AnyOf != nil {
		options = append(options, refuseAll(n.AnyOf))
	}
	if n.OneOf != nil {
		options = append(options, refuseAll(n.OneOf))
		for i, x := range n.OneOf {
			for _, y := range n.OneOf[i+1:] {
				options = append(options, every{accept{x}, accept{y}})
			}
		}
	}
	if n.Not != nil {
		options = append(options, accept{n.Not})
	}
	if n.Cond != nil {
		if n.Then != nil {
			options = append(options, every{accept{n.Cond}, refuse{n.Then}})
		}
		if n.Other != nil {
			options = append(options, every{refuse{n.Cond}, refuse{n.Other}})
		}
	}
	return options
}

func refuseAll(list []*ast.Node) goal {
	all := make(every, len(list))
	for i, x := range list {
		all[i] = refuse{x}
	}
	return all
}

func (p *Prover) holdsNode(list []known, n *ast.Node) bool {
	if len(list) == 0 {
		return false
	}
	id := p.id(n)
	return slices.ContainsFunc(list, func(k known) bool { return k.id == id })
}

// outlook is what can be seen of a goal without applying it.
type outlook uint8

const (
	open outlook = iota
	sure
	hopeless
)

func (p *Prover) outlook(s *state, g goal) outlook {
	switch g := g.(type) {
	case accept:
		n := g.node.Plain()
		switch {
		case n.Verdict == ast.Always || p.holdsNode(s.accepted, n) || n.FullKinds()&s.kind != 0:
			return sure
		case n.Verdict == ast.Never || p.possibleKinds(n)&s.kind == 0 || p.holdsNode(s.refused, n) || p.clashes(s, n):
			return hopeless
		}
	case refuse:
		return [...]outlook{open: open, sure: hopeless, hopeless: sure}[p.outlook(s, accept(g))]
	case every:
		if slices.ContainsFunc(g, func(x goal) bool { return p.outlook(s, x) == hopeless }) {
			return hopeless
		}
	}
	return open
}

// clashes reports whether a node wants other values for a property than what has
// been accepted, as the variants of a tagged union do.
func (p *Prover) clashes(s *state, n *ast.Node) bool {
	if s.kind != ast.Object || n.Objects == nil {
		return false
	}
	tags, ok := p.tags[n]
	if !ok {
		for _, name := range n.Objects.Names {
			if x := n.Objects.Properties[name].Plain(); x.Values != nil && len(x.Values) <= 16 {
				tags = append(tags, name)
			}
		}
		p.tags[n] = tags
	}
	for _, name := range tags {
		if !slices.Contains(n.Objects.Required, name) && !slices.Contains(s.object.has, name) {
			continue
		}
		values := n.Objects.Properties[name].Plain().Values
		for _, r := range s.object.rules {
			if x := r.Properties[name]; x != nil {
				if x = x.Plain(); x.Values != nil && !slices.ContainsFunc(values, x.Lists) {
					return true
				}
			}
		}
	}
	return false
}

// seenPerStep is how many goals and known nodes are looked at for a step.
const seenPerStep = 64

// settle takes the choices that are none any more; false is a contradiction.
func (p *Prover) settle(s *state) bool {
	seen, pending := 0, s.choices
	s.choices = nil
	for _, c := range pending {
		if seen += len(c.options) * (8 + len(s.accepted) + len(s.refused)); seen > seenPerStep {
			p.spend(seen / seenPerStep)
			seen %= seenPerStep
		}
		if p.Out {
			return true
		}
		options, done := make([]goal, 0, len(c.options)), false
		for _, g := range c.options {
			switch p.outlook(s, g) {
			case sure:
				done = true
			case open:
				options = append(options, g)
			}
		}
		if !done && !s.choose(p, choice{options, c.origin}) {
			return false
		}
	}
	return true
}

// search branches over the choices of a state until none is left, and hands
// the rest to the solver of its kind.
func (p *Prover) search(s *state) finding {
	if !p.spend(1+len(s.choices)/seenPerStep) || s.finite == nil && !p.settle(s) || p.Out {
		return none()
	}
	if s.finite != nil {
		return p.among(s.finite, s.literals)
	}
	if len(s.choices) > 1 && s.pruned != len(s.accepted) &&
		!slices.ContainsFunc(s.choices, func(c choice) bool { return c.origin == nil }) {
		s.pruned = len(s.accepted)
		if p.prune(s) {
			return none()
		}
	}
	if len(s.choices) == 0 {
		return p.solve(s)
	}
	best := 0
	for i, c := range s.choices { // refusals last
		if b := s.choices[best]; (c.origin != nil) == (b.origin != nil) && len(c.options) < len(b.options) ||
			b.origin != nil && c.origin == nil {
			best = i
		}
	}
	c := s.choices[best]
	s.choices = slices.Delete(slices.Clone(s.choices), best, best+1)
	result := none()
	for _, g := range c.options {
		t := s.clone()
		if !g.apply(p, t) {
			continue
		}
		if result = result.or(p.search(t)); result.Status == Found {
			return result
		}
	}
	return result
}

// prune looks at several refusals one by one before they multiply: a node that
// can't accept anyway needn't be refused, and one that can't be refused ends
// the search. Discriminated unions fall apart here.
func (p *Prover) prune(s *state) (refuted bool) {
	context := []literal{{&ast.Node{Unit: ast.Detached, Kinds: s.kind}, false}}
	for _, k := range s.accepted {
		if !applies(k.node) {
			context = append(context, literal{k.node, false})
		}
	}
	impossible := func(n *ast.Node, deny bool) bool {
		f := p.inhabit(append(slices.Clip(context), literal{n, deny}))
		return f.Status == Empty && f.low == unconditional
	}
	s.choices = slices.DeleteFunc(slices.Clone(s.choices), func(c choice) bool { return impossible(c.origin, false) })
	return len(s.choices) > 1 &&
		slices.ContainsFunc(s.choices, func(c choice) bool { return impossible(c.origin, true) })
}

// applies reports whether a node applies others to the value itself.
func applies(n *ast.Node) (yes bool) {
	n.InPlace(func(*ast.Node) { yes = true })
	return yes || n.Objects != nil && (n.Objects.Needs != nil || n.Objects.Unevaluated != nil) ||
		n.Arrays != nil && n.Arrays.Unevaluated != nil
}

// solve finds a value for a state without choices. What was left out is made
// good by trying the value.
func (p *Prover) solve(s *state) finding {
	var f finding
	switch s.kind {
	case ast.Integer, ast.Fraction:
		f = s.number.solve(p, s.kind)
	case ast.String:
		f = s.text.solve(p)
	case ast.Array:
		f = s.array.solve(p)
	case ast.Object:
		f = s.object.solve(p)
	}
	if f.Status == Found && s.opaque != "" {
		if !p.holds(s.literals, f.Value) {
			return unknown(s.opaque)
		}
	}
	return f
}

// differsFrom is the goal of being another value.
func differsFrom(v any) goal {
	switch v := v.(type) {
	case []any, map[string]any:
		return skip("enum")
	case string:
		return demand(func(s *state) bool { s.text.not = append(s.text.not, v); return true })
	}
	f, _ := ast.Float(v)
	return demand(func(s *state) bool { s.number.not = append(s.number.not, f); return true })
}

// sized is the goal of being of a size.
func sized(z ast.Size) goal {
	return demand(func(s *state) bool { return s.size().Narrow(z) })
}

// size is that of the state's kind.
func (s *state) size() *ast.Size {
	switch s.kind {
	case ast.String:
		return &s.text.Size
	case ast.Array:
		return &s.array.Size
	}
	return &s.object.Size
}

// sizeRefusals are the sizes that it doesn't hold.
func sizeRefusals(z ast.Size) []goal {
	var options []goal
	if z.Min > 0 {
		options = append(options, sized(ast.Size{Max: z.Min - 1}))
	}
	if z.Max < ast.MaxCount {
		options = append(options, sized(ast.Size{Min: z.Max + 1, Max: ast.MaxCount}))
	}
	return options
}
