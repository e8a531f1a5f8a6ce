package main

import (
	"bytes"
	"path/filepath"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/dot"
	"github.com/obelus-dev/obelus/runtime/approval"
	"github.com/spf13/cobra"
)

func (c *cli) diffCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "tell how two plans differ by what they mean",
		Long: "Compares two plans by what they do: calls that are new, gone, renamed or changed, what\n" +
			"destroys or leaves the machine otherwise than before, where values come from, who waits\n" +
			"for whom, tools, delegates, limits and what all of it may come to. What is only layout\n" +
			"is no difference. OLD and NEW may be of any shape: plans, compiled plans, records of\n" +
			"ticks; or an approval, for what was shown to those who signed it. One of them may be -,\n" +
			"standard input.\n\n" +
			"The exit status is 0 where the plans mean the same, 1 where they differ, and 2 where\n" +
			"that can't be told.",
		Example: "obelus diff released.yaml plan.yaml\ngit show HEAD:plan.yaml | obelus diff - plan.yaml --format markdown",
		Args:    counted("two plans", 2, 2),
	}
	reading := c.addReading(cmd)
	format := choose(cmd, "format", "how the differences are written; dot, mermaid and svg draw the new plan with what became of the old one", "text", "json", "markdown", "dot", "mermaid", "svg")
	output := addOutput(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if form := endings[strings.ToLower(filepath.Ext(*output))]; !cmd.Flags().Changed("format") && (form == "svg" || form == "dot" || form == "mermaid") {
			*format = form
			if strings.EqualFold(filepath.Ext(*output), ".md") {
				*format = "markdown"
			}
		}
		var sides [2]side
		for i, name := range args {
			one, err := c.compared(name, reading, *format)
			if err != nil {
				return err
			}
			sides[i] = one
		}
		differs := facts.Compare(sides[0].facts, sides[1].facts)
		if err := c.write(*output, renderDiff(differs, sides, *format)); err != nil {
			return err
		}
		if !differs.Same() {
			return ending(statusFound)
		}
		return nil
	}
	return cmd
}

// A side is one of two plans that are compared.
type side struct {
	facts *facts.Facts
	plan  *plan.Plan // nil of what an approval says that was shown
}

// compared reads a plan, or an approval of one.
func (c *cli) compared(name string, reading *reading, format string) (side, error) {
	if name == "-" || strings.EqualFold(filepath.Ext(name), ".json") {
		text, err := reading.Text(name)
		if err != nil {
			return side{}, err
		}
		if name == "-" {
			reading.Stdin = bytes.NewReader(text)
		}
		if approval.Is(text) {
			return approved(name, text, format)
		}
	}
	d, err := reading.One(name)
	if err != nil {
		return side{}, err
	}
	p := d.Compile()
	partial := diag.HasErrors(p.Findings) // what a plan does that isn't sound can be told all the same
	if partial || unordered(p.Plan) {
		p.Analyze()
	}
	if partial {
		return side{}, c.faultyPlan(p, format, statusError)
	}
	parts, err := p.Plan.Parts()
	if err != nil {
		return side{}, usageErr("%q can't be compared: %v", name, err)
	}
	return side{facts.Of(p.Plan, facts.Options{Parts: parts}), p.Plan}, nil
}

// unordered reports whether calls of a plan write what others write, and only analysis
// tells whether one runs after the other as listed.
func unordered(p *plan.Plan) bool {
	for _, d := range p.AllDelegates() {
		if len(d.Unordered) > 0 {
			return true
		}
	}
	return len(p.Unordered) > 0
}

// approved is what was shown to those who signed an approval, verified or not.
func approved(name string, text []byte, format string) (side, error) {
	a, err := approval.Read(text)
	if err != nil {
		return side{}, usageErr("the approval %q can't be compared: %v", name, err)
	}
	shown := shownBy(a)
	switch {
	case shown == nil:
		return side{}, usageErr("the approval %q doesn't say what was shown", name)
	case format == "dot" || format == "mermaid" || format == "svg":
		return side{}, usageErr("the approval %q has no plan that could be drawn", name).Advise("compare it as text, json or markdown")
	}
	return side{facts: shown}, nil
}

// told is a comparison in some format.
func renderDiff(differs *facts.Comparison, sides [2]side, format string) []byte {
	var out bytes.Buffer
	switch format {
	case "json":
		_ = differs.JSON(&out) // to memory
	case "markdown":
		out.WriteString(differs.Markdown())
	case "text":
		out.WriteString(differs.Text())
	default:
		touched := differs.Touched()
		plain := dot.Options{Flat: true}
		view := dot.FromPlan(sides[1].plan, nil, plain).Against(dot.FromPlan(sides[0].plan, nil, plain), differs.Was, func(call string) bool { return touched[call] })
		out.WriteString(view.In(format))
	}
	return out.Bytes()
}
