package simulate

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/activity"
)

// perform makes up what an attempt gives back, by the very rules by which a run takes it.
func (w *world) perform(c runtime.Command, chance *rand.Rand, e *runtime.Event) {
	call, request := c.Of, activity.RequestOf(c, w.budget)
	var result activity.Result
	var err error
	if a := evaluated(c.Plan, call); a != nil {
		result, err = activity.Evaluate(a.Name, a.Expression, request)
		w.out.Steps += result.Steps / perStep
		w.weigh(result.Value)
	} else if value, ok := w.result(w.planOf(c), call, chance); !ok {
		e.Failure = &runtime.Failure{Code: activity.CodeBadOutput, Message: unmakeable}
		return
	} else {
		w.weigh(value)
		result, err = activity.Take(value, request, call.Activity)
	}
	result.End(e, err)
}

// evaluated is the activity whose expression gives a call's result; nil where the tool's examples do, or its schema.
func evaluated(p *plan.Plan, call *plan.Call) *plan.Activity {
	a, tool := p.Activities[call.Activity], call.Single()
	if a == nil || a.Expression == nil || tool != nil && len(tool.Mocks) > 0 {
		return nil
	}
	return a
}

// planOf is the plan that the call of a command is in: of a call for an item that of the call that runs for all.
func (w *world) planOf(c runtime.Command) *plan.Plan {
	if c.Of.ItemOf == nil {
		return c.Plan
	}
	return w.frames[c.Parent].plan
}

// result makes up what an activity gives back: what the tool's own examples say, or
// a value that the tool's "_output" accepts.
func (w *world) result(plan *plan.Plan, call *plan.Call, chance *rand.Rand) (value any, ok bool) {
	if call.Tool != nil && len(call.Tool.Mocks) > 0 {
		return call.Tool.Mocks[chance.IntN(len(call.Tool.Mocks))], true
	}
	if call.Produced != nil {
		return call.Produced.Value(), true
	}
	planned := compiler.RepeatedCall(call)
	known := schemas(plan, planned, -1)
	if call.Tool != nil && call.Tool.Output != nil {
		known = []*schema.Schema{call.Tool.Output} // whether the state has a place for it is to be seen
	}
	if len(known) == 0 || call.ItemOf != nil && call.Tool.Output == nil {
		return unsaid(plan, planned, chance), true
	}
	left := schema.SampleSteps
	value, ok = schema.AllOf(known...).FullWithin(chance, &left)
	w.out.Steps += stepsOfSample * (schema.SampleSteps - left)
	return value, ok
}

const unmakeable = "no value that fits the tool's \"_output\" could be made up; give it \"examples\""

// schemas are what a result of a call has to fit on an alternative; -1 leaves open which.
func schemas(p *plan.Plan, call *plan.Call, route int) (known []*schema.Schema) {
	if tool := call.Single(); tool != nil && tool.Output != nil {
		known = append(known, tool.Output)
	}
	if route < 0 && len(call.Output) == 1 {
		route = 0
	}
	if route < 0 || call.Method != plan.Set || call.Each != nil {
		return known
	}
	for _, path := range call.Output[route] {
		if s, below := p.SchemaOf(p.Paths.Segments(path.ID)); s != nil {
			if at := s.At(below); at.Schema != nil {
				known = append(known, at.Schema)
			}
		}
	}
	return known
}

