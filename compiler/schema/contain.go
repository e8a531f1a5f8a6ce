package schema

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
	// both validators confirm (beside an Alarm: one that they don't).
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
		return v
	}
	v = p.confirmed(producer, consumer, refused.value, b.Steps/2)
	if v.Relation != MayNotFit {
		return v
	}
	p.allow(b.Steps / 2)
	shared := p.inhabit([]literal{{from, false}, {to, false}})
	if v.Steps = p.steps; shared.status == empty {
		v.Relation = Never
	}
	return v
}

// allow begins a part of the work that may take so many steps, whatever those
// before it took.
func (p *prover) allow(steps int) { p.limit, p.out = p.steps+steps, false }

// confirmed holds a witness against both schemas, and has the ordinary validator look at
// it as well. What is more than that may cost isn't
// known, and so no witness.
func (p *prover) confirmed(producer, consumer *Schema, witness any, steps int) Verdict {
	from, to := producer.ready(), consumer.ready()
	p.allow(steps)
	before := p.steps
	ok := p.isWitness(from, to, witness)
	if p.out {
		return Verdict{Keyword: "budget", Reason: reasonFor("budget"), Steps: p.steps}
	}
	confirmed, able := true, true
	if dear := p.steps-before > steps/8; ok && !dear {
		confirmed, able = ordinarily(producer, consumer, witness)
	}
	switch {
	case ok && confirmed:
		return Verdict{Relation: MayNotFit, Witness: witness, Steps: p.steps}
	case ok && !able:
		return Verdict{Keyword: "pattern", Reason: "one of the schemas says what only one validator understands", Steps: p.steps}
	}
	return Verdict{Witness: witness, Reason: "the reasoning and the validators disagree", Steps: p.steps, Alarm: true}
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
