package facts

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/wording"
)

// A Card is what a reviewer sees first of a plan: one list of rows, which every format renders.
type Card []Row

// A Row is a head and at most six items below it. Its sign says what it is about. Texts of the plan are escaped and cut.
type Row struct {
	Sign, Head string
	Items      []string
}

// briefly are the first of some texts, escaped and cut.
func briefly(texts ...string) string {
	words := ""
	for i, text := range texts {
		if i == 4 {
			return words[2:] + fmt.Sprintf(" and %d more", len(texts)-i)
		}
		words += ", " + diag.Escape(wording.Cut(text, 100))
	}
	return strings.TrimPrefix(words, ", ")
}

// Card lists what a reviewer needs first: calls with one item in common are in one line.
func (f *Facts) Card(digest string) Card {
	about, _ := f.Settings["description"].value().(string)
	card := Card{{"", strings.TrimSuffix(briefly(cmp.Or(f.Plan, "plan"), digest, about), ", "), nil}}
	var calls []*Call
	for _, p := range f.plans() {
		for _, c := range p.facts.Calls {
			c.Name = join(p.path, c.Name)
			calls = append(calls, &c)
		}
	}
	for _, t := range f.Tools {
		if f.Planned {
			calls = append(calls, &Call{Name: t.Name, Effect: t.Effect, Runs: t.Runs})
		}
	}
	list := func(sign, head string, test func(*Call) bool, item func(*Call) string) {
		n, items, names := 0, []string{}, map[string][]string{}
		for _, c := range calls {
			if c.Runs.Plan != "" || !test(c) {
				continue
			}
			k := item(c)
			if n++; names[k] == nil {
				items = append(items, k)
			}
			names[k] = append(names[k], c.Name)
		}
		for i, k := range items {
			items[i] = briefly(names[k]...) + k
		}
		if more := len(items) - 5; more > 1 {
			items = append(items[:5], fmt.Sprintf("and %d more", more))
		}
		if n > 0 {
			card = append(card, Row{sign, head + " " + wording.Count(n, "call"), items})
		}
	}
	effect := func(kind string) func(*Call) bool {
		return func(c *Call) bool { return c.Effect.Kind == kind && c.Runs.Kind != Model }
	}
	list("▲", "DESTROYS", effect(compiler.Destructive), (*Call).act)
	list("▲", "MAY DESTROY: no trusted source describes", effect(compiler.Unknown), (*Call).act)
	list("↗", "LEAVES the machine by", (*Call).Leaves, (*Call).passes)
	list("✎", "WRITES", effect(compiler.Writes), (*Call).act)
	name := func(*Call) string { return "" }
	list("✋", "ASKS a person about", func(c *Call) bool { return c.Confirm }, name)
	unseen := func(c *Call) bool { return len(c.Runs.Unseen) > 0 }
	list("⚠", "RUNS shell code without \"files\", which the digest doesn't cover:", unseen, name)
	var bounds []string
	for _, b := range f.Worst.bounds() {
		bounds = append(bounds, b.name+" "+strings.Trim(string(b.node().value.Literal.Text), `"`))
	}
	return append(card, Row{"≤", strings.Join(bounds, " · "), nil})
}

// act is what a call does, how often, and what lets it run.
func (c *Call) act() string {
	words := "  " + briefly(strings.Replace(c.Runs.Destination(), "https://", "", 1))
	if c.Each != nil {
		words += ", for each of up to " + wording.Count(c.Each.Most, "item")
	}
	if c.Tries > 1 {
		words += fmt.Sprintf(", up to %d attempts", c.Tries)
	}
	if n := len(c.Conditions); n > 0 {
		words += ", under " + wording.Count(n, "condition")
	}
	return words
}

// passes is who receives what of a call.
func (c *Call) passes() string {
	var paths []string
	for _, s := range c.received() {
		paths = append(paths, s.Path)
	}
	return " → " + briefly(c.Runs.Destination()) + " receives " + cmp.Or(briefly(paths...), "fixed values")
}

// Text is the card for a terminal.
func (c Card) Text(style diag.Style) string {
	out := ""
	for _, row := range c {
		title := strings.TrimSpace(row.Sign + " " + row.Head)
		switch row.Sign {
		case "▲":
			title = style.Red(title)
		case "↗":
			title = style.Yellow(title)
		}
		out += strings.Join(append([]string{title}, row.Items...), "\n    ") + "\n"
	}
	return out
}

// Markdown is the card for a pull request: a block of code, which nothing in the plan ends.
func (c Card) Markdown() string {
	text := c.Text(false)
	fence := "```" + strings.Repeat("`", strings.Count(text, "`")) + "\n"
	return fence + text + fence
}
