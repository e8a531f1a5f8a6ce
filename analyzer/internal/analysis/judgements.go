package analysis

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

// A Judgement is what there is to say of the values that come into one place.
type Judgement struct {
	flow.Fit
	To Target
}

// A Target is a place that wants values of some schema.
type Target struct {
	Call   *plan.Call  // nil for the plan's output
	Taker  *Parameters // of the call's
	Schema *schema.Schema
	Node   *source.Node // the value in the text
	Key    string       // the parameter; "" for the plan's output
	Part   string       // of it: .x[0]
}

// Name is what to call a target: "box".x.
func (t *Target) Name() string { return Quote(t.Key) + t.Part }

// wanted are the places where the plan says what a target wants.
func wanted(p *Pass, t *Target) []Remark {
	if t.Call == nil {
		if n := p.Plan.Root.Get("outputSchema"); p.Plan.Root.Kind == source.Object && n != nil {
			return []Remark{{n.Span().Head(), "the output's schema is here"}}
		}
		return nil
	}
	if n := t.Taker.Node(t.Key); n != nil {
		return []Remark{{n.Span(), Quote(t.Key) + " of " + t.Taker.Taker + " is " + t.Taker.Verb() + " here"}}
	}
	return nil
}

// Because says why a judgement is what it is.
func (j *Judgement) Because() string {
	if to := j.To.Schema.Kinds(); j.Relation == schema.Never && j.Kinds != 0 && to != 0 && j.Kinds&to == 0 {
		return fmt.Sprintf("it is %s; expected %s", j.Kinds, to)
	}
	why := "it isn't accepted"
	if v := j.To.Schema.Validate(j.Witness); v != nil {
		why = v.Error()
	}
	return fmt.Sprintf("for instance %s: %s", Brief(j.Witness), why)
}

// Compare judges all values of one schema by another.
func Compare(p *Pass, call *plan.Call, from, to *schema.Schema) *Judgement {
	v := p.Flow.Fits(from, to, false)
	fit := flow.Fit{Relation: v.Relation, Kinds: from.Kinds(), Witness: v.Witness, CutShort: v.CutShort()}
	return &Judgement{fit, Target{Call: call, Schema: to}}
}

// Mismatch reports that something never fits a place, or as a warning that it may not.
func Mismatch(p *Pass, rule *diag.Rule, at source.Span, what string, j *Judgement, to string) *diag.Diagnostic {
	words := "%s may not fit %s: %s"
	if j.Relation == schema.Never {
		words = "%s never fits %s: %s"
	}
	f := p.Found.Report(rule, at, words, what, to, j.Because()).About(j.To.Call.Label())
	if f.Witness = j.Witness; j.Relation != schema.Never {
		f.As(diag.Warning)
	}
	return f
}

// Misfit is Mismatch for what comes, with where the plan says what that is.
func Misfit(p *Pass, rule *diag.Rule, j *Judgement, to string) *diag.Diagnostic {
	f := Mismatch(p, rule, j.Place(), j.Called(), j, to)
	NoteSources(p, f, j)
	return f
}

// NoteSources adds where the plan says what comes and what is wanted.
func NoteSources(p *Pass, f *diag.Diagnostic, j *Judgement) {
	noted := map[source.Span]bool{f.Span: true}
	for _, said := range slices.Concat(Remarks(p, &j.Variant), wanted(p, &j.To)) {
		if said.At.Known() && !noted[said.At] {
			noted[said.At] = true
			f.Note(said.At, "%s", said.Says)
		}
	}
}

// Place is where a judgement is shown: the reference or operand at fault, or the whole value when it is several.
func (j *Judgement) Place() source.Span {
	if at := j.Variant.At(); !j.Several && at.Known() && at.File == j.To.Node.File && Within(j.To.Node, at.Start) {
		return at.Head()
	}
	return j.To.Node.Span().Head()
}

// Called is what to call what comes.
func (j *Judgement) Called() string {
	name := j.Variant.Name()
	if j.Several && j.To.Node.Kind == source.String {
		name = j.To.Node.Text
	}
	if name == "" {
		return "the value"
	}
	return Quote(name)
}

type (
	valuesJudged []Judgement
	FittingReads []bool // by the first read of an expression: all that comes surely fits what it is for
)

