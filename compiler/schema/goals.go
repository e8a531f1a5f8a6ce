package schema

import (
	"slices"
)

// A goal is something that a value of one kind is to fulfil. Applying it
// records it in the state; false means that it contradicts what is there.
type goal interface {
	apply(p *prover, s *state) bool
}

// A state is what has been gathered of a value of one kind on one branch.
type state struct {
	kind     Kinds
	literals []literal // what the search was asked for; a value that fulfils them is an answer
	accepted *known    // the newest of those that accept it
	refused  *known
	choices  []choice
	finite   []any  // the value is one of these
	opaque   string // the first keyword that was left out
	pruned   int    // how much was accepted when refusals were last looked at one by one

	number numberGoal
	text   textGoal
	array  arrayGoal
	object objectGoal
}

// A choice is a set of goals. A value has to fulfil one.
type choice struct {
	options []goal
	origin  *node // the node whose refusal it is, or nil
}

func newState(kind Kinds, literals []literal) *state {
	return &state{kind: kind, literals: literals, text: textGoal{size: anySize}, array: arrayGoal{size: anySize}, object: objectGoal{size: anySize}}
}

// clone lets a branch go its own way: every list is cut so that appending to
// it copies.
func (s *state) clone() *state {
	c := *s
	c.choices = slices.Clip(c.choices)
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
	accept struct{ node *node } // the node accepts the value
	refuse struct{ node *node } // the node refuses it
	every  []goal               // all of them
	skip   string               // true for all that is known: a keyword that isn't modelled
)

func (g every) apply(p *prover, s *state) bool {
	for _, x := range g {
		if !x.apply(p, s) {
			return false
		}
	}
	return true
}

func (g skip) apply(p *prover, s *state) bool {
	s.leaveOut(string(g))
	return true
}

func (s *state) choose(p *prover, c choice) bool {
	switch len(c.options) {
	case 0:
		return false
	case 1:
		return c.options[0].apply(p, s)
	}
	s.choices = append(s.choices, c)
	return true
}

func (g accept) apply(p *prover, s *state) bool {
	n := g.node.plain()
	switch {
	case n.verdict == always:
		return true
	case n.verdict == never || p.possibleKinds(n)&s.kind == 0 || p.holdsNode(s.refused, n):
		return false
	case p.holdsNode(s.accepted, n):
		return true
	}
	if !p.spend(1) {
		return true
	}
	s.accepted = s.accepted.with(n, p.id(n))
	if n.values != nil && (s.finite == nil || len(n.values) < len(s.finite)) {
		s.finite = n.values
	}
	if s.finite != nil {
		return true // trying the values is all there is to do
	}
	switch s.kind {
	case Integer, Fraction:
		if n.numbers != nil && !s.number.accept(n.numbers) {
			return false
		}
	case String:
		if n.strings != nil && !s.text.accept(n.strings) {
			return false
		}
	case Array:
		if n.arrays != nil && !s.array.accept(s, n.arrays) {
			return false
		}
	case Object:
		if n.objects != nil && !s.object.accept(p, s, n.objects) {
			return false
		}
	}
	if n.ref != nil && !(accept{n.ref}).apply(p, s) {
		return false
	}
	for _, x := range n.allOf {
		if !(accept{x}).apply(p, s) {
			return false
		}
	}
	if n.anyOf != nil {
		options := make([]goal, len(n.anyOf))
		for i, x := range n.anyOf {
			options[i] = accept{x}
		}
		if !s.choose(p, choice{options: options}) {
			return false
		}
	}
	if n.oneOf != nil && !s.choose(p, choice{options: exactlyOne(n.oneOf)}) {
		return false
	}
	if n.not != nil && !(refuse{n.not}).apply(p, s) {
		return false
	}
	if n.cond != nil && (n.then != nil || n.other != nil) {
		then, other := every{accept{n.cond}}, every{refuse{n.cond}}
		if n.then != nil {
			then = append(then, accept{n.then})
		}
		if n.other != nil {
			other = append(other, accept{n.other})
		}
		return s.choose(p, choice{options: []goal{then, other}})
	}
	return true
}

func exactlyOne(list []*node) []goal {
	options := make([]goal, len(list))
	for i := range list {
		all := every{accept{list[i]}}
		for j, x := range list {
			if j != i {
				all = append(all, refuse{x})
			}
		}
		options[i] = all
	}
	return options
}

