package simulate

import (
	"cmp"
	"math"
	"reflect"
	"slices"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// An Unreached is what came out so in no combination: one of a plan's conditions, or several
// together, or a call that never ran.
type Unreached struct {
	Call   string                  // "" for conditions
	Branch []analyzer.BranchChoice // how they didn't come out
	Proven bool                    // nothing lets it be so; else no values were found that do

	aim []want
}

// idle notes what wasn't reached. What isn't proven to be out of reach may be in it, and
// then not all was played that can be reached.
func (x *explorer) idle() {
	if s := x.steering; s != nil {
		x.out.Unreached, x.out.Vague = s.unreached(), s.vague || x.plan.Targeted() // of an instance's own calls conditions aren't followed
	}
	x.out.Vague = x.out.Vague || x.crowded
	for _, u := range x.doubts {
		if !slices.ContainsFunc(x.out.Unreached, func(known Unreached) bool { return reflect.DeepEqual(known.Branch, u.Branch) }) {
			x.out.Unreached = append(x.out.Unreached, u)
		}
	}
	certain := !x.out.Vague && !slices.ContainsFunc(x.out.Unreached, func(u Unreached) bool { return !u.Proven })
	dead := map[int32]bool{}
	var proofs *analyzer.Proofs
	for _, i := range x.plan.Graph.Order() {
		call := x.plan.Calls[i]
		if dead[i] = x.o.toldToFail(call, ""); !x.started[i] && x.out.Varied && certain && len(dead) < mostProven {
			if proofs == nil {
				of := analyzer.ProofsOf(x.plan)
				proofs = &of
			}
			if dead[i] = x.lacks(call, dead) || proofs.Dead(call); !dead[i] {
				x.out.Unreached = append(x.out.Unreached, Unreached{Call: call.Name})
			}
		}
	}
	for i, started := range x.started {
		if !started {
			x.out.Idle = append(x.out.Idle, x.plan.Calls[i].Name)
		}
	}
	x.out.Complete = x.out.Varied && !x.out.Vague && !slices.ContainsFunc(x.out.Unreached, func(u Unreached) bool { return !u.Proven })
}

// lacks reports whether a call can't run since its condition is proven never to hold, or for
// want of calls that can't.
func (x *explorer) lacks(call *compiler.Call, dead map[int32]bool) bool {
	never := func(u Unreached) bool {
		return len(u.aim) == 1 && u.aim[0].way == 0 && x.steering.sites[siteKey{"", call.When, -1}] == u.aim[0].of
	}
	return slices.ContainsFunc(x.out.Unreached, never) ||
		slices.ContainsFunc(call.After, func(a compiler.After) bool { return !a.Settled && dead[int32(a.Call)] }) ||
		slices.ContainsFunc(call.Reads, func(r int) bool {
			read := &x.plan.Reads[r]
			return read.Ref.Required && !read.Start && len(read.Writers) > 0 && !slices.ContainsFunc(read.Writers, func(w int32) bool { return !dead[w] })
		})
}

// mostProven bounds the calls of which it is asked whether they can run at all.
const mostProven = 50

// sees notes how sites came out in a rehearsal that is one of the combinations of options.
func (s *steering) sees(c *course) {
	row := make([]uint8, len(s.told))
	for i, one := range s.told {
		if m := c.marks[one]; m != nil {
			for way, far := range m.far {
				if far == 0 {
					row[i] |= 1 << way
				}
			}
		}
	}
	s.rows[string(row)] = row
}

// has reports whether sites came out so together in some combination.
func (s *steering) has(aim []want) bool {
	for _, row := range s.rows {
		if !slices.ContainsFunc(aim, func(w want) bool {
			at := slices.Index(s.told, w.of)
			return at < 0 || row[at]&(1<<w.way) == 0 && (len(aim) == 1 || row[at] != 0)
		}) {
			return true
		}
	}
	return false
}

// unreached is what came out so in no combination, of what is known to be decided at all.
func (s *steering) unreached() (all []Unreached) {
	for _, m := range s.missed {
		if s.has(m.aim) || m.Proven && len(m.aim) > 1 || len(m.aim) == 1 && !s.came(m.aim[0].of) {
			continue
		}
		for _, w := range m.aim {
			m.Branch = append(m.Branch, w.of.ways[w.way])
		}
		all = append(all, m)
	}
	return all
}

// came reports whether a site came out in any way.
func (s *steering) came(one *site) bool {
	at := slices.Index(s.told, one)
	for _, row := range s.rows {
		if row[at] != 0 {
			return true
		}
	}
	return false
}

// excluded reports whether it is proven that sites don't come out so.
func (s *steering) excluded(aim []want) bool {
	var calls []*compiler.Call
	var hold []bool
	for _, w := range aim {
		if w.of.call != nil && w.of.plan == aim[0].of.plan {
			calls, hold = append(calls, w.of.call), append(hold, w.way == 0)
		}
	}
	if len(calls) == 0 {
		return false
	}
	p := aim[0].of.plan
	if _, known := s.proofs[p]; !known {
		s.proofs[p] = analyzer.ProofsOf(p)
	}
	return s.proofs[p].Excluded(calls, hold)
}

// exhausted reports whether sites don't come out so with any of the few values that what
// they hang on may have.
func (s *steering) exhausted(aim []want) bool {
	base := s.nearest(aim)
	if base == nil {
		return false
	}
	type varied struct {
		of     *ending
		steps  []expression.Segment
		values []any
	}
	var all []varied
	ways, known := 1, map[string]bool{}
	for _, e := range s.endings(base.course, aim) {
		known[e.path] = true
		if f := s.forks[e.path]; f != nil && len(f.endings) > 1 && f.endings[1].fails == "" {
			return false
		}
		e.leaves(base.results[e], func(steps []expression.Segment, now any) {
			values := e.few(steps, now)
			if ways *= len(values); ways > mostAttempts {
				ways = 0
			}
			all = append(all, varied{e, steps, values})
		})
	}
	if slices.ContainsFunc(aim, func(w want) bool {
		return slices.ContainsFunc(sortedKeys(w.of.sources), func(path string) bool { return !known[path] })
	}) {
		return false
	}
	for n := range ways {
		set, rest := slices.Clone(base.set), n
		for _, v := range all {
			at := slices.IndexFunc(set, func(p planting) bool { return p.of == v.of })
			if at < 0 {
				at, set = len(set), append(set, planting{v.of, base.results[v.of]})
			}
			set[at].value = planted(set[at].value, v.steps, v.values[rest%len(v.values)])
			rest /= len(v.values)
		}
		if slices.ContainsFunc(set, func(p planting) bool { return !p.of.accepts(p.value) }) {
			return false // a part hangs on another, as in a union: there may be values of other parts
		}
		if !s.affords() || s.try(base.told, set).far(aim) == 0 {
			return false
		}
	}
	return ways > 0
}

// few are all values that a part of a result may have; none where there are many.
func (e *ending) few(steps []expression.Segment, now any) (all []any) {
	place := schema.Place{}
	if e.schema != nil {
		place = e.schema.At(compiler.SchemaPath(steps))
	}
	if place.Schema == nil || len(steps) > 0 && e.accepts(planted(e.value, steps, missing)) {
		return nil
	}
	marks := place.Schema.Landmarks()
	kinds := place.Schema.Kinds()
	switch {
	case kinds == schema.Boolean:
		return []any{true, false}
	case kinds&^schema.Number == 0 && len(marks.Numbers) > 0 && (kinds&schema.Fraction == 0 || marks.Step > 0):
		step := cmp.Or(marks.Step, 1)
		low, high := slices.Min(marks.Numbers), slices.Max(marks.Numbers)
		first, last := math.Ceil(low/step), math.Floor(high/step)
		if last-first > mostAttempts || place.Schema.Accepts((first-1)*step) || place.Schema.Accepts((last+1)*step) {
			return nil
		}
		for n := first; n <= last; n++ {
			all = append(all, n*step)
		}
	case len(marks.Listed) > 0:
		listed := schema.New(map[string]any{"enum": marks.Listed}, schema.Options{})
		if _, other, known := schema.Inhabit([]*schema.Schema{place.Schema}, []*schema.Schema{listed}, schema.Budget{}); known && !other {
			return slices.DeleteFunc(marks.Listed, func(v any) bool { return !place.Schema.Accepts(v) })
		}
	}
	return all
}
