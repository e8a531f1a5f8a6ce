package facts

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/wording"
)

// Text is the facts for people who decide about a plan: first what destroys, then what
// leaves the machine and to where, then what writes and what reads, and the worst case.
// Nothing in the plan acts as a control sequence or a line of its own.
func (f *Facts) Text() string { return f.write(&sheet{}) }

// Markdown is Text for a pull request. Texts of the plan are written as code, which nothing in them ends.
func (f *Facts) Markdown() string { return f.write(&sheet{markdown: true}) }

// A sheet lays sections and items out.
type sheet struct {
	strings.Builder
	markdown bool
	most     int                 // how many characters of a text of the plan are shown; 0 is all
	in       string              // the plan whose calls are shown
	runners  map[string][]runner // by the plan that they run
	failing  map[string][]string // what the failure of a call may set off, by plan and call
}

// A runner is a call that runs another plan, and the plan that it is in.
type runner struct {
	plan string
	call *Call
}

func (s *sheet) heading(words string) {
	if s.Len() > 0 {
		s.WriteByte('\n')
	}
	if s.markdown {
		s.WriteString("### " + words + "\n\n")
		return
	}
	s.WriteString(words + "\n")
}

// item is a line at a depth from 0.
func (s *sheet) item(depth int, words string) {
	if s.markdown {
		s.WriteString(strings.Repeat("  ", depth) + "- " + words + "\n")
		return
	}
	s.WriteString(strings.Repeat("  ", depth+1) + words + "\n")
}

// code is text of the plan.
func (s *sheet) code(text string) string {
	if s.most > 0 {
		text = wording.Cut(text, s.most)
	}
	if s.markdown {
		return diag.MarkdownCode(text)
	}
	return diag.Escape(text)
}

// codes are texts of the plan with a comma between them.
func (s *sheet) codes(texts []string) string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = s.code(text)
	}
	return strings.Join(out, ", ")
}

// within is a plan, and where it stands.
type within struct {
	path  string // "" for the outermost
	facts *Facts
}

// plans are the plan and those that are run as its calls, each once.
func (f *Facts) plans() []within {
	all := []within{{"", f}}
	for _, path := range slices.Sorted(maps.Keys(f.Delegates)) {
		all = append(all, within{path, f.Delegates[path]})
	}
	return all
}

// join is a call with the plan that it is in.
func join(plan, call string) string {
	if plan == "" {
		return call
	}
	return plan + ": " + call
}

// The groups in which calls are shown, in their order.
var groups = []struct {
	heading string
	kinds   []string
}{
	{"Destroys, or may", []string{compiler.Destructive, compiler.Unknown}},
	{"Writes", []string{compiler.Writes}},
	{"Reads", []string{compiler.ReadOnly}},
}

func (f *Facts) write(s *sheet) string {
	plans := f.plans()
	s.runners, s.failing = map[string][]runner{}, map[string][]string{}
	for _, p := range plans {
		for i := range p.facts.Calls {
			c := &p.facts.Calls[i]
			if c.Runs.Plan != "" {
				s.runners[c.Runs.Plan] = append(s.runners[c.Runs.Plan], runner{p.path, c})
			}
			for _, on := range c.Conditions {
				at := join(p.path, on.Text)
				if then := s.failing[at]; on.More == failing && (len(then) == 0 || then[len(then)-1] != c.Name) {
					s.failing[at] = append(then, c.Name)
				}
			}
		}
	}
	for i, group := range groups {
		s.calls(group.heading, plans, func(c *Call) bool {
			return c.Runs.Plan == "" && slices.Contains(group.kinds, c.Effect.Kind)
		}, (*sheet).call)
		if i == 0 {
			s.calls("Leaves the machine", plans, func(c *Call) bool { return c.Leaves() }, (*sheet).leaving)
		}
	}
	s.calls("Runs another plan", plans, func(c *Call) bool { return c.Runs.Plan != "" }, (*sheet).call)
	if f.Planned {
		s.heading("A model plans with these tools")
		for _, t := range f.Tools {
			s.item(0, s.code(t.Name)+": "+s.effect(t.Effect)+"; "+s.runs(&t.Runs))
			s.unseen(&t.Runs)
		}
	}
	if len(f.Output) > 0 {
		s.heading("Gives")
		s.values(0, f.Output)
	}
	s.worst(f)
	return s.String()
}

