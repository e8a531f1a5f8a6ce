package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/activity"
	"github.com/obelus-dev/obelus/runtime/session"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// A decider decides about a call by its name and by whether it stands in the place of
// another, so that it comes to the same wherever and whenever it is asked.
type decider struct{}

func (decider) decide(q *runtime.Question) runtime.Decision {
	h := fnv.New32()
	fmt.Fprint(h, q.Call, q.Instance)
	d := runtime.Decision{By: "ann"}
	switch kind := h.Sum32() % 5; {
	case q.Replaces != "" || kind < 2:
		d.Verdict = runtime.Approve
	case kind == 2:
		d.Verdict, d.Reason = runtime.Reject, "no"
	case kind == 3:
		d.Verdict, d.Params = runtime.Change, map[string]any{"name": "changed"}
	default:
		d.Verdict, d.Replacement = runtime.Replace, json.RawMessage(`{"_tool":"act","name":"†state.there"}`)
	}
	return d
}

func (p decider) Ask(_ context.Context, q *runtime.Question) func() (runtime.Decision, error) {
	return func() (runtime.Decision, error) {
		return p.decide(q), nil
	}
}

// EXECUTION.md#stored-answers: a run whose questions are answered piecemeal, by command and by
// file, with a stop after each piece, comes to what it comes to when a person at hand
// answers them; what it has open when it stops is what is read from its journal; and an
// answer to one question is none to another.
func TestAnswersFromElsewhere(t *testing.T) {
	functions := map[string]activity.Func{"act": func(_ context.Context, r activity.Request) (any, error) {
		return map[string]any{"by": r.Params["name"]}, nil
	}}
	always := runtime.Options{Confirm: runtime.Confirm{Policy: runtime.Always}}
	for seed := range uint64(amount.Of(30, 150, 3000)) {
		chance := rand.New(rand.NewPCG(seed, 11))
		text := askingPlan(chance)
		p := program(t, text, "act")
		want, err := session.Run(t.Context(), p, session.Options{Options: always, Host: session.Host{Functions: functions, Confirmer: decider{}}})
		if err != nil {
			t.Fatal(err)
		}
		o := session.ResumeOptions{Host: session.Host{Functions: functions}}
		got, err := session.Run(t.Context(), p, session.Options{Options: always, Host: o.Host, Runs: t.TempDir()})
		for rounds := 0; err == nil && got.Status == runtime.RunStopped; rounds++ {
			if rounds > 100 || got.Reason != runtime.ReasonConfirmation {
				t.Fatalf("seed %d: it stopped for %s, in round %d\n%s", seed, got.Reason, rounds, text)
			}
			o.Answers = answered(t, seed, chance, got, o)
			got, err = session.Resume(t.Context(), got.Journal, o)
		}
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
		if got.Status != want.Status || !reflect.DeepEqual(got.Counts, want.Counts) || !reflect.DeepEqual(got.State, want.State) || len(got.Errors) != len(want.Errors) {
			t.Fatalf("seed %d: it came to %s %+v\n%v\nand with a person at hand to %s %+v\n%v\n%s", seed, got.Status, got.Counts, got.State, want.Status, want.Counts, want.State, text)
		}
		if left, _ := filepath.Glob(filepath.Join(filepath.Dir(got.Journal), "*.answers")); len(left) > 0 {
			t.Fatalf("seed %d: %s is left", seed, left)
		}
	}
}

