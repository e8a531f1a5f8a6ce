package runtime_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/effects"
	"github.com/obelus-dev/obelus/compiler/kinds"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// A vouching is a generated setting: what is defined where, and what each
// definition says.
type vouching struct {
	chance     *rand.Rand
	activities map[string]*implementation
	tools      map[string]*interfaced
	document   map[string]any
	options    compiler.Options
	reads      map[string]bool // tools and activities of which a policy that counts says that they only read
}

// An implementation is an activity: "" as its origin is the document.
type implementation struct {
	kind, origin string
	hints        map[string]any
}

// Interfaced is a tool, and the activities that its calls may name.
type interfaced struct {
	origin  string
	hints   map[string]any
	allowed []string
	narrow  bool // it takes whole numbers alone
}

var (
	vouchedNames = []string{"look", "wipe", "send"}
	origins      = []string{"", "catalogue", "overlay", "function"}
)

func (v *vouching) hints() map[string]any {
	all := map[string]any{}
	for _, hint := range []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} {
		if v.chance.IntN(3) == 0 {
			all[hint] = v.chance.IntN(3) > 0
		}
	}
	if v.chance.IntN(3) == 0 {
		all["readOnlyHint"] = true
	}
	return all
}

// newVouching defines three activities and three tools of the same names, each
// somewhere: in the document, in a catalogue, in a file of activities, in the
// program that runs it.
func newVouching(seed uint64) *vouching {
	v := &vouching{chance: rand.New(rand.NewPCG(seed, 9)), activities: map[string]*implementation{}, tools: map[string]*interfaced{}}
	where := map[string]map[string]any{}
	for _, origin := range []string{"", "catalogue", "overlay"} {
		where[origin] = map[string]any{"activities": map[string]any{}, "tools": map[string]any{}}
	}
	for _, name := range vouchedNames {
		a := &implementation{kind: "exec", origin: origins[v.chance.IntN(4)], hints: v.hints()}
		if v.chance.IntN(6) == 0 && a.origin != "function" {
			a.kind = "expr"
		}
		v.activities[name] = a
		definition := map[string]any{"annotations": a.hints, "exec": map[string]any{"argv": []any{name, "--from", "where " + a.origin}}}
		if a.kind == "expr" {
			definition = map[string]any{"annotations": a.hints, "expr": "1"}
		}
		if a.origin == "function" {
			hints := func(name string) *bool {
				if value, said := a.hints[name].(bool); said {
					return &value
				}
				return nil
			}
			v.options.Functions = append(v.options.Functions, name)
			if v.options.Hints == nil {
				v.options.Hints = map[string]plan.Hints{}
			}
			v.options.Hints[name] = plan.Hints{ReadOnly: hints("readOnlyHint"), Destructive: hints("destructiveHint"), Idempotent: hints("idempotentHint"), OpenWorld: hints("openWorldHint")}
			continue
		}
		where[a.origin]["activities"].(map[string]any)[name] = definition
	}
	for _, name := range vouchedNames {
		t := &interfaced{origin: origins[v.chance.IntN(2)], hints: v.hints(), allowed: []string{name}, narrow: v.chance.IntN(3) == 0}
		v.tools[name] = t
		definition := map[string]any{"type": "object", "annotations": t.hints, "properties": map[string]any{"n": map[string]any{}}}
		if t.narrow {
			definition["properties"] = map[string]any{"n": map[string]any{"type": "integer"}}
		}
		switch other := vouchedNames[v.chance.IntN(3)]; v.chance.IntN(4) {
		case 0:
			definition["_activity"], t.allowed = map[string]any{"const": other}, []string{other}
		case 1:
			definition["_activity"], t.allowed = map[string]any{"enum": []any{other}}, []string{name, other}
		}
		where[t.origin]["tools"].(map[string]any)[name] = definition
	}
	v.document = where[""]
	v.document["state"] = map[string]any{"secret": "kept", "n": 7.0}
	text := func(value any) []byte {
		out, _ := json.Marshal(value)
		return out
	}
	v.reads = map[string]bool{}
	if v.chance.IntN(2) == 0 {
		counts, said := v.chance.IntN(2) == 0, map[string]any{}
		for _, name := range vouchedNames {
			if v.chance.IntN(2) == 0 {
				effects := [][]string{{"read"}, {"read", "external"}, {"write"}, {"read", "destructive"}}[v.chance.IntN(4)]
				said[name] = map[string]any{"effects": effects}
				v.reads[name] = counts && effects[0] == "read" && effects[len(effects)-1] != "destructive"
			}
		}
		v.options.Policies = []compiler.PolicyFile{{File: source.NewFile("policy.json", text(map[string]any{"policy": "p", "tools": said})), Counts: counts}}
	}
	v.options.Trusted = v.chance.IntN(2) == 0
	v.options.Catalogues = []*source.File{source.NewFile("tools.json", text(where["catalogue"]))}
	v.options.Activities = []*source.File{source.NewFile("prod.json", text(map[string]any{"activities": where["overlay"]["activities"]}))}
	return v
}

