package main

import (
	"cmp"
	"context"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/analyzer/permit"
	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime/approval"
	"github.com/obelus-dev/obelus/runtime/project"
	"github.com/obelus-dev/obelus/runtime/session"
)

// A signing is what one approve command works on.
type signing struct {
	Format    string `flag:"--format text|markdown|json: how what the plan does is shown"`
	Approval  string `flag:"--approval FILE: the approval [plan.approval.json beside plan.yaml]"`
	Key       string `flag:"--key FILE: the key that signs; of a key in the SSH agent, its public key"`
	Unsigned  bool   `flag:"--unsigned: write the approval without a signature"`
	Signature string `flag:"--signature FILE: add a signature of --payload by ssh-keygen -n obelus-plan"`
	Payload   bool   `flag:"--payload: print what signatures cover, and do nothing else"`
	Verify    bool   `flag:"--verify: report whether the approval holds, and who signed it"`
	Full      bool   `flag:"--full: show all that each call does, below the card"`
	Show      bool   `flag:"--show: show what there is to approve, and approve nothing"`
	Yes       bool   `flag:"--yes: approve without a question"`
	Replace   bool   `flag:"--replace: replace an approval of something else, or that has expired"`
	Expires   string `flag:"--expires TIME: until when it counts: 12h, 30d, 2027-01-31 or never"`
	Allow     string `flag:"--allow FILE: further calls of a run: {allow: {refund: {_times: 3}}, budget: {ticks: 10}}"`
	Planned   bool   `flag:"--planner: show what a run with a planner may do, too"`
	approvers
	given
	person

	*cli
	plan, file string // the plan's file, and that of its approval
	program    *project.Program
	parts      []plan.Part
	facts      *facts.Facts
	old        *approval.Approval // that there is; nil for none
	permit     *permit.Permit
}

func (a *signing) run(_ context.Context, c *cli, args []string) (err error) {
	reading := c.newReading()
	a.cli, a.plan = c, args[0]
	if a.program, a.input, a.state, err = a.withValues(c, reading, a.plan); err != nil {
		return err
	}
	if a.program.Verified == nil {
		return c.faultyPlan(a.program, a.Format, statusError)
	}
	if a.file, err = approvalOf(a.plan, a.Approval); err != nil && !a.Show {
		return err
	}
	if a.parts, err = approval.Parts(a.program.Plan); err != nil {
		return usageErr("%q can't be approved: %v", a.plan, err)
	}
	if len(a.Inputs)+len(a.States) > 0 { // the plan is approved with these values and no others
		if err = cmp.Or(session.Unread(a.program.Plan, a.input),
			session.Fits(a.program.Plan, a.input, a.state)); err != nil {
			return err
		}
		part, err := approval.Given(a.input, a.state)
		if err != nil {
			return err
		}
		a.parts = append(a.parts, part)
	}
	judge, _, unjudged := a.judge(a.program.Sources(), reading)
	if a.file != "" {
		if a.old, err = readApproval(a.file); err != nil && !a.Replace && !a.Verify {
			return err
		}
	}
	if !a.Verify && !a.Payload {
		return a.approve(judge)
	}
	if a.old == nil {
		err := cmp.Or(err, error(usageErr("there is no approval %q", a.file).
			Advise("%s makes one; --approval names another file", a.commandLine("approve", a.plan))))
		if a.Payload {
			return err
		}
		c.showError(err)
		return ending(statusFound)
	}
	if a.Verify && unjudged != nil {
		return unjudged
	} else if a.Verify {
		return a.verified(a.old.Verify(judge, a.parts))
	}
	if changed := a.old.Changed(a.parts); len(changed) > 0 {
		return a.stale("is of something else: " + wording.And(changed[:min(len(changed), 10)]))
	}
	c.out.Print("%s", a.old.Payload())
	return nil
}

// approve shows a plan, asks, and signs: a new approval, or the one that there is once more.
func (a *signing) approve(judge approval.Judge) error {
	again, former, changed := a.old != nil && !a.Replace, approval.Predicate{}, []string(nil)
	if a.old != nil {
		former, changed = a.old.Statement.Predicate, a.old.Changed(a.parts)
	}
	a.facts = facts.Of(a.program.Plan, facts.Options{Planned: a.Planned, Parts: a.parts})
	if err := a.derive(again); err != nil {
		return err
	}
	if err := a.show(changed); err != nil || a.Show {
		return err
	}
	switch {
	case again && len(changed) > 0:
		return a.stale("is of something else: " + wording.And(changed[:min(len(changed), 10)]))
	case again && !former.Expires.IsZero() && judge.Now.After(former.Expires):
		return a.stale("has expired")
	case again && (a.Unsigned || a.Allow != ""):
		return a.stale("is there already")
	case !again && a.Signature != "":
		return usageErr("there is no approval %q that the signature could be over", a.file).
			Advise("obelus approve --unsigned writes one, --payload prints what is signed")
	}
	if err := a.ask(again, former); err != nil {
		return err
	}
	var key *approval.Key
	var err error
	if !a.Unsigned && a.Signature == "" {
		if key, err = findKey(a.Key, a.err); err != nil {
			return err
		}
	}
	holder := ""
	if key != nil {
		holder = judge.Signers.Signer(key)
	}
	signer, next := holder, a.old
	if holder == "" || a.changed("as") {
		if signer, err = a.named(a.cli); err != nil {
			return err
		}
	}
	if !again {
		if next, err = a.statement(signer, judge.Now); err != nil {
			return err
		}
	}
	by := "nobody: it has no signature"
	switch {
	case key != nil:
		by, err = "the key "+key.Fingerprint(), next.Sign(key)
	case a.Signature != "":
		var text []byte
		by = "the key of " + terminal.Quoted(a.Signature)
		if text, err = approval.ReadFile(a.Signature, approval.MostBytes); err == nil {
			err = next.Attach(text)
		}
	}
	if err == nil {
		err = a.write(next, by)
	}
	if err == nil && key != nil && holder == "" {
		a.help("to accept this key, add this line to an allowed_signers file:\n" + key.Line(signer))
	}
	return err
}

// stale refuses to sign an approval in whose place there has to be a new one.
func (a *signing) stale(why string) error {
	return usageErr("the approval %q %s", a.file, why).
		Advise("%s makes a new one", a.commandLine("approve", a.plan, "--replace"))
}
