package facts

import (
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/workspace"
)

// OfCalls is what single calls of a plan may do, as [Of] has it: what they depend on is collected once for all.
func OfCalls(p *plan.Plan) func(*plan.Call) *Call {
	g := newGatherer(p)
	return func(c *plan.Call) *Call {
		one := g.call(c)
		return &one
	}
}

// Sum identifies a value that Text hides a part of, and is "" for any other: what is compared with it later needn't be
// kept in clear.
func (l Literal) Sum() string {
	if l.secret == "" {
		return ""
	}
	return workspace.SumOf([]byte(l.secret))
}

// writerList is a list of calls, which many reads share.
type writerList struct {
	first *int32
	n     int
}

func listOf(writers []int32) writerList {
	if len(writers) == 0 {
		return writerList{}
	}
	return writerList{&writers[0], len(writers)}
}
