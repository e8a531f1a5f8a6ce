package analyzer

import (
	"math/rand/v2"
	"reflect"
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// A Rehearsal is a plan that may be rehearsed: a verified one, or one whose only
// errors are OB401, so that its conflicts can be watched (S7.2). It is never run.
type Rehearsal struct {
	plan     *compiler.Plan
	conflict bool
}

// Rehearse gives what may be rehearsed of a plan with its findings, or nil when
// they hold an error other than OB401.
func Rehearse(p *compiler.Plan, found []diag.Diagnostic) *Rehearsal {
	r := &Rehearsal{plan: p}
	for i := range found {
		if found[i].Severity < diag.Error {
			continue
		}
		if found[i].Rule != diag.WriteConflict {
			return nil
		}
		r.conflict = true
	}
	return r
}

// Rehearsal is the same plan, to be rehearsed.
func (v *Verified) Rehearsal() *Rehearsal { return &Rehearsal{plan: v.plan} }

// Plan is what is rehearsed.
func (r *Rehearsal) Plan() *compiler.Plan { return r.plan }

// Conflicts tells whether calls of the plan write over each other in no fixed
// order, so that the time at which they end decides what stands.
func (r *Rehearsal) Conflicts() bool { return r.conflict }

// A Schedule says in which order activities end, and how: enough to rehearse a
// run exactly. Activities that it doesn't name fail, after all that it names.
type Schedule struct {
	Events []ScheduledEnd `json:"events"`
}

// A ScheduledEnd is the end of one call's activity.
type ScheduledEnd struct {
	Call   string `json:"call"`            // the call's name (S3.2)
	Output any    `json:"output"`          // its result; null for one that fails
	Path   string `json:"path,omitempty"`  // the alternative that it takes; "" leaves it to S5.2
	Fails  bool   `json:"fails,omitempty"` // it ends badly
}

// ends is how the activity of a call ends in a branch: the alternative that it
// takes, -1 for the one that S5.2 chooses, and whether it fails.
type ends func(call int) (alternative int, fails bool)

// conflictSchedules are two orders of the same work that end in different
// states: everything that the two calls depend on, then one before the other,
// and nothing after them. They are nil where the results can't be made to
// differ.
func (p *Pass) conflictSchedules(u *compiler.Unordered, how ends) []Schedule {
	results := [2]ScheduledEnd{}
	for i, call := range []int{u.A, u.B} {
		results[i] = p.scheduled(call, how, uint64(i))
	}
	a, b := p.Plan.Calls[u.A], p.Plan.Calls[u.B]
	for seed := uint64(2); a.Method == compiler.Set && b.Method == compiler.Set && reflect.DeepEqual(results[0].Output, results[1].Output); seed++ {
		if seed == 20 {
			return nil
		}
		results[1] = p.scheduled(u.B, how, seed)
	}
	var before []ScheduledEnd
	for _, call := range p.needs(u.A, u.B) {
		before = append(before, p.scheduled(int(call), how, 0))
	}
	return []Schedule{
		{append(slices.Clone(before), results[0], results[1])},
		{append(slices.Clone(before), results[1], results[0])},
	}
}

// needs are the calls that two calls depend on, directly or not, in the order
// in which they may run.
func (p *Pass) needs(a, b int) []int32 {
	seen := make([]bool, len(p.Plan.Calls))
	queue := []int32{int32(a), int32(b)}
	var needed []int32
	for len(queue) > 0 {
		next := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for _, d := range p.Plan.Graph.Deps(int(next)) {
			if !seen[d] {
				seen[d] = true
				needed = append(needed, d)
				queue = append(queue, d)
			}
		}
	}
	slices.SortFunc(needed, func(x, y int32) int { return p.Plan.Graph.Rank(int(x)) - p.Plan.Graph.Rank(int(y)) })
	return needed
}

// scheduled is the end of a call's activity in a branch, with a result that its
// tool may give.
func (p *Pass) scheduled(index int, how ends, seed uint64) ScheduledEnd {
	call := p.Plan.Calls[index]
	alternative, fails := how(index)
	end := ScheduledEnd{Call: call.Name, Fails: fails}
	if fails {
		return end
	}
	if alternative > 0 || alternative == 0 && len(call.Output) > 1 {
		end.Path = p.Plan.Offered(call)[alternative]
	}
	end.Output = p.madeUp(call, seed)
	return end
}

// madeUp is a result for a call: what its tool and the state schema accept, as
// far as they are known, and otherwise a text that tells who gave it.
func (p *Pass) madeUp(call *compiler.Call, seed uint64) any {
	var known []*schema.Schema
	if call.Tool != nil && call.Tool.Output != nil {
		known = append(known, call.Tool.Output)
	}
	if p.Plan.StateSchema != nil && call.Method == compiler.Set {
		for _, route := range call.Output[:min(1, len(call.Output))] {
			for _, path := range route {
				if p.Plan.Paths.Kind(path.ID) == "state" {
					if at := p.Plan.StateSchema.At(compiler.SchemaPath(p.Plan.Paths.Segments(path.ID)[1:])); at.Schema != nil {
						known = append(known, at.Schema)
					}
				}
			}
		}
	}
	if call.Produced != nil {
		return call.Produced.Value()
	}
	if len(known) > 0 {
		if value, ok := schema.AllOf(known...).Sample(rand.New(rand.NewPCG(seed, 401))); ok {
			return value
		}
	}
	text := "from " + call.Name
	switch call.Method {
	case compiler.Concat:
		return []any{text}
	case compiler.Merge, compiler.Assign:
		return map[string]any{"by": text}
	}
	return text
}
