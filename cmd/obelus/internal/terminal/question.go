package terminal

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/effects"
	"github.com/obelus-dev/obelus/runtime"
)

// Question is a question as text, with everything that an answer approves. Every value is shown in full.
func Question(q *runtime.Question, style Style, columns int) string {
	p := &block{Style: style, width: columns}
	if q.Problem != "" {
		p.text(2, p.Red, "that answer can't be used: "+diag.Escape(q.Problem))
	}
	p.headline(q)
	show := func(name string, value any, known bool) {
		if known {
			p.text(4, unpainted, name+": "+visibly(value, ""))
		}
	}
	show("tool", q.Tool, true)
	show("carried out by", q.Activity, q.Activity != "" && q.Activity != q.Tool)
	show("in the plan", q.Delegate, q.Delegate != "")
	show("for the instance", q.Instance, q.Instance != "")
	show("in the place of a call of", q.Replaces, q.Replaces != "")
	p.gap()
	runs := q.Runs
	if runs.Kind == "http" {
		runs.Text = ""
	}
	show("it runs", runs, runs.Kind != "" && runs.Kind != "model")
	show("with the request", json.RawMessage(q.Runs.Text), runs.Kind == "http")
	p.gap()
	if len(q.Params) == 0 {
		p.text(4, p.Faint, "without parameters")
	}
	for _, name := range slices.Sorted(maps.Keys(q.Params)) {
		p.value(visibly(name, ""), q.Params[name], sourcesOf(q, name))
	}
	p.gap()
	show("it receives besides", q.Scopes, q.Scopes != nil)
	for _, kind := range slices.Sorted(maps.Keys(q.Context)) {
		p.value(visibly("†"+kind, ""), q.Context[kind], nil)
	}
	show("it writes", q.Writes, len(q.Writes) > 0)
	show("by the method", q.Method, q.Method != "")
	show("attempts, at most", q.Attempts, q.Attempts > 1)
	show("cost of an attempt, as its tool declares", q.Cost, q.Cost != 0)
	for _, rank := range q.Advice {
		show("advice", rank, true)
	}
	if q.Reason != "" {
		p.text(4, unpainted, "the model's reason, which is not verified:")
		p.quote(4, q.Reason)
	}
	p.gap()
	return p.String()
}

// Full is a question, and the description and the schema of its tool.
func Full(q *runtime.Question, style Style, columns int) string {
	p := &block{Style: style, width: columns}
	if tool := q.Definition(); tool != nil {
		p.section("the tool's own description:", tool.Description)
		if tool.Parameters != nil {
			p.section("the schema of its parameters:", JSON(tool.Parameters.Raw(), "  "))
		}
	}
	return Question(q, style, columns) + p.String()
}

// section adds a text that others have written, below a title.
func (p *block) section(title, text string) {
	if text != "" {
		p.text(4, p.Bold, title)
		p.quote(4, text)
		p.gap()
	}
}

// headline is what is to be decided, the effects, and the tool.
func (p *block) headline(q *runtime.Question) {
	ask := "may " + Quoted(q.Path()) + " run?"
	if q.InFlight {
		ask = Quoted(q.Path()) + " had started when the run was interrupted; run it again?"
	}
	for i, line := range diag.Wrap(ask, p.width-4, continued) {
		mark := " "
		if i == 0 {
			mark = p.Yellow("?")
		}
		p.row(2, mark+" "+p.Bold(line))
	}
	paint := map[string]func(string) string{effects.ReadOnly: p.Green, effects.Destructive: p.Red}[q.Effects]
	if paint == nil {
		paint = p.Yellow
	}
	p.text(4, paint, Effects(q))
	for i, d := range q.Outside {
		if i == 0 {
			p.text(4, p.Red, "the approval doesn't cover it:")
		}
		p.text(6, p.Red, d.String())
	}
	if q.Wanted {
		p.text(4, unpainted, "the plan or a policy requires a person's answer")
	}
	if q.Uncertainty != "" {
		p.text(4, p.Yellow, diag.Escape(q.Uncertainty))
	}
}

// Effects describes what a call may change, and who declares that.
func Effects(q *runtime.Question) string {
	text := "unknown effects"
	switch q.Effects {
	case effects.ReadOnly:
		text = "it only reads"
	case effects.Writes:
		text = "it adds data and deletes none"
	case effects.Destructive:
		text = "it may change or delete data permanently"
	}
	switch {
	case q.EffectsBy != "":
		text += ", declared by " + diag.Escape(q.EffectsBy)
	case q.Runs.Kind == "expr":
		text = "it computes a value and changes nothing"
	case q.Runs.Kind == "model":
		text = "a model writes its result, and nothing else is done"
	case q.Runs.Kind == "plan":
		text = "it does what the calls of its plan do"
	case q.Effects == effects.Unknown:
		text += ": no trusted source describes this call"
	}
	claim := map[string]string{effects.ReadOnly: "it only reads", effects.Writes: "it deletes nothing"}[q.Claimed]
	switch {
	case claim == "":
	case q.Untrusted:
		text += "; " + diag.Escape(q.ClaimedBy) + " declares that " + claim +
			", but the workspace isn't trusted (obelus trust)"
	default:
		text += "; what isn't trusted declares that " + claim + ", which has no effect"
	}
	if q.OpenWorld {
		text += "; it may reach other machines"
	}
	if q.InFlight {
		text = "it may have happened already, and would happen twice; " + text
	}
	return text
}

// value shows a named value and its sources. Texts are quoted, so that "5" differs from 5.
func (p *block) value(name string, value any, from []runtime.Source) {
	lines := jsonLines(value, p.width-6)
	if name += ":"; len(lines) == 1 && diag.Columns(name+" "+lines[0]) <= p.width-4 {
		p.row(4, p.Bold(name)+" "+lines[0])
	} else {
		p.text(4, p.Bold, name)
		for _, line := range lines {
			p.row(6, line)
		}
	}
	for _, source := range from {
		text := "← "
		if source.Param != "" {
			text += diag.Escape(source.Param) + " is "
		}
		if source.By != "" {
			text += "given by " + diag.Escape(source.By)
		} else {
			text += diag.Escape(source.Reference)
			if len(source.From) > 0 {
				text += ", from " + visibly(source.From, "")
			}
		}
		p.text(6, p.Faint, text)
	}
}

// sourcesOf lists the sources of a parameter and of its fields.
func sourcesOf(q *runtime.Question, name string) []runtime.Source {
	var all []runtime.Source
	for _, source := range q.Sources {
		if field, ok := strings.CutPrefix(source.Param, name); ok &&
			(field == "" || field[0] == '.' || field[0] == '[') {
			source.Param = strings.TrimPrefix(field, ".")
			all = append(all, source)
		}
	}
	return all
}
