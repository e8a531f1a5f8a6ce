package schema

import (
	"maps"
	"math/rand/v2"
	"slices"
)

// A Relation is how the values of a producer stand to what a consumer accepts.
type Relation uint8

// The relations. A producer that has no value at all fits everything.
const (
	// Unknown: it couldn't be told; Verdict.Keyword and Reason say why.
	Unknown Relation = iota
	// Fits: the consumer accepts every value of the producer.
	Fits
	// MayNotFit: it accepts some and refuses others, such as Verdict.Witness.
	MayNotFit
	// Never: it accepts none; Verdict.Witness is one that it refuses.
	Never
)

func (r Relation) String() string { return [...]string{"unknown", "fits", "may-not-fit", "never"}[r] }

// A Verdict is the answer of [Contains].
type Verdict struct {
	Relation Relation
	// Witness is a value that the producer accepts and the consumer refuses, as
	// both validators confirm (beside an Alarm: one that they don't). It is as
	// small as shrinking made it.
	Witness any
	// Keyword and Reason say why a verdict is unknown: the keyword that isn't
	// modelled, or "budget".
	Keyword, Reason string
	// Steps is the work that was done, the same for the same question.
	Steps int
	// Alarm is set when the reasoning and the validators disagree: a fault of
	// ours, whatever the schemas are. The relation is then Unknown.
	Alarm bool
}

// A Budget bounds the work of one question. The zero Budget is the default,
// which keeps it under 50 ms.
type Budget struct {
	// Steps is how many steps of reasoning may be taken. They are counted, not
	// timed, so that the same question always has the same answer.
	Steps int
}

const defaultSteps = 20_000

// Contains reports whether every value that the producer accepts is accepted by
// the consumer. A nil schema accepts everything. Both may be of any
// draft. No keyword is ignored: where one isn't modelled the verdict may still
// be certain, and is Unknown otherwise.
func Contains(producer, consumer *Schema, b Budget) Verdict {
	from, to := producer.ready(), consumer.ready()
	if producer.Compile() != nil || consumer.Compile() != nil {
		return Verdict{Keyword: "$schema", Reason: "one of the schemas isn't valid"}
	}
	if from == to || from.possible()&^to.fullKinds() == 0 {
		return Verdict{Relation: Fits}
	}
	if b.Steps == 0 {
		b.Steps = defaultSteps
	}
	p := newProver(b.Steps)
	refused := p.inhabit([]literal{{from, false}, {to, true}})
	v := Verdict{Steps: p.steps}
	switch refused.status {
	case empty:
		v.Relation = Fits
		return v
	case unclear:
		v.Keyword, v.Reason = refused.why, reasonFor(refused.why)
		p.allow(b.Steps / 2)
		witness, ok := p.guess(from, to)
		v.Steps = p.steps
		if !ok {
			return v
		}
		refused.value = witness
	}
	v = p.confirmed(producer, consumer, refused.value, b.Steps/2)
	if v.Relation != MayNotFit {
		return v
	}
	p.allow(b.Steps / 2)
	shared := p.inhabit([]literal{{from, false}, {to, false}})
	v.Steps = p.steps
	if shared.status == empty {
		v.Relation = Never
		p.allow(b.Steps / 4)
		if sizeOf(v.Witness, 1_000) < 1_000 && p.contradicted(from, to) {
			v.Relation, v.Alarm, v.Reason = Unknown, true, "the reasoning and the validators disagree"
		}
		v.Steps = p.steps
	}
	return v
}

// allow begins a part of the work that may take so many steps, whatever those
// before it took.
func (p *prover) allow(steps int) { p.limit, p.out = p.steps+steps, false }

// confirmed holds a witness against both schemas, makes it smaller, and has the
// ordinary validator look at it as well. What is more than that may cost isn't
// known, and so no witness.
func (p *prover) confirmed(producer, consumer *Schema, witness any, steps int) Verdict {
	from, to := producer.ready(), consumer.ready()
	p.allow(steps)
	before := p.steps
	ok := p.isWitness(from, to, witness)
	if p.out {
		return Verdict{Keyword: "budget", Reason: reasonFor("budget"), Steps: p.steps}
	}
	dear := (p.steps - before) > steps/8
	if ok && !dear {
		witness = shrink(witness, func(x any) bool { return p.isWitness(from, to, x) })
	}
	confirmed, able := true, true
	if ok && !dear {
		confirmed, able = ordinarily(producer, consumer, witness)
	}
	switch {
	case ok && confirmed:
		return Verdict{Relation: MayNotFit, Witness: witness, Steps: p.steps}
	case ok && !able:
		keyword := "pattern"
		if from.scoped || to.scoped {
			keyword = "$dynamicRef"
		}
		return Verdict{Keyword: keyword, Reason: "one of the schemas says what only one validator understands", Steps: p.steps}
	}
	return Verdict{Witness: witness, Reason: "the reasoning and the validators disagree", Steps: p.steps, Alarm: true}
}

