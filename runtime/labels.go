package runtime

import (
	"fmt"
	"maps"
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/label"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/policy"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// renewLive notes what the calls of the last tick left behind: the next solution is judged with the labels of what
// stands there and with what has started before it, and its own text is as good as what its model was shown. They
// follow from the plans and the policies alone, so that a resumed run has the same.
func (l *loop) renewLive() {
	if l.live == nil {
		return
	}
	l.live = l.live.Clone()
	known := map[*plan.Plan]*label.Labels{}
	for _, f := range l.roots() {
		if known[f.Plan] == nil {
			known[f.Plan] = label.Of(f.Plan)
		}
		leaveBehind(f, l.live, known[f.Plan])
		started := f.orders.Totals()
		if l.live.Started == nil {
			l.live.Started = started
		}
		for i, n := range started {
			l.live.Started[i] = max(l.live.Started[i], n)
		}
	}
}

func leaveBehind(f *frame, live *policy.Live, labels *label.Labels) {
	labels.Leave(live, func(call int) bool {
		return call < len(f.calls) && slices.Contains([]Status{Done, Failed, Running}, f.calls[call].status)
	})
}

// liveLabels are those of what stands there now, for a call that a person writes: their text
// is their own. Within a delegate nothing is known of what was handed to it.
func liveLabels(f *frame) *policy.Live {
	switch {
	case len(f.Plan.Policies) == 0:
		return nil
	case f.parent != nil:
		return label.Unknown()
	}
	live := label.Beginning(f.Plan)
	if l := f.machine.loop; l != nil {
		live = l.live.Clone()
	}
	leaveBehind(f, live, label.Of(f.Plan))
	live.Seen = policy.LiveValue{}
	return live
}

// worseLabels is the reason why a call that a person writes can't replace another: its labels
// would be worse than those with which the plan was checked.
func worseLabels(f *frame, call *plan.Call, by *plan.Plan) string {
	judged := label.Of(f.reader().Plan) // of an item the call that runs it was judged
	if judged == nil {
		return ""
	}
	was, is := judged.Result(compiler.RepeatedCall(call).Index), label.Of(by).Result(0)
	if is.Within(was) {
		return ""
	}
	return fmt.Sprintf("what it gives is %s, and calls that read it were judged with what is %s", is, was)
}

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
