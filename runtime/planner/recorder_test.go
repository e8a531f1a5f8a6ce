package planner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/obelus-dev/obelus/compiler/redact"
	"github.com/obelus-dev/obelus/runtime/request"
)

// A said is what a scripted planner answers.
type said struct {
	text  string
	usage request.Usage
	err   error
}

// scripted answers what it is told to, in that order.
type scripted struct {
	mu      sync.Mutex
	answers []said
}

func (s *scripted) Answer(_ context.Context, _ *request.Request, emit func(string)) (request.Usage, error) {
	s.mu.Lock()
	next := s.answers[0]
	s.answers = s.answers[1:]
	s.mu.Unlock()
	if half := len(next.text) / 2; half > 0 {
		emit(next.text[:half])
		emit(next.text[half:])
	} else if next.text != "" {
		emit(next.text)
	}
	return next.usage, next.err
}

func cutHere() error { return fmt.Errorf("%w: so it goes", request.ErrCut) }

// outcome is what came of an answer, as far as a run sees it.
func outcome(text string, usage request.Usage, err error) string {
	var refused *request.Refused
	switch {
	case errors.As(err, &refused):
		return fmt.Sprintf("%q %v refused %q", text, usage, refused.Words)
	case errors.Is(err, request.ErrCut):
		return fmt.Sprintf("%q %v cut", text, usage)
	case err != nil:
		return fmt.Sprintf("%q %v no answer", text, usage)
	}
	return fmt.Sprintf("%q %v", text, usage)
}

