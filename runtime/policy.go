package runtime

import (
	"fmt"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/runtime/orders"
)

// What policies ask of the order of calls (S17.6) holds for each instance of a run by
// itself, for its delegates and items as well, over ticks and resumed runs: what has been
// begun and done in it is worked out from the events of the run like everything else.

// The codes of what a policy forbids: those of the rules that find it beforehand.
const (
	codeOutside   = "outside-bounds"
	codeForbidden = "forbidden-order"
	codeMisfit    = "output-mismatch"
)

// count lets the solution of a tick be judged with what has been begun before it.
func (m *Machine) count() {
	l := m.loop
	if l.live == nil {
		return
	}
	l.live = l.live.Clone()
	for _, f := range m.roots() {
		for at, n := range f.orders.Standing() {
			if l.live.Begun == nil {
				l.live.Begun = f.orders.Standing()
			}
			l.live.Begun[at] = max(l.live.Begun[at], n)
		}
	}
}

// forbidden is why a call can't begin now with parameters; nil when it can.
func (f *frame) forbidden(i int32, call *compiler.Call, params map[string]any) *Failure {
	if call.Each != nil { // its items begin, one by one
		return nil
	}
	c := f.root().orders.Forbids(f.plan, call, params, f.repeats(i, call))
	if c == nil {
		return nil
	}
	return &Failure{Code: codeForbidden, Message: fmt.Sprintf("the policy's rule %q says that %s", c.Name, c.Says())}
}

// repeats reports whether the next try of a call does no more than those before it.
func (f *frame) repeats(i int32, call *compiler.Call) bool {
	return f.calls[i].attempt > 0 && orders.Idempotent(f.plan, call)
}

// refusedByOrder settles a call that can't begin now.
func (f *frame) refusedByOrder(i int32) bool {
	failure := f.forbidden(i, f.call(i), f.calls[i].params)
	if failure != nil {
		f.settle(i, Settlement{Status: Failed, Failure: failure, Attempts: int(f.calls[i].attempt)})
	}
	return failure != nil
}

// began notes that a try of a call begins.
func (f *frame) began(i int32) {
	call := f.call(i)
	f.root().orders.Begun(f.plan, call, f.calls[i].params, f.repeats(i, call))
}

// did notes that a call is done.
func (f *frame) did(i int32) {
	if call := f.call(i); call.Each == nil {
		f.root().orders.Done(f.plan, call, f.calls[i].params)
	}
}
