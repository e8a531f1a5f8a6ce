package session

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/analyzer/permit"
	"github.com/obelus-dev/obelus/compiler/canonical"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/workspace"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/approval"
	"github.com/obelus-dev/obelus/runtime/project"
)

// An Approval lets a run begin only as people approved it.
type Approval struct {
	Text  []byte         // the file that they signed
	Judge approval.Judge // decides whose signatures count
}

// Approvers decides whose approval counts for a plan, by the names of its file and of those of its delegates, and which
// file demands one, "" for none.
type Approvers func(files ...string) (j approval.Judge, by string, err error)

// Approved is, in the head of a journal, under which approval a run was begun.
type Approved struct {
	Digest  string   `json:"digest"`  // of the plan
	Signers []string `json:"signers"` // whose signatures counted
	Text    string   `json:"text"`    // the approval itself: it has to hold whenever the run is resumed
}

func unapproved(format string, args ...any) *diag.UserError {
	return diag.NewError(ErrUnapproved, format, args...)
}

// approve refuses a program that leaves what its approval or the run's permit lets it do. An approval, if there is one,
// has to hold for the program as it was compiled, which is then demanded by its digest.
func (m *Manifest) approve(p *project.Program, a *Approval) error {
	o := &m.Options
	if a == nil && o.Permit == nil {
		return nil
	}
	parts, err := approval.Parts(p.Plan)
	if err != nil {
		return unapproved("nobody can say whether the plan is the one that was approved: %w", err)
	}
	if a != nil {
		if err := m.verify(p, a, parts); err != nil {
			return err
		}
	}
	for _, name := range []string{m.Planner, m.Model} {
		if name != "" && o.Permit.Models != nil && !slices.Contains(o.Permit.Models, name) {
			return unapproved("the model %q isn't one of those that are approved", name)
		}
	}
	if ticks, bounded := o.Permit.Budget["ticks"]; o.Planned && bounded && ticks == 0 {
		return unapproved("a model is to plan the run, and what was approved is a run without one").
			Advise("obelus approve --planner approves one")
	}
	if left := o.Permit.Within(facts.Of(p.Plan, facts.Options{Planned: o.Planned}), parts); len(left) > 0 {
		return unapproved("the plan leaves what was approved: %s", left[0]).Advise("have what it does now approved")
	}
	return nil
}

// verify verifies that an approval holds for the parts of a plan, and where it says with which input and state, for
// these. It permits what it says, or else what the plan itself does and nothing else.
func (m *Manifest) verify(p *project.Program, a *Approval, parts []plan.Part) error {
	o := &m.Options
	if a.Judge.Signers == nil {
		return unapproved("nobody is named whose approval counts").
			Advise("name with --signers an allowed_signers file that lies outside of the plan's folder")
	}
	file, err := approval.Read(a.Text)
	if err != nil {
		return err
	}
	all := parts
	switch { // what was shown is one run, whose calls are carried out
	case m.Instances != "":
		return unapproved("the run isn't approved: what was approved is one run, and a file of instances makes it " +
			"one for each").Advise("run the plan once for each, with its own input")
	case file.Given():
		given, err := approval.Given(o.Input, o.State)
		if err != nil {
			return err
		}
		all = append(slices.Clone(parts), given)
	case len(o.State) > 0:
		return unapproved("the run isn't approved: nobody approved the state that it would begin with").
			Advise("approve the plan with that state (approve --state), or run it without")
	}
	verdict := file.Verify(a.Judge, all)
	if verdict.Err != nil {
		return unapproved("the run isn't approved: %w", verdict.Err)
	}
	if text := file.Statement.Predicate.Permit; len(text) == 0 {
		o.Permit = permit.Of(facts.Of(p.Plan, facts.Options{Planned: true}), parts)
	} else if o.Permit, err = permit.Read(text); err != nil {
		return unapproved("the approval's permit can't be read: %w", err).
			Advise("approve the plan anew: an earlier version of obelus may have written it")
	}
	if m.Digest, err = canonical.Digest(p.Plan); err != nil {
		return err
	}
	o.Signed, m.Approval = true, &Approved{m.Digest, verdict.Signers(), string(a.Text)}
	return p.Demand(m.Digest)
}

// stillApproved verifies again the approval that a run was begun under.
func (s *Session) stillApproved(o *ResumeOptions) (err error) {
	m, by := s.Manifest, ""
	was := m.Approval
	var judge approval.Judge
	if o.Approvers != nil {
		judge, by, err = o.Approvers(append([]string{m.At(m.Plan.Name)}, s.Program.Sources()[1:]...)...)
	}
	switch {
	case was == nil && by != "":
		return unapproved("the run %s was begun without an approval, and %q asks for one", s.ID, by)
	case was == nil && o.RequireApproval:
		return unapproved("the run %s was begun without an approval", s.ID)
	case was == nil:
		return m.approve(s.Program, nil)
	case o.Approvers == nil:
		return unapproved("the run %s was begun under an approval, and nobody is named whose approval counts", s.ID)
	case err != nil:
		return err
	}
	s.judge = &judge
	started, _ := json.Marshal(m.Options) // plain data
	if err := m.approve(s.Program, &Approval{[]byte(was.Text), judge}); err != nil {
		return err
	}
	if now, _ := json.Marshal(m.Options); !bytes.Equal(started, now) {
		return unapproved("the run %s wasn't begun under the permit of its approval", s.ID)
	}
	return nil
}

// differing are the parts of a statement by which people approve what a question is about, where that leaves the signed
// approval of the run: about that question of that run, to be signed by the same people.
func (l *Look) differing(q *runtime.Question, id string) []plan.Part {
	return []plan.Part{
		{Kind: "difference", Digest: q.Beyond},
		{Kind: "question", Name: runtime.Path(q.Under, q.Call), Digest: workspace.SumOf([]byte(id))},
		{Kind: "run", Name: l.ID, Digest: workspace.SumOf([]byte(l.Manifest.Approval.Text))},
	}
}

// signed reports whether a signed answer approves what a question is about.
func (l *Look) signed(signed string, q *runtime.Question, id string, judge approval.Judge) bool {
	file, err := approval.Read([]byte(signed))
	judge.Now = time.Now()
	return err == nil && file.Verify(judge, l.differing(q, id)).Err == nil
}

// ToSign reports whether who approves what a question is about signs that.
func (q *Questions) ToSign(about *runtime.Question) bool {
	return q.Manifest.Approval != nil && q.Manifest.Options.Signed && len(about.Outside) > 0
}

// Sign adds to an approval a statement about the question, signed by a key that counts, or signs the
// one that others have begun. Unless named, the person is the key's owner in the signers' list.
func (q *Questions) Sign(about *runtime.Question, d *runtime.Decision, named bool, key *approval.Key,
	of Approvers) error {
	judge, _, err := of(q.Manifest.At(q.Manifest.Plan.Name))
	if err != nil {
		return err
	}
	if holder := judge.Signers.Signer(key); holder != "" && !named {
		d.By = holder
	}
	parts := q.differing(about, about.ID)
	statement, err := approval.Read([]byte(q.stored[about.ID].Signed))
	if err != nil || len(statement.Verify(judge, parts).Signers()) == 0 {
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
		return unapproved("that approves nothing: %w", v.Err)
	}
	text, err := statement.Text()
	d.Signed = string(text)
	return err
}
