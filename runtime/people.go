package runtime

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/obelus-dev/obelus/analyzer/permit"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/effects"
	"github.com/obelus-dev/obelus/compiler/kinds"
	"github.com/obelus-dev/obelus/compiler/label"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime/guard"
)

// Confirm says which calls a person is asked about, and what counts as
// the answer when none comes. The zero value asks nobody.
type Confirm struct {
	Policy  Policy        `json:"policy,omitzero"`
	Timeout time.Duration `json:"timeout,omitzero"` // 0 waits for ever
	Default Verdict       `json:"default,omitzero"` // [Approve] or [Reject]; "" is Reject
}

// Check reports what is wrong with a confirmation that comes from elsewhere, or nil.
func (c Confirm) Check() error {
	switch {
	case !slices.Contains([]Policy{Never, Effects, Always}, c.Policy):
		return fmt.Errorf("there is no policy %q of whom to ask", c.Policy)
	case !slices.Contains([]Verdict{"", Approve, Reject}, c.Default):
		return fmt.Errorf("%q can't be the answer where nobody gives one", c.Default)
	case c.Timeout < 0:
		return fmt.Errorf("nobody can answer within %v", c.Timeout)
	}
	return nil
}

// Policy is whom a run asks before a call starts.
type Policy = guard.Policy

// The policies of EXECUTION.md#reviewers.
const (
	Never   = guard.Never
	Effects = guard.Effects
	Always  = guard.Always
)

// Confirm is whom the run asks, as it stands.
func (m *Machine) Confirm() Confirm { return m.options.Confirm }

// hasAnswer reports whether an answer waits for a call to be asked about, as it was when the
// run stopped, or as who decided could see that it would be.
func hasAnswer(f *frame, i int32) bool {
	if len(f.machine.kept) == 0 {
		return false
	}
	ids := f.machine.kept[keptFor(f, i)]
	if more := f.calls[i].more; len(ids) == 0 || more != nil && more.question != nil || slices.Contains(ids, "") {
		return len(ids) > 0
	}
	q := questionOf(f, i)
	q.at = f.tryOf(i)
	q.identify()
	return slices.ContainsFunc(ids, func(id string) bool { return SameQuestion(id, q.ID) })
}

func keptFor(f *frame, i int32) Kept {
	return Kept{Call: Path(f.site.Under, f.call(i).Name), Instance: f.site.Instance}
}

func (f *frame) tryOf(i int32) try {
	return try{f.machine.tick, f.number, int(i), int(f.calls[i].attempt)}
}

// needsReviewer reports whether the plan has a person asked about a call. A model can't do without by leaving the key
// out: its calls are held to those of the plan that was given, by their tools.
func needsReviewer(f *frame, i int32) bool {
	call := f.plan.Calls[i]
	if l := f.machine.loop; l != nil && (l.wanted[call.ToolName] || l.wanted[f.call(i).ToolName]) {
		return true
	}
	return call.Confirm || label.Shown(f.plan, f.call(i))
}

// effect is what the activity may do that carries a call out with its resolved parameters, and who says so.
func (s *schedule) effect(i int32) effects.Effect {
	if s.calls[i].status == Waiting { // its parameters aren't known yet
		return effects.Of(s.plan, s.call(i), nil)
	}
	return effects.Of(s.plan, s.call(i), func(t *plan.Tool) bool {
		return t.Parameters == nil || s.machine.validate(t.Parameters, s.calls[i].params) == nil
	})
}

func (f *frame) ask(i int32, problem string) {
	f.put(i, problem)
	if q := f.calls[i].more.question; q.Within > 0 {
		f.pause(i, q.Within)
	}
}

// put puts a question, or puts it anew where its answer can't be taken; the time for the first answer still runs then.
func (f *frame) put(i int32, problem string) {
	state := &f.calls[i]
	more := state.details()
	if more.question == nil {
		more.question = questionOf(f, i)
	}
	q := more.question
	q.Problem, q.at = f.redact(problem), f.tryOf(i)
	if q.identify(); !q.InFlight && len(q.Outside) == 0 {
		q.Within = f.machine.options.Confirm.Timeout
	}
	if !more.permitState.early && !f.transition(i, Asking) {
		return
	}
	c := f.emit(i, Ask)
	c.Params, c.Question = q.Params, q
}

