package main

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime/approval"
	"github.com/obelus-dev/obelus/runtime/project"
	"github.com/obelus-dev/obelus/runtime/session"
)

// approvers are the flags that say whose approval counts.
type approvers struct {
	Signers   string `flag:"--signers FILE: allowed_signers: whose approval counts [\"signers\" in obelus.yaml]"`
	Approvals int    `least:"1" flag:"--approvals N: how many people have to approve"`
}

// judge reads whose approval counts now for a plan, by its file and those of its delegates, and which file demands an
// approval, "" for none. Each configuration around them makes this stricter, whoever wrote it. The signers are those of
// the nearest one around the plan that its author can't have written.
func (o *approvers) judge(files []string, reading *project.Reader) (j approval.Judge, by string, err error) {
	var all []*project.Configuration
	own := 0 // how many are around the plan itself
	for i, file := range files {
		around, err := reading.Around(file)
		if err != nil {
			return j, file, err // it is unknown whether it needs one
		}
		if all = append(all, around...); i == 0 {
			own = len(all)
		}
	}
	if reading.Config != "" {
		named, err := reading.ConfigurationAt(reading.Config)
		if err != nil {
			return j, files[0], err
		}
		all, own = append([]*project.Configuration{named}, all...), 1
	}
	var signers *source.File
	if o.Signers != "" {
		signers = &source.File{Name: o.Signers}
	}
	var revoked []*source.File
	needed := o.Approvals
	for i, config := range all {
		settings := config.Analysis.Settings
		if slices.Contains(all[:i], config) {
			continue
		}
		if diag.HasErrors(config.Found) { // nobody can tell what it asks for
			return j, config.File.Name, usageErr("%q, which may say who approves the plan, has errors",
				config.File.Name).Advise("obelus check %s shows them", wording.ShellWord(config.File.Name))
		}
		if settings.RequireApproval {
			by = config.File.Name
		}
		needed = max(needed, settings.Approvals)
		revoked = append(revoked, config.Revoked)
		if i >= own || settings.Signers == nil || signers != nil {
			continue
		}
		if outside := approval.Outside(files[0], config.File.Name); outside != nil {
			err = outside
			continue
		}
		if signers, err = config.Signers, nil; !config.Trusted {
			err = usageErr("%q says whose approval counts, and isn't trusted as it is",
				config.File.Name).
				Advise("obelus trust %s trusts it; or name the list with --signers",
					wording.ShellWord(filepath.Dir(config.File.Name)))
		}
	}
	if err == nil {
		j, err = approval.Judging(files[0], signers, revoked)
	}
	j.Approvals, j.Now = needed, time.Now()
	return j, by, err
}

// required is the approval that a run needs, nil if none is demanded; file is where it is, "" for beside the plan.
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
	if err == nil {
		return &session.Approval{Text: text, Judge: judge}, nil
	}
	return nil, diag.NewError(session.ErrUnapproved, "the run isn't approved: %w", err).
		Advise("%q asks for an approval: obelus approve %s gives it", cmp.Or(by, "--require-approval"),
			wording.ShellWord(plan))
}

// of decides, when a run continues, whose approval counts for its plan.
func (o *approvers) of(c *cli) session.Approvers {
	return func(files ...string) (approval.Judge, string, error) { return o.judge(files, c.newReading()) }
}

// approvalOf is the file of a plan's approval; name is what the user calls it, "" for beside the plan.
func approvalOf(plan, name string) (string, error) {
	switch {
	case name != "":
		return name, nil
	case plan == "-":
		return "", usageErr("a plan from standard input has no approval beside it").Advise("name one with --approval")
	}
	return strings.TrimSuffix(plan, filepath.Ext(plan)) + ".approval.json", nil
}
