package label

import (
	"fmt"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/policy"
	"github.com/obelus-dev/obelus/compiler/source"
)

// Labels are those of a plan.
type Labels struct {
	Plan  *plan.Plan
	Flows []Flow // those that the policies forbid, as they were met

	rules   *rules
	start   *start
	given   value // of what the plan's own text says
	started value // what decides whether any of it runs, as control
	calls   []ofCall
	secrets map[*plan.Tool]bool // their results hold secrets
	depth   int
	list    value // for whose items the call runs that is looked at
}

// An ofCall is what is known of one call.
type ofCall struct {
	out        value // its result
	failure    value // the record of a failure, which may quote all that it took
	parameters []value
	context    value // what else it is handed
	control    value // what decides whether it runs
}

// A Flow is one that a policy forbids.
type Flow struct {
	Call      *plan.Call
	Within    *plan.Plan // the delegate that holds the call; nil for the plan itself
	Of        *plan.Call // the plan's own call: Call, or the one that runs the delegate
	Parameter string     // "" for what decides whether the call runs; [Context] for what it is handed besides
	At        source.Span
	Is, Most  policy.Label
	Integrity bool         // it is the integrity that is wrong, and else the confidentiality
	Control   bool         // it goes through control alone
	Strict    bool         // which a policy wants to be an error
	Rule      *policy.Rule // nil where nothing but the default says so: what is secret mustn't leave
	Way       []Hop        // a shortest one, from the source to the call
}

// Context is how a policy names what a call is handed besides its parameters: its scopes, or all that a model is shown.
const Context = "_scopes"

// Of follows labels through a plan; nil when it stands under no policy.
func Of(p *plan.Plan) *Labels {
	l := begin(p)
	if l != nil {
		l.follow()
	}
	return l
}

// follow follows labels through all calls, in the order in which they wait for each other, or, where they do so in a
// circle, until none gets worse.
func (l *Labels) follow() {
	l.calls = make([]ofCall, len(l.Plan.Calls))
	for _, i := range l.Plan.Graph.Order() {
		l.call(int(i))
	}
	for changed := !l.Plan.Graph.Acyclic(); changed; {
		changed, l.Flows = false, nil
		for i := range l.calls {
			before := l.Result(i)
			l.call(i)
			changed = changed || l.Result(i) != before
		}
	}
}

// begin is Of before labels are followed through calls.
func begin(p *plan.Plan) *Labels {
	if len(p.Policies) == 0 {
		return nil
	}
	l := &Labels{Plan: p, rules: newRules(p.Policies), start: newStart(p), secrets: map[*plan.Tool]bool{}}
	l.start.values(p.Policies)
	l.start.declared()
	if p.Live != nil {
		l.live(p.Live)
	}
	l.start.advised(l.given)
	return l
}

// live takes up what earlier ticks left behind, and what the model that wrote the plan
// could see: its text joins all of that.
func (l *Labels) live(live *policy.Live) {
	of := func(label policy.Label, words string) value {
		return from(label, func(respect) Hop { return Hop{Plan: l.Plan, Words: words} })
	}
	for _, v := range live.Values {
		l.start.add(v.Path, of(v.Label, "an earlier tick wrote it: "+v.From), false)
	}
	l.given = of(live.Seen, "the model that wrote the calls was shown "+live.From)
	l.started = l.given.decides()
}

// Result is the label of what a call gives or fails with, control included.
func (l *Labels) Result(call int) policy.Label {
	c := l.calls[call]
	c.out.join(c.failure)
	return c.out.label()
}

// Parameter is the label of a parameter, by its place among the call's, and of what
// decides whether the call runs.
func (l *Labels) Parameter(call, at int) (data, control policy.Label) {
	return l.calls[call].parameters[at].data().label(), l.calls[call].control.label()
}

// Sees is the label of all that a call takes.
func (l *Labels) Sees(call int) policy.Label {
	all := l.calls[call].context
	for _, v := range l.calls[call].parameters {
		all.join(v)
	}
	return all.data().label()
}

