package main

import (
	"context"
	"runtime/debug"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/dot"
	"github.com/obelus-dev/obelus/runtime/project"
)

type differing struct {
	Format string `flag:"--format text|json|markdown|dot|mermaid|svg: text, or a drawing of the new plan"`
	outputFlag
}

func (o *differing) run(_ context.Context, c *cli, args []string) error {
	var err error
	if o.Format, err = o.formOf(c, o.Format); err != nil {
		return err
	}
	var sides [2]side
	reading := c.newReading()
	for i, name := range args {
		if i > 0 && c.second != nil {
			reading.Stdin = c.second
		}
		one, err := c.compared(name, reading, o.Format)
		if err != nil {
			return err
		}
		sides[i] = one
		debug.FreeOSMemory() // what the analysis of one plan took isn't held during that of the other
	}
	differs := facts.Compare(sides[0].facts, sides[1].facts)
	text := ""
	switch o.Format {
	case "json":
		text = differs.JSON()
	case "markdown":
		text = differs.Rows().Markdown()
	case "text":
		text = differs.Rows().Text(false)
	default:
		text = dot.Formats[o.Format](dot.FromDiff(sides[1].plan, sides[0].plan, differs.Was, differs.Touched()))
	}
	if err := c.write(o.Output, []byte(text)); err != nil {
		return err
	}
	return endFound(!differs.Same())
}

// A side is one of two plans that are compared.
type side struct {
	facts *facts.Facts
	plan  *plan.Plan
}

func (c *cli) compared(name string, reading *project.Reader, format string) (side, error) {
	d, err := reading.One(name)
	if err != nil {
		return side{}, err
	}
	p := d.Compile()
	isPartial := diag.HasErrors(p.Findings) // a plan with errors that analysis finds can be compared
	if p.Analyze(); isPartial {
		return side{}, c.faultyPlan(p, format, statusError)
	}
	parts, err := p.Plan.Parts()
	if err != nil {
		return side{}, usageErr("%q can't be compared: %v", name, err)
	}
	return side{facts.Of(p.Plan, facts.Options{Parts: parts}), p.Plan}, nil
}
