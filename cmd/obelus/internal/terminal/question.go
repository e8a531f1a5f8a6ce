package terminal

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime"
)

// How much of a question is shown before somebody asks for more.
const (
	shownParams  = 12 // parameters
	shownSources = 3  // places that one of them comes from
	shownLines   = 3  // lines of a value, or of a model's reason
)

// A Sheet lays out for people what they are asked.
type Sheet struct {
	style Style
	width func() int
	tools func(*runtime.Question) *compiler.Tool // what is known of the tool in question; nil where nothing is
	more  string                                 // how all of it is had, behind what isn't shown whole
}

// moreByKey is what a person at a terminal types.
const moreByKey = "; ? shows all"

// NewSheet lays questions out for what is shown on a stream.
func NewSheet(stream any, tools func(*runtime.Question) *compiler.Tool) *Sheet {
	return &Sheet{style: StyleFor(stream), width: func() int { return columnsOf(stream) }, tools: tools}
}

// Unbroken lays out for what breaks lines itself.
func (l *Sheet) Unbroken() *Sheet {
	l.width = func() int { return 1000 }
	return l
}

// Brief is a question as it is first put, in a few lines, and how many of its values aren't shown completely.
func (l *Sheet) Brief(q *runtime.Question) (text string, hidden int) { return l.lay(q, false) }

// Full is a question with all there is to know: values in full, and what
// the tool says of itself.
func (l *Sheet) Full(q *runtime.Question) string {
	text, _ := l.lay(q, true)
	return text
}

func (l *Sheet) lay(q *runtime.Question, full bool) (text string, hidden int) {
	s := l.style
	p := &page{width: l.width()}
	if q.Problem != "" {
		p.text(2, s.Red, "that can't be taken: "+diag.Escape(q.Problem))
	}
	l.headline(p, q)
	p.gap()
	hidden += l.runs(p, q, full)
	hidden += l.params(p, q, full)
	p.gap()
	hidden += l.scopes(p, q, full)
	if words := account(q); words != "" {
		p.text(4, plainly, words)
	}
	l.advice(p, q, full)
	if q.Reason != "" {
		p.text(4, plainly, "the model's words, which nobody has checked:")
		most := shownLines
		if full {
			most = 0
		}
		p.quote(4, q.Reason, most)
	}
	if full {
		l.toolItself(p, q)
	}
	p.gap()
	return p.b.String(), hidden
}

// headline says what is to be decided and what hangs on it.
func (l *Sheet) headline(p *page, q *runtime.Question) {
	s := l.style
	ask := "may " + Quoted(q.Path()) + " run?"
	if q.InFlight {
		ask = Quoted(q.Path()) + " was at work when the run broke off; run it again?"
	}
	for i, line := range Fold(ask, p.width-4) {
		mark := " "
		if i == 0 {
			mark = s.Yellow("?")
		}
		p.line(2, mark+" "+s.Bold(line))
	}
	words, paint := effectsInWords(q, s)
	p.text(4, paint, words)
	for i, d := range q.Outside {
		if i == 0 {
			p.text(4, s.Red, "it leaves what was approved:")
		}
		p.text(6, s.Red, d.String())
	}
	if q.Wanted {
		p.text(4, plainly, "the plan itself or a policy has a person asked about it")
	}
	if q.Doubt != "" {
		p.text(4, s.Yellow, diag.Escape(q.Doubt))
	}
	tool := toolOf(q)
	if q.Instance != "" {
		tool += ", for the instance " + Quoted(q.Instance)
	}
	p.text(4, plainly, tool)
	if q.Replaces != "" {
		p.text(4, s.Yellow, "in the place of a call of "+Quoted(q.Replaces))
	}
}

// toolOf says what a call is of, and what carries it out.
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

// effectsInWords says what a call may do to the world, who says so, and how
// worrying that is.
func effectsInWords(q *runtime.Question, s Style) (words string, paint func(string) string) {
	switch q.Effects {
	case compiler.ReadOnly:
		words, paint = "it only reads", s.Green
	case compiler.Writes:
		words, paint = "it adds things and destroys none", s.Yellow
	case compiler.Destructive:
		words, paint = "it may change or delete things for good", s.Red
	default:
		words, paint = "it may do anything", s.Yellow
	}
	switch {
	case q.EffectsBy != "":
		words += ", says " + diag.Escape(q.EffectsBy)
	case q.Runs.Kind == "expr":
		words = "it computes a value and changes nothing"
	case q.Runs.Kind == "model":
		words = "a model writes its result, and nothing else is done"
	case q.Runs.Kind == "plan":
		words = "it does what the calls of its plan do"
	case q.Effects == compiler.Unknown:
		words += ": nobody says what it does whose word counts"
	}
	claim := map[string]string{compiler.ReadOnly: "it only reads", compiler.Writes: "it destroys nothing"}[q.Claimed]
	switch {
	case claim == "":
	case q.Untrusted:
		words += "; " + diag.Escape(q.ClaimedBy) + " says that " + claim + ", but the workspace isn't trusted (obelus trust)"
	default:
		words += "; the plan says that " + claim + ", which doesn't count"
	}
	if q.OpenWorld {
		words += "; it may reach beyond this machine"
	}
	if q.InFlight {
		words = "it may have happened already, and would then happen twice; " + words
	}
	return words, paint
}