func (l *Labels) call(i int) {
	p := l.Plan
	c := p.Calls[i]
	if i >= len(l.calls) {
		l.calls = append(l.calls, make([]ofCall, i+1-len(l.calls))...)
	}
	of := ofCall{control: l.started}
	if c.Each != nil {
		l.list = l.inTemplate(c.Each.List)
		of.control.join(l.list.decides()) // how long it is
	}
	of.control.join(l.inTemplate(c.When).decides())
	for _, after := range c.After {
		if !after.Settled {
			of.control.join(l.ended(after.Call, after.Node.Span()))
		}
	}
	for _, before := range c.Choices {
		of.control.join(l.ended(int(before), c.ToolNode.Span()))
	}
	for i := range c.Params.Fields {
		v := l.inTemplate(c.Params.Fields[i].Value)
		of.control.join(v.control()) // whether it is there decides whether the call runs
		of.parameters = append(of.parameters, v)
	}
	of.context = l.contextOf(c)
	l.calls[i] = of
	l.calls[i].out, l.calls[i].failure = l.comes(c, &of)
	l.judge(c, &l.calls[i])
}

// ended is what whether another call is done says of it: whether it ran. That it may fail counts only under a
// strict policy.
func (l *Labels) ended(call int, at source.Span) value {
	if call >= len(l.calls) {
		return nothing
	}
	c := l.Plan.Calls[call]
	decides := l.calls[call].out.control()
	if l.rules.strict || len(c.Output) > 1 || l.Plan.Writes == plan.Once { // it may fail, or its result be absent
		decides = l.calls[call].out.decides()
	}
	words := fmt.Sprintf("what becomes of %q decides whether the call runs", c.Name)
	return decides.over(Hop{Plan: l.Plan, Call: c, Span: at, Words: words})
}

// inTemplate is what the expressions of a template may see.
func (l *Labels) inTemplate(t *plan.Template) (v value) {
	switch {
	case t == nil:
		return v
	case !t.Live(), t.Opaque() && !onlyRefers(t.Expr): // some of it is the plan's own text
		v.join(l.given)
	}
	var decides map[int]bool
	if t.Expr != nil && !t.Expr.Plain() {
		t.Expr.Deciding(func(ref int) {
			if decides == nil {
				decides = map[int]bool{}
			}
			decides[ref] = true
		})
	}
	for i, r := range t.Reads {
		one := l.read(r)
		if decides[i] {
			one = one.decides()
		}
		v.join(one)
	}
	for _, f := range t.Fields {
		v.join(l.inTemplate(f.Value))
	}
	for _, item := range t.Items {
		v.join(l.inTemplate(item))
	}
	return v
}

// onlyRefers reports whether what an expression gives is the value of one of its
// references, as it is.
func onlyRefers(e *expression.Expr) bool {
	if e == nil {
		return false
	}
	alternatives, literal := e.Alternatives()
	return e.Plain() || alternatives && !literal
}

// read is what a read may see. Only the presence of an index depends on the list.
func (l *Labels) read(at int) value {
	p := l.Plan
	r := &p.Reads[at]
	switch isItem := compiler.ReadsItem(p, r); {
	case isItem && r.Ref.Kind == "index":
		return l.list.decides()
	case isItem:
		return l.list
	case r.Path == pathtree.Root:
		return nothing
	}
	v := l.start.read(r.Path)
	for _, w := range r.Writers {
		v.join(l.written(int(w), r))
	}
	var reader *plan.Call
	if r.Call >= 0 {
		reader = p.Calls[r.Call]
	}
	if v != nothing {
		v = v.over(Hop{Plan: p, Call: reader, read: r})
	}
	return v
}

// written is what a call writes to where a read looks.
func (l *Labels) written(writer int, r *plan.Read) (v value) {
	if writer >= len(l.calls) {
		return v
	}
	p, w := l.Plan, l.Plan.Calls[writer]
	out := l.calls[writer].out
	for i, path := range w.Paths() {
		if !p.Paths.Overlap(path.ID, r.Path) {
			continue
		}
		part := out
		rest, within := l.part(w, path.ID, r.Path)
		if within && i != w.FailureRoute() && l.rules.extracts(w, rest) {
			part[integrity] = nil
		}
		v.join(part)
		if i == w.FailureRoute() {
			v.join(l.calls[writer].failure)
		}
		if l.resultHoldsSecrets(w) && (!within || !l.isPlain(w, rest)) {
			words := fmt.Sprintf("what %q gives holds a secret", w.ToolName)
			v.join(secretBy(Hop{Plan: p, Call: w, Span: w.ToolNode.Span(), Words: words}))
		}
	}
	if len(w.Output) > 1 { // what came of the call decided which of them was written
		v.join(out.decides())
	}
	return v
}

