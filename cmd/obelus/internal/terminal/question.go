package terminal

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime"
)

// A Renderer lays out questions as text. Every value is shown in full.
type Renderer struct {
	style Style
	width func() int                         // columns of a line
	tools func(*runtime.Question) *plan.Tool // the tool of a question, nil if unknown
}

// NewRenderer lays out text for a stream. A width of 0 is that of the stream's terminal.
func NewRenderer(stream any, width int, tools func(*runtime.Question) *plan.Tool) *Renderer {
	columns := func() int { return width }
	if width == 0 {
		columns = func() int { return columnsOf(stream) }
	}
	return &Renderer{style: StyleFor(stream), width: columns, tools: tools}
}

// Question returns a question with everything that an answer approves.
func (r *Renderer) Question(q *runtime.Question) string {
	s := r.style
	p := &block{width: r.width()}
	if q.Problem != "" {
		p.text(2, s.Red, "that answer can't be used: "+diag.Escape(q.Problem))
	}
	r.headline(p, q)
	p.gap()
	r.execution(p, q)
	if len(q.Params) == 0 {
		p.text(4, s.Faint, "without parameters")
	}
	for _, name := range slices.Sorted(maps.Keys(q.Params)) {
		r.value(p, visibly(name, ""), q.Params[name], sourcesOf(q, name))
	}
	p.gap()
	r.scopes(p, q)
	if text := effectsOnRun(q); text != "" {
		p.text(4, unpainted, text)
	}
	r.advice(p, q)
	if q.Reason != "" {
		p.text(4, unpainted, "the model's reason, which is not verified:")
		p.quote(4, q.Reason)
	}
	p.gap()
	return p.String()
}

// Full returns a question, and the description and the schema of its tool.
func (r *Renderer) Full(q *runtime.Question) string {
	p := &block{width: r.width()}
	var tool *plan.Tool
	if r.tools != nil {
		tool = r.tools(q)
	}
	if tool != nil && tool.Description != "" {
		p.text(4, r.style.Bold, "the tool's own description:")
		p.quote(4, tool.Description)
		p.gap()
	}
	if tool != nil && tool.Parameters != nil {
		p.text(4, r.style.Bold, "the schema of its parameters:")
		p.quote(4, JSON(tool.Parameters.Raw(), "  "))
		p.gap()
	}
	return r.Question(q) + p.String()
}

// headline is what is to be decided, the effects, and the tool.
func (r *Renderer) headline(p *block, q *runtime.Question) {
	s := r.style
	ask := "may " + Quoted(q.Path()) + " run?"
	if q.InFlight {
		ask = Quoted(q.Path()) + " had started when the run was interrupted; run it again?"
	}
	for i, line := range Fold(ask, p.width-4) {
		mark := " "
		if i == 0 {
			mark = s.Yellow("?")
		}
		p.row(2, mark+" "+s.Bold(line))
	}
	text, paint := effects(q, s)
	p.text(4, paint, text)
	for i, d := range q.Outside {
		if i == 0 {
			p.text(4, s.Red, "the approval doesn't cover it:")
		}
		p.text(6, s.Red, d.String())
	}
	if q.Wanted {
		p.text(4, unpainted, "the plan or a policy requires a person's answer")
	}
	if q.Uncertainty != "" {
		p.text(4, s.Yellow, diag.Escape(q.Uncertainty))
	}
	tool := toolOf(q)
	if q.Instance != "" {
		tool += ", for the instance " + Quoted(q.Instance)
	}
	p.text(4, unpainted, tool)
	if q.Replaces != "" {
		p.text(4, s.Yellow, "it replaces a call of "+Quoted(q.Replaces))
	}
}

// toolOf names the tool of a call and its activity.
func toolOf(q *runtime.Question) string {
	tool := "the tool " + Quoted(q.Tool)
	switch {
	case q.Runs.Kind == "plan" || q.Activity == q.Tool:
	case q.Activity == "":
		tool += ", whose result a model writes"
	default:
		tool += ", carried out by " + Quoted(q.Activity)
	}
	if q.Delegate != "" {
		tool += ", in the plan " + Quoted(q.Delegate)
	}
	return tool
}

