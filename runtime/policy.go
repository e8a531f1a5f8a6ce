package runtime

import (
	"fmt"

	"github.com/obelus-dev/obelus/compiler/label"
	"github.com/obelus-dev/obelus/compiler/plan"
)

// The codes of what a policy forbids: those of the rules that find it beforehand.
const (
	codeOutside   = "outside-bounds"
	codeForbidden = "forbidden-order"
	codeMisfit    = "output-mismatch"
)

// countOrders lets the solution of a tick be judged with what has started before it.
func (l *loop) countOrders() {
	if l.live == nil {
		return
	}
	l.live = l.live.Clone()
	for _, f := range l.roots() {
		if l.live.Started == nil {
			l.live.Started = f.orders.Totals()
		}
		for i, n := range f.orders.Totals() {
			l.live.Started[i] = max(l.live.Started[i], n)
		}
	}
}

// forbidden is why a call can't start now with parameters; nil when it can.
func forbidden(f *frame, i int32, call *plan.Call, params map[string]any) *Failure {
	if call.Each != nil { // its items start, one by one
		return nil
	}
	c := f.root().orders.Forbids(f.plan, call, params, isRepeat(f, i, call))
	if c == nil {
		return nil
	}
	return &Failure{Code: codeForbidden, Message: fmt.Sprintf("the policy's rule %q says that %s", c.Name, c.Says())}
}

func isRepeat(f *frame, i int32, call *plan.Call) bool {
	return f.calls[i].attempt > 0 && label.IsIdempotent(f.plan, call)
}

func refusedByOrder(f *frame, i int32) bool {
	failure := forbidden(f, i, f.call(i), f.calls[i].params)
	if failure != nil {
		f.settle(i, Settlement{Status: Failed, Failure: failure, Attempts: int(f.calls[i].attempt)})
	}
	return failure != nil
}

func countStart(f *frame, i int32) {
	call := f.call(i)
	f.root().orders.Started(f.plan, call, f.calls[i].params, isRepeat(f, i, call))
}

func countDone(f *frame, i int32) {
	if call := f.call(i); call.Each == nil {
		f.root().orders.Done(f.plan, call, f.calls[i].params)
	}
}