// call is one as an author, a model or a person may write it.
func (v *vouching) call() map[string]any {
	call := map[string]any{"_tool": vouchedNames[v.chance.IntN(3)], "n": []any{1.0, "text", "†state.n"}[v.chance.IntN(3)]}
	if v.chance.IntN(2) == 0 {
		call["_activity"] = vouchedNames[v.chance.IntN(3)]
	}
	switch v.chance.IntN(4) {
	case 0:
		call["_scopes"] = []any{"state"}
	case 1:
		call["_scopes"] = []any{"†state.secret"}
	case 2:
		call["_scopes"] = []any{}
	}
	return call
}

// answer is what a person says to a question.
func (v *vouching) answer() *runtime.Decision {
	d := &runtime.Decision{Verdict: runtime.Approve, By: "a person"}
	switch v.chance.IntN(5) {
	case 0:
		d.Verdict, d.Params = runtime.Change, map[string]any{[]string{"n", "m", "_scopes", "_context", "x-n"}[v.chance.IntN(5)]: 3.0}
	case 1, 2:
		d.Verdict = runtime.Replace
		d.Replacement, _ = json.Marshal(v.call())
	case 3:
		if v.chance.IntN(3) == 0 {
			d.Verdict = runtime.Reject
		}
	}
	return d
}

// harmless reports whether somebody whose word counts says that an activity only
// reads: whoever defines the activity, or a tool that it carries out, and
// neither of them the document, nor a workspace that isn't trusted.
func (v *vouching) harmless(activity string) bool {
	a := v.activities[activity]
	if a.kind == "expr" {
		return true
	}
	counts := func(origin string) bool { return origin != "" && (origin != "catalogue" || v.options.Trusted) }
	if !counts(a.origin) {
		return false
	}
	if a.hints["readOnlyHint"] == true || v.reads[activity] {
		return true
	}
	for name, t := range v.tools {
		if counts(t.origin) && (t.hints["readOnlyHint"] == true || v.reads[name]) && slices.Contains(t.allowed, activity) {
			return true
		}
	}
	return false
}

// A recording world is one in which everything that is asked about is kept, with
// the answer, and everything that is started.
type recordingWorld struct {
	*vouching
	t                *testing.T
	untrusted        bool // the calls are a model's
	asked            map[int]*runtime.Question
	answered         map[int]*runtime.Decision
	started, unasked int
	questions        int
}

func (w *recordingWorld) play(m *runtime.Machine, solution string) {
	waiting := slices.Clone(m.Step(runtime.Event{Kind: runtime.RunBegan}))
	for steps := 0; len(waiting) > 0 && steps < 200; steps++ {
		c := waiting[0]
		waiting = waiting[1:]
		var e *runtime.Event
		switch about := (runtime.Event{Try: c.Try}); c.Kind {
		case runtime.Plan:
			if c.Tick > 1 {
				waiting = append(waiting, m.Step(runtime.Event{Kind: runtime.Stopped, Text: "enough"})...)
				continue
			}
			waiting = append(waiting, m.Step(runtime.Event{Kind: runtime.Streamed, Try: runtime.Try{Tick: c.Tick}, Text: solution})...)
			e = &runtime.Event{Kind: runtime.Closed, Try: runtime.Try{Tick: c.Tick}}
		case runtime.Ask:
			w.questions++
			w.asked[c.Call], w.answered[c.Call] = c.Question, w.answer()
			about.Kind, about.Decision = runtime.Decided, w.answered[c.Call]
			e = &about
		case runtime.Start:
			w.judge(c)
			about.Kind, about.Value, about.Route = runtime.Ended, 1.0, -1
			e = &about
		}
		if e != nil {
			waiting = append(waiting, m.Step(*e)...)
		}
	}
}

// judge compares what is started with what was asked.
func (w *recordingWorld) judge(c runtime.Command) {
	w.started++
	q := w.asked[c.Call]
	if c.Of.Activity == "" {
		return // a model writes the result
	}
	if q == nil {
		w.unasked++
		if !w.harmless(c.Of.Activity) {
			w.t.Errorf("%q of the tool %q runs unasked, and nobody whose word counts says that it only reads", c.Of.Activity, c.Of.ToolName)
		}
	}
	if replaced := q != nil && q.Replaces != ""; (w.untrusted || replaced) && !slices.Contains(w.tools[c.Of.ToolName].allowed, c.Of.Activity) {
		w.t.Errorf("the tool %q is carried out by %q, which it doesn't allow", c.Of.ToolName, c.Of.Activity)
	}
	if q == nil {
		return
	}
	params := q.Params
	if d := w.answered[c.Call]; d.Verdict == runtime.Change {
		params = d.Params
	}
	a := c.Plan.Activities[c.Of.Activity]
	var argv []string
	if a.Kind == "exec" {
		argv, _ = kinds.Arguments(a, q.Params, kinds.AsWritten)
	}
	if q.Tool != c.Of.ToolName || q.Activity != c.Of.Activity || !slices.Equal(q.Runs.Argv, argv) || q.Runs.Kind != a.Kind {
		w.t.Errorf("asked about %q by %q (%v), started %q by %q (%v)", q.Tool, q.Activity, q.Runs, c.Of.ToolName, c.Of.Activity, argv)
	}
	if !reflect.DeepEqual(params, c.Params) || !reflect.DeepEqual(q.Context, c.Context) {
		w.t.Errorf("asked about %v with %v, started with %v and %v", params, q.Context, c.Params, c.Context)
	}
	if (q.Scopes == nil) != (c.Of.Scopes == nil) || len(q.Scopes) != len(c.Of.Scopes) {
		w.t.Errorf("the question has the scopes %v, the call %d", q.Scopes, len(c.Of.Scopes))
	}
	if (c.Of.Scopes == nil) != (c.Context == nil) || len(c.Of.Scopes) == 0 && len(c.Context) > 0 {
		w.t.Errorf("a call with %d scopes is given %v", len(c.Of.Scopes), c.Context)
	}
	for name := range params {
		if name != "n" {
			w.t.Errorf("the undeclared parameter %q is passed", name)
		}
	}
	if q.Effects == effects.ReadOnly && !w.harmless(c.Of.Activity) {
		w.t.Errorf("the question calls %q harmless, by %q", c.Of.Activity, q.EffectsBy)
	}
}

