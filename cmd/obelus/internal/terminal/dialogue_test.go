//go:build linux

package terminal

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/testdata/pty"
)

type answer struct {
	decision runtime.Decision
	err      error
}

// askedFirst is a person at a terminal who has been asked a first
// question.
func askedFirst(t *testing.T) (*pty.Terminal, *Dialogue, <-chan answer) {
	t.Helper()
	p := pty.Open(t, 80)
	d := dialogueAt(p)
	answers := askInBackground(t.Context(), d, question("first"))
	p.Asked()
	return p, d, answers
}

func askInBackground(ctx context.Context, d *Dialogue, q *runtime.Question) <-chan answer {
	answers := make(chan answer, 1)
	ask := d.Ask(ctx, q)
	go func() {
		decision, err := ask()
		answers <- answer{decision, err}
	}()
	return answers
}

func question(call string) *runtime.Question {
	return &runtime.Question{Call: call, Tool: "pay", Activity: "bank", Effects: "destructive", Params: map[string]any{"amount": 5.0}}
}

// await waits for the answer to a question.
func await(t *testing.T, p *pty.Terminal, answers <-chan answer) answer {
	t.Helper()
	select {
	case a := <-answers:
		return a
	case <-time.After(pty.Patience):
		t.Fatalf("the question isn't answered; the screen is\n%s", p.Text())
		return answer{}
	}
}

func wants(t *testing.T, a answer, verdict runtime.Verdict) {
	t.Helper()
	if a.err != nil || a.decision.Verdict != verdict || a.decision.By != "terminal" {
		t.Errorf("answered %+v, %v; want %q at the terminal", a.decision, a.err, verdict)
	}
}

// EXECUTION.md#reviewers: questions are put one after the other, in the order in which they came.
func TestQuestionsQueueUp(t *testing.T) {
	p, d, first := askedFirst(t)
	second := askInBackground(t.Context(), d, question("second"))
	unseen := question("third")
	third := askInBackground(t.Context(), d, unseen)
	p.Press("y\r")
	wants(t, await(t, p, first), runtime.Approve)
	p.Sees(`may "second" run?`)
	p.Asked()
	if unseen.Seen() != nil {
		t.Error("a question that waits behind another counts as seen")
	}
	p.Press("n\r")
	wants(t, await(t, p, second), runtime.Reject)
	p.Sees(`may "third" run?`)
	p.Asked()
	p.Press("y\r")
	wants(t, await(t, p, third), runtime.Approve)
	if unseen.Seen() == nil {
		t.Error("a question that was answered counts as unseen")
	}
	if text := p.Settled(); strings.Count(text, "third") != 1 {
		t.Errorf("the screen is\n%s", text)
	}
}

// A question that is no longer needed leaves the queue.
func TestQuestionIsTakenBackBeforeItsTurn(t *testing.T) {
	p, d, first := askedFirst(t)
	ctx, cancel := context.WithCancel(t.Context())
	second := askInBackground(ctx, d, question("second"))
	cancel()
	if a := await(t, p, second); !errors.Is(a.err, context.Canceled) {
		t.Errorf("answered %+v, %v", a.decision, a.err)
	}
	p.Press("y\r")
	wants(t, await(t, p, first), runtime.Approve)
	if screen := p.Settled(); strings.Contains(screen, "second") {
		t.Errorf("the screen is\n%s", screen)
	}
}

// Who has stopped the run isn't asked what else may run.
func TestStopHoldsForAllQuestions(t *testing.T) {
	p, d, first := askedFirst(t)
	second := askInBackground(t.Context(), d, question("second"))
	p.Press("q\r")
	for _, answers := range []<-chan answer{first, second} {
		if a := await(t, p, answers); !errors.Is(a.err, errStopRequested) {
			t.Errorf("answered %+v, %v", a.decision, a.err)
		}
	}
	if screen := p.Settled(); strings.Contains(screen, "second") || !d.stopped.Load() {
		t.Errorf("it asks on:\n%s", screen)
	}
}

// Lines that were entered before a question could be read don't answer it.
func TestLinesEnteredEarlierAnswerNothing(t *testing.T) {
	p := pty.Open(t, 80)
	d := dialogueAt(p)
	p.Press("y\rn\r")
	p.TypedAhead(len("y\r"))
	answers := askInBackground(t.Context(), d, question("first"))
	p.Sees(`may "first" run?`)
	p.Sees("q stop")
	p.Press("y\r")
	wants(t, await(t, p, answers), runtime.Approve)
}