func (g refuse) apply(p *prover, s *state) bool {
	n := g.node.plain()
	switch {
	case n.verdict == always || p.holdsNode(s.accepted, n):
		return false
	case n.verdict == never || p.possibleKinds(n)&s.kind == 0 || p.holdsNode(s.refused, n):
		return true
	case n.fullKinds()&s.kind != 0:
		return false
	}
	if !p.spend(1) {
		return true
	}
	s.refused = s.refused.with(n, p.id(n))
	return s.choose(p, choice{options: n.refusals(s.kind), origin: n})
}

// refusals are the ways in which a node can refuse a value of one kind: each
// of its keywords can be failed.
func (n *node) refusals(kind Kinds) []goal {
	var options []goal
	if n.values != nil {
		differ := every{}
		for _, v := range n.values {
			if KindOf(v) == kind {
				differ = append(differ, differsFrom(v))
			}
		}
		options = append(options, differ)
	}
	switch kind {
	case Integer, Fraction:
		if n.numbers != nil {
			options = append(options, n.numbers.refusals()...)
		}
	case String:
		if n.strings != nil {
			options = append(options, n.strings.refusals()...)
		}
	case Array:
		if n.arrays != nil {
			options = append(options, n.arrays.refusals()...)
		}
	case Object:
		if n.objects != nil {
			options = append(options, n.objects.refusals()...)
		}
	}
	if n.ref != nil {
		options = append(options, refuse{n.ref})
	}
	for _, x := range n.allOf {
		options = append(options, refuse{x})
	}
	if n.anyOf != nil {
		options = append(options, refuseAll(n.anyOf))
	}
	if n.oneOf != nil {
		options = append(options, refuseAll(n.oneOf))
		for i, x := range n.oneOf {
			for _, y := range n.oneOf[i+1:] {
				options = append(options, every{accept{x}, accept{y}})
			}
		}
	}
	if n.not != nil {
		options = append(options, accept{n.not})
	}
	if n.cond != nil {
		if n.then != nil {
			options = append(options, every{accept{n.cond}, refuse{n.then}})
		}
		if n.other != nil {
			options = append(options, every{refuse{n.cond}, refuse{n.other}})
		}
	}
	return options
}

func refuseAll(list []*node) goal {
	all := make(every, len(list))
	for i, x := range list {
		all[i] = refuse{x}
	}
	return all
}

func (p *prover) holdsNode(list *known, n *node) bool {
	if list == nil {
		return false
	}
	for id := p.id(n); list != nil; list = list.before {
		if list.id == id {
			return true
		}
	}
	return false
}

// outlook is what can be seen of a goal without applying it.
type outlook uint8

const (
	open outlook = iota
	sure
	hopeless
)

func (p *prover) outlook(s *state, g goal) outlook {
	switch g := g.(type) {
	case accept:
		n := g.node.plain()
		switch {
		case n.verdict == always || p.holdsNode(s.accepted, n):
			return sure
		case n.verdict == never || p.possibleKinds(n)&s.kind == 0 || p.holdsNode(s.refused, n) || p.clashes(s, n):
			return hopeless
		}
	case refuse:
		n := g.node.plain()
		switch {
		case n.verdict == never || p.possibleKinds(n)&s.kind == 0 || p.holdsNode(s.refused, n) || p.clashes(s, n):
			return sure
		case n.verdict == always || p.holdsNode(s.accepted, n) || n.fullKinds()&s.kind != 0:
			return hopeless
		}
	case every:
		all := sure
		for _, x := range g {
			switch p.outlook(s, x) {
			case hopeless:
				return hopeless
			case open:
				all = open
			}
		}
		return all
	}
	return open
}

// clashes reports whether a node wants other values for a property than what has
// been accepted, as the variants of a tagged union do.
func (p *prover) clashes(s *state, n *node) bool {
	if s.kind != Object || n.objects == nil {
		return false
	}
	tags, ok := p.tags[n]
	if !ok {
		for _, name := range n.objects.names {
			if x := n.objects.properties[name].plain(); x.values != nil && len(x.values) <= 16 {
				tags = append(tags, name)
			}
		}
		p.tags[n] = tags
	}
	for _, name := range tags {
		if !slices.Contains(n.objects.required, name) && !slices.Contains(s.object.has, name) {
			continue
		}
		values := n.objects.properties[name].plain().values
		for _, r := range s.object.rules {
			if x := r.properties[name]; x != nil {
				if x = x.plain(); x.values != nil && !slices.ContainsFunc(values, x.lists) {
					return true
				}
			}
		}
	}
	return false
}

