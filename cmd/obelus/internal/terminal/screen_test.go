//go:build linux

package terminal

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/testdata/pty"
)

// While a question is open, a run's progress waits: what settles is shown
// afterwards, and what comes and goes is off the screen.
func TestProgressWaitsForQuestions(t *testing.T) {
	p := pty.Open(t, 80)
	plan := progressPlan(t)
	g := NewScreen(p.Slave)
	show := NewProgress(t.Context(), g, Run{Plan: plan})
	p.Sees("0 running")
	d := NewDialogue(p.Slave, p.Slave, g, readWords)
	answers := askInBackground(t.Context(), d, question("first"))
	p.Asked()
	asked := p.Settled()
	if strings.Contains(asked, "running") {
		t.Errorf("what comes and goes is still there:\n%s", asked)
	}
	show.Observe(time.Second, runtime.Command{Kind: runtime.Settle, Try: runtime.Try{Call: 0}, Of: plan.Calls[0], Site: &runtime.Site{}, Plan: plan, Settlement: &runtime.Settlement{Status: runtime.Done, Output: "here it is"}})
	for range 5 {
		time.Sleep(60 * time.Millisecond) // the drawing has had its chance to disturb
		if now := p.Settled(); now != asked {
			t.Fatalf("the question is disturbed:\n%s\n--- it was\n%s", now, asked)
		}
	}
	g.mu.Lock()
	if kept := g.waiting.String(); strings.Count(kept, "\n") != 1 {
		t.Errorf("more is kept than what settled: %q", kept)
	}
	g.mu.Unlock()
	p.Press("y\r")
	wants(t, await(t, p, answers), runtime.Approve)
	p.Sees("0 running, 1 finished")
	screen := p.Text()
	if answered, done := strings.Index(screen, "✓ approve"), strings.Index(screen, "here it is"); answered < 0 || done < answered {
		t.Errorf("what settled isn't shown below the question:\n%s", screen)
	}
	_ = show.End(nil)
	if screen := p.Settled(); strings.Contains(screen, "☠") || strings.Contains(screen, "running") {
		t.Errorf("the screen is garbled:\n%s", screen)
	}
}

// A screen that is held keeps everything, in order, and reports what writing met. Lines that only programs read
// pass at once, and lines that come and go leave nothing.
func TestScreen(t *testing.T) {
	var out strings.Builder
	g := NewScreen(&out)
	g.isTerminal = true
	g.draw("gone")
	for _, text := range []string{"a", "b"} {
		if n, err := g.Write([]byte(text)); n != 1 || err != nil {
			t.Error(n, err)
		}
		g.hold()
		g.draw("not drawn")
	}
	if out.String() != "gone\n\x1b[A\x1b[Jagone\n\x1b[A\x1b[J" {
		t.Errorf("it let %q through", out.String())
	}
	g.release()
	if !strings.HasSuffix(out.String(), "\x1b[Jbnot drawn\n") {
		t.Errorf("%q came", out.String())
	}
	broken := NewScreen(full{})
	broken.isTerminal = true
	broken.hold()
	if _, err := broken.Write([]byte("x")); err != nil {
		t.Errorf("what is kept isn't written: %v", err)
	}
	broken.release()
	if _, err := broken.Write([]byte("y")); err == nil {
		t.Error("nobody learns that writing failed")
	}
	kept := NewScreen(&out)
	kept.Keep(errors.New("not JSON"))
	if kept.draw("line"); kept.Err() == nil {
		t.Error("nobody learns of an error before what is drawn")
	}
	out.Reset()
	lines := NewScreen(&out)
	lines.hold()
	lines.Write([]byte("{}\n"))
	if out.String() != "{}\n" {
		t.Error("a program waits for a person")
	}
	p := pty.Open(t, 80)
	shown := NewScreen(p.Slave)
	shown.hold()
	shown.Write([]byte("{}\n"))
	if screen := p.Settled(); screen != "\n" {
		t.Errorf("a line gets between a question and its answer: %q", screen)
	}
	shown.release()
	p.Sees("{}")
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func progressPlan(t *testing.T) *plan.Plan {
	t.Helper()
	plan, found := compiler.Compile(source.NewFile("plan.yaml", []byte("calls: [{_tool: a, _outputPath: x}, {_tool: b, of: †state.x}]")), compiler.Options{})
	if plan == nil || len(plan.Calls) != 2 {
		t.Fatalf("the plan has faults: %v", found)
	}
	return plan
}
