package analyzer

import (
	"maps"
	"slices"

	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/runtime/state"
)

// Sample runs begin with generated input and state. Generated numbers and sizes are near the bounds of
// the schemas and conditions that receive them.

// boundaryValues are numbers, sizes and texts at which a schema or condition may change its answer.
type boundaryValues []any

// atBounds adds those of a schema, and what lies next to them and beyond.
func (a *boundaryValues) atBounds(s *schema.Schema) {
	for _, bound := range s.Bounds() {
		a.add(bound+1, bound, bound-1, 2*bound+2)
	}
}

// atConstants adds the texts of an expression, its numbers and their neighbours, and a count that isn't accepted.
func (a *boundaryValues) atConstants(e *expression.Expr) {
	for n := range e.Root().All() {
		if n.Name == "repeat" || n.Name == "take" {
			a.add(-1.0)
		}
		switch v := n.Value.(type) {
		case float64:
			a.add(v, v-1, v+1)
		case string:
			a.add(v)
		}
	}
}

func (a *boundaryValues) add(all ...any) {
	for _, v := range all {
		if len(*a) < maxLandmarks && !slices.Contains(*a, v) {
			*a = append(*a, v)
		}
	}
}

// findBoundaries collects the bounds of the schemas that receive values.
func (t *sampler) findBoundaries(output bool) {
	p := t.pass
	seen := map[*schema.Schema]bool{nil: true}
	take := func(s *schema.Schema) {
		if !seen[s] && len(t.boundaries) < maxLandmarks {
			seen[s] = true
			t.boundaries.atBounds(s)
		}
	}
	if output {
		take(p.Plan.OutputSchema)
	}
	for _, i := range t.calls {
		call := p.Plan.Calls[i]
		if !t.asked[i] {
			continue
		}
		for _, f := range call.Params.Fields {
			if f.Value.Live() {
				for _, taker := range takers(p, call) {
					take(taker.place(f.Key).Schema)
				}
			}
		}
		for _, path := range call.Paths() {
			take(p.flow.StateAt(path.ID).Schema)
		}
	}
}

// findInitialState collects the keys of the state that calls read and no call writes.
func (t *sampler) findInitialState() {
	t.initial = map[string]bool{}
	for i := range t.pass.Plan.Reads {
		path := t.pass.Plan.Paths.Segments(t.pass.Plan.Reads[i].Path)
		if len(path) < 2 || path[0].Key != "state" || t.pass.Plan.StateSchema == nil || t.depth > 0 {
			continue
		}
		if id, ok := lookup(t.pass, path[:2]); ok && len(t.pass.Plan.Writers(id)) == 0 {
			t.initial[path[1].Key] = true
		}
	}
}

// begin lays values that a schema accepts, of some keys or of all, over what the document
// gives, as a run does: at times, and always where it doesn't begin with the latter alone. It
// reports whether there was room to make them; otherwise the schema may refuse what is there.
func (w *trial) begin(own any, s *schema.Schema, keys map[string]bool) (value any, ok bool) {
	if s == nil || own != nil && w.random.IntN(2) != 0 && s.Accepts(own) {
		return orEmpty(own), true
	}
	v, ok := w.generator.sample(s, true)
	if !ok {
		return orEmpty(own), false
	}
	over, isObject := v.(map[string]any)
	if !isObject {
		return v, true
	}
	over = maps.Clone(over)
	maps.DeleteFunc(over, func(key string, _ any) bool { return keys != nil && !keys[key] })
	return state.Over(own, over), true
}
