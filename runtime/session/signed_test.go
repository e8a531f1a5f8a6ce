package session

import (
	"strings"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/analyzer/permit"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/approval"
	"github.com/obelus-dev/obelus/runtime/review"
	"github.com/obelus-dev/obelus/testdata/sshkey"
)

// EXECUTION.md#permits: who approves what leaves a signed approval signs that one difference, asked about by
// that one run, and is one of those whose signature counts; as many of them as it takes.
func TestSignedDifferences(t *testing.T) {
	alice, bob, eve := sshkey.Of(t, "alice"), sshkey.Of(t, "bob"), sshkey.Of(t, "eve")
	signers, err := approval.ReadSigners("signers", []byte(alice.Line("alice")+"\n"+bob.Line("bob")+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	judge := approval.Judge{Signers: signers, Now: time.Now()}
	of := func(...string) (approval.Judge, string, error) { return judge, "", nil }
	about := &runtime.Question{Call: "pay#2", ID: "12-34", Occasion: review.Occasion{Beyond: "sha256:" + strings.Repeat("b", 64), Outside: []permit.Difference{{Call: "pay#2", Row: permit.Row{What: permit.Condition, Is: "nothing"}}}}}
	type ran struct {
		Look
		judge approval.Judge
	}
	run := ran{Look{ID: "one", Manifest: &Manifest{Approval: &Approved{Text: "approved"}}}, judge}
	questions := &Questions{Look: &run.Look}
	sign := func(key *approval.Key) (runtime.Decision, error) {
		d := runtime.Decision{Verdict: runtime.Approve, By: "nobody"}
		err := questions.Sign(about, &d, false, key, of)
		return d, err
	}
	if d, err := sign(eve); err == nil {
		t.Errorf("a stranger signs: %s", d.Signed)
	}
	d, err := sign(alice)
	if err != nil || d.By != "alice" {
		t.Fatalf("by %q: %v", d.By, err)
	}
	if !run.signed(d.Signed, about, about.ID, judge) {
		t.Fatal("it doesn't hold")
	}
	for what, change := range map[string]func(v *ran, q *runtime.Question){
		"another run":                 func(v *ran, _ *runtime.Question) { v.ID = "two" },
		"a run under another":         func(v *ran, _ *runtime.Question) { v.Manifest = &Manifest{Approval: &Approved{Text: "approved, too"}} },
		"another question":            func(_ *ran, q *runtime.Question) { q.ID = "12-35" },
		"a question of another call":  func(_ *ran, q *runtime.Question) { q.Call = "pay#3" },
		"a call of another":           func(_ *ran, q *runtime.Question) { q.Under = "sub#1" },
		"another difference":          func(_ *ran, q *runtime.Question) { q.Beyond = "sha256:" + strings.Repeat("c", 64) },
		"people of whom it takes two": func(v *ran, _ *runtime.Question) { v.judge.Approvals = 2 },
		"nobody who counts":           func(v *ran, _ *runtime.Question) { v.judge.Signers = approval.Signers{} },
	} {
		v, q := run, *about
		if change(&v, &q); v.signed(d.Signed, &q, q.ID, v.judge) {
			t.Errorf("it holds for %s", what)
		}
	}
	for _, text := range []string{"", "{}", strings.Replace(d.Signed, `"sig": "`, `"sig": "AA`, 1)} {
		if run.signed(text, about, about.ID, judge) {
			t.Errorf("it holds: %q", text)
		}
	}
	// A second person signs besides, and what nobody who counts has signed is left.
	run.judge.Approvals, judge.Approvals = 2, 2
	questions.stored = map[string]runtime.Decision{about.ID: d}
	if d, err = sign(bob); err != nil {
		t.Fatal(err)
	}
	if !run.signed(d.Signed, about, about.ID, run.judge) {
		t.Error("two don't suffice")
	}
}
