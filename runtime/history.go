package runtime

import (
	"strings"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/runtime/request"
)

// keepHistory notes what the calls of a tick did, for the records of further ticks: what they wrote in the order in
// which it counts, and those that were done and wrote nothing. It numbers the done ones as they are listed, whenever
// they ended.
func keepHistory(f *frame) {
	numbers, calls := map[int]int32{}, map[int]request.Object{}
	for i := range f.calls {
		if s := f.calls[i].more.settlement; f.Memory != nil && s.Status == Done && !s.before {
			numbers[i] = f.Memory.Add(f.Memory.Listed[i].Key, f.resolvedParams(int32(i)), s.Output)
		}
	}
	for _, m := range f.Log.OfTick() {
		if m.Completed = numbers[m.Call]; calls[m.Call] == nil {
			calls[m.Call] = recordedCall(f, m.Call, numbers[m.Call])
			if f.calls[m.Call].more.settlement.Status == Done {
				calls[m.Call], _ = keepItems(f, m.Call, calls[m.Call])
			}
		}
		paths := f.Program.Paths
		message := request.Write(paths.Segments(m.Path), paths.String(m.Path), m.Method, m.Value, calls[m.Call])
		f.history = append(f.history, request.Written{Message: message, When: m.At})
	}
	ran := func(call request.Object) {
		message := request.Write(nil, "", plan.Set, nil, call)
		f.history = append(f.history, request.Written{Message: message, When: f.machine.now})
	}
	for i, call := range f.Plan.Calls {
		more := f.calls[i].more
		switch s := more.settlement; {
		case s.Status == Done && !s.before && len(call.Output) == 0:
			did, _ := keepItems(f, i, recordedCall(f, i, numbers[i]).With("_output", s.Output))
			ran(did)
		case s.Status == Failed && more.last != nil && more.last.items != nil:
			if did, some := keepItems(f, i, recordedCall(f, i, 0).With("_output", more.last.items.values)); some {
				ran(did)
			}
		}
	}
}

// keepItems notes which items of a call are done, so that they aren't run again when a carried plan lists them with
// others. It gives the call as a record holds it, with their places, and reports whether there are any.
func keepItems(f *frame, i int, call request.Object) (request.Object, bool) {
	d := f.calls[i].more.last
	if f.Memory == nil || d == nil || d.items == nil {
		return call, false
	}
	var places []any
	for at := range d.calls {
		if s := d.calls[at].more.settlement; s.Status == Done && !s.before {
			f.Memory.AddItem(f.Memory.Listed[i].Key, d.items.Of[at].Params, s.Output)
			places = append(places, float64(at))
		}
	}
	if places == nil {
		return call, false
	}
	return call.With("_items", places), true
}

// recordedCall is a call as a record holds it; number is that of a done call, from 1, or 0.
func recordedCall(f *frame, i int, number int32) request.Object {
	call := f.Plan.Calls[i]
	out := request.Object{{Key: "_tool", Value: call.ToolName}, {Key: "_id", Value: call.Name},
		{Key: "_tick", Value: float64(f.machine.tick)}}
	params := f.calls[i].more.ran
	if number > 0 { // what the plan resolved them to, whatever a person made of them
		params = f.Memory.Completed[number-1].Params
	}
	out = out.WithAll(params).WithText("_activity", call.Activity).WithText("_delegate", call.Delegate).
		WithText("_instance", call.Instance).
		WithText("_outputPath", strings.Join(compiler.Offered(f.Plan, call), " || "))
	if call.Method != plan.Set {
		out = out.With("_outputMethod", call.Method.String())
	}
	if number > 0 {
		out = out.With("_number", float64(number))
	}
	if s := f.calls[i].more.settlement; s.Status != Done {
		out = out.With("_status", s.Status.String())
	}
	return out
}