func record(t *testing.T, folder string, requests []*request.Request, answers ...said) (outcomes []string) {
	t.Helper()
	r, err := NewRecorder(&scripted{answers: answers}, folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range requests {
		outcomes = append(outcomes, outcome(collect(t.Context(), r, q)))
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return outcomes
}

func replayFolder(t *testing.T, folder string, requests []*request.Request) (outcomes []string) {
	t.Helper()
	p, err := Open("replay:"+filepath.Join(folder, SolutionsFile), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range requests {
		outcomes = append(outcomes, outcome(collect(t.Context(), p, q)))
	}
	return outcomes
}

func files(t *testing.T, folder string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func solutionRequest(tick int) *request.Request {
	r := greeting()
	r.Tick = tick
	return r
}

// A resumed run goes on with its recording; another one takes its place.
func TestRecordingGoesOn(t *testing.T) {
	folder := t.TempDir()
	first := []*request.Request{solutionRequest(1), latentRequest(1, "tell#1", `{}`), solutionRequest(2), solutionRequest(3), solutionRequest(4)}
	record(t, folder, first, said{text: `{"output":1}`}, said{text: `"one"`}, said{text: `{"output":2}`}, said{text: `{"output":3}`}, said{text: `{"output":4}`})

	// Killed in the third tick, of which a part had arrived.
	rest := solutionRequest(3)
	rest.Received = `{"out`
	record(t, folder, []*request.Request{rest, latentRequest(3, "tell#1", `{}`)}, said{text: `put":"three"}`}, said{text: `"three"`})
	all := []*request.Request{solutionRequest(1), latentRequest(1, "tell#1", `{}`), solutionRequest(2), solutionRequest(3), latentRequest(3, "tell#1", `{}`), solutionRequest(4)}
	got := strings.Join(replayFolder(t, folder, all), "\n")
	if want := strings.Join([]string{`"{\"output\":1}" {0 0 0}`, `"\"one\"" {0 0 0}`, `"{\"output\":2}" {0 0 0}`, `"{\"output\":\"three\"}" {0 0 0}`, `"\"three\"" {0 0 0}`, `"" {0 0 0} no answer`}, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got, want := files(t, folder), []string{"solutions.json", "tick-1.json", "tick-2.json", "tick-3.json"}; !slices.Equal(got, want) {
		t.Errorf("the folder holds %q", got)
	}

	// Stopped after a latent call, before the next solution.
	record(t, folder, []*request.Request{latentRequest(3, "tell#2", `{}`)}, said{text: `"two"`})
	if got := replayFolder(t, folder, []*request.Request{solutionRequest(3), latentRequest(3, "tell#1", `{}`), latentRequest(3, "tell#2", `{}`)}); !strings.Contains(strings.Join(got, " "), "three") || !strings.Contains(got[1], "three") || !strings.Contains(got[2], "two") {
		t.Errorf("got %q", got)
	}

	// Another run.
	record(t, folder, []*request.Request{solutionRequest(1)}, said{text: `{"output":"new"}`})
	if got, want := files(t, folder), []string{"solutions.json", "tick-1.json"}; !slices.Equal(got, want) {
		t.Errorf("the folder holds %q", got)
	}
	if got := replayFolder(t, folder, all[:3]); got[0] != `"{\"output\":\"new\"}" {0 0 0}` || !strings.HasSuffix(got[1], "no answer") || !strings.HasSuffix(got[2], "no answer") {
		t.Errorf("got %q", got)
	}
}

// Results of latent calls come from many goroutines at once, and all are kept.
func TestRecordingConcurrently(t *testing.T) {
	folder := t.TempDir()
	const calls = 200
	answers := make([]said, calls)
	for i := range answers {
		answers[i].text = `"x"`
	}
	r, err := NewRecorder(&scripted{answers: answers}, folder)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	var requests []*request.Request
	for i := range calls {
		q := latentRequest(1+i%3, fmt.Sprintf("tell#%d", i), `{}`)
		requests = append(requests, q)
		all.Go(func() {
			if _, _, err := collect(t.Context(), r, q); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	for i, got := range replayFolder(t, folder, requests) {
		if got != `"\"x\"" {0 0 0}` {
			t.Errorf("call %d: %s", i, got)
		}
	}
}

// Trouble with the recording is told at its end, and the run goes on.
func TestRecordingTrouble(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := NewRecorder(&scripted{}, file); err == nil || !strings.HasPrefix(err.Error(), "the run can't be recorded: ") {
		t.Errorf("got %v", err)
	}
	gone := filepath.Join(folder, "gone")
	r, err := NewRecorder(&scripted{answers: []said{{text: `{}`}, {text: `{}`}}}, gone)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got, _, err := collect(t.Context(), r, solutionRequest(1)); got != `{}` || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
	}
	if err := r.Close(); !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), "the recording in "+gone+" isn't whole: ") {
		t.Errorf("got %v", err)
	}
}

// PLANNERS.md#recording: no key reaches a recording.
func TestRecordingHoldsNoKey(t *testing.T) {
	for name, p := range protocols {
		settings(t, p)
		e := &fake{key: p.header, turns: []turn{
			streams(p.stream(`{"output":"`, testKey[:9], testKey[9:], `"}`)),
			streams(beginOnly(p) + latentEvent(p, `{"result":"`+testKey+`"}`) + p.end(p.stop["done"], 1, 1)),
			streams(p.begin() + p.event(`{"output":"`+testKey) + p.failure("overloaded_error", testKey)),
		}}
		e.serve(t)
		planner, err := Open(p.spec, Options{Transport: e.transport})
		if err != nil {
			t.Fatal(err)
		}
		folder := t.TempDir()
		r, err := NewRecorder(planner, folder)
		if err != nil {
			t.Fatal(err)
		}
		latent := latentRequest(1, "tell#1", `{}`)
		latent.Schema = value(`{"type":"string"}`)
		for _, q := range []*request.Request{solutionRequest(1), latent, solutionRequest(2)} {
			collect(t.Context(), r, q)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		kept := 0
		for _, file := range files(t, folder) {
			text, err := os.ReadFile(filepath.Join(folder, file))
			if err != nil {
				t.Fatal(err)
			}
			kept += strings.Count(string(text), redact.Hidden("key"))
			if strings.Contains(string(text), testKey[:12]) {
				t.Errorf("%s: %s holds\n%s", name, file, text)
			}
		}
		if kept != 5 { // the latent result is in one file, the others in two
			t.Errorf("%s: %d keys were hidden", name, kept)
		}
	}
}
