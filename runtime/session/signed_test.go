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
	run := vouching{run: "one", under: &Approved{Text: "approved"}, judge: judge}
	questions := &Questions{vouching: &run}
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
	if err := run.holds(d.Signed, about, about.ID); err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string]func(v *vouching, q *runtime.Question){
		"another run":                 func(v *vouching, _ *runtime.Question) { v.run = "two" },
		"a run under another":         func(v *vouching, _ *runtime.Question) { v.under = &Approved{Text: "approved, too"} },
		"another question":            func(_ *vouching, q *runtime.Question) { q.ID = "12-35" },
		"a question of another call":  func(_ *vouching, q *runtime.Question) { q.Call = "pay#3" },
		"a call of another":           func(_ *vouching, q *runtime.Question) { q.Under = "sub#1" },
		"another difference":          func(_ *vouching, q *runtime.Question) { q.Beyond = "sha256:" + strings.Repeat("c", 64) },
		"people of whom it takes two": func(v *vouching, _ *runtime.Question) { v.judge.Approvals = 2 },
		"nobody who counts":           func(v *vouching, _ *runtime.Question) { v.judge.Signers = approval.Signers{} },
	} {
		v, q := run, *about
		if change(&v, &q); v.holds(d.Signed, &q, q.ID) == nil {
			t.Errorf("it holds for %s", what)
		}
	}
	for _, text := range []string{"", "{}", strings.Replace(d.Signed, `"sig": "`, `"sig": "AA`, 1)} {
		if run.holds(text, about, about.ID) == nil {
			t.Errorf("it holds: %q", text)
		}
	}
	// A second person signs besides, and what nobody who counts has signed is left.
	run.judge.Approvals, judge.Approvals = 2, 2
	questions.partial = map[string]string{about.ID: d.Signed}
	if d, err = sign(bob); err != nil {
		t.Fatal(err)
	}
	if err := run.holds(d.Signed, about, about.ID); err != nil {
		t.Error(err)
	}
}