// answered answers some of the questions that a run stopped with: some beside its journal,
// the others with the answers that it gives.
func answered(t *testing.T, seed uint64, chance *rand.Rand, stopped *session.Result, o session.ResumeOptions) (given []session.Answer) {
	t.Helper()
	questions, err := session.OpenQuestions(stopped.Journal, o)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	open := questions.Open()
	if !reflect.DeepEqual(idsOf(open), idsOf(stopped.Asked)) {
		t.Fatalf("seed %d: it stopped with %v, and its journal has %v open", seed, idsOf(stopped.Asked), idsOf(open))
	}
	least := chance.IntN(len(open))
	for i, q := range open {
		d := decider{}.decide(q)
		switch kind := chance.IntN(4); {
		case kind == 0 && i != least:
		case kind == 1:
			answer := session.AnswerTo(q, d)
			if chance.IntN(2) == 0 {
				answer.ID = ""
			}
			given = append(given, answer)
		default:
			again, err := questions.Decide([]*runtime.Question{q}, d)
			for err == nil && len(again) > 0 && chance.IntN(2) == 0 {
				again, err = questions.Decide(again, decider{}.decide(again[0]))
			}
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
	}
	stray := session.AnswerTo(open[0], runtime.Decision{Verdict: runtime.Reject})
	stray.ID = "0123456789abcdef"
	return append([]session.Answer{stray}, given...)
}

func idsOf(questions []*runtime.Question) (all []string) {
	for _, q := range questions {
		all = append(all, q.Call+" "+q.Instance+" "+q.ID)
	}
	return all
}

// askingPlan makes a plan whose calls are asked about, over instances or not.
func askingPlan(chance *rand.Rand) string {
	text := "state: {there: here}\ntools: {act: {properties: {name: {type: string}}, additionalProperties: false}}\n"
	if chance.IntN(3) == 0 {
		text += "instances: {one: {}, two: {}}\n"
	}
	text += "calls:\n"
	for i := range 1 + chance.IntN(6) {
		reads := ""
		if i > 0 && chance.IntN(2) == 0 {
			reads = fmt.Sprintf(", _when: †state.p%d.by != null", chance.IntN(i))
		}
		text += fmt.Sprintf("- {_id: c%d, _tool: act, name: n%d, _outputPath: p%d%s}\n", i, chance.IntN(9), i, reads)
	}
	return text
}

// EXECUTION.md#stored-answers: answers that can't be any say where and why.
func TestUnreadableAnswers(t *testing.T) {
	for text, want := range map[string]string{
		`{"call": "a"}`:          `there is no verdict ""`,
		`{"verdict": "approve"}`: "names its call",
		`{"call": "a", "verdict": "approve", "parms": {}}`:         `"parms"`,
		`{"call": "a", "verdict": "approve", "params": {}}`:        "a change, and nothing else",
		`{"call": "a", "verdict": "change"}`:                       "a change, and nothing else",
		`{"call": "a", "verdict": "replace"}`:                      "a replace, and nothing else",
		`[{"call": "a", "verdict": "approve"}, 5]`:                 "a JSON object",
		"{\"call\": \"a\", \"verdict\": \"approve\"}\n- {call: b}": "line 2",
		`{"call": "a", "call": "b", "verdict": "approve"}`:         "line 1",
	} {
		if _, err := session.ReadAnswers("answers.yaml", []byte(text)); !errors.Is(err, session.ErrAnswers) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %q", text, err, want)
		}
	}
	all, err := session.ReadAnswers("answers.jsonl", []byte("{\"call\": \"a\", \"verdict\": \"approve\"}\n\n{\"call\": \"b\", \"verdict\": \"reject\", \"by\": \"bob\"}\n"))
	if err != nil || len(all) != 2 || all[1].Call != "b" || all[1].By != "bob" {
		t.Errorf("%+v, %v", all, err)
	}
	all, err = session.ReadAnswers("answers.yaml", []byte("- {call: a, verdict: approve}\n- {call: b, verdict: reject}\n"))
	if err != nil || len(all) != 2 || all[1].Verdict != "reject" {
		t.Errorf("%+v, %v", all, err)
	}
	if _, err := session.ReadAnswers("answers.jsonl", []byte("{\"call\": \"a\", \"verdict\": \"approve\"}\n{}\n")); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Error(err)
	}
}

// A patient person looks at a question, waits until it is taken back, and notes that.
type patient struct {
	looks     chan bool
	takenBack chan struct{}
}

func (p patient) Ask(ctx context.Context, _ *runtime.Question) func() (runtime.Decision, error) {
	return func() (runtime.Decision, error) {
		p.looks <- true
		<-ctx.Done()
		p.takenBack <- struct{}{}
		return runtime.Decision{}, ctx.Err()
	}
}

// A listener tells which questions are asked.
type listener chan string

func (l listener) Observe(_ time.Duration, c runtime.Command) {
	if c.Kind == runtime.Ask {
		l <- c.Question.ID
	}
}

func (listener) Waits(string) {}

