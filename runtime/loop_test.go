package runtime_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/request"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// A simulator drives a planned run through Step with everything that comes from
// outside in random order: pieces of solutions, ends of activities, pauses,
// people's answers, kills after which the run is resumed from its events, and
// stops.
type simulator struct {
	t         testing.TB
	verified  *analyzer.Verified
	options   runtime.Options
	solutions []string
	act       behaviour
	decide    func(q *runtime.Question) runtime.Decision
	order     *rand.Rand
	kills     int                        // how many are still to come
	stops     int                        // how many are still to come
	breaks    func(text string) []string // how an answer comes; nil breaks it at random places
	checks    func(c runtime.Command)    // looks at what is started; may be nil
	watch     func(c runtime.Command)    // looks at every command, once all of a step are carried out; may be nil
	joining   []runtime.Instance         // that haven't joined

	machine  *runtime.Machine
	events   []runtime.Event // so far: the journal
	now      time.Duration
	tries    map[string]int // by frame, tick and call: how many came to their end
	pieces   []string       // of the current answer, that haven't arrived
	coming   []runtime.Event
	asked    []runtime.Command
	said     []byte            // every command, as JSON, since the last kill
	settled  map[string]string // by instance, delegate, tick and call
	failed   map[string]*runtime.Settlement
	repeated int               // calls that were done before
	begun    map[string]string // by tick and call: the name and the parameters of what was started
	asks     []string          // the contexts of the requests for solutions
	paused   bool              // it was stopped, and is to be resumed
	lost     int               // kills
	reopened bool              // what failed was run again
	out      *runtime.Outcome
}

func (r *simulator) run() *runtime.Outcome {
	r.machine = runtime.New(r.verified, r.options)
	r.tries, r.settled, r.begun, r.failed = map[string]int{}, map[string]string{}, map[string]string{}, map[string]*runtime.Settlement{}
	r.step(runtime.Event{Kind: runtime.RunBegan})
	return r.goOn()
}

// goOn drives the run to its end.
func (r *simulator) goOn() *runtime.Outcome {
	for r.out == nil {
		if r.kills > 0 && r.order.IntN(12) == 0 {
			r.kills--
			r.kill()
			continue
		}
		if r.stops > 0 && r.order.IntN(12) == 0 {
			r.stops--
			r.step(runtime.Event{Kind: runtime.Stopped, Text: "tired", Gently: r.order.IntN(2) == 0})
		}
		if r.paused {
			for _, e := range r.coming {
				if e.Kind == runtime.Ended && r.order.IntN(3) == 0 {
					r.step(e) // it was on its way
				}
			}
			r.paused = false
			r.resume()
			continue
		}
		n := len(r.coming) + len(r.asked)
		if r.pieces != nil {
			n++
		}
		if n == 0 {
			r.t.Fatal("nothing is to come, and the run isn't over")
		}
		switch pick := r.order.IntN(n); {
		case pick < len(r.coming):
			e := r.coming[pick]
			r.coming = slices.Delete(r.coming, pick, pick+1)
			r.step(e)
		case pick < len(r.coming)+len(r.asked):
			c := r.asked[pick-len(r.coming)]
			r.asked = slices.Delete(r.asked, pick-len(r.coming), pick-len(r.coming)+1)
			d := r.decide(c.Question)
			r.step(runtime.Event{Kind: runtime.Decided, Try: c.Try, Decision: &d})
		case len(r.pieces) > 0:
			text := r.pieces[0]
			r.pieces = r.pieces[1:]
			r.step(runtime.Event{Kind: runtime.Streamed, Try: runtime.Try{Tick: r.machine.Tick()}, Text: text})
		default:
			r.pieces = nil
			r.step(runtime.Event{Kind: runtime.Closed, Try: runtime.Try{Tick: r.machine.Tick()}, Usage: &runtime.Usage{OutputTokens: 3}})
		}
	}
	return r.out
}

