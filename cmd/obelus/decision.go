package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/project"
	"github.com/obelus-dev/obelus/runtime/session"
)

// answered prints answers that are kept to questions.
func (c *cli) answered(about []*runtime.Question, answers map[*runtime.Question]*runtime.Decision, what string) error {
	about = slices.DeleteFunc(slices.Clone(about), func(q *runtime.Question) bool { return answers[q] == nil })
	for i, q := range about {
		if i == mostKept && len(about) > i+1 {
			_, err := fmt.Fprintf(c.err, "obelus: and %s\n", wording.Count(len(about)-i, "more answer"))
			return err
		}
		if _, err := fmt.Fprintf(c.err, "obelus: the answer %s, by %s, for the call %s%s\n", answers[q].Verdict, diag.Escape(answers[q].By), named(q), what); err != nil {
			return err
		}
	}
	return nil
}

// mostKept is how many calls are named that were decided about together.
const mostKept = 20

// kept says what became of an answer.
func (c *cli) kept(about, again []*runtime.Question, d runtime.Decision, questions *session.Questions) error {
	out := &strings.Builder{}
	for i, q := range about {
		if i == mostKept && len(about) > i+1 {
			fmt.Fprintf(out, "and %s\n", wording.Count(len(about)-i, "more call"))
			break
		}
		fmt.Fprintf(out, "%s: %s, by %s\n", named(q), d.Verdict, diag.Escape(d.By))
		for _, left := range q.Outside {
			fmt.Fprintf(out, "  leaves what was approved: %s\n", left)
		}
		if d.Verdict == runtime.Change {
			fmt.Fprintf(out, "  with the parameters %s\n", diag.Escape(terminal.JSON(d.Params, "")))
		}
	}
	if _, err := fmt.Fprint(c.err, out.String()); err != nil {
		return err
	}
	next := "the run uses it when it is resumed"
	if questions.Running {
		next = "the run uses it now"
	}
	if len(again) > 0 {
		next = "the calls shown above would run now, and need an answer of their own"
	}
	c.note("stored; %s", next)
	return nil
}

// named is the call of a question in quotes, with its instance.
func named(q *runtime.Question) string {
	name := terminal.Quoted(q.Path())
	if q.Instance != "" {
		name += " of " + terminal.Quoted(q.Instance)
	}
	return name
}

// sign signs a decision that approves of what leaves an approval that is signed.
func (d *decision) sign(c *cli, taken *runtime.Decision, q *runtime.Question, questions *session.Questions) error {
	if !questions.ToSign(q) {
		return nil
	}
	key, err := findKey(d.Key, c.err)
	if err != nil {
		return err
	}
	return questions.Sign(q, taken, c.changed("as"), key, d.of(c))
}

// kept finds the questions that are meant where they are answered, and no open one is:
// the last of each call.
func (d *decision) kept(open []*runtime.Question, kept []session.Kept, args []string) (selected []*runtime.Question) {
	if len(args) == 0 || d.All && slices.Contains(verdicts, args[0]) {
		return nil
	}
	is := func(q *runtime.Question) bool { return q.Path() == args[0] && d.matches(q) }
	if slices.ContainsFunc(open, is) {
		return nil
	}
	for _, one := range kept {
		if is(one.Question) {
			selected = append(slices.DeleteFunc(selected, func(q *runtime.Question) bool { return q.Instance == one.Instance }), one.Question)
		}
	}
	return selected
}

// matches reports whether a question has the id and the instance of the flags.
func (d *decision) matches(q *runtime.Question) bool {
	return (d.Instance == "" || d.Instance == q.Instance) && (d.ID == "" || d.ID == q.ID)
}

// about finds the questions that are meant, and returns the remaining arguments. Without the
// name of a call they are all.
func (d *decision) about(open []*runtime.Question, args []string) (about []*runtime.Question, rest []string, err error) {
	call := ""
	if len(args) > 0 && !(d.All && slices.Contains(verdicts, args[0])) {
		call, args = args[0], args[1:]
	}
	var names []string // each once, in the order of the questions
	for _, q := range open {
		name := q.Path()
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		if (call == "" || call == name || strings.HasPrefix(name, call+"[")) && d.matches(q) {
			about = append(about, q)
		}
	}
	switch {
	case len(about) == 0 && slices.Contains(verdicts, call):
		return nil, nil, usageErr("it isn't said which call it is to %s", call).Advise("name the call before it, or answer all that is asked with --all")
	case call != "" && !slices.ContainsFunc(names, func(name string) bool { return name == call || strings.HasPrefix(name, call+"[") }):
		err := usageErr("the run asks nothing about a call %q", call).Suggest(call, names)
		if len(names) == 0 {
			return nil, nil, err.Advise("nothing is asked; continue with obelus resume")
		}
		return nil, nil, err.Advise("it asks about %s", wording.Names(names, 5))
	case len(about) == 0 && (d.ID != "" || d.Instance != ""):
		return nil, nil, usageErr("what the run asks isn't that: no question has this --id or --instance").Advise("obelus decide without them shows what is asked")
	case len(about) == 0 && len(args) > 0:
		return nil, nil, usageErr("the run asks nothing")
	case len(about) > 1 && len(args) > 0 && !d.All:
		return nil, nil, usageErr("the run asks about %d calls of that name", len(about)).
			Advise("name one, such as %s, with --instance where several have the name, or answer all with --all", named(about[0]))
	}
	return about, args, nil
}