// unsaid makes up a result without a schema: it has what is read of it, of
// the types of the parameters that take it, and is a text where nothing more is known; null
// where nothing reads it. Without it nothing that depends on the result would be simulated.
func unsaid(p *plan.Plan, call *plan.Call, chance *rand.Rand) (value any) {
	reads := readers(p, call)
	if len(reads) == 0 {
		return nil
	}
	far := func(s expression.Segment) bool { return s.IsIndex && s.Index > 100 }
	for _, target := range slices.Concat(call.Output...) {
		for _, read := range reads {
			if !p.Paths.IsAbove(target.ID, read.Path) {
				continue
			}
			steps := p.Paths.Segments(read.Path)[p.Paths.Depth(target.ID):]
			if call.Each != nil { // it is one item of what is read
				if len(steps) == 0 || !steps[0].IsIndex {
					continue
				}
				steps = steps[1:]
			}
			if now, _ := pathtree.Walk(value, steps); now == nil && !slices.ContainsFunc(steps, far) {
				value = pathtree.With(value, steps, taken(p, read, call.Name, chance))
			}
		}
	}
	_, object := value.(map[string]any)
	_, list := value.([]any)
	switch joins := call.Method == plan.Merge || call.Method == plan.Assign; {
	case joins && !object:
		return map[string]any{"by": call.Name}
	case value == nil:
		value = "made up by " + call.Name
	}
	if call.Method == plan.Concat && !list {
		return []any{value}
	}
	return value
}

// readers are the reads of a plan that are bound to a call of it, the deepest first.
func readers(p *plan.Plan, call *plan.Call) (all []*plan.Read) {
	add := func(read *plan.Read) {
		if _, sees := slices.BinarySearch(read.Writers, int32(call.Index)); sees && !compiler.ReadsItem(p, read) {
			all = append(all, read)
		}
	}
	for _, user := range p.Graph.Users(call.Index) {
		for _, at := range p.Calls[user].Reads {
			add(&p.Reads[at])
		}
	}
	for at := len(p.Reads) - 1; at >= 0 && p.Reads[at].Call < 0; at-- { // of the output
		add(&p.Reads[at])
	}
	slices.SortStableFunc(all,
		func(a, b *plan.Read) int { return cmp.Compare(p.Paths.Depth(b.Path), p.Paths.Depth(a.Path)) })
	return all
}

// taken makes up a value for a read: a list where items are run for it, what the parameter accepts that it is the whole
// of, or what its expression evaluates with.
func taken(p *plan.Plan, read *plan.Read, by string, chance *rand.Rand) any {
	text := any("made up by " + by)
	isWhole := func(t *plan.Template) bool {
		return t.Expr != nil && t.Expr.Plain() && &p.Reads[t.Reads[0]] == read
	}
	expressions := p.Output.Expressions
	if read.Call >= 0 {
		call := p.Calls[read.Call]
		expressions = call.Expressions
		if call.Each != nil && isWhole(call.Each.List) {
			return []any{text}
		}
		for _, f := range call.Params.Fields {
			if tool := call.Single(); tool != nil && tool.Parameters != nil && isWhole(f.Value) {
				of, left := tool.Parameters.Part(f.Key).Schema, schema.SampleSteps
				if of == nil || of.Kinds() == schema.Anything {
					continue
				}
				if v, ok := of.FullWithin(chance, &left); ok && v != nil {
					return v
				}
			}
		}
	}
	for t := range expressions() {
		if t.Expr.Plain() || !slices.ContainsFunc(t.Reads, func(r int) bool { return &p.Reads[r] == read }) {
			continue
		}
		for _, v := range []any{text, 2.0, true, []any{text}, map[string]any{}} {
			given := func(int) (any, expression.Presence) { return v, expression.There }
			if _, presence, err := t.Expr.Eval(given, nil); err == nil && presence == expression.There {
				return v
			}
		}
	}
	return text
}

// profile is what a tool declares of its calls (x-simulate), and how many of them fail.
func profile(tool *plan.Tool) (p plan.Profile, failing float64) {
	if tool != nil {
		p = tool.Simulate
	}
	if p.Failure != nil {
		failing = *p.Failure
	}
	return p, failing
}

// defaultDuration is how long an activity takes whose tool says nothing.
const defaultDuration = 100 * time.Millisecond

// draw is a number that may be another each time: log-normal, as service times tend to be.
func draw(p50, p95 float64, chance *rand.Rand) float64 {
	if p95 <= p50 || p50 <= 0 {
		return p50
	}
	// 1.6449 is the 95th percentile of the standard normal distribution.
	sigma := math.Log(p95/p50) / 1.6449
	return p50 * math.Exp(sigma*chance.NormFloat64())
}
