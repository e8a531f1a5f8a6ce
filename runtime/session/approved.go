package session

import (
	"bytes"
	"cmp"
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

// approved verifies that an approval holds for a program as it was compiled, and where it
// says with which input and state, for these.
func approved(p *project.Program, o *Options, a *Approval) (*Approved, error) {
	parts, err := approval.Parts(p.Plan)
	if err != nil {
		return nil, diag.NewError(ErrUnapproved, "nobody can say whether the plan is the one that was approved: %w",
			err)
	}
	if a.Judge.Signers == nil {
		return nil, diag.NewError(ErrUnapproved, "nobody is named whose approval counts").
			Advise("name with --signers an allowed_signers file that lies outside of the plan's folder")
	}
	file, err := approval.Read(a.Text)
	if err != nil {
		return nil, err
	}
	switch { // what was shown is one run, whose calls are carried out
	case o.Instances != "":
		return nil, diag.NewError(ErrUnapproved,
			"the run isn't approved: what was approved is one run, and a file of instances makes it one for each").
			Advise("run the plan once for each, with its own input")
	case file.Given():
		given, err := approval.Given(o.Input, o.State)
		if err != nil {
			return nil, err
		}
		parts = append(parts, given)
	case len(o.State) > 0:
		return nil, diag.NewError(ErrUnapproved,
			"the run isn't approved: nobody approved the state that it would begin with").
			Advise("approve the plan with that state (approve --state), or run it without")
	}
	verdict := file.Verify(a.Judge, parts)
	if verdict.Err != nil {
		return nil, diag.NewError(ErrUnapproved, "the run isn't approved: %w", verdict.Err)
	}
	if o.Permit, err = permitOf(p, file); err != nil {
		return nil, err
	}
	digest, err := canonical.Digest(p.Plan)
	return &Approved{digest, verdict.Signers(), string(a.Text)}, cmp.Or(err, p.Demand(digest))
}

// stillApproved verifies again the approval that a run was begun under.
func (s *Session) stillApproved(o *ResumeOptions) error {
	was, by := s.manifest.Approval, ""
	var judge approval.Judge
	var err error
	if o.Approvers != nil {
		files := append([]string{s.manifest.At(s.manifest.Plan.Name)}, s.Program.Sources()[1:]...)
		judge, by, err = o.Approvers(files...)
	}
	switch {
	case was == nil && by != "":
		return diag.NewError(ErrUnapproved, "the run %s was begun without an approval, and %q asks for one", s.ID(), by)
	case was == nil && o.RequireApproval:
		return diag.NewError(ErrUnapproved, "the run %s was begun without an approval", s.ID())
	case was == nil:
		return nil
	case o.Approvers == nil:
		return diag.NewError(ErrUnapproved,
			"the run %s was begun under an approval, and nobody is named whose approval counts", s.ID())
	}
	if err == nil {
		s.vouching = &vouching{under: was, judge: judge}
		started, _ := json.Marshal(s.Options.Permit) // plain data
		_, err = approved(s.Program, &s.Options, &Approval{[]byte(was.Text), judge})
		if now, _ := json.Marshal(s.Options.Permit); err == nil && !bytes.Equal(started, now) {
			err = diag.NewError(ErrUnapproved, "the run %s wasn't begun under the permit of its approval", s.ID())
		}
	}
	return err
}

// permitOf is what an approval lets a run do: its own permit, or else what the plan itself does and nothing else.
func permitOf(p *project.Program, a *approval.Approval) (*permit.Permit, error) {
	if text := a.Statement.Predicate.Permit; len(text) > 0 {
		own, err := permit.Read(text)
		if err != nil {
			return nil, diag.NewError(ErrUnapproved, "the approval's permit can't be read: %w", err).
				Advise("approve the plan anew: an earlier version of obelus may have written it")
		}
		return own, nil
	}
	parts, err := approval.Parts(p.Plan)
	if err != nil {
		return nil, err
	}
	return permit.Of(facts.Of(p.Plan, facts.Options{Planned: true}), parts), nil
}

// within refuses a program that leaves the permit that it is to be run under.
func within(p *project.Program, o *Options) error {
	own := o.Permit
	if own == nil {
		return nil
	}
	for _, name := range []string{o.PlannerName, o.Model} {
		if name != "" && own.Models != nil && !slices.Contains(own.Models, name) {
			return diag.NewError(ErrUnapproved, "the model %q isn't one of those that are approved", name)
		}
	}
	if ticks, bounded := own.Budget["ticks"]; o.Planned && bounded && ticks == 0 {
		return diag.NewError(ErrUnapproved, "a model is to plan the run, and what was approved is a run without one").
			Advise("obelus approve --planner approves one")
	}
	parts, err := approval.Parts(p.Plan)
	if err != nil {
		return err
	}
	if left := own.Within(facts.Of(p.Plan, facts.Options{Planned: o.Planned}), parts); len(left) > 0 {
		return diag.NewError(ErrUnapproved, "the plan leaves what was approved: %s", left[0]).
			Advise("have what it does now approved")
	}
	return nil
}

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
func (q *Questions) Signed(about *runtime.Question) bool { return q.partial[about.ID] != "" }

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
	if before, err := approval.Read([]byte(q.partial[about.ID])); err == nil && counts(before) {
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
		return diag.NewError(ErrUnapproved, "that approves nothing: %w", v.Err)
	}
	text, err := statement.Text()
	d.Signed = string(text)
	return err
}
