//go:build linux

package terminal

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/testdata/pty"
)

// askedTogether is a person at a terminal before whom several questions are put at once.
func askedTogether(t *testing.T, contexts []context.Context, questions ...*runtime.Question) (*pty.Terminal, []<-chan answer) {
	t.Helper()
	pty.UseEditor(t, "")
	p := pty.Open(t, 80)
	d := dialogueAt(p)
	var waiting []func() (runtime.Decision, error)
	for i, q := range questions {
		ctx := t.Context()
		if i < len(contexts) {
			ctx = contexts[i]
		}
		waiting = append(waiting, d.Ask(ctx, q, func() {}))
	}
	var all []<-chan answer
	for _, ask := range waiting {
		answers := make(chan answer, 1)
		go func() {
			decision, err := ask()
			answers <- answer{decision, err}
		}()
		all = append(all, answers)
	}
	p.Asked()
	return p, all
}

func paying(call string, amount any) *runtime.Question {
	q := question(call)
	q.Params = map[string]any{"amount": amount, "to": "bob"}
	q.Runs = runtime.Execution{Kind: "exec", Argv: []string{"pay", "--now"}}
	q.Writes = []string{"†state." + call}
	return q
}

// S10.1: questions that are put together are a table in their order, with what the calls
// share once and a column for each parameter; one key answers all of them.
func TestSeveralAreAnsweredTogether(t *testing.T) {
	other := paying("mail", 1.0)
	other.Tool, other.Effects, other.EffectsBy = "mail", "read-only", "tools.yaml"
	other.Params = map[string]any{"text": "hello"}
	for _, test := range []struct {
		keys    []string
		verdict runtime.Verdict
		reason  string
	}{{[]string{"y"}, runtime.Approve, ""}, {[]string{"n", "too much\r"}, runtime.Reject, "too much"}} {
		p, answers := askedTogether(t, nil, paying("first", 5.0), paying("second", "5"), other)
		text := p.Text()
		if strings.Count(text, `["pay","--now"]`) != 2 || strings.Contains(text, "waiting") {
			t.Errorf("the table is\n%s", text)
		}
		rest := text
		for _, words := range []string{"may these 3 calls run?", `the tool "pay"`, "for good", "amount  to     writes", `first   5       "bob"  †state.first`, `second  "5"     "bob"  †state.second`,
			`the tool "mail"`, "it only reads, says tools.yaml", `mail  "hello"  †state.mail`, "y approve all"} {
			_, after, found := strings.Cut(rest, words)
			if !found {
				t.Errorf("%q isn't where it should be in\n%s", words, text)
				break
			}
			rest = after
		}
		for i, key := range test.keys {
			if i > 0 {
				p.Prompted("why?")
			}
			p.Press(key)
		}
		for _, one := range answers {
			a := await(t, p, one)
			wants(t, a, test.verdict)
			if a.decision.Reason != test.reason {
				t.Errorf("the reason is %q", a.decision.Reason)
			}
		}
		if screen := p.Settled(); strings.Contains(screen, "stop the run") {
			t.Errorf("something is left of the questions:\n%s", screen)
		}
	}
}

// What a table hasn't shown whole isn't approved by it before all of it was shown: a long
// value, and calls for which it has no room.
func TestTableIsApprovedAsItWasShown(t *testing.T) {
	long := strings.Repeat("many words ", 200) + "END"
	var many []*runtime.Question
	for i := range shownRows + 2 {
		many = append(many, paying(fmt.Sprint("call", i), float64(i)))
	}
	for _, test := range []struct {
		questions []*runtime.Question
		behind    string
	}{{[]*runtime.Question{paying("first", 5.0), paying("second", long)}, "END"}, {many, fmt.Sprint("call", shownRows+1)}} {
		p, answers := askedTogether(t, nil, test.questions...)
		if strings.Contains(p.Text(), test.behind) {
			t.Fatalf("all of it is shown at first:\n%s", p.Text())
		}
		p.Press("y")
		p.Sees("press the key again")
		p.Sees(test.behind)
		p.Asked()
		p.Press("y")
		for _, one := range answers {
			wants(t, await(t, p, one), runtime.Approve)
		}
	}
}

// Who waits at a table and is taken back keeps neither the others nor itself from being
// answered; the table comes again for those that are left when it was the first.
func TestOneOfATableIsTakenBack(t *testing.T) {
	for at := range 3 {
		contexts := []context.Context{t.Context(), t.Context(), t.Context()}
		ctx, cancel := context.WithCancel(t.Context())
		contexts[at] = ctx
		p, answers := askedTogether(t, contexts, paying("first", 1.0), paying("second", 2.0), paying("third", 3.0))
		cancel()
		if a := await(t, p, answers[at]); a.err == nil {
			t.Errorf("%d is answered with %+v", at, a.decision)
		}
		if at == 0 {
			p.Sees("may these 2 calls run?")
		}
		p.Asked()
		p.Press("y")
		for i, one := range answers {
			if i != at {
				wants(t, await(t, p, one), runtime.Approve)
			}
		}
	}
}

// S8.6, S10.2: a table says of a call that was at work when the run broke off that it was,
// and what answers it; only where all of them were does it ask about running again.
func TestTablesTellWhatWasAtWork(t *testing.T) {
	was := paying("pay", 1.0)
	was.InFlight = true
	sheet := NewSheet(&strings.Builder{}, func(*runtime.Question) *compiler.Tool { return nil })
	const at = "at work when the run broke off: retry runs it again, fail counts it as failed"
	for _, test := range []struct {
		asks      string
		questions []*runtime.Question
	}{
		{"may this call run again?", []*runtime.Question{was}},
		{"may these 2 calls run?", []*runtime.Question{was, paying("mail", 1.0)}},
	} {
		text, _ := sheet.Table(test.questions, false)
		if text = strings.Join(strings.Fields(text), " "); !strings.Contains(text, test.asks) || strings.Count(text, at) != 1 {
			t.Errorf("want %q and once %q in\n%s", test.asks, at, text)
		}
	}
}
