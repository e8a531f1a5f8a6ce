package runtime

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/analyzer/permit"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/effects"
	"github.com/obelus-dev/obelus/compiler/label"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/policy"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime/request"
	"github.com/obelus-dev/obelus/runtime/resolve"
	"github.com/obelus-dev/obelus/runtime/review"
	"github.com/obelus-dev/obelus/runtime/state"
)

// Confirm is whom the run asks, as it stands.
func (m *Machine) Confirm() Confirm { return m.options.Confirm }

// hasAnswer reports whether an answer waits for a call to be asked about: to what was, or would be, asked.
func hasAnswer(f *frame, i int32) bool {
	ids := f.machine.answers[keptFor(f, i)]
	if more := f.calls[i].more; len(ids) == 0 || more != nil && more.question != nil || slices.Contains(ids, "") {
		return len(ids) > 0
	}
	q := questionOf(f, i)
	q.At = f.tryOf(i)
	q.Identify()
	return slices.ContainsFunc(ids, func(id string) bool { return review.SameQuestion(id, q.ID) })
}

func keptFor(f *frame, i int32) KeptAnswer {
	return KeptAnswer{Call: Path(f.site.Under, f.call(i).Name), Instance: f.site.Instance}
}

func (f *frame) tryOf(i int32) Try {
	return Try{Tick: f.machine.tick, Frame: f.number, Call: int(i), Attempt: int(f.calls[i].attempt)}
}

// needsReviewer reports whether the plan has a person asked about a call. A model can't do without by leaving the key
// out: its calls are held to those of the plan that was given, by their tools.
func needsReviewer(f *frame, i int32) bool {
	call := f.Plan.Calls[i]
	if l := f.machine.loop; l != nil && (l.wanted[call.ToolName] || l.wanted[f.call(i).ToolName]) {
		return true
	}
	return call.Confirm || label.Shown(f.Plan, f.call(i))
}

// effect is what the activity may do that carries a call out with its resolved parameters, and who says so.
func (s *schedule) effect(i int32) effects.Effect {
	if s.calls[i].status == Waiting { // its parameters aren't known yet
		return effects.Of(s.Plan, s.call(i), nil)
	}
	return effects.Of(s.Plan, s.call(i), func(t *plan.Tool) bool {
		return t.Parameters == nil || s.Budget.Validate(t.Parameters, s.calls[i].params) == nil
	})
}

func (f *frame) ask(i int32, problem string) {
	f.put(i, problem)
	if q := f.calls[i].more.question; q.Within > 0 {
		f.pause(i, q.Within).Question = q
	}
}

// put puts a question, or puts it anew where its answer can't be taken; the time for the first answer still runs then.
func (f *frame) put(i int32, problem string) {
	more := f.calls[i].details()
	if more.question == nil {
		more.question = questionOf(f, i)
	}
	q := more.question
	q.Problem, q.At = f.redact(problem), f.tryOf(i)
	if q.Identify(); !q.InFlight && len(q.Outside) == 0 {
		q.Within = f.machine.options.Confirm.Timeout
	}
	if !more.early {
		f.transition(i, Asking)
	}
	c := f.emit(i, Ask)
	c.Params, c.Question = q.Params, q
}

// Questions are those that are open, in the order in which people are asked.
func (m *Machine) Questions() []*Question {
	var open []ready
	for _, f := range m.frames {
		for i := range f.all() {
			if f.calls[i].asks() {
				open = append(open, f.inLine(i))
			}
		}
	}
	slices.SortStableFunc(open, ready.compare)
	all := make([]*Question, len(open))
	for i, one := range open {
		all[i] = one.frame.calls[one.call].more.question
	}
	return all
}

// questionOf is what a person has to know of a call: what runs, with all that it is given.
func questionOf(f *frame, i int32) *Question {
	call, listed, effect := f.call(i), compiler.RepeatedCall(f.call(i)), f.effect(i)
	q := &Question{
		Call: call.Name, Tool: call.ToolName, Activity: call.Activity, Site: f.site, Reason: call.Reason,
		Params: f.calls[i].params, Runs: review.ExecutionOf(f.Plan, call, f.calls[i].params), Context: f.context(i),
		Effects: effect.Kind, EffectsBy: effect.By, Claimed: effect.Claimed, ClaimedBy: effect.ClaimedBy,
		Untrusted: effect.Untrusted, OpenWorld: effect.OpenWorld, Writes: compiler.Offered(f.Plan, listed),
		Occasion: review.Occasion{Advice: f.root().ranking, Uncertainty: uncertainty(f, call),
			Wanted: needsReviewer(f, i)},
		Subject: review.Subject{Plan: f.Plan, Of: call},
	}
	q.Cost, _ = compiler.CostOf(call.Tool)
	if call.Retry.Attempts > 1 {
		q.Attempts = call.Retry.Attempts
	}
	if listed.Method != plan.Set {
		q.Method = listed.Method.String()
	}
	if r := f.replacement(i); r != nil {
		q.Replaces, q.Sources, q.Scopes = f.Plan.Calls[i].ToolName, r.sources, r.scopes
	} else {
		q.Sources, q.Scopes = review.Provenance(f.Plan, call,
			func(read *plan.Read) []string { return originsOf(f.reader(), f.reader().Plan, read) })
	}
	if more := f.calls[i].more; more != nil && more.changed != nil {
		q.Sources = nil
		for _, name := range slices.Sorted(maps.Keys(more.changed.Params)) {
			by := cmp.Or(more.changed.By, "a person")
			q.Sources = append(q.Sources, Source{Param: name, From: []string{}, By: by})
		}
	}
	return q
}