// runs says what is started.
func (l *Sheet) runs(p *page, q *runtime.Question, full bool) (hidden int) {
	var what string
	var value any
	switch e := &q.Runs; e.Kind {
	case "exec":
		what, value = "it runs the program", e.Argv
		if e.Worker {
			what = "it asks the worker"
		}
	case "expr":
		what, value = "it computes the expression", e.Text
	case "plan":
		what, value = "it runs the plan", e.Text
	case "mcp":
		what, value = "it calls the tool "+visibly(e.Text, "")+" of the MCP server", e.URL
		if len(e.Argv) > 0 {
			value = e.Argv
		}
	case "http":
		if what = "it sends a request by " + e.Kind; e.URL != "" {
			what = "it sends " + diag.Escape(e.Method+" "+e.URL)
		}
		value = json.RawMessage(e.Text)
	case "go":
		what = "it calls a function of this program"
	default:
		return 0
	}
	if q.Runs.Folder != "" && q.Runs.Folder != "." {
		what += " in the folder " + visibly(q.Runs.Folder, "")
	}
	switch q.Runs.Stdin {
	case "":
	case compiler.StreamNone:
		what += ", with nothing on its standard input"
	default:
		what += ", with " + visibly(q.Runs.Stdin, "") + " on its standard input"
	}
	if q.Runs.Alone {
		what += ", in a context of its own"
	}
	if given := slices.Concat(q.Runs.Env, q.Runs.Inherit); len(given) > 0 {
		what += ", with " + visibly(given, "") + " in its environment"
	}
	if len(q.Runs.Headers) > 0 {
		what += ", with the headers " + visibly(q.Runs.Headers, "")
	}
	if q.Runs.Defined != "" {
		what += ", defined in " + diag.Escape(q.Runs.Defined)
	}
	if value != nil {
		what += ":"
	}
	p.text(4, plainly, what)
	if value != nil {
		lines, whole := inLines(value, p.width-6, full)
		for _, line := range lines {
			p.line(6, line)
		}
		if !whole {
			hidden = 1
			p.text(6, l.style.Faint, "it goes on"+l.more)
		}
	}
	p.gap()
	return hidden
}

// scopes shows what a call is given besides its parameters.
func (l *Sheet) scopes(p *page, q *runtime.Question, full bool) (hidden int) {
	if q.Scopes == nil && len(q.Context) == 0 {
		return 0
	}
	var parts []string
	for _, s := range q.Scopes {
		parts = append(parts, visibly(s.Scope, "")+fromWhom(runtime.Source{Reference: s.Scope, From: s.From}))
	}
	if len(parts) == 0 {
		p.text(4, plainly, "it is given nothing besides")
		p.gap()
		return 0
	}
	p.text(4, plainly, "besides, it is given "+strings.Join(parts, "; "))
	given := map[string]any{}
	for kind, value := range q.Context {
		given["†"+kind] = value
	}
	names := slices.Sorted(maps.Keys(given))
	column := nameColumn(p, names)
	for _, name := range names {
		if !l.param(p, column, name, given[name], nil, full) {
			hidden++
		}
	}
	p.gap()
	return hidden
}

// account says where the result goes and what a try costs.
func account(q *runtime.Question) string {
	var parts []string
	if len(q.Writes) > 0 {
		paths := make([]string, len(q.Writes))
		for i, path := range q.Writes {
			paths[i] = diag.Escape(path)
		}
		how := "it writes "
		if q.Method != "" {
			how = "it writes (by " + diag.Escape(q.Method) + ") "
		}
		parts = append(parts, how+wording.Or(paths))
	}
	if q.Attempts > 1 {
		parts = append(parts, fmt.Sprintf("it is tried up to %d times", q.Attempts))
	}
	if q.Cost != 0 {
		parts = append(parts, "a try costs "+strconv.FormatFloat(q.Cost, 'g', 6, 64)+", says its tool")
	}
	return strings.Join(parts, "; ")
}

// params lists the resolved parameters, each with where it comes from.
func (l *Sheet) params(p *page, q *runtime.Question, full bool) (hidden int) {
	names := slices.Sorted(maps.Keys(q.Params))
	if len(names) == 0 {
		p.text(4, l.style.Faint, "without parameters")
	}
	if !full && len(names) > shownParams {
		hidden = len(names) - shownParams
		names = names[:shownParams]
	}
	left := hidden
	column := nameColumn(p, names)
	for _, name := range names {
		if !l.param(p, column, name, q.Params[name], sourcesOf(q, name), full) {
			hidden++
		}
	}
	if left > 0 {
		p.text(4, l.style.Faint, "and "+wording.Count(left, "more parameter")+l.more)
	}
	return hidden
}

