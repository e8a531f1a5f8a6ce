package runtime

import (
	"maps"
	"slices"

	"github.com/obelus-dev/obelus/compiler"
)

// handed are the messages of what a call's scopes hand on, and of nothing else
// (S14.3).
func (s situation) handed() []any {
	s.input, s.state, s.instances = s.only["input"], s.only["state"], nil
	s.data = maps.Clone(mapping(s.only["data"]))
	for _, kind := range s.plan.Kinds {
		if value, ok := s.only[kind]; ok {
			if s.data == nil {
				s.data = map[string]any{}
			}
			s.data[kind] = value
		}
	}
	list := slices.DeleteFunc(s.values(), func(m any) bool {
		kind, _ := subject(m.(object))
		return !m.(object).has(kind)
	})
	if advice, ok := s.only["advice"]; ok {
		list = append(list, object{{"type", "meta"}, {"description", "what the advisors' votes come to"}, {"meta", object{{"advice", advice}}}})
	}
	errors, _ := s.only["error"].([]any)
	for _, e := range errors {
		list = append(list, object{{"type", "error"}, {"data", e}})
	}
	return list
}

// marked puts what advisors look at first (S13.5) before the other values, and
// says who does.
func (s situation) marked(messages []any) []any {
	var first, rest []any
	for _, m := range messages {
		message := m.(object)
		looked := object{}
		for _, advisor := range s.advisors {
			if at := lookedAt(advisor, message); len(at) > 0 {
				looked = append(looked, member{advisor.ID, at})
			}
		}
		if len(looked) == 0 {
			rest = append(rest, message)
			continue
		}
		first = append(first, append(slices.Clip(message), member{"x-advisors", looked}))
	}
	return append(first, rest...)
}

// lookedAt are the scopes of an advisor that a message is about.
func lookedAt(advisor *compiler.Advisor, message object) []any {
	kind, of := subject(message)
	var at []any
	for _, scope := range advisor.Scopes {
		if scope.Kind == kind || scope.Kind == of {
			at = append(at, scope.Ref.String())
		}
	}
	return at
}

// subject is a message's type and, of data, its kind.
func subject(message object) (kind, of string) {
	for _, m := range message {
		switch m.key {
		case "type":
			kind, _ = m.value.(string)
		case "kind":
			of, _ = m.value.(string)
		}
	}
	return kind, of
}
