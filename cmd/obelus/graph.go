package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/dot"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/project"
	"github.com/obelus-dev/obelus/runtime/session"
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
			return noArgs(cmd, args)
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
	flags.IntVar(&o.Depth, "depth", 0, "collapse what is deeper; with --focus, how far to go from the call")
	stands(cmd, "depth", "N")
	flags.StringVar(&o.Focus, "focus", "", "draw only this call and what is near it")
	stands(cmd, "focus", "CALL")
	labels := flags.Bool("labels", false, "write beside each call how worthy of trust and how confidential its result is under the policy, and mark the ways that it forbids")
	critical := flags.Bool("critical", false, "rehearse the plan, every call as long as its tool says (x-simulate), and mark what the time of the whole hangs on")
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
		form, err := formOf(*format, *output, cmd.Flags().Changed("format"))
		if err != nil {
			return err
		}
		if form == "html" {
			o.MaxNodes, o.MaxEdges = pageNodes, pageEdges
		}
		if *run != "" {
			if *labels || *critical || o.Focus != "" {
				return troubled("--labels, --critical and --focus are for plans, and can't be given with --run")
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
			if err := c.showFaulty(p, "text"); err != nil {
				return err
			}
			return ending(statusFound)
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
		if err := rehearse(&view, p, *critical); err != nil {
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
	view.Notes = append(view.Notes, atWorst(p.Plan)...)
	return view, nil
}

// atWorst says how often calls run, how long that takes and what it costs at most,
// where their tools say anything of cost.
func atWorst(plan *compiler.Plan) []string {
	if !timed(plan) {
		return nil
	}
	worst := facts.Of(plan, facts.Options{}).Worst
	words := "at worst"
	told := map[string]bool{}
	for _, one := range []struct {
		name string
		facts.Bound
		show func(float64) string
	}{
		{": tries ", worst.Tries, func(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }},
		{", cost ", worst.Cost, func(n float64) string { return strconv.FormatFloat(n, 'g', 4, 64) }},
		{", time ", worst.Time, func(n float64) string {
			return wording.Duration(time.Duration(min(n, 1e9) * float64(time.Second)).Round(time.Millisecond))
		}},
	} {
		if words += one.name; one.Most == nil {
			words += "unbounded"
		} else {
			words += one.show(*one.Most)
		}
		for _, why := range one.Because {
			if !told[why] {
				words += " (" + diag.Escape(plan.Redact(why)) + ")"
				told[why] = true
			}
		}
	}
	return []string{words}
}

// explored are the rehearsals of a plan that drawings and pages show, and what input they
// are given.
func explored(plan *compiler.Plan, r *analyzer.Rehearsal) (found *simulate.Exploration, input map[string]any) {
	input, state, made := invented(plan, nil, nil, 1)
	return simulate.Begin(r, simulate.Options{Options: runtime.Options{Input: input, State: state}, Seed: 1, Steps: simulate.DefaultSteps(plan)}, made), input
}

// rehearse says how long a plan takes and what it costs when nothing fails, and what is at
// work at once, where tools say anything of time or cost; on demand it marks the critical path.
func rehearse(view *dot.View, p *project.Program, critical bool) error {
	r := analyzer.Rehearse(p.Plan, p.Findings)
	if r == nil && critical {
		return troubled("the plan has errors, so it can't be rehearsed and has no critical path").Advise("obelus check shows them")
	} else if r == nil || !critical && !timed(p.Plan) {
		return nil
	}
	found, input := explored(p.Plan, r)
	if session.Fits(p.Plan, input, nil) != nil && !critical {
		return nil // nobody can say what it would be given
	}
	found.Alternatives(1, func(usual *simulate.Alternative) (more bool) {
		s := usual.Scenario
		note := "rehearsed without failures: " + wording.Duration(s.Makespan.Round(time.Millisecond))
		if critical {
			view.Way(names(s, s.CriticalPath), dot.Mark{Kind: dot.Critical})
		}
		if s.Critical < s.Makespan {
			note += ", the critical path " + wording.Duration(s.Critical.Round(time.Millisecond))
		}
		note += fmt.Sprintf(", cost %.4g", s.Cost)
		view.Notes = append(view.Notes, note)
		if together := atOnce(s); len(together) > 1 {
			view.Notes = append(view.Notes, fmt.Sprintf("in the rehearsal %s: %s", togetherOf(s, p.Plan.Limits.Together()), wording.Cut(diag.Escape(strings.Join(together, ", ")), 120)))
		}
		return false
	})
	return nil
}

// timed reports whether tools of a plan, or of what it delegates to, say how long they take
// or what they cost.
func timed(plan *compiler.Plan) bool {
	says := func(p *compiler.Plan) bool {
		return slices.ContainsFunc(p.Tools, func(t *compiler.Tool) bool { return t.Simulate != nil })
	}
	return says(plan) || slices.ContainsFunc(slices.Collect(maps.Values(plan.AllDelegates())), says)
}

// togetherOf says how many activities a rehearsal had at work together, and how many may be.
func togetherOf(s *simulate.Scenario, most int) string {
	return fmt.Sprintf("%d at once, of at most %d", s.Peak, most)
}

// atOnce are the calls of the largest set of a rehearsal that were at work together.
func atOnce(s *simulate.Scenario) (most []string) {
	now := map[int]bool{}
	for _, m := range s.Moments {
		if c := &s.Calls[m.Call]; m.Status != runtime.Running {
			delete(now, m.Call)
		} else if c.Call.Plan() == "" && c.Call.Each == nil { // else what it runs is at work
			now[m.Call] = true
		}
		if len(now) > len(most) {
			most = most[:0]
			for _, i := range slices.Sorted(maps.Keys(now)) {
				most = append(most, strings.TrimPrefix(s.Calls[i].Instance+" "+pathOf(&s.Calls[i]), " "))
			}
		}
	}
	return most
}

// endings say what a file of a name holds.
var endings = map[string]string{
	".dot": "dot", ".gv": "dot", ".mmd": "mermaid", ".mermaid": "mermaid", ".md": "mermaid", ".svg": "svg", ".txt": "text", ".html": "html", ".htm": "html",
}

// formOf is the form that is asked for, or that the name of the file stands for.
func formOf(format, output string, asked bool) (string, error) {
	ending := strings.ToLower(filepath.Ext(output))
	if form, known := endings[ending]; known && asked && form != format {
		return "", troubled("a file that ends in %q isn't of the format %s", ending, format).Advise("name it otherwise, or leave out --format")
	} else if known {
		return form, nil
	} else if ending == ".png" && !asked {
		return "", troubled("obelus no longer draws PNG").Advise(toPNG)
	} else if output != "" && output != "-" && !asked {
		return "", troubled("nothing is drawn into a file that ends in %q", ending).Advise("it may end in .svg, .html, .txt, .dot, .gv, .mmd or .md; --format says what other files hold")
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
