package main

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime/approval"
	"github.com/obelus-dev/obelus/runtime/project"
	"github.com/obelus-dev/obelus/runtime/session"
)

// approvers are the flags that say whose approval counts.
type approvers struct {
	Signers   string `flag:"--signers FILE: allowed_signers: whose approval counts [\"signers\" in obelus.yaml]"`
	Revoked   string `flag:"--revoked FILE: public keys that don't count any more, one a line"`
	Approvals int    `least:"1" flag:"--approvals N: how many people have to approve"`
}

// judge reads whose approval counts now for a plan, given its file and those of its delegates, and which file demands
// one, "" for none.
// A configuration in the plan's folder only makes this stricter.
func (o *approvers) judge(files []string, reading *project.Reader) (j approval.Judge, by string, err error) {
	plan, signers, needed := files[0], approval.List{Name: o.Signers}, o.Approvals
	var revoked []approval.List
	if o.Revoked != "" {
		revoked = append(revoked, approval.List{Name: o.Revoked})
	}
	by, asked, err := reading.Demanded(files...)
	if err != nil {
		return j, plan, err
	}
	needed = max(needed, asked)
	above, own, err := reading.Above(plan)
	if err != nil {
		return j, plan, err // it is unknown whether it needs one
	}
	for _, config := range []*project.Configuration{above, own} {
		if config == nil || config.Analysis.Settings == nil {
			continue
		}
		if diag.HasErrors(config.Found) { // nobody can tell what it asks for
			return j, config.File.Name, usageErr("%q, which may say who approves the plan, has errors",
				config.File.Name).Advise("obelus check %s shows them", wording.ShellWord(config.File.Name))
		}
		said := config.Analysis.Settings
		if said.Revoked != nil {
			revoked = append(revoked, config.Revoked)
		}
		if said.Signers != nil && signers.Name == "" {
			signers = config.Signers
			if err = approval.Outside(plan, config.File.Name); err == nil && !config.Trusted {
				err = diag.NewError(approval.ErrSigners, "%q says whose approval counts, and isn't trusted as it is",
					config.File.Name).
					Advise("obelus trust %s trusts it; or name the list with --signers",
						wording.ShellWord(filepath.Dir(config.File.Name)))
			}
		}
	}
	if err == nil {
		j, err = approval.Judging(plan, signers, revoked)
	}
	j.Approvals, j.Now = needed, time.Now()
	return j, by, err
}

// required is the approval that a run needs, nil where none is asked for; file is where it
// lies, "" for beside the plan.
func (o *approvers) required(p *project.Program, r *project.Reader, asked bool,
	file string) (*session.Approval, error) {
	plan := p.File.Name
	judge, by, err := o.judge(p.Sources(), r)
	if !asked && by == "" {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if file, err = approvalOf(plan, file); err != nil {
		return nil, err
	}
	text, err := approval.ReadFile(file, approval.MostBytes)
	if err != nil {
		t := diag.NewError(session.ErrUnapproved, "the run isn't approved: %w", err)
		plan = wording.ShellWord(plan)
		if by != "" {
			return nil, t.Advise("%q asks for an approval: obelus approve %s gives it", by, plan)
		}
		return nil, t.Advise("obelus approve %s approves it", plan)
	}
	return &session.Approval{Text: text, Judge: judge}, nil
}

// of gives, when a run continues, whose approval counts for its plan, and what says that it
// needs one.
func (o *approvers) of(c *cli) session.Approvers {
	return func(files ...string) (approval.Judge, string, error) { return o.judge(files, c.newReading()) }
}

// approvalOf is where a plan's approval lies, by default.
func approvalOf(plan, said string) (string, error) {
	switch {
	case said != "":
		return said, nil
	case plan == "-":
		return "", usageErr("a plan from standard input has no approval beside it").Advise("name one with --approval")
	}
	return strings.TrimSuffix(plan, filepath.Ext(plan)) + ".approval.json", nil
}

// readApproval reads an approval; there is none is nil.
func readApproval(name string) (*approval.Approval, error) {
	text, err := approval.ReadFile(name, approval.MostBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return approval.Read(text)
}
