package runtime

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/source"
)

// Confirm says which calls a person is asked about (S10.2), and what counts as
// the answer when none comes. The zero value asks nobody.
type Confirm struct {
	Policy  Policy        `json:"policy,omitzero"`
	Timeout time.Duration `json:"timeout,omitzero"` // 0 waits for ever
	Default Verdict       `json:"default,omitzero"` // [Approve] or [Reject]; "" is Reject
}

// Policy is whom a run asks before a call starts.
type Policy string

// The policies of S10.2.
const (
	Never   Policy = ""        // nobody
	Effects Policy = "effects" // about calls that may change the world
	Always  Policy = "always"  // about every call
)

// asks tells whether a person must be asked before a call starts. Effects asks
// where the tool isn't known to be read-only; what an expression computes and
// what a model only thinks changes nothing.
func (c Confirm) asks(p *compiler.Plan, call *compiler.Call) bool {
	switch c.Policy {
	case Always:
		return true
	case Effects:
		a := p.Activities[call.Activity]
		return a != nil && a.Kind != "expr" && a.Kind != "plan" && effects(call.Tool) != "read-only"
	}
	return false
}

// effects is what a tool's annotations say that it does; MCP's defaults hold
// where they don't.
func effects(tool *compiler.Tool) string {
	if tool == nil {
		return "unknown"
	}
	hints := tool.Hints
	switch {
	case hints.ReadOnly != nil && *hints.ReadOnly:
		return "read-only"
	case hints.Destructive != nil && *hints.Destructive:
		return "destructive"
	case hints.Destructive != nil:
		return "writes"
	}
	return "unknown"
}

// ask puts the question whether a call may start.
func (f *frame) ask(i int32, problem string) {
	state := &f.calls[i]
	more := state.particular()
	if more.question == nil {
		more.question = f.question(i)
	}
	more.question.Problem = problem
	again := state.status == Asking && problem != "" // the time for the first answer still runs
	state.status = Asking
	c := f.emit(i, Ask)
	c.Params, c.Question = state.params, more.question
	if timeout := f.options.Confirm.Timeout; timeout > 0 && !more.question.InFlight && !again {
		f.pause(i, timeout)
	}
}

// askInFlight asks what is to become of a call that was at work when the run was
// killed.
func (f *frame) askInFlight(i int32) {
	more := f.calls[i].particular()
	more.question = f.question(i)
	more.question.InFlight = true
	f.ask(i, "")
}

func (f *frame) question(i int32) *Question {
	call := f.call(i)
	q := &Question{
		Call: call.Name, Tool: call.ToolName, Activity: call.Activity, Instance: f.site.Instance, Under: f.site.Under, Delegate: f.site.Delegate, Reason: call.Reason,
		Params: f.calls[i].params, Effects: effects(call.Tool), Writes: f.plan.Offered(call), Cost: declaredCost(call.Tool),
		Advice: f.root().ranking, Doubt: f.doubt(call),
	}
	if call.Tool != nil {
		q.OpenWorld = call.Tool.Hints.OpenWorld == nil || *call.Tool.Hints.OpenWorld
	}
	for _, field := range call.Params.Fields {
		f.sources(q, field.Key, field.Value)
	}
	return q
}

// declaredCost is what one try of a tool is said to cost (S15.1).
func declaredCost(tool *compiler.Tool) float64 {
	if tool == nil {
		return 0
	}
	if n := tool.Simulate.Get("cost"); n != nil && n.Kind == source.Number {
		return n.Float()
	}
	return 0
}

// sources notes where the expressions of a parameter get their values.
func (f *frame) sources(q *Question, param string, t *compiler.Template) {
	switch {
	case t.Expr != nil:
		s := Source{Param: param, Reference: t.Node.Text}
		for _, r := range t.Reads {
			for _, from := range f.origins(&f.plan.Reads[r]) {
				if !slices.Contains(s.From, from) {
					s.From = append(s.From, from)
				}
			}
		}
		q.Sources = append(q.Sources, s)
	case !t.Live():
	default:
		for _, field := range t.Fields {
			f.sources(q, param+"."+field.Key, field.Value)
		}
		for at, item := range t.Items {
			f.sources(q, fmt.Sprintf("%s[%d]", param, at), item)
		}
	}
}

// origins names what a read got its value from: calls that wrote, or what was
// there from the start.
func (f *frame) origins(r *compiler.Read) []string {
	var from []string
	for _, w := range r.Writers {
		if f.calls[w].status == Done || f.calls[w].status == Failed {
			from = append(from, f.plan.Calls[w].Name)
		}
	}
	if len(from) == 0 {
		from = []string{f.plan.Paths.Kind(r.Path)}
	}
	return from
}

// byTimeout is who decides when nobody answers.
const byTimeout = "time-out"

