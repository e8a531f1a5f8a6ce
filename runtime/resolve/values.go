// Package resolve evaluates the expressions of a plan at work: the parameters and conditions of its calls, and its
// output. It checks values against schemas and policies, decides where results may be written, and knows which texts of
// the state are secret. It starts nothing, and changes no state.
package resolve

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/redact"
	"github.com/obelus-dev/obelus/runtime/state"
)

// A Resolver makes values of what is in the store: of reads, of conditions and of parameters.
type Resolver struct {
	Store
	Reads  []Read
	Memory *Memory // of calls that later plans may list again; nil where no plan is carried
	ofItem bool    // what is read of an item is that of one at hand
}

// A Read is how far one is resolved.
type Read struct {
	Open  int32 // how many of its bound writers, the first of them, may not have settled
	known bool  // value and there are resolved
	there bool
	value any
}

// Set resolves a read.
func (r *Read) Set(value any, there bool) { r.known, r.value, r.there = true, value, there }

// Readiness is what stands against a call's start, or what an output lacks.
type Readiness struct {
	Skip     string         // why it can never run
	Pending  bool           // not decided yet
	List     any            // what the call runs for each item of, of one that does
	Failure  *state.Failure // an expression that went wrong; counts only once nothing can skip the call any more
	isOutput bool           // what is absent is left out
	leaves   int            // of an output, that are there
}

// Evaluate resolves a call's condition and parameters. A read that is absent decides at once, whatever is pending.
func (r *Resolver) Evaluate(call *plan.Call) (map[string]any, Readiness) {
	var v Readiness
	if call.When != nil && !call.When.PerItem() {
		r.meets(call, &v)
	}
	if call.Each != nil && v.Skip == "" {
		v.List, _ = r.value(call.Each.List, &v)
	}
	if v.Skip != "" {
		return nil, v
	}
	for _, scope := range call.Scopes { // a missing value doesn't block the call
		_, presence := r.Read(scope.Read)
		v.Pending = v.Pending || presence == expression.Pending
	}
	if !call.Params.Live {
		return Mapping(call.Params.Value), v
	}
	var params map[string]any // made once nothing is pending
	for i := range call.Params.Fields {
		field := &call.Params.Fields[i]
		value, _ := r.value(field.Value, &v)
		switch {
		case v.Skip != "":
			return nil, v
		case v.Pending:
			continue
		case params == nil:
			params = make(map[string]any, len(call.Params.Fields))
		}
		params[field.Key] = value
	}
	return params, v
}

// meets notes whether a call's condition holds.
func (r *Resolver) meets(call *plan.Call, v *Readiness) {
	value, _ := r.value(call.When, v)
	if yes, isBool := value.(bool); v.Skip == "" && !v.Pending && v.Failure == nil && (!isBool || !yes) {
		v.Skip = "its condition is not true"
	} else if v.Skip != "" {
		v.Skip = "its condition is absent: " + v.Skip
	}
}

// value resolves a template, and notes what stands against it. Of an output it is left out where it has no value.
func (r *Resolver) value(t *plan.Template, v *Readiness) (any, bool) {
	switch {
	case !t.Live:
		if v.isOutput && hasLeaf(t.Value) {
			v.leaves++
		}
		return t.Value, true
	case t.Expr != nil && t.PerItem() && !r.ofItem: // each item has a value of its own
		return nil, true
	case t.Expr != nil:
		value, presence, failure := r.expression(t)
		switch {
		case failure != nil:
			if v.Failure == nil {
				v.Failure = failure
			}
		case !v.isOutput && presence == expression.Pending:
			v.Pending = true
		case !v.isOutput && presence == expression.Absent && v.Skip == "":
			v.Skip = compiler.Redact(r.Plan, r.absent(t)) + " has no value"
		case v.isOutput && presence == expression.There && (value != nil || t.FallsBack()): // null counts as missing
			v.leaves++
		}
		return value, !v.isOutput || failure == nil && presence == expression.There
	case t.Fields != nil:
		object := make(map[string]any, len(t.Fields))
		for i := range t.Fields {
			if value, ok := r.value(t.Fields[i].Value, v); ok {
				object[t.Fields[i].Key] = value
			}
		}
		return object, true
	}
	list := make([]any, 0, len(t.Items))
	for _, item := range t.Items {
		if value, ok := r.value(item, v); ok {
			list = append(list, value)
		}
	}
	return list, true
}

func (r *Resolver) expression(t *plan.Template) (any, expression.Presence, *state.Failure) {
	if r.Budget.Samples != nil {
		return r.Budget.Samples.Evaluate(r.Plan, t, r.Read)
	}
	if t.Expr.Plain() {
		value, presence := r.Read(t.Reads[0])
		return value, presence, nil
	}
	return r.Budget.compute(t, func(ref int) (any, expression.Presence) { return r.Read(t.Reads[ref]) })
}

