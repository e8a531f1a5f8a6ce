package main

import (
	"context"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/session"
)

// A decision is what the command line says of one.
type decision struct {
	approvers
	person
	Reason   string `flag:"--reason TEXT: why; a model gets it, too"`
	Instance string `flag:"--instance ID: the instance whose call it is"`
	ID       string `flag:"--id ID: answer only the question with this id, as its \"ask\" event has it"`
	All      bool   `flag:"--all: answer all open questions, or all about a call, in the same way"`
	Key      string `flag:"--key KEY: sign the approval with this key, a file or one of the SSH agent"`
	Format   string `flag:"--format text|json: how questions are written; json is one a line"`

	by string
}

func (o *decision) run(_ context.Context, c *cli, args []string) error {
	path, err := c.findRun(args[0])
	if err != nil {
		return err
	}
	if o.by, err = o.named(c); err != nil {
		return err
	}
	questions, err := session.OpenQuestions(path, session.ResumeOptions{Activities: c.Activities})
	if err != nil {
		return err
	}
	open := questions.Open()
	if selected := o.kept(open, questions.Kept, args[1:]); len(selected) > 0 {
		open = selected
	}
	about, rest, err := o.about(open, args[1:])
	if err != nil {
		return err
	}
	answers := map[*runtime.Question]*runtime.Decision{}
	for _, one := range questions.Kept {
		answers[one.Question] = &one.Answer
	}
	if len(rest) == 0 {
		return o.show(c, questions, about, answers, len(args) > 1)
	}
	taken, err := o.verdict(c, about[0], rest)
	if err != nil {
		return err
	}
	if taken.Verdict == runtime.Approve && !o.All {
		taken.Beyond = about[0].Beyond // it is the one that was named
		if err := o.sign(c, &taken, about[0], questions); err != nil {
			return err
		}
	}
	again, err := questions.Decide(about, taken)
	if err != nil {
		return err
	}
	if err := c.answered(about, answers, " was kept before, and counts no more"); err != nil {
		return err
	}
	if len(again) > 0 {
		if err := c.showQuestions(again, questions.Program, o.Format, true); err != nil {
			return err
		}
	}
	return c.kept(about, again, taken, questions)
}

// show prints questions, one in full, and the answers that are kept for a run.
func (o *decision) show(
	c *cli, questions *session.Questions, about []*runtime.Question, answers map[*runtime.Question]*runtime.Decision, full bool,
) error {
	if err := c.showQuestions(about, questions.Program, o.Format, full); err != nil {
		return err
	}
	for _, one := range questions.Kept {
		switch {
		case full:
		case o.Format == "json":
			if err := diag.JSONLine(c.out, one); err != nil {
				return err
			}
		default:
			about = append(about, one.Question)
		}
	}
	return c.answered(about, answers, " is kept, and the run hasn't taken it up: a further decision takes its place")
}