// nameColumn is how wide names are shown, their colon included.
func nameColumn(p *page, names []string) int {
	widest := 0
	for _, name := range names {
		widest = max(widest, diag.Columns(label(name)))
	}
	return 1 + min(widest, max(8, p.width/4))
}

// label is a name as it is shown: in quotes, as JSON, where it holds what else
// couldn't be told apart.
func label(name string) string {
	shown := visibly(name, "")
	if shown != `"`+name+`"` || strings.TrimSpace(name) != name || name == "" || name[0] == '"' {
		return shown
	}
	return name
}

// param shows one value and where it comes from, and reports whether all of it is
// shown. Text is in quotes, so that "5" isn't 5.
func (l *Sheet) param(p *page, column int, name string, value any, from []runtime.Source, full bool) (whole bool) {
	s := l.style
	name = label(name)
	indent := 4 + column + 1
	room := p.width - indent
	lines, whole := inLines(value, room, full)
	if diag.Columns(name) >= column && full || full && len(lines) > 1 {
		p.text(4, s.Bold, name+":")
		lines, _ = inLines(value, p.width-6, true)
		for _, line := range lines {
			p.line(4, "│ "+line)
		}
		l.origins(p, 6, from, full)
		return true
	}
	if len(from) == 1 && from[0].Param == "" && len(lines) == 1 {
		if words := "  " + inWords(from[0]); diag.Columns(lines[0]+words) <= room {
			lines[0] += s.Faint(words)
			from = nil
		}
	}
	label := Cut(name, column-1) + ":"
	for i, line := range lines {
		if i == 0 {
			p.line(4, s.Bold(label)+strings.Repeat(" ", column-diag.Columns(label)+1)+line)
		} else {
			p.line(indent, line)
		}
	}
	if !whole {
		p.text(indent, s.Faint, wording.Count(utf8.RuneCountInString(JSON(value, "")), "character")+" in all; ? shows them")
	}
	l.origins(p, indent, from, full)
	return whole && diag.Columns(name) < column
}

// sourcesOf lists where a parameter and what is in it come from.
func sourcesOf(q *runtime.Question, name string) []runtime.Source {
	var there []runtime.Source
	for _, source := range q.Sources {
		if inside, ok := strings.CutPrefix(source.Param, name); ok && (inside == "" || inside[0] == '.' || inside[0] == '[') {
			source.Param = strings.TrimPrefix(inside, ".")
			there = append(there, source)
		}
	}
	return there
}

// origins says where a parameter comes from.
func (l *Sheet) origins(p *page, indent int, from []runtime.Source, full bool) {
	for i, source := range from {
		if !full && i == shownSources {
			p.text(indent, l.style.Faint, "← and "+wording.Count(len(from)-i, "more place")+l.more)
			return
		}
		p.text(indent, l.style.Faint, inWords(source))
	}
}

func inWords(source runtime.Source) string {
	words := "← "
	if source.Param != "" {
		words += diag.Escape(source.Param) + " is "
	}
	if source.By != "" {
		return words + "given by " + diag.Escape(source.By)
	}
	return words + diag.Escape(source.Reference) + fromWhom(source)
}

// fromWhom says who wrote what a reference read.
func fromWhom(source runtime.Source) string {
	var calls []string
	for _, from := range source.From {
		if !names(source.Reference, from) { // else it was there from the start, and the reference says where
			calls = append(calls, Quoted(from))
		}
	}
	switch {
	case slices.Contains(source.From, "item"):
		return ", of the list that the call runs over"
	case slices.Contains(source.From, "index") && len(calls) == 0:
		return ", the place of the item in the list"
	case len(calls) == 0:
		return ", there from the start"
	}
	return ", written by " + wording.And(calls)
}

// names reports whether a reference, or a text with some in it, reads a kind.
func names(reference, kind string) bool {
	if strings.Contains(reference, "†"+kind) {
		return true
	}
	return slices.ContainsFunc(inBraces.FindAllString(reference, -1), func(text string) bool {
		return slices.ContainsFunc(firstWords.FindAllStringSubmatch(text, -1), func(word []string) bool { return word[1] == kind })
	})
}

var (
	inBraces   = regexp.MustCompile(`†\{[^}]*\}`)
	firstWords = regexp.MustCompile(`[^\pL\pN_.]([\pL_][\pL\pN_]*)`) // that no dot is before
)

// toolItself adds what is known of the tool.
func (l *Sheet) toolItself(p *page, q *runtime.Question) {
	if l.tools == nil {
		return
	}
	tool := l.tools(q)
	if tool == nil {
		return
	}
	s := l.style
	if tool.Description != "" {
		p.gap()
		p.text(4, s.Bold, "the tool says of itself:")
		p.quote(4, tool.Description, 0)
	}
	if tool.Parameters != nil {
		p.gap()
		p.text(4, s.Bold, "the schema of its parameters:")
		p.quote(4, JSON(tool.Parameters.Raw(), "  "), 0)
	}
}