// EXECUTION.md#reviewers: Ctrl-D stops the run.
func TestEndOfInputStopsTheRun(t *testing.T) {
	p, d, answers := askedFirst(t)
	p.Press("\x04")
	if a := await(t, p, answers); !errors.Is(a.err, errStopRequested) || !d.stopped.Load() {
		t.Errorf("answered %+v, %v", a.decision, a.err)
	}
}

// EXECUTION.md#reviewers: a question whose time is over, or whose run ends, is taken back, in
// whatever state it is.
func TestQuestionIsTakenBack(t *testing.T) {
	for _, test := range []struct {
		name  string
		reach func(p *pty.Terminal)
	}{
		{"key", func(*pty.Terminal) {}},
		{"reason", func(p *pty.Terminal) { p.Press("n beca"); p.Sees("beca") }},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := pty.Open(t, 80)
			d := dialogueAt(p)
			ctx, over := context.WithCancel(t.Context())
			answers := askInBackground(ctx, d, question("first"))
			p.Asked()
			test.reach(p)
			over()
			if a := await(t, p, answers); !errors.Is(a.err, context.Canceled) {
				t.Errorf("answered %+v, %v", a.decision, a.err)
			}
			screen := p.Settled()
			if !strings.HasSuffix(screen, "\n  – no longer asked\n") || !p.AtLineStart() {
				t.Errorf("the last line isn't clean:\n%s", screen)
			}
		})
	}
}

// EXECUTION.md#reviewers: where the terminal has gone, nobody can be asked.
func TestTerminalIsGone(t *testing.T) {
	p, d, answers := askedFirst(t)
	p.HangUp()
	if a := await(t, p, answers); !errors.Is(a.err, errNoReviewer) {
		t.Errorf("answered %+v, %v", a.decision, a.err)
	}
	if _, err := d.Ask(t.Context(), question("second"))(); !errors.Is(err, errNoReviewer) {
		t.Errorf("the next question: %v", err)
	}
}

// A line that is longer than a line can be isn't silently cut.
func TestLineThatIsTooLong(t *testing.T) {
	p := pty.Open(t, 80)
	answers := askInBackground(t.Context(), dialogueAt(p), question("first"))
	p.Asked()
	p.Press("e ")
	for range 50 {
		p.Press(strings.Repeat("x", 100))
	}
	p.Press("\r")
	p.Sees("at most 4094 bytes")
	p.Asked()
	p.Press("y\r")
	wants(t, await(t, p, answers), runtime.Approve)
}

// Bytes that are no characters hold up nothing.
func TestNoiseInALine(t *testing.T) {
	p, _, answers := askedFirst(t)
	p.Press("n \xff\xfea\xc3b\xc3\xa9\r")
	a := await(t, p, answers)
	wants(t, a, runtime.Reject)
	if a.decision.Reason != "abé" {
		t.Errorf("the reason is %q", a.decision.Reason)
	}
}

// EXECUTION.md#running: colours are for those who want them.
func TestColoursOfQuestions(t *testing.T) {
	for _, test := range []struct {
		variable string
		painted  bool
	}{{"", true}, {"1", false}} {
		t.Setenv("NO_COLOR", test.variable)
		p := pty.Open(t, 80)
		answers := askInBackground(t.Context(), dialogueAt(p), question("first"))
		p.Asked()
		p.Press("n x\r")
		await(t, p, answers)
		p.Settled()
		if painted := pty.Paint.MatchString(p.Bytes()); painted != test.painted {
			t.Errorf("NO_COLOR=%q: painted is %v: %q", test.variable, painted, p.Bytes())
		}
	}
}

// EXECUTION.md#reviewers: a person can be asked on a terminal that can show a question, unless
// the environment says that nobody looks.
func TestCanAsk(t *testing.T) {
	t.Setenv("CI", "")
	p := pty.Open(t, 80)
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if !CanAsk(p.Slave, p.Slave) {
		t.Error("nobody can be asked at a terminal")
	}
	if CanAsk(file, p.Slave) || CanAsk(p.Slave, file) || CanAsk(strings.NewReader("y"), p.Slave) || CanAsk(p.Slave, &strings.Builder{}) {
		t.Error("somebody is asked where there is no terminal")
	}
	for value, can := range map[string]bool{"true": false, "1": false, "yes": false, "false": true, "0": true} {
		t.Setenv("CI", value)
		if CanAsk(p.Slave, p.Slave) != can {
			t.Errorf("CI=%s: want %v", value, can)
		}
	}
	t.Setenv("CI", "")
	t.Setenv("TERM", "dumb")
	if CanAsk(p.Slave, p.Slave) {
		t.Error("a question is put on a dumb terminal")
	}
}
