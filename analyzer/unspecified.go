package analyzer

import (
	"errors"
	"slices"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/analyzer/rules"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// A value is unspecified if the plan describes too little of it: a tool without "_output", an object
// that may hold other keys. Sample runs pass such values on, and report nothing that depends on them.

// A describedKey is a question that [sampler.speaks] has answered.
type describedKey struct {
	schema *schema.Schema
	path   string
	strict bool
}

// isUnspecified reports whether nothing can be concluded from the value of a read.
func (w *trial) isUnspecified(r *plan.Read, strict bool) bool {
	p := w.pass
	switch {
	case compiler.ReadsItem(p.Plan, r):
		return w.isUnspecifiedItem(r, strict)
	case r.Path == pathtree.Root || p.Plan.Paths.Depth(r.Path) < 2:
		return true
	}
	switch p.Plan.Paths.Kind(r.Path) {
	case "input":
		if w.fromCall {
			return false
		}
		if p.Plan.InputSchema != nil {
			return !w.speaksHere(p.Plan.InputSchema, plan.Read{Path: r.Path}, p.Plan.Paths.Depth(r.Path)-1, strict)
		}
		value, there := w.log.Initial(r.Path)
		return !there || value == nil || value == "" // a blank to be filled in
	case "state", "data":
		if path := p.Plan.Paths.Segments(r.Path); path[0].Key == "state" && w.initial[path[1].Key] {
			return !w.speaksHere(p.Plan.StateSchema, plan.Read{Path: r.Path}, len(path)-1, strict)
		}
	default:
		return true
	}
	for _, i := range r.Writers {
		if end := &w.ended[i]; end.blank || end.unspecified && w.unspecifiedFor(p.Plan.Calls[i], r.Path, strict) {
			return true
		}
	}
	return false
}

// unspecifiedFor reports whether a read of a call's result sees undescribed values.
func (w *trial) unspecifiedFor(call *plan.Call, read pathtree.ID, strict bool) bool {
	if call.Tool == nil || call.Tool.Output == nil || call.Each != nil && w.pass.Flow.Listing(call).Uncounted {
		return true
	}
	paths := w.pass.Plan.Paths
	for _, path := range call.Paths() {
		if !paths.Overlap(path.ID, read) {
			continue
		}
		complete := call.Method != plan.Set || !paths.IsAbove(path.ID, read)
		if complete && !w.speaks(call.Tool.Output, nil, strict) ||
			!complete && !w.speaksHere(call.Tool.Output, plan.Read{Path: read, Writers: []int32{int32(call.Index)}}, paths.Depth(read)-paths.Depth(path.ID), strict) {
			return true
		}
	}
	return false
}

// speaksHere is speaks of what lies so many steps below what a schema describes, with the value
// that stands there: of the variants of a union those count that it is of.
func (w *trial) speaksHere(s *schema.Schema, r plan.Read, below int, strict bool) bool {
	paths := w.pass.Plan.Paths
	rest := paths.Segments(r.Path)[paths.Depth(r.Path)-below:]
	if w.speaks(s, rest, strict) {
		return true
	}
	for range below {
		r.Path = paths.Parent(r.Path)
	}
	value, presence := w.read(&r)
	return presence == expression.There && isDescribedIn(s, value, compiler.SchemaPath(rest), strict)
}

// speaks reports whether a schema says of a part, and of all parts below it, what may
// stand there; strictly, if an object's keys are to be named as well.
func (t *sampler) speaks(s *schema.Schema, path []expression.Segment, strict bool) bool {
	return flow.Once(t.described, describedKey{s, expression.Reference{Path: path}.String(), strict}, func() bool {
		at := s.At(compiler.SchemaPath(path))
		return !at.Possible || isDescribed(at.Schema, strict, 4)
	})
}

// isDescribedIn is isDescribed for a part of a value; of the variants of a union only those of the value count.
func isDescribedIn(s *schema.Schema, value any, path []schema.Step, strict bool) bool {
	const steps, parts = 40, 5_000 // at most
	if len(path) >= steps {
		return false
	}
	left := parts
	at := s.AtIn(value, path)
	return at.Possible && arePartsDescribed(at.Schema, flow.ValueAt(value, path), strict, &left)
}

func arePartsDescribed(s *schema.Schema, value any, strict bool, left *int) bool {
	if *left--; s == nil || *left < 0 || s.Kinds()&^schema.Null == schema.Anything&^schema.Null {
		return false
	}
	part := func(step schema.Step, of any) bool {
		at := s.AtIn(value, []schema.Step{step})
		return at.Possible && arePartsDescribed(at.Schema, of, strict, left)
	}
	switch value := value.(type) {
	case []any:
		for i, item := range value {
			if !part(schema.Index(i), item) {
				return false
			}
		}
	case map[string]any:
		if strict && len(s.Properties()) == 0 && !areOthersDescribed(s, 4) {
			return false
		}
		for _, name := range analysis.SortedKeys(value) {
			if !part(schema.Key(name), value[name]) {
				return false
			}
		}
	}
	return true
}

// isDescribed is speaks of a whole schema, so many levels deep: what is below isn't described, as schemas may contain
// themselves.
func isDescribed(s *schema.Schema, strict bool, depth int) bool {
	if s == nil || depth == 0 || s.Kinds()&^schema.Null == schema.Anything&^schema.Null {
		return false
	}
	if s.Kinds()&schema.Array != 0 {
		if at := s.At([]schema.Step{schema.Index(0)}); at.Possible && !isDescribed(at.Schema, strict, depth-1) {
			return false
		}
	}
	if s.Kinds()&schema.Object != 0 {
		names := s.Properties()
		if strict && len(names) == 0 && !areOthersDescribed(s, depth-1) {
			return false
		}
		for _, name := range names {
			if at := s.At([]schema.Step{schema.Key(name)}); at.Possible && !isDescribed(at.Schema, strict, depth-1) {
				return false
			}
		}
	}
	return true
}

// areOthersDescribed reports whether a schema describes the values of keys that it doesn't name, or allows none.
func areOthersDescribed(s *schema.Schema, depth int) bool {
	at := s.At([]schema.Step{schema.Key("\x00")}) // a name that no schema has
	return !at.Possible || isDescribed(at.Schema, true, depth)
}

// isBlank reports whether a read has no generated value.
func (w *trial) isBlank(r *plan.Read) bool {
	return slices.ContainsFunc(r.Writers, func(i int32) bool { return w.ended[i].blank })
}

// saysOf reports whether a tool with undescribed results describes enough for a failed write by
// "assign", "merge" or "concat": the kind of its results, or the refused part.
func (w *trial) saysOf(call *plan.Call, value, written any, path plan.Path, err error) bool {
	tool := call.Single()
	if tool == nil || tool.Output == nil || call.Each != nil {
		return false
	}
	if !errors.Is(err, errNoRoom) {
		return tool.Output.Kinds() != schema.Anything && schema.KindOf(value)&rules.PatchKinds[call.Method] == 0
	}
	return (call.Method == plan.Assign || call.Method == plan.Merge) && !flow.IsUndescribed(tool.Output, w.pass.Flow.StateAt(path.ID).Schema, written)
}