// settle takes the choices that are none any more; false is a contradiction.
func (p *prover) settle(s *state) bool {
	for {
		changed := false
		kept := make([]choice, 0, len(s.choices))
		pending := s.choices
		s.choices = nil
		for _, c := range pending {
			options := make([]goal, 0, len(c.options))
			done := false
			for _, g := range c.options {
				switch p.outlook(s, g) {
				case sure:
					done = true
				case open:
					options = append(options, g)
				}
			}
			switch {
			case done:
			case len(options) == 0:
				return false
			case len(options) == 1:
				if !options[0].apply(p, s) {
					return false
				}
				changed = true
			default:
				kept = append(kept, choice{options, c.origin})
			}
		}
		s.choices = append(kept, s.choices...)
		if !changed || s.finite != nil || !p.spend(1) {
			return true
		}
	}
}

// search branches over the choices of a state until none is left, and hands
// the rest to the solver of its kind.
func (p *prover) search(s *state) finding {
	if !p.spend(1) || s.finite == nil && !p.settle(s) || p.out {
		return none()
	}
	if s.finite != nil {
		return p.among(s.finite, s.literals)
	}
	best := -1
	smaller := func(i int) bool { return best < 0 || len(s.choices[i].options) < len(s.choices[best].options) }
	for i, c := range s.choices {
		if c.origin == nil && smaller(i) {
			best = i
		}
	}
	if best < 0 && len(s.choices) > 1 && s.pruned != s.accepted.len() {
		s.pruned = s.accepted.len()
		if p.prune(s) {
			return none()
		}
	}
	if len(s.choices) == 0 {
		return p.solve(s)
	}
	for i := range s.choices {
		if s.choices[i].origin == nil == (best >= 0) && smaller(i) {
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
		if result = result.or(p.search(t)); result.status == found {
			return result
		}
	}
	return result
}

// prune looks at several refusals one by one before they multiply: a node that
// can't accept anyway needn't be refused, and one that can't be refused ends
// the search. Discriminated unions fall apart here.
func (p *prover) prune(s *state) (refuted bool) {
	context := make([]literal, 0, s.accepted.len()+2)
	context = append(context, literal{kindNodes[s.kind], false})
	for _, n := range s.accepted.nodes() {
		context = append(context, literal{p.bare(n), false})
	}
	impossible := func(n *node, deny bool) bool {
		f := p.inhabit(append(slices.Clip(context), literal{n, deny}))
		return f.status == empty && f.low == unconditional
	}
	s.choices = slices.DeleteFunc(slices.Clone(s.choices), func(c choice) bool { return impossible(c.origin, false) })
	return len(s.choices) > 1 && slices.ContainsFunc(s.choices, func(c choice) bool { return impossible(c.origin, true) })
}

// bare is a node without what it applies to the value itself. A refusal that
// follows from a node must not be dropped because that node implies it.
func (p *prover) bare(n *node) *node {
	if b, ok := p.bares[n]; ok {
		return b
	}
	b := n
	applies := n.objects != nil && (n.objects.needs != nil || n.objects.unevaluated != nil) || n.arrays != nil && n.arrays.unevaluated != nil
	n.inPlace(func(*node) { applies = true })
	if applies {
		b = &node{unit: detached, kinds: n.kinds, values: n.values, numbers: n.numbers, strings: n.strings}
		if n.objects != nil {
			o := *n.objects
			o.needs, o.unevaluated = nil, nil
			b.objects = &o
		}
		if n.arrays != nil {
			a := *n.arrays
			a.unevaluated = nil
			b.arrays = &a
		}
	}
	p.bares[n] = b
	return b
}

var kindNodes = func() map[Kinds]*node {
	m := map[Kinds]*node{}
	for k := Null; k <= Object; k <<= 1 {
		m[k] = &node{unit: detached, kinds: k}
	}
	return m
}()

// solve finds a value for a state without choices. What was left out is made
// good by trying the value.
func (p *prover) solve(s *state) finding {
	var f finding
	switch s.kind {
	case Integer, Fraction:
		f = s.number.solve(p, s.kind)
	case String:
		f = s.text.solve(p)
	case Array:
		f = s.array.solve(p)
	case Object:
		f = s.object.solve(p)
	}
	if f.status == found && s.opaque != "" {
		if !p.holds(s.literals, f.value) {
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
		return notText(v)
	}
	f, _ := number(v)
	return notNumber(f)
}