// calls shows the calls of one section.
func (s *sheet) calls(heading string, plans []within, belongs func(*Call) bool, show func(*sheet, *Call, string)) {
	started := false
	for _, p := range plans {
		for i := range p.facts.Calls {
			c := &p.facts.Calls[i]
			if !belongs(c) {
				continue
			}
			if !started {
				started = true
				s.heading(heading)
			}
			s.in = p.path
			show(s, c, join(p.path, c.Name))
		}
	}
}

// Leaves reports whether what the call is given may leave the machine: to a program, an address or a server, or to a
// model.
func (c *Call) Leaves() bool {
	return c.Runs.Plan == "" && (c.Effect.OpenWorld || c.Runs.Kind == Model)
}

// oneWord is an argument of a program that nobody can take for several.
var oneWord = regexp.MustCompile(`^[^\s\pZ\pC"'\\]+$`)

// Destination is where to, in words: a program, an address, a tool of a server, a model.
func (e *Execution) Destination() string {
	switch {
	case e.Kind == "mcp" && e.Text != "":
		server := *e
		server.Text = ""
		return e.Text + " of " + server.Destination()
	case len(e.Program) > 0:
		words := make([]string, len(e.Program))
		for i, argument := range e.Program {
			if words[i] = argument; !oneWord.MatchString(argument) {
				words[i] = strconv.Quote(argument)
			}
		}
		return strings.Join(words, " ")
	case e.URL != "":
		return strings.TrimSpace(e.Method + " " + e.URL)
	case e.Kind == Model:
		return "a model"
	case e.Kind == "expr":
		return e.Text
	case e.Plan != "":
		return e.Plan
	case !e.Definition.IsZero():
		return e.Kind + " " + string(e.Definition.Text)
	}
	return strings.TrimSpace(e.Kind + " " + e.Activity)
}

func (s *sheet) call(c *Call, name string) {
	head := s.code(name)
	if c.ID != "" {
		head += " of " + s.code(c.Tool)
	}
	if c.At != nil {
		head += s.at(c.At)
	}
	s.item(0, head)
	s.body(c)
}

// body is all that a call does, below its name.
func (s *sheet) body(c *Call) {
	if c.Runs.Plan == "" {
		s.item(1, "effect: "+s.effect(c.Effect))
	}
	s.item(1, "runs "+s.runs(&c.Runs))
	if !c.Produced.IsZero() && c.Runs.Kind == Produced {
		s.item(1, "result: "+s.code(string(c.Produced.Text)))
	}
	s.unseen(&c.Runs)
	s.conditions(c)
	s.values(1, c.Values)
	s.context(c)
	if len(c.Writes) > 0 {
		routes := make([]string, len(c.Writes))
		for i, route := range c.Writes {
			routes[i] = s.codes(route)
		}
		method := ""
		if c.Method != "" {
			method = " (" + c.Method + ")"
		}
		s.item(1, "writes "+strings.Join(routes, " or ")+method)
	}
	if c.Each != nil {
		s.item(1, fmt.Sprintf("at most %s", wording.Count(c.Each.Most, "time")))
	}
	if c.Tries > 1 {
		s.item(1, fmt.Sprintf("tried up to %d times", c.Tries))
	}
	if c.Timeout != "" {
		s.item(1, "stopped after "+c.Timeout)
	}
	if c.Confirm {
		s.item(1, s.asked(c, s.in))
	}
	if c.Reason != "" {
		s.item(1, "reason given: "+s.code(c.Reason))
	}
}

// asked says that a person is asked about a call of a plan, and which calls a no may set off: those
// that wait for its failure and, where the call has no failure route, those that wait for the
// failure of a call that runs its plan.
func (s *sheet) asked(c *Call, plan string) string {
	left := mostRunners
	failures := s.setsOff(c, plan, "", &left)
	if len(failures) == 0 {
		return "a person is asked"
	}
	return "a person is asked; a no, like a failure, may set off " + strings.Join(failures, "; ")
}

// setsOff are the calls that the failure of another may set off, first those beside it; why follows behind these.
func (s *sheet) setsOff(c *Call, plan, why string, left *int) (failures []string) {
	if c.Each != nil && c.Each.Collect || *left < 0 {
		return nil // the list has the failure
	}
	if then := s.failing[join(plan, c.Name)]; len(then) > 0 {
		failures = append(failures, s.codes(then)+why)
	}
	if len(c.Writes) < 2 { // nothing takes it
		for _, r := range s.runners[plan] {
			*left--
			failures = append(failures, s.setsOff(r.call, r.plan, ", since "+s.code(join(r.plan, r.call.Name))+" fails",
				left)...)
		}
	}
	return failures
}

