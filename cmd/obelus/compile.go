package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/canonical"
	"github.com/obelus-dev/obelus/compiler/catalogue"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/workspace"
)

type compiling struct {
	Format string `flag:"--format text|json|yaml: how the digest or findings are written; yaml: the plan, too"`
	outputFlag
	Digest  bool `flag:"--digest: print the digest only"`
	Explain bool `flag:"--explain: print the digest, and list what it covers"`
}

// outputFlag names the file of a result.
type outputFlag struct {
	Output string `flag:"-o, --output FILE: where to write [standard output]"`
}

func (o *compiling) run(_ context.Context, c *cli, args []string) error {
	p, err := c.prepared(args[0], c.newReading())
	if err != nil {
		return err
	}
	if diag.HasErrors(p.Findings) {
		return c.faultyPlan(p, o.Format, statusFound)
	}
	text, err := canonical.Plan(p.Plan)
	switch {
	case o.Digest || o.Explain:
		text, err = o.digest(p.Plan)
	case err == nil && o.Format == "yaml":
		root, _ := source.Parse(source.NewFile("plan.json", text), source.Limits{})
		text, err = catalogue.YAML("", root.Value())
	}
	if err != nil {
		return usageErr("%q can't be compiled: %v", args[0], err)
	}
	return c.write(o.Output, text)
}

// digest is a plan's digest, and what it covers if that is to be explained.
func (o *compiling) digest(p *plan.Plan) ([]byte, error) {
	var parts []plan.Part
	digest, err := canonical.Digest(p)
	if err == nil && o.Explain {
		parts, err = p.Parts()
	}
	if err != nil {
		return nil, err
	}
	if o.Format == "json" {
		shown := diag.Ordered{"kind", "digest", "digest", digest}.If("parts", parts)
		return []byte(terminal.JSON(shown, "") + "\n"), nil
	}
	lines := digest + "\n"
	for _, part := range parts {
		lines += fmt.Sprintf("  %s %s\n", part.Digest, strings.TrimPrefix(part.String(), "the "))
	}
	return []byte(lines), nil
}

// write puts a command's result where the user wants it. On a terminal a last line without an end gets one.
func (c *cli) write(output string, text []byte) error { return c.writeAs(0o644, output, text) }

func (c *cli) writeAs(mode os.FileMode, output string, text []byte) error {
	if output != "" && output != "-" {
		if err := os.WriteFile(output, text, mode); err != nil {
			return usageErr("can't write %q: %w", output, workspace.Reason(err))
		}
		return nil
	}
	if terminal.Seen(c.out) { // which would act on some characters
		lines := bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
		for i, line := range lines {
			lines[i] = diag.EscapeJSON(line)
		}
		text = append(bytes.Join(lines, []byte("\n")), '\n')
	}
	_, err := c.out.Write(text)
	return err
}