// part is the way from the result of a call, or of one item, down to what is read, where no more of it is read.
func (l *Labels) part(w *plan.Call, written, read pathtree.ID) (rest []expression.Segment, ok bool) {
	paths := l.Plan.Paths
	if w.Method == plan.Push || w.Method == plan.Concat || !paths.IsAbove(written, read) ||
		w.Each != nil && w.Each.Collect { // a failure record may replace a result
		return nil, false
	}
	rest = paths.Segments(read)[paths.Depth(written):]
	if w.Each != nil {
		if len(rest) > 0 && rest[0].IsIndex {
			return rest[1:], true
		}
		return nil, len(rest) == 0
	}
	return rest, true
}

func (l *Labels) resultHoldsSecrets(w *plan.Call) bool {
	tool := w.Single()
	if tool == nil {
		return false
	}
	holds, asked := l.secrets[tool]
	if !asked {
		holds = holdsSecrets(tool.Output)
		l.secrets[tool] = holds
	}
	return holds
}

// isPlain reports whether a part of a result that holds secrets holds none itself.
func (l *Labels) isPlain(w *plan.Call, rest []expression.Segment) bool {
	place := w.Single().Output.At(rest)
	return place.Named && !holdsSecrets(place.Schema)
}

// contextOf is what a call is given besides its parameters.
func (l *Labels) contextOf(c *plan.Call) (v value) {
	if c.Scopes == nil && c.Latent() && c.Produced == nil && c.Delegate == "" {
		return l.start.all.over(Hop{Plan: l.Plan, Call: c, Span: c.ToolNode.Span(),
			Words: fmt.Sprintf("the model that answers %q is shown all that stood there before", c.Name)})
	}
	for _, scope := range c.Scopes {
		if scope.Read >= 0 {
			v.join(l.read(scope.Read))
		}
	}
	return v
}

// comes is the label of a call's result and of its failure.
func (l *Labels) comes(c *plan.Call, of *ofCall) (v, failure value) {
	switch below := l.Plan.Delegates[c.Delegate]; {
	case c.Produced != nil:
		v = l.given
	case below != nil && l.depth < maxDepth:
		v, failure = l.delegate(c, of, below)
	default:
		for _, parameter := range of.parameters {
			v.join(parameter)
		}
		v.join(of.context)
	}
	if c.Produced == nil {
		known := l.rules.of(l.Plan, c)
		v.join(from(known.output, func(k respect) Hop {
			return Hop{Plan: l.Plan, Call: c, Span: c.ToolNode.Span(), Words: known.words[k]}
		}))
	}
	failure.join(v)
	v.join(of.control)
	failure.join(of.control)
	return v, failure
}

const maxDepth = 32

// delegate follows labels through a plan that is run as a call.
func (l *Labels) delegate(c *plan.Call, of *ofCall, p *plan.Plan) (v, failure value) {
	below := &Labels{Plan: p, rules: l.rules, start: newStart(p), secrets: l.secrets, depth: l.depth + 1,
		started: of.control}
	for i, f := range c.Params.Fields {
		below.start.add([]expression.Segment{{Key: "input"}, {Key: f.Key}}, of.parameters[i], false)
	}
	for _, scope := range c.Scopes {
		if scope.Read >= 0 {
			below.start.add(l.Plan.Paths.Segments(l.Plan.Reads[scope.Read].Path), l.read(scope.Read), false)
		}
	}
	below.start.declared()
	below.follow()
	for _, flow := range below.Flows {
		if flow.Within == nil {
			flow.Within = p
		}
		flow.Of = c
		l.Flows = append(l.Flows, flow)
	}
	failure = below.start.all
	for _, one := range below.calls { // a failure of any of them is one of the call
		failure.join(one.failure)
	}
	return below.inTemplate(p.Output), failure
}
