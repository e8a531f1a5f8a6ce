package resolve

import (
	"cmp"
	"maps"
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/redact"
)

// Secrets are those in a store, which are learned with the first message about it.
type Secrets struct {
	set  *redact.Set
	Seen int // messages of the log that it has learned of
}

// Of are the secrets of a store that are known by now.
func (s *Secrets) Of(store *Store) *redact.Set {
	if s.set == nil {
		s.set = &redact.Set{}
		data, own := mapping(store.Log.Given("data")), cmp.Or(store.Judging, store.Plan)
		for _, p := range slices.Compact([]*plan.Plan{own, own.Full()}) { // an instance may have schemas of its own
			compiler.LearnSecrets(s.set, nil, store.Log.Given("input"), p.InputSchema)
			compiler.LearnSecrets(s.set, nil, store.Log.Given("state"), p.StateSchema)
			compiler.LearnSecrets(s.set, nil, any(data), nil)
			for _, kind := range slices.Sorted(maps.Keys(p.DataSchemas)) {
				compiler.LearnSecrets(s.set, []expression.Segment{{Key: kind}}, data[kind], p.DataSchemas[kind])
			}
		}
	}
	for messages := store.Log.Messages(); s.Seen < len(messages); s.Seen++ {
		m := &messages[s.Seen]
		if record, ok := m.Value.(map[string]any); ok && m.Failure && record["code"] != nil &&
			record["message"] != nil {
			compiler.LearnSecrets(s.set, nil, m.Value, nil) // it is known already, whatever the path is called
			continue
		}
		compiler.LearnSecrets(s.set, store.Plan.Paths.Segments(m.Path), m.Value, store.SchemaAt(m.Path))
	}
	return s.set
}

// WithTexts are details with other texts in them.
func WithTexts(details any, other func(string) string) any {
	switch v := details.(type) {
	case string:
		return other(v)
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = WithTexts(item, other)
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			object[key] = WithTexts(v[key], other)
		}
		return object
	}
	return details
}
