package main

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/session"
	"github.com/obelus-dev/obelus/runtime/state"
)

// choose finds the open questions about a call. Without a call they are all of them.
func (o *deciding) choose(
	questions *session.Questions, call string, isAnswered bool,
) (chosen []*runtime.Question, err error) {
	var names []string // of the calls that are asked about
	for _, q := range questions.Open() {
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
	case slices.Contains(verdicts, call):
		return nil, usageErr("%q needs a call", call).
			Advise("name the call before it, or answer all that is asked with --all")
	case len(names) == 0:
		return nil, usageErr("the run asks nothing").Advise("continue with obelus resume")
	}
	return nil, usageErr("the run asks no such question").
		Advise("it asks about %s", wording.Names(slices.Compact(names), 5)).Suggest(call, names)
}

// decision reads an answer to questions.
func (o *deciding) decision(c *cli, of []*runtime.Question, answer []string) (d runtime.Decision, err error) {
	d = runtime.Decision{Verdict: runtime.Verdict(answer[0]), Reason: o.Reason}
	values := answer[1:]
	switch n := len(values); {
	case d.Verdict == runtime.Change && len(of) > 1:
		return d, usageErr("change is for one call, and %d are asked about", len(of)).
			Advise("name one, such as %s; --instance says whose it is", named(of[0]))
	case d.Verdict == runtime.Change && n > 0:
		d.Params, err = changed(c, of[0], values)
	case d.Verdict == runtime.Replace && n == 1:
		var call map[string]any
		call, err = c.object(c.newReading(), "replace", values[0])
		if err == nil {
			d.Replacement, err = json.Marshal(call)
		}
	case n > 0 || d.Verdict == runtime.Change || d.Verdict == runtime.Replace || !slices.Contains(verdicts, answer[0]):
		return d, usageErr("the answer can't be %q: expected approve, reject, retry, fail, change NAME=VALUE… or "+
			"replace CALL", strings.Join(answer, " ")).Advise("a reason is given with --reason").
			Suggest(answer[0], verdicts)
	}
	return d, err
}

// changed are the parameters of a question with changes. A value for a parameter that must be a text isn't read as
// JSON.
func changed(c *cli, q *runtime.Question, values []string) (params map[string]any, err error) {
	params = q.Params
	accepts := func(key string, value any) bool {
		return q.Unacceptable(state.Over(q.Params, map[string]any{key: value})) == ""
	}
	for _, value := range values {
		if strings.HasPrefix(value, "@") {
			params = nil
		}
		if params, err = c.set(c.newReading(), params, "change", value, accepts); err != nil {
			return nil, err
		}
	}
	return params, nil
}

// named is the call of a question in quotes, with its instance.
func named(q *runtime.Question) string {
	name := terminal.Quoted(q.Path())
	if q.Instance != "" {
		name += " of " + terminal.Quoted(q.Instance)
	}
	return name
}

// showQuestions shows questions, briefly or in full.
func (c *cli) showQuestions(list []*runtime.Question, format string, inFull bool) {
	text := terminal.Question
	if inFull {
		text = terminal.Full
	}
	if len(list) == 0 && format != "json" {
		c.out.Print("the run asks nothing\n")
	}
	for _, q := range list {
		if format == "json" {
			c.out.JSON(q)
		} else {
			c.out.Print("%s", text(q, terminal.StyleFor(c.out), terminal.Columns(c.out)))
		}
	}
}
