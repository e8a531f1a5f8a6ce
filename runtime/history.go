package runtime

import (
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/label"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/runtime/request"
)

// keepHistory notes what the calls of a tick did, for the records of further ticks: what they wrote in the order in
// which it counts, and those that were done and wrote nothing. It numbers the done ones as they are listed.
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
	for i, call := range f.Plan.Calls {
		more := f.calls[i].more
		s, did, hasItems := more.settlement, recordedCall(f, i, numbers[i]), false
		wroteNothing := s.Status == Done && !s.before && len(call.Output) == 0
		if wroteNothing {
			did, _ = keepItems(f, i, did.With("_output", s.Output))
		} else if s.Status == Failed && more.last != nil && more.last.items != nil {
			did, hasItems = keepItems(f, i, did.With("_output", more.last.items.values))
		}
		if wroteNothing || hasItems {
			message := request.Write(nil, "", plan.Set, nil, did)
			f.history = append(f.history, request.Written{Message: message, When: f.machine.now})
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
		if f.Memory != nil && !seen[w.Number] && !volatile(w) {
			seen[w.Number] = w.Number > 0 // of the messages of one call the first
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
	reason := s.Reason
	if s.Failure != nil {
		reason = s.Failure.Code + ": " + s.Failure.Message
	}
	return request.Standing{Call: call.Node, Name: call.Name, Instance: instance, Status: s.Status.String(),
		Reason: reason, Decision: s.Decision.Report()}
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

// rematchCompleted lists further calls of the tick's plan, and reports whether more done calls are repeated.
func (l *loop) rematchCompleted(plan *plan.Plan) bool {
	grown := false
	for _, f := range l.roots() {
		if f.Memory == nil {
			continue
		}
		view := viewOf(f, plan)
		for _, call := range view.Calls[min(len(f.Memory.Listed), len(view.Calls)):] {
			key := ""
			if call.Tool == nil || !call.Tool.Volatile {
				key = compiler.PlanIdentity(view, call)
			}
			grown = f.Memory.List(key) || grown
		}
	}
	return grown
}

// mayBeListedLater reports whether what earlier ticks wrote at a path may be the work of a done call that is listed
// again only after a call of the tick; some messages don't matter.
func (s *schedule) mayBeListedLater(path pathtree.ID, call *plan.Call, except func(*Message) bool) bool {
	for _, m := range s.Log.Over(path) {
		if m.Completed > 0 && (except == nil || !except(m)) && s.Memory.MayBeListedAfter(m.Completed, call.Index) {
			return true
		}
	}
	return false
}

// dedupe gives the number of the done call that a call with resolved parameters repeats, or 0. It is pending where
// another one ahead of it may repeat that: of several alike the nth, in the graph's order, repeats the nth.
func (s *schedule) dedupe(i int32, params map[string]any) (number int32, pending bool) {
	alike := s.Memory.Alike(i, len(s.calls))
	if alike == nil {
		return 0, false
	}
	var before []int32
	for _, j := range alike {
		if s.Log.Place(j) < s.Log.Place(i) {
			if s.calls[j].status == Waiting {
				return 0, true
			}
			before = append(before, j)
		}
	}
	number = s.Memory.Match(i, params, before)
	if number == 0 && s.Plan.Calls[i].Each != nil {
		for at := range s.calls[i].more.items.Of {
			if one := &s.calls[i].more.items.Of[at]; one.Params != nil && one.Failure == nil {
				one.Output, one.Before = s.Memory.RepeatItem(i, one.Params)
			}
		}
	}
	return number, false
}

// lookAgain notes that those may be decided that waited for a call of their kind.
func (f *frame) lookAgain(i int32) {
	for _, j := range f.Memory.Alike(i, len(f.calls)) {
		f.look(j)
	}
}

func doneBefore(output any) Settlement {
	return Settlement{Status: Done, Output: output, Reason: "done before", before: true}
}

// settleContinued settles the calls that were done before this run began: those of whose output the frame's initial
// state holds one alternative, the failure route included, on all its paths.
func settleContinued(f *frame) {
	initial := func(path plan.Path) any { value, _ := f.Log.Initial(path.ID); return value }
	for i, call := range f.Plan.Calls {
		at := slices.IndexFunc(call.Output, func(route plan.Route) bool {
			return !slices.ContainsFunc(route, func(path plan.Path) bool { return initial(path) == nil })
		})
		if at >= 0 { // it has started, and isn't done, for which a state is no evidence
			f.orders.Started(label.IsMet(f.Plan, call), nil, false)
			f.settle(int32(i), doneBefore(initial(call.Output[at][0])))
		}
	}
}

// resolvedParams are what the plan resolved a call's parameters to, whatever a person made of them.
func (s *schedule) resolvedParams(i int32) map[string]any {
	call := s.Plan.Calls[i]
	params, v := s.Evaluate(call)
	if call.Each != nil {
		_, params, _ = s.Enumerate(call, params, v.List)
	}
	return params
}