// contradicted reports whether the consumer accepts some sampled value of a producer although it should accept none.
func (p *prover) contradicted(from, to *node) bool {
	r := rand.New(rand.NewPCG(2, 2))
	for range 3 {
		if v, ok := p.sample(from, r); ok {
			if p.accepts(to, v) {
				return true
			}
		}
	}
	return false
}

// CutShort says why a question stays open that a larger budget, or patterns that can
// be reasoned about, would have settled; it is empty of any other verdict.
func (v Verdict) CutShort() string {
	switch {
	case v.Relation != Unknown:
	case v.Keyword == "budget" || v.Alarm:
		return "the schemas take more work than the budget allows"
	case v.Keyword == "pattern":
		return "what their patterns say can't be reasoned about"
	}
	return ""
}

func reasonFor(why string) string {
	switch why {
	case "budget":
		return "the question takes more work than the budget allows"
	case "recursion", "nesting":
		return "the schemas are too deeply entangled"
	}
	return "what " + why + " says here can't be reasoned about"
}

// isWitness reports whether the producer accepts a value and the consumer refuses
// it; false also when the steps don't last to tell.
func (p *prover) isWitness(from, to *node, v any) bool {
	return p.accepts(from, v) && !p.accepts(to, v) && !p.out
}

// ordinarily asks the ordinary validator to confirm a witness. It has no memory
// for what it has seen, so very large values are left to our own.
func ordinarily(producer, consumer *Schema, witness any) (confirmed, able bool) {
	if sizeOf(witness, 2_000) >= 2_000 {
		return true, true
	}
	accepted, understood := producer.confirms(witness, true)
	refused, read := consumer.confirms(witness, false)
	return accepted && refused, understood && read
}

func sizeOf(v any, most int) int {
	n := 1
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			if n += sizeOf(x, most-n); n >= most {
				break
			}
		}
	case map[string]any:
		for _, x := range v {
			if n += sizeOf(x, most-n); n >= most {
				break
			}
		}
	}
	return n
}

// guess tries values made up for the producer, where reasoning led nowhere.
func (p *prover) guess(from, to *node) (any, bool) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 8 {
		if v, ok := p.sample(from, r); ok {
			if p.isWitness(from, to, v) {
				return v, true
			}
		}
	}
	return nil, false
}

// sample makes a value up; its work counts as reasoning.
func (p *prover) sample(n *node, r *rand.Rand) (any, bool) {
	left := (p.limit - p.steps) * checksPerStep
	before := left
	v, ok := sample(n, r, &left, usual, nil)
	p.steps += (before - left) / checksPerStep
	return v, ok
}

// A shrinker makes a witness smaller while it remains one: items and
// properties go, what remains gets simpler.
type shrinker struct {
	ok   func(any) bool
	work int // values that may still be looked at
}

func shrink(v any, ok func(any) bool) any {
	s := shrinker{ok, 10_000}
	if sizeOf(v, 1_000) >= 1_000 {
		return v
	}
	for changed := true; changed && s.work > 0; {
		v, changed = s.smaller(v, func(x any) any { return x })
	}
	return v
}

// smaller takes one step; whole puts the part that it is about into its place.
func (s *shrinker) smaller(v any, rebuild func(any) any) (any, bool) {
	try := func(make func() any) (any, bool) {
		if s.work <= 0 {
			return nil, false
		}
		x := make()
		candidate := rebuild(x)
		s.work -= sizeOf(candidate, 1_000)
		return x, s.ok(candidate)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, k := range sortedKeys(v) {
			if x, ok := try(func() any { return without(v, k) }); ok {
				return x, true
			}
		}
		for _, k := range sortedKeys(v) {
			put := func(x any) any {
				with := without(v, k)
				with[k] = x
				return with
			}
			if x, ok := s.smaller(v[k], func(x any) any { return rebuild(put(x)) }); ok {
				return put(x), true
			}
		}
	case []any:
		for i := len(v) - 1; i >= 0; i-- {
			if x, ok := try(func() any { return slices.Delete(slices.Clone(v), i, i+1) }); ok {
				return x, true
			}
		}
		for i := range v {
			put := func(x any) any {
				with := slices.Clone(v)
				with[i] = x
				return with
			}
			if x, ok := s.smaller(v[i], func(x any) any { return rebuild(put(x)) }); ok {
				return put(x), true
			}
		}
	case string:
		for _, simple := range []string{"", "a"} {
			if len(simple) < len(v) {
				if x, ok := try(func() any { return simple }); ok {
					return x, true
				}
			}
		}
	case float64:
		for _, simple := range []float64{0, 1} {
			if v != 0 && v != simple {
				if x, ok := try(func() any { return simple }); ok {
					return x, true
				}
			}
		}
	}
	return v, false
}

func without(m map[string]any, key string) map[string]any {
	m = maps.Clone(m)
	delete(m, key)
	return m
}
