package runtime

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/plan"
)

type errorMessage struct {
	call    int
	failure *Failure
}

// showErrors makes what failed readable as †error, now that nothing more can start: until then no call sees the
// errors of its own tick. They stand in plan order, which doesn't depend on timing.
func showErrors(f *frame) {
	slices.SortFunc(f.unrouted, func(a, b errorMessage) int { return a.call - b.call })
	earlier := f.readable
	f.readable = slices.Clip(f.readable)
	for _, e := range f.unrouted {
		call := f.plan.Calls[e.call].Node.Value()
		if more := f.calls[e.call].more; more != nil && more.given != nil { // a reviewer changed or replaced it
			ran, _ := call.(map[string]any)
			maps.DeleteFunc(ran, func(key string, _ any) bool { return !strings.HasPrefix(key, "_") })
			maps.Copy(ran, more.ran)
			ran["_tool"] = f.call(int32(e.call)).ToolName
		}
		f.readable = append(f.readable, map[string]any{"call": call, "error": e.failure.record()})
	}
	if showFailures(f); f.machine.loop != nil && f.parent == nil {
		f.unrouted = nil
	} else {
		f.readable = earlier
	}
}

func showFailures(f *frame) {
	if len(f.readable) > 0 {
		f.log.Give("error", f.readable)
	}
}

func finishFrame(f *frame) {
	switch {
	case f.parent != nil:
		returnResult(f)
	case f.machine.loop == nil && f.machine.instances != nil:
		output, status := concludeFrame(f), RunDone
		if len(f.errors) > 0 {
			status = RunFailed
		}
		leaveRun(f, status, output)
	}
}

func concludeFrame(f *frame) any {
	showErrors(f)
	output, problem := outputOf(f)
	if problem != nil {
		f.recordError(*problem, atLast)
	}
	return output
}

// outcomeOfCalls is the outcome of a run without a planner: failed where anything has.
func outcomeOfCalls(m *Machine, output any) *Outcome {
	outcome := m.outcome(RunDone, "")
	outcome.Output = output
	if len(outcome.Errors) > 0 {
		outcome.Status, outcome.Reason = RunFailed, Reason(outcome.Errors[0].Message)
	}
	return outcome
}

// outcomeOfGoal is the outcome of a run whose planner has reached its goal, with what it is in every instance.
func outcomeOfGoal(m *Machine, outputs []any) *Outcome {
	var output any
	if m.instances == nil {
		output = outputs[0]
	} else {
		for at, f := range m.roots() {
			status := RunDone
			if !m.options.Planned && len(f.errors) > 0 {
				status = RunFailed
			}
			leaveRun(f, status, outputs[at])
		}
	}
	if !m.options.Planned {
		return outcomeOfCalls(m, output)
	}
	outcome := m.outcome(RunDone, "")
	outcome.Output = output
	for _, end := range slices.Backward(outcome.Instances) {
		if end.Status == RunFailed { // it didn't fit, and took no part
			outcome.Status, outcome.Reason = RunFailed, Reason(end.Errors[0].Message)
		}
	}
	return outcome
}

// Stands is how the run stands: as if it stopped here.
func (m *Machine) Stands() *Outcome {
	o := m.outcome(RunStopped, m.ending)
	o.Counts.Cancelled += m.unsettled
	return o
}

func (m *Machine) outcome(status RunStatus, reason Reason) *Outcome {
	o := &Outcome{Status: status, Reason: reason, Why: m.why, Errors: sortedErrors(m.errors),
		Counts: m.counts, Usage: m.usage}
	if m.options.Planned {
		o.Ticks = m.tick
	}
	if m.instances == nil {
		o.State = m.frames[0].log.Value("state")
		return o
	}
	o.Instances = append(make([]InstanceEnd, 0, len(m.instances.ends)), m.instances.ends...)
	for _, f := range m.frames {
		if f != nil && f.parent == nil && !f.left { // it hasn't ended
			o.Instances = append(o.Instances, instanceEnd(f, status, nil))
		}
	}
	return o
}

func (m *Machine) finish(o *Outcome) {
	m.over = true
	m.emit(Finish).Outcome = o
}

// The bounds of a plan's output, which may hold one value in many places: those of any result.
const (
	maxOutputValues = 2_000_000
	maxOutputText   = 8 << 20
)

