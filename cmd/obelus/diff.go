package main

import (
	"bytes"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/dot"
	"github.com/obelus-dev/obelus/runtime/project"
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
			"ticks. One of them may be -, standard input.\n\n" +
			"The exit status is 0 where the plans mean the same, 1 where they differ, and 2 where\n" +
			"that can't be told.",
		Example: "obelus diff released.yaml plan.yaml\ngit show HEAD:plan.yaml | obelus diff - plan.yaml --format markdown",
		Args:    twoArgs,
	}
	reading := c.addReading(cmd)
	format := choose(cmd, "format", "how the differences are written; dot and mermaid draw the new plan with what became of the old one", "text", "json", "markdown", "dot", "mermaid")
	output := addOutput(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		var plans [2]*project.Program
		for i, name := range args {
			p, err := c.prepared(name, reading)
			if err != nil {
				return err
			}
			if faulty := p.Document.Compile(); diag.HasErrors(faulty.Findings) {
				if err := c.showFaulty(faulty, map[bool]string{true: "json", false: "text"}[*format == "json"]); err != nil {
					return err
				}
				return ending(statusTrouble)
			}
			plans[i] = p
		}
		var sides [2]*facts.Facts
		for i, p := range plans {
			parts, err := p.Plan.Parts()
			if err != nil {
				return troubled("%q can't be compared: %v", args[i], err)
			}
			sides[i] = facts.Of(p.Plan, facts.Options{Parts: parts})
		}
		differs := facts.Compare(sides[0], sides[1])
		if err := c.write(*output, compared(differs, plans, *format)); err != nil {
			return err
		}
		if !differs.Same() {
			return ending(statusFound)
		}
		return nil
	}
	return cmd
}

// compared is a comparison in some format.
func compared(differs *facts.Comparison, plans [2]*project.Program, format string) []byte {
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
		plain := dot.Options{Delegates: -1}
		view := dot.FromPlan(plans[1].Plan, nil, plain).Against(dot.FromPlan(plans[0].Plan, nil, plain), differs.Was, func(call string) bool { return touched[call] })
		if format == "dot" {
			out.WriteString(view.DOT())
		} else {
			out.WriteString(view.Mermaid())
		}
	}
	return out.Bytes()
}

func twoArgs(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) != 2:
		return troubled("%s needs two plans, but got %d", cmd.Name(), len(args)).Advise("usage: %s", usageLine(cmd))
	case args[0] == "-" && args[1] == "-":
		return troubled("only one of the plans can come from standard input")
	}
	return nil
}