func (r *simulator) step(e runtime.Event) {
	r.now += time.Duration(r.order.IntN(1000)) * time.Millisecond
	e.At = r.now
	r.events = append(r.events, e)
	switch e.Kind {
	case runtime.Ended:
		r.tries[fmt.Sprint(e.Frame, ":", e.Tick, ":", e.Call)]++
	case runtime.Joined:
		r.joining = r.joining[len(e.Instances):]
	}
	commands := r.machine.Step(e)
	for _, c := range commands {
		r.say(c)
		r.carryOut(c)
	}
	for _, c := range commands {
		if r.watch != nil {
			r.watch(c)
		}
	}
}

// say keeps what a command says, to be compared with what a replay says.
func (r *simulator) say(c runtime.Command) {
	c.Of, c.Plan = nil, nil
	text, err := json.Marshal(c)
	if err != nil {
		r.t.Fatal(err)
	}
	r.said = append(append(r.said, text...), '\n')
}

// above is the path of the call that a command's call is carried out for.
func above(c runtime.Command) string {
	if c.Of == nil || c.Of.ItemOf == nil {
		return c.Under
	}
	return runtime.Path(c.Under, c.Of.ItemOf.Name)
}

// whose is how the instance and the delegate of a command begin the key of its
// call; "" for a call of the run's own.
func whose(c runtime.Command) string {
	key := ""
	for _, part := range []string{c.Instance, above(c)} {
		if part != "" {
			key += part + "/"
		}
	}
	return key
}

func (r *simulator) carryOut(c runtime.Command) {
	key := fmt.Sprint(whose(c), c.Tick, ":", c.Call)
	switch c.Kind {
	case runtime.Start:
		if r.checks != nil {
			r.checks(c)
		}
		r.begun[key] = c.Of.Name + " " + inJSON(c.Params)
		value, path, failed := r.act(whose(c)+c.Of.Name, r.tries[fmt.Sprint(c.Frame, ":", c.Tick, ":", c.Call)]+1, c.Params)
		e := runtime.Event{Kind: runtime.Ended, Try: c.Try, Value: value, Route: -1}
		if failed != nil {
			e.Value, e.Failure = nil, &runtime.Failure{Code: failed.Code, Message: failed.Message, Details: failed.Details}
		} else if path != "" {
			e.Route = slices.Index(compiler.Offered(c.Plan, c.Of), path)
		}
		r.coming = append(r.coming, e)
	case runtime.SetTimer:
		if c.Call != runtime.Run && r.machine.Status(c.Try) == runtime.Running {
			break // activities end in time
		}
		r.coming = append(r.coming, runtime.Event{Kind: runtime.Fired, Try: c.Try})
	case runtime.Join:
		n := min(c.Count, len(r.joining), 1+r.order.IntN(4))
		r.coming = append(r.coming, runtime.Event{Kind: runtime.Joined, Instances: r.joining[:n], Last: n == len(r.joining)})
	case runtime.Ask:
		r.asked = append(r.asked, c)
	case runtime.Plan:
		if c.Request.Tick > len(r.solutions) {
			r.t.Fatalf("tick %d: there is no further solution", c.Request.Tick)
		}
		if c.Request.Received == "" {
			r.asks = append(r.asks[:min(len(r.asks), c.Request.Tick-1)], string(request.Append(nil, c.Request.Messages)))
		}
		r.pieces = r.broken(r.solutions[c.Request.Tick-1][len(c.Request.Received):])
	case runtime.Cancel:
		if r.reopened { // elsewhere answers come too late, too
			r.asked = slices.DeleteFunc(r.asked, func(q runtime.Command) bool { return q.Frame == c.Frame && q.Tick == c.Tick && q.Call == c.Call })
		}
	case runtime.Repeat:
		r.repeated++
	case runtime.Settle:
		if c.Settlement.Status == runtime.Cancelled {
			break // by a stop, for the time being
		}
		if r.reopened {
			key = fmt.Sprint(c.Frame, ":", key)
		}
		if before := r.settled[key]; before != "" && (!r.reopened || before == "done" && c.Of.Name != "more" || before == "rejected") { // "more" lacked items
			r.t.Fatalf("%s settled twice: %s, %s", c.Of.Name, before, c.Settlement.Status)
		}
		r.settled[key] = c.Settlement.Status.String()
		if c.Settlement.Status == runtime.Failed {
			r.failed[key] = c.Settlement
		}
	case runtime.Finish:
		if r.paused = c.Outcome.Status == "stopped" && (c.Outcome.Reason == "tired" || c.Outcome.Reason == "limits.calls"); !r.paused {
			r.out = c.Outcome
		}
	}
}

