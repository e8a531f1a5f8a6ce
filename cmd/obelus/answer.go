package main

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/session"
	"github.com/obelus-dev/obelus/runtime/state"
)

var verdicts = []string{"approve", "reject", "change", "replace", "retry", "fail"}

// answer reads an answer to a question as it is written at a terminal and to "obelus decide": a verdict, and a reason
// of reject, NAME=VALUE, JSON or @FILE of change, JSON or @FILE of replace.
func (c *cli) answer(q *runtime.Question, words []string) (d runtime.Decision, err error) {
	d.Verdict = runtime.Verdict(words[0])
	values := words[1:]
	switch n := len(values); {
	case d.Verdict == runtime.Change && n > 0:
		d.Params = q.Params
		accepts := func(key string, value any) bool {
			return q.Unacceptable(state.Over(q.Params, map[string]any{key: value})) == ""
		}
		for _, value := range values {
			if strings.IndexAny(value, "@{") == 0 { // all parameters
				d.Params = nil
			}
			if d.Params, err = c.set(c.newReading(), d.Params, "change", value, accepts); err != nil {
				return d, err
			}
		}
	case d.Verdict == runtime.Replace && n == 1:
		var call map[string]any
		if call, err = c.object(c.newReading(), "replace", values[0]); err == nil {
			d.Replacement, err = json.Marshal(call)
		}
	case d.Verdict == runtime.Reject:
		d.Reason = strings.Join(values, " ")
	case n > 0 || d.Verdict == runtime.Change || d.Verdict == runtime.Replace || !slices.Contains(verdicts, words[0]):
		return d, usageErr("the answer can't be %q: expected approve, reject, retry, fail, change NAME=VALUE… or "+
			"replace CALL", strings.Join(words, " ")).Suggest(words[0], verdicts)
	}
	return d, err
}

// answers reads a file of them; they name their author, or else it is the one who runs the command.
func (c *cli) answers(name, by string) ([]session.Answer, error) {
	if name == "" {
		return nil, nil
	}
	text, err := c.newReading().Text(name)
	if err != nil {
		return nil, err
	}
	all, err := session.ReadAnswers(name, text)
	for i := range all {
		all[i].By = cmp.Or(all[i].By, by)
	}
	return all, err
}

// named is the call of a question in quotes, with its instance.
func named(q *runtime.Question) string {
	name := terminal.Quoted(q.Path())
	if q.Instance != "" {
		name += " of " + terminal.Quoted(q.Instance)
	}
	return name
}
