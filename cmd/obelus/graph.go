package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/dot"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/project"
	"github.com/obelus-dev/obelus/runtime/simulate"
	"github.com/spf13/cobra"
)

func (c *cli) graphCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "graph FILE | - | --run RUN",
		Short: "draw a plan or a run: SVG, a page, Graphviz, Mermaid, text",
		Long: "Draws which call waits for which, and the paths that data takes, with findings marked.\n" +
			"Any document that parses can be drawn, sound or not. Large plans are collapsed.\n\n" +
			"A page is one HTML file for a browser, which loads nothing: the drawing with all that is known\n" +
			"of each call, a rehearsal to step through, and what comes when a call fails. With --run it is\n" +
			"what happened in a run, to be played back; other formats draw how each call ended.",
		Example: "obelus graph plan.yaml -o plan.svg\nobelus graph plan.yaml -o plan.html\nobelus graph plan.yaml --format text\nobelus graph plan.yaml --focus sendMail --depth 2\nobelus graph --run 20261121-0930 -o run.html",
	}
	run := cmd.Flags().String("run", "", "draw what happened in a run, by its id or the file of its journal")
	stands(cmd, "run", "RUN")
	runs := new(running).addRuns(cmd)
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if *run != "" {
			return counted("", 0, 0)(cmd, args)
		}
		return oneArg("a plan, or a run with --run")(cmd, args)
	}
	reading := c.addReading(cmd)
	format := choose(cmd, "format", "the drawing's form; the ending of a file name given with -o says it, too", "dot", "mermaid", "svg", "text", "html")
	output := addOutput(cmd)
	var o dot.Options
	flags := cmd.Flags()
	flags.BoolVar(&o.Paths, "paths", false, "draw the state's paths as nodes of their own, and who writes and who reads them")
	flags.BoolVar(&o.Detail, "detail", false, "write the parameters of each call into its box")
	addText(cmd, &o.Focus, "focus", "CALL", "draw only this call and what is near it")
	flags.IntVar(&o.Depth, "depth", 1, "with --focus, how many steps to go from the call")
	stands(cmd, "depth", "N")
	labels := flags.Bool("labels", false, "write beside each call how worthy of trust and how confidential its result is under the policy, and mark the ways that it forbids")
	critical := flags.Bool("critical", false, "simulate the plan, every call as long as its tool says (x-simulate), and mark the critical path")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if o.Depth < 1 {
			return usageErr("--depth can't be %d: expected a whole number from 1", o.Depth)
		}
		form, err := formOf(*format, *output, cmd.Flags().Changed("format"))
		if err != nil {
			return err
		}
		if form == "html" {
			o.MaxNodes, o.MaxEdges = pageNodes, pageEdges
		}
		if *run != "" {
			if *labels || *critical || o.Focus != "" {
				return usageErr("--labels, --critical and --focus are for plans, and can't be given with --run")
			}
			path, err := runs.find(*run)
			if err != nil {
				return err
			}
			one, err := drawnRun(path, reading.Activities, o, form == "html")
			switch {
			case err != nil:
				return err
			case form == "html":
				return c.writePage(one, *output)
			}
			return c.draw(one.View, form, *output)
		}
		p, err := c.prepared(args[0], reading)
		if err != nil {
			return err
		}
		if p.Plan.Root == nil {
			return c.faultyPlan(p, "text", statusFound)
		}
		view, err := viewOf(p, o, *labels)
		if err != nil {
			return err
		}
		if form == "html" {
			one, err := pageOf(p, view)
			if err != nil {
				return err
			}
			return c.writePage(one, *output)
		}
		if err := markCritical(&view, p, *critical); err != nil {
			return err
		}
		return c.draw(view, form, *output)
	}
	return cmd
}

// viewOf is a plan as it is drawn.
func viewOf(p *project.Program, o dot.Options, labels bool) (dot.View, error) {
	if err := knownCall(p.Plan, o.Focus); err != nil {
		return dot.View{}, err
	}
	view := dot.FromPlan(p.Plan, p.Findings, o)
	if labels {
		view.Labels(p.Plan)
	}
	if words := p.Plan.Limits.String(); words != "" {
		view.Notes = append(view.Notes, "limits of the plan: "+words)
	}
	return view, nil
}

// explored are the rehearsals of a plan that drawings and pages show, and what input they
// are given.
func explored(plan *plan.Plan, r *analyzer.Rehearsal) (found *simulate.Exploration, input map[string]any) {
	input, state, made := invented(plan, nil, nil, 1)
	return simulate.Begin(r, simulate.Options{Options: runtime.Options{Input: input, State: state}, Seed: 1, Steps: simulate.DefaultSteps(plan)}, made), input
}

// markCritical marks, if asked, the critical path of a simulation without failures, and notes its time and cost.
func markCritical(view *dot.View, p *project.Program, marked bool) error {
	if !marked {
		return nil
	}
	r := analyzer.Rehearse(p.Plan, p.Findings)
	if r == nil {
		return usageErr("the plan has errors, so it can't be simulated and has no critical path").Advise("obelus check shows them")
	}
	found, _ := explored(p.Plan, r)
	found.Alternatives(1, func(usual *simulate.Alternative) (more bool) {
		s := usual.Scenario
		view.Way(names(s, s.CriticalPath), dot.Mark{Kind: dot.Critical})
		view.Notes = append(view.Notes, fmt.Sprintf("simulated without failures: %s, cost %.4g", wording.Duration(s.Makespan.Round(time.Millisecond)), s.Cost))
		return false
	})
	return nil
}

// togetherOf says how many activities a rehearsal had at work together, and how many may be.
func togetherOf(s *simulate.Scenario, most int) string {
	return fmt.Sprintf("%d at once, of at most %d", s.Peak, most)
}

// endings say what a file of a name holds.
var endings = map[string]string{
	".dot": "dot", ".gv": "dot", ".mmd": "mermaid", ".mermaid": "mermaid", ".md": "mermaid", ".svg": "svg", ".txt": "text", ".html": "html", ".htm": "html",
}

// formOf is the form that is asked for, or implied by the name of the file.
func formOf(format, output string, asked bool) (string, error) {
	ending := strings.ToLower(filepath.Ext(output))
	if form, known := endings[ending]; known && asked && form != format {
		return "", usageErr("a file that ends in %q isn't of the format %s", ending, format).Advise("name it otherwise, or leave out --format")
	} else if known {
		return form, nil
	} else if ending == ".png" && !asked {
		return "", usageErr("obelus no longer draws PNG").Advise(toPNG)
	} else if output != "" && output != "-" && !asked {
		return "", usageErr("nothing is drawn into a file that ends in %q", ending).Advise("it may end in .svg, .html, .txt, .dot, .gv, .mmd or .md; --format says what other files hold")
	}
	return format, nil
}

// draw writes a view in a form.
func (c *cli) draw(view dot.View, format, output string) error {
	drawing := view.In(format)
	if strings.EqualFold(filepath.Ext(output), ".md") {
		drawing = "```mermaid\n" + strings.TrimRight(drawing, "\n") + "\n```\n"
	}
	return c.write(output, []byte(drawing))
}

// knownCall refuses the name of a call that the plan doesn't have.
func knownCall(plan *plan.Plan, name string) error {
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
	return usageErr("the plan has no call %q", name).Advise("a call is named by its \"_id\", or by its tool and place, such as %q", "fetch#1").Suggest(name, names)
}