// effects describes what a call may change, who declares that, and the colour for it.
func effects(q *runtime.Question, s Style) (text string, paint func(string) string) {
	switch q.Effects {
	case compiler.ReadOnly:
		text, paint = "it only reads", s.Green
	case compiler.Writes:
		text, paint = "it adds data and deletes none", s.Yellow
	case compiler.Destructive:
		text, paint = "it may change or delete data permanently", s.Red
	default:
		text, paint = "unknown effects", s.Yellow
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
	case q.Effects == compiler.Unknown:
		text += ": no trusted source describes this call"
	}
	claim := map[string]string{compiler.ReadOnly: "it only reads", compiler.Writes: "it deletes nothing"}[q.Claimed]
	switch {
	case claim == "":
	case q.Untrusted:
		text += "; " + diag.Escape(q.ClaimedBy) + " declares that " + claim + ", but the workspace isn't trusted (obelus trust)"
	default:
		text += "; the plan declares that " + claim + ", which has no effect"
	}
	if q.OpenWorld {
		text += "; it may reach other machines"
	}
	if q.InFlight {
		text = "it may have happened already, and would happen twice; " + text
	}
	return text, paint
}

// execution shows the program, request or expression that is started.
func (r *Renderer) execution(p *block, q *runtime.Question) {
	var text string
	var value any
	switch e := &q.Runs; e.Kind {
	case "exec":
		text, value = "it runs the program", e.Argv
		if e.Worker {
			text = "it calls the worker"
		}
	case "expr":
		text, value = "it computes the expression", e.Text
	case "plan":
		text, value = "it runs the plan", e.Text
	case "mcp":
		text, value = "it calls the tool "+visibly(e.Text, "")+" of the MCP server", e.URL
		if len(e.Argv) > 0 {
			value = e.Argv
		}
	case "http":
		if text = "it sends a request by " + e.Kind; e.URL != "" {
			text = "it sends " + diag.Escape(e.Method+" "+e.URL)
		}
		value = json.RawMessage(e.Text)
	case "go":
		text = "it calls a function of this program"
	default:
		return
	}
	if q.Runs.Folder != "" && q.Runs.Folder != "." {
		text += " in the folder " + visibly(q.Runs.Folder, "")
	}
	switch q.Runs.Stdin {
	case "":
	case compiler.StreamNone:
		text += ", with nothing on its standard input"
	default:
		text += ", with " + visibly(q.Runs.Stdin, "") + " on its standard input"
	}
	if q.Runs.Alone {
		text += ", in a context of its own"
	}
	if env := slices.Concat(q.Runs.Env, q.Runs.Inherit); len(env) > 0 {
		text += ", with " + visibly(env, "") + " in its environment"
	}
	if len(q.Runs.Headers) > 0 {
		text += ", with the headers " + visibly(q.Runs.Headers, "")
	}
	if q.Runs.Defined != "" {
		text += ", defined in " + diag.Escape(q.Runs.Defined)
	}
	if value == nil {
		p.text(4, unpainted, text)
	} else {
		p.text(4, unpainted, text+":")
		p.lines(6, jsonLines(value, p.width-6))
	}
	p.gap()
}

// scopes shows what a call receives besides its parameters.
func (r *Renderer) scopes(p *block, q *runtime.Question) {
	if q.Scopes == nil && len(q.Context) == 0 {
		return
	}
	var scopes []string
	for _, s := range q.Scopes {
		scopes = append(scopes, visibly(s.Scope, "")+writers(runtime.Source{Reference: s.Scope, From: s.From}))
	}
	text := "nothing"
	if len(scopes) > 0 {
		text = strings.Join(scopes, "; ")
	}
	p.text(4, unpainted, "besides its parameters it receives "+text)
	for _, kind := range slices.Sorted(maps.Keys(q.Context)) {
		r.value(p, visibly("†"+kind, ""), q.Context[kind], nil)
	}
	p.gap()
}

// effectsOnRun describes where the result is written, the attempts and the cost.
func effectsOnRun(q *runtime.Question) string {
	var all []string
	if len(q.Writes) > 0 {
		paths := make([]string, len(q.Writes))
		for i, path := range q.Writes {
			paths[i] = diag.Escape(path)
		}
		how := "it writes "
		if q.Method != "" {
			how = "it writes (by " + diag.Escape(q.Method) + ") "
		}
		all = append(all, how+wording.Or(paths))
	}
	if q.Attempts > 1 {
		all = append(all, fmt.Sprintf("it is attempted up to %d times", q.Attempts))
	}
	if q.Cost != 0 {
		all = append(all, "an attempt costs "+strconv.FormatFloat(q.Cost, 'g', 6, 64)+", as its tool declares")
	}
	return strings.Join(all, "; ")
}

