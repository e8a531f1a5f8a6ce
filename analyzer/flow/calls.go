package flow

import (
	"maps"
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/expression"
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

// composed is what several writes make together: parts written below what is
// read, values pushed onto a list. Where that isn't modelled the state schema
// still holds.
func (f *Facts) composed(r *plan.Read, seen []compiler.Origin, base []Variant) Variant {
	declared := f.StateAt(r.Path).Schema
	below := func(o compiler.Origin) bool { return o.Below }
	inParts := declared != nil && slices.ContainsFunc(seen, below)
	rest := Variant{Schema: declared, Wide: true, Uncertain: inParts && !f.required(r)}
	if kinds := collected(seen, base); declared == nil && kinds != 0 {
		rest.Schema, rest.Parts = schema.OfKinds(kinds), seen
	}
	if len(base) > 0 || len(seen) == 0 || slices.ContainsFunc(seen, func(o compiler.Origin) bool { return o.Failure }) {
		return rest
	}
	var made Variant
	ok := false
	switch {
	case !slices.ContainsFunc(seen, func(o compiler.Origin) bool { return !o.Below || o.Call.Method != plan.Set }):
		made, ok = f.assembled(r, seen)
	case !slices.ContainsFunc(seen, func(o compiler.Origin) bool { return o.Below || o.Call.Method != plan.Push }):
		made, ok = f.pushed(seen)
	}
	if !ok {
		return rest
	}
	made.Schema = f.Meet(made.Schema, declared)
	made.Parts, made.Uncertain = seen, rest.Uncertain
	return made
}

// BaseKinds are what methods that don't set are applied to.
var BaseKinds = map[plan.Method]schema.Kinds{
	plan.Merge: schema.Object, plan.Assign: schema.Object, plan.Push: schema.Array, plan.Concat: schema.Array,
}

// collected is the certain kind of a value that is merged into objects or appended to lists; 0 if
// unknown.
func collected(seen []compiler.Origin, base []Variant) schema.Kinds {
	both := schema.Object | schema.Array
	for _, v := range base {
		if v.Schema == nil {
			return 0
		}
		both &= v.Schema.Kinds() // of several kinds none is sure
		if v.Schema.Kinds() != both {
			return 0
		}
	}
	for _, o := range seen {
		if o.Below || o.Failure || len(o.Rest) > 0 || o.Call.Tool == nil || o.Call.Tool.Output == nil {
			return 0
		}
		gives, kind := o.Call.Tool.Output.Kinds(), BaseKinds[o.Call.Method]
		if o.Call.Method == plan.Set {
			kind = gives
		}
		if both &= kind; o.Call.Method != plan.Push && gives != kind || both != schema.Array && both != schema.Object {
			return 0
		}
	}
	if both == schema.Object|schema.Array {
		return 0
	}
	return both
}

// assembled is the object that writes below a path make.
func (f *Facts) assembled(r *plan.Read, seen []compiler.Origin) (Variant, bool) {
	value := &assembly{}
	depth := f.Plan.Paths.Depth(r.Path)
	exact := true
	for _, o := range seen {
		at := value
		for _, s := range f.Plan.Paths.Segments(o.Path.ID)[depth:] {
			if s.IsIndex || at.schemas != nil {
				return Variant{}, false
			}
			if at.parts == nil {
				at.parts = map[string]*assembly{}
			}
			at = Once(at.parts, s.Key, func() *assembly { return &assembly{} })
		}
		if at.parts != nil {
			return Variant{}, false
		}
		at.schemas = append(at.schemas, f.Meet(f.Gives(o.Call), f.StateAt(o.Path.ID).Schema))
		at.sure = at.sure || f.always(o)
		exact = exact && len(at.schemas) == 1
	}
	s, sure := value.schema()
	return Variant{Schema: s, Wide: !exact || !sure}, true
}

// An assembly is an object that is written in parts, or a part of it.
type assembly struct {
	parts   map[string]*assembly
	schemas []*schema.Schema // of a part
	sure    bool             // written in every run
}

// schema is that of the assembled value, and whether all of its parts are there
// in every run.
func (a *assembly) schema() (*schema.Schema, bool) {
	if a.schemas != nil {
		return schema.AnyOf(a.schemas...), a.sure
	}
	parts := map[string]*schema.Schema{}
	var required []string
	for _, key := range slices.Sorted(maps.Keys(a.parts)) {
		s, sure := a.parts[key].schema()
		if parts[key] = s; sure {
			required = append(required, key)
		}
	}
	return schema.ObjectOf(parts, required), len(required) == len(parts)
}

// pushed is the list of what calls push onto nothing.
func (f *Facts) pushed(seen []compiler.Origin) (Variant, bool) {
	var items []*schema.Schema
	var rest []expression.Segment
	for i, o := range seen {
		if i > 0 && len(o.Rest) != len(rest) {
			return Variant{}, false
		}
		rest = o.Rest
		items = append(items, f.Gives(o.Call))
	}
	at := f.At(schema.ListOf(schema.AnyOf(items...), 1, len(seen)), rest)
	return Variant{Schema: at.Schema, Wide: len(seen) > 1}, at.Possible
}