// broken takes a text apart at random places, at times not at all.
func (r *simulator) broken(text string) []string {
	if r.breaks != nil {
		return r.breaks(text)
	}
	pieces := []string{}
	for len(text) > 0 {
		n := len(text)
		if r.order.IntN(5) > 0 {
			n = min(n, 1+r.order.IntN(60))
			for n < len(text) && !utf8.RuneStart(text[n]) {
				n++
			}
		}
		pieces, text = append(pieces, text[:n]), text[n:]
	}
	return pieces
}

// kill forgets everything but the journal, and goes on from that.
func (r *simulator) kill() {
	r.follow()
	r.lost++
	r.paused = false
	r.resume()
}

// follow brings a new machine to where the run stands. A replay says again what was said,
// byte for byte.
func (r *simulator) follow() {
	text, err := json.Marshal(r.events)
	if err != nil {
		r.t.Fatal(err)
	}
	var kept []runtime.Event
	if err := json.Unmarshal(text, &kept); err != nil {
		r.t.Fatal(err)
	}
	before := r.said
	r.machine = runtime.New(r.verified, r.options)
	if r.reopened {
		r.machine.Reopenable()
	}
	r.said = nil
	for i, e := range kept {
		commands, err := followed(r.machine, e)
		if err != nil {
			r.t.Fatalf("the journal can't be followed: event %d, %s: %v", i, inJSON(e), err)
		}
		for _, c := range commands {
			r.say(c)
		}
	}
	if !bytes.Equal(r.said, before) {
		r.t.Fatalf("a replay says something else:\n%s\nwas\n%s", r.said, before)
	}
}

// resume goes on in a new world: what the old one had at work is lost.
func (r *simulator) resume() {
	r.coming, r.asked, r.pieces = nil, nil, nil
	r.step(runtime.Event{Kind: runtime.Resumed, Resumption: &runtime.Resumption{InFlight: "retry"}})
}

// asSolution makes a planned run of a document: its calls and output become what
// a planner answers.
func asSolution(t testing.TB, doc map[string]any) (*analyzer.Verified, string) {
	t.Helper()
	base := maps.Clone(doc)
	base["calls"] = []any{}
	delete(base, "output")
	v, why := compileGenerated(t, base)
	if v == nil {
		text, _ := json.Marshal(doc)
		t.Fatalf("without its calls the plan is refused: %s\n%s", why, text)
	}
	calls, err := json.Marshal(doc["calls"])
	if err != nil {
		t.Fatal(err)
	}
	output, err := json.Marshal(doc["output"])
	if err != nil {
		t.Fatal(err)
	}
	return v, fmt.Sprintf(`{"calls":%s,"output":%s}`, calls, output)
}

const noMore = `{"calls":[],"output":"that is all"}`

// A sound plan that streams in, in any pieces and whatever happens meanwhile,
// ends as the naive interpreter says of the whole plan, people who say yes and
// kills included.
func TestStreamedAgreesWithTheModel(t *testing.T) {
	t.Parallel()
	plans := amount.Of(20, 260, 4000)
	run, kills := 0, 0
	for n := range plans {
		doc := planNumber(t, n)
		if v, _ := compileGenerated(t, doc); v == nil {
			continue
		}
		run++
		want := interpret(doc, perform, schedule(0))
		v, solution := asSolution(t, doc)
		for seed := range uint64(4) {
			r := &simulator{
				t: t, verified: v, solutions: []string{solution, noMore}, act: perform, order: rand.New(rand.NewPCG(seed, uint64(n))), kills: int(seed) % 4,
				decide: func(*runtime.Question) runtime.Decision { return runtime.Decision{Verdict: runtime.Approve} },
			}
			r.options.Planned = true
			if seed%2 == 1 {
				r.options.Confirm.Policy = runtime.Always
			}
			kills += r.kills
			got := r.run()
			kills -= r.kills
			text, _ := json.MarshalIndent(doc, "", " ")
			ends := "done" // where the second tick has ended it
			if got.Ticks == 1 {
				ends = want.Run
			}
			if string(got.Status) != ends || !reflect.DeepEqual(wordless(got.State), wordless(want.State)) {
				t.Fatalf("plan %d, seed %d: %s %s\n%s\nstate %s\nmodel %s", n, seed, got.Status, got.Reason, text, inJSON(got.State), inJSON(want.State))
			}
			if got.Ticks == 1 && !reflect.DeepEqual(wordless(got.Output), wordless(want.Output)) {
				t.Fatalf("plan %d, seed %d\n%s\noutput %s\nmodel  %s", n, seed, text, inJSON(got.Output), inJSON(want.Output))
			}
			for i, call := range doc["calls"].([]any) {
				name := fmt.Sprintf("%s#%d", call.(map[string]any)["_tool"], i+1)
				if id, ok := call.(map[string]any)["_id"].(string); ok {
					name = id
				}
				if is := r.settled[fmt.Sprint("1:", i)]; is != want.Status[name] {
					t.Fatalf("plan %d, seed %d: %s is %s, and %s to the model\n%s", n, seed, name, is, want.Status[name], text)
				}
			}
		}
	}
	t.Logf("%d of %d plans streamed in, 4 schedules each, with %d kills", run, plans, kills)
}

func inJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// Whatever people answer, and whatever fails: where the analyzer promises one
// final state, every schedule ends in it, and the same seed says the same to the
// byte.
func TestAnySchedule(t *testing.T) {
	t.Parallel()
	seeds := amount.Of(25, 500, 10_000)
	promised := 0
	for n := range seeds {
		doc := planNumber(t, n)
		if v, _ := compileGenerated(t, doc); v == nil {
			continue
		}
		promised++
		v, solution := asSolution(t, doc)
		ended := func(schedule uint64) (*runtime.Outcome, []byte) {
			r := &simulator{
				t: t, verified: v, solutions: []string{solution, noMore}, act: unlucky(uint64(n)), decide: moody(uint64(n)),
				order: rand.New(rand.NewPCG(schedule, uint64(n))),
			}
			r.options = runtime.Options{Planned: true, Confirm: runtime.Confirm{Policy: runtime.Always}}
			return r.run(), r.said
		}
		first, said := ended(1)
		if again, same := ended(1); !bytes.Equal(said, same) {
			t.Fatalf("seed %d: the same schedule tells two stories: %v, %v", n, first, again)
		}
		for schedule := uint64(2); schedule < 5; schedule++ {
			if other, _ := ended(schedule); !reflect.DeepEqual(other.State, first.State) {
				t.Fatalf("seed %d: schedules 1 and %d end in %s and %s\n%s", n, schedule, inJSON(first.State), inJSON(other.State), inJSON(doc))
			}
		}
	}
	t.Logf("%d of %d seeds are promised one state, and end in one", promised, seeds)
	if promised*10 < seeds*8 {
		t.Errorf("only %d of %d plans are promised one state", promised, seeds)
	}
}

// unlucky lets a tenth of all calls fail for good, by their names.
func unlucky(seed uint64) behaviour {
	return func(call string, attempt int, params map[string]any) (any, string, *failure) {
		if drawn(seed, call)%10 == 0 {
			return nil, "", &failure{Code: "error", Message: "bad luck"}
		}
		return perform(call, attempt, params)
	}
}

// moody is a person who answers by the call's name: mostly yes, at times no,
// with other parameters, or with another call.
func moody(seed uint64) func(q *runtime.Question) runtime.Decision {
	return func(q *runtime.Question) runtime.Decision {
		switch pick := drawn(seed, "person "+q.Call) % 10; {
		case pick == 0:
			return runtime.Decision{Verdict: runtime.Reject}
		case pick == 1 && q.Problem == "":
			params := maps.Clone(q.Params)
			params["changed"] = "by hand"
			return runtime.Decision{Verdict: runtime.Change, Params: params}
		case pick == 2 && q.Problem == "" && q.Replaces == "":
			return runtime.Decision{Verdict: runtime.Replace, Replacement: json.RawMessage(`{"_tool":"fetch","shape":"object"}`)}
		}
		return runtime.Decision{Verdict: runtime.Approve}
	}
}

func drawn(seed uint64, name string) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, seed, " ", name)
	return h.Sum64() >> 7
}
