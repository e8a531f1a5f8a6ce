package main

import (
	"path/filepath"
	"strings"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/dot"
	"github.com/spf13/cobra"
)

func (c *cli) graphCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "graph FILE | -",
		Short: "draw a plan for Graphviz or Mermaid",
		Long: "Draws which call waits for which, and the paths that data takes, with findings marked.\n" +
			"Any document that parses can be drawn, sound or not. Large plans are collapsed.",
		Example: "obelus graph plan.yaml | dot -Tsvg > plan.svg\nobelus graph plan.yaml -o plan.mmd\nobelus graph plan.yaml --focus sendMail --depth 2",
		Args:    oneArg("a plan"),
	}
	reading := c.addReading(cmd)
	format := choose(cmd, "format", "the drawing's language; a file name given with -o that ends in .mmd or .md means mermaid", "dot", "mermaid")
	output := addOutput(cmd)
	var o dot.Options
	flags := cmd.Flags()
	flags.BoolVar(&o.Paths, "paths", false, "draw the state's paths as nodes of their own")
	flags.IntVar(&o.Depth, "depth", 0, "collapse what is deeper; with --focus, how far to go from the call")
	stands(cmd, "depth", "N")
	flags.StringVar(&o.Focus, "focus", "", "draw only this call and what is near it")
	stands(cmd, "focus", "CALL")
	labels := flags.Bool("labels", false, "write beside each call how worthy of trust and how confidential its result is under the policy, and mark the ways that it forbids")
	flags.IntVar(&o.Delegates, "delegates", 0, "draw what delegates do, so many levels deep, 0 for none; by default all of it where the drawing stays small")
	stands(cmd, "delegates", "N")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if o.Depth < 0 {
			return troubled("--depth can't be %d: expected a whole number from 0", o.Depth)
		}
		switch unfold := cmd.Flags().Changed("delegates"); {
		case o.Delegates < 0:
			return troubled("--delegates can't be %d: expected a whole number from 0", o.Delegates)
		case unfold && o.Delegates == 0:
			o.Delegates = -1 // the library's word for none
		}
		p, err := c.prepared(args[0], reading)
		if err != nil {
			return err
		}
		if p.Plan.Root == nil {
			if err := c.showFaulty(p, "text"); err != nil {
				return err
			}
			return ending(statusFound)
		}
		if err := knownCall(p.Plan, o.Focus); err != nil {
			return err
		}
		if extension := strings.ToLower(filepath.Ext(*output)); !cmd.Flags().Changed("format") && (extension == ".mmd" || extension == ".mermaid" || extension == ".md") {
			*format = "mermaid"
		}
		view := dot.FromPlan(p.Plan, p.Findings, o)
		if *labels {
			view.Labels(p.Plan)
		}
		drawing := view.DOT()
		if *format == "mermaid" {
			drawing = view.Mermaid()
		}
		if strings.EqualFold(filepath.Ext(*output), ".md") {
			drawing = "```mermaid\n" + strings.TrimRight(drawing, "\n") + "\n```\n"
		}
		return c.write(*output, []byte(drawing))
	}
	return cmd
}

// knownCall refuses the name of a call that the plan doesn't have.
func knownCall(plan *compiler.Plan, name string) error {
	if name == "" {
		return nil
	}
	names := make([]string, len(plan.Calls))
	for i, call := range plan.Calls {
		if call.Name == name {
			return nil
		}
		names[i] = call.Name
	}
	return troubled("the plan has no call %q", name).Advise("a call is named by its \"_id\", or by its tool and place, such as %q", "fetch#1").Suggest(name, names)
}