// Judgements are those of all values of parameters, in the order of the text.
func Judgements(p *Pass) []Judgement {
	known, fitting := Kept[valuesJudged](p.Store), Kept[FittingReads](p.Store)
	if *known != nil {
		return *known
	}
	*known, *fitting = valuesJudged{}, make(FittingReads, len(p.Plan.Reads))
	refused := map[string]bool{} // calls whose literals aren't accepted
	for i := range p.Found {
		if p.Found[i].Rule.Code == "OB504" {
			refused[p.Found[i].Call] = true
		}
	}
	for _, call := range p.Plan.Calls {
		if call.Each != nil && call.Each.List.Expr != nil {
			to := Target{Call: call, Taker: &Parameters{Taker: Quote(call.Name)}, Schema: flow.AList, Key: "_each"}
			*known, _ = judgeParts(p, *known, call.Each.List, to)
		}
		if !call.Params.Live() {
			continue
		}
		takers := Takers(p, call)
		for _, f := range call.Params.Fields {
			if !f.Value.Live() {
				continue
			}
			sure, found := true, []Judgement(nil)
			judge := func(taker *Parameters, s *schema.Schema) {
				if s != nil && len(found) == 0 {
					to, fits := Target{Call: call, Taker: taker, Schema: s, Key: f.Key}, false
					found, fits = JudgeTemplate(p, f.Value, to, !refused[call.Name])
					sure = sure && fits
				}
			}
			for _, known := range takers {
				if at := known.Place(f.Key); at.Possible {
					judge(known, at.Schema)
				}
			}
			if s := p.Flow.Sendable(p.Plan.Activities[call.Activity], f.Key); s != nil {
				judge(&Parameters{Taker: "the activity " + Quote(compiler.Shown(call.Activity))}, s)
			}
			*known = append(*known, found...)
			if f.Value.Expr != nil && len(f.Value.Reads) > 0 {
				(*fitting)[f.Value.Reads[0]] = sure
			}
		}
	}
	return *known
}

// JudgeTemplate judges a value with expressions in it: each of these, and where nothing is wrong with any and the rest
// is sound, the whole. It reports whether a value that is one expression surely fits.
func JudgeTemplate(p *Pass, t *plan.Template, to Target, sound bool) (found []Judgement, sure bool) {
	found, sure = judgeParts(p, nil, t, to)
	if t.Expr != nil || len(found) > 0 || !sound {
		return found, sure
	}
	to.Node = t.Node
	container := p.Flow.Eval(to.Call, t)
	container[0].Operand.Node = t.Node
	if fit := p.Flow.Accepts(to.Call, container, to.Schema); fit.Relation != schema.Fits {
		found = append(found, Judgement{fit, to})
	}
	return found, sure
}

func judgeParts(p *Pass, found []Judgement, t *plan.Template, to Target) (all []Judgement, sure bool) {
	to.Node = t.Node
	switch {
	case t.Expr != nil:
		fit := p.Flow.Accepts(to.Call, p.Flow.Expression(t), to.Schema)
		if sure = fit.Sure; fit.Relation != schema.Fits {
			found = append(found, Judgement{fit, to})
		}
	case t.Items != nil:
		for i, item := range t.Items {
			if at := to.Schema.At([]schema.Step{schema.Index(i)}); item.Live() && at.Possible && at.Schema != nil {
				found, _ = judgeParts(p, found, item, to.below(fmt.Sprintf("[%d]", i), at.Schema))
			}
		}
	default:
		for _, f := range t.Fields {
			if at := to.Schema.Part(f.Key); f.Value.Live() && at.Possible && at.Schema != nil {
				found, _ = judgeParts(p, found, f.Value, to.below("."+f.Key, at.Schema))
			}
		}
	}
	return found, sure
}

func (t Target) below(step string, s *schema.Schema) Target {
	t.Schema, t.Part = s, t.Part+step
	return t
}

var NotAnalysed = &diag.Rule{Code: "OB902", Name: "not-fully-analysed", Default: diag.Info}

// CutShort says that a judgement was cut short.
func CutShort(p *Pass, at source.Span, format string, args ...any) *diag.Diagnostic {
	return p.Found.Report(NotAnalysed, at, format, args...).Advise("use simpler schemas, or fewer alternatives in them")
}

// An openQuestion is a question about branches without an answer.
type openQuestion struct {
	At   source.Span
	Call *plan.Call
	What string
}

// Unanswered notes something that the budget didn't last for, if it is the first.
func Unanswered(p *Pass, at source.Span, call *plan.Call, what string) {
	if p.OpenQuestion == nil {
		p.OpenQuestion = &openQuestion{at, call, what}
	}
}