// Questions are those that are open, in the order in which people are asked.
func (m *Machine) Questions() []*Question {
	var open queue
	for _, f := range m.frames {
		if f == nil {
			continue
		}
		for i := range f.calls {
			if f.calls[i].asks() {
				open.push(f.inLine(int32(i)))
			}
		}
	}
	var all []*Question
	for len(open) > 0 {
		next := open.pop()
		all = append(all, next.frame.calls[next.call].more.question)
	}
	return all
}

// questionOf is what a person has to know of a call: what runs, with all that it is given.
func questionOf(f *frame, i int32) *Question {
	call, effect := f.call(i), f.effect(i)
	q := &Question{
		Call: call.Name, Tool: call.ToolName, Activity: call.Activity, Site: f.site, Reason: call.Reason,
		Params: f.calls[i].params, Runs: executionOf(f, call, f.calls[i].params), Context: f.context(i),
		Effects: effect.Kind, EffectsBy: effect.By, Claimed: effect.Claimed, ClaimedBy: effect.ClaimedBy,
		Untrusted: effect.Untrusted, OpenWorld: effect.OpenWorld,
		Writes:   compiler.Offered(f.plan, compiler.RepeatedCall(call)),
		Occasion: Occasion{Advice: f.root().ranking, Uncertainty: uncertainty(f, call), Wanted: needsReviewer(f, i)},
		subject: subject{takers: []*plan.Tool{call.Tool, compiler.Interface(f.plan.Delegates[call.Plan()])},
			plan: f.plan, of: call},
	}
	q.Cost, _ = compiler.CostOf(call.Tool)
	if call.Retry.Attempts > 1 {
		q.Attempts = call.Retry.Attempts
	}
	if method := compiler.RepeatedCall(call).Method; method != plan.Set {
		q.Method = method.String()
	}
	if r := f.replacement(i); r != nil {
		q.Replaces, q.Sources, q.Scopes = f.plan.Calls[i].ToolName, r.sources, r.scopes
	} else {
		q.Sources, q.Scopes = f.provenance(call, func(read *plan.Read) []string { return originsOf(f.reader(), read) })
	}
	if more := f.calls[i].more; more != nil && more.given != nil && more.given.Params != nil {
		q.Sources = nil
		for _, name := range slices.Sorted(maps.Keys(more.given.Params)) {
			q.Sources = append(q.Sources, Source{Param: name, From: []string{}, By: cmp.Or(more.given.By, "a person")})
		}
	}
	return q
}

// provenance is where a call's parameters and scopes get their values, by what tells who wrote what a read reads.
func (r *resolver) provenance(call *plan.Call, origins func(*plan.Read) []string) ([]Source, []ScopeSource) {
	var sources []Source
	for _, field := range call.Params.Fields {
		sources = r.sources(sources, origins, field.Key, field.Value)
	}
	var scopes []ScopeSource
	if call.Scopes != nil {
		scopes = []ScopeSource{}
	}
	for _, s := range call.Scopes {
		scopes = append(scopes, ScopeSource{s.Node.Text, origins(&r.plan.Reads[s.Read])})
	}
	return sources, scopes
}

