package schema

import (
	"cmp"
	"encoding/json"

	"github.com/obelus-dev/obelus/compiler/schema/ast"
	"github.com/obelus-dev/obelus/compiler/schema/subset"
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
	// the validators confirm that can read the schemas (beside an Alarm: one that they don't).
	Witness any
	// Keyword says why a verdict is unknown: the keyword that isn't modelled, or "budget".
	Keyword string
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
// the consumer. A nil schema accepts everything. No keyword is ignored: where one
// isn't modelled the verdict may still be certain, and is Unknown otherwise.
func Contains(producer, consumer *Schema, b Budget) Verdict {
	from, to := producer.ready(), consumer.ready()
	if producer.Compile() != nil || consumer.Compile() != nil {
		return Verdict{Keyword: "$schema"}
	}
	if from == to || from.Possible()&^to.FullKinds() == 0 {
		return Verdict{Relation: Fits}
	}
	steps := cmp.Or(b.Steps, defaultSteps)
	p := subset.NewProver(steps)
	accept, refuse := []*ast.Node{from}, []*ast.Node{to}
	found := p.Find(accept, refuse)
	switch found.Status {
	case subset.Empty:
		return Verdict{Relation: Fits, Steps: p.Steps}
	case subset.Unclear:
		return Verdict{Keyword: found.Why, Steps: p.Steps}
	}
	if partsLeft(found.Value, 4_000_000) < 0 { // items are shared, so that few bytes may be a value of any size
		return Verdict{Keyword: "budget", Steps: p.Steps}
	}
	v := Verdict{Relation: MayNotFit, Witness: found.Value}
	p.Allow(steps / 2)
	before := p.Steps
	ours := p.Confirms(accept, refuse, found.Value)
	// what is more than that may cost isn't known
	cheap := p.Steps-before <= steps/16 && partsLeft(found.Value, 1_000) >= 0
	switch {
	case p.Out:
		v = Verdict{Keyword: "budget"}
	case !ours || cheap && !ordinarily(producer, consumer, found.Value):
		v.Relation, v.Alarm = Unknown, true
	default:
		p.Allow(steps / 2)
		if p.Find([]*ast.Node{from, to}, nil).Status == subset.Empty {
			v.Relation = Never
		}
	}
	v.Steps = p.Steps
	return v
}

// partsLeft is a number less the parts of a value, counted until it is below 0.
func partsLeft(v any, left int) int {
	switch v := v.(type) {
	case []any:
		left -= len(v)
		for i := 0; left >= 0 && i < len(v); i++ {
			left = partsLeft(v[i], left)
		}
	case map[string]any:
		if left -= len(v); left >= 0 {
			for _, part := range v {
				left = partsLeft(part, left)
			}
		}
	}
	return left
}

// Empty reports whether no value fits a schema, if that can be proven in so many steps. It takes the steps that it
// needs off those that are left.
func Empty(s *Schema, steps int, left *int) bool {
	if s.Compile() != nil || *left <= 0 {
		return false
	}
	p := subset.NewProver(min(steps, *left))
	found := p.Find([]*ast.Node{s.ready()}, nil)
	*left -= p.Steps + 1
	return found.Status == subset.Empty
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

// ordinarily asks the ordinary validator to confirm a witness. It has no memory for what it has seen, and compares
// items one by one, so large values are left to our own.
func ordinarily(producer, consumer *Schema, witness any) bool {
	text, err := json.Marshal(witness)
	return err != nil || len(text) > 4_000 || producer.confirms(witness, true) && consumer.confirms(witness, false)
}
