//go:build linux

package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/runtime"
)

type answer struct {
	decision runtime.Decision
	err      error
}

func askInBackground(ctx context.Context, d *dialogue, q *runtime.Question) <-chan answer {
	answers := make(chan answer, 1)
	ask := d.Ask(ctx, q, func() {})
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
func await(t *testing.T, p *pty, answers <-chan answer) answer {
	t.Helper()
	select {
	case a := <-answers:
		return a
	case <-time.After(20 * time.Second):
		t.Fatalf("the question isn't answered; the screen is\n%s", p.text())
		return answer{}
	}
}

func wants(t *testing.T, a answer, verdict runtime.Verdict) {
	t.Helper()
	if a.err != nil || a.decision.Verdict != verdict || a.decision.By != "terminal" {
		t.Errorf("answered %+v, %v; want %q at the terminal", a.decision, a.err, verdict)
	}
}

// restored tells whether the terminal is as it was before.
func (p *pty) restored(t *testing.T, before any) {
	t.Helper()
	if after := any(p.modes()); after != before {
		t.Errorf("the terminal isn't as it was found: %+v, not %+v", after, before)
	}
}

// S10.1: questions are put one after the other, in the order in which they came,
// and the one that is open tells how many wait.
func TestQuestionsQueueUp(t *testing.T) {
	useEditor(t, "")
	p := openPty(t, 80)
	d := p.dialogue()
	first := askInBackground(t.Context(), d, question("first"))
	p.asked()
	second := askInBackground(t.Context(), d, question("second"))
	p.sees("1 question is waiting")
	third := askInBackground(t.Context(), d, question("third"))
	p.sees("2 questions are waiting")
	p.asked()
	p.press("y")
	wants(t, await(t, p, first), runtime.Approve)
	p.sees(`may "second" run?`)
	p.asked()
	if text := p.text(); strings.Contains(text, "third") || strings.Count(text, "waiting") != 1 || !strings.Contains(text, "1 question is waiting") {
		t.Errorf("the screen is\n%s", text)
	}
	p.press("n")
	p.prompted("why?")
	p.press("\r")
	wants(t, await(t, p, second), runtime.Reject)
	p.sees(`may "third" run?`)
	p.asked()
	p.press("y")
	wants(t, await(t, p, third), runtime.Approve)
	if screen := p.settled(); strings.Contains(screen, "waiting") || strings.Contains(screen, "stop the run") {
		t.Errorf("something is left of the questions:\n%s", screen)
	}
}

// A question that is no longer needed leaves the queue.
func TestQuestionIsTakenBackBeforeItsTurn(t *testing.T) {
	useEditor(t, "")
	p := openPty(t, 80)
	d := p.dialogue()
	first := askInBackground(t.Context(), d, question("first"))
	p.asked()
	ctx, cancel := context.WithCancel(t.Context())
	second := askInBackground(ctx, d, question("second"))
	p.sees("1 question is waiting")
	cancel()
	if a := await(t, p, second); !errors.Is(a.err, context.Canceled) {
		t.Errorf("answered %+v, %v", a.decision, a.err)
	}
	eventually(t, "nothing waits", func() bool { return !strings.Contains(p.text(), "waiting") })
	p.asked()
	p.press("y")
	wants(t, await(t, p, first), runtime.Approve)
	if screen := p.settled(); strings.Contains(screen, "second") {
		t.Errorf("the screen is\n%s", screen)
	}
}

// S10.1: one key approves all calls of a tool that are carried out and scoped as the
// one that was shown, and nothing that only shares its name (S14.1: each plan has
// tools of its own), nor what the advisors have turned against since (S13.3).
func TestApproveAll(t *testing.T) {
	useEditor(t, "")
	p := openPty(t, 80)
	d := p.dialogue()
	answers := askInBackground(t.Context(), d, question("first"))
	p.asked()
	p.press("a")
	wants(t, await(t, p, answers), runtime.Approve)
	wants(t, await(t, p, askInBackground(t.Context(), d, question("second"))), runtime.Approve)
	p.sees(`✓ "second": approved, as all calls of "pay"`)

	otherActivity, otherEffects, inFlight, problem := question("a"), question("b"), question("c"), question("d")
	otherActivity.Activity, otherEffects.Effects, inFlight.InFlight, problem.Problem = "shell", "unknown", true, "it can't be"
	otherPlan, doubted := question("e"), question("f")
	otherPlan.Delegate, doubted.Doubt = "other.yaml", "the advisors are against it"
	scoped, empty, otherProgram, replaced := question("g"), question("h"), question("i"), question("j")
	scoped.Scopes, empty.Scopes = []runtime.Handed{{Scope: "state"}}, []runtime.Handed{}
	otherProgram.Runs, replaced.Replaces = runtime.Execution{Kind: "exec", Argv: []string{"sh"}}, "transfer"
	for _, q := range []*runtime.Question{otherActivity, otherEffects, inFlight, problem, otherPlan, doubted, scoped, empty, otherProgram, replaced} {
		ctx, takeBack := context.WithCancel(t.Context())
		answers := askInBackground(ctx, d, q)
		p.sees("\"" + q.Call + "\"")
		takeBack()
		if a := await(t, p, answers); !errors.Is(a.err, context.Canceled) {
			t.Errorf("%+v: answered %+v, %v", q, a.decision, a.err)
		}
	}
}

// Who has stopped the run isn't asked what else may run.
func TestStopHoldsForAllQuestions(t *testing.T) {
	useEditor(t, "")
	p := openPty(t, 80)
	d := p.dialogue()
	first := askInBackground(t.Context(), d, question("first"))
	p.asked()
	second := askInBackground(t.Context(), d, question("second"))
	p.sees("1 question is waiting")
	p.asked()
	p.press("q")
	for _, answers := range []<-chan answer{first, second} {
		if a := await(t, p, answers); !errors.Is(a.err, errStopAsked) {
			t.Errorf("answered %+v, %v", a.decision, a.err)
		}
	}
	if screen := p.settled(); strings.Contains(screen, "second") || !d.stopped.Load() {
		t.Errorf("it asks on:\n%s", screen)
	}
}

// Keys that were pressed before a question could be read don't answer it.
func TestKeysPressedEarlierAnswerNothing(t *testing.T) {
	useEditor(t, "")
	p := openPty(t, 80)
	d := p.dialogue()
	p.press("y\ry")
	time.Sleep(10 * time.Millisecond) // they are on their way; that they are early is all that counts
	answers := askInBackground(t.Context(), d, question("first"))
	p.asked()
	p.press("y")
	wants(t, await(t, p, answers), runtime.Approve)

	// The second press of a key that was pressed twice comes within the breath
	// between two questions.
	breathe := make(chan time.Time)
	d.rested = breathe
	answers = askInBackground(t.Context(), d, question("second"))
	eventually(t, "the terminal is claimed", func() bool { return p.modes().Lflag&2 == 0 })
	p.press("y")
	p.typedAhead(1)
	close(breathe)
	p.sees(`may "second" run?`)
	p.asked()
	p.press("n")
	p.prompted("why?")
	p.press("\r")
	wants(t, await(t, p, answers), runtime.Reject)
}

// S10.2: a question whose time is over, or whose run ends, is taken back, in
// whatever state it is.
func TestQuestionIsTakenBack(t *testing.T) {
	for _, test := range []struct {
		name, editor string
		reach        func(p *pty)
	}{
		{"key", "", func(*pty) {}},
		{"reason", "", func(p *pty) { p.press("n"); p.prompted("why?"); p.press("beca"); p.sees("beca") }},
		{"change", "", func(p *pty) { p.press("e"); p.prompted("change:") }},
		{"editor", "echo at work; exec sleep 60", func(p *pty) { p.press("e"); p.sees("at work") }},
		{"meant", `echo '{}' > "$1"`, func(p *pty) { p.press("e"); p.sees("run it with these"); p.asked() }},
	} {
		t.Run(test.name, func(t *testing.T) {
			useEditor(t, test.editor)
			t.Setenv("TMPDIR", t.TempDir())
			p := openPty(t, 80)
			before := p.modes()
			d := p.dialogue()
			ctx, over := context.WithCancelCause(t.Context())
			answers := askInBackground(ctx, d, question("first"))
			p.asked()
			test.reach(p)
			over(errors.New("nobody answered within 5m0s"))
			if a := await(t, p, answers); !errors.Is(a.err, context.Canceled) {
				t.Errorf("answered %+v, %v", a.decision, a.err)
			}
			p.restored(t, before)
			screen := p.settled()
			if !strings.HasSuffix(screen, "\n  – nobody answered within 5m0s\n") || strings.Contains(screen, "stop the run") || !p.atLineStart() {
				t.Errorf("the last line isn't clean:\n%s", screen)
			}
			left, _ := filepath.Glob(filepath.Join(os.TempDir(), "obelus-*"))
			if len(left) > 0 {
				t.Errorf("what was edited lies about: %q", left)
			}
		})
	}
}

// The words for each way in which a question may end without an answer.
func TestWhyAQuestionIsTakenBack(t *testing.T) {
	useEditor(t, "")
	p := openPty(t, 80)
	timeOut, stop := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer stop()
	ended, end := context.WithCancel(t.Context())
	end()
	for want, ctx := range map[string]context.Context{"– nobody answered in time": timeOut, "– no longer asked": ended} {
		p.dialogue().takeBack(ctx, ctx.Err())
		p.sees(want)
	}
}

// S8.8: Ctrl-C interrupts the run, as it does where no question is open.
func TestInterruptAtAQuestion(t *testing.T) {
	for _, reach := range []string{"", "n", "e"} {
		t.Run("after "+reach, func(t *testing.T) {
			useEditor(t, "")
			p := openPty(t, 80)
			before := p.modes()
			d := p.dialogue()
			ctx, _, release := interruptible(t.Context(), nil)
			defer release()
			answers := askInBackground(ctx, d, question("first"))
			p.asked()
			if reach != "" {
				p.press(reach)
				p.prompted("why?", "change:")
			}
			p.press("\x03")
			if a := await(t, p, answers); !errors.Is(a.err, context.Canceled) {
				t.Errorf("answered %+v, %v", a.decision, a.err)
			}
			p.restored(t, before)
			if screen := p.settled(); !strings.HasSuffix(screen, "\n  – no longer asked\n") {
				t.Errorf("the screen is\n%s", screen)
			}
		})
	}
}

// S10.2: where the terminal has gone, nobody can be asked.
func TestTerminalIsGone(t *testing.T) {
	useEditor(t, "")
	p := openPty(t, 80)
	d := p.dialogue()
	answers := askInBackground(t.Context(), d, question("first"))
	p.asked()
	p.hangUp()
	if a := await(t, p, answers); !errors.Is(a.err, errNobodyThere) {
		t.Errorf("answered %+v, %v", a.decision, a.err)
	}
	if _, err := d.Ask(t.Context(), question("second"), func() {})(); !errors.Is(err, errNobodyThere) {
		t.Errorf("the next question: %v", err)
	}
}

// The terminal is given back when the program fails, and when it ends in a
// hurry.
func TestTerminalIsGivenBack(t *testing.T) {
	useEditor(t, "")
	p := openPty(t, 80)
	before := p.modes()
	d := p.dialogue()
	d.tools = func(*runtime.Question) *compiler.Tool { panic("out of luck") }
	failed := make(chan any)
	go func() {
		defer func() { failed <- recover() }()
		d.Ask(t.Context(), question("first"), func() {})()
	}()
	p.asked()
	p.press("?")
	if bug := <-failed; bug != "out of luck" {
		t.Errorf("it failed with %v", bug)
	}
	p.restored(t, before)

	d = p.dialogue()
	answers := askInBackground(t.Context(), d, question("second"))
	p.asked()
	d.restore()
	p.restored(t, before)
	d.close()
	p.restored(t, before)
	if a := await(t, p, answers); !errors.Is(a.err, context.Canceled) {
		t.Errorf("answered %+v, %v", a.decision, a.err)
	}
	p.settled()
}

// What was entered for a call isn't lost when it can't be taken.
func TestEntriesAreKept(t *testing.T) {
	useEditor(t, `cat "$1"; sed -i 's/5/55/' "$1"`)
	p := openPty(t, 80)
	d := p.dialogue()
	answers := askInBackground(t.Context(), d, question("first"))
	for _, amount := range []float64{55, 555} {
		p.asked()
		p.press("e")
		p.sees("run it with these")
		p.asked()
		p.press("y")
		a := await(t, p, answers)
		wants(t, a, runtime.Change)
		if got := a.decision.Params["amount"]; got != amount {
			t.Errorf("the amount is %v, not %v", got, amount)
		}
		again := question("first")
		again.Problem = "it is too much"
		answers = askInBackground(t.Context(), d, again)
		p.sees("it is too much")
	}
	p.asked()
	p.press("r") // a replacement doesn't begin with parameters
	a := await(t, p, answers)
	wants(t, a, runtime.Replace)
	if want := `{"_tool":"pay","amount":55}`; string(a.decision.Replacement) != want {
		t.Errorf("the replacement is %s, not %s", a.decision.Replacement, want)
	}
	proposed := question("first") // it is asked about in its turn, and can be edited again
	proposed.Replaces = "pay"
	answers = askInBackground(t.Context(), d, proposed)
	p.sees("in the place of a call of \"pay\"")
	p.asked()
	p.press("r")
	if a, want := await(t, p, answers), `{"_tool":"pay","amount":555}`; string(a.decision.Replacement) != want {
		t.Errorf("the replacement is %s, not %s", a.decision.Replacement, want)
	}
}

// An editor that can't be started gives way to lines; $VISUAL is before $EDITOR.
func TestNoSuchEditor(t *testing.T) {
	useEditor(t, "exit 7")
	t.Setenv("VISUAL", "/no/such/editor --wait")
	p := openPty(t, 80)
	answers := askInBackground(t.Context(), p.dialogue(), question("first"))
	p.asked()
	p.press("e")
	p.sees(`the editor "/no/such/editor --wait" can't be started`)
	p.prompted("change:")
	p.press("amount=1\r")
	p.prompted("change:")
	p.press("\r")
	p.sees("run it with these")
	p.asked()
	p.press("y")
	a := await(t, p, answers)
	wants(t, a, runtime.Change)
	if a.decision.Params["amount"] != 1.0 {
		t.Errorf("answered %+v", a.decision)
	}
}

// A line that is longer than a line can be isn't silently cut.
func TestLineThatIsTooLong(t *testing.T) {
	useEditor(t, "")
	p := openPty(t, 80)
	answers := askInBackground(t.Context(), p.dialogue(), question("first"))
	p.asked()
	p.press("e")
	p.prompted("change:")
	for range 50 {
		p.press(strings.Repeat("x", 100))
	}
	p.press("\r")
	p.sees("can't be longer than 4095 characters")
	p.asked()
	p.press("y")
	wants(t, await(t, p, answers), runtime.Approve)
}

// An escape sequence that never ends goes back to the question, and bytes that
// are no characters hold up nothing.
func TestNoiseInALine(t *testing.T) {
	useEditor(t, "")
	p := openPty(t, 80)
	d := p.dialogue()
	answers := askInBackground(t.Context(), d, question("first"))
	p.asked()
	p.press("n")
	p.prompted("why?")
	p.press("\xff\xfea\xc3b\uFFFD\xc3")
	p.sees("why? ab")
	p.press("\xa9\r")
	a := await(t, p, answers)
	wants(t, a, runtime.Reject)
	if a.decision.Reason != "abé" {
		t.Errorf("the reason is %q", a.decision.Reason)
	}

	answers = askInBackground(t.Context(), d, question("second"))
	p.sees("second")
	p.asked()
	p.press("n")
	p.prompted("why?")
	p.press("\x1b[" + strings.Repeat("1", 400))
	for range 40 {
		p.asked()
		p.press("y") // which is one of several keys while the end of the sequence still comes
		select {
		case a := <-answers:
			wants(t, a, runtime.Approve)
			return
		case <-time.After(500 * time.Millisecond):
		}
	}
	t.Errorf("the question isn't answered; the screen is\n%s", p.text())
}

// S19.1: colours are for those who want them.
func TestColoursOfQuestions(t *testing.T) {
	for _, test := range []struct {
		variable string
		painted  bool
	}{{"", true}, {"1", false}} {
		useEditor(t, "")
		t.Setenv("NO_COLOR", test.variable)
		p := openPty(t, 80)
		answers := askInBackground(t.Context(), p.dialogue(), question("first"))
		p.asked()
		p.press("?")
		p.asked()
		p.press("n")
		p.prompted("why?")
		p.press("x\r")
		await(t, p, answers)
		p.settled()
		if painted := unpainted.MatchString(p.bytes()); painted != test.painted {
			t.Errorf("NO_COLOR=%q: painted is %v: %q", test.variable, painted, p.bytes())
		}
	}
}

// S10.2: a person can be asked on a terminal that can show a question, unless
// the environment says that nobody looks.
func TestCanAsk(t *testing.T) {
	useEditor(t, "")
	t.Setenv("CI", "")
	p := openPty(t, 80)
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if !canAsk(p.slave, p.slave) {
		t.Error("nobody can be asked at a terminal")
	}
	if canAsk(file, p.slave) || canAsk(p.slave, file) || canAsk(strings.NewReader("y"), p.slave) || canAsk(p.slave, &strings.Builder{}) {
		t.Error("somebody is asked where there is no terminal")
	}
	for value, can := range map[string]bool{"true": false, "1": false, "yes": false, "false": true, "0": true} {
		t.Setenv("CI", value)
		if canAsk(p.slave, p.slave) != can {
			t.Errorf("CI=%s: want %v", value, can)
		}
	}
	t.Setenv("CI", "")
	t.Setenv("TERM", "dumb")
	if canAsk(p.slave, p.slave) {
		t.Error("a question is put on a dumb terminal")
	}
}

// While an editor has the terminal, Ctrl-C is the editor's.
func TestEditorHasTheTerminal(t *testing.T) {
	gone := filepath.Join(t.TempDir(), "gone")
	useEditor(t, "echo at work; while [ ! -e "+gone+" ]; do sleep 0.02; done")
	p := openPty(t, 80)
	before := p.modes()
	d := p.dialogue()
	answers := askInBackground(t.Context(), d, question("first"))
	p.asked()
	if d.busyElsewhere() {
		t.Error("the terminal is lent before it is")
	}
	p.press("e")
	p.sees("at work")
	p.restored(t, before)
	if !d.busyElsewhere() {
		t.Error("the editor doesn't have the terminal")
	}
	if err := os.WriteFile(gone, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p.sees("nothing was changed")
	p.asked()
	if d.busyElsewhere() {
		t.Error("the terminal is still lent")
	}
	p.press("y")
	wants(t, await(t, p, answers), runtime.Approve)
}
