package main

import (
	"cmp"
	"context"
	"slices"
	"strings"

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
	call, words := "", args[1:]
	if len(words) > 0 && !(o.All && slices.Contains(verdicts, words[0])) {
		call, words = words[0], words[1:]
	}
	chosen, err := o.choose(questions.Open(), call, len(words) > 0)
	if err != nil {
		return err
	}
	if len(words) == 0 {
		o.show(c, chosen)
		return nil
	}
	decision, err := c.answer(chosen[0], words)
	if err != nil {
		return err
	}
	if decision.Verdict == runtime.Change && len(chosen) > 1 {
		return usageErr("change is for one call, and %d are asked about", len(chosen))
	}
	decision.By, decision.Reason = by, cmp.Or(o.Reason, decision.Reason)
	if decision.Verdict == runtime.Approve && !o.All { // the question was named
		decision.Beyond = chosen[0].Beyond
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
	use := "the run uses it when it is resumed"
	if len(again) > 0 {
		o.show(c, again)
		use = "the calls shown above would run now, and need an answer of their own"
	} else if questions.Running {
		use = "the run uses it now"
	}
	c.note("stored: %s, by %s, for %s; %s", decision.Verdict, diag.Escape(decision.By),
		wording.Count(len(chosen), "call"), use)
	return nil
}

// choose finds the open questions about a call. Without a call they are all of them.
func (o *deciding) choose(open []*runtime.Question, call string, isAnswered bool) ([]*runtime.Question, error) {
	var chosen []*runtime.Question
	var names []string // of the calls that are asked about
	for _, q := range open {
		name := q.Path()
		if names = append(names, name); (call == "" || call == name || strings.HasPrefix(name, call+"[")) &&
			(o.Instance == "" || o.Instance == q.Instance) && (o.ID == "" || o.ID == q.ID) {
			chosen = append(chosen, q)
		}
	}
	switch {
	case len(chosen) > 1 && isAnswered && !o.All:
		return nil, usageErr("the run asks about %d calls of that name", len(chosen)).
			Advise("name one, such as %s, with --instance where several have the name, or answer all with --all",
				named(chosen[0]))
	case len(chosen) > 0 || call == "" && o.ID+o.Instance == "" && !isAnswered:
		return chosen, nil
	case len(names) == 0:
		return nil, usageErr("the run asks nothing").Advise("continue with obelus resume")
	}
	return nil, usageErr("the run asks no such question").
		Advise("it asks about %s", wording.Names(slices.Compact(names), 5)).Suggest(call, names)
}

func (o *deciding) show(c *cli, list []*runtime.Question) {
	if len(list) == 0 && o.Format != "json" {
		c.out.Print("the run asks nothing\n")
	}
	for _, q := range list {
		if o.Format == "json" {
			c.out.JSON(q)
		} else {
			c.out.Print("%s", terminal.Question(q, terminal.StyleFor(c.out), terminal.Columns(c.out)))
		}
	}
}
