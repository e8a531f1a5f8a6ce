package local_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/activity"
	"github.com/obelus-dev/obelus/runtime/local"
	"github.com/obelus-dev/obelus/runtime/request"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write what the scenarios do into their files")

// TestScenarios plays the protocol's scenarios: a plan, the solutions that a
// planner gives one after the other, what the tools give back and what people
// answer; and the story that comes of it, on a virtual clock. Each file says in
// its head what it shows.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no scenarios", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var s scenario
			for _, f := range archive.Files {
				s.take(t, f)
			}
			var got string
			synctest.Test(t, func(t *testing.T) { got = s.play(t) })
			if *update {
				archive.Files = slices.DeleteFunc(archive.Files, func(f txtar.File) bool { return f.Name == "story" })
				archive.Files = append(archive.Files, txtar.File{Name: "story", Data: []byte(got)})
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got != s.story {
				t.Errorf("the story differs; got:\n%s\nwant:\n%s", got, s.story)
			}
		})
	}
}

// A scenario is what a file holds; YAML files with names of their own are delegates.
// Of every call, or else of every tool, results are taken in turn, the last again
// and again; so it is with the answers about a call. A call's name has its instance
// and the calls that delegate to it before it ("② book/fetch"), where it is found
// so, and else stands alone. What takes no time of its own takes a millisecond more for each that
// began at the same moment, so that a story has one order.
type scenario struct {
	plan      []byte
	planName  string
	delegates map[string][]byte
	policies  []compiler.PolicyFile
	catalogue []*source.File // what the workspace says of the tools, and is believed
	solutions []any          // objects, or texts that are no JSON
	results   map[string][]any
	thoughts  map[string]any // of latent calls, by name
	answers   map[string][]any
	options   map[string]any
	story     string

	said  []string
	lock  sync.Mutex // over what follows
	at    time.Duration
	began map[string]time.Duration  // by call: how long what began at that moment takes of itself
	drawn map[string]map[string]any // by call: the result or answer that comes next
	of    map[any]string            // by request or question: the call
	last  string                    // the call whose start was seen last
	kept  [][]byte                  // the journal
}

func (s *scenario) take(t *testing.T, f txtar.File) {
	switch f.Name {
	case "plan.yaml", "plan.json":
		s.plan, s.planName = f.Data, f.Name
	case "catalogue.yaml":
		s.catalogue = []*source.File{source.NewFile(f.Name, f.Data)}
	case "policy.yaml":
		s.policies = []compiler.PolicyFile{{File: source.NewFile(f.Name, f.Data), Counts: true}}
	case "solutions.yaml":
		s.solutions = yaml(t, f).([]any)
	case "results.yaml":
		s.results = lists(yaml(t, f))
	case "thoughts.yaml":
		s.thoughts = yaml(t, f).(map[string]any)
	case "answers.yaml":
		s.answers = lists(yaml(t, f))
	case "options.yaml":
		s.options = yaml(t, f).(map[string]any)
	case "story":
		s.story = string(f.Data)
	default:
		if !strings.HasSuffix(f.Name, ".yaml") {
			t.Fatalf("what is %q?", f.Name)
		}
		if s.delegates == nil {
			s.delegates = map[string][]byte{}
		}
		s.delegates[f.Name] = f.Data
	}
}

func yaml(t *testing.T, f txtar.File) any {
	root, problems := source.Parse(source.NewFile(f.Name, f.Data), source.DefaultLimits())
	for _, p := range problems {
		t.Fatalf("%s: %s", f.Name, p.Message)
	}
	return root.Value()
}

func lists(v any) map[string][]any {
	all := map[string][]any{}
	for key, value := range v.(map[string]any) {
		all[key] = value.([]any)
	}
	return all
}

// draw takes the next result of a call or else of its tool, the last again and
// again.
func (s *scenario) draw(lists map[string][]any, call, name, tool string) {
	key := call
	for _, other := range []string{name, tool} {
		if lists[key] == nil {
			key = other
		}
	}
	s.began[call] = time.Duration(len(s.began)+1) * time.Millisecond
	if list := lists[key]; len(list) > 0 {
		s.drawn[call] = list[0].(map[string]any)
		lists[key] = list[min(1, len(list)-1):]
	}
}

