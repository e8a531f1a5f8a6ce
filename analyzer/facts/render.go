package facts

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/effects"
	"github.com/obelus-dev/obelus/compiler/wording"
)

// codes are texts of the plan, escaped, with a comma between them.
func codes(texts []string) string {
	out := make([]string, len(texts))
	for i, text := range texts {
		if out[i] = diag.Escape(text); text == Anything {
			out[i] = "anything"
		}
	}
	return strings.Join(out, ", ")
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
	writing    = "Writes"
	reading    = "Reads"
	delegating = "Runs another plan"
	planning   = "A model plans with these tools"
)

func (c *Call) group() string {
	switch {
	case c.Runs.Plan != "":
		return delegating
	case c.Effect.Kind == effects.Writes:
		return writing
	case c.Effect.Kind == effects.ReadOnly:
		return reading
	}
	return destroying
}

// Details are all facts for people who decide about a plan, the worst calls first.
func (f *Facts) Details() (all Rows) {
	by := map[string]Rows{"Output": rowsOf("", f.Output)}
	add := func(group, name string, c *Call) {
		by[group] = append(by[group], Row{Text: diag.Escape(name) + at(c.At), Rows: body(c)})
	}
	for _, a := range indexOf(f).calls {
		add(a.group(), join(a.plan, a.Name), a.Call)
	}
	for _, t := range f.Tools {
		if f.Planned {
			add(planning, t.Name, &Call{Tool: t.Name, At: t.At, Effect: t.Effect, Runs: t.Runs})
		}
	}
	for _, group := range []string{destroying, writing, reading, delegating, planning, "Output"} {
		if by[group] != nil {
			all = append(all, Row{Text: group, Rows: by[group], section: true})
		}
	}
	return all
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

// Rows are what a call of a plan does: the parts by which calls are compared, who declares its effect, what is started,
// and its conditions.
func (c *Call) Rows() (all Rows) {
	one, starts := *c, ""
	if c.Runs.Plan != "" {
		one.Effect = Effect{} // is that of the plan's calls
	}
	if c.Runs.Activity != "" {
		starts = c.Runs.Destination()
	}
	for _, of := range append(side{}.parts(&one), part{"effect declared by", literals(one.Effect.By), 0},
		part{"starts", literals(starts), 0}) {
		if of.weight&repeated == 0 {
			all = append(all, rowsOf(of.name, of.values)...)
		}
	}
	for _, condition := range c.Conditions {
		all = append(all, Row{Text: condition.text()})
	}
	return all
}

// body is all that a call does.
func body(c *Call) Rows {
	all := c.Rows()
	for _, of := range (side{}).carrier(&c.Runs) {
		all = append(all, rowsOf(of.name, of.values)...)
	}
	if len(c.Runs.Unseen) > 0 {
		all = append(all,
			Row{Text: "runs shell code without \"files\": the digest doesn't cover the files that it uses"})
	}
	return all
}

// rowsOf are the values of a part, each with its path.
func rowsOf(what string, values []Value) (all Rows) {
	for i := range values {
		all = append(all, row(what, values[i].Path, values[i].text()))
	}
	return all
}

func row(what, path, text string) Row {
	if words := strings.TrimSpace(what + " " + diag.Escape(path)); words != "" {
		text = words + ": " + text
	}
	return Row{Text: text}
}

func at(p *Place) string {
	if p == nil {
		return ""
	}
	return fmt.Sprintf(" (%s:%d:%d)", diag.Escape(p.File), p.Line, p.Column)
}

func (c Condition) text() string {
	words := c.Words
	for _, part := range []string{c.Text, c.More, c.Path} {
		if part != "" {
			words += " " + diag.Escape(part)
		}
	}
	return words
}

// text is a value, where it comes from, and the models that may have chosen it.
func (v *Value) text() string {
	if v == nil {
		return "nothing"
	}
	words := diag.Escape(v.String())
	from := make([]string, len(v.Sources))
	for i, source := range v.Sources {
		from[i] = source.text()
	}
	switch {
	case len(from) == 1 && v.Sources[0].Path == v.Expression:
		words = from[0]
	case len(from) > 0:
		words = strings.TrimPrefix(words+" from "+strings.Join(from, ", "), " from ")
	}
	if len(v.Models) > 0 {
		words += ", chosen by models: " + codes(v.Models)
	}
	return words
}

// text is a path with the calls that may have written it.
func (source *Source) text() string {
	if source.Path == OtherKinds {
		return "all other messages of the context"
	}
	who := codes(source.Calls)
	if source.More > 0 {
		who += fmt.Sprintf(", %d more", source.More)
	}
	if source.Start && who != "" {
		who += ", the start"
	}
	if who != "" {
		who = " (" + who + ")"
	}
	return diag.Escape(source.Path) + who
}

// String is a value as the plan has it.
func (v Value) String() string {
	if v.Literal.IsZero() {
		return v.Expression
	}
	return string(v.Literal.Text)
}

// Rows are what people are shown of facts and of differences, for every format. Texts of the plan in them are escaped.
type Rows []Row

// A Row is a line, with rows below it. Its sign says what it is about: ▲ destroys, or may; ↗ leaves the machine;
// ✎ writes; ✦ a model; ✋ a person is asked; ⚠ a warning; ! is left half done.
type Row struct {
	Sign string `json:"sign,omitempty"`
	Text string `json:"text"`
	Rows Rows   `json:"rows,omitempty"`

	section bool // an empty line comes before it
}

// Section is a title with some lines below it, which are escaped.
func Section(title string, lines []string) Rows {
	section := Row{Text: diag.Escape(title), section: true}
	for _, line := range lines {
		section.Rows = append(section.Rows, Row{Text: diag.Escape(line)})
	}
	return Rows{section}
}

// Text is the rows for a terminal.
func (r Rows) Text(style diag.Style) string {
	var b strings.Builder
	r.write(&b, style, 0)
	return b.String()
}

func (r Rows) write(b *strings.Builder, style diag.Style, depth int) {
	for _, row := range r {
		line := strings.TrimSpace(row.Sign + " " + row.Text)
		switch row.Sign {
		case "▲", "!":
			line = style.Red(line)
		case "↗", "⚠":
			line = style.Yellow(line)
		}
		if row.section && b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(strings.Repeat("  ", depth) + line + "\n")
		row.Rows.write(b, style, max(2, depth+1))
	}
}

// Markdown is the rows for a pull request: a block of code, which nothing in the plan ends.
func (r Rows) Markdown() string {
	fence, text := "```", r.Text(false)
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + text + fence + "\n"
}

// longest is how many characters of a text are shown.
const longest = 500

// JSON is an object a line: each difference, and a summary.
func (c *Comparison) JSON() string {
	var b strings.Builder
	counts := map[Change]int{}
	for i := range c.Differences {
		counts[c.Differences[i].Change]++
		_ = diag.JSONLine(&b, struct {
			Kind string `json:"kind"`
			*Difference
		}{"difference", &c.Differences[i]}) // to memory
	}
	_ = diag.JSONLine(&b, struct {
		Kind    string `json:"kind"`
		Same    bool   `json:"same"`
		Added   int    `json:"added"`
		Removed int    `json:"removed"`
		Renamed int    `json:"renamed"`
		Changed int    `json:"changed"`
	}{"summary", c.Same(), counts[Added], counts[Removed], counts[Renamed], counts[Changed]})
	return b.String()
}

// headings are those of the risks, with their signs.
var (
	headings = map[Risk]string{
		Destroys: "Changes what is destroyed, or may be", Leaves: "Changes what leaves the machine",
		Unasked: "No longer asks a person", "": "Other differences",
	}
	signs = map[Risk]string{Destroys: "▲", Leaves: "↗", Unasked: "✋"}
)

// Rows are the comparison for people: what destroys or leaves the machine otherwise than before comes first. Long
// texts are cut; JSON has all of them.
func (c *Comparison) Rows() (all Rows) {
	if c.Same() {
		return Rows{{Text: "the plans mean the same"}}
	}
	for i := range c.Differences {
		d := &c.Differences[i]
		if i == 0 || d.Risk != c.Differences[i-1].Risk {
			all = append(all, Row{Sign: signs[d.Risk], Text: headings[d.Risk], section: true})
		}
		section := &all[len(all)-1]
		if head := d.about(); len(section.Rows) == 0 || section.Rows[len(section.Rows)-1].Text != head {
			section.Rows = append(section.Rows, Row{Text: head})
		}
		row := &section.Rows[len(section.Rows)-1]
		row.Rows = append(row.Rows, d.rows()...)
	}
	return all
}

// about is the line above all differences of one item.
func (d *Difference) about() string {
	words := map[Change]string{Added: "+ ", Removed: "− ", Changed: "~ ", Renamed: "~ "}[d.Change]
	words += strings.TrimSpace(string(d.Of) + " " + diag.Escape(d.Name))
	if d.Was != "" {
		words += ", before " + diag.Escape(d.Was)
	}
	words += at(d.At)
	if d.In != "" {
		words += " in " + diag.Escape(d.In)
	}
	return words
}

// rows are what differs there.
func (d *Difference) rows() (all Rows) {
	switch {
	case d.Change == Renamed:
		all = Rows{{Text: "renamed"}}
	case d.Old != nil || d.New != nil:
		text := wording.Cut(d.Old.text(), longest) + " → " + wording.Cut(d.New.text(), longest)
		all = Rows{row(d.What, d.Path, text)}
	case d.Facts != nil:
		for _, one := range body(d.Facts) {
			all = append(all, Row{Text: wording.Cut(one.Text, longest)})
		}
	}
	if len(d.Reaches) > 0 {
		all = append(all, row("reaches", "", codes(d.Reaches)))
	}
	return all
}