// outputOf resolves the plan's output and validates it; the problem is nil when there is none.
func outputOf(f *frame) (any, *CallError) {
	r := resolution{frame: f}
	var value any
	if f.plan.Output != nil {
		if given, there := r.value(f.plan.Output); there {
			value = given
		}
	}
	if values, text := maxOutputValues, maxOutputText; !fits(value, &values, &text) {
		r.problem = &CallError{Code: codeLimit,
			Message: fmt.Sprintf("the plan's output is too large: it may have %d MiB "+
				"of text and %d values", maxOutputText>>20, maxOutputValues)}
	}
	if r.problem != nil && r.problem.Code == codeLimit {
		value = nil
	}
	held := f.plan.Output != nil // against its schema; a planner's null is none, unless the loop ends with it
	switch {
	case f.parent == nil && f.machine.options.Planned:
		held = value != nil || f.machine.loop.base.Terminate == plan.TerminateCalls && len(f.machine.plan.Calls) == 0 &&
			!f.machine.loop.refused
	case r.problem == nil && f.parent == nil && f.plan.Output != nil && f.plan.Output.Live() && len(f.errors) == 0 &&
		(r.leaves == 0 || value == nil && !f.plan.Output.FallsBack()):
		r.problem = noOutput(f)
	}
	if r.problem == nil && f.plan.OutputSchema != nil && held {
		if v := f.machine.validate(f.plan.OutputSchema, value); v != nil {
			r.problem = &CallError{Code: "bad-output", Message: "the plan's output doesn't fit its schema" + misfit(v)}
		}
	}
	if r.problem != nil {
		r.problem.Message = f.redact(r.problem.Message)
	}
	return value, r.problem
}

// noOutput says what the plan's output lacks, and which calls were skipped for want of something on the way to it; or
// which are done, where none was.
func noOutput(f *frame) *CallError {
	var lacks, skipped, done []string
	needed := make([]bool, len(f.calls))
	need := func(read *plan.Read) {
		for _, i := range read.Writers {
			needed[i] = true
		}
	}
	for i := range f.plan.Reads {
		if read := &f.plan.Reads[i]; read.Call < 0 {
			if value, there := f.resolve(read); value == nil {
				lacks = append(lacks, read.Ref.String()+map[bool]string{true: " is null", false: " is missing"}[there])
				need(read)
			}
		}
	}
	for _, i := range slices.Backward(f.plan.Graph.Order()) {
		if !needed[i] {
			continue
		}
		call := f.plan.Calls[i]
		switch f.calls[i].status {
		case Skipped:
			_, v := f.verdict(int32(i))
			skipped = append(skipped, fmt.Sprintf("%q was skipped: %s", call.Name, cmp.Or(v.skip, alreadyThere)))
		case Rejected, Cancelled:
			skipped = append(skipped, fmt.Sprintf("%q was %s", call.Name, f.calls[i].status))
		case Done:
			done = append(done, fmt.Sprintf("%q is done: see its result", call.Name))
		}
		for _, r := range call.Reads {
			need(&f.plan.Reads[r])
		}
	}
	if slices.Sort(lacks); len(skipped) == 0 {
		skipped = done
	}
	slices.Reverse(skipped)
	const most = 5
	entries := slices.Concat(slices.Compact(lacks), skipped)
	if more := len(entries) - most; more > 0 {
		entries = append(entries[:most], fmt.Sprintf("and %d more", more))
	}
	return &CallError{Code: "no-output",
		Message: strings.TrimSuffix("the plan's output has no value: "+strings.Join(entries, "; "), ": ")}
}

// A resolution of a frame's output.
type resolution struct {
	*frame
	leaves  int // that are there
	problem *CallError
}

// value resolves a part of the output: an absent leaf is left out.
func (r *resolution) value(t *plan.Template) (any, bool) {
	switch {
	case t.Expr != nil:
		value, presence, failure := r.machine.compute(t, func(ref int) (any, expression.Presence) {
			if value, there := r.resolve(&r.plan.Reads[t.Reads[ref]]); there {
				return value, expression.There
			}
			return nil, expression.Absent
		})
		if failure != nil {
			r.problem = &CallError{Code: failure.Code, Message: "the output " + failure.Message}
			return nil, false
		}
		if presence == expression.There && (value != nil || t.FallsBack()) { // null counts as missing
			r.leaves++
		}
		return value, presence == expression.There
	case !t.Live():
		if hasLeaf(t.Value) {
			r.leaves++
		}
		return t.Value, true
	case t.Fields != nil:
		object := make(map[string]any, len(t.Fields))
		for _, field := range t.Fields {
			if value, ok := r.value(field.Value); ok {
				object[field.Key] = value
			}
		}
		return object, true
	}
	list := make([]any, 0, len(t.Items))
	for _, item := range t.Items {
		if value, ok := r.value(item); ok {
			list = append(list, value)
		}
	}
	return list, true
}

// hasLeaf reports whether a value is more than lists and objects without anything in them.
func hasLeaf(value any) bool {
	switch v := value.(type) {
	case []any:
		return slices.ContainsFunc(v, hasLeaf)
	case map[string]any:
		return slices.ContainsFunc(slices.Sorted(maps.Keys(v)), func(key string) bool { return hasLeaf(v[key]) })
	}
	return true
}

// fits takes a value off what there is room for, and reports whether that was enough.
func fits(value any, values, text *int) bool {
	*values--
	switch v := value.(type) {
	case string:
		*text -= len(v)
	case []any:
		if slices.ContainsFunc(v, func(item any) bool { return !fits(item, values, text) }) {
			return false
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if *text -= len(key); !fits(v[key], values, text) {
				return false
			}
		}
	}
	return *values >= 0 && *text >= 0
}
