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
)

// unsaid makes up a result without a schema: it has what is read of it, of
// the types of the parameters that take it, and is a text where nothing more is known; null
// where nothing reads it. Without it nothing that depends on the result would be simulated.
func (w *world) unsaid(p *plan.Plan, call *plan.Call, chance *rand.Rand) any {
	planned := compiler.RepeatedCall(call)
	if len(planned.Output) == 0 {
		return nil
	}
	reads, isRead := w.readers(p, planned), false
	var value any
	for _, target := range slices.Concat(planned.Output...) {
		for i, read := range reads {
			isBelow := p.Paths.IsAbove(target.ID, read.Path)
			if isRead = isRead || isBelow; !isBelow || i > 0 && reads[i-1].Path == read.Path {
				continue // or the value has it by now
			}
			steps := p.Paths.Segments(read.Path)[p.Paths.Depth(target.ID):]
			if planned.Each != nil { // it is one item of what is read
				if len(steps) == 0 || !steps[0].IsIndex {
					continue
				}
				steps = steps[1:]
			}
			far := func(s expression.Segment) bool { return s.IsIndex && s.Index > 100 }
			if now, _ := pathtree.Walk(value, steps); now == nil && !slices.ContainsFunc(steps, far) {
				value = pathtree.With(value, steps, taken(p, read, planned.Name, chance))
			}
		}
	}
	if !isRead {
		return nil
	}
	_, object := value.(map[string]any)
	switch {
	case value == nil && planned.Method != plan.Merge && planned.Method != plan.Assign:
		value = "made up by " + planned.Name
	case !object && (planned.Method == plan.Merge || planned.Method == plan.Assign):
		value = map[string]any{"by": planned.Name}
	}
	if _, list := value.([]any); planned.Method == plan.Concat && !list {
		value = []any{value}
	}
	return value
}

// planOf is the plan that the call of a command is in: of a call for an item that of the call that runs for all.
func (w *world) planOf(c runtime.Command) *plan.Plan {
	if c.Of.ItemOf == nil {
		return c.Plan
	}
	return w.frames[c.Parent].plan
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

// readers are the reads of a plan that are bound to a call of it, the deepest first.
func (w *world) readers(p *plan.Plan, call *plan.Call) []*plan.Read {
	by, known := w.read[p]
	if !known {
		by = make([][]*plan.Read, len(p.Calls))
		for i := range p.Reads {
			if read := &p.Reads[i]; !compiler.ReadsItem(p, read) {
				for _, writer := range read.Writers {
					by[writer] = append(by[writer], read)
				}
			}
		}
		for _, list := range by {
			slices.SortStableFunc(list,
				func(a, b *plan.Read) int { return cmp.Compare(p.Paths.Depth(b.Path), p.Paths.Depth(a.Path)) })
		}
		w.read[p] = by
	}
	return by[call.Index]
}

// A profile is what a tool says of its duration, cost and failures (x-simulate).
type profile struct {
	duration spread // in nanoseconds
	cost     spread
	failure  float64
	rated    bool // it says how often it fails
}

// defaultDuration is how long an activity takes whose tool says nothing.
const defaultDuration = 100 * time.Millisecond

// A spread is a number that may be another each time: log-normal, as service times tend to be.
type spread struct{ p50, p95 float64 }

func (s spread) draw(chance *rand.Rand) float64 {
	if s.p95 <= s.p50 || s.p50 <= 0 {
		return s.p50
	}
	// 1.6449 is the 95th percentile of the standard normal distribution.
	sigma := math.Log(s.p95/s.p50) / 1.6449
	return s.p50 * math.Exp(sigma*chance.NormFloat64())
}

func (w *world) profile(tool *plan.Tool) profile {
	if tool == nil {
		return profile{duration: spread{p50: float64(defaultDuration)}}
	}
	of := tool.Simulate
	p := profile{duration: spread{float64(cmp.Or(of.Duration.Median, defaultDuration)), float64(of.Duration.Most)}}
	if of.Cost != nil {
		p.cost = spread{of.Cost.Median, of.Cost.Most}
	}
	if p.rated = of.Failure != nil; p.rated {
		p.failure = *of.Failure
	}
	return p
}
