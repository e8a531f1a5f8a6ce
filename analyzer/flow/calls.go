package flow

import (
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// MaxWriters bounds how many writers of one read are looked at for its type; of
// a value with more nothing is concluded.
const MaxWriters = 16

// fromCalls is what may be at a read that calls write for.
func (f *Facts) fromCalls(r *plan.Read) (variants []Variant) {
	if len(r.Writers) > MaxWriters {
		return unknown()
	}
	all := compiler.Origins(f.Plan, r)
	seen := all
	if len(all) > 1 {
		seen = slices.DeleteFunc(slices.Clone(all), func(o compiler.Origin) bool {
			return slices.ContainsFunc(all, func(later compiler.Origin) bool { return f.covers(later, o) })
		})
	}
	sets := func(o compiler.Origin) bool { return !o.Below && f.always(o) }
	if f.holdsInitially(r) && !slices.ContainsFunc(seen, sets) {
		first := f.Initial(r.Path)
		first.Rare = true
		variants = append(variants, first)
	}
	if slices.ContainsFunc(seen, func(o compiler.Origin) bool { return o.Below || o.Call.Method != plan.Set }) {
		return append(variants, f.composed(r, seen, variants))
	}
	for _, o := range seen {
		variants = f.results(variants, r, o)
	}
	if len(variants) == 0 {
		return unknown() // nothing can be there, which other rules report
	}
	return variants
}

// covers reports whether a read that sees one write never sees another: a later
// call that waits for it sets the whole of what is read, whenever the earlier
// one runs.
func (f *Facts) covers(later, earlier compiler.Origin) bool {
	if later.Call == earlier.Call || later.Below || !Sets(later.Call) || f.Plan.Writes == plan.Once {
		return false
	}
	return Waits(later.Call, earlier.Call) && f.AlwaysWith(later.Call, earlier.Call)
}

// always reports whether a write happens in every run in which nothing fails.
func (f *Facts) always(o compiler.Origin) bool { return Sets(o.Call) && f.Certain(o.Call) }

// Sets reports whether a call's result, if it has one, is set at known paths.
func Sets(c *plan.Call) bool {
	return len(c.Output) == 1 && c.Method == plan.Set && compiler.Condition(c) == nil
}

// Waits reports whether a call writes after another, on which it depends.
func Waits(call, other *plan.Call) bool {
	_, waits := slices.BinarySearch(call.Waits, int32(other.Index))
	return waits
}

// results adds what comes from one write that sets what is read, or something above it.
func (f *Facts) results(variants []Variant, r *plan.Read, o compiler.Origin) []Variant {
	declared := f.StateAt(r.Path).Schema
	add := func(s *schema.Schema, failure bool) *Variant {
		v := Variant{Schema: f.Meet(s, declared), Rare: o.Failure, From: o}
		v.From.Failure = failure
		if o.Call.Each != nil {
			list := f.Listing(o.Call)
			v.Uncounted, v.Uncertain = len(o.Rest) == 0 && list.Uncounted, list.Uncertain
		}
		variants = append(variants, v)
		return &variants[len(variants)-1]
	}
	if o.Failure {
		if at := compiler.FailureRecord.At(o.Rest); at.Possible {
			add(at.Schema, true)
		}
	}
	switch {
	case o.Call.Produced != nil:
		if value, ok := pathtree.Walk(o.Call.Produced.Value(), o.Rest); ok {
			add(schema.Const(value), false)
		}
	case o.Call.Tool == nil || o.Call.Tool.Output == nil:
		add(nil, false)
	default:
		if at := f.At(f.Gives(o.Call), o.Rest); at.Possible {
			add(at.Schema, false)
		}
	}
	return variants
}

// composed is what several writes make together: parts written below what is read, values merged, or pushed onto a
// list. What the state schema says of it is known, or else its kind.
func (f *Facts) composed(r *plan.Read, seen []compiler.Origin, base []Variant) Variant {
	v := Variant{Schema: f.StateAt(r.Path).Schema, Wide: true}
	if v.Schema != nil {
		v.Uncertain = !f.required(r) && slices.ContainsFunc(seen, func(o compiler.Origin) bool { return o.Below })
	} else if kind := f.collected(r, seen, base); kind == schema.Array || kind == schema.Object {
		v.Schema, v.Parts = schema.OfKinds(kind), seen
	}
	return v
}

// BaseKinds are what methods that don't set are applied to.
var BaseKinds = map[plan.Method]schema.Kinds{
	plan.Merge: schema.Object, plan.Assign: schema.Object, plan.Push: schema.Array, plan.Concat: schema.Array,
}

// collected is the kind of all that several writes and what is there before may leave at a read.
func (f *Facts) collected(r *plan.Read, seen []compiler.Origin, base []Variant) (kinds schema.Kinds) {
	for _, v := range base {
		kinds |= v.Schema.Kinds()
	}
	for _, o := range seen {
		switch {
		case o.Failure || len(o.Rest) > 0:
			return schema.Anything
		case o.Below:
			if f.Plan.Paths.Segments(o.Path.ID)[f.Plan.Paths.Depth(r.Path)].IsIndex {
				return schema.Anything
			}
			kinds |= schema.Object
		case o.Call.Method == plan.Push:
			kinds |= schema.Array
		default:
			kinds |= f.Gives(o.Call).Kinds() | BaseKinds[o.Call.Method]
		}
	}
	return kinds
}
