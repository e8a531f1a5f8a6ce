package main

import (
	"context"
	"slices"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/session"
)

// deciding answers the questions of a run, or shows them.
type deciding struct {
	approvers
	person
	Reason   string `flag:"--reason TEXT: why; a model gets it, too"`
	Instance string `flag:"--instance ID: the instance whose call it is"`
	ID       string `flag:"--id ID: answer only the question with this id, as its \"ask\" event has it"`
	All      bool   `flag:"--all: answer all open questions, or all about a call, in the same way"`
	Key      string `flag:"--key FILE: sign the approval with this key; of one in the SSH agent, its public key"`
	Format   string `flag:"--format text|json: how questions are written; json is one a line"`
}

var verdicts = []string{"approve", "reject", "change", "replace", "retry", "fail"}

func (o *deciding) run(_ context.Context, c *cli, args []string) error {
	path, err := c.findRun(args[0])
	if err != nil {
		return err
	}
	by, err := o.named(c)
	if err != nil {
		return err
	}
	questions, err := session.OpenQuestions(path, session.ResumeOptions{Activities: c.Activities})
	if err != nil {
		return err
	}
	call, answer := "", args[1:]
	if len(answer) > 0 && !(o.All && slices.Contains(verdicts, answer[0])) {
		call, answer = answer[0], answer[1:]
	}
	chosen, err := o.choose(questions, call, len(answer) > 0)
	if err != nil {
		return err
	}
	if len(answer) == 0 {
		c.showQuestions(chosen, o.Format, call != "")
		if questions.Stored > 0 {
			c.note("%s stored; the run uses them when it is resumed", wording.Counted(questions.Stored, "answer is",
				"answers are"))
		}
		for _, q := range chosen {
			if questions.Signed(q) {
				c.note("a signed approval is stored for %s; the run judges it, and other people may sign it, too",
					named(q))
			}
		}
		return nil
	}
	decision, err := o.decision(c, chosen, answer)
	if err != nil {
		return err
	}
	decision.By = by
	if decision.Verdict == runtime.Approve && !o.All {
		decision.Beyond = chosen[0].Beyond // the question was named
		if questions.ToSign(chosen[0]) {
			key, err := findKey(o.Key, c.err)
			if err == nil {
				err = questions.Sign(chosen[0], &decision, c.changed("as"), key, o.of(c))
			}
			if err != nil {
				return err
			}
		}
	}
	again, err := questions.Decide(chosen, decision)
	if err != nil {
		return err
	}
	text, end := named(chosen[0]), "the run uses it when it is resumed"
	if len(chosen) > 1 {
		text += " and " + wording.Count(len(chosen)-1, "more call")
	}
	switch {
	case len(again) > 0:
		c.showQuestions(again, o.Format, true)
		end = "the calls shown above would run now, and need an answer of their own"
	case questions.Running:
		end = "the run uses it now"
	}
	c.note("stored: %s, by %s, for %s; %s", decision.Verdict, diag.Escape(decision.By), text, end)
	return nil
}
