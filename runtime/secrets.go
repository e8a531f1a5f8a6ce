package runtime

import (
	"cmp"
	"maps"
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// Values stay as they are wherever they are handed on: in the state, in events, in what
// is given to an activity. What is said of them goes through here.

// A frameVeil is what no message of a frame quotes: it is learned when the first message
// is made.
type frameVeil struct {
	*compiler.Veil
	seen int // messages of the log that it has learned of
}

// unquoted is a text for people without secrets of the plan, of what the frame was given,
// and of what its calls have written and were called with.
func (f *frame) unquoted(text string) string { return f.plan.Veiled(f.veiled().Over(text)) }

// withoutSecrets is a failure whose message and details quote no secret. The parameters
// of the call that it is about have names as well.
func (f *frame) withoutSecrets(i int32, failure *Failure) *Failure {
	var own *schema.Schema
	if tool := f.call(i).Tool; tool != nil {
		own = tool.Parameters
	}
	f.veiled().Learn(nil, any(f.calls[i].params), own)
	return &Failure{Code: failure.Code, Message: f.unquoted(failure.Message), Details: f.unquotedIn(failure.Details)}
}

func (f *frame) unquotedIn(details any) any {
	switch v := details.(type) {
	case string:
		return f.unquoted(v)
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = f.unquotedIn(item)
		}
		return list
	case map[string]any:
		object := maps.Clone(v)
		for _, key := range slices.Sorted(maps.Keys(v)) {
			object[key] = f.unquotedIn(v[key])
		}
		return object
	}
	return details
}

// veiled is what the frame's messages don't quote by now.
func (f *frame) veiled() *compiler.Veil {
	r := f.reader()
	if r.veil.Veil == nil {
		var own Instance
		if r.parent != nil {
			r.veil.Veil = compiler.NewVeil(r.parent.veiled())
			own = Instance{Input: mapping(r.log.Given("input")), State: mapping(r.log.Given("state")), Data: mapping(r.log.Given("data"))}
		} else {
			r.veil.Veil = compiler.NewVeil(r.machine.veiled())
			own = r.given
		}
		learn(r.veil.Veil, cmp.Or(r.judging, r.plan), own)
	}
	for messages := r.log.Messages(); r.veil.seen < len(messages); r.veil.seen++ {
		m := &messages[r.veil.seen]
		if record, ok := m.Value.(map[string]any); ok && m.Failure && record["code"] != nil && record["message"] != nil {
			r.veil.Learn(nil, m.Value, nil) // it was told already, whatever the path is called
			continue
		}
		r.veil.Learn(r.plan.Paths.Segments(m.Path), m.Value, r.schemaAt(m.Path))
	}
	return r.veil.Veil
}

// veiled is what no message of the run quotes of what all its instances have.
func (m *Machine) veiled() *compiler.Veil {
	if m.veil == nil {
		m.veil = compiler.NewVeil(nil)
		learn(m.veil, m.base(), Instance{Input: m.shared.input, State: m.shared.state, Data: m.shared.data})
	}
	return m.veil
}

// learn hides what a frame is given.
func learn(veil *compiler.Veil, p *compiler.Plan, given Instance) {
	veil.Learn(nil, any(given.Input), p.InputSchema)
	veil.Learn(nil, any(given.State), p.StateSchema)
	veil.Learn(nil, any(given.Data), nil)
	for _, kind := range slices.Sorted(maps.Keys(p.DataSchemas)) {
		veil.Learn([]expression.Segment{{Key: kind}}, given.Data[kind], p.DataSchemas[kind])
	}
}
