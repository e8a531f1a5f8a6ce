package analyzer

import (
	"maps"
	"slices"

	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// What trials begin with, and at what the values that they make up are aimed: bounds of
// what takes them are passed, or not reached, only by values of such a size.

// Aims are numbers, and sizes, at which something may change.
type aims []float64

// atBounds adds those of a schema, and what lies next to them and beyond.
func (a *aims) atBounds(s *schema.Schema) {
	for _, bound := range s.Bounds() {
		a.add(bound+1, bound, bound-1, 2*bound+2)
	}
}

// atConstants adds the numbers among constants.
func (a *aims) atConstants(all []any) {
	for _, v := range all {
		if v, ok := v.(float64); ok {
			a.add(v)
		}
	}
}

func (a *aims) add(all ...float64) {
	for _, v := range all {
		if len(*a) < maxLandmarks && !slices.Contains(*a, v) {
			*a = append(*a, v)
		}
	}
}

// aimAtTakers collects at which numbers and sizes something may change: what takes values
// has bounds, conditions compare with constants.
func (t *trier) aimAtTakers(output bool) {
	p := t.pass
	seen := map[*schema.Schema]bool{nil: true}
	take := func(s *schema.Schema) {
		if !seen[s] && len(t.aims) < maxLandmarks {
			seen[s] = true
			t.aims.atBounds(s)
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
		for k := range call.Params.Fields {
			if f := &call.Params.Fields[k]; f.Value.Live() {
				for _, taker := range p.takers(call) {
					take(taker.place(f.Key).Schema)
				}
			}
		}
		for _, path := range call.Paths() {
			take(p.stateAt(path.ID).Schema)
		}
	}
	t.aims.atConstants(t.literals)
}

// findBrought finds what of the state is read and never written, so that it comes with a
// run if it comes at all.
func (t *trier) findBrought() {
	p := t.pass
	if p.Plan.StateSchema == nil || t.depth > 0 {
		return
	}
	key := func(id pathtree.ID) (key string, ok bool) {
		path := p.Plan.Paths.Segments(id)
		if ok = len(path) > 0 && path[0].Key == "state"; ok && len(path) > 1 {
			key = path[1].Key
		}
		return key, ok
	}
	t.brought = map[string]bool{}
	for i := range p.Plan.Reads {
		if r := &p.Plan.Reads[i]; len(r.Writers) == 0 {
			if k, ok := key(r.Path); ok && k != "" {
				t.brought[k] = true
			}
		}
	}
	for _, call := range p.Plan.Calls {
		for _, path := range call.Paths() {
			switch k, ok := key(path.ID); {
			case ok && k == "":
				clear(t.brought)
			case ok:
				delete(t.brought, k)
			}
		}
	}
}

// state is the state that a trial begins with: the document's own, and at times another
// where no call writes.
func (w *trial) state(own any) any {
	if len(w.brought) == 0 {
		return orEmpty(own)
	}
	state, _ := w.begin(own, w.pass.Plan.StateSchema, w.brought)
	return state
}

// begin lays values that a schema accepts, of some keys or of all, over what the document
// gives, as a run does: at times, and always where it doesn't begin with the latter alone. It
// reports whether there was room to make them; otherwise the schema may refuse what is there.
func (w *trial) begin(own any, s *schema.Schema, of map[string]bool) (value any, ok bool) {
	if s == nil || own != nil && w.random.IntN(2) != 0 && s.Accepts(own) {
		return orEmpty(own), true
	}
	v, ok := w.guess.sample(s, true)
	if !ok {
		return orEmpty(own), false
	}
	given, _ := own.(map[string]any)
	over, isObject := v.(map[string]any)
	if !isObject {
		return v, true
	}
	whole := maps.Clone(given)
	if whole == nil {
		whole = map[string]any{}
	}
	for key, value := range over {
		if of == nil || of[key] {
			whole[key] = value
		}
	}
	return whole, true
}