// recall brings a frame to where a record says that its run stood: what was written is in
// the log as earlier ticks have left it, and what was done needn't be done again.
func recall(f *frame, history []plan.Written) {
	if f.machine.loop == nil {
		return // what was written is among its values
	}
	base := f.machine.loop.base
	numbers := map[int]int32{}
	volatile := func(w *plan.Written) bool { tool := base.Tool(w.Tool); return tool != nil && tool.Volatile }
	if f.Memory != nil {
		for _, w := range compiler.DoneCalls(history) {
			key := w.Identity
			if volatile(w) {
				key = ""
			}
			numbers[w.Number] = f.Memory.Add(key, w.Params(), w.Output())
		}
	}
	seen := map[int]bool{}
	for i := range history {
		w := &history[i]
		if number := w.Number; f.Memory != nil && !seen[number] && !volatile(w) {
			seen[number] = number > 0 // of the messages of one call the first
			w.Items(func(params map[string]any, output any) {
				f.Memory.AddItem(w.Identity, params, output)
			})
		}
		if w.Path != pathtree.Root && !isGivenAnew(f, w.Path) {
			f.Log.Append(Message{
				Path: w.Path, Method: w.Method, Value: w.Value, Completed: numbers[w.Number],
				Failure: w.Failed || base.Writes == plan.Once && w.Failure,
			})
		}
		f.history = append(f.history, request.Written{Message: request.Of(w.Message).(request.Object)})
	}
}

// isGivenAnew reports whether the run was given what stands at a path, in the place of what the record says of it.
func isGivenAnew(f *frame, id pathtree.ID) bool {
	path := f.Program.Paths.Segments(id)
	if len(path) < 2 || path[0].Key != "state" {
		return false
	}
	_, given := f.machine.options.State[path[1].Key]
	return given
}

func standingOf(call *plan.Call, instance string, s *Settlement) request.Standing {
	one := request.Standing{Call: call.Node, Name: call.Name, Instance: instance, Status: s.Status.String(),
		Reason: s.Reason, Decision: s.Decision.Report()}
	if s.Failure != nil {
		one.Reason = s.Failure.Code + ": " + s.Failure.Message
	}
	return one
}

// carry makes the solution's calls the next request's plan message, and notes what that and the state don't show them.
func (l *loop) carry() {
	if l.plan.CallsNode == nil {
		return // of a solution that couldn't be read, the plan before it stands
	}
	l.recorded = nil
	l.carried = make([]request.Standing, len(l.plan.Calls))
	for i, call := range l.plan.Calls {
		l.carried[i] = request.Standing{Call: call.Node, Name: call.Name}
	}
	for _, f := range l.roots() {
		for i, call := range f.Plan.Calls {
			s := f.calls[i].details().settlement
			if s.absent { // of several values that it lacks, timing decided which was seen first
				if _, v := f.Evaluate(call); v.Skip != "" {
					s.Reason = v.Skip
				}
			}
			one := standingOf(call, f.site.Instance, s)
			carried := &l.carried[call.Place]
			carried.Each = append(carried.Each, one)
			l.tellBelow(f, int32(i), s.Status == Failed)
			if settled, ok := reportApart(f, int32(i), one, s); ok {
				l.past.Add(settled)
			}
		}
	}
	for i := range l.carried {
		l.carried[i].Fold()
	}
}

// reportApart is what the next requests report about a call besides what it wrote and what the carried plan says of it:
// one that did something and wrote nothing, so that it isn't done again for want of knowing; and, where no plan is
// carried, one about which a person decided otherwise than to let it run.
func reportApart(f *frame, i int32, one request.Standing, s *Settlement) (request.Settled, bool) {
	call := f.Plan.Calls[i]
	acted := s.Status == Done && !s.before && len(call.Output) == 0
	if !acted && (f.machine.loop.carries || !isDeviation(s.Decision)) {
		return request.Settled{}, false
	}
	settled := request.Settled{Standing: one, Tool: f.call(i).ToolName, Tick: f.machine.tick, Result: s.Output}
	if acted && f.replacement(i) == nil { // that one is in the decision
		settled.Params = f.resolvedParams(i)
	}
	return settled, true
}

// tellBelow reports of what was done for a call what neither the state nor the plan shows: what people decided about
// its items otherwise than to let them run, and, where the call has failed, what is done all the same.
func (l *loop) tellBelow(f *frame, i int32, hasFailed bool) {
	d := f.calls[i].more.last
	if d == nil {
		return
	}
	for at := range d.calls {
		more := d.calls[at].more
		s, params := more.settlement, more.ran
		if d.items != nil {
			params = d.items.Of[at].Params
		}
		if hasFailed && s.Status != Done {
			l.tellBelow(d, int32(at), hasFailed)
		}
		if hasFailed && s.Status == Done && !s.before || d.items != nil && isDeviation(s.Decision) {
			l.past.Add(request.Settled{Tool: d.call(int32(at)).ToolName, Tick: l.tick, Params: params,
				Standing: standingOf(d.Plan.Calls[at], d.site.Instance, s), Result: s.Output})
		}
	}
}

func isDeviation(d *Decision) bool { return d != nil && d.Verdict != Approve }
