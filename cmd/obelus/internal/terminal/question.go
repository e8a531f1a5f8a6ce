package terminal

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/effects"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime"
)

// mostDescription is how many characters of a tool's description a question shows.
const mostDescription = 1000

// Question is a question as text, with everything that an answer approves. Every value is shown in full.
func Question(q *runtime.Question, style Style, columns int) string {
	p := &block{Style: style, width: columns}
	again := map[bool]string{true: " again"}[q.InFlight]
	for i, line := range diag.Wrap("may "+Quoted(q.Path())+" run"+again+"?", p.width-4, continued) {
		p.row(2, []string{p.Yellow("?"), " "}[min(i, 1)]+" "+p.Bold(line))
	}
	paint := map[string]func(string) string{effects.ReadOnly: p.Green, effects.Destructive: p.Red}[q.Effects]
	if paint == nil {
		paint = p.Yellow
	}
	p.text(4, paint, Effects(q))
	for _, why := range reasons(q) {
		p.text(4, p.Red, why)
	}
	show := func(name string, value any) {
		text := visibly(value, "")
		if !slices.Contains([]string{`""`, "null", "[]", "0", `{"kind":""}`}, text) {
			p.text(4, unpainted, name+": "+text)
		}
	}
	show("tool", q.Tool)
	if q.Activity != q.Tool {
		show("carried out by", q.Activity)
	}
	show("in the plan", q.Delegate)
	show("for the instance", q.Instance)
	p.gap()
	runs, request := q.Runs, json.RawMessage(nil)
	switch runs.Kind {
	case "http":
		runs.Text, request = "", json.RawMessage(runs.Text)
	case "model":
		runs.Kind = ""
	}
	show("it runs", runs)
	show("with the request", request)
	p.gap()
	if len(q.Params) == 0 {
		p.text(4, p.Faint, "without parameters")
	}
	for _, name := range slices.Sorted(maps.Keys(q.Params)) {
		p.value(visibly(name, ""), q.Params[name])
		for _, source := range q.Sources {
			if strings.HasPrefix(source.Param+".", name+".") || strings.HasPrefix(source.Param, name+"[") {
				p.source(strings.TrimPrefix(strings.TrimPrefix(source.Param, name), "."), source)
			}
		}
	}
	p.gap()
	show("it receives besides", q.Scopes)
	for _, kind := range slices.Sorted(maps.Keys(q.Context)) {
		p.value(visibly("†"+kind, ""), q.Context[kind])
	}
	show("it writes", q.Writes)
	show("by the method", q.Method)
	if q.Attempts > 1 {
		show("attempts, at most", q.Attempts)
	}
	show("cost of an attempt, as its tool declares", q.Cost)
	for _, rank := range q.Advice {
		show("advice", rank)
	}
	p.quote("the model's reason, which is not verified:", q.Reason)
	if tool := q.Definition(); tool != nil {
		p.quote("the tool's own description:", wording.Cut(tool.Description, mostDescription))
	}
	p.gap()
	return p.String()
}

// Verdicts are the answers that a question offers.
func Verdicts(q *runtime.Question) []string {
	all := q.Verdicts()
	if len(q.Outside) > 0 {
		return all[:2]
	}
	return all
}

// reasons are why a person is asked, besides the effects of the call.
func reasons(q *runtime.Question) (all []string) {
	for _, d := range q.Outside {
		all = append(all, strings.TrimPrefix(d.String(), Quoted(d.Call)+": "))
	}
	if len(all) > 0 {
		all = []string{"the approval doesn't cover it: " + strings.Join(all, "; ")}
	}
	if q.Problem != "" {
		all = append(all, "the last answer can't be used: "+diag.Escape(q.Problem))
	}
	if q.Uncertainty != "" {
		all = append(all, diag.Escape(q.Uncertainty))
	}
	if q.Wanted {
		all = append(all, "the plan (_confirm) or a policy (person) requires a person's answer")
	}
	if q.Replaces != "" {
		all = append(all, "it replaces a call of "+Quoted(q.Replaces))
	}
	return all
}

// Reason is why a person is asked, on one line.
func Reason(q *runtime.Question) string { return cmp.Or(strings.Join(reasons(q), "; "), Effects(q)) }

// does is what a call of an effect may do.
var does = map[string]string{
	effects.ReadOnly: "it only reads", effects.Writes: "it adds data and deletes none",
	effects.Destructive: "it may change or delete data permanently",
}

// Effects describes what a call may change, and who declares that.
func Effects(q *runtime.Question) string {
	text := cmp.Or(does[q.Effects], "unknown effects")
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
	if claim := does[q.Claimed]; claim != "" {
		text += "; " + cmp.Or(diag.Escape(q.ClaimedBy), "a source") + " declares that " + claim + ", but isn't trusted"
		if q.Untrusted {
			text += " (obelus trust)"
		}
	}
	if q.OpenWorld {
		text += "; it may reach other machines"
	}
	if q.InFlight {
		text = "it had started when the run was interrupted: it may have happened, and would happen twice; " + text
	}
	return text
}

// value shows a named value. Texts are quoted, so that "5" differs from 5.
func (p *block) value(name string, value any) {
	lines := jsonLines(value, p.width-6)
	if name += ":"; len(lines) == 1 && diag.Columns(name+" "+lines[0]) <= p.width-4 {
		p.row(4, p.Bold(name)+" "+lines[0])
		return
	}
	p.text(4, p.Bold, name)
	for _, line := range lines {
		p.row(6, line)
	}
}

// source shows where a value, or a field of it, comes from.
func (p *block) source(field string, s runtime.Source) {
	text := "← "
	if field != "" {
		text += diag.Escape(field) + " is "
	}
	if text += diag.Escape(cmp.Or(s.Reference, "given by "+s.By)); len(s.From) > 0 {
		text += ", from " + visibly(s.From, "")
	}
	p.text(6, p.Faint, text)
}