// next waits as long as what was drawn takes, and gives it; nil when ctx ends.
func (s *scenario) next(ctx context.Context, call string) map[string]any {
	s.lock.Lock()
	pause, drawn := s.began[call], s.drawn[call]
	s.lock.Unlock()
	if text, ok := drawn["after"].(string); ok {
		pause, _ = time.ParseDuration(text)
	}
	select {
	case <-time.After(pause):
		return drawn
	case <-ctx.Done():
		return nil
	}
}

func (s *scenario) option(key string) time.Duration {
	text, _ := s.options[key].(string)
	d, _ := time.ParseDuration(text)
	return d
}

func (s *scenario) number(key string) int {
	f, _ := s.options[key].(float64)
	return int(f)
}

func (s *scenario) text(key string) string {
	text, _ := s.options[key].(string)
	return text
}

func (s *scenario) play(t *testing.T) string {
	funcs := map[string]activity.Func{}
	for tool := range s.results {
		funcs[tool] = s.activity
	}
	p, found := compiler.Compile(source.NewFile(s.planName, s.plan), compiler.Options{Functions: slices.Sorted(maps.Keys(funcs)), Catalogues: s.catalogue, Trusted: true, Policies: s.policies, Name: s.planName, Open: s.open})
	analysis := analyzer.Analyze(p, found, analyzer.Config{})
	v, found := analysis.Verified, analysis.Findings
	if v == nil {
		t.Fatalf("%s: %s", found[0].Rule.Code, found[0].Message)
	}
	set, err := activity.Open(nil, funcs, activity.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o := local.Options{Activities: labelled{set, s}, Observe: s.observe, Journal: s}
	o.Parallel = s.number("parallel")
	if s.solutions != nil {
		o.Planned, o.Planner = true, s
	}
	o.Confirm = runtime.Confirm{Policy: runtime.Policy(s.text("confirm")), Timeout: s.option("timeout"), Default: runtime.Verdict(s.text("default"))}
	if s.answers != nil {
		o.Confirmer = s
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if after := s.option("interrupt"); after > 0 {
		time.AfterFunc(after, cancel)
	}
	outcome, err := local.Run(ctx, v, o)
	if err != nil {
		t.Fatal(err)
	}
	if how := s.text("resume"); how != "" {
		s.say("%s %s, and resumed", outcome.Status, outcome.Reason)
		m, at := s.replayed(t, v, o)
		if outcome, err = local.Resume(t.Context(), m, at, runtime.Resumption{InFlight: runtime.InFlight(how)}, o); err != nil {
			t.Fatal(err)
		}
	}
	if err := set.Close(); err != nil {
		t.Fatal(err)
	}
	s.end(outcome)
	return strings.Join(s.said, "\n") + "\n"
}

func (s *scenario) open(name string) ([]byte, error) {
	if text, ok := s.delegates[name]; ok {
		return text, nil
	}
	return nil, os.ErrNotExist
}

// Append and Sync are the journal.
func (s *scenario) Append(e *runtime.Event) error {
	text, err := json.Marshal(e)
	s.kept = append(s.kept, text)
	return err
}

func (s *scenario) Sync() error { return nil }

// replayed is a new machine that the events of the journal have brought to where
// the run stood, and when the last of them came.
func (s *scenario) replayed(t *testing.T, v *analyzer.Verified, o local.Options) (*runtime.Machine, time.Duration) {
	m := runtime.New(v, o.Options)
	var e runtime.Event
	for _, text := range s.kept {
		e = runtime.Event{}
		if err := json.Unmarshal(text, &e); err != nil {
			t.Fatal(err)
		}
		m.Step(e)
	}
	return m, e.At
}

// end tells how the run ended.
func (s *scenario) end(outcome *runtime.Outcome) {
	s.say("%s", strings.TrimSpace(string(outcome.Status)+" "+string(outcome.Reason)))
	for _, e := range outcome.Errors {
		s.say("error %s %s: %s", strings.TrimSpace(e.Instance+" "+e.Call), e.Code, strings.ReplaceAll(e.Message, "\n", "; "))
	}
	if outcome.Instances == nil {
		s.say("output %s", inJSON(outcome.Output))
		s.say("state %s", inJSON(outcome.State))
	}
	for _, one := range outcome.Instances {
		s.say("%s %s, output %s, state %s", one.ID, one.Status, inJSON(one.Output), inJSON(one.State))
	}
	c := outcome.Counts
	s.say("%d done, %d failed, %d skipped, %d rejected, %d cancelled in %d ticks", c.Done, c.Failed, c.Skipped, c.Rejected, c.Cancelled, outcome.Ticks)
}

func (s *scenario) say(format string, args ...any) {
	s.said = append(s.said, fmt.Sprintf(format, args...))
}

func inJSON(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

func (s *scenario) observe(at time.Duration, c runtime.Command) {
	name := label(c)
	s.lock.Lock()
	defer s.lock.Unlock()
	if at != s.at || s.began == nil {
		s.at, s.began, s.drawn = at, map[string]time.Duration{}, map[string]map[string]any{}
		if s.of == nil {
			s.of = map[any]string{}
		}
	}
	switch c.Kind {
	case runtime.Start:
		s.draw(s.results, name, c.Of.Name, c.Of.ToolName)
		s.of[c.Request], s.last = name, name
	case runtime.Ask:
		s.draw(s.answers, name, c.Of.Name, "")
		s.of[c.Question] = name
	}
	switch c.Kind {
	case runtime.Plan:
		s.say("%v tick %d", at, c.Tick)
		if s.options["requests"] == true {
			s.say("request %s", request.Append(nil, c.Request.Messages))
		}
	case runtime.Start:
		with := ""
		if c.Context != nil {
			with = " with " + inJSON(c.Context)
		}
		if c.Uncertainty != "" {
			with += ", though " + c.Uncertainty
		}
		s.say("%v start %s %s%s", at, name, inJSON(c.Params), with)
		if c.Request != nil && s.options["requests"] == true {
			s.say("request %s", request.Append(nil, c.Request.Messages))
		}
	case runtime.Enter:
		s.say("%v enter %s %s", at, name, inJSON(c.Params))
	case runtime.Leave:
		s.say("%v leave %s %s", at, c.Instance, c.Left.Status)
	case runtime.Advise:
		s.say("%v advice %s", at, strings.TrimSpace(c.Instance+" "+ranked(c.Ranking)))
	case runtime.Ask:
		problem := ""
		if c.Question.Problem != "" {
			problem = " (" + c.Question.Problem + ")"
		}
		if c.Question.Uncertainty != "" {
			problem += ", for " + c.Question.Uncertainty + ": " + ranked(c.Question.Advice)
		}
		s.say("%v ask about %s %s%s", at, name, inJSON(c.Question.Params), problem)
	case runtime.Repeat:
		s.say("%v %s is done already", at, name)
	case runtime.Settle:
		why := c.Settlement.Reason
		if c.Settlement.Failure != nil {
			why = c.Settlement.Failure.Code + ": " + c.Settlement.Failure.Message
			if c.Settlement.Routed {
				why += " (handled)"
			}
		}
		if why != "" {
			why = ": " + strings.ReplaceAll(why, "\n", "; ")
		}
		s.say("%v %s %s%s", at, c.Settlement.Status, name, why)
	case runtime.EndTick:
		for _, fault := range c.End.Faults {
			s.say("%v fault %s: %s", at, fault.Code, fault.Message)
		}
	}
}

// label is a call's name, with its instance and the calls that delegate to it.
func label(c runtime.Command) string {
	if c.Of == nil {
		return ""
	}
	name := c.Of.Name
	if c.Under != "" {
		name = c.Under + "/" + name
	}
	return strings.TrimSpace(c.Instance + " " + name)
}

func ranked(ranking []plan.Rank) string {
	words := make([]string, len(ranking))
	for i, r := range ranking {
		words[i] = fmt.Sprint(r.Tool, " ", r.Weight)
	}
	return strings.Join(words, ", ")
}

// labelled has activities know whose call they carry out.
type labelled struct {
	local.Runner
	*scenario
}

type labelKey struct{}

func (l labelled) Start(ctx context.Context, name string, r activity.Request, ended func(activity.Result, error)) context.CancelFunc {
	return l.Runner.Start(context.WithValue(ctx, labelKey{}, l.last), name, r, ended)
}

// activity gives a tool's results: {value}, {fail, code} or {path, value}, each
// after a while.
func (s *scenario) activity(ctx context.Context, r activity.Request) (any, error) {
	result := s.next(ctx, ctx.Value(labelKey{}).(string))
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if message, fails := result["fail"].(string); fails {
		code, _ := result["code"].(string)
		return nil, &activity.Failure{Code: code, Message: message}
	}
	if path, ok := result["path"]; ok {
		return map[string]any{"_outputPath": path, "_output": result["value"]}, nil
	}
	return result["value"], nil
}

// Answer is the planner: the nth solution for the nth tick, in pieces if the
// options say so. A solution that is a text is given as it stands; one that ends
// in "…" breaks off there.
func (s *scenario) Answer(ctx context.Context, r *runtime.Request, emit func(string)) (runtime.Usage, error) {
	if r.Call != nil {
		call := s.named(r)
		s.next(ctx, call)
		thought, known := s.thoughts[call]
		if !known {
			thought = s.thoughts[r.Call.Name]
		}
		emit(inJSON(thought))
		return runtime.Usage{OutputTokens: 10}, nil
	}
	if r.Tick > len(s.solutions) {
		return runtime.Usage{}, errors.New("no further solution was recorded")
	}
	text, raw := s.solutions[r.Tick-1].(string)
	if !raw {
		text = inOrder(s.solutions[r.Tick-1])
	}
	text, cut := strings.CutSuffix(text, "…")
	size := s.number("pieces")
	for at := 0; at < len(text); {
		end := len(text)
		if size > 0 {
			end = min(end, at+size)
		}
		select {
		case <-time.After(s.option("every")):
		case <-ctx.Done():
			return runtime.Usage{}, ctx.Err()
		}
		emit(text[at:end])
		at = end
	}
	if cut {
		return runtime.Usage{OutputTokens: 10}, fmt.Errorf("%w: the connection was lost", request.ErrCut)
	}
	return runtime.Usage{OutputTokens: 10}, nil
}

// named is whose call a request or a question is about.
func (s *scenario) named(about any) string {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.of[about]
}

// inOrder writes a solution as a model would: calls before the output.
func inOrder(solution any) string {
	var parts []string
	for _, key := range []string{"advisors", "meta", "calls", "output"} {
		if value, ok := solution.(map[string]any)[key]; ok {
			parts = append(parts, fmt.Sprintf("%q:%s", key, inJSON(value)))
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// Ask is the person.
func (s *scenario) Ask(ctx context.Context, q *runtime.Question) func() (runtime.Decision, error) {
	return func() (runtime.Decision, error) { return s.decide(ctx, q) }
}

func (s *scenario) decide(ctx context.Context, q *runtime.Question) (runtime.Decision, error) {
	answer := s.next(ctx, s.named(q))
	if answer == nil {
		<-ctx.Done()
		return runtime.Decision{}, ctx.Err()
	}
	d := runtime.Decision{By: "somebody"}
	for key, value := range answer {
		switch key {
		case "replace":
			d.Verdict, d.Replacement = runtime.Replace, json.RawMessage(inJSON(value))
		case "change":
			d.Verdict, d.Params = runtime.Change, value.(map[string]any)
		case "say":
			d.Verdict = runtime.Verdict(value.(string))
		case "reason":
			d.Reason = value.(string)
		}
	}
	return d, nil
}