// value shows a named value and its sources. Texts are quoted, so that "5" differs from 5.
func (r *Renderer) value(p *block, name string, value any, from []runtime.Source) {
	lines := jsonLines(value, p.width-6)
	if name += ":"; len(lines) == 1 && diag.Columns(name+" "+lines[0]) <= p.width-4 {
		p.row(4, r.style.Bold(name)+" "+lines[0])
	} else {
		for _, line := range wrapValue(name, p.width-4) {
			p.row(4, r.style.Bold(line))
		}
		p.lines(6, lines)
	}
	for _, source := range from {
		text := "← "
		if source.Param != "" {
			text += diag.Escape(source.Param) + " is "
		}
		if source.By != "" {
			text += "given by " + diag.Escape(source.By)
		} else {
			text += diag.Escape(source.Reference) + writers(source)
		}
		p.text(6, r.style.Faint, text)
	}
}

// sourcesOf lists the sources of a parameter and of its fields.
func sourcesOf(q *runtime.Question, name string) []runtime.Source {
	var all []runtime.Source
	for _, source := range q.Sources {
		if field, ok := strings.CutPrefix(source.Param, name); ok && (field == "" || field[0] == '.' || field[0] == '[') {
			source.Param = strings.TrimPrefix(field, ".")
			all = append(all, source)
		}
	}
	return all
}

// writers names the calls that wrote what a reference read.
func writers(source runtime.Source) string {
	var calls []string
	for _, from := range source.From {
		if !readsKind(source.Reference, from) { // else the value was there at the start
			calls = append(calls, Quoted(from))
		}
	}
	switch {
	case slices.Contains(source.From, "item"):
		return ", an item of the call's list"
	case slices.Contains(source.From, "index") && len(calls) == 0:
		return ", the index of the item in the list"
	case len(calls) == 0:
		return ", set at the start"
	}
	return ", written by " + wording.And(calls)
}

// readsKind reports whether a reference, or a text with references, reads a kind such as "input".
func readsKind(reference, kind string) bool {
	if strings.Contains(reference, "†"+kind) {
		return true
	}
	return slices.ContainsFunc(inBraces.FindAllString(reference, -1), func(text string) bool {
		return slices.ContainsFunc(firstWords.FindAllStringSubmatch(text, -1), func(word []string) bool { return word[1] == kind })
	})
}

var (
	inBraces   = regexp.MustCompile(`†\{[^}]*\}`)
	firstWords = regexp.MustCompile(`[^\pL\pN_.]([\pL_][\pL\pN_]*)`) // not behind a dot
)

// advice lists how the advisors rate the tools, the best first, with an arrow at the question's tool.
func (r *Renderer) advice(p *block, q *runtime.Question) {
	if len(q.Advice) == 0 {
		return
	}
	p.text(4, unpainted, "how the advisors rate the tools:")
	for _, rank := range q.Advice {
		mark, paint := " ", unpainted
		if rank.Tool == q.Tool {
			mark, paint = "→", r.style.Bold
		}
		text := diag.Escape(rank.Tool) + " " + weight(rank.Weight)
		for i, v := range rank.Votes {
			advisor := diag.Escape(v.Advisor)
			if v.Instance != "" {
				advisor += " of " + diag.Escape(v.Instance)
			}
			text += map[bool]string{true: ": ", false: ", "}[i == 0] + advisor + " " + weight(v.Weight)
		}
		for i, line := range Fold(text, p.width-6) {
			if i > 0 {
				mark = " "
			}
			p.row(4, mark+" "+paint(line))
		}
	}
}

func weight(of float64) string { return strconv.FormatFloat(of, 'g', 4, 64) }

// Differences shows how parameters were changed.
func (r *Renderer) Differences(before, after map[string]any) string {
	p := &block{width: r.width()}
	names := map[string]any{}
	maps.Copy(names, before)
	maps.Copy(names, after)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		was, had := before[name]
		is, has := after[name]
		if had && has && reflect.DeepEqual(was, is) {
			continue
		}
		for _, side := range []struct {
			paint func(string) string
			sign  string
			value any
			shown bool
		}{{r.style.Red, "- ", was, had}, {r.style.Green, "+ ", is, has}} {
			if side.shown {
				for _, line := range wrapValue(side.sign+visibly(name, "")+": "+visibly(side.value, ""), p.width-4) {
					p.row(4, side.paint(line))
				}
			}
		}
	}
	return p.String()
}
