package runtime

import (
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/runtime/resolve"
)

// Values stay as they are wherever they are handed on: in the state, in events, in what
// is given to an activity. Messages about them are redacted here.

// redact is a text for people without secrets of the plan, of what the frame was given,
// and of what its calls have written and were called with.
func (f *frame) redact(text string) string {
	text = compiler.Redact(f.Plan, text)
	for f != nil {
		reader := f.reader()
		text = reader.secrets.Of(&reader.Store).Text(text)
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
	compiler.LearnSecrets(reader.secrets.Of(&reader.Store), nil, any(f.calls[i].params), own)
	return &Failure{Code: failure.Code, Message: f.redact(failure.Message),
		Details: resolve.WithTexts(failure.Details, f.redact)}
}
