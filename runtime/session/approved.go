package session

import (
	"cmp"
	"path/filepath"

	"github.com/obelus-dev/obelus/compiler/canonical"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/runtime/approval"
	"github.com/obelus-dev/obelus/runtime/project"
)

// An Approval lets a run begin only as people approved it.
type Approval struct {
	Text  []byte         // the file that they signed
	Judge approval.Judge // says whose signatures count
}

// Approvers says whose approval counts for a plan, by the names of its file and of those of its delegates, and which
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
		return nil, diag.NewError(ErrUnapproved, "nobody can say whether the plan is the one that was approved: %v",
			err).From(err)
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
	case file.Given():
		given, err := approval.Given(o.Input, o.State)
		if err != nil {
			return nil, err
		}
		if parts = append(parts, given); o.Instances != "" {
			parts = append(parts, plan.Part{Kind: "file of instances"})
		}
	case o.Instances != "":
		return nil, diag.NewError(ErrUnapproved,
			"the run isn't approved: what was approved is one run, and a file of instances makes it one for each").
			Advise("run the plan once for each, with its own input")
	case len(o.State) > 0:
		return nil, diag.NewError(ErrUnapproved,
			"the run isn't approved: it would begin with a state that nobody approved, and that would pass for "+
				"what calls have written").
			Advise("approve the plan with that state (approve --state), or run it without")
	}
	verdict := file.Verify(a.Judge, parts)
	if verdict.Err != nil {
		return nil, diag.NewError(ErrUnapproved, "the run isn't approved: %v", verdict.Err).From(verdict.Err)
	}
	if o.Permit, err = permitOf(p, file); err != nil {
		return nil, err
	}
	digest, err := canonical.Digest(p.Plan)
	return &Approved{digest, verdict.Signers(), string(a.Text)}, cmp.Or(err, p.Demand(digest))
}

// file is that of the plan.
func (m *Manifest) file() string {
	if m.Plan.Name == "-" {
		return filepath.Join(m.Folder, m.Plan.Name)
	}
	return m.At(m.Plan.Name)
}

// stillApproved verifies again the approval that a run was begun under.
func (s *Session) stillApproved(o *ResumeOptions) error {
	was, by := s.manifest.Approval, ""
	var judge approval.Judge
	var err error
	if o.Approvers != nil {
		judge, by, err = o.Approvers(append([]string{s.manifest.file()}, s.Program.Sources()[1:]...)...)
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
		started := s.Options.Permit
		if _, err = approved(s.Program, &s.Options, &Approval{[]byte(was.Text), judge}); err == nil &&
			!samePermit(started, s.Options.Permit) {
			err = diag.NewError(ErrUnapproved, "the run %s wasn't begun under the permit of its approval", s.ID())
		}
	}
	return err
}