// unseen reports a shell whose code may use files that the digest doesn't cover.
func (s *sheet) unseen(e *Execution) {
	if len(e.Unseen) > 0 {
		s.item(1, "runs shell code without \"files\": the digest doesn't cover the files that it uses")
	}
}

func (s *sheet) context(c *Call) {
	if len(c.Context) > 0 {
		s.item(1, "sees "+s.from(c.Context))
	}
}

func (s *sheet) from(sources []Source) string {
	words := make([]string, len(sources))
	for i, source := range sources {
		words[i] = s.source(source)
	}
	return strings.Join(words, ", ")
}

// leaving shows where to the values of a call go.
func (s *sheet) leaving(c *Call, name string) {
	s.item(0, "to "+s.code(c.Runs.Destination())+" by "+s.code(name))
	s.conditions(c)
	s.values(1, c.Values)
	s.context(c)
	if len(c.Labels) > 0 {
		s.item(1, "labels: "+s.labels(c))
	}
	switch {
	case slices.Contains(c.Holds, Anything):
		s.item(1, "may hold anything")
	case c.HoldsMore > 0:
		s.item(1, fmt.Sprintf("may hold what came from %s, and %s more", s.codes(c.Holds),
			wording.Count(c.HoldsMore, "call")))
	case len(c.Holds) > 0:
		s.item(1, "may hold what came from "+s.codes(c.Holds))
	}
}

func (s *sheet) at(p *Place) string {
	return fmt.Sprintf(" (%s:%d:%d)", s.code(p.File), p.Line, p.Column)
}

func (s *sheet) effect(e Effect) string {
	var words string
	switch e.Kind {
	case compiler.Destructive:
		words = "destroys"
	case compiler.Unknown:
		words = "unknown; nobody whose word counts says what it does"
	case compiler.Writes:
		words = "writes, and destroys nothing"
	default:
		words = "changes nothing"
	}
	if e.By != "" {
		words += ", says " + s.code(e.By)
	}
	if e.Untrusted {
		words += fmt.Sprintf(" (the workspace says that it is %s, but isn't trusted)", e.Claimed)
	} else if e.Claimed != "" {
		words += fmt.Sprintf(" (the plan says of itself: %s, which doesn't count)", e.Claimed)
	}
	return words
}

func (s *sheet) runs(e *Execution) string {
	var words string
	switch {
	case e.Kind == Model:
		words = "a model, which makes the result up"
	case e.Kind == Produced:
		words = "nothing: its result stands there"
	case e.Kind == "expr":
		words = "the expression " + s.code(e.Text)
	case e.Kind == compiler.Unknown:
		words = "an activity that isn't defined, " + s.code(e.Activity)
	case e.Kind == "go":
		words = "a function of the program that runs the plan, " + s.code(e.Activity)
	default:
		words = s.code(e.Destination())
		if e.Folder != "" && e.Folder != "." {
			words += " in " + s.code(e.Folder)
		}
		if extra := beside(e); extra != "" {
			words += " with " + s.code(extra)
		}
		if e.Activity != "" {
			words += ", as " + s.code(e.Activity) + " says"
		}
	}
	if e.Defined != nil {
		words += s.at(e.Defined)
	}
	if e.Alone {
		words += ", in a context of its own"
	}
	return words
}

// beside is what of a definition the destination doesn't tell.
func beside(e *Execution) string {
	if e.Definition.IsZero() {
		return ""
	}
	definition := e.Definition.value()
	object, _ := definition.(map[string]any)
	own, _ := object[e.Kind].(map[string]any)
	if e.Kind == "mcp" {
		own, _ = object["server"].(map[string]any)
	}
	for _, key := range []string{"argv", "command", "cwd", "method", "url"} {
		delete(own, key)
	}
	if len(own) == 0 {
		return ""
	}
	return string(asJSON(own))
}

// mostRunners is how many calls that run a plan are listed, those of the plans around them included, and deepest is how
// far up.
const (
	mostRunners = 24
	deepest     = 8
)

