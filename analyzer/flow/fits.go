package flow

import (
	"cmp"
	"slices"

	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// A Fit says whether what comes is accepted.
type Fit struct {
	Relation schema.Relation // MayNotFit, Never, or Unknown: cut short; else Fits
	Variant  Variant         // the one at fault, or the first of several
	Several  bool            // none of several fits
	Kinds    schema.Kinds    // of all that may come, where none of it fits
	Witness  any
	CutShort string // why it is unknown
}

// A question is whether some variants fit one schema.
type question struct {
	*Facts
	cutShort string // why it isn't fully analysed
}

// Accepts compares what comes with what a call, or the plan's output, accepts of it. It reports a problem only if no
// variant fits, or if a possible value isn't accepted.
func (f *Facts) Accepts(call *plan.Call, variants []Variant, to *schema.Schema) Fit {
	q := question{Facts: f}
	never := 0
	var kinds schema.Kinds
	var first, some Fit
	for i := range variants {
		v := &variants[i]
		relation, witness := q.relateTo(v, call, to)
		if relation == schema.Never {
			kinds |= v.Schema.Kinds()
			if never++; never == 1 {
				first = Fit{Relation: schema.Never, Variant: *v, Witness: witness}
			}
		}
		refused := relation == schema.Never || relation == schema.MayNotFit
		keeps := func(guard *plan.Template) bool { return !f.passesGuard(v, witness, guard) }
		if some.Relation != schema.MayNotFit && !v.Rare && !v.Wide && refused && f.comes(v) &&
			!slices.ContainsFunc(f.guards(v, call), keeps) {
			some = Fit{Relation: schema.MayNotFit, Variant: *v, Witness: witness}
		}
	}
	switch {
	case never == len(variants) && never > 0:
		first.Several, first.Kinds = never > 1, kinds
		return first
	case some.Relation == schema.MayNotFit:
		return some
	case q.cutShort != "":
		return Fit{Relation: schema.Unknown, Variant: variants[0], CutShort: q.cutShort}
	}
	return Fit{Relation: schema.Fits}
}

// relate judges one variant against a schema.
func (q *question) relate(v *Variant, to *schema.Schema) (schema.Relation, any) {
	switch {
	case to == nil:
		return schema.Fits, nil
	case v.Schema == nil:
		return schema.Unknown, nil
	case v.Sample:
		value := v.example()
		accepted, decided := to.AcceptsWithin(value, &q.Steps)
		switch {
		case !decided:
			q.cutShort = "budget"
			return schema.Unknown, nil
		case accepted:
			return schema.Fits, nil
		case v.Like != nil && q.Contains(v.Like, to).Relation == schema.Never:
			return schema.Never, value
		}
		return schema.MayNotFit, value
	}
	verdict := q.Fits(v.Schema, to, v.External)
	if v.Uncounted && verdict.Relation == schema.MayNotFit {
		verdict = q.Fits(q.Meet(v.Schema, q.ofLengths(to.Lengths())), to, v.External)
		if verdict.Relation == schema.Fits {
			return schema.Unknown, nil
		}
		verdict.Relation = schema.MayNotFit
	}
	if v.Wide && verdict.Relation == schema.MayNotFit {
		return schema.Unknown, nil
	}
	if !v.Wide {
		q.cutShort = cmp.Or(q.cutShort, verdict.CutShort())
	}
	return verdict.Relation, verdict.Witness
}

// relateTo judges one variant into a call, less what conditions keep away.
func (q *question) relateTo(v *Variant, call *plan.Call, to *schema.Schema) (schema.Relation, any) {
	before := q.cutShort
	relation, witness := q.relate(v, to)
	if v.Schema == nil || relation == schema.Fits || relation == schema.Never {
		return relation, witness
	}
	passes := *v
	if passes.Schema = q.letThrough(v, call); passes.Schema == v.Schema {
		return relation, witness
	}
	q.cutShort = before
	return q.relate(&passes, to)
}

// letThrough is what of a variant into a call the conditions about it leave.
func (f *Facts) letThrough(v *Variant, call *plan.Call) *schema.Schema {
	left := *v
	for _, guard := range f.guards(v, call) {
		left.Schema = f.where(&left, guard, guard.Expr.Root(), true)
	}
	return left.Schema
}
