package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/activity"
	"github.com/obelus-dev/obelus/runtime/journal"
	"github.com/obelus-dev/obelus/runtime/project"
	"github.com/obelus-dev/obelus/runtime/session"
	"github.com/obelus-dev/obelus/testdata/amount"
	"github.com/obelus-dev/obelus/testdata/cputime"
)

// The runs whose journals are damaged. None of their calls that is done may start
// again, since none has a result that could yet be refused.
var damagedRuns = []damagedRun{
	{name: "fixed", plan: `
calls:
- {_id: a, _tool: act, name: a, _outputPath: a}
- {_id: b, _tool: act, name: b, x: †state.a, _outputPath: list, _outputMethod: push}
- {_id: c, _tool: act, name: c, _outputPath: list, _outputMethod: push}
- {_id: d, _tool: act, name: flaky, x: †state.list, _retry: {attempts: 3, backoff: 1ms}, _outputPath: "d || problem"}
- {_id: e, _tool: act, name: fails, _outputPath: "e || trouble"}
- {_id: f, _tool: act, name: f, x: †state.trouble.code, _when: †state.trouble.code == "error", _timeout: 1h, _outputPath: f}
- {_id: g, _tool: say, name: †state.a.by, _outputPath: g}
output: †state
`},
	{name: "planned", planned: true, plan: `
calls: []
limits: {ticks: 6, tokens: 1000}
`},
	{name: "carried", planned: true, plan: `
calls:
- {_id: a, _tool: act, name: a, _outputPath: a}
- {_id: b, _tool: act, name: fails, x: †state.a, _outputPath: "b || trouble"}
- {_id: l, _tool: guess, q: †state.a.by, _outputPath: l}
`},
	{name: "instances", plan: `
calls:
- {_id: a, _tool: act, name: †input.name, _outputPath: a}
- {_id: b, _tool: act, name: b, x: †state.a, _outputPath: "b || problem"}
output: †state.b
instances: {"①": {input: {name: one}}, "②": {input: {name: fails}}}
`, instances: `{"id": "③", "input": {"name": "three"}}
{"id": "④", "state": {"a": {"by": "four"}}, "input": {"name": "x"}}
{"id": "⑤", "input": {"name": "five"}}
`},
	{name: "people", asks: true, plan: `
calls:
- {_id: a, _tool: act, name: a, _outputPath: a}
- {_id: b, _tool: act, name: change, x: †state.a, _outputPath: b}
- {_id: c, _tool: act, name: replace, x: †state.b, _outputPath: c}
- {_id: d, _tool: act, name: reject, x: †state.a, _outputPath: d}
- {_id: e, _tool: act, name: e, x: †state.d, _outputPath: e}
output: †state
`},
	{name: "delegates", plan: `
calls:
- {_id: a, _tool: inner, name: a, _delegate: inner.yaml, _outputPath: a}
- {_id: b, _tool: inner, name: †state.a, _delegate: inner.yaml, _outputPath: b}
- {_id: c, _tool: act, name: c, x: †state.b, _scopes: [], _outputPath: c}
output: †state
`},
}

const damagedTools = `
tools:
  act: {additionalProperties: true}
  say: {properties: {name: {}}}
  inner: {properties: {name: {}}}
  guess: {properties: {q: {}}, _output: {}}
activities:
  say: {expr: "name"}
`

// What a model answers, tick by tick; the last again and again.
var damagedSolutions = map[string][]string{
	"planned": {
		`{"calls": [{"_tool": "act", "name": "a", "_outputPath": "a"}, {"_tool": "act", "name": "b", "x": "†state.a", "_outputPath": "b"}], "output": null}`,
		`{"calls": [{"_tool": "act", "name": "fails", "_outputPath": "c || trouble"}, {"_tool": "guess", "q": 1, "_outputPath": "g"}], "output": null}`,
		`{"calls": [{"_tool": "nothing"}], "output": null}`,
		`{"calls": [], "output": "†state"}`,
	},
	"carried": {
		`{"calls": [{"_tool": "act", "name": "a", "_outputPath": "a"}, {"_tool": "act", "name": "new", "x": "†state.a", "_outputPath": "n"}], "output": null}`,
		`{"calls": [], "output": "†state.n"}`,
	},
}

