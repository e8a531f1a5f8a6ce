package main

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/cmd/obelus/internal/pages"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/dot"
	"github.com/obelus-dev/obelus/dot/page"
)

type graphing struct {
	Run    string `flag:"--run RUN: draw what happened in a run, by its id or its journal's file"`
	Format string `flag:"--format dot|mermaid|svg|text|html: the drawing's format; the ending of -o names it, too"`
	outputFlag
	Focus   string `flag:"--focus CALL: draw only this call and its neighbors"`
	Between string `flag:"--between A,B: draw only the calls on the ways from A to B"`
	Depth   int    `least:"1" flag:"--depth N: with --focus, how many calls away to draw"`
	Detail  bool   `flag:"--detail: show what is otherwise shown on hover, and parameters"`
	Scheme  bool   `flag:"--scheme: draw without findings, for what isn't meant to run"`
}

func (o *graphing) run(_ context.Context, c *cli, args []string) error {
	from, to, _ := strings.Cut(o.Between, ",")
	if o.Between != "" && (from == "" || to == "") {
		return usageErr("--between can't be %q: expected two calls, as in --between A,B", o.Between)
	}
	form, err := o.formOf(c, o.Format)
	if err != nil {
		return err
	}
	options := dot.Options{Between: [2]string{from, to}, Depth: o.Depth, Detail: o.Detail, Scheme: o.Scheme}
	if o.Focus != "" {
		options.Focus = []string{o.Focus}
	}
	if form == "html" {
		options.MaxNodes, options.MaxEdges = pages.Nodes, pages.Edges
	}
	if (o.Run == "") != (len(args) == 1) {
		return usageErr("graph draws a plan, or a run with --run").Advise("usage: %s", c.cmd.UseLine())
	}
	if o.Run != "" {
		return o.drawRun(c, options, form)
	}
	p, err := c.prepared(args[0], c.newReading())
	if err != nil {
		return err
	}
	if p.Plan.Root == nil {
		return c.faultyPlan(p, "text", statusFound)
	}
	var names []string
	for _, call := range p.Plan.Calls {
		names = append(names, call.Name)
	}
	for _, name := range []string{o.Focus, from, to} {
		if name != "" && !slices.Contains(names, name) {
			return usageErr("the plan has no call %q", name).
				Advise("a call is named by its \"_id\", or by its tool and place, such as \"fetch#1\"").
				Suggest(name, names)
		}
	}
	if o.Scheme {
		p.Findings = nil
	}
	one := &page.Page{View: dot.FromPlan(p.Plan, p.Findings, options)}
	if form == "html" {
		if one, err = pages.OfPlan(p, one.View); err != nil {
			return err
		}
	}
	if form != "html" && o.Focus+o.Between == "" && !o.Scheme && !diag.HasErrors(p.Findings) {
		one.View.Card(facts.Of(p.Plan, facts.Options{}))
	}
	return c.draw(one, form, o.Output)
}

// drawRun draws what happened in a run.
func (o *graphing) drawRun(c *cli, options dot.Options, form string) error {
	if o.Focus+o.Between != "" {
		return usageErr("--focus and --between are for plans, and can't be given with --run")
	}
	path, err := c.findRun(o.Run)
	if err != nil {
		return err
	}
	one, err := pages.OfRun(path, c.Activities, options, form == "html")
	if err != nil {
		return err
	}
	return c.draw(one, form, o.Output)
}

// endings are those of the files of a format.
var endings = map[string]string{
	"dot": ".dot .gv", "html": ".html .htm", "json": ".json .jsonl", "markdown": ".md", "mermaid": ".mmd .mermaid .md",
	"svg": ".svg", "text": ".txt",
}

// formOf is the format of a command's output: that of --format, or else of the file's name.
func (o *outputFlag) formOf(c *cli, format string) (string, error) {
	output, ending := o.Output, strings.ToLower(filepath.Ext(o.Output))
	if c.changed("format") || output == "" || output == "-" {
		return format, nil
	}
	var known []string
	for word := range strings.SplitSeq(c.cmd.Flag("format").Value.Type(), "|") {
		if slices.Contains(strings.Fields(endings[word]), ending) {
			return word, nil
		}
		known = append(known, strings.Fields(endings[word])...)
	}
	return "", usageErr("%q ends in none of %s", output, strings.Join(known, " ")).
		Advise("name its format with --format; Graphviz draws others: obelus graph … | dot -Tpng -o %s",
			wording.ShellWord(output))
}

// draw writes a page, or its view in a form.
func (c *cli) draw(one *page.Page, format, output string) error {
	if format == "html" {
		text, err := one.HTML()
		if err != nil {
			return err
		}
		return c.write(output, []byte(text))
	}
	drawing := dot.Formats[format](one.View)
	if strings.EqualFold(filepath.Ext(output), ".md") {
		drawing = "```mermaid\n" + strings.TrimRight(drawing, "\n") + "\n```\n"
	}
	return c.write(output, []byte(drawing))
}
