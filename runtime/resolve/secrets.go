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