type damagedRun struct {
	name, plan, instances string
	planned, asks         bool
	header                json.RawMessage // of its journal
	bodies                []json.RawMessage
}

// FuzzResume: a journal of a real run, in which records were changed, removed,
// repeated, moved or brought from another run, and which is sealed again, is refused
// with a reason, a line and what to do, or its run goes on to a proper end: without a
// call that the journal says is done, and within bounded time. What is in the journal
// then is a run that has ended, and ends the same when it is opened once more.
func FuzzResume(f *testing.F) {
	runs := slices.Clone(damagedRuns)
	for i := range runs {
		runs[i].record(f)
	}
	folder := f.TempDir()
	pool := scrapsOf(runs)
	for kind := range runs {
		f.Add(byte(kind), byte(255), false, false, []byte{})
		for at := range runs[kind].bodies {
			if (at+kind)%amount.Of(3, 1, 1) > 0 {
				continue
			}
			f.Add(byte(kind), byte(at), at%2 == 0, false, []byte{}) // killed there
			f.Add(byte(kind), byte(255), at%2 == 0, at%3 > 0, [][]byte{
				{byte(at), 0},                                        // one is gone
				{byte(at), 1, byte(at + 2)},                          // one is repeated
				{byte(at), 2, byte(at + 1)},                          // two have changed places
				{byte(at), 3, byte(kind + 1), byte(at)},              // one is another run's
				{byte(at), 4, byte(3 * at), byte(at), byte(at)},      // a value is another
				{byte(at), 5, byte(at), byte(5 * at), byte(2 * at)},  // a field is new
				{byte(at), 6, byte(2 * at), byte(at), 7, byte(at)},   // one is gone, and a number more
				{byte(at), 135, byte(7 * at), byte(at), byte(at), 0}, // the head is another
			}[(at+kind)%8])
		}
	}
	f.Fuzz(func(t *testing.T, kind, killed byte, again, inTime bool, script []byte) {
		if len(script) > 40 {
			t.Skip("changed beyond recognition")
		}
		run := &runs[int(kind)%len(runs)]
		d := damage{header: run.header, bodies: slices.Clone(run.bodies), pool: pool, runs: runs}
		d.play(script)
		d.bodies = d.bodies[:min(len(d.bodies), int(killed))]
		if inTime {
			d.setTimes()
		}
		path := filepath.Join(folder, "run.jsonl")
		os.Remove(path)
		if !d.write(t, path) {
			return
		}
		began := cputime.Used()
		synctest.Test(t, func(t *testing.T) { run.goesOn(t, path, again) })
		if took := cputime.Used() - began; took > 10*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// record has a run done, and keeps its journal.
func (r *damagedRun) record(f *testing.F) {
	folder := f.TempDir()
	text := r.plan + damagedTools
	for name, text := range map[string]string{"plan.yaml": text, "people.jsonl": r.instances,
		"inner.yaml": "calls: [{_id: i, _tool: say, name: †input.name, _outputPath: x}, {_tool: say, name: †state.x, _outputPath: y}]\noutput: †state.y\ntools: {say: {properties: {name: {}}}}\nactivities: {say: {expr: name}}\n"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			f.Fatal(err)
		}
	}
	reader := &project.Reader{Functions: []string{"act"}, Root: folder}
	d, err := reader.One(filepath.Join(folder, "plan.yaml"))
	if err != nil {
		f.Fatal(err)
	}
	p := d.Check()
	if p.Verified == nil {
		for _, found := range p.Findings {
			f.Errorf("%s: %s: %s", r.name, found.Rule.Code, found.Message)
		}
		f.FailNow()
	}
	o := session.Options{Host: r.host(nil), Runs: folder}
	if r.asks {
		o.Confirm.Policy = runtime.Always
	}
	if r.instances != "" {
		o.Instances = filepath.Join(folder, "people.jsonl")
	}
	result, err := session.Run(context.Background(), p, o)
	if err != nil {
		f.Fatalf("%s: %v", r.name, err)
	}
	contents, err := journal.Read(result.Journal)
	if err != nil {
		f.Fatal(err)
	}
	r.header = contents.Header
	for body, err := range contents.Bodies() {
		if err != nil {
			f.Fatal(err)
		}
		r.bodies = append(r.bodies, slices.Clone(body))
	}
}

func (r *damagedRun) host(watch session.Observer) session.Host {
	h := session.Host{Observer: watch, Functions: map[string]activity.Func{"act": func(_ context.Context, q activity.Request) (any, error) {
		name, _ := q.Params["name"].(string)
		if name == "fails" || name == "flaky" && q.Attempt == 1 {
			return nil, errors.New("as it should")
		}
		return map[string]any{"by": name}, nil
	}}}
	if r.planned {
		h.Planner = solver(damagedSolutions[r.name])
	}
	if r.asks {
		h.Confirmer = person{}
	}
	return h
}

// A solver answers with a solution for each tick.
type solver []string

func (s solver) Answer(_ context.Context, q *runtime.Request, emit func(string)) (runtime.Usage, error) {
	text := s[min(max(q.Tick, 1), len(s))-1]
	if q.Call != nil {
		text = `"guessed"`
	}
	emit(text[:len(text)/2])
	emit(text[len(text)/2:])
	return runtime.Usage{InputTokens: 10, OutputTokens: 5}, nil
}

// A person approves what doesn't say otherwise.
type person struct{}

func (person) Ask(_ context.Context, q *runtime.Question) func() (runtime.Decision, error) {
	return func() (runtime.Decision, error) {
		switch {
		case q.InFlight:
			return runtime.Decision{Verdict: runtime.Fail}, nil
		case q.Params["name"] == "change":
			return runtime.Decision{Verdict: runtime.Change, Params: map[string]any{"name": "changed"}, By: "person"}, nil
		case q.Params["name"] == "replace":
			return runtime.Decision{Verdict: runtime.Replace, Replacement: json.RawMessage(`{"_tool":"say","name":7}`)}, nil
		case q.Params["name"] == "reject":
			return runtime.Decision{Verdict: runtime.Reject, Reason: "no"}, nil
		}
		return runtime.Decision{Verdict: runtime.Approve}, nil
	}
}

// A trial is a try of a call.
type trial struct{ tick, frame, call, attempt int }

// starts notes what is started.
type starts []trial

func (s *starts) Observe(_ time.Duration, c runtime.Command) {
	if c.Kind == runtime.Start {
		*s = append(*s, trial{c.Tick, c.Frame, c.Call, c.Attempt})
	}
}

func (s *starts) Waits(string) {}

// goesOn resumes the run of a journal.
func (r *damagedRun) goesOn(t *testing.T, path string, again bool) {
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Hour)
	defer cancel()
	done := doneIn(t, path)
	started := &starts{}
	o := session.ResumeOptions{Host: r.host(started)}
	if again {
		o.InFlight = runtime.InFlightRetry
	}
	s, err := session.Open(path, o)
	if err != nil {
		worded(t, err)
		return
	}
	result, err := s.Run(ctx)
	if err := s.Close(); err != nil {
		t.Errorf("closing it: %v", err)
	}
	switch {
	case errors.Is(err, session.ErrEnded):
		if len(*started) > 0 {
			t.Error("a run that had ended started something")
		}
		return
	case err != nil:
		worded(t, err)
		return
	}
	for _, tried := range *started {
		if !done[tried] {
			tried.attempt = 0
		}
		if done[tried] {
			t.Errorf("%+v starts, and the journal says that it is done", tried)
		}
	}
	switch result.Status {
	case runtime.RunDone:
	case runtime.RunFailed, runtime.RunStopped:
		if result.Reason == "" && len(result.Errors) == 0 {
			t.Errorf("it is %s without a reason", result.Status)
		}
		said := string(result.Reason)
		for _, e := range result.Errors {
			said += "\n" + e.Message
		}
		inWords(t, said)
	default:
		t.Errorf("it is %q", result.Status)
	}
	last, err := session.Resume(ctx, path, session.ResumeOptions{Host: r.host(nil)})
	switch {
	case result.Status == runtime.RunStopped && err == nil:
	case result.Status != runtime.RunStopped && errors.Is(err, session.ErrEnded):
		if !reflect.DeepEqual(last.Outcome, result.Outcome) {
			t.Errorf("it ended with %+v, and opened again with %+v", result.Outcome, last.Outcome)
		}
	default:
		t.Errorf("it is %s, and opened again %v", result.Status, err)
	}
}

// doneIn are the tries that a journal says have ended, and with attempt 0 the calls
// that are done.
func doneIn(t *testing.T, path string) map[trial]bool {
	done := map[trial]bool{}
	_, records, err := session.Read(path)
	if err != nil {
		return done
	}
	for record, err := range records {
		if err != nil {
			return done
		}
		if e := record.Event; e != nil && e.Kind == runtime.Ended {
			done[trial{e.Tick, e.Frame, e.Call, e.Attempt}] = true
			done[trial{e.Tick, e.Frame, e.Call, 0}] = e.Failure == nil
		}
	}
	return done
}

// worded wants an error for people: of a kind, and in words.
func worded(t *testing.T, err error) {
	t.Helper()
	var trouble *diag.UserError
	if !errors.As(err, &trouble) || trouble.Message == "" {
		t.Fatalf("an error of no kind: %#v", err)
	}
	if errors.Is(err, session.ErrDamaged) && (trouble.Help == "" || !strings.Contains(trouble.Message, "line ")) {
		t.Errorf("%v: where is it, and what is to be done?", err)
	}
	inWords(t, trouble.Message+"\n"+trouble.Help)
}

// inWords wants a text that doesn't speak of how it was made.
func inWords(t *testing.T, text string) {
	t.Helper()
	for _, leaked := range []string{"json:", "unmarshal", "Go struct", "Go value", "of type ", "runtime error", "internal", "nil pointer", "%!", "runtime.", "map[", "<nil>", "&{"} {
		if strings.Contains(text, leaked) {
			t.Errorf("it says %q: %s", leaked, text)
		}
	}
}

// A damage changes a journal by a script: a record's number, what becomes of it, and
// what that takes, again and again.
type damage struct {
	header json.RawMessage
	bodies []json.RawMessage
	pool   *scraps
	runs   []damagedRun
	script []byte
}

func (d *damage) next() int {
	if len(d.script) == 0 {
		return 0
	}
	n := d.script[0]
	d.script = d.script[1:]
	return int(n)
}

func (d *damage) play(script []byte) {
	d.script = script
	for len(d.script) > 0 && len(d.bodies) > 0 && len(d.bodies) < 100 {
		n := d.next()
		at := n % len(d.bodies)
		switch what := d.next(); what % 8 {
		case 0:
			d.bodies = slices.Delete(d.bodies, at, at+1)
		case 1:
			d.bodies = slices.Insert(d.bodies, d.next()%(len(d.bodies)+1), d.bodies[at])
		case 2:
			other := d.next() % len(d.bodies)
			d.bodies[at], d.bodies[other] = d.bodies[other], d.bodies[at]
		case 3:
			others := d.runs[d.next()%len(d.runs)].bodies
			d.bodies[at] = others[d.next()%len(others)]
		case 7:
			if what >= 128 { // the head says what is run
				d.header = d.changed(d.header, 4)
				continue
			}
			fallthrough
		default:
			d.bodies[at] = d.changed(d.bodies[at], what%8)
		}
	}
}

// setTimes has no event come before the one that it stands behind.
func (d *damage) setTimes() {
	var last float64
	for i, body := range d.bodies {
		var v map[string]map[string]any
		if json.Unmarshal(body, &v) != nil || v["event"] == nil {
			continue
		}
		at, _ := v["event"]["at"].(float64)
		last = max(last, at)
		v["event"]["at"] = last
		if text, err := json.Marshal(v); err == nil {
			d.bodies[i] = text
		}
	}
}

// changed is a record in which one value is another (4), a field is new (5) or gone
// (6), or a number is a little more or less (7).
func (d *damage) changed(body json.RawMessage, how int) json.RawMessage {
	var v any
	if json.Unmarshal(body, &v) != nil {
		return body
	}
	var at []place
	places(v, "", func(p place) { at = append(at, p) })
	if len(at) == 0 {
		return body
	}
	p := at[d.next()%len(at)]
	switch how {
	case 4:
		p.set(d.pool.values[d.next()%len(d.pool.values)])
	case 5:
		if p.object != nil {
			p.object[d.pool.keys[d.next()%len(d.pool.keys)]] = d.pool.values[d.next()%len(d.pool.values)]
		}
	case 6:
		if p.object != nil {
			delete(p.object, p.key)
		}
	case 7:
		if n, ok := p.value.(float64); ok {
			p.set(n + float64(d.next()) - 128)
		}
	}
	text, err := json.Marshal(v)
	if err != nil {
		return body
	}
	return text
}

// A place is one value of a record. Paths and plans, which the head of a journal
// holds, are no places: a run may write where they lead.
type place struct {
	object map[string]any
	key    string
	list   []any
	index  int
	value  any
}

func (p *place) set(v any) {
	if p.object != nil {
		p.object[p.key] = v
	} else {
		p.list[p.index] = v
	}
}

func places(v any, within string, each func(place)) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if within == "" && slices.Contains([]string{"folder", "root", "name", "record", "out", "instances", "activities", "catalogues"}, key) {
				continue
			}
			each(place{object: v, key: key, value: v[key]})
			places(v[key], key, each)
		}
	case []any:
		for i := range v {
			each(place{list: v, index: i, value: v[i]})
			places(v[i], within, each)
		}
	}
}

