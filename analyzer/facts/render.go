package facts

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/wording"
)

// Text is the facts for people who decide about a plan, the worst first. Nothing in the plan acts as a control sequence
// or a line of its own.
func (f *Facts) Text() string { return f.write(&sheet{}) }

// Markdown is Text for a pull request. Texts of the plan are written as code, which nothing in them ends.
func (f *Facts) Markdown() string { return f.write(&sheet{markdown: true}) }

// A sheet lays sections and items out.
type sheet struct {
	strings.Builder
	markdown bool
	most     int                 // how many characters of a text of the plan are shown; 0 is all
	runners  map[string][]string // by plan: the calls that run it
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
		if out[i] = s.code(text); text == Anything {
			out[i] = "anything"
		}
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
const (
	destroying = "Destroys, or may"
	leaving    = "Leaves the machine"
	writing    = "Writes"
	reading    = "Reads"
	delegating = "Runs another plan"
)

func (c *Call) group() string {
	switch {
	case c.Runs.Plan != "":
		return delegating
	case c.Effect.Kind == compiler.Writes:
		return writing
	case c.Effect.Kind == compiler.ReadOnly:
		return reading
	}
	return destroying
}

func (f *Facts) write(s *sheet) string {
	s.runners = map[string][]string{}
	for _, p := range f.plans() {
		for i := range p.facts.Calls {
			c := &p.facts.Calls[i]
			switch known := s.runners[c.Runs.Plan]; {
			case c.Runs.Plan == "" || len(known) > mostReached:
			case len(known) == mostReached:
				s.runners[c.Runs.Plan] = append(known, "others")
			default:
				s.runners[c.Runs.Plan] = append(known, join(p.path, c.Name))
			}
		}
	}
	for _, group := range []string{destroying, leaving, writing, reading, delegating} {
		started := false
		for _, p := range f.plans() {
			for i := range p.facts.Calls {
				c := &p.facts.Calls[i]
				if group != c.group() && (group != leaving || !c.Leaves()) {
					continue
				}
				if !started {
					s.heading(group)
				}
				started = true
				if group == leaving {
					s.item(0, "to "+s.code(c.Runs.Destination())+" by "+s.code(join(p.path, c.Name)))
				} else {
					s.call(c, p.path)
				}
			}
		}
	}
	if f.Planned {
		s.heading("A model plans with these tools")
		for i := range f.Tools {
			t := &f.Tools[i]
			s.call(&Call{Name: t.Name, Tool: t.Name, At: t.At, Effect: t.Effect, Runs: t.Runs}, "")
		}
	}
	if len(f.Output) > 0 {
		s.heading("Gives")
		s.rows(0, "", alone.values(newSide, f.Output))
	}
	s.heading("At worst")
	if len(f.Advisors) > 0 {
		s.row(0, "advised by", "", s.codes(f.Advisors))
	}
	for _, b := range f.Worst.bounds() {
		words := strings.Trim(string(b.node().value.Literal.Text), `"`)
		if len(b.Because) > 0 {
			words += " (" + s.code(strings.Join(b.Because, "; ")) + ")"
		}
		s.row(0, b.name, "", words)
	}
	return s.String()
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

func (s *sheet) call(c *Call, plan string) {
	head := s.code(join(plan, c.Name))
	if c.At != nil {
		head += s.at(c.At)
	}
	s.item(0, head)
	s.body(c, plan)
}

// alone is for the parts of calls that are compared with none.
var alone = &pair{comparison: &comparison{outer: [2]*Facts{{}, {}}}}

// body is all that a call of a plan does, below its name: the parts by which calls are compared, and what
// follows from them.
func (s *sheet) body(c *Call, plan string) {
	one := *c
	if c.Runs.Plan != "" {
		one.Effect = Effect{} // is that of the plan's calls
	}
	for _, of := range alone.parts(newSide, &one) {
		if !of.repeated {
			s.rows(1, of.name, of.of)
		}
	}
	claimedBy := ""
	if one.Effect.Untrusted {
		claimedBy = "the workspace, which isn't trusted"
	}
	if len(c.Runs.Unseen) > 0 {
		s.item(1, "runs shell code without \"files\": the digest doesn't cover the files that it uses")
	}
	held := c.Holds
	if c.HoldsMore > 0 {
		held = append(slices.Clone(held), wording.Count(c.HoldsMore, "more call"))
	}
	for _, row := range []struct {
		what  string
		texts []string
	}{
		{"effect declared by", []string{one.Effect.By}}, {"effect claimed by", []string{claimedBy}},
		{"folder", []string{c.Runs.Folder}}, {"definition", []string{string(c.Runs.Definition.Text)}},
		{"may hold what came from", held}, {"run by", s.runners[plan]},
	} {
		if texts := s.codes(row.texts); texts != "" {
			s.row(1, row.what, "", texts)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Labels)) {
		s.row(1, "label", name, c.Labels[name])
	}
	for _, condition := range c.Conditions {
		s.item(1, s.condition(condition))
	}
}

// rows are the values of a part, each in a line with its path.
func (s *sheet) rows(depth int, what string, n *node) {
	walk("", nil, n, func(path string, _, v *Value) { s.row(depth, what, path, s.side(v)) })
}

func (s *sheet) row(depth int, what, path, text string) {
	if words := strings.TrimSpace(what + " " + s.code(path)); words != "" {
		text = words + ": " + text
	}
	s.item(depth, text)
}

func (s *sheet) from(sources []Source) string {
	words := make([]string, len(sources))
	for i, source := range sources {
		words[i] = s.source(source)
	}
	return strings.Join(words, ", ")
}

func (s *sheet) at(p *Place) string {
	return fmt.Sprintf(" (%s:%d:%d)", s.code(p.File), p.Line, p.Column)
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

// side is a value, with the models that may have chosen it.
func (s *sheet) side(v *Value) string {
	if v == nil {
		return "nothing"
	}
	words := s.code(v.String())
	switch {
	case len(v.Sources) == 1 && v.Sources[0].Path == v.Expression:
		words = s.source(v.Sources[0])
	case len(v.Sources) > 0:
		words = strings.TrimPrefix(words+" from "+s.from(v.Sources), " from ")
	}
	if len(v.Models) > 0 {
		words += ", chosen by models: " + s.codes(v.Models)
	}
	return words
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

// String is a value as the plan has it.
func (v Value) String() string {
	if v.Literal.IsZero() {
		return v.Expression
	}
	return string(v.Literal.Text)
}
