package runtime

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/kinds"
	"github.com/obelus-dev/obelus/compiler/label"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/runtime/guard"
)

type readiness struct {
	skip    string   // why it can never run
	pending bool     // not decided yet
	list    any      // what the call runs for each item of, of one that does
	failure *Failure // an expression that went wrong; counts only once nothing can skip the call any more
}

// evaluate resolves a call's condition and parameters where its reads are
// settled: one that is absent decides at once, whatever else is pending.
func (r *resolver) evaluate(call *plan.Call) (map[string]any, readiness) {
	var v readiness
	if call.When != nil && !call.When.PerItem() {
		r.meets(call, &v)
	}
	if call.Each != nil && v.skip == "" {
		v.list = r.value(call.Each.List, &v)
	}
	if v.skip != "" {
		return nil, v
	}
	for _, scope := range call.Scopes { // a missing value doesn't block the call
		if !compiler.ReadsItem(r.plan, &r.plan.Reads[scope.Read]) {
			_, presence := r.read(scope.Read)
			v.pending = v.pending || presence == expression.Pending
		}
	}
	if !call.Params.Live() {
		return mapping(call.Params.Value), v
	}
	params := make(map[string]any, len(call.Params.Fields))
	for i := range call.Params.Fields {
		field := &call.Params.Fields[i]
		params[field.Key] = r.value(field.Value, &v)
		if v.skip != "" {
			return nil, v
		}
	}
	return params, v
}

// meets notes in the readiness whether a call's condition holds.
func (r *resolver) meets(call *plan.Call, v *readiness) {
	value := r.value(call.When, v)
	if yes, isBool := value.(bool); v.skip == "" && !v.pending && v.failure == nil && (!isBool || !yes) {
		v.skip = "its condition is not true"
	} else if v.skip != "" {
		v.skip = "its condition is absent: " + v.skip
	}
}

// value resolves a template, and notes in the readiness what stands against it.
func (r *resolver) value(t *plan.Template, v *readiness) any {
	switch {
	case !t.Live():
		return t.Value
	case t.Expr != nil && t.PerItem() && !r.ofItem: // each item has a value of its own
		return nil
	case t.Expr != nil && t.Expr.Plain():
		value, presence := r.read(t.Reads[0])
		r.note(t, presence, v)
		return value
	case t.Expr != nil:
		value, presence, failure := r.machine.compute(t,
			func(ref int) (any, expression.Presence) { return r.read(t.Reads[ref]) })
		if failure != nil {
			if v.failure == nil {
				v.failure = failure
			}
			return nil
		}
		r.note(t, presence, v)
		return value
	case t.Fields != nil:
		object := make(map[string]any, len(t.Fields))
		for i := range t.Fields {
			object[t.Fields[i].Key] = r.value(t.Fields[i].Value, v)
		}
		return object
	}
	list := make([]any, len(t.Items))
	for i, item := range t.Items {
		list[i] = r.value(item, v)
	}
	return list
}

func (r *resolver) note(t *plan.Template, p expression.Presence, v *readiness) {
	switch p {
	case expression.Pending:
		v.pending = true
	case expression.Absent:
		if v.skip == "" {
			v.skip = compiler.Redact(r.plan, r.absent(t)) + " has no value"
		}
	}
}

// absent is the text of an expression that has no value, or the one reference in it that it is for the want of.
func (r *resolver) absent(t *plan.Template) string {
	text := t.Node.Text
	for i, at := range t.Reads {
		if _, presence := r.read(at); presence == expression.Absent {
			if text != t.Node.Text {
				return t.Node.Text
			}
			text = t.Expr.References()[i].String()
		}
	}
	return text
}

// read is the value of a read: of the initial state and its bound writers' messages alone.
func (r *resolver) read(at int) (any, expression.Presence) {
	state := &r.reads[at]
	if !state.known {
		if state.open > 0 {
			return nil, expression.Pending
		}
		state.value, state.there = r.resolve(&r.plan.Reads[at])
		state.known = true
	}
	if !state.there {
		return nil, expression.Absent
	}
	return state.value, expression.There
}

