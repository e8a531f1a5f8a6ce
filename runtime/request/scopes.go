package request

import (
	"maps"
	"slices"

	"github.com/obelus-dev/obelus/compiler/plan"
)

func (s Context) scoped() []Message {
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
	list := slices.DeleteFunc(s.values(), func(m Message) bool { return m.(Values).Value == nil })
	if advice, ok := s.Only["advice"]; ok {
		list = append(list, Meta{About: "what the advisors' votes come to", Meta: Object{{"advice", advice}}})
	}
	errors, _ := s.Only["error"].([]any)
	for _, e := range errors {
		list = append(list, Failure{Data: e})
	}
	return list
}

// marked puts what advisors look at first before the other values, and
// says who does.
func (s Context) marked(messages []Message) []Message {
	var first, rest []Message
	for _, m := range messages {
		var looked []Looked
		for _, advisor := range s.Advisors {
			if at := lookedAt(advisor, m); len(at) > 0 {
				looked = append(looked, Looked{advisor.ID, at})
			}
		}
		if len(looked) == 0 {
			rest = append(rest, m)
			continue
		}
		switch one := m.(type) {
		case Values:
			one.Looked = looked
			m = one
		case Failure:
			one.Looked = looked
			m = one
		}
		first = append(first, m)
	}
	return append(first, rest...)
}

func lookedAt(advisor *plan.Advisor, m Message) []string {
	var kinds []string
	switch m := m.(type) {
	case Values:
		kinds = []string{m.Of, m.Kind}
	case Failure:
		kinds = []string{"error"}
	}
	var at []string
	for _, scope := range advisor.Scopes {
		if slices.Contains(kinds, scope.Kind) {
			at = append(at, scope.Ref.String())
		}
	}
	return at
}
