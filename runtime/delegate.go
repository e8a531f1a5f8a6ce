package runtime

import (
	"fmt"

	"github.com/obelus-dev/obelus/compiler"
)

// anonymous is the delegate that is the call itself, in an empty context (S14.1).
const anonymous = "anonymous"

// isDelegated tells whether a plan carries a call out.
func isDelegated(call *compiler.Call) bool { return call.Delegate != "" && call.Delegate != anonymous }

// child is the delegate at work for a call, or nil.
func (f *frame) child(i int32) *frame {
	if more := f.calls[i].more; more != nil {
		return more.child
	}
	return nil
}

// delegate begins the next try of a call that a plan carries out. It takes no
// place from activities (S8.4): its own calls do.
func (f *frame) delegate(i int32) {
	call, state := f.call(i), &f.calls[i]
	plan := f.base()
	state.status = Running
	state.attempt++
	f.emitOf(i, Command{Kind: Enter, Params: state.params})
	if call.Timeout > 0 {
		f.emitOf(i, Command{Kind: SetTimer, After: call.Timeout})
	}
	d := &frame{Machine: f.Machine, number: len(f.frames), instance: f.instance, order: f.order, place: f.place, parent: f, under: i, path: call.Name}
	if d.place < 0 {
		d.place = int32(f.plan.Calls[i].Place)
	}
	if f.path != "" {
		d.path = f.path + "/" + call.Name
	}
	f.Machine.frames = append(f.Machine.frames, d)
	state.particular().child = d
	given := f.context(call)
	d.log = &Log{initial: map[string]any{
		"input": over(mapping(plan.Input), state.params),
		"state": over(mapping(plan.State), mapping(given["state"])),
		"data":  over(plan.Data, without(given, "state", "input")),
	}}
	d.plan, d.program = plan, f.Machine.program(plan)
	d.log.program = d.program
	d.enrol(nil)
	d.begin()
}

// deliver gives the call that a delegate carries out what it has come to.
func (f *frame) deliver() {
	output := f.conclude()
	f.forget()
	var failure *Failure
	if len(f.errors) > 0 {
		first := f.errors[0]
		failure = &Failure{Code: first.Code, Message: first.Message, Details: map[string]any{"delegate": f.parent.call(f.under).Delegate, "call": first.Call}}
		if first.Call != "" {
			failure.Message = fmt.Sprintf("%s/%s: %s", f.path, first.Call, first.Message)
		}
	}
	f.parent.came(f.under, output, -1, failure)
}

// abandon gives a delegate up, with all that it has at work.
func (f *frame) abandon() {
	for i := range f.calls {
		state := &f.calls[i]
		switch state.status {
		case Running:
			f.giveUp(int32(i))
		case Asking:
			f.emitOf(int32(i), Command{Kind: Cancel})
		}
		if !state.status.Settled() {
			f.settle(int32(i), Settlement{Status: Cancelled, Reason: "the call that delegates was given up", Attempts: int(state.attempt)})
		}
	}
	f.forget()
}

// forget forgets a delegate.
func (f *frame) forget() {
	f.frames[f.number] = nil
	f.parent.calls[f.under].more.child = nil
}

func (f *frame) context(*compiler.Call) map[string]any { return nil }

func without(given map[string]any, kinds ...string) map[string]any { return given }
