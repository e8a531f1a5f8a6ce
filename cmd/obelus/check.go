package main

import (
	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/spf13/cobra"
)

func (c *cli) checkCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check FILE… | DIR… | -",
		Short: "find faults in plans before they run",
		Long: "Checks plans without running anything. A folder stands for the plans in it and below it;\n" +
			"a .jsonl file holds one document a line; - is standard input.\n\n" +
			"The exit status is 0 when there is no finding of the severity that --min-severity names\n" +
			"or a higher one, 1 when there is, and 2 when a file can't be read.",
		Example: "obelus check plan.yaml\nobelus check plans/ --min-severity warning\nobelus check --format json - < plan.json",
		Args:    someArgs("a plan"),
	}
	reading := addReading(cmd)
	format := choose(cmd, "format", "how findings are written", "text", "json")
	threshold := choose(cmd, "min-severity", "the least severity that makes the exit status 1", "error", "warning", "info")
	fix := cmd.Flags().Bool("fix", false, "mend what can be mended safely, in the files, and report the rest")
	diff := cmd.Flags().Bool("diff", false, "show what --fix would change, and change nothing; the exit status is 1 if there is anything")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		switch {
		case *fix && *diff:
			return troubled("--fix and --diff can't be given together: the one changes files, the other shows how")
		case *diff:
			return c.showFixes(args, reading)
		case *fix:
			if err := c.fix(args, reading); err != nil {
				return err
			}
		}
		return c.check(args, reading, *format, severities[*threshold])
	}
	return cmd
}

var severities = map[string]diag.Severity{"info": diag.Info, "warning": diag.Warning, "error": diag.Error}

func (c *cli) check(args []string, reading *reading, format string, threshold diag.Severity) error {
	files, err := gather(args)
	if err != nil {
		return err
	}
	var total diag.Summary
	worst := -1
	for _, file := range files {
		judged := false
		err := reading.read(c, file.name, func(d document) error {
			p := d.compile()
			if file.found && !looksLikePlan(d.file, p.plan.Root) {
				return nil
			}
			judged = true
			p.analyze()
			total = added(total, p.found)
			for _, finding := range p.found {
				worst = max(worst, int(finding.Severity))
			}
			return c.show(p.found, format)
		})
		if err != nil {
			return err
		}
		if judged || !file.found {
			total.Files++
		}
	}
	if total.Files == 0 {
		return troubled("there is no plan in %q", args[0]).advise("plans end in .yaml, .yml, .json or .jsonl and have \"calls\"")
	}
	if format == "json" {
		err = total.JSON(c.out)
	} else {
		err = total.Text(c.out, textOptions(c.out))
	}
	if err == nil && worst >= int(threshold) {
		return ending(statusFound)
	}
	return err
}

func added(total diag.Summary, found []diag.Diagnostic) diag.Summary {
	more := diag.Summarize(0, found)
	total.Errors += more.Errors
	total.Warnings += more.Warnings
	total.Infos += more.Infos
	return total
}

// show writes findings to standard output (S19.1).
func (c *cli) show(found []diag.Diagnostic, format string) error {
	if format == "json" {
		return diag.JSON(c.out, found)
	}
	return diag.Text(c.out, found, textOptions(c.out))
}

// Compiled is a document with all that was found out about it.
type compiled struct {
	document
	plan     *compiler.Plan
	found    []diag.Diagnostic
	verified *analyzer.Verified // nil when there are errors, or before analyze
}

func (p *compiled) analyze() {
	p.verified, p.found = analyzer.Analyze(p.plan, p.found, analyzer.Config{})
}

// prepared reads, compiles and analyzes the one plan that a command works on.
func (c *cli) prepared(name string, reading *reading) (compiled, error) {
	d, err := reading.one(c, name)
	if err != nil {
		return compiled{}, err
	}
	p := d.compile()
	p.analyze()
	return p, nil
}
