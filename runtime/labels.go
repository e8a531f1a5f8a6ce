package runtime

import (
	"fmt"
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/label"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/policy"
)

// leaveLabels notes what the calls of the tick that ends leave behind: the next solution is judged with the labels of
// what stands there, and its own text is as good as what its model was shown. They follow from the plans and the
// policies alone, so that a resumed run has the same.
func (l *loop) leaveLabels() {
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
	live.Seen, live.From = policy.Label{}, ""
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
