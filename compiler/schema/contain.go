package schema

import (
	"math/rand/v2"
)

// A Relation is how the values of a producer stand to what a consumer accepts.
type Relation uint8

// The relations. A producer that has no value at all fits everything.
const (
	// Unknown: it couldn't be told; Verdict.Keyword and Reason say why.
	Unknown Relation = iota
	// Fits: the consumer accepts every value of the producer.
	Fits
	// MayNotFit: it accepts some and refuses others, of which Verdict.Witness is one.
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

// Contains tells whether every value that the producer accepts is accepted by
// the consumer (S7.2). A nil schema accepts everything. Both may be of any
// draft. No keyword is ignored: where one isn't modelled the verdict may still
// be certain, and is Unknown otherwise.
func Contains(producer, consumer *Schema, b Budget) Verdict {
	from, to := producer.ready(), consumer.ready()
	if producer.Compile() != nil || consumer.Compile() != nil {
		return Verdict{Keyword: "$schema", Reason: "one of the schemas isn't valid"}
	}
	if from == to || to.verdict == always {
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
		witness, ok := guess(producer, from, to)
		if !ok {
			return v
		}
		refused.value = witness
	}
	v.Keyword, v.Reason = "", ""
	v.Witness = shrink(refused.value, func(x any) bool { return isWitness(from, to, x) })
	if !isWitness(from, to, v.Witness) || !ordinarily(producer, consumer, v.Witness) {
		return Verdict{Witness: v.Witness, Reason: "the reasoning and the validators disagree", Steps: p.steps, Alarm: true}
	}
	p.limit = p.steps + b.Steps
	shared := p.inhabit([]literal{{from, false}, {to, false}})
	v.Steps = p.steps
	v.Relation = MayNotFit
	if shared.status == empty {
		v.Relation = Never
	}
	return v
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

func isWitness(from, to *node, v any) bool {
	a, b := checker{}, checker{}
	return a.accepts(from, v) && !b.accepts(to, v) && !a.spent && !b.spent
}

// ordinarily asks the ordinary validator to confirm a witness. It has no memory
// for what it has seen, so very large values are left to our own.
func ordinarily(producer, consumer *Schema, witness any) bool {
	if sizeOf(witness, 2_000) >= 2_000 {
		return true
	}
	return producer.confirms(witness, true) && consumer.confirms(witness, false)
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
func guess(producer *Schema, from, to *node) (any, bool) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 8 {
		if v, ok := producer.Sample(r); ok && isWitness(from, to, v) {
			return v, true
		}
	}
	return nil, false
}

// shrink makes a witness smaller while it remains one: items and properties go,
// what remains gets simpler.
func shrink(v any, ok func(any) bool) any {
	if sizeOf(v, 500) >= 500 {
		return v
	}
	tries := 200
	try := func(x any) bool {
		tries--
		return tries > 0 && ok(x)
	}
	for changed := true; changed && tries > 0; {
		v, changed = smaller(v, try)
	}
	return v
}

func smaller(v any, try func(any) bool) (any, bool) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range sortedKeys(v) {
			without := make(map[string]any, len(v))
			for name, x := range v {
				if name != k {
					without[name] = x
				}
			}
			if try(without) {
				return without, true
			}
		}
		for _, k := range sortedKeys(v) {
			put := func(x any) map[string]any {
				with := make(map[string]any, len(v))
				for name, y := range v {
					with[name] = y
				}
				with[k] = x
				return with
			}
			if x, changed := smaller(v[k], func(x any) bool { return try(put(x)) }); changed {
				return put(x), true
			}
		}
	case []any:
		for i := len(v) - 1; i >= 0; i-- {
			without := append(append(make([]any, 0, len(v)), v[:i]...), v[i+1:]...)
			if try(without) {
				return without, true
			}
		}
		for i := range v {
			put := func(x any) []any {
				with := append(make([]any, 0, len(v)), v...)
				with[i] = x
				return with
			}
			if x, changed := smaller(v[i], func(x any) bool { return try(put(x)) }); changed {
				return put(x), true
			}
		}
	case string:
		for _, x := range []string{"", "a"} {
			if len(x) < len(v) && try(x) {
				return x, true
			}
		}
	case float64:
		for _, x := range []float64{0, 1} {
			if v != 0 && v != x && (v != 1 || x == 0) && try(x) {
				return x, true
			}
		}
	}
	return v, false
}
