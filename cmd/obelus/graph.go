package main

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/cmd/obelus/internal/pages"
	"github.com/obelus-dev/obelus/compiler/diag"
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
	if (o.Run == "") != (len(args) == 1) {
		return usageErr("graph draws a plan, or a run with --run").Advise("usage: %s", c.cmd.UseLine())
	}
	form, err := o.formOf(c, o.Format)
	if err != nil {
		return err
	}
	options := dot.Options{Depth: o.Depth, Detail: o.Detail, Scheme: o.Scheme}
	if form == "html" {
		options.MaxNodes, options.MaxEdges = pages.Nodes, pages.Edges
	}
	var drawn *page.Page
	if o.Run != "" {
		path, err := c.findRun(o.Run)
		if err != nil {
			return err
		}
		drawn, err = pages.OfRun(path, c.Activities, options, form == "html")
		if err != nil {
			return err
		}
	} else if drawn, err = o.drawPlan(c, args[0], options, form); err != nil {
		return err
	}
	if form != "html" {
		return c.write(o.Output, []byte(dot.Formats[form](drawn.View)))
	}
	text, err := drawn.HTML()
	if err != nil {
		return err
	}
	return c.write(o.Output, []byte(text))
}

func (o *graphing) drawPlan(c *cli, name string, options dot.Options, form string) (drawn *page.Page, err error) {
	p, err := c.prepared(name, c.newReading())
	if err != nil {
		return nil, err
	}
	if p.Plan.Root == nil {
		return nil, c.faultyPlan(p, "text", statusFound)
	}
	var names, chosen []string
	for _, call := range p.Plan.Calls {
		names = append(names, call.Name)
	}
	if o.Focus != "" {
		options.Focus = []string{o.Focus}
	}
	if o.Between != "" {
		from, to, _ := strings.Cut(o.Between, ",")
		options.Between = [2]string{from, to}
		chosen = options.Between[:]
	}
	for _, call := range append(chosen, options.Focus...) {
		if !slices.Contains(names, call) {
			return nil, usageErr("the plan has no call %q", call).
				Advise("a call is named by its \"_id\", or by its tool and place, such as \"fetch#1\"").
				Suggest(call, names)
		}
	}
	if o.Scheme {
		p.Findings = nil
	}
	view := dot.FromPlan(p.Plan, p.Findings, options)
	if form == "html" {
		return pages.OfPlan(p, view)
	}
	if o.Focus+o.Between == "" && !o.Scheme && !diag.HasErrors(p.Findings) {
		view.Card(facts.Of(p.Plan, facts.Options{}))
	}
	return &page.Page{View: view}, nil
}

// endings are the formats that the endings of files name.
var endings = map[string]string{".dot": "dot", ".gv": "dot", ".html": "html", ".json": "json", ".md": "markdown",
	".mmd": "mermaid", ".svg": "svg", ".txt": "text"}

// formOf is the format of a command's output: that of --format, or else of the file's name.
func (o *outputFlag) formOf(c *cli, format string) (string, error) {
	if c.changed("format") || o.Output == "" || o.Output == "-" {
		return format, nil
	}
	named := endings[strings.ToLower(filepath.Ext(o.Output))]
	if !slices.Contains(strings.Split(c.cmd.Flag("format").Value.Type(), "|"), named) {
		return "", usageErr("the ending of %q names no format", o.Output).
			Advise("name one with --format; Graphviz draws others")
	}
	return named, nil
}