// absent is the text of an expression that has no value, or the one reference in it that it is for the want of.
func (r *Resolver) absent(t *plan.Template) string {
	text := t.Node.Text
	for i, at := range t.Reads {
		if _, presence := r.Read(at); presence == expression.Absent {
			if text != t.Node.Text {
				return t.Node.Text
			}
			text = t.Expr.References()[i].String()
		}
	}
	return text
}

// Read is the value of a read: of the initial state and its bound writers' messages alone.
func (r *Resolver) Read(at int) (any, expression.Presence) {
	read := &r.Reads[at]
	if !read.known {
		if read.Open > 0 {
			return nil, expression.Pending
		}
		read.Set(r.Resolve(&r.Plan.Reads[at]))
	}
	if !read.there {
		return nil, expression.Absent
	}
	return read.value, expression.There
}

// Resolve is the value of a read as it is now.
func (r *Resolver) Resolve(read *plan.Read) (any, bool) {
	sees := func(message *state.Message) bool { return r.Sees(read, message) }
	if r.Budget.Samples != nil {
		return r.Budget.Samples.Read(r.Plan, read,
			func(path pathtree.ID) (any, bool) { return r.Log.Resolve(path, sees) })
	}
	return r.Log.Resolve(read.Path, sees)
}

// Sees reports whether a message counts for a read. One of an earlier tick does, but of a call that is listed again
// only for those who are bound to that call. A message that overlaps what is read is one of a call that it is bound to;
// others matter where a value above it has to be put together, and nobody has waited for those that aren't bound.
func (r *Resolver) Sees(read *plan.Read, message *state.Message) bool {
	if message.Tick != r.Program.Tick {
		return r.Memory == nil || message.Completed == 0 || r.Memory.Counts(message.Completed, read.Sees)
	}
	_, isBound := slices.BinarySearch(read.Writers, int32(message.Call))
	return read.Sees(message.Call) && (isBound || r.Plan.Paths.Overlap(message.Path, read.Path))
}

// The bounds of a plan's output, which may hold one value in many places: those of any result.
const (
	maxOutputValues = 2_000_000
	maxOutputText   = 8 << 20
)

// Output is the value of the plan's output, once all calls have settled, and how many of its parts are there.
func (r *Resolver) Output() (value any, leaves int, failure *state.Failure) {
	for i := range r.Plan.Reads {
		if r.Plan.Reads[i].Call < 0 {
			r.Reads[i] = Read{} // more may have been written since it was resolved last
		}
	}
	v := Readiness{isOutput: true}
	if r.Plan.Output != nil {
		value, _ = r.value(r.Plan.Output, &v)
	}
	if room := (expression.Room{Values: maxOutputValues, Text: maxOutputText}); !room.Takes(value, math.MaxInt) {
		v.Failure = &state.Failure{Code: CodeLimit,
			Message: fmt.Sprintf("the plan's output is too large: it may have %d MiB "+
				"of text and %d values", maxOutputText>>20, maxOutputValues)}
	} else if v.Failure != nil {
		v.Failure.Message = "the output " + v.Failure.Message
	}
	if v.Failure != nil && v.Failure.Code == CodeLimit {
		value = nil
	}
	return value, v.leaves, v.Failure
}

// hasLeaf reports whether a value is more than lists and objects without anything in them.
func hasLeaf(value any) bool {
	switch v := value.(type) {
	case []any:
		return slices.ContainsFunc(v, hasLeaf)
	case map[string]any:
		return slices.ContainsFunc(slices.Sorted(maps.Keys(v)), func(key string) bool { return hasLeaf(v[key]) })
	}
	return true
}

// Secrets are those in the store that are known by now: they are learned with the first text about it.
func (s *Store) Secrets() *redact.Set {
	if s.secrets == nil {
		s.secrets = &redact.Set{}
		data, own := Mapping(s.Log.Given("data")), cmp.Or(s.Judging, s.Plan)
		for _, p := range slices.Compact([]*plan.Plan{own, own.Full()}) { // an instance may have schemas of its own
			compiler.LearnSecrets(s.secrets, nil, s.Log.Given("input"), p.InputSchema)
			compiler.LearnSecrets(s.secrets, nil, s.Log.Given("state"), p.StateSchema)
			compiler.LearnSecrets(s.secrets, nil, any(data), nil)
			for _, kind := range slices.Sorted(maps.Keys(p.DataSchemas)) {
				compiler.LearnSecrets(s.secrets, []expression.Segment{{Key: kind}}, data[kind], p.DataSchemas[kind])
			}
		}
	}
	for messages := s.Log.Messages(); s.Learned < len(messages); s.Learned++ {
		m := &messages[s.Learned]
		if record, ok := m.Value.(map[string]any); ok && m.Failure && record["code"] != nil &&
			record["message"] != nil {
			compiler.LearnSecrets(s.secrets, nil, m.Value, nil) // it is known already, whatever the path is called
			continue
		}
		compiler.LearnSecrets(s.secrets, s.Plan.Paths.Segments(m.Path), m.Value, s.SchemaAt(m.Path))
	}
	return s.secrets
}
