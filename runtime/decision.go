package runtime

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/analyzer/permit"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime/request"
	"github.com/obelus-dev/obelus/runtime/resolve"
	"github.com/obelus-dev/obelus/runtime/review"
	"github.com/obelus-dev/obelus/runtime/state"
)

// takeDecision takes a person's answer. One that can't be taken asks again and says why.
func takeDecision(f *frame, e Event) {
	i, state := int32(e.Call), &f.calls[e.Call]
	if !state.asks() || int(state.attempt) != e.Attempt || e.Decision == nil {
		return
	}
	d, more := e.Decision, state.more
	if ids := f.machine.answers[keptFor(f, i)]; slices.Contains(ids, "") { // one to whatever is asked is to this
		f.machine.answers[keptFor(f, i)] = slices.Delete(ids, slices.Index(ids, ""), slices.Index(ids, "")+1)
	}
	if problem := unusable(f, i, d); problem != "" {
		f.put(i, problem)
		return
	}
	if len(more.question.Outside) > 0 && decidedOutside(f, i, d) {
		return
	}
	switch d.Verdict {
	case Retry:
		more.permitState.again, more.uncertain = true, false
	case Fail:
		more.decide(d)
		more.question = nil
		interrupted(f, i)
		return
	case Reject:
		rejectCall(f, i, d)
		return
	case Change:
		if f.machine.permit != nil {
			more.permitState.own = permit.Changed(factsOfCall(f, i), state.params, d.Params)
		}
		state.params, more.last = d.Params, nil
	case Replace:
		problem := replaceCall(f, i, d)
		if problem == "" {
			more.question = nil // what is asked about is another call
		}
		f.put(i, problem)
		return
	}
	if r := more.replacement; r != nil && d.Verdict != Retry { // what was decided is the replacement, as it was shown
		d = &Decision{Verdict: Replace, Replacement: r.decision.Replacement, Params: d.Params,
			Reason: d.Reason, By: d.By}
	}
	more.decide(d)
	if more.question = nil; d.Verdict == Change || d.Verdict == Replace {
		more.override = d
	}
	state.approved = true
	f.transition(i, Queued)
}

// unusable says why an answer can't be taken; "" if it can.
func unusable(f *frame, i int32, d *Decision) string {
	state := &f.calls[i]
	q, params := state.more.question, state.params
	switch {
	case d.ID != "" && !review.SameQuestion(d.ID, q.ID):
		return "it was an answer to another question, or what would run has changed since"
	case !slices.Contains(q.Verdicts(), string(d.Verdict)):
		return fmt.Sprintf("%q is no answer to this question: expected %s", d.Verdict, wording.Or(q.Verdicts()))
	case d.Verdict == Change:
		if problem := q.Unacceptable(d.Params); problem != "" {
			return problem
		}
		params = d.Params
	case d.Verdict != Retry:
		return ""
	}
	if failure := forbidden(f, i, f.call(i), params); failure != nil {
		return failure.Message
	}
	return ""
}

func (more *callDetails) decide(d *Decision) {
	if more.decision != nil {
		more.earlier = append(more.earlier, more.decision)
	}
	more.decision = d
}

// rejectCall settles a call that a person rejects: the one that is in the
// plan, whatever was proposed in its place. Its failure route takes the record.
func rejectCall(f *frame, i int32, d *Decision) {
	state := &f.calls[i]
	state.more.decide(d)
	state.more.replacement = nil
	reason := "rejected by a person"
	switch {
	case d.By == review.ByTimeout:
		reason = d.Reason
	case d.Reason != "":
		reason += ": " + d.Reason
	}
	f.failedForGood(i, &Failure{Code: "rejected", Message: reason})
}

// A replacement is a call that a person put in the place of another. It keeps that
// one's id, place and output path, and nothing else.
type replacement struct {
	call     *plan.Call
	decision *Decision
	params   map[string]any
	context  map[string]any // what its scopes hand over, resolved like its parameters when it was written
	sources  []Source
	scopes   []review.ScopeSource
}

func (s *schedule) replacement(i int32) *replacement {
	if more := s.calls[i].more; more != nil {
		return more.replacement
	}
	return nil
}