func executionOf(f *frame, call *plan.Call, params map[string]any) Execution {
	e := Execution{Kind: "model", Alone: call.Delegate == plan.Anonymous}
	a := f.plan.Activities[call.Activity]
	switch {
	case call.Plan() != "":
		e.Kind, e.Text = "plan", call.Plan()
	case a == nil:
		return e
	case len(a.Argv) > 0:
		e.Kind, e.Folder, e.Worker, e.Inherit, e.Text = a.Kind, a.Dir, a.Worker, a.Inherit, a.Remote
		e.Argv, _ = kinds.Arguments(a, params, kinds.AsWritten)
		if a.Stdin != plan.StreamJSON {
			e.Stdin = a.Stdin
		}
		for _, set := range a.Env {
			e.Env = append(e.Env, set.Name+"="+set.Value)
		}
	case a.Kind == "expr":
		e.Kind, e.Text = a.Kind, a.Node.Get("expr").Text
	case a.Server != nil:
		e.Kind, e.URL, e.Text = a.Kind, a.Server.URL, a.Remote
		e.Headers = make(map[string]string, len(a.Server.Headers))
		for _, h := range a.Server.Headers {
			e.Headers[h.Name] = h.Value
		}
	default:
		e.Kind = a.Kind
		if a.HTTP != nil {
			if r, err := kinds.ShownRequest(a.HTTP, params); err == nil {
				e.Method, e.URL = r.Method, r.URL
			}
		}
		if n := a.Node.Get(a.Kind); n != nil {
			text, _ := json.Marshal(n.Value())
			e.Text = string(text)
		}
	}
	if url := wording.WithoutPasswords(e.URL); url != e.URL {
		e.URL, e.hides = url, e.URL
	}
	e.Text = wording.WithoutPasswords(e.Text)
	if a != nil && a.NameNode != nil {
		at := a.NameNode.Span()
		e.Defined = fmt.Sprintf("%s:%d", at.File.Name, at.From().Line)
	}
	return e
}

func (r *resolver) sources(all []Source, origins func(*plan.Read) []string, param string, t *plan.Template) []Source {
	switch {
	case t.Expr != nil:
		s := Source{Param: param, Reference: t.Node.Text}
		for _, read := range t.Reads {
			for _, from := range origins(&r.plan.Reads[read]) {
				if !slices.Contains(s.From, from) {
					s.From = append(s.From, from)
				}
			}
		}
		return append(all, s)
	case !t.Live():
	default:
		for _, field := range t.Fields {
			all = r.sources(all, origins, param+"."+field.Key, field.Value)
		}
		for at, item := range t.Items {
			all = r.sources(all, origins, fmt.Sprintf("%s[%d]", param, at), item)
		}
	}
	return all
}

// originsOf names what a read got its value from: calls that wrote, under an envelope those of earlier ticks included,
// or what was there from the start. Of a call that hasn't come so far they are those that may write yet.
func originsOf(f *frame, r *plan.Read) []string {
	var from []string
	writers := r.Writers
	if compiler.ReadsItem(f.plan, r) { // what wrote the list
		for _, of := range f.plan.Calls[r.Call].Each.List.Reads {
			writers = append(writers, f.plan.Reads[of].Writers...)
		}
	}
	for _, m := range f.log.Over(r.Path) {
		if w, known := m.By.(permit.Writer); known && m.Tick < f.machine.tick && f.sees(r, m) {
			if name := fmt.Sprintf("%s in tick %d", w.Tool, m.Tick); !slices.Contains(from, name) {
				from = append(from, name)
			}
		}
	}
	for _, w := range writers {
		if s := f.calls[w].status; s == Done || s == Failed || !s.Settled() {
			from = append(from, f.plan.Calls[w].Name)
		}
	}
	if len(from) == 0 {
		from = []string{f.plan.Paths.Kind(r.Path)}
	}
	return from
}

// ByTimeout is who decides when nobody answers.
const ByTimeout = "time-out"

// unanswered takes the default when the time for an answer is over.
func unanswered(f *frame, i int32) {
	verdict := f.machine.options.Confirm.Default
	if label.Shown(f.plan, f.call(i)) {
		verdict = Reject // nobody has seen it
	}
	if verdict == "" {
		verdict = Reject
	}
	f.emit(i, Cancel)
	takeDecision(f, Event{Call: int(i), Attempt: int(f.calls[i].attempt), Decision: &Decision{Verdict: verdict,
		By: ByTimeout, Reason: fmt.Sprintf("nobody answered within %v", f.machine.options.Confirm.Timeout)}})
}