func (r *resolver) resolve(read *plan.Read) (any, bool) {
	return r.log.Resolve(read.Path, func(message *Message) bool { return r.sees(read, message) })
}

func (r *resolver) sees(read *plan.Read, message *Message) bool {
	if message.Tick != r.machine.tick {
		return r.stands(message, read.Sees)
	}
	return read.Sees(message.Call) && r.isFor(read, message)
}

// isFor reports whether a message is one of a call that a read is bound to. That is so of any that overlaps what is
// read; others matter where a value above it has to be put together, and nobody has waited for those that aren't bound.
func (r *resolver) isFor(read *plan.Read, message *Message) bool {
	if message.Path == read.Path || r.plan.Paths.Overlap(message.Path, read.Path) {
		return true
	}
	_, isBound := slices.BinarySearch(read.Writers, int32(message.Call))
	return isBound
}

// misfit says what a schema rejects, and where in the value.
func misfit(v *schema.Violation) string {
	if where := strings.TrimPrefix(v.Where(), "."); where != "" {
		return " at " + where + ": " + v.Message
	}
	return ": " + v.Message
}

// unfitting is the failure of what a schema rejects, or can't be held against it within what that may cost.
func unfitting(code, what string, v *schema.Violation) *Failure {
	if v.Keyword == schema.Limit {
		return &Failure{Code: codeLimit, Message: v.Message}
	}
	return &Failure{Code: code, Message: what + misfit(v)}
}

// invalid validates resolved parameters just before the start: what doesn't fit the tool, can't be an argument of the
// program or be in the request, or isn't within the bounds of a policy, is a structural error. What the schema's
// patterns cost is taken off an allowance; nil is none.
func invalid(plan *plan.Plan, call *plan.Call, params map[string]any, a *schema.Allowance) *Failure {
	tool, by := call.Single(), plan.Activities[call.Activity]
	if tool != nil && tool.Parameters != nil {
		if tool.Given != nil {
			passed := params
			params = maps.Clone(tool.Given)
			maps.Copy(params, passed)
		}
		if v := tool.Parameters.ValidateWithin(params, a); v != nil {
			return unfitting("bad-parameter", "the parameters don't fit the tool's schema", v)
		}
	}
	if by != nil {
		if err := kinds.CheckArguments(by, params); err != nil {
			return &Failure{Code: "bad-parameter", Message: err.Error()}
		}
	}
	if why := guard.Outside(plan, call, params, a); why != "" {
		return &Failure{Code: codeOutside, Message: why}
	}
	if why := label.Unendorsed(plan, call, params, false, a); why != "" {
		return &Failure{Code: codeOutside, Message: why}
	}
	return nil
}

func (s *store) refused(call *plan.Call, value any) *Failure {
	if call.Tool != nil && call.Tool.Output != nil && call.Each == nil { // each result of it was judged
		if v := s.machine.validate(call.Tool.Output, value); v != nil {
			return unfitting("bad-output", "the result doesn't fit the tool's \"_output\"", v)
		}
	}
	if why := label.Unendorsed(s.plan, call, value, true, &s.machine.matching); why != "" && call.Each == nil {
		return badOutput("%s", why)
	}
	return nil
}

// candidates are the alternatives that a result may take: one, unless it depends on what is there already.
func (s *store) candidates(call *plan.Call, value any, named int) []plan.Route {
	if named < 0 && call.Method != plan.Set && len(call.Output) > 1 {
		return call.Output
	}
	at := s.taking(call, value, named)
	return call.Output[at : at+1]
}

func (s *store) taking(call *plan.Call, value any, named int) int {
	if named >= 0 || len(call.Output) == 1 {
		return max(0, named)
	}
	return max(0, slices.IndexFunc(call.Output, func(r plan.Route) bool { return s.accepts(call, r, value) }))
}

