package main

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
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
// one, "" for none. The configurations around them make this stricter, whoever wrote them.
func (o *approvers) judge(files []string, reading *project.Reader) (j approval.Judge, by string, err error) {
	var above, all []*project.Configuration
	for _, file := range files {
		around, err := reading.Around(file)
		if err != nil {
			return j, file, err // it is unknown whether it needs one
		}
		if all = append(all, around...); above == nil {
			above = around
		}
	}
	if reading.Config != "" {
		named, err := reading.ConfigurationAt(reading.Config)
		if err != nil {
			return j, files[0], err
		}
		all, above = append(all, named), []*project.Configuration{named}
	}
	var revoked []approval.List
	needed := o.Approvals
	if o.Revoked != "" {
		revoked = append(revoked, approval.List{Name: o.Revoked})
	}
	for i, config := range all {
		said := config.Analysis.Settings
		switch {
		case slices.Contains(all[:i], config):
			continue
		case diag.HasErrors(config.Found): // nobody can tell what it asks for
			return j, config.File.Name, usageErr("%q, which may say who approves the plan, has errors",
				config.File.Name).Advise("obelus check %s shows them", wording.ShellWord(config.File.Name))
		case said.RequireApproval:
			by = config.File.Name
		}
		needed = max(needed, said.Approvals)
		if said.Revoked != nil {
			revoked = append(revoked, config.Revoked)
		}
	}
	signers := approval.List{Name: o.Signers}
	if o.Signers == "" {
		signers, err = listed(files[0], above)
	}
	if err == nil {
		j, err = approval.Judging(files[0], signers, revoked)
	}
	j.Approvals, j.Now = needed, time.Now()
	return j, by, err
}

// listed is the list of signers that a configuration names: the nearest that the plan's author can't have written.
func listed(plan string, above []*project.Configuration) (list approval.List, err error) {
	for _, config := range above {
		if config.Analysis.Settings.Signers == nil {
			continue
		}
		if err = approval.Outside(plan, config.File.Name); err != nil {
			continue
		}
		if !config.Trusted {
			err = diag.NewError(approval.ErrSigners, "%q says whose approval counts, and isn't trusted as it is",
				config.File.Name).
				Advise("obelus trust %s trusts it; or name the list with --signers",
					wording.ShellWord(filepath.Dir(config.File.Name)))
		}
		return config.Signers, err
	}
	return list, err
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
