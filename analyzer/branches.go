package analyzer

import (
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/expression"
)

// A branch is a set of alternatives of one call's output: bit i is alternative
// i, and bit 63 stands for all from there on.
type branch struct {
	call         int32
	alternatives uint64
}

// Conditions are what a call hangs on: it can run only when every one of the
// branches is taken.
type conditions struct {
	branches []branch // ascending by call
	when     bool     // a _when decides, of the call or of one that it needs
	unsure   bool     // there is more than is kept
}

// maxConditions bounds what is kept of one call.
const maxConditions = 32

// conditions works out for every call what it hangs on, directly or through the
// calls whose results it can't do without (S6.5). It looks at references only:
// what else could keep two calls from both running is left to others.
func (p *Pass) conditions() []conditions {
	if p.hanging != nil {
		return p.hanging
	}
	plan := p.Plan
	all := make([]conditions, len(plan.Calls))
	byCall := make([][]*compiler.Template, len(plan.Calls))
	p.expressions(func(call *compiler.Call, t *compiler.Template) {
		if call != nil {
			byCall[call.Index] = append(byCall[call.Index], t)
		}
	})
	for _, i := range plan.Graph.Order() {
		c := &all[i]
		c.when = plan.Calls[i].When != nil
		for _, t := range byCall[i] {
			c.needs(p, t, all)
		}
	}
	p.hanging = all
	return all
}

// needs adds what an expression hangs on: each of its required references; or,
// where none is, what all of its operands have in common.
func (c *conditions) needs(p *Pass, t *compiler.Template, all []conditions) {
	required := false
	for _, r := range t.Reads {
		if read := &p.Plan.Reads[r]; read.Ref.Required {
			required = true
			c.and(p.hangs(all, read))
		}
	}
	if required || len(t.Reads) == 0 || !diesWithout(t) {
		return
	}
	reads := make([]*compiler.Read, len(t.Reads))
	for i, r := range t.Reads {
		reads[i] = &p.Plan.Reads[r]
	}
	c.and(p.hangs(all, reads...))
}

// diesWithout tells whether an expression has no value when none of its
// references has one.
func diesWithout(t *compiler.Template) bool {
	_, presence, err := t.Expr.Eval(func(int) (any, expression.Presence) { return nil, expression.Absent })
	return err == nil && presence == expression.Absent
}

// hangs is what at least one of several reads needs to have a value: for each
// writer the alternatives that write where it looks, and what the writer itself
// hangs on; of all writers what they have in common.
func (p *Pass) hangs(all []conditions, reads ...*compiler.Read) conditions {
	var common conditions
	first := true
	for _, r := range reads {
		if r.Start || len(r.Writers) == 0 {
			return conditions{}
		}
		for n, w := range r.Writers {
			if n == 8 {
				return conditions{unsure: true}
			}
			one := conditions{when: all[w].when, unsure: all[w].unsure, branches: slices.Clone(all[w].branches)}
			if own, some := p.alternatives(int(w), r.Path); some {
				one.and(conditions{branches: []branch{own}})
			}
			if first {
				common, first = one, false
			} else {
				common.or(one)
			}
		}
	}
	return common
}

// alternatives are those of a call's output that write where a read looks; some
// is false when they all do.
func (p *Pass) alternatives(call int, id compiler.PathID) (b branch, some bool) {
	b.call = int32(call)
	for i, route := range p.Plan.Calls[call].Output {
		overlaps := slices.ContainsFunc(route, func(path compiler.Path) bool { return p.Plan.Paths.Overlap(path.ID, id) })
		if overlaps {
			b.alternatives |= 1 << min(i, 63)
		}
		some = some || !overlaps
	}
	return b, some
}

// and adds conditions that must hold as well.
func (c *conditions) and(other conditions) {
	c.when = c.when || other.when
	c.unsure = c.unsure || other.unsure
	for _, b := range other.branches {
		at, found := slices.BinarySearchFunc(c.branches, b, func(a, b branch) int { return int(a.call - b.call) })
		switch {
		case found:
			c.branches[at].alternatives &= b.alternatives
		case len(c.branches) < maxConditions:
			c.branches = slices.Insert(c.branches, at, b)
		default:
			c.unsure = true
		}
	}
}

// or keeps what holds either way.
func (c *conditions) or(other conditions) {
	c.when = c.when && other.when
	c.unsure = c.unsure || other.unsure
	c.branches = slices.DeleteFunc(c.branches, func(b branch) bool {
		_, found := slices.BinarySearchFunc(other.branches, b, func(a, b branch) int { return int(a.call - b.call) })
		return !found
	})
	for i, b := range c.branches {
		at, _ := slices.BinarySearchFunc(other.branches, b, func(a, b branch) int { return int(a.call - b.call) })
		c.branches[i].alternatives |= other.branches[at].alternatives
	}
}

// mayExclude tells whether two calls might never both run: they hang on
// different alternatives of one output, or on conditions that nobody judges yet.
func mayExclude(a, b *conditions) bool {
	if a.unsure || b.unsure || a.when && b.when {
		return true
	}
	for _, x := range a.branches {
		at, found := slices.BinarySearchFunc(b.branches, x, func(a, b branch) int { return int(a.call - b.call) })
		if found && x.alternatives&b.branches[at].alternatives == 0 {
			return true
		}
	}
	return false
}
