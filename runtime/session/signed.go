package session

import (
	"encoding/json"
	"time"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/workspace"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/approval"
)

// A vouching says how what leaves a run's permit is approved, where the run's approval is
// signed: by a statement about that question of that run, signed by the same people.
type vouching struct {
	run   string
	plan  string // the file
	under *Approved
	judge approval.Judge
}

// parts are what a statement about a question is of.
func (v *vouching) parts(q *runtime.Question, id string) []plan.Part {
	return []plan.Part{
		{Kind: "difference", Digest: q.Beyond},
		{Kind: "question", Name: runtime.Path(q.Under, q.Call), Digest: workspace.SumOf([]byte(id))},
		{Kind: "run", Name: v.run, Digest: workspace.SumOf([]byte(v.under.Text))},
	}
}

// holds reports why a signed answer doesn't approve what a question is about; nil where it
// does.
func (v *vouching) holds(signed string, q *runtime.Question, id string) error {
	file, err := approval.Read([]byte(signed))
	if err != nil {
		return err
	}
	judge := v.judge
	judge.Now = time.Now()
	return file.Verify(judge, v.parts(q, id)).Err
}

// Signed reports whether somebody has signed what a question is about. The run judges whether that is enough.
func (q *Questions) Signed(about *runtime.Question) bool { return q.begun[about.ID] != "" }

// ToSign reports whether who approves what a question is about signs that.
func (q *Questions) ToSign(about *runtime.Question) bool {
	return q.vouching != nil && len(about.Outside) > 0
}

// Sign adds to an approval a statement about the question, signed by a key that counts, or signs the
// one that others have begun. Unless named, the person is the key's owner in the signers' list.
func (q *Questions) Sign(about *runtime.Question, d *runtime.Decision, named bool, key *approval.Key,
	of Approvers) error {
	judge, _, err := of(q.vouching.plan)
	if err != nil {
		return err
	}
	if holder := judge.Signers.Signer(key); holder != "" && !named {
		d.By = holder
	}
	parts := q.vouching.parts(about, about.ID)
	counts := func(a *approval.Approval) bool { return len(a.Verify(judge, parts).Signers()) > 0 }
	var statement *approval.Approval
	if before, err := approval.Read([]byte(q.begun[about.ID])); err == nil && counts(before) {
		statement = before
	}
	if statement == nil {
		shown, err := json.Marshal(about.Outside)
		if err != nil {
			return err
		}
		if statement, err = approval.New(parts,
			approval.Predicate{Signer: d.By, Made: time.Now(), Shown: shown}); err != nil {
			return err
		}
	}
	if err := statement.Sign(key); err != nil {
		return err
	}
	if v := statement.Verify(judge, parts); len(v.Signers()) == 0 {
		return diag.NewError(ErrUnapproved, "that approves nothing: %v", v.Err).From(v.Err)
	}
	text, err := statement.Text()
	d.Signed = string(text)
	return err
}
