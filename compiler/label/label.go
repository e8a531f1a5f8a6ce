package label

import (
	"fmt"
	"maps"
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/effects"
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

	rules   rules
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
	takes      value // all of that
	control    value // what decides whether it runs
}

// A Flow is one that a policy forbids.
type Flow struct {
	Call      *plan.Call
	Of        *plan.Call // the plan's own call: Call, or the one that runs the plan that holds it
	Parameter string     // "" for what decides whether the call runs; [Context] for what it is handed besides
	At        source.Span
	Respect   policy.Respect
	Is, Most  policy.Level
	Control   bool         // it goes through control alone
	Strict    bool         // which a policy wants to be an error
	Rule      *policy.Rule // nil where nothing but the default says so: what is secret mustn't leave
	Way       []Hop        // from the source to the call
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

// follow follows labels through all calls, in the order in which they wait for each other. Those that do so in a
// circle, or wait for such, never run, and come last.
func (l *Labels) follow() {
	l.calls = make([]ofCall, len(l.Plan.Calls))
	order := l.Plan.Graph.Order()
	for _, i := range order {
		l.call(int(i))
	}
	for i := range l.calls {
		if !l.Plan.Graph.Acyclic() && l.Plan.Graph.Rank(i) >= len(order) {
			l.call(i)
		}
	}
}

// begin is Of before labels are followed through calls.
func begin(p *plan.Plan) *Labels {
	if len(p.Policies) == 0 {
		return nil
	}
	l := &Labels{Plan: p, rules: p.Policies, start: newStart(p), secrets: map[*plan.Tool]bool{}}
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
	for _, path := range slices.Sorted(maps.Keys(live.Values)) {
		v := live.Values[path]
		l.start.add(v.Path, from(v.Label, Hop{Words: "an earlier tick wrote it: " + v.From}))
	}
	l.given = from(live.Seen.Label, Hop{Words: "the model that wrote the calls was shown " + live.Seen.From})
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
	return l.calls[call].takes.data().label()
}

func (l *Labels) call(i int) {
	c := l.Plan.Calls[i]
	of := ofCall{control: l.started}
	if c.Each != nil {
		l.list = l.inTemplate(c.Each.List)
		of.control.join(l.list.decides()) // how long it is
	}
	of.control.join(l.inTemplate(c.When).decides())
	for _, after := range c.After {
		if !after.Settled {
			of.control.join(l.ended(after.Call))
		}
	}
	for _, before := range c.Choices {
		of.control.join(l.ended(int(before)))
	}
	for _, f := range c.Params.Fields {
		v := l.inTemplate(f.Value)
		of.control.join(v.control()) // whether it is there decides whether the call runs
		of.parameters = append(of.parameters, v)
		of.takes.join(v)
	}
	of.context = l.contextOf(c)
	of.takes.join(of.context)
	of.out, of.failure = l.comes(c, &of)
	l.calls[i] = of
	l.judge(c, &of)
}

// ended is what whether another call is done says of it: whether it ran. That it may fail counts only under a
// strict policy.
func (l *Labels) ended(call int) value {
	out := l.calls[call].out
	if l.rules.strict() || len(l.Plan.Calls[call].Output) > 1 || l.Plan.Writes == plan.Once {
		return out.decides() // it may fail, or its result be absent
	}
	return out.control()
}

// inTemplate is what the expressions of a template may see.
func (l *Labels) inTemplate(t *plan.Template) (v value) {
	switch {
	case t == nil:
		return v
	case !t.Live, t.Opaque() && !onlyRefers(t.Expr): // some of it is the plan's own text
		v.join(l.given)
	}
	decides := map[int]bool{}
	if t.Expr != nil {
		t.Expr.Deciding(func(ref int) { decides[ref] = true })
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
	for _, o := range compiler.Origins(p, r) {
		v.join(l.written(&o))
	}
	return v
}

// written is what a call gives, at one of its paths, to where a read looks.
func (l *Labels) written(o *compiler.Origin) value {
	w, rest := o.Call, o.Rest
	// whether the rest is a path in what the tool gives; no more of it is read
	isPart := !o.Below && w.Method != plan.Push && w.Method != plan.Concat
	if w.Each != nil { // a failure record may replace a result
		isPart = isPart && !w.Each.Collect && (len(rest) == 0 || rest[0].IsIndex)
		rest = rest[min(1, len(rest)):]
	}
	of := &l.calls[w.Index]
	v := of.out
	// a part that can only be one of a few values is trusted, whatever it was made of
	extracts := func(e *policy.Endorse) bool {
		return e.Parameter == "" && len(e.Output) <= len(rest) && slices.Equal(e.Output, rest[:len(e.Output)])
	}
	if isPart && !o.Failure && l.rules.endorsed(w, extracts) {
		v[policy.Integrity] = nil
	}
	if o.Failure {
		v.join(of.failure)
	}
	if l.hasSecret(w.Single(), rest, isPart) {
		v.join(from(secret, Hop{w.Name, w.ToolNode.Span(), fmt.Sprintf("what %q gives holds a secret", w.ToolName)}))
	}
	if len(w.Output) > 1 { // what came of the call decided which of them was written
		v.join(of.out.decides())
	}
	return v
}

// hasSecret reports whether the results of a tool, or a part of them, hold a secret.
func (l *Labels) hasSecret(tool *plan.Tool, part []expression.Segment, isPart bool) bool {
	if tool == nil {
		return false
	}
	holds, known := l.secrets[tool]
	if !known {
		holds = holdsSecrets(tool.Output)
		l.secrets[tool] = holds
	}
	if !holds || !isPart {
		return holds
	}
	place := tool.Output.At(part)
	return !place.Named || holdsSecrets(place.Schema)
}

// contextOf is what a call is given besides its parameters. A model is shown all that stood there before it.
func (l *Labels) contextOf(c *plan.Call) (v value) {
	if c.Scopes == nil && c.Latent() && c.Produced == nil && c.Delegate == "" {
		return l.start.all
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
	used := of.takes
	switch below := l.Plan.Delegates[c.Delegate]; {
	case c.Produced != nil:
		used = l.given
	case below != nil && l.depth < maxDepth:
		used, failure = l.delegate(c, of, below)
	}
	if c.Produced == nil {
		output, says := l.rules.output(l.Plan, c)
		words := fmt.Sprintf("what %q gives is %s: %s", c.ToolName, output, says)
		v = from(output, Hop{c.Name, c.ToolNode.Span(), words})
	}
	used.join(of.control)
	v.join(used.through(c))
	failure.join(v)
	return v, failure
}

const maxDepth = 32

// delegate follows labels through a plan that is run as a call.
func (l *Labels) delegate(c *plan.Call, of *ofCall, p *plan.Plan) (v, failure value) {
	below := &Labels{Plan: p, rules: l.rules, start: newStart(p), secrets: l.secrets, depth: l.depth + 1,
		started: of.control}
	for i, f := range c.Params.Fields {
		below.start.add([]expression.Segment{{Key: "input"}, {Key: f.Key}}, of.parameters[i])
	}
	for _, scope := range c.Scopes {
		if scope.Read >= 0 {
			below.start.add(l.Plan.Paths.Segments(l.Plan.Reads[scope.Read].Path), l.read(scope.Read))
		}
	}
	below.start.declared()
	below.follow()
	for _, flow := range below.Flows {
		flow.Of = c
		l.Flows = append(l.Flows, flow)
	}
	failure = below.start.all
	for _, one := range below.calls { // a failure of any of them is one of the call
		failure.join(one.failure)
	}
	return below.inTemplate(p.Output), failure
}

// IsMet reports whether a subject of a policy speaks of a call. A call counts under the name of its tool and under that
// of the activity that carries it out, so that no other name gets round a rule.
func IsMet(p *plan.Plan, call *plan.Call) func(policy.Subject) bool {
	return func(s policy.Subject) bool {
		if s.Tool != "" {
			return Carries(call, s.Tool)
		}
		r := rules(p.Policies)
		gives, _ := r.output(p, call)
		return policy.Step{Effects: r.effects(p, call), Label: gives}.IsMet(s)
	}
}

// IsIdempotent reports whether another attempt of a call does no more than the first.
func IsIdempotent(p *plan.Plan, call *plan.Call) bool {
	// Whether a tool takes the call's parameters isn't asked, so that what is known of a
	// call's effects is the same before a run and in it.
	return call.Delegate == "" && effects.Of(p, call, func(*plan.Tool) bool { return false }).Idempotent
}

// Unlisted is the name of a call, its tool's or that of an activity that its tool doesn't
// name, which isn't among the tools that there may be; "" when there is none.
func Unlisted(o *policy.Only, call *plan.Call) string {
	tool := call.Single()
	switch {
	case tool != nil && tool.Builtin:
	case !o.Allows(call.ToolName):
		return call.ToolName
	case call.Activity != "" && call.Activity != call.ToolName &&
		(tool == nil || !effects.MayRun(tool, call.Activity)) && !o.Allows(call.Activity):
		return call.Activity
	}
	return ""
}
