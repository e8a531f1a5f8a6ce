package runtime

import (
	"maps"
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// Values stay as they are wherever they are handed on: in the state, in events, in what
// is given to an activity. Messages about them are redacted here.

// redact is a text for people without secrets of the plan, of what the frame was given,
// and of what its calls have written and were called with.
func (f *frame) redact(text string) string {
	text = compiler.Redact(f.Plan, text)
	for f != nil {
		reader := f.reader()
		text = reader.Secrets().Text(text)
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
	reader := f.reader()
	compiler.LearnSecrets(reader.Secrets(), nil, any(f.calls[i].params), own)
	return &Failure{Code: failure.Code, Message: f.redact(failure.Message),
		Details: withTexts(failure.Details, f.redact)}
}

// withTexts are details with other texts in them.
func withTexts(details any, other func(string) string) any {
	switch v := details.(type) {
	case string:
		return other(v)
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = withTexts(item, other)
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			object[key] = withTexts(v[key], other)
		}
		return object
	}
	return details
}