// LANGUAGE.md#trust: whatever tools, activities, scopes and
// hints say, and wherever they say it: what starts unasked is known to be harmless by
// a word that counts, and of what was asked about just that is started, with the
// parameters, the context and the program that were shown. Plans, solutions and
// replacements are judged alike.
func TestWhatRunsIsWhatWasAsked(t *testing.T) {
	t.Parallel()
	cases := amount.Of(150, 2_000, 100_000)
	var started, unasked, questions, refused int
	for seed := range cases {
		v := newVouching(uint64(seed))
		planned := v.chance.IntN(2) == 0
		var calls []any
		for i := range 1 + v.chance.IntN(3) {
			call := v.call()
			call["_outputPath"] = fmt.Sprint("†state.r", i)
			calls = append(calls, call)
		}
		document := v.document
		document["calls"] = calls
		solution, _ := json.Marshal(map[string]any{"calls": calls, "output": nil})
		if planned {
			document["calls"] = []any{}
		}
		text, _ := json.Marshal(document)
		p, found := compiler.Compile(source.NewFile("plan.json", text), v.options)
		verified := analyzer.Analyze(p, found, analyzer.Config{}).Verified
		if verified == nil {
			refused++
			continue
		}
		w := &recordingWorld{vouching: v, t: t, untrusted: planned, asked: map[int]*runtime.Question{}, answered: map[int]*runtime.Decision{}}
		w.play(runtime.New(verified, runtime.Options{Planned: planned, Confirm: runtime.Confirm{Policy: runtime.Effects}}), string(solution))
		started, unasked, questions = started+w.started, unasked+w.unasked, questions+w.questions
		if t.Failed() {
			t.Fatalf("seed %d (planned: %v): %s\nsolution %s\ncatalogue %s\nactivities %s\nfunctions %v", seed, planned, text, solution, v.options.Catalogues[0].Text, v.options.Activities[0].Text, v.options.Functions)
		}
	}
	if started < cases/2 || unasked < cases/20 || questions < started/2 || refused > cases/2 {
		t.Errorf("%d cases: %d started, %d of them unasked, %d questions, %d plans refused", cases, started, unasked, questions, refused)
	}
	t.Logf("%d cases: %d started, %d of them unasked, %d questions, %d plans refused", cases, started, unasked, questions, refused)
}

// EXECUTION.md#reviewers: what a person gave in the place of a parameter's value is said to be theirs when
// its call is asked about once more, as it was at work when the run was killed.
func TestWhatAPersonGaveIsSaidToBeTheirs(t *testing.T) {
	m := runtime.New(verify(t, `{"state": {"n": 1}, "tools": {"pay": {"properties": {"x": {"type": "integer"}}}}, "activities": {"pay": {"exec": {"argv": ["pay"]}}},
		"calls": [{"_tool": "pay", "x": "†state.n"}]}`), runtime.Options{Confirm: runtime.Confirm{Policy: runtime.Always}})
	question := func(commands []runtime.Command) *runtime.Question {
		for _, c := range commands {
			if c.Kind == runtime.Ask {
				return c.Question
			}
		}
		t.Fatal("nothing is asked")
		return nil
	}
	q := question(m.Step(runtime.Event{Kind: runtime.RunBegan}))
	if len(q.Sources) != 1 || q.Sources[0].Reference != "†state.n" || q.Sources[0].By != "" {
		t.Errorf("at first x comes from %+v", q.Sources)
	}
	m.Step(runtime.Answer(q, &runtime.Decision{Verdict: runtime.Change, Params: map[string]any{"x": 100.0}, By: "ann"}))
	q = question(m.Step(runtime.Event{Kind: runtime.Resumed, Resumption: &runtime.Resumption{}}))
	if want := []runtime.Source{{Param: "x", From: []string{}, By: "ann"}}; !q.InFlight || !reflect.DeepEqual(q.Sources, want) {
		t.Errorf("after ann's change x comes from %+v", q.Sources)
	}
}