// chosen is what a person has a call run with, whatever the plan says; or nil.
func (s *schedule) chosen(i int32) map[string]any {
	switch more := s.calls[i].more; {
	case more == nil:
	case more.override != nil && more.override.Params != nil:
		return more.override.Params
	case more.replacement != nil:
		return more.replacement.params
	}
	return nil
}

// replaceCall puts another call in the place of one, or says why it can't. It reads what is there now.
func replaceCall(f *frame, i int32, d *Decision) string {
	call := f.Plan.Calls[i]
	solved, problem := compileReplacement(f, call, d.Replacement)
	if problem != "" {
		return problem
	}
	by := solved.Calls[0]
	if by.Each != nil {
		return "what takes the place of one call can't run for each item of a list: leave \"_each\" out"
	}
	if by.Latent() && by.Produced == nil && f.machine.loop == nil {
		return fmt.Sprintf("no activity carries out the tool %q", by.ToolName)
	}
	// Its references are resolved here and now.
	scratch := &resolve.Resolver{Store: f.Store, Memory: f.Memory, Reads: make([]resolve.Read, len(solved.Reads))}
	scratch.Plan = solved
	for r := range solved.Reads {
		scratch.Reads[r].Set(f.Log.Resolve(solved.Reads[r].Path, state.Anyone))
	}
	params, verdict := scratch.Evaluate(by)
	switch {
	case verdict.Failure != nil:
		return verdict.Failure.Message
	case verdict.Skip != "":
		return verdict.Skip
	}
	if failure := resolve.Invalid(solved, by, params, &f.Budget.Matching); failure != nil {
		return failure.Message
	}
	if failure := forbidden(f, i, by, params); failure != nil {
		return failure.Message
	}
	merged := *by
	merged.Index, merged.Place, merged.Name, merged.ID, merged.Instance = call.Index, call.Place, call.Name,
		call.ID, call.Instance
	merged.Output, merged.OutputNode, merged.ItemOf = call.Output, call.OutputNode, call.ItemOf
	merged.Reads, merged.After, merged.Choices, merged.Waits = call.Reads, call.After, call.Choices, call.Waits
	r := &replacement{call: &merged, decision: d, params: params, context: state.ScopeValues(by, scratch.Read)}
	r.sources, r.scopes = review.Provenance(solved, by,
		func(read *plan.Read) []string { return originsOf(f.reader(), solved, read) })
	more := f.calls[i].details()
	more.replacement, more.override, more.last = r, nil, nil
	if more.permitState = (permitState{}); f.machine.permit != nil {
		more.permitState.own, more.permitState.isReplaced = facts.OfCalls(solved)(by), true
	}
	f.calls[i].params = params
	return ""
}

// compileReplacement checks a call that a person wrote like any other, in the setting of what is there now.
func compileReplacement(f *frame, call *plan.Call, text json.RawMessage) (*plan.Plan, string) {
	root, problems := source.Parse(source.NewFile("replacement.json", text), source.DefaultLimits())
	own, isObject := request.Of(root).(request.Object)
	if !isObject || len(problems) > 0 {
		return nil, "a call is a JSON object: {\"_tool\": " + request.JSON(call.ToolName) + ", …}"
	}
	if own.Has("_id") || own.Has("_outputPath") || own.Has("_instance") {
		return nil,
			"the id, the instance and the output path stay those of the call that is replaced: leave \"_id\", " +
				"\"_instance\" and \"_outputPath\" out"
	}
	if call.OutputNode != nil {
		own = own.WithText("_outputPath", strings.Join(compiler.Offered(f.Plan, call), " || "))
	}
	solution := request.Append(nil, request.Object{{Key: "calls", Value: []any{own}}})
	plan, found := settingOf(f).Solve(source.NewFile("replacement.json", solution), compiler.Options{})
	draft := analyzer.Screen(plan, found, f.machine.rules, nil)
	if !draft.Sound() || len(plan.Calls) != 1 {
		problems := draft.Problems()
		if len(plan.Calls) == 1 {
			problems = slices.Concat(problems, draft.Faults(0))
		}
		for _, d := range problems {
			return nil, d.Message
		}
		return nil, "that isn't one call"
	}
	return plan, worseLabels(f, call, plan)
}
