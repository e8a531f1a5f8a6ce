package flow

import (
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

// A Start is what is known of a plan without following its calls.
type Start struct {
	Plan   *plan.Plan
	Hidden diag.Facts // what errors of the compiler leave unknown
	// Lacks, of the plan of one of several instances, reports whether the input of others has something that its own
	// lacks. Such a call is skipped. It is nil for any other plan.
	Lacks func(path []expression.Segment) bool
}

// Unknown reports whether some of certain facts aren't known, because a part of the
// plan couldn't be understood.
func (s *Start) Unknown(facts diag.Facts) bool { return s.Hidden&facts != 0 }

// MayBeThere reports whether something may put a value where a read looks. It says yes where it can't know.
func (s *Start) MayBeThere(r *plan.Read) bool {
	if len(r.Writers) > 0 || r.Start || r.Path == pathtree.Root {
		return true
	}
	p := s.Plan
	path := p.Paths.Segments(r.Path)
	if len(path) == 1 {
		return true // all of a kind is always something
	}
	replan := p.Form == plan.Replan // a run knows what it has
	switch key := path[0].Key; key {
	case "input":
		if !replan && (s.Unknown(diag.Input) || p.Input == nil && p.InputSchema == nil) {
			return s.Unknown(diag.Input) || s.Lacks == nil || !s.Lacks(path[1:])
		}
		if !replan && p.InputSchema != nil {
			at := p.InputSchema.At(path[1:])
			if at.Named || at.Possible && (at.Silent || at.Open) {
				return true
			}
		}
		return s.Begins(key, path[1:])
	case "state":
		if s.Unknown(diag.Writes) || !replan && s.Unknown(diag.State) {
			return true
		}
		if !replan && p.StateSchema != nil {
			at := p.StateSchema.At(path[1:])
			if at.Named || !at.Possible || at.Open || at.Silent && at.Depth > 0 { // what isn't possible is OB204's
				return true
			}
		}
		return s.Begins(key, path[1:])
	case "data":
		return s.Unknown(diag.Writes) || s.Begins(key, path[1:]) ||
			!replan && (p.Data[path[1].Key] == nil && s.IsKind(path[1].Key) || s.DescribesKind(path[1].Key))
	case "advice":
		return len(path) == 2 && !path[1].IsIndex && s.mayBeCalled(path[1].Key)
	}
	return true // errors come with a run
}

// NeverThere reports whether a read that an expression can do without is never there. Of one that it can't do
// without OB203 speaks, but in some instances only such a call is skipped.
func (s *Start) NeverThere(r *plan.Read) bool {
	if s.MayBeThere(r) {
		return false
	}
	kind := s.Plan.Paths.Kind(r.Path)
	return s.Lacks != nil && r.Ref.Required && s.Plan.Graph.Acyclic() ||
		!r.Ref.Required && (kind == "state" || kind == "data") && s.Plan.Form != plan.Solution
}

// mayBeCalled reports whether a tool of some name may exist.
func (s *Start) mayBeCalled(tool string) bool {
	p := s.Plan
	return !p.ToolsDeclared || s.Unknown(diag.Tools) || p.Tool(tool) != nil ||
		p.Activities[tool] != nil || s.Defines(tool)
}

// Defines reports whether the document's own text defines a tool of some name,
// understood or not.
func (s *Start) Defines(tool string) bool {
	n := s.Plan.Root.Get("tools")
	if n == nil {
		return false
	}
	return n.Get(tool) != nil || slices.ContainsFunc(n.Items, func(item *source.Node) bool {
		name := item.Get("name")
		return name != nil && name.Text == tool
	})
}

// Begins reports whether the input, the state or the data begins with something at a path, be
// it in one instance only.
func (s *Start) Begins(kind string, path []expression.Segment) bool {
	return s.Plan.AnyBegins(func(v *plan.Values) bool {
		value, _ := v.Of(kind)
		return Holds(value, path)
	})
}

// BeginsNull reports whether the initial state has null at a read, in any instance.
func (s *Start) BeginsNull(r *plan.Read) bool {
	return r.Path != pathtree.Root && s.Plan.Paths.Kind(r.Path) == "state" &&
		s.Plan.AnyBegins(func(v *plan.Values) bool {
			value, there := s.Plan.Paths.Walk(v.State, r.Path)
			return there && value == nil
		})
}

// BelowNull reports whether a read looks below what is null when any instance of the plan begins, no call writes
// there, and no schema says that a run may begin with more.
func (s *Start) BelowNull(r *plan.Read) bool {
	p := s.Plan
	if len(r.Writers) > 0 || r.Path == pathtree.Root || p.Paths.Kind(r.Path) != "state" || p.StateSchema != nil ||
		p.AwaitsInstances || p.Form == plan.Replan || s.Unknown(diag.State|diag.Writes) {
		return false
	}
	for at := p.Paths.Parent(r.Path); p.Paths.Depth(at) > 1; at = p.Paths.Parent(at) {
		if value, there := p.Paths.Walk(p.State, at); there {
			return value == nil
		}
	}
	return false
}

// StateVaries reports whether the plan is run on states that it doesn't tell.
func (s *Start) StateVaries() bool {
	return len(s.Plan.Instances) > 0 && (s.Plan.AwaitsInstances || s.Plan.Form == plan.Replan)
}

// required reports whether a run must provide the key of the state that is read, and the
// document has no value for it.
func (s *Start) required(r *plan.Read) bool {
	path := s.Plan.Paths.Segments(r.Path)
	if _, given := pathtree.Walk(s.Plan.State, path[1:min(2, len(path))]); given ||
		path[0].Key != "state" || len(path) < 2 {
		return false
	}
	return s.Plan.StateSchema.Part(path[1].Key).Required
}

// holdsInitially reports whether the state, or the data, has a value at a read before any call writes it.
func (s *Start) holdsInitially(r *plan.Read) bool {
	return r.Start || s.Plan.AnyBegins(func(v *plan.Values) bool {
		value, _ := v.Of(s.Plan.Paths.Kind(r.Path))
		_, holds := s.Plan.Paths.Walk(value, r.Path)
		return holds
	})
}

// IsKind reports whether messages of the plan's context are of some kind.
func (s *Start) IsKind(name string) bool { return slices.Contains(s.Plan.Kinds, name) }

// DescribesKind reports whether a message of the context gives a schema for a
// kind: its value isn't all that may be there.
func (s *Start) DescribesKind(kind string) bool {
	messages := s.Plan.Root
	if messages.Kind == source.Object {
		messages = messages.Get("context")
	}
	if messages == nil {
		return false
	}
	for _, m := range messages.Items {
		if k := m.Get("kind"); k != nil && k.Text == kind && m.Get("schema") != nil {
			return true
		}
	}
	return false
}

// Caller is the call that a read belongs to; nil for the plan's output.
func (s *Start) Caller(r *plan.Read) *plan.Call {
	if r.Call < 0 {
		return nil
	}
	return s.Plan.Calls[r.Call]
}

// looksAt reports whether an expression looks at more than one place of what a variant
// comes from, or at one more than once: a condition in it may keep some of that away.
func (s *Start) looksAt(t *plan.Template, v *Variant) bool {
	looks := 0
	for _, i := range t.Reads {
		r := &s.Plan.Reads[i]
		if v.Read != nil && r.Path == v.Read.Path ||
			v.From.Call != nil && slices.Contains(r.Writers, int32(v.From.Call.Index)) {
			looks++
		}
	}
	return looks > 1
}

// isAbout reports whether a read looks at what a variant brings, or at another part of the result
// that it is from, or of the item.
func (s *Start) isAbout(v *Variant, r *plan.Read) bool {
	if v.Read != nil && compiler.ReadsItem(s.Plan, v.Read) {
		return compiler.ReadsItem(s.Plan, r) && r.Call == v.Read.Call && r.Ref.Kind == v.Read.Ref.Kind
	}
	return v.Read != nil && v.Read.Path != pathtree.Root && s.Plan.Paths.Overlap(v.Read.Path, r.Path) ||
		v.From.Call != nil && slices.Contains(r.Writers, int32(v.From.Call.Index))
}

// Holds reports whether a value has something at a path. A null on the way is a blank to be filled in.
func Holds(value any, path []expression.Segment) bool {
	for _, s := range path {
		if value == nil {
			return false
		}
		next, ok := pathtree.Step(value, s)
		if !ok {
			return false
		}
		if next == nil {
			return true
		}
		value = next
	}
	return value != nil
}
