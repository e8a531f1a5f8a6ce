package analyzer

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/obelus-dev/obelus/analyzer/internal/branch"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

// A judgement is what there is to say of the flows into one place.
type judgement struct {
	relation schema.Relation // MayNotFit, Never, or Unknown: cut short
	flow     flow            // the one at fault, or the first of several
	several  bool            // none of several fits
	kinds    schema.Kinds    // of all that may come, where none of it fits
	witness  any
	to       target
	cutShort string // why, where it is open
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
func (p *Pass) wanted(t *target) []remark {
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

// contains asks for a containment once a pair. Past the plan's budget the answer
// is unknown.
func (p *Pass) contains(producer, consumer *schema.Schema) schema.Verdict {
	t := p.flowing()
	key := [2]*schema.Schema{producer, consumer}
	v, ok := t.verdicts[key]
	if ok {
		return v
	}
	const least = 200 // what the rest of an answer costs
	if t.steps < least {
		return schema.Verdict{Keyword: "budget", Reason: "the plan asks for more work than its budget allows"}
	}
	v = schema.Contains(producer, consumer, schema.Budget{})
	t.steps -= v.Steps + least
	t.verdicts[key] = v
	return v
}

// fits compares a producer's schema with a consumer's. A refused value counts only if the schema
// describes it: not for an optional property that it names, except in external values, and not for
// undescribed parts.
func (p *Pass) fits(producer, consumer *schema.Schema, external bool) schema.Verdict {
	v := p.contains(producer, consumer)
	if v.Relation != schema.MayNotFit {
		return v
	}
	t := p.flowing()
	t.sure = false
	if declared := t.asDeclared(producer, external); declared != producer {
		if v = p.contains(declared, consumer); v.Relation == schema.Never {
			v.Relation = schema.MayNotFit
		}
	}
	if v.Relation == schema.MayNotFit && isUndescribed(producer, consumer, v.Witness) {
		return schema.Verdict{Reason: "the producer says nothing of it"}
	}
	return v
}

// isUndescribed reports whether a value is refused because of a part that the producer doesn't
// describe.
func isUndescribed(producer, consumer *schema.Schema, witness any) bool {
	why := consumer.Validate(witness)
	if why == nil {
		return false
	}
	path := stepsOf(why.Path)
	at := producer.At(path)
	if at.Schema == nil || at.Schema.Kinds() == schema.Anything {
		return true
	}
	object, is := valueAt(witness, path).(map[string]any)
	if why.Keyword != "required" || !is || len(at.Schema.Properties()) > 0 {
		return false
	}
	for _, name := range consumer.At(path).Schema.Properties() { // of a map it says what stands under any name
		if of := at.Schema.At([]schema.Step{schema.Key(name)}); object[name] == nil && of.Named && of.Schema.Kinds() != schema.Anything {
			return false
		}
	}
	return true
}

func valueAt(v any, path []schema.Step) any {
	for _, s := range path {
		v, _ = pathtree.Step(v, expression.Segment{Key: s.Key, Index: s.Index, IsIndex: s.IsIndex})
	}
	return v
}

// relate judges one flow against a schema.
func (p *Pass) relate(f *flow, to *schema.Schema) (schema.Relation, any) {
	switch {
	case to == nil:
		return schema.Fits, nil
	case f.schema == nil && f.partial == nil:
		return schema.Unknown, nil
	case f.schema == nil: // others may come as well
		if v := p.fits(f.partial, to, f.external); !f.overApproximate && (v.Relation == schema.MayNotFit || v.Relation == schema.Never) {
			return schema.MayNotFit, v.Witness
		}
		return schema.Unknown, nil
	case f.sample:
		value := f.schema.Raw().(map[string]any)["enum"].([]any)[0]
		accepted, decided := to.AcceptsWithin(value, &p.flowing().steps)
		switch {
		case !decided:
			p.flows.cutShort = "budget"
			return schema.Unknown, nil
		case accepted:
			return schema.Fits, nil
		case f.like != nil && p.contains(f.like, to).Relation == schema.Never:
			return schema.Never, value
		}
		return schema.MayNotFit, value
	}
	v := p.fits(f.schema, to, f.external)
	if f.uncounted && v.Relation == schema.MayNotFit {
		if v = p.fits(p.meet(f.schema, p.ofLengths(to.Lengths())), to, f.external); v.Relation == schema.Fits {
			return schema.Unknown, nil
		}
		v.Relation = schema.MayNotFit
	}
	if f.overApproximate && v.Relation == schema.MayNotFit {
		return schema.Unknown, nil
	}
	if !f.overApproximate {
		p.flows.cutShort = cmp.Or(p.flows.cutShort, v.CutShort())
	}
	return v.Relation, v.Witness
}

// relateTo judges one flow into a place, less what conditions keep away.
func (p *Pass) relateTo(f *flow, to *target) (schema.Relation, any) {
	before := p.flows.cutShort
	relation, witness := p.relate(f, to.schema)
	if f.schema == nil || relation == schema.Fits || relation == schema.Never {
		return relation, witness
	}
	passes := *f
	if passes.schema = p.letThrough(f, to.call); passes.schema == f.schema {
		return relation, witness
	}
	p.flows.cutShort = before
	return p.relate(&passes, to.schema)
}

// letThrough is what of a flow into a call the conditions about it leave.
func (p *Pass) letThrough(f *flow, call *plan.Call) *schema.Schema {
	left := *f
	for _, guard := range p.guards(f, call) {
		left.schema = p.implied(&left, guard, guard.Expr.Logic, 0, true)
	}
	return left.schema
}

// guards are the conditions about a flow that hold whenever a call runs that takes it: its own,
// and those of calls without which it doesn't run, where what they were about can't have changed
// since.
func (p *Pass) guards(f *flow, call *plan.Call) (all []*plan.Template) {
	if call == nil {
		return nil
	}
	if call.When != nil && call.When.Expr != nil {
		all = append(all, call.When)
	}
	if f.read == nil || len(f.read.Writers) > 1 || p.Unknown(branch.Needed) {
		return all
	}
	t := p.flowing()
	for ; t.guardsUpTo < len(p.Plan.Calls); t.guardsUpTo++ {
		if c := p.Plan.Calls[t.guardsUpTo]; compiler.Condition(c) != nil && compiler.Condition(c).Expr != nil {
			t.guarding = append(t.guarding, c)
		}
	}
	for _, other := range t.guarding {
		looks, same := false, true // at what comes, and at that alone
		for _, i := range compiler.Condition(other).Reads {
			if r := &p.Plan.Reads[i]; p.isAbout(f, r) {
				looks, same = true, same && slices.Equal(r.Writers, f.read.Writers)
			}
		}
		if other == call || !looks || !same {
			continue
		}
		if e := p.conditions(); e.SolveOne(e.And(e.Runs(call), e.Runs(other).Not()), false).Impossible {
			all = append(all, compiler.Condition(other))
		}
	}
	return all
}

// isAbout reports whether a read looks at what a flow brings, or at another part of the result
// that it is from, or of the item.
func (p *Pass) isAbout(f *flow, r *plan.Read) bool {
	if f.read != nil && compiler.ReadsItem(p.Plan, f.read) {
		return compiler.ReadsItem(p.Plan, r) && r.Call == f.read.Call && r.Ref.Kind == f.read.Ref.Kind
	}
	return f.read != nil && f.read.Path != pathtree.Root && p.Plan.Paths.Overlap(f.read.Path, r.Path) ||
		f.from.call != nil && slices.Contains(r.Writers, int32(f.from.call.Index))
}

// guarded is what of a flow into a call its condition lets through.
func (p *Pass) guarded(f *flow, call *plan.Call) *schema.Schema {
	if call == nil || call.When == nil || call.When.Expr == nil {
		return f.schema
	}
	return p.implied(f, call.When, call.When.Expr.Logic, 0, true)
}

// judge compares flows with a target. It reports a problem only if no flow fits, or if a possible value
// isn't accepted.
func (p *Pass) judge(flows []flow, to *target) (j judgement, bad bool) {
	p.flows.cutShort, p.flows.sure = "", true
	never := 0
	var kinds schema.Kinds
	var first, some judgement
	found := false
	for i := range flows {
		f := &flows[i]
		relation, witness := p.relateTo(f, to)
		p.flows.sure = p.flows.sure && relation == schema.Fits && !f.uncertain
		if relation == schema.Never {
			kinds |= f.schema.Kinds()
			if never++; never == 1 {
				first = judgement{relation: schema.Never, flow: *f, witness: witness, to: *to}
			}
		}
		if found || f.exceptional || f.overApproximate || relation != schema.Never && relation != schema.MayNotFit {
			continue
		}
		if p.canCome(f, witness, to) {
			some, found = judgement{relation: schema.MayNotFit, flow: *f, witness: witness, to: *to}, true
		}
	}
	switch {
	case never == len(flows) && never > 0:
		first.several, first.kinds = never > 1, kinds
		return first, true
	case found:
		return some, true
	case p.flows.cutShort != "":
		return judgement{relation: schema.Unknown, flow: flows[0], to: *to, cutShort: p.flows.cutShort}, true
	}
	return judgement{}, false
}

// canCome reports whether a value reaches its target: the flow exists on some branch, and the
// call's conditions don't exclude the value.
func (p *Pass) canCome(f *flow, witness any, to *target) bool {
	if !p.comes(f) {
		return false
	}
	return !slices.ContainsFunc(p.guards(f, to.call), func(guard *plan.Template) bool { return !p.passesGuard(f, witness, guard) })
}

// passesGuard reports whether a condition lets a value through: it holds with it and what
// is in it, or doesn't look at what comes from where the value does.
func (p *Pass) passesGuard(f *flow, witness any, when *plan.Template) bool {
	path := pathtree.Root
	if f.read != nil {
		path = f.read.Path
	}
	if !slices.ContainsFunc(when.Reads, func(i int) bool { return p.isAbout(f, &p.Plan.Reads[i]) }) {
		return true
	}
	value, presence, err := when.Expr.Eval(func(i int) (any, expression.Presence) {
		r := &p.Plan.Reads[when.Reads[i]]
		if path == pathtree.Root || !p.Plan.Paths.IsAbove(path, r.Path) {
			return nil, expression.Pending
		}
		value, there := pathtree.Walk(witness, p.Plan.Paths.Segments(r.Path)[p.Plan.Paths.Depth(path):])
		if !there {
			return nil, expression.Absent
		}
		return value, expression.There
	})
	return err == nil && presence == expression.There && value == true
}

// because says why a judgement is what it is.
func (j *judgement) because() string {
	if to := j.to.schema.Kinds(); j.relation == schema.Never && j.kinds != 0 && to != 0 && j.kinds&to == 0 {
		return fmt.Sprintf("it is %s; expected %s", j.kinds, to)
	}
	why := "it isn't accepted"
	if v := j.to.schema.Validate(j.witness); v != nil {
		why = v.Error()
	}
	return fmt.Sprintf("for instance %s: %s", brief(j.witness), why)
}

// misfit reports that what comes never fits a place, or may not.
func (p *Pass) misfit(rule *diag.Rule, j *judgement, to string) *diag.Diagnostic {
	words := "%s may not fit %s: %s"
	if j.relation == schema.Never {
		words = "%s never fits %s: %s"
	}
	f := p.found.Report(rule, j.place(), words, j.called(), to, j.because()).About(j.to.call.Label())
	f.Witness = j.witness
	p.note(f, j)
	return f
}

// note adds where the plan says what comes and what is wanted.
func (p *Pass) note(f *diag.Diagnostic, j *judgement) {
	noted := map[source.Span]bool{f.Span: true}
	for _, said := range slices.Concat(p.remarks(&j.flow), p.wanted(&j.to)) {
		if said.at.Known() && !noted[said.at] {
			noted[said.at] = true
			f.Note(said.at, "%s", said.says)
		}
	}
}

// place is where a judgement is shown: the reference or operand at fault, or
// the whole value when it is several.
func (j *judgement) place() source.Span {
	if at := j.flow.at(); !j.several && at.Known() && at.File == j.to.node.File && within(j.to.node, at.Start) {
		return headOf(at)
	}
	return headOf(j.to.node.Span())
}

// called is what to call what comes.
func (j *judgement) called() string {
	name := j.flow.name()
	if j.several && j.to.node.Kind == source.String {
		name = j.to.node.Text
	}
	if name == "" {
		return "the value"
	}
	return quote(name)
}

// judgements are those of all flows into parameters, in the order of the text.
func (p *Pass) judgements() []judgement {
	t := p.flowing()
	if t.judged {
		return t.judgements
	}
	t.judged = true
	refused := map[string]bool{} // calls whose literals aren't accepted
	for i := range p.found {
		if p.found[i].Rule == badParameter.Rule {
			refused[p.found[i].Call] = true
		}
	}
	for _, call := range p.fresh() {
		if call.Each != nil && call.Each.List.Expr != nil {
			to := target{call: call, taker: &parameters{taker: quote(call.Name)}, schema: aList, key: "_each"}
			t.judgements = p.judgeParts(t.judgements, call.Each.List, to)
		}
		if !call.Params.Live() {
			continue
		}
		takers := p.takers(call)
		for _, f := range call.Params.Fields {
			if !f.Value.Live() {
				continue
			}
			sure, found := true, []judgement(nil)
			judge := func(taker *parameters, s *schema.Schema) {
				if s != nil && len(found) == 0 {
					found = p.judgeTemplate(f.Value, target{call: call, taker: taker, schema: s, key: f.Key}, !refused[call.Name])
					sure = sure && t.sure
				}
			}
			for _, known := range takers {
				if at := known.place(f.Key); at.Possible {
					judge(known, at.Schema)
				}
			}
			if s := p.sendable(call, f.Key); s != nil {
				judge(&parameters{taker: "the activity " + quote(compiler.Shown(call.Activity))}, s)
			}
			t.judgements = append(t.judgements, found...)
			if f.Value.Expr != nil && len(f.Value.Reads) > 0 {
				t.fitting[f.Value.Reads[0]] = sure
			}
		}
	}
	return t.judgements
}

// sendable is what the request of a call can be made of, of a parameter's values; nil
// where it is any, or none is sent.
func (p *Pass) sendable(call *plan.Call, name string) *schema.Schema {
	a := p.Plan.Activities[call.Activity]
	if a == nil || a.HTTP == nil {
		return nil
	}
	return once(p.flowing().sendable, sending{a, name}, func() *schema.Schema {
		raw := compiler.HTTPParameter(a.HTTP, name)
		if raw == nil {
			return nil
		}
		return schema.New(raw, schema.Options{})
	})
}

// A sending is a parameter of a request.
type sending struct {
	by   *plan.Activity
	name string
}

// judgeTemplate judges a value with expressions in it: each of these, and where
// nothing is wrong with any and the rest is sound, the whole.
func (p *Pass) judgeTemplate(t *plan.Template, to target, sound bool) []judgement {
	found := p.judgeParts(nil, t, to)
	if t.Expr != nil || len(found) > 0 || !sound {
		return found
	}
	container, ok := p.flowOfTemplate(to.call, t)
	if !ok {
		return nil
	}
	to.node = t.Node
	container.operand.node = t.Node
	if j, bad := p.judge([]flow{container}, &to); bad {
		found = append(found, j)
	}
	return found
}

func (p *Pass) judgeParts(found []judgement, t *plan.Template, to target) []judgement {
	to.node = t.Node
	switch {
	case t.Expr != nil:
		flows := p.flowsOf(t)
		j, bad := p.judge(flows, &to)
		if bad {
			found = append(found, j)
		}
	case t.Items != nil:
		for i, item := range t.Items {
			if at := to.schema.At([]schema.Step{schema.Index(i)}); item.Live() && at.Possible && at.Schema != nil {
				found = p.judgeParts(found, item, to.below(fmt.Sprintf("[%d]", i), at.Schema))
			}
		}
	default:
		for _, f := range t.Fields {
			if at := to.schema.At([]schema.Step{schema.Key(f.Key)}); f.Value.Live() && at.Possible && at.Schema != nil {
				found = p.judgeParts(found, f.Value, to.below("."+f.Key, at.Schema))
			}
		}
	}
	return found
}

func (t target) below(step string, s *schema.Schema) target {
	t.schema, t.part = s, t.part+step
	return t
}

// flowsOut are the flows out of a template, for a call or for none.
func (p *Pass) flowsOut(call *plan.Call, t *plan.Template) []flow {
	if t.Expr != nil {
		return p.flowsOf(t)
	}
	if container, ok := p.flowOfTemplate(call, t); ok {
		return []flow{container}
	}
	return unknown
}

// flowOfTemplate is a value put together from what flows into it, for a call or for none. It is false
// where a part may be left out, or nothing is known of any.
func (p *Pass) flowOfTemplate(call *plan.Call, t *plan.Template) (flow, bool) {
	switch {
	case !t.Live():
		return flow{schema: schema.Const(t.Value), external: true}, true
	case t.Expr != nil:
		return p.oneFlow(call, p.flowsOf(t))
	case t.Items != nil:
		container := flow{external: true}
		items := make([]*schema.Schema, len(t.Items))
		for i, item := range t.Items {
			f, ok := p.flowOfTemplate(call, item)
			if !ok {
				return f, false
			}
			items[i] = f.schema
			container.join(&f)
		}
		container.schema = schema.TupleOf(items...)
		return container, true
	case t.Fields != nil:
		container := flow{external: true}
		parts := make(map[string]*schema.Schema, len(t.Fields))
		names := make([]string, len(t.Fields))
		for i, field := range t.Fields {
			f, ok := p.flowOfTemplate(call, field.Value)
			if !ok {
				return f, false
			}
			names[i], parts[field.Key] = field.Key, f.schema
			container.join(&f)
		}
		container.schema = schema.ObjectOf(parts, names)
		return container, true
	}
	return flow{}, false
}

// join takes up what is known of a part.
func (f *flow) join(part *flow) {
	f.overApproximate, f.exceptional, f.external = f.overApproximate || part.overApproximate || part.schema == nil, f.exceptional || part.exceptional, f.external && part.external
	f.uncertain = f.uncertain || part.uncertain
}

// oneFlow joins flows. Examples are joined by the type of the value.
func (p *Pass) oneFlow(call *plan.Call, flows []flow) (flow, bool) {
	joined := flow{external: true}
	var all []*schema.Schema
	for _, f := range flows {
		joined.external, joined.uncertain = joined.external && f.external, joined.uncertain || f.uncertain
		s := p.letThrough(&f, call)
		if f.sample {
			s, joined.overApproximate = f.like, true
		}
		joined.overApproximate = joined.overApproximate || f.overApproximate || f.exceptional || f.uncounted
		if s == nil {
			return flow{overApproximate: true}, true
		}
		all = append(all, s)
	}
	joined.schema = schema.AnyOf(all...)
	return joined, true
}
