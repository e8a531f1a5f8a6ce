package label

import (
	"fmt"

	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/policy"
)

// Beginning is what a run of a plan begins with: what a model that writes its first calls
// is shown. Of what calls of earlier runs did, which a process record holds, nothing is
// known but that it happened, so that it is as bad as a value can be. It is nil for a plan
// that stands under no policy.
func Beginning(p *plan.Plan) *policy.Live {
	l := begin(p)
	if l == nil {
		return nil
	}
	live := &policy.Live{}
	live.See(l.start.all.data().label(), "what stood there from the start")
	for _, all := range p.History {
		for _, w := range all {
			from := fmt.Sprintf("%q of the record", w.Tool())
			live.See(policy.Worst, from)
			if w.Path != pathtree.Root {
				live.Write(p.Paths.Segments(w.Path), policy.Worst, from)
			}
		}
	}
	return live
}

// Unknown is what may stand anywhere where nothing is known of it.
func Unknown() *policy.Live {
	live := &policy.Live{}
	for _, kind := range []string{"input", "state", "data", "error", "advice"} {
		live.Write([]expression.Segment{{Key: kind}}, policy.Worst, "it isn't known what it was made of")
	}
	return live
}

// Leave records the labels that calls leave for later ticks: at the paths that they write, and in what
// a model is shown. Happened reports whether a call has run.
func (l *Labels) Leave(live *policy.Live, happened func(call int) bool) {
	for i, c := range l.Plan.Calls {
		live.See(l.calls[i].control.label(), fmt.Sprintf("what became of %q", c.Name))
		if !happened(i) {
			continue
		}
		result, from := l.Result(i), fmt.Sprintf("%q", c.Name)
		live.See(result.Join(l.Sees(i)), from)
		live.Write([]expression.Segment{{Key: "error"}}, result.Join(l.Sees(i)), from)
		for _, path := range c.Paths() {
			live.Write(l.Plan.Paths.Segments(path.ID), result, from)
		}
	}
}