// scraps are what records are changed with: the keys and values of all of them, and
// some that none has.
type scraps struct {
	keys   []string
	values []any
}

func scrapsOf(runs []damagedRun) *scraps {
	s := &scraps{keys: []string{"x", "Kind", "at "}, values: []any{
		nil, true, false, 0.0, -1.0, 1.0, 2.0, 0.5, 1e9, 9e18, -9e18, 1e300, "", "x", "ended", "†state.a", "\x00", "\x1b[2J", []any{}, map[string]any{}, []any{nil}, map[string]any{"_tool": "act"},
		map[string]any{"_tool": "act", "_outputPath": "†state.a", "_delegate": 7.0}, strings.Repeat("long ", 100),
	}}
	seenKeys, seenValues := map[string]bool{}, map[string]bool{}
	for _, run := range runs {
		for _, body := range run.bodies {
			var v any
			if json.Unmarshal(body, &v) != nil {
				continue
			}
			places(v, "", func(p place) {
				if p.key != "" && !seenKeys[p.key] {
					seenKeys[p.key] = true
					s.keys = append(s.keys, p.key)
				}
				if text := fmt.Sprint(p.value); !seenValues[text] && len(s.values) < 256 {
					seenValues[text] = true
					s.values = append(s.values, p.value)
				}
			})
		}
	}
	return s
}

// write writes the journal, sealed; it reports whether it is one.
func (d *damage) write(t *testing.T, path string) bool {
	w, err := journal.Create(path, d.header)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, body := range d.bodies {
		if err := w.Append(body); err != nil {
			return false
		}
	}
	if err := w.Sync(); err != nil {
		t.Fatal(err)
	}
	return true
}