// conditions shows what must hold for a call to run: first, for a call of a delegate, by
// which calls that is run, and on which conditions.
func (s *sheet) conditions(c *Call) {
	left := mostRunners
	s.runBy(s.in, 1, &left)
	for _, condition := range c.Conditions {
		s.item(1, s.condition(condition))
	}
}

func (s *sheet) runBy(plan string, depth int, left *int) {
	words := "run by "
	for i, r := range s.runners[plan] {
		if *left == 0 || depth > deepest {
			s.item(depth, fmt.Sprintf("or by %s more, under conditions of theirs",
				wording.Count(len(s.runners[plan])-i, "call")))
			return
		}
		*left--
		s.item(depth, words+s.code(join(r.plan, r.call.Name)))
		s.runBy(r.plan, depth+1, left)
		for _, condition := range r.call.Conditions {
			s.item(depth+1, s.condition(condition))
		}
		if r.call.Confirm {
			s.item(depth+1, s.asked(r.call, r.plan))
		}
		words = "or run by "
	}
}

func (s *sheet) condition(c Condition) string {
	words := c.Words
	for _, part := range []string{s.code(c.Text), c.More, s.code(c.Path)} {
		if part != "" {
			words += " " + part
		}
	}
	return words
}

func (s *sheet) values(depth int, values []Value) {
	for _, v := range values {
		words := ""
		if v.Path != "" {
			words = s.code(v.Path) + ": "
		}
		if !v.Literal.IsZero() {
			s.item(depth, words+s.code(string(v.Literal.Text)))
			continue
		}
		if len(v.Sources) == 1 && v.Sources[0].Path == v.Expression {
			words += s.source(v.Sources[0])
		} else if words += s.code(v.Expression); len(v.Sources) > 0 {
			words += " from " + s.from(v.Sources)
		}
		s.item(depth, words+s.chosen(v.Models))
	}
}

// chosen says which models may have chosen a value.
func (s *sheet) chosen(models []string) string {
	switch {
	case len(models) == 0:
		return ""
	case slices.Contains(models, Anything):
		return ", chosen by models"
	case len(models) == 1:
		return ", chosen by " + s.code(models[0]) + ", a model"
	}
	return ", chosen by " + s.codes(models) + ", models"
}

// source is a path with the calls that may have written it.
func (s *sheet) source(source Source) string {
	if source.Path == OtherKinds {
		return "all other messages of the context"
	}
	words := s.code(source.Path)
	var who []string
	if len(source.Calls) > 0 {
		who = append(who, s.codes(source.Calls))
	}
	if source.More > 0 {
		who = append(who, fmt.Sprintf("%d more", source.More))
	}
	if source.Start && len(who) > 0 {
		who = append(who, "the start")
	}
	if len(who) > 0 {
		words += " (" + strings.Join(who, ", ") + ")"
	}
	return words
}

func (s *sheet) worst(f *Facts) {
	s.heading("At worst")
	models := 0
	for _, p := range f.plans() {
		for i := range p.facts.Calls {
			if p.facts.Calls[i].Runs.Kind == Model {
				models++
			}
		}
	}
	if models > 0 {
		s.item(0, wording.Count(models, "call")+" answered by a model")
	}
	if len(f.Advisors) > 0 {
		s.item(0, "advised by "+s.codes(f.Advisors))
	}
	number := func(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
	seconds := func(n float64) string {
		if n > math.MaxInt64/float64(time.Second) {
			return number(n) + "s"
		}
		return time.Duration(n * float64(time.Second)).String()
	}
	for _, b := range []struct {
		what string
		of   Bound
		show func(float64) string
	}{
		{"calls", f.Worst.Calls, number}, {"tries", f.Worst.Tries, number}, {"requests to the model that plans",
			f.Worst.Ticks, number},
		{"cost", f.Worst.Cost, number}, {"time", f.Worst.Time, seconds},
	} {
		words := b.what + ": unbounded"
		if b.of.Most != nil {
			words = b.what + ": " + b.show(*b.of.Most)
		}
		if len(b.of.Because) > 0 {
			words += " (" + s.code(strings.Join(b.of.Because, "; ")) + ")"
		}
		s.item(0, words)
	}
}

// String is a value as the plan has it.
func (v Value) String() string {
	if v.Literal.IsZero() {
		return v.Expression
	}
	return string(v.Literal.Text)
}
