package runtime

import (
	"cmp"
	"maps"
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/redact"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// Values stay as they are wherever they are handed on: in the state, in events, in what
// is given to an activity. Messages about them are redacted here.

// frameSecrets are the secrets of a frame, which are learned with its first message.
type frameSecrets struct {
	set  *redact.Set
	seen int // messages of the log that it has learned of
}

// redact is a text for people without secrets of the plan, of what the frame was given,
// and of what its calls have written and were called with.
func (f *frame) redact(text string) string {
	text = compiler.Redact(f.plan, text)
	for f != nil {
		reader := f.reader()
		text = reader.learned().Text(text)
		if reader.parent == nil {
			text = f.machine.learned().Text(text)
		}
		f = reader.parent
	}
	return text
}

// withoutSecrets is a failure without secrets in its message and details, those in the parameters of its call included.
func withoutSecrets(f *frame, i int32, failure *Failure) *Failure {
	var own *schema.Schema
	if tool := f.call(i).Tool; tool != nil {
		own = tool.Parameters
	}
	compiler.LearnSecrets(f.reader().learned(), nil, any(f.calls[i].params), own)
	return &Failure{Code: failure.Code, Message: f.redact(failure.Message), Details: redactIn(f, failure.Details)}
}

func redactIn(f *frame, details any) any {
	switch v := details.(type) {
	case string:
		return f.redact(v)
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = redactIn(f, item)
		}
		return list
	case map[string]any:
		object := maps.Clone(v)
		for _, key := range slices.Sorted(maps.Keys(v)) {
			object[key] = redactIn(f, v[key])
		}
		return object
	}
	return details
}

// learned are the secrets of a frame that reads values of its own: those that are known.
func (f *frame) learned() *redact.Set {
	if f.secrets.set == nil {
		f.secrets.set = &redact.Set{}
		own := f.given
		if f.parent != nil {
			own = Instance{Input: mapping(f.log.Given("input")), State: mapping(f.log.Given("state")),
				Data: mapping(f.log.Given("data"))}
		}
		learn(f.secrets.set, cmp.Or(f.judging, f.plan), own)
	}
	for messages := f.log.Messages(); f.secrets.seen < len(messages); f.secrets.seen++ {
		m := &messages[f.secrets.seen]
		if record, ok := m.Value.(map[string]any); ok && m.Failure && record["code"] != nil &&
			record["message"] != nil {
			compiler.LearnSecrets(f.secrets.set, nil, m.Value, nil) // it is known already, whatever the path is called
			continue
		}
		compiler.LearnSecrets(f.secrets.set, f.plan.Paths.Segments(m.Path), m.Value, f.schemaAt(m.Path))
	}
	return f.secrets.set
}

// learned are the secrets that all instances of the run have.
func (m *Machine) learned() *redact.Set {
	if m.secrets == nil {
		m.secrets = &redact.Set{}
		learn(m.secrets, m.base(), Instance{Input: m.shared.input, State: m.shared.state, Data: m.shared.data})
	}
	return m.secrets
}

func learn(secrets *redact.Set, p *plan.Plan, given Instance) {
	compiler.LearnSecrets(secrets, nil, any(given.Input), p.InputSchema)
	compiler.LearnSecrets(secrets, nil, any(given.State), p.StateSchema)
	compiler.LearnSecrets(secrets, nil, any(given.Data), nil)
	for _, kind := range slices.Sorted(maps.Keys(p.DataSchemas)) {
		compiler.LearnSecrets(secrets, []expression.Segment{{Key: kind}}, given.Data[kind], p.DataSchemas[kind])
	}
}