// originsOf names what a read got its value from: calls that wrote, under a permit those of earlier ticks included,
// or what was there from the start. Of a call that hasn't come so far they are those that may write yet. A replacement,
// whose plan p is, is bound to no call: it reads what has been written.
func originsOf(f *frame, p *plan.Plan, r *plan.Read) (from []string) {
	note := func(name string) {
		if !slices.Contains(from, name) {
			from = append(from, name)
		}
	}
	writers := r.Writers
	switch {
	case p != f.Plan:
		for _, m := range f.Log.Messages() {
			if m.Tick == f.machine.tick && f.Program.Paths.Overlap(m.Path, r.Path) {
				note(f.Plan.Calls[m.Call].Name)
			}
		}
	case compiler.ReadsItem(p, r): // what wrote the list
		for _, of := range p.Calls[r.Call].Each.List.Reads {
			writers = append(writers, p.Reads[of].Writers...)
		}
		fallthrough
	default:
		for _, m := range f.Log.Over(r.Path) {
			if w, known := m.By.(permit.Writer); known && m.Tick < f.machine.tick && f.Sees(r, m) {
				note(fmt.Sprintf("%s in tick %d", w.Tool, m.Tick))
			}
		}
	}
	for _, w := range writers {
		if s := f.calls[w].status; s == Done || s == Failed || !s.Settled() {
			from = append(from, p.Calls[w].Name)
		}
	}
	if len(from) == 0 {
		from = []string{f.Program.Paths.Kind(r.Path)}
	}
	return from
}

// unanswered takes the default when the time for an answer is over.
func unanswered(f *frame, i int32) {
	verdict := cmp.Or(f.machine.options.Confirm.Default, Reject)
	if label.Shown(f.Plan, f.call(i)) {
		verdict = Reject // nobody has seen it
	}
	f.emit(i, Cancel)
	takeDecision(f, i, &Decision{Verdict: verdict, By: review.ByTimeout,
		Reason: fmt.Sprintf("nobody answered within %v", f.machine.options.Confirm.Timeout)})
}

// takeDecision takes a person's answer to the question about a call. One that can't be taken asks again and says why.
func takeDecision(f *frame, i int32, d *Decision) {
	state, more := &f.calls[i], f.calls[i].more
	kept := keptFor(f, i)
	if at := slices.Index(f.machine.answers[kept], ""); at >= 0 { // one to whatever is asked is to this
		f.machine.answers[kept] = slices.Delete(f.machine.answers[kept], at, at+1)
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
		more.isAgain, more.uncertain = true, false
	case Fail:
		more.decide(d)
		interrupted(f, i)
		return
	case Reject:
		reason := "rejected by a person"
		switch {
		case d.By == review.ByTimeout:
			reason = d.Reason
		case d.Reason != "":
			reason += ": " + d.Reason
		}
		more.decide(d)
		more.replacement = nil // the call that is in the plan is rejected, whatever was proposed in its place
		f.failedForGood(i, &Failure{Code: "rejected", Message: reason})
		return
	case Change:
		if f.machine.permit != nil {
			more.facts = permit.Changed(factsOfCall(f, i), state.params, d.Params)
		}
		state.params, more.changed, more.last = d.Params, d, nil
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

// decide notes the answer to the question.
func (more *callDetails) decide(d *Decision) {
	if more.decision != nil {
		more.earlier = append(more.earlier, more.decision)
	}
	more.decision, more.question = d, nil
}

// A replacement is a call that a person put in the place of another, whose id, place and output path it keeps.
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
	case more.changed != nil:
		return more.changed.Params
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
	failure := verdict.Failure
	if failure == nil && verdict.Skip != "" {
		return verdict.Skip
	}
	if failure == nil {
		failure = resolve.Invalid(solved, by, params, &f.Budget.Matching)
	}
	if failure == nil {
		failure = forbidden(f, i, by, params)
	}
	if failure != nil {
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
	more := f.calls[i].more
	more.replacement, more.changed, more.last, more.isAgain, more.approvedOutside = r, nil, nil, false, nil
	if more.facts = nil; f.machine.permit != nil {
		more.facts = facts.OfCalls(solved)(by)
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
		return nil, "the id, the instance and the output path stay those of the call that is replaced: leave " +
			"\"_id\", \"_instance\" and \"_outputPath\" out"
	}
	if call.OutputNode != nil {
		own = own.WithText("_outputPath", strings.Join(compiler.Offered(f.Plan, call), " || "))
	}
	solution := request.Append(nil, request.Object{{Key: "calls", Value: []any{own}}})
	plan, found := settingOf(f).Solve(source.NewFile("replacement.json", solution), compiler.Options{})
	draft := analyzer.Screen(plan, found, f.machine.rules, nil)
	if !draft.Sound() || len(plan.Calls) != 1 {
		wrong := draft.Problems()
		if len(plan.Calls) == 1 {
			wrong = slices.Concat(wrong, draft.Faults(0))
		}
		if len(wrong) == 0 {
			return nil, "that isn't one call"
		}
		return nil, wrong[0].Message
	}
	return plan, worseLabels(f, call, plan)
}

// liveLabels are those of what stands there now, for a call that a person writes. In a delegate nothing is known.
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
	live.Seen = policy.LiveValue{}
	return live
}

// worseLabels is why a person's call can't replace another: its labels are worse than those that were checked.
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
