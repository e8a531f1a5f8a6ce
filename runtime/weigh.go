package runtime

import (
	"fmt"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// A verdict is what a call's reads say of it so far.
type verdict struct {
	skip    string   // why it can never run
	pending bool     // not decided yet
	failure *Failure // an expression that went wrong; counts only once nothing can skip the call any more
}

// weigh resolves a call's condition and parameters as far as its reads are
// settled (S8.2): one that is absent decides at once, whatever else is pending.
func (m *Machine) weigh(call *compiler.Call) (map[string]any, verdict) {
	var v verdict
	if call.When != nil {
		value := m.value(call.When, &v)
		if yes, isBool := value.(bool); v.skip == "" && !v.pending && v.failure == nil && (!isBool || !yes) {
			v.skip = "its condition is not true"
		} else if v.skip != "" {
			v.skip = "its condition is absent: " + v.skip
		}
	}
	if v.skip != "" {
		return nil, v
	}
	if !call.Params.Live() {
		params, _ := call.Params.Value.(map[string]any)
		return params, v
	}
	params := make(map[string]any, len(call.Params.Fields))
	for i := range call.Params.Fields {
		field := &call.Params.Fields[i]
		params[field.Key] = m.value(field.Value, &v)
		if v.skip != "" {
			return nil, v
		}
	}
	return params, v
}

// value resolves a template, and notes in the verdict what stands against it.
func (m *Machine) value(t *compiler.Template, v *verdict) any {
	switch {
	case !t.Live():
		return t.Value
	case t.Expr != nil && t.Expr.Plain():
		value, presence := m.read(t.Reads[0])
		m.note(t, presence, v)
		return value
	case t.Expr != nil:
		value, presence, err := t.Expr.Eval(func(ref int) (any, expression.Presence) { return m.read(t.Reads[ref]) })
		if err != nil {
			if v.failure == nil {
				v.failure = &Failure{Code: "expression-type", Message: fmt.Sprintf("%s: %v", t.Node.Text, err)}
			}
			return nil
		}
		m.note(t, presence, v)
		return value
	case t.Fields != nil:
		object := make(map[string]any, len(t.Fields))
		for i := range t.Fields {
			object[t.Fields[i].Key] = m.value(t.Fields[i].Value, v)
		}
		return object
	}
	list := make([]any, len(t.Items))
	for i, item := range t.Items {
		list[i] = m.value(item, v)
	}
	return list
}

func (m *Machine) note(t *compiler.Template, p expression.Presence, v *verdict) {
	switch p {
	case expression.Pending:
		v.pending = true
	case expression.Absent:
		if v.skip == "" {
			v.skip = t.Node.Text + " has no value"
		}
	}
}

// read is the value of a read: of the initial state and its bound writers'
// messages alone (S6.3).
func (m *Machine) read(r int) (any, expression.Presence) {
	state := &m.reads[r]
	if !state.known {
		if state.open > 0 {
			return nil, expression.Pending
		}
		state.value, state.there = m.resolve(&m.plan.Reads[r])
		state.known = true
	}
	if !state.there {
		return nil, expression.Absent
	}
	return state.value, expression.There
}

// resolve is the value of a read whose writers have settled.
func (m *Machine) resolve(read *compiler.Read) (any, bool) {
	return m.log.resolve(read.Path, func(message *Message) bool {
		if message.Tick != m.tick {
			return m.stands(message, read.Sees)
		}
		return read.Sees(message.Call)
	})
}

// misfit says what a schema rejects, and where in the value.
func misfit(v *schema.Violation) string {
	if where := strings.TrimPrefix(v.Where(), "."); where != "" {
		return " at " + where + ": " + v.Message
	}
	return ": " + v.Message
}

// invalid validates resolved parameters just before the start (S8.5): a fault
// is a structural error.
func (m *Machine) invalid(call *compiler.Call, params map[string]any) *Failure {
	if call.Tool == nil || call.Tool.Parameters == nil {
		return nil
	}
	if v := call.Tool.Parameters.Validate(params); v != nil {
		return &Failure{Code: "bad-parameter", Message: "the parameters don't fit the tool's schema" + misfit(v)}
	}
	return nil
}

// admit finds the alternative that a result takes (S5.2), and whether it may be
// written there.
func (m *Machine) admit(call *compiler.Call, value any, named int) (int, *Failure) {
	if call.Tool != nil && call.Tool.Output != nil {
		if v := call.Tool.Output.Validate(value); v != nil {
			return 0, badOutput("the result doesn't fit the tool's \"_output\"%s", misfit(v))
		}
	}
	if len(call.Output) == 0 {
		return 0, nil
	}
	route := named
	if route < 0 {
		route = max(0, slices.IndexFunc(call.Output, func(r compiler.Route) bool { return m.accepts(call, r, value) }))
	}
	if m.plan.Writes == compiler.Once {
		// Only where the activity itself names the failure route. Those who meet
		// there aren't ordered (S5.8), so they never refuse each other.
		for _, path := range call.Output[route] {
			if m.occupied(path.ID, func(message *Message) bool { return !message.Failure }) {
				return 0, badOutput("%s is written already, and a path is written once", m.plan.Paths.String(path.ID))
			}
		}
	}
	return route, m.unfit(call, call.Output[route], call.Method, value)
}

// accepts tells whether the state schema has nothing against a value on any path
// of a route. Whether there is a place for it is another question, and not one
// that chooses.
func (m *Machine) accepts(call *compiler.Call, route compiler.Route, value any) bool {
	return !slices.ContainsFunc(route, func(path compiler.Path) bool {
		s := m.schemaAt(path.ID)
		if s == nil {
			return false
		}
		written, err := value, error(nil)
		if call.Method != compiler.Set {
			written, err = m.preview(call, path.ID, call.Method, value)
		}
		return err == nil && !s.Accepts(written)
	})
}

func badOutput(format string, args ...any) *Failure {
	return &Failure{Code: "bad-output", Message: fmt.Sprintf(format, args...)}
}

// unfit tells why a value can't be written to all paths of a route: the state
// that the call stands on has no place for it (S5.3), or the state schema
// rejects it (S5.2).
func (m *Machine) unfit(call *compiler.Call, route compiler.Route, method compiler.Method, value any) *Failure {
	for _, path := range route {
		written := value
		if method != compiler.Set || m.plan.Paths.Depth(path.ID) > 2 {
			result, err := m.preview(call, path.ID, method, value)
			if err != nil {
				return badOutput("%s can't be written: %v", m.plan.Paths.String(path.ID), err)
			}
			written = result
		}
		if s := m.schemaAt(path.ID); s != nil {
			if v := s.Validate(written); v != nil {
				return badOutput("the state schema rejects the value at %s: %s", m.plan.Paths.String(path.ID), v.Error())
			}
		}
	}
	return nil
}

// schemaAt is what the state schema says of a path below †state; nil is
// nothing.
func (m *Machine) schemaAt(id compiler.PathID) *schema.Schema {
	if m.schemas == nil || m.plan.Paths.Kind(id) != "state" {
		return nil
	}
	s, known := m.schemas[id]
	if !known {
		s = m.plan.StateSchema.At(compiler.SchemaPath(m.plan.Paths.Segments(id)[1:])).Schema
		m.schemas[id] = s
	}
	return s
}

// preview is what would stand at a path after a write, as the call sees it: on
// the initial state and what the calls that it depends on wrote.
func (m *Machine) preview(call *compiler.Call, path compiler.PathID, method compiler.Method, value any) (any, error) {
	waits := func(writer int) bool {
		_, ok := slices.BinarySearch(call.Waits, int32(writer))
		return ok
	}
	kind := path
	for m.plan.Paths.Depth(kind) > 1 {
		kind = m.plan.Paths.Parent(kind)
	}
	f := fold{paths: m.plan.Paths, root: kind}
	f.value, f.there = m.log.resolve(kind, func(message *Message) bool {
		if message.Tick != m.tick {
			return m.stands(message, waits)
		}
		return waits(message.Call)
	})
	if err := f.apply(&Message{Path: path, Method: method, Value: value}); err != nil {
		return nil, err
	}
	written, _ := compiler.Walk(f.value, m.plan.Paths.Segments(path)[1:])
	return written, nil
}

// routes writes a failure record to every path of the call's failure route, if
// it has one that admits it, and tells whether it did (S9.2).
func (m *Machine) routes(call *compiler.Call, failure *Failure) bool {
	at := call.FailureRoute()
	if at < 0 {
		return false
	}
	record := failure.record()
	route := call.Output[at]
	if m.unfit(call, route, compiler.Set, record) != nil {
		return false
	}
	if m.plan.Writes == compiler.Once {
		for _, path := range route {
			if m.occupied(path.ID, func(message *Message) bool { return !message.Failure }) {
				return false
			}
		}
	}
	for _, path := range route {
		m.write(call, path.ID, compiler.Set, record, true)
	}
	return true
}

// taken tells whether, under once, a value already stands where the call would
// write, its failure route aside (S5.5).
func (m *Machine) taken(call *compiler.Call) bool {
	if m.plan.Writes != compiler.Once {
		return false
	}
	failure := call.FailureRoute()
	for alternative, route := range call.Output {
		if alternative == failure {
			continue
		}
		for _, path := range route {
			if m.occupied(path.ID, func(*Message) bool { return true }) {
				return true
			}
		}
	}
	return false
}

// occupied tells whether the initial state holds a value at a path, or a
// message of the given sort stands on an overlapping one.
func (m *Machine) occupied(id compiler.PathID, counts func(*Message) bool) bool {
	if value, ok := compiler.Walk(any(m.log.initial), m.plan.Paths.Segments(id)); ok && value != nil {
		return true
	}
	set := m.log.overlapping(id)
	for _, paths := range [][]compiler.PathID{set.above, set.below} {
		for _, p := range paths {
			if slices.ContainsFunc(m.log.at[p], func(at int32) bool { return counts(&m.log.messages[at]) }) {
				return true
			}
		}
	}
	return false
}