// EXECUTION.md#stored-answers: what is decided elsewhere counts for a run that waits, for a person at hand, who
// is told, or for as long as an answer is waited for.
func TestDecidedElsewhereMeanwhile(t *testing.T) {
	host := session.Host{Functions: map[string]activity.Func{"work": func(context.Context, activity.Request) (any, error) { return 1.0, nil }}}
	for _, watched := range []bool{true, false} {
		path := stoppedRun(t, host.Functions)
		person, asked, ended := patient{make(chan bool, 2), make(chan struct{}, 2)}, make(listener), make(chan *session.Result)
		go func() {
			o := session.ResumeOptions{Host: host, Confirm: &runtime.Confirm{Policy: runtime.Always, Timeout: time.Hour}}
			if o.Observer = asked; watched {
				o.Confirmer = person
			}
			result, _ := session.Resume(t.Context(), path, o)
			ended <- result
		}()
		for range 2 {
			id := <-asked
			if watched {
				<-person.looks // else the answer may be there before anybody is asked
			}
			questions, err := session.OpenQuestions(path, session.ResumeOptions{Host: host})
			if err != nil {
				t.Fatal(err)
			}
			if open := questions.Open(); !questions.Running || len(open) != 1 || open[0].ID != id {
				t.Fatalf("%s is asked, and %v open", id, idsOf(open))
			}
			if _, err := questions.Decide(questions.Open(), runtime.Decision{Verdict: runtime.Approve, By: "ann"}); err != nil {
				t.Fatal(err)
			}
			if watched {
				<-person.takenBack
			}
		}
		if result := <-ended; result == nil || result.Status != runtime.RunDone {
			t.Errorf("%+v", result)
		}
	}
}

// EXECUTION.md#stored-answers: what a crash left of an answer that was being kept is no answer, and keeps
// no other from being taken.
func TestTornAnswer(t *testing.T) {
	host := session.Host{Functions: map[string]activity.Func{"work": func(context.Context, activity.Request) (any, error) { return 1.0, nil }}}
	path := stoppedRun(t, host.Functions)
	o := session.ResumeOptions{Host: host}
	if err := os.WriteFile(strings.TrimSuffix(path, ".jsonl")+".answers", []byte(`{"call":"a","verdict":"rej`), 0o600); err != nil {
		t.Fatal(err)
	}
	for call := range 2 {
		questions, err := session.OpenQuestions(path, o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := questions.Decide(questions.Open(), runtime.Decision{Verdict: runtime.Approve}); err != nil {
			t.Fatal(err)
		}
		result, err := session.Resume(t.Context(), path, o)
		if err != nil || result.Counts.Done != call+1 {
			t.Fatalf("%+v, %v", result, err)
		}
	}
}

// EXECUTION.md#stored-answers: an answer is taken whatever its parameters are called and hold.
func TestAnswerWithAnyParameters(t *testing.T) {
	got := any(nil)
	host := session.Host{Functions: map[string]activity.Func{"work": func(_ context.Context, r activity.Request) (any, error) {
		got = r.Params["spent"]
		return 1.0, nil
	}}}
	path := stoppedRun(t, host.Functions)
	questions, err := session.OpenQuestions(path, session.ResumeOptions{Host: host})
	if err != nil {
		t.Fatal(err)
	}
	d := runtime.Decision{Verdict: runtime.Change, Params: map[string]any{"spent": true}}
	if _, err := questions.Decide(questions.Open(), d); err != nil {
		t.Fatal(err)
	}
	if result, err := session.Resume(t.Context(), path, session.ResumeOptions{Host: host}); err != nil || got != true {
		t.Errorf("it ran with %v: %+v, %v", got, result, err)
	}
}

// EXECUTION.md#stored-answers: what can't be taken is refused when it is decided, and nothing is kept.
func TestDecisionsAreJudgedAtOnce(t *testing.T) {
	host := session.Host{Functions: map[string]activity.Func{"work": func(context.Context, activity.Request) (any, error) { return 1.0, nil }}}
	path := stoppedRun(t, host.Functions)
	questions, err := session.OpenQuestions(path, session.ResumeOptions{Host: host})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []runtime.Decision{{Verdict: "perhaps"}, {Verdict: runtime.Retry}, {Verdict: runtime.Change, Params: map[string]any{"_tool": "x"}}, {Verdict: runtime.Replace, Replacement: json.RawMessage("{}")}} {
		if _, err := questions.Decide(questions.Open(), d); !errors.Is(err, session.ErrAnswers) {
			t.Errorf("%+v: %v", d, err)
		}
	}
	if _, err := os.Stat(strings.TrimSuffix(path, ".jsonl") + ".answers"); err == nil {
		t.Error("something is kept")
	}
}
