package analyzer

import (
	"fmt"
	"slices"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

// A judgement is what there is to say of the values that come into one place.
type judgement struct {
	flow.Fit
	to target
}

// A target is a place that wants values of some schema.
type target struct {
	call   *plan.Call  // nil for the plan's output
	taker  *parameters // of the call's
	schema *schema.Schema
	node   *source.Node // the value in the text
	key    string       // the parameter; "" for the plan's output
	part   string       // of it: .x[0]
}

// name is what to call a target: "box".x.
func (t *target) name() string { return quote(t.key) + t.part }

// wanted are the places where the plan says what a target wants.
func wanted(p *Pass, t *target) []remark {
	if t.call == nil {
		if n := p.Plan.Root.Get("outputSchema"); p.Plan.Root.Kind == source.Object && n != nil {
			return []remark{{headOf(n.Span()), "the output's schema is here"}}
		}
		return nil
	}
	if n := t.taker.node(t.key); n != nil {
		return []remark{{n.Span(), quote(t.key) + " of " + t.taker.taker + " is " + t.taker.verb() + " here"}}
	}
	return nil
}

// because says why a judgement is what it is.
func (j *judgement) because() string {
	if to := j.to.schema.Kinds(); j.Relation == schema.Never && j.Kinds != 0 && to != 0 && j.Kinds&to == 0 {
		return fmt.Sprintf("it is %s; expected %s", j.Kinds, to)
	}
	why := "it isn't accepted"
	if v := j.to.schema.Validate(j.Witness); v != nil {
		why = v.Error()
	}
	return fmt.Sprintf("for instance %s: %s", brief(j.Witness), why)
}

// misfit reports that what comes never fits a place, or may not.
func misfit(p *Pass, rule *diag.Rule, j *judgement, to string) *diag.Diagnostic {
	words := "%s may not fit %s: %s"
	if j.Relation == schema.Never {
		words = "%s never fits %s: %s"
	}
	f := p.found.Report(rule, j.place(), words, j.called(), to, j.because()).About(j.to.call.Label())
	f.Witness = j.Witness
	noteSources(p, f, j)
	return f
}

// noteSources adds where the plan says what comes and what is wanted.
func noteSources(p *Pass, f *diag.Diagnostic, j *judgement) {
	noted := map[source.Span]bool{f.Span: true}
	for _, said := range slices.Concat(remarks(p, &j.Variant), wanted(p, &j.to)) {
		if said.at.Known() && !noted[said.at] {
			noted[said.at] = true
			f.Note(said.at, "%s", said.says)
		}
	}
}

// place is where a judgement is shown: the reference or operand at fault, or the whole value when it is several.
func (j *judgement) place() source.Span {
	if at := j.Variant.At(); !j.Several && at.Known() && at.File == j.to.node.File && within(j.to.node, at.Start) {
		return headOf(at)
	}
	return headOf(j.to.node.Span())
}

// called is what to call what comes.
func (j *judgement) called() string {
	name := j.Variant.Name()
	if j.Several && j.to.node.Kind == source.String {
		name = j.to.node.Text
	}
	if name == "" {
		return "the value"
	}
	return quote(name)
}

type (
	valuesJudged []judgement
	fittingReads []bool // by the first read of an expression: all that comes surely fits what it is for
)

// judgements are those of all values of parameters, in the order of the text.
func judgements(p *Pass) []judgement {
	known, fitting := kept[valuesJudged](p.store), kept[fittingReads](p.store)
	if *known != nil {
		return *known
	}
	*known, *fitting = valuesJudged{}, reaches(*fitting, len(p.Plan.Reads))
	refused := map[string]bool{} // calls whose literals aren't accepted
	for i := range p.found {
		if p.found[i].Rule == badParameter.Rule {
			refused[p.found[i].Call] = true
		}
	}
	for _, call := range p.fresh() {
		if call.Each != nil && call.Each.List.Expr != nil {
			to := target{call: call, taker: &parameters{taker: quote(call.Name)}, schema: flow.AList, key: "_each"}
			*known, _ = judgeParts(p, *known, call.Each.List, to)
		}
		if !call.Params.Live() {
			continue
		}
		takers := takers(p, call)
		for _, f := range call.Params.Fields {
			if !f.Value.Live() {
				continue
			}
			sure, found := true, []judgement(nil)
			judge := func(taker *parameters, s *schema.Schema) {
				if s != nil && len(found) == 0 {
					to, fits := target{call: call, taker: taker, schema: s, key: f.Key}, false
					found, fits = judgeTemplate(p, f.Value, to, !refused[call.Name])
					sure = sure && fits
				}
			}
			for _, known := range takers {
				if at := known.place(f.Key); at.Possible {
					judge(known, at.Schema)
				}
			}
			if s := p.flow.Sendable(p.Plan.Activities[call.Activity], f.Key); s != nil {
				judge(&parameters{taker: "the activity " + quote(compiler.Shown(call.Activity))}, s)
			}
			*known = append(*known, found...)
			if f.Value.Expr != nil && len(f.Value.Reads) > 0 {
				(*fitting)[f.Value.Reads[0]] = sure
			}
		}
	}
	return *known
}

// judgeTemplate judges a value with expressions in it: each of these, and where nothing is wrong with any and the rest
// is sound, the whole. It reports whether a value that is one expression surely fits.
func judgeTemplate(p *Pass, t *plan.Template, to target, sound bool) (found []judgement, sure bool) {
	found, sure = judgeParts(p, nil, t, to)
	if t.Expr != nil || len(found) > 0 || !sound {
		return found, sure
	}
	to.node = t.Node
	container := p.flow.Eval(to.call, t)
	container[0].Operand.Node = t.Node
	if fit := p.flow.Accepts(to.call, container, to.schema); fit.Relation != schema.Fits {
		found = append(found, judgement{fit, to})
	}
	return found, sure
}

func judgeParts(p *Pass, found []judgement, t *plan.Template, to target) (all []judgement, sure bool) {
	to.node = t.Node
	switch {
	case t.Expr != nil:
		fit := p.flow.Accepts(to.call, p.flow.Expression(t), to.schema)
		if sure = fit.Sure; fit.Relation != schema.Fits {
			found = append(found, judgement{fit, to})
		}
	case t.Items != nil:
		for i, item := range t.Items {
			if at := to.schema.At([]schema.Step{schema.Index(i)}); item.Live() && at.Possible && at.Schema != nil {
				found, _ = judgeParts(p, found, item, to.below(fmt.Sprintf("[%d]", i), at.Schema))
			}
		}
	default:
		for _, f := range t.Fields {
			if at := to.schema.At([]schema.Step{schema.Key(f.Key)}); f.Value.Live() && at.Possible && at.Schema != nil {
				found, _ = judgeParts(p, found, f.Value, to.below("."+f.Key, at.Schema))
			}
		}
	}
	return found, sure
}

func (t target) below(step string, s *schema.Schema) target {
	t.schema, t.part = s, t.part+step
	return t
}
