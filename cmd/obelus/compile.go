package main

import (
	"bytes"
	"encoding/json"
	"os"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/runtime/project"
	"github.com/spf13/cobra"
)

func (c *cli) compileCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "compile FILE | -",
		Short: "write the compiled plan as canonical JSON",
		Long: "Writes the compiled plan: canonical JSON (RFC 8785) with imports taken in, every call's\n" +
			"activity and dependencies, what each read is bound to, and a digest that doesn't change\n" +
			"when the plan is reformatted. The output is a plan again, and compiles to the same bytes.\n\n" +
			"A plan with errors isn't compiled: its findings are printed, and the exit status is 1.",
		Example: "obelus compile plan.yaml -o plan.compiled.json\nobelus compile --digest plan.yaml",
		Args:    oneArg("a plan"),
	}
	reading := c.addReading(cmd)
	format := choose(cmd, "format", "how findings are written, if there are errors", "text", "json")
	output := addOutput(cmd)
	digest := cmd.Flags().Bool("digest", false, "print the digest alone")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		p, err := c.prepared(args[0], reading)
		if err != nil {
			return err
		}
		if diag.HasErrors(p.Findings) {
			if err := c.showFaulty(p, *format); err != nil {
				return err
			}
			return ending(statusFound)
		}
		text, err := p.Plan.Canonical()
		if *digest && err == nil {
			var sum string
			sum, err = p.Plan.Digest()
			text = []byte(sum + "\n")
		}
		if err != nil {
			return troubled("%q can't be compiled: %v", args[0], err)
		}
		return c.write(*output, text)
	}
	return cmd
}

// showFaulty shows what keeps a plan from going further, and how much of it
// there is.
func (c *cli) showFaulty(p *project.Program, format string) error {
	if err := c.show(p.Findings, format); err != nil {
		return err
	}
	summary := diag.Summarize(1, p.Findings)
	summary.Unjudged = p.Unjudged
	if format == "json" {
		return summary.JSON(c.out)
	}
	return summary.Text(c.out, textOptions(c.out))
}

func addOutput(cmd *cobra.Command) *string {
	output := cmd.Flags().StringP("output", "o", "", "where to write; standard output by default")
	stands(cmd, "output", "FILE")
	return output
}

// write puts a command's result where the user wants it. On a terminal a last
// line without an end gets one.
func (c *cli) write(output string, text []byte) error {
	if output != "" && output != "-" {
		if err := os.WriteFile(output, text, 0o644); err != nil {
			return troubled("can't write %q: %s", output, reason(err))
		}
		return nil
	}
	if terminal.Seen(c.out) {
		text = forTerminal(text)
	}
	_, err := c.out.Write(text)
	return err
}

// forTerminal is a result without anything that a terminal would act on, and with an
// end of its last line. JSON stays the same value.
func forTerminal(text []byte) []byte {
	lines := bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	for i, line := range lines {
		if json.Valid(line) {
			lines[i] = diag.EscapeJSON(line)
		} else {
			lines[i] = []byte(diag.Escape(string(line)))
		}
	}
	return append(bytes.Join(lines, []byte("\n")), '\n')
}