// admitted finds the alternative that a result takes, and whether it may be written there.
func (s *store) admitted(call *plan.Call, value any, named int) (int, *Failure) {
	route := s.taking(call, value, named)
	if s.plan.Writes == plan.Once {
		// Only where the activity itself names the failure route. Those who meet
		// there aren't ordered, so they never refuse each other.
		for _, path := range call.Output[route] {
			if s.occupied(path.ID, func(message *Message) bool { return !message.Failure }) {
				return 0, badOutput("%s is written already, and a path is written once", s.plan.Paths.String(path.ID))
			}
		}
	}
	return route, s.unfit(call, call.Output[route], call.Method, value)
}

// accepts reports whether the state schema has nothing against a value on any path of a route. Whether there is a place
// for it is another question, and not one that chooses.
func (s *store) accepts(call *plan.Call, route plan.Route, value any) bool {
	draft := s.log.Draft(int32(call.Index))
	defer draft.Discard()
	return !slices.ContainsFunc(route, func(path plan.Path) bool {
		kept := s.schemaAt(path.ID)
		if kept == nil {
			return false
		}
		written, err := value, error(nil)
		if call.Method != plan.Set {
			written, err = draft.Write(path.ID, call.Method, value)
		}
		return err == nil && s.machine.validate(kept, written) != nil
	})
}

func badOutput(format string, args ...any) *Failure {
	return &Failure{Code: "bad-output", Message: fmt.Sprintf(format, args...)}
}

// unfit says why a value can't be written to all paths of a route, one after the other: what stands there has no place
// for it, or the state schema rejects it.
func (s *store) unfit(call *plan.Call, route plan.Route, method plan.Method, value any) *Failure {
	draft := s.log.Draft(int32(call.Index))
	defer draft.Discard()
	for _, path := range route {
		written := value
		if s.needsBase(path.ID, method) {
			result, err := draft.Write(path.ID, method, value)
			if err != nil {
				return badOutput("%s can't be written: %v", s.plan.Paths.String(path.ID), err)
			}
			written = result
		}
		if kept := s.schemaAt(path.ID); kept != nil {
			if v := s.machine.validate(kept, written); v != nil {
				return unfitting("bad-output", "the state schema rejects the value of "+s.plan.Paths.String(path.ID), v)
			}
		}
	}
	return nil
}

// routeFailure writes a failure record to every path of the call's failure route, if
// it has one that admits it, and reports whether it did.
func routeFailure(f *frame, call *plan.Call, failure *Failure) bool {
	at := call.FailureRoute()
	if at < 0 {
		return false
	}
	record := failure.record()
	route := call.Output[at]
	if f.unfit(call, route, plan.Set, record) != nil {
		return false
	}
	if f.plan.Writes == plan.Once {
		for _, path := range route {
			if f.occupied(path.ID, func(message *Message) bool { return !message.Failure }) {
				return false
			}
		}
	}
	for _, path := range route {
		f.write(call, path.ID, plan.Set, record, true)
	}
	return true
}

// taken reports whether, under once, a value already is where the call would write, its failure route aside.
func (s *store) taken(call *plan.Call) bool {
	if s.plan.Writes != plan.Once {
		return false
	}
	failure := call.FailureRoute()
	for alternative, route := range call.Output {
		if alternative == failure {
			continue
		}
		for _, path := range route {
			if s.occupied(path.ID, func(*Message) bool { return true }) {
				return true
			}
		}
	}
	return false
}

// occupied reports whether the initial state holds a value at a path, or a
// message of the given sort stands on an overlapping one.
func (s *store) occupied(id pathtree.ID, counts func(*Message) bool) bool {
	if value, ok := s.log.Initial(id); ok && value != nil {
		return true
	}
	for _, message := range s.log.Over(id) {
		if counts(message) {
			return true
		}
	}
	return false
}