// unanswered takes the default when the time for an answer is over.
func (f *frame) unanswered(i int32) {
	verdict := f.options.Confirm.Default
	if verdict == "" {
		verdict = Reject
	}
	f.emit(i, Cancel)
	f.decided(Event{Call: int(i), Attempt: int(f.calls[i].attempt), Decision: &Decision{Verdict: verdict, By: byTimeout, Reason: fmt.Sprintf("nobody answered within %v", f.options.Confirm.Timeout)}})
}

// decided takes a person's answer. One that can't be taken asks again and says
// why.
func (f *frame) decided(e Event) {
	i, state := int32(e.Call), &f.calls[e.Call]
	if state.status != Asking || int(state.attempt) != e.Attempt || e.Decision == nil {
		return
	}
	d, more := e.Decision, state.more
	if more.question.InFlight != (d.Verdict == Retry || d.Verdict == Fail) {
		f.ask(i, fmt.Sprintf("%q is no answer to this question", d.Verdict))
		return
	}
	switch d.Verdict {
	case Approve, Retry:
	case Fail:
		more.decision, more.question = d, nil
		f.interrupted(i)
		return
	case Reject:
		more.decision = d
		reason := "rejected by a person"
		switch {
		case d.By == byTimeout:
			reason = d.Reason
		case d.Reason != "":
			reason += ": " + d.Reason
		}
		f.settle(i, Settlement{Status: Rejected, Reason: reason, Attempts: int(state.attempt)})
		return
	case Change:
		if failure := f.invalid(f.call(i), d.Params); failure != nil {
			f.ask(i, failure.Message)
			return
		}
		state.params = d.Params
	case Replace:
		if problem := f.replace(i, d.Replacement); problem != "" {
			f.ask(i, problem)
			return
		}
	default:
		f.ask(i, fmt.Sprintf("there is no answer %q", d.Verdict))
		return
	}
	more.decision, more.question = d, nil
	state.approved = true
	f.enqueue(i)
}

// replace puts another call in the place of one, or says why it can't (S10.1).
// It keeps id, place and output path, and reads what is there now.
func (f *frame) replace(i int32, text json.RawMessage) string {
	call := f.plan.Calls[i]
	plan, problem := f.compileReplacement(call, text)
	if problem != "" {
		return problem
	}
	by := plan.Calls[0]
	if by.Latent() && by.Produced == nil && f.loop == nil {
		return fmt.Sprintf("no activity carries out the tool %q", by.ToolName)
	}
	// Its references are resolved here and now, in a machine of its own.
	scratch := &frame{Machine: f.Machine, plan: plan, log: f.log, reads: make([]reading, len(plan.Reads)), memory: f.memory}
	for r := range plan.Reads {
		state := &scratch.reads[r]
		state.known = true
		state.value, state.there = f.log.resolve(plan.Reads[r].Path, anyone)
	}
	params, verdict := scratch.weigh(by)
	switch {
	case verdict.failure != nil:
		return verdict.failure.Message
	case verdict.skip != "":
		return verdict.skip
	}
	if failure := f.invalid(by, params); failure != nil {
		return failure.Message
	}
	merged := *call
	merged.Tool, merged.ToolName, merged.Activity, merged.Delegate = by.Tool, by.ToolName, by.Activity, by.Delegate
	merged.Params, merged.Produced, merged.Reason, merged.Retry, merged.Timeout = by.Params, by.Produced, by.Reason, by.Retry, by.Timeout
	f.calls[i].particular().replaced = &merged
	f.calls[i].params = params
	return ""
}

// compileReplacement checks a call that a person wrote like any other, in the
// setting of what is there now.
func (f *frame) compileReplacement(call *compiler.Call, text json.RawMessage) (*compiler.Plan, string) {
	head, _ := json.Marshal(call.ToolName)
	var own struct {
		ID     json.RawMessage `json:"_id"`
		Output json.RawMessage `json:"_outputPath"`
	}
	if err := json.Unmarshal(text, &own); err != nil || !bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		return nil, "a call is a JSON object: {\"_tool\": " + string(head) + ", …}"
	}
	if own.ID != nil || own.Output != nil {
		return nil, "the id and the output path stay those of the call that is replaced: leave \"_id\" and \"_outputPath\" out"
	}
	body := bytes.TrimSpace(text)
	if call.OutputNode != nil && len(call.Output) > 0 {
		path, _ := json.Marshal(strings.Join(f.plan.Offered(call), " || "))
		body = slices.Concat([]byte(`{"_outputPath":`), path, []byte(","), body[1:])
		if bytes.Equal(bytes.TrimSpace(text), []byte("{}")) {
			body = slices.Concat([]byte(`{"_outputPath":`), path, []byte("}"))
		}
	}
	file := source.NewFile("replacement.json", slices.Concat([]byte(`{"calls":[`), body, []byte("]}")))
	plan, found := f.setting().Solve(file, compiler.Options{})
	draft := analyzer.Screen(plan, found, true, nil)
	if !draft.Sound() || len(plan.Calls) != 1 {
		for _, d := range slices.Concat(draft.Amiss(), draft.Faults(0)) {
			return nil, d.Message
		}
		return nil, "that isn't one call"
	}
	return plan, ""
}