var verdicts = []string{"approve", "reject", "change", "replace", "retry", "fail"}

// verdict reads what is decided.
func (d *decision) verdict(c *cli, q *runtime.Question, args []string) (taken runtime.Decision, err error) {
	taken = runtime.Decision{Verdict: runtime.Verdict(args[0]), Reason: d.Reason, By: d.by}
	values := args[1:]
	switch taken.Verdict {
	case runtime.Change:
		if len(values) == 0 {
			return taken, usageErr("it isn't said what to change").Advise("name parameters with their values: change amount=5, or change @params.json for all of them")
		}
		taken.Params = maps.Clone(q.Params)
		given := &given{}
		for _, value := range values {
			if strings.HasPrefix(value, "@") {
				taken.Params = nil
			}
			if taken.Params, err = given.take(c, c.newReading(), taken.Params, "change", value); err != nil {
				return taken, err
			}
		}
		for key, text := range given.texts { // a parameter that is to be a text is what was written
			one := map[string]any{}
			maps.Copy(one, q.Params)
			if one[key] = taken.Params[key]; q.Unacceptable(one) != "" {
				if one[key] = text; q.Unacceptable(one) == "" {
					taken.Params[key] = text
				}
			}
		}
	case runtime.Replace:
		if len(values) != 1 {
			return taken, usageErr("it isn't said what to call instead").Advise("write a call as JSON, or @FILE: replace '{\"_tool\": \"refund\", \"amount\": 5}'")
		}
		taken.Replacement, err = c.replacement(values[0])
	case runtime.Approve, runtime.Reject, runtime.Retry, runtime.Fail:
		if len(values) > 0 {
			return taken, usageErr("%s takes nothing behind it, but got %q", taken.Verdict, values[0]).Advise("a reason is given with --reason")
		}
	default:
		return taken, usageErr("there is no answer %q: expected %s", args[0], wording.Or(verdicts)).Suggest(args[0], verdicts)
	}
	return taken, err
}

// replacement reads a call, in JSON or YAML.
func (c *cli) replacement(text string) (json.RawMessage, error) {
	name, isFile := strings.CutPrefix(text, "@")
	if !isFile {
		node, problems := source.Parse(source.NewFile("call.json", []byte(text)), source.DefaultLimits())
		if node == nil || node.Kind != source.Object || len(problems) > 0 {
			return nil, usageErr("that isn't a call: %s", text).Advise("write it as JSON: {\"_tool\": \"…\", …}")
		}
		return json.RawMessage(text), nil
	}
	call, err := c.mapping(c.newReading(), "replace", name)
	if err != nil {
		return nil, err
	}
	return json.Marshal(call)
}

// showQuestions shows questions, briefly or in full.
func (c *cli) showQuestions(list []*runtime.Question, p *project.Program, format string, full bool) error {
	if format == "json" {
		for _, q := range list {
			if err := diag.JSONLine(c.out, q); err != nil {
				return err
			}
		}
		return nil
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(c.out, "the run asks nothing")
		return err
	}
	render := terminal.NewRenderer(c.out, 0, toolsOf(p))
	text := render.Question
	if full {
		text = render.Full
	}
	for _, q := range list {
		if _, err := fmt.Fprint(c.out, text(q)); err != nil {
			return err
		}
	}
	return nil
}

func toolsOf(p *project.Program) func(*runtime.Question) *plan.Tool {
	return func(q *runtime.Question) *plan.Tool { return p.Tool(q.Delegate, q.Tool) }
}

// answers reads a file of them; they name their author, or else it is the one who runs
// the command.
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
		if all[i].By == "" {
			all[i].By = by
		}
	}
	return all, err
}
