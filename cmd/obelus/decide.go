package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
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
		o.show(c, questions, chosen, call != "")
		return nil
	}
	if len(chosen) > 1 && answer[0] == string(runtime.Change) {
		return usageErr("change is for one call, and %d are asked about", len(chosen)).
			Advise("name one, such as %s; --instance says whose it is", named(chosen[0]))
	}
	decision, err := o.decision(c, chosen[0], answer)
	if err != nil {
		return err
	}
	decision.By = by
	if decision.Verdict == runtime.Approve && !o.All {
		decision.Beyond = chosen[0].Beyond // the question was named
		if questions.ToSign(chosen[0]) {
			key, err := findKey(o.Key, c.err)
			if err != nil {
				return err
			}
			if err := questions.Sign(chosen[0], &decision, c.changed("as"), key, o.of(c)); err != nil {
				return err
			}
		}
	}
	again, err := questions.Decide(chosen, decision)
	if err == nil {
		o.stored(c, questions, chosen, again, decision)
	}
	return err
}

// stored reports what becomes of an answer.
func (o *deciding) stored(
	c *cli, questions *session.Questions, chosen, again []*runtime.Question, d runtime.Decision,
) {
	if len(again) > 0 {
		c.showQuestions(again, o.Format, true)
	}
	text := fmt.Sprintf("%s, by %s, for %s", d.Verdict, diag.Escape(d.By), named(chosen[0]))
	if len(chosen) > 1 {
		text += " and " + wording.Count(len(chosen)-1, "more call")
	}
	if d.Verdict == runtime.Change {
		text += " with the parameters " + diag.Escape(terminal.JSON(d.Params, ""))
	}
	switch {
	case len(again) > 0:
		text += "; the calls shown above would run now, and need an answer of their own"
	case questions.Running:
		text += "; the run uses it now"
	default:
		text += "; the run uses it when it is resumed"
	}
	c.note("stored: %s", text)
}

// show prints questions, one in full.
func (o *deciding) show(c *cli, questions *session.Questions, chosen []*runtime.Question, inFull bool) {
	c.showQuestions(chosen, o.Format, inFull)
	if questions.Stored > 0 {
		c.note("%s stored; the run uses them when it is resumed", wording.Counted(questions.Stored, "answer is",
			"answers are"))
	}
	for _, q := range chosen {
		if questions.Signed(q) {
			c.note("a signed approval is stored for %s; the run judges it, and other people may sign it, too", named(q))
		}
	}
}
