package request

import (
	"maps"
	"slices"
)

func (s Context) scoped() []Object {
	s.Input, s.State, s.Instances = s.Only["input"], s.Only["state"], nil
	data, _ := s.Only["data"].(map[string]any)
	s.Data = maps.Clone(data)
	for _, kind := range s.Plan.Kinds {
		if value, ok := s.Only[kind]; ok {
			if s.Data == nil {
				s.Data = map[string]any{}
			}
			s.Data[kind] = value
		}
	}
	list := slices.DeleteFunc(s.values(), func(m Object) bool { return !m.Has(m[0].Value.(string)) })
	if advice, ok := s.Only["advice"]; ok {
		list = append(list, Object{{"type", "meta"}, {"description", "what the advisors' votes come to"},
			{"meta", Object{{"advice", advice}}}})
	}
	errors, _ := s.Only["error"].([]any)
	for _, e := range errors {
		list = append(list, Object{{"type", "error"}, {"data", e}})
	}
	return list
}

// marked puts what advisors look at first before the other values, and
// says who does.
func (s Context) marked(messages []Object) []Object {
	var first, rest []Object
	for _, m := range messages {
		looked := Object{}
		for _, advisor := range s.Advisors {
			var at []any
			for _, scope := range advisor.Scopes {
				if m[0].Value == scope.Kind || m.Get("kind") == scope.Kind {
					at = append(at, scope.Ref.String())
				}
			}
			if len(at) > 0 {
				looked = looked.With(advisor.ID, at)
			}
		}
		if len(looked) == 0 {
			rest = append(rest, m)
		} else {
			first = append(first, m.With("x-advisors", looked))
		}
	}
	return append(first, rest...)
}
